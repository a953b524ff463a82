"""From what a window asks for to an answer that is stored (T-6, A-1): nothing of either is lost on the way.

A new question, an edited one, another try and going on all come this way: see `beginnings`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NoReturn

from ..compaction.projection import project
from ..models.port import Model
from ..protocol.commands import EditMessage, SendMessage
from ..protocol.events import BranchChanged, Event, TurnStarted
from ..sessions.branch import NotAllowed, last_real
from ..sessions.nodes import ChangeSet, Node
from ..sessions.parts import Part
from ..store.drafts import SentDraft
from ..store.leases import NotHeld
from ..store.sessions import SessionStore
from .agent.citations import CitationCheck, delivered_by, delivered_on
from .agent.running import RunningTurn
from .agent.tools import reading_tool_specs, reading_tools
from .agent.turn import Answer, Turn
from .beginnings import AnswerCommand, Ground, begin, ground_of, kind_of, question_of
from .drafts import Drafts
from .interrupted import InterruptedAnswers
from .journaling import Journaling
from .leases import SessionLeases
from .library.index import LibraryIndex
from .models import ModelChoice, prepare
from .refused import Refused, checked_sound
from .storage import AnswerStorage, Place
from .views import one_line

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
        system: str,
        emit: Callable[[Event], None],
        pause: Callable[[], Awaitable[None]],
    ) -> None:
        self._sessions = sessions
        self._leases = leases
        self._drafts = drafts
        self._library = library
        self._models = models
        self._system = system
        self._emit = emit
        self._pause = pause
        self._storage = AnswerStorage(sessions, self.changed)
        self.interrupted = InterruptedAnswers(sessions, leases, is_busy=self.is_busy, changed=self.changed)
        self._turns: dict[str, RunningTurn] = {}
        # By the session they belong to, also where that does not exist yet.
        self._starting: dict[str, _Start] = {}
        self._closing = asyncio.Event()
        self._releasing: set[asyncio.Task[None]] = set()

    def is_busy(self, session_id: str) -> bool:
        """Whether an answer streams or begins in this session, in this engine."""
        return session_id in self._turns or session_id in self._starting

    def refuse_if_busy(self, session_id: str) -> None:
        """Raises Refused where `is_busy`: only one thing is done to a chat at a time."""
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
        self.refuse_if_busy(session_id)
        start = self._starting[session_id] = _Start(command, question)
        is_leased = False
        try:
            is_leased = await self._leases.take(session_id)
            if not is_leased:
                await self._refuse_as_leased(start)
            await self._recover(start)
            async with self._models.lent() as model:
                await self._begin(start, session_id, model)
        except asyncio.CancelledError:
            await self._keep_as_draft(start)
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
        path = () if is_new else checked_sound(await self._sessions.branch(command.session_id))
        ground = ground_of(command, start.question, path)
        await self._check_room(start, ground, model)
        if self._closing.is_set():
            await self._refuse_as_closing(start)
        start.is_being_stored = True
        beginning = asyncio.ensure_future(
            begin(
                command,
                start.question,
                sessions=self._sessions,
                model=model.name,
                new_session_id=session_id,
                sent_draft=self._sent_draft(command),
                # The engine may have stood still, in a laptop that slept say, while another went on in this chat.
                allowed=self._leases.guard(session_id),
            )
        )
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
        place = Place(session_id, changes.leaf_id or "", changes.answer or None)
        try:
            self.changed(changes)
            if is_cancelled:
                raise asyncio.CancelledError
            await self._begin_turn(start, place, model, ground.kept)
        except BaseException:
            await self._storage.give_up(place)
            raise

    async def _begin_turn(self, start: _Start, place: Place, model: Model, kept: tuple[Part, ...]) -> None:
        """Let the turn begin whose beginning is stored."""
        session_id, command = place.session_id, start.command
        if isinstance(command, SendMessage) and command.is_draft:
            await self._drafts.sent(command.session_id)
        session = await self._sessions.session(session_id)
        path = checked_sound(await self._sessions.branch(session_id))
        question = last_real(path, "user")
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
        self._run(turn, place, model, grown)
        if start.is_stopped:
            self._turns[session_id].stop()

    def _run(self, turn: Turn, place: Place, model: Model, grown: asyncio.Event) -> None:
        journaling = Journaling(self._sessions.journal, place, turn.so_far, grown, self._pause)

        async def keep(answer: Answer) -> None:
            await journaling.end()
            await self._keep(place, answer, model.name)

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
                await self._sessions.drafts.put_above(start.command.session_id, start.question)

    def _sent_draft(self, command: AnswerCommand) -> SentDraft | None:
        if not isinstance(command, SendMessage) or not command.is_draft:
            return None
        return SentDraft(self._drafts.known(command.session_id), command.text)

    def _turn(
        self, session_id: str, path: tuple[Node, ...], model: Model, kept: tuple[Part, ...], grown: asyncio.Event
    ) -> Turn:
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
            citations=CitationCheck(library, delivered_on(path) | delivered_by(kept)),
            emit=emit,
            kept=kept,
        )

    def _turn_ended(self, session_id: str) -> None:
        self._turns.pop(session_id, None)
        self._models.release()
        if not self._turns:
            self._library.index.resume()

    async def _keep(self, place: Place, answer: Answer, model: str) -> None:
        """Store the answer, give the session's lease back, and tell how the answer ended."""
        try:
            end = await self._storage.store(place, answer, model)
        finally:
            await self._release(place.session_id)
        self._emit(end)

    async def _release(self, session_id: str) -> None:
        """Give a lease back. What is to be told does not wait long for it: a busy file is waited for for seconds."""
        task = asyncio.create_task(self._leases.release(session_id), name="give a lease back")
        self._releasing.add(task)
        task.add_done_callback(self._releasing.discard)
        await asyncio.wait([task], timeout=RELEASE_GRACE)

    async def _check_room(self, start: _Start, ground: Ground, model: Model) -> None:
        """No request is sent that cannot fit: a question goes to the draft instead (C-13)."""
        limit = model.capacity.safe_input_limit
        tools = reading_tool_specs()
        tokens = project(self._system, tools, ground.path, draft=ground.question, kept=ground.kept).tokens
        if tokens > limit:
            await self._keep_as_draft(start)
            shorter = "shorten it, or choose" if start.question else "choose"
            raise Refused(
                "too_large",
                f"The request would be about {tokens - limit:,} tokens larger than the model takes; nothing was sent "
                f"and {start.outcome}: {shorter} a model with a larger window.",
            )

    def changed(self, changes: ChangeSet) -> None:
        """Tell a change that was committed."""
        self._emit(
            BranchChanged(
                changes.operation, changes.session_id, changes.leaf_id, changes.branch_revision, changes.added
            )
        )
