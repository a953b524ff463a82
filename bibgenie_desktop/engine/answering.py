"""From what a window asks for to an answer that is stored (T-6, A-1): nothing of either is lost on the way.

A new question, an edited one, another try and going on all come this way: see `beginnings`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NoReturn

from ..models.port import Model
from ..protocol.commands import EditMessage, SendMessage
from ..protocol.events import BranchChanged, Event, TurnFailed, TurnFinished, TurnStarted
from ..sessions.branch import NotAllowed, Path, last_real
from ..sessions.nodes import ChangeSet
from ..sessions.parts import Part
from ..store.database import StoreUnavailable
from ..store.leases import NotHeld
from ..store.sessions import SessionStore
from ..store.tree import Compaction
from .agent.citations import CitationCheck, delivered_by, delivered_on
from .agent.running import RunningTurn
from .agent.tools import reading_tools
from .agent.turn import Answer, Turn
from .beginnings import AnswerCommand, begin, ground_of, kind_of, question_of
from .compactor import Compactor, NotSent
from .contexts import Contexts
from .drafts import Drafts
from .interrupted import InterruptedAnswers
from .journaling import Journaling
from .leases import SessionLeases
from .library.index import LibraryIndex
from .models import ModelChoice, prepare
from .preflight import Preflight
from .refused import Refused, checked_sound
from .storage import AnswerStorage, Place
from .views import one_line

_log = logging.getLogger(__name__)

INDEXING_GRACE = 5.0
"""Seconds that a question waits for documents that are being indexed; after that the answer says what is missing."""
RELEASE_GRACE = 0.5
"""Seconds that the end of an answer waits for its lease to be given back: longer only where the file is busy."""
CLOSING_GRACE = 0.5
"""Seconds that the end of an engine waits for what is about to begin, and sees that it cannot any more."""

_ANSWERING = "An answer still streams in this chat: wait for it or stop it."
_CLOSING = "BibGenie is closing; "
_LEASED = "Another window or command is answering in this chat; "
_WAIT = ": wait for that answer or stop it there"


class LibraryReading:
    """The library that answers read from. `start` begins to read what changed in it."""

    def __init__(self, index: LibraryIndex, start: Callable[[], asyncio.Task[None]]) -> None:
        self.index = index
        self._start = start

    async def ready(self) -> None:
        """Wait until the works are known, and for a moment for their texts: a small library is whole by then."""
        refreshing = self._start()
        await self.index.metadata_ready()
        await asyncio.wait([refreshing], timeout=INDEXING_GRACE)


@dataclass(slots=True)
class _Start:
    """An answer that is about to begin, until its beginning is stored. `question` is "" where none is brought."""

    command: AnswerCommand
    question: str
    is_kept: bool = False
    is_stored: bool = False
    is_being_stored: bool = False
    is_stopped: bool = False
    is_cancelled: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def outcome(self) -> str:
        """What became of what was asked for, where nothing begins."""
        return "your question is kept as the draft" if self.question else "the chat is as it was"


class Answering:
    """Begins answers, plays their turns and stores them: one at a time in each session.

    `pause` lies between two notes of an answer in the journal.
    """

    def __init__(
        self,
        *,
        sessions: SessionStore,
        leases: SessionLeases,
        drafts: Drafts,
        library: LibraryReading,
        models: ModelChoice,
        contexts: Contexts,
        compactor: Compactor,
        system: str,
        emit: Callable[[Event], None],
        pause: Callable[[], Awaitable[None]],
    ) -> None:
        self._sessions = sessions
        self._leases = leases
        self._drafts = drafts
        self._library = library
        self._models = models
        self._contexts = contexts
        self._compactor = compactor
        self._preflight = Preflight(contexts, compactor)
        self._system = system
        self._emit = emit
        self._pause = pause
        self._storage = AnswerStorage(sessions, self.changed)
        self.interrupted = InterruptedAnswers(sessions, leases, is_busy=self.is_busy, changed=self.changed)
        self._turns: dict[str, RunningTurn] = {}
        # By the session they belong to, also where that does not exist yet.
        self._starting: dict[str, _Start] = {}
        # Sessions whose turn is about to end with a stored answer.
        self._answered: set[str] = set()
        self._closing = asyncio.Event()
        self._releasing: set[asyncio.Task[None]] = set()

    def is_busy(self, session_id: str) -> bool:
        """Whether an answer streams or begins in this session, in this engine."""
        return session_id in self._turns or session_id in self._starting

    def refuse_if_busy(self, session_id: str) -> None:
        """Raises Refused where `is_busy` or the chat is compacted: only one thing is done to a chat at a time."""
        self._compactor.refuse_if_running(session_id)
        if self.is_busy(session_id):
            raise Refused("answering", _ANSWERING)

    async def settled(self) -> None:
        """Wait until no answer streams."""
        while self._turns:
            await asyncio.wait([turn.kept for turn in self._turns.values()])
        if self._releasing:
            await asyncio.wait(self._releasing)

    async def close(self) -> None:
        """Stop what streams and keep it; keep as drafts the questions that are not stored yet."""
        self._closing.set()
        starting = list(self._starting.values())
        for start in starting:
            if not start.is_being_stored:  # whether that question is stored, is certain once it has ended
                await self._keep_as_draft(start)
        for start in starting:
            with suppress(TimeoutError):
                async with asyncio.timeout(None if start.is_being_stored else CLOSING_GRACE):
                    await start.ended.wait()
        for turn in self._turns.values():
            turn.stop()
        await self.settled()

    async def stop(self, session_id: str) -> None:
        """Stop the answer of a session, also one that is to come; "" means those of sessions that are to come."""
        for identity, start in self._starting.items():
            if session_id in (identity, start.command.session_id):
                start.is_stopped = True
        turn = self._turns.get(session_id)
        if turn is not None:
            turn.stop()
            await asyncio.wait([turn.kept])

    async def begin(self, command: AnswerCommand) -> None:
        """Store what an answer begins with, and let it begin.

        Raises Refused, NotAllowed, ModelError, and what the store raises: the branch is as it was then, unless the
        question was stored and could not be answered any more.
        """
        question = question_of(command)
        session_id = command.session_id or self._sessions.new_session_id()
        if not isinstance(command, SendMessage):  # a question waits for a compaction, what moves the branch does not
            self._compactor.refuse_if_running(session_id)
        if self.is_busy(session_id):
            raise Refused("answering", _ANSWERING)
        start = self._starting[session_id] = _Start(command, question)
        is_leased = False
        try:
            if isinstance(command, SendMessage):
                await self._drafts.send(command.session_id, question, is_draft=command.is_draft)
            await self._unless_closing(start, self._preflight.settle(session_id))
            is_leased = await self._leases.take(session_id)
            if not is_leased:
                await self._refuse_as_leased(start)
            await self._recover(start)
            async with self._models.lent() as model:
                await self._begin(start, session_id, model)
        except asyncio.CancelledError:
            await self._keep_as_draft(start)
            raise
        except NotSent as not_sent:
            await self._keep_as_draft(start)
            raise Refused(not_sent.code, _not_sent(not_sent, start)) from not_sent
        except Exception:
            if not start.is_stored:
                await self._drafts.give_back(command.session_id, question)
            raise
        finally:
            del self._starting[session_id]
            start.ended.set()
            if is_leased and session_id not in self._turns:
                await self._release(session_id)

    async def _recover(self, start: _Start) -> None:
        """What a killed process left of an answer in this chat comes first."""
        session_id = start.command.session_id
        if session_id:
            try:
                await self.interrupted.recover_under(session_id, self._leases.guard(session_id))
            except NotHeld:
                await self._refuse_as_leased(start)

    async def _begin(self, start: _Start, session_id: str, model: Model) -> None:
        command = start.command
        await self._unless_closing(start, prepare(model))
        # What changed in the library since the last question is read before this one.
        await self._unless_closing(start, self._library.ready())
        is_new = isinstance(command, SendMessage) and not command.session_id
        loaded = None if is_new else await self._contexts.loaded(command.session_id)
        ground = ground_of(command, start.question, () if loaded is None else checked_sound(loaded.path))
        changes: ChangeSet | None = None
        if loaded is None or isinstance(command, SendMessage):
            await self._preflight.before_question(
                session_id, start.question, model, is_new=is_new, request=command.request
            )
        else:

            async def store(compaction: Compaction) -> ChangeSet:
                # Whether the question is stored, is certain once this has ended: until then it is no draft again.
                start.is_being_stored = True
                try:
                    return await self._store(start, session_id, model, compaction)
                except BaseException:
                    start.is_being_stored = False
                    raise

            changes = await self._preflight.before_answer(
                session_id, loaded, ground, model, store, request=command.request
            )
        if changes is None:
            if self._closing.is_set():
                await self._refuse_as_closing(start)
            start.is_being_stored = True
            changes = await self._stored(start, session_id, model)
        await self._answer(start, session_id, model, changes, ground.kept)

    async def _stored(self, start: _Start, session_id: str, model: Model) -> ChangeSet:
        """The beginning, stored. Raises as `begin`; CancelledError only where it was not."""
        beginning = asyncio.ensure_future(self._store(start, session_id, model))
        # A transaction that has begun is not undone where its caller is cancelled: what came of it counts.
        is_cancelled = False
        try:
            await asyncio.wait([beginning])
        except asyncio.CancelledError:
            is_cancelled = True
            await asyncio.wait([beginning])
        try:
            changes = beginning.result()
        except NotHeld:
            await self._refuse_as_leased(start)
        start.is_stored = True
        start.is_cancelled = is_cancelled
        return changes

    async def _answer(
        self, start: _Start, session_id: str, model: Model, changes: ChangeSet, kept: tuple[Part, ...]
    ) -> None:
        """Let the turn begin, or give it up if that was wanted meanwhile."""
        start.is_stored = True
        place = Place(session_id, changes.leaf_id or "", changes.answer or None)
        try:
            self.changed(changes)
            if start.is_cancelled:
                raise asyncio.CancelledError
            await self._begin_turn(start, place, model, kept)
        except BaseException:
            await self._storage.give_up(place)
            raise

    async def _store(
        self, start: _Start, session_id: str, model: Model, compaction: Compaction | None = None
    ) -> ChangeSet:
        command = start.command
        async with self._drafts.taken(command.session_id, start.question) as sent_draft:
            return await begin(
                command,
                start.question,
                sessions=self._sessions,
                model=model.name,
                new_session_id=session_id,
                sent_draft=sent_draft,
                # The engine may have stood still, in a laptop that slept say, while another went on in this chat.
                allowed=self._leases.guard(session_id),
                compaction=compaction,
            )

    async def _begin_turn(self, start: _Start, place: Place, model: Model, kept: tuple[Part, ...]) -> None:
        """Let the turn begin whose beginning is stored."""
        session_id, command = place.session_id, start.command
        session = await self._sessions.session(session_id)
        path = await self._sessions.branch(session_id)
        question = last_real(checked_sound(path), "user")
        if question is None:
            raise NotAllowed("The question of this answer is no longer stored.")
        grown = asyncio.Event()
        turn = self._turn(session_id, path, model, kept, grown)
        if self._closing.is_set():
            stored = "your question is stored and can be answered later" if start.question else start.outcome
            raise Refused("closing", f"{_CLOSING}{stored}.")
        self._emit(
            TurnStarted(
                session_id,
                question.id,
                one_line(session.title),
                one_line(model.name),
                beginning=kind_of(command),
                parent_id=question.parent_id or "",
                request=command.request,
            )
        )
        turn.tell_kept()
        grown.clear()  # the journal begins with what is kept
        self._run(turn, place, model, grown, question.id if start.question else "", start)
        if start.is_stopped:
            self._turns[session_id].stop()

    def _run(
        self, turn: Turn, place: Place, model: Model, grown: asyncio.Event, question_id: str, start: _Start
    ) -> None:
        journaling = Journaling(self._sessions.journal, place, turn.so_far, grown, self._pause)

        async def keep(answer: Answer) -> None:
            await journaling.end()
            await self._keep(place, answer, model.name, question_id, start.question)

        running = RunningTurn(turn, keep)
        session_id = place.session_id
        self._turns[session_id] = running
        self._models.hold()
        self._library.index.pause()
        running.kept.add_done_callback(lambda _: self._turn_ended(session_id))

    async def _unless_closing(self, start: _Start, waiting: Awaitable[None]) -> None:
        """Wait, but not longer than until the engine closes. Raises Refused then."""
        work = asyncio.ensure_future(waiting)
        closing = asyncio.create_task(self._closing.wait(), name="wait for the end")
        try:
            await asyncio.wait([work, closing], return_when=asyncio.FIRST_COMPLETED)
        finally:
            closing.cancel()
            if not work.done():
                work.cancel()
            await asyncio.wait([work, closing])
        if work.cancelled():
            await self._refuse_as_closing(start)
        work.result()

    async def _refuse_as_closing(self, start: _Start) -> NoReturn:
        await self._keep_as_draft(start)
        raise Refused("closing", f"{_CLOSING}{start.outcome}.")

    async def _refuse_as_leased(self, start: _Start) -> NoReturn:
        await self._keep_as_draft(start)
        otherwise = ", or ask in a new chat" if start.question else ""
        raise Refused("leased", f"{_LEASED}{start.outcome}{_WAIT}{otherwise}.")

    async def _keep_as_draft(self, start: _Start) -> None:
        """Keep a question that is not taken, once."""
        if start.question and not start.is_kept and not start.is_stored:
            start.is_kept = True
            if isinstance(start.command, EditMessage):
                await self._drafts.add(start.command.session_id, start.question)
            else:
                await self._drafts.keep(start.command.session_id, start.question)

    def _turn(self, session_id: str, path: Path, model: Model, kept: tuple[Part, ...], grown: asyncio.Event) -> Turn:
        def emit(event: Event) -> None:
            self._emit(event)
            grown.set()

        library = self._library.index.library
        return Turn(
            session_id=session_id,
            path=path,
            system=self._system,
            tools=reading_tools(library) if library else (),
            model=model,
            citations=CitationCheck(library, delivered_on(path.nodes) | delivered_by(kept)),
            emit=emit,
            kept=kept,
            counted=self._contexts.counted(model.name),
        )

    def _turn_ended(self, session_id: str) -> None:
        self._turns.pop(session_id, None)
        self._models.release()
        if not self._turns:
            self._library.index.resume()
        if session_id in self._answered:
            self._answered.discard(session_id)
            self._compactor.after_answer(session_id)

    async def _keep(self, place: Place, answer: Answer, model: str, question_id: str, question: str) -> None:
        """Store the answer, give the session's lease back, and tell how the answer ended."""
        await self._learn(answer, model)
        is_refused = answer.failure is not None and answer.failure.code == "context_overflow"
        try:
            if is_refused and answer.is_empty and question_id:
                end = await self._take_back(place, answer, question_id, question)
            else:
                end = await self._storage.store(place, answer, model)
        finally:
            await self._release(place.session_id)
        self._emit(end)
        if isinstance(end, TurnFinished):
            self._answered.add(place.session_id)

    async def _take_back(
        self, place: Place, answer: Answer, question_id: str, question: str
    ) -> TurnFinished | TurnFailed:
        """A question that the provider refused as too large goes back into the draft (D-1): nothing is sent again."""
        end = await self._storage.take_back(place, answer, question_id, question)
        if end.code == "context_overflow":
            await self._drafts.add(place.session_id, question)
        return end

    async def _learn(self, answer: Answer, model: str) -> None:
        """What the provider counted, and what it refused, make the next estimate better (A13, D-1)."""
        try:
            if answer.failure is not None and answer.failure.code == "context_overflow" and answer.estimated:
                await self._contexts.note_refused(model, answer.estimated)
            elif answer.usage is not None and answer.usage.real and answer.estimated:
                await self._contexts.note_usage(model, answer.estimated, answer.usage.input_tokens)
        except StoreUnavailable as error:
            _log.info("what a provider counted was not noted: %s", error)

    async def _release(self, session_id: str) -> None:
        """Give a lease back. What is to be told does not wait long for it: a busy file is waited for for seconds."""
        task = asyncio.create_task(self._leases.release(session_id), name="give a lease back")
        self._releasing.add(task)
        task.add_done_callback(self._releasing.discard)
        await asyncio.wait([task], timeout=RELEASE_GRACE)

    def changed(self, changes: ChangeSet) -> None:
        """Tell a change that was committed."""
        self._emit(
            BranchChanged(
                changes.operation, changes.session_id, changes.leaf_id, changes.branch_revision, changes.added
            )
        )


def _not_sent(not_sent: NotSent, start: _Start) -> str:
    """What is told where a request could not be sent: why, what became of it, and what can be done."""
    sentence = f"{str(not_sent).rstrip('.')}; nothing was sent and {start.outcome}"
    if not_sent.code != "too_large":
        return f"{sentence}."
    return f"{sentence}: {'shorten it, or choose' if start.question else 'choose'} a model with a larger window."
