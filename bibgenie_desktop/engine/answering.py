"""From a question that a window sends to its answer that is stored (T-6, A-1): nothing of either is lost on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ..compaction.projection import project
from ..models.port import Model
from ..protocol.messages import BranchChanged, Event, SendMessage, TurnFailed, TurnFinished, TurnStarted
from ..sessions.branch import NotAllowed
from ..sessions.nodes import ChangeSet, Node
from ..sessions.parts import TextPart
from ..store.database import StoreUnavailable
from ..store.drafts import SentDraft
from ..store.leases import NotHeld
from ..store.session_rows import UnknownSession
from ..store.sessions import SessionStore
from .agent.citations import CitationCheck, delivered_on
from .agent.ending import BESIDE, ending
from .agent.running import RunningTurn
from .agent.tools import reading_tool_specs, reading_tools
from .agent.turn import Answer, Turn
from .drafts import Drafts
from .leases import SessionLeases
from .library.index import LibraryIndex
from .models import ModelChoice, prepare
from .refused import Refused, checked_question
from .views import one_line, title_of

INDEXING_GRACE = 5.0
"""Seconds that a question waits for documents that are being indexed; after that the answer says what is missing."""
RELEASE_GRACE = 0.5
"""Seconds that the end of an answer waits for its lease to be given back: longer only where the file is busy."""

_CLOSING = "BibGenie is closing; your question is kept as the draft."
_LEASED = (
    "Another window or command is answering in this chat; your question is kept as the draft: "
    "wait for that answer or stop it there, or ask in a new chat."
)


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
class _Question:
    """A question on its way to be stored."""

    command: SendMessage
    text: str
    is_kept: bool = False
    is_stored: bool = False
    is_stopped: bool = False


class Answering:
    """Takes questions, plays their turns and stores the answers: one at a time in each session."""

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
    ) -> None:
        self._sessions = sessions
        self._leases = leases
        self._drafts = drafts
        self._library = library
        self._models = models
        self._system = system
        self._emit = emit
        self._turns: dict[str, RunningTurn] = {}
        # By the session they belong to, also where that does not exist yet.
        self._sending: dict[str, _Question] = {}
        self._closing = asyncio.Event()
        self._releasing: set[asyncio.Task[None]] = set()

    async def settled(self) -> None:
        """Wait until no answer streams."""
        while self._turns:
            await asyncio.wait([turn.kept for turn in self._turns.values()])
        if self._releasing:
            await asyncio.wait(self._releasing)

    async def close(self) -> None:
        """Stop what streams and keep it; keep as drafts the questions that are not stored yet."""
        for question in list(self._sending.values()):
            await self._keep_as_draft(question)
        self._closing.set()
        for turn in self._turns.values():
            turn.stop()
        await self.settled()

    async def stop(self, session_id: str) -> None:
        """Stop the answer of a session, also one that is to come; "" means those of sessions that are to come."""
        for identity, question in self._sending.items():
            if session_id in (identity, question.command.session_id):
                question.is_stopped = True
        turn = self._turns.get(session_id)
        if turn is not None:
            turn.stop()
            await asyncio.wait([turn.kept])

    async def send(self, command: SendMessage) -> None:
        """Store a question and let its answer begin. Raises Refused, ModelError, and what the store raises."""
        text = checked_question(command.text)
        session_id = command.session_id or self._sessions.new_session_id()
        if session_id in self._turns or session_id in self._sending:
            raise Refused("answering", "An answer still streams in this chat: wait for it or stop it.")
        question = self._sending[session_id] = _Question(command, text)
        is_leased = False
        try:
            is_leased = await self._leases.take(session_id)
            if not is_leased:
                await self._keep_as_draft(question)
                raise Refused("leased", _LEASED)
            async with self._models.lent() as model:
                await self._begin(question, session_id, model)
        except asyncio.CancelledError:
            await self._keep_as_draft(question)
            raise
        finally:
            del self._sending[session_id]
            if is_leased and session_id not in self._turns:
                await self._release(session_id)

    async def _begin(self, question: _Question, session_id: str, model: Model) -> None:
        command = question.command
        await self._unless_closing(question, prepare(model))
        # What changed in the library since the last question is read before this one.
        await self._unless_closing(question, self._library.ready())
        nodes = await self._sound_path(session_id) if command.session_id else ()
        await self._check_room(question, nodes, model)
        if self._closing.is_set():
            await self._refuse_as_closing(question)
        try:
            changes = await self._sessions.append_user(
                command.session_id,
                [TextPart(question.text)],
                title=title_of(question.text),
                model=model.name,
                sent_draft=self._sent_draft(command),
                new_session_id=session_id,
                # The engine may have stood still, in a laptop that slept say, while another went on in this chat.
                allowed=self._leases.guard(session_id),
            )
        except NotHeld:
            await self._keep_as_draft(question)
            raise Refused("leased", _LEASED) from None
        question.is_stored = True
        self._changed(changes)
        if command.is_draft:
            await self._drafts.sent(command.session_id)
        session = await self._sessions.session(session_id)
        turn = self._turn(session_id, await self._sound_path(session_id), model)
        if self._closing.is_set():
            raise Refused("closing", "BibGenie is closing; your question is stored and can be answered later.")
        self._emit(
            TurnStarted(
                session_id, changes.added[0], one_line(session.title), one_line(model.name), request=command.request
            )
        )
        self._run(turn, session_id, changes.added[0], model)
        if question.is_stopped:
            self._turns[session_id].stop()

    def _run(self, turn: Turn, session_id: str, question_id: str, model: Model) -> None:
        running = RunningTurn(turn, lambda answer: self._keep(session_id, question_id, answer, model.name))
        self._turns[session_id] = running
        self._models.hold()
        self._library.index.pause()
        running.kept.add_done_callback(lambda _: self._turn_ended(session_id))

    async def _unless_closing(self, question: _Question, waiting: Awaitable[None]) -> None:
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
            await self._refuse_as_closing(question)
        work.result()

    async def _refuse_as_closing(self, question: _Question) -> None:
        await self._keep_as_draft(question)
        raise Refused("closing", _CLOSING)

    async def _keep_as_draft(self, question: _Question) -> None:
        """Keep a question that is not taken, once."""
        if not question.is_kept and not question.is_stored:
            question.is_kept = True
            await self._sessions.drafts.put_above(question.command.session_id, question.text)

    def _sent_draft(self, command: SendMessage) -> SentDraft | None:
        return SentDraft(self._drafts.known(command.session_id), command.text) if command.is_draft else None

    def _turn(self, session_id: str, path: tuple[Node, ...], model: Model) -> Turn:
        library = self._library.index.library
        return Turn(
            session_id=session_id,
            path=path,
            system=self._system,
            tools=reading_tools(library) if library else (),
            model=model,
            citations=CitationCheck(library, delivered_on(path)),
            emit=self._emit,
        )

    def _turn_ended(self, session_id: str) -> None:
        self._turns.pop(session_id, None)
        self._models.release()
        if not self._turns:
            self._library.index.resume()

    async def _keep(self, session_id: str, question_id: str, answer: Answer, model: str) -> None:
        """Store the answer, give the session's lease back, and tell how the answer ended."""
        try:
            end = await self._store(session_id, question_id, answer, model)
        finally:
            await self._release(session_id)
        self._emit(end)

    async def _release(self, session_id: str) -> None:
        """Give a lease back. What is to be told does not wait long for it: a busy file is waited for for seconds."""
        task = asyncio.create_task(self._leases.release(session_id), name="give a lease back")
        self._releasing.add(task)
        task.add_done_callback(self._releasing.discard)
        await asyncio.wait([task], timeout=RELEASE_GRACE)

    async def _store(self, session_id: str, question_id: str, answer: Answer, model: str) -> TurnFinished | TurnFailed:
        node_id = ""
        if not answer.is_empty:
            try:
                changes = await self._sessions.append_assistant(
                    session_id,
                    question_id,
                    answer.parts,
                    model=model,
                    usage=answer.usage,
                    stop_reason=answer.stop_reason,
                )
            except (StoreUnavailable, UnknownSession, NotAllowed) as error:
                return TurnFailed(session_id, "unsaved", str(error))
            node_id = changes.added[0]
            self._changed(changes)
            if changes.leaf_id != node_id:
                answer.notes.append(BESIDE)
        return ending(session_id, node_id, answer)

    async def _sound_path(self, session_id: str) -> tuple[Node, ...]:
        path = await self._sessions.branch(session_id)
        if path.damage is not None:
            raise Refused("damaged", f"This chat is damaged and can only be read: {path.damage}.")
        return path.nodes

    async def _check_room(self, question: _Question, path: tuple[Node, ...], model: Model) -> None:
        """No request is sent that cannot fit: the question goes to the draft instead (C-13)."""
        limit = model.capacity.safe_input_limit
        tokens = project(self._system, reading_tool_specs(), path, draft=question.text).tokens
        if tokens > limit:
            await self._keep_as_draft(question)
            raise Refused(
                "too_large",
                f"The request would be about {tokens - limit:,} tokens larger than the model takes; nothing was sent "
                "and your question is kept as the draft: shorten it, or choose a model with a larger window.",
            )

    def _changed(self, changes: ChangeSet) -> None:
        self._emit(
            BranchChanged(
                changes.operation, changes.session_id, changes.leaf_id, changes.branch_revision, changes.added
            )
        )
