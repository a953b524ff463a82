"""The engine: takes commands, emits events, and owns the sessions, turns and the library while it runs.

Every change of a branch is one operation of the store; its change-set is emitted after the commit. An answer belongs
to its session, whatever a window shows meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from .. import __version__
from ..compaction.projection import BrokenProjection, project
from ..models.port import Model, ModelError
from ..protocol.messages import (
    VERSION,
    Branch,
    BranchChanged,
    Command,
    CommandDone,
    CommandFailed,
    Event,
    FetchBodies,
    Hello,
    ListSessions,
    NodeBody,
    OpenSession,
    SaveDraft,
    SendMessage,
    SessionList,
    Shutdown,
    StopTurn,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Welcome,
)
from ..sessions.branch import NotAllowed, Path
from ..sessions.nodes import ChangeSet, Node
from ..sessions.parts import TextPart, UndecodablePart
from ..sessions.text import well_formed
from ..store.database import StoreUnavailable
from ..store.sessions import NEW_SESSION, SessionStore, UnknownSession
from .agent.citations import CitationCheck, delivered_on
from .agent.running import RunningTurn
from .agent.tools import reading_tool_specs, reading_tools
from .agent.turn import Answer, Failure, Turn
from .library.index import LibraryIndex
from .views import body_pieces, branch_row, one_line, row_pieces, session_row, text_pieces

_log = logging.getLogger(__name__)

INDEXING_GRACE = 5.0
"""Seconds that a question waits for documents that are being indexed; after that the answer says what is missing."""
TITLE_CHARACTERS = 60

_STOPPED = {
    "length": "The answer reached the model's output limit and is cut off.",
    "content_filter": "The provider's filter ended the answer.",
    "step_limit": "The answer was ended after too many tool calls; ask again to go on.",
    "context_full": "The context was full, so no further tool was run; ask again in a new chat.",
    "cancelled": "You stopped the answer; what was there is kept.",
}
_NOTHING = {
    "length": "The model reached its output limit before it answered; your question is kept: raise that limit.",
    "content_filter": "The provider's filter held the whole answer back; your question is kept: ask it differently.",
    "context_full": "The context was full before the model answered; your question is kept: ask it in a new chat.",
}
"""Sentences for an answer that ended with nothing in it."""
_NO_WORD = "The model answered nothing; your question is kept: ask again."
_CLOSING = "BibGenie is closing and takes no more commands."


_BESIDE = "The chat went on elsewhere while this answer came; the answer is stored beside the branch that went on."


class Refused(Exception):
    """A command that cannot be carried out. `code` is for programs, `str()` one plain sentence for the user."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def checked_question(text: str) -> str:
    """The question as it is stored. Raises Refused for an empty one."""
    question = well_formed(text).strip()
    if not question:
        raise Refused("empty", "The question is empty: write one.")
    return question


class Engine:
    """One engine over one profile, one library and one model.

    `emit` is called for every event, in order, on the loop's thread.
    """

    def __init__(
        self,
        *,
        sessions: SessionStore,
        index: LibraryIndex,
        model: Model,
        system: str,
        profile: str,
        emit: Callable[[Event], None],
    ) -> None:
        self._sessions = sessions
        self._index = index
        self._model = model
        self._system = system
        self._profile = profile
        self._emit = emit
        self._turns: dict[str, RunningTurn] = {}
        self._sending: set[str] = set()
        self._stopped_early: set[str] = set()
        self._closing: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to read and index the library in the background."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._index.refresh(), name="library refresh")

    async def library_settled(self) -> None:
        """Wait until the library is read and indexed, or cannot be."""
        if self._refreshing is not None:
            await asyncio.shield(self._refreshing)

    async def turns_settled(self) -> None:
        """Wait until no answer streams."""
        while self._turns:
            await asyncio.wait([turn.kept for turn in self._turns.values()])

    async def close(self) -> None:
        """Stop what runs and keep what streams: after this nothing of the engine is left, and no command is taken."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="close the engine")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        for turn in self._turns.values():
            turn.stop()
        await self.turns_settled()
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.wait([self._refreshing])
        await self._index.close()
        await self._model.close()

    async def handle(self, command: Command) -> None:
        """Carry a command out; answers and refusals are emitted, nothing is raised for them."""
        try:
            if self._closing and not isinstance(command, Shutdown):
                raise Refused("closing", _CLOSING)
            await self._handle(command)
        except Refused as error:
            self._emit(CommandFailed(error.code, str(error), command.request))
        except (UnknownSession, NotAllowed) as error:
            self._emit(CommandFailed("refused", str(error), command.request))
        except ModelError as error:
            self._emit(CommandFailed(error.code, str(error), command.request))
        except StoreUnavailable as error:
            self._emit(CommandFailed(error.code, str(error), command.request))
        except BrokenProjection as error:
            sentence = f"This chat cannot be sent to a model: {error}."
            self._emit(CommandFailed("damaged", sentence, command.request))
        except UndecodablePart as error:
            _log.error("a stored message cannot be read: %s", error)
            sentence = "A stored message cannot be read; it was left as it is: run the doctor command."
            self._emit(CommandFailed("damaged", sentence, command.request))

    async def _handle(self, command: Command) -> None:
        match command:
            case Hello(version=version):
                if version != VERSION:
                    raise Refused("version", "Window and engine are of different versions: restart BibGenie.")
                welcome = Welcome(VERSION, __version__, self._profile, self._index.title, self._model.name)
                self._emit(replace(welcome, request=command.request))
                self._emit(self._index.progress)
            case ListSessions():
                rows = [session_row(summary) for summary in await self._sessions.sessions()]
                for piece, more in row_pieces(rows):
                    self._emit(SessionList(piece, more, command.request))
            case OpenSession(session_id=session_id):
                await self._open(session_id, command.request)
            case FetchBodies(node_ids=node_ids):
                for node in await self._sessions.nodes(node_ids):
                    for segments, more in body_pieces(node):
                        self._emit(NodeBody(node.id, segments, more, command.request))
            case SendMessage():
                await self._send(command)
            case StopTurn(session_id=session_id):
                if session_id in self._sending:
                    self._stopped_early.add(session_id)
                turn = self._turns.get(session_id)
                if turn is not None:
                    turn.stop()
                    await asyncio.wait([turn.kept])
                self._emit(CommandDone(command.request))
            case SaveDraft(session_id=session_id, text=text):
                await self._sessions.save_draft(session_id, well_formed(text))
                self._emit(CommandDone(command.request))
            case Shutdown():
                await self.close()
                self._emit(CommandDone(command.request))

    async def prepare_model(self) -> None:
        """Load what the model's first request needs. Raises ModelError (an unknown model, a missing key)."""
        await self._model.prepare()

    async def keep_question(self, session_id: str, text: str) -> None:
        """Keep a question that cannot be asked now as the chat's draft, above the one that is there."""
        await self._sessions.keep_as_draft(session_id, text)

    async def find_session(self, beginning: str) -> str:
        """The id of the only session whose id begins so. Raises UnknownSession."""
        return (await self._sessions.find(beginning)).id

    async def _open(self, session_id: str, request: int) -> None:
        draft = await self._sessions.draft(session_id)
        title, revision, path = "", 0, Path(())
        if session_id != NEW_SESSION:
            session = await self._sessions.session(session_id)
            title, revision = one_line(session.title), session.branch_revision
            path = await self._sessions.branch(session_id)
        rows = [branch_row(node) for node in path.nodes]
        contents = [(piece, "") for piece, _ in row_pieces(rows)]
        first, *others = text_pieces(draft)
        contents[-1] = (contents[-1][0], first)
        contents += [((), part) for part in others]
        for number, (piece, part) in enumerate(contents, 1):
            self._emit(Branch(session_id, title, revision, piece, part, number < len(contents), request))
        if path.damage is not None:
            raise Refused("damaged", f"This chat is damaged and can only be read: {path.damage}.")

    async def _send(self, command: SendMessage) -> None:
        text = checked_question(command.text)
        session_id = command.session_id
        if session_id in self._turns or session_id in self._sending:
            raise Refused("answering", "An answer still streams in this chat: wait for it or stop it.")
        self._sending.add(session_id)
        try:
            await self._begin_turn(command, text)
        finally:
            self._sending.discard(session_id)
            self._stopped_early.discard(session_id)

    async def _begin_turn(self, command: SendMessage, text: str) -> None:
        session_id = command.session_id
        self.start()  # what changed in the library since the last question is read before this one
        await self._model.prepare()
        await self._library_read()
        nodes = await self._sound_path(session_id) if session_id else ()
        await self._check_room(nodes, text, session_id)
        if self._closing:
            await self._sessions.keep_as_draft(session_id, text)
            raise Refused("closing", "BibGenie is closing; your question is kept as the draft.")
        title = _title(text)
        changes = await self._sessions.append_user(
            session_id, [TextPart(text)], title=title, model=self._model.name, is_draft=command.is_draft
        )
        self._changed(changes)
        question = changes.added[0]
        session = await self._sessions.session(changes.session_id)
        turn = self._turn(session.id, await self._sound_path(session.id))
        if self._closing:
            raise Refused("closing", "BibGenie is closing; your question is stored and can be answered later.")
        self._emit(TurnStarted(session.id, question, one_line(session.title), self._model.name, command.request))
        running = RunningTurn(turn, lambda answer: self._keep(session.id, question, answer))
        self._turns[session.id] = running
        self._index.pause()
        running.kept.add_done_callback(lambda _: self._turn_ended(session.id))
        if session_id in self._stopped_early:
            running.stop()

    async def _library_read(self) -> None:
        """Wait until the works are known, and for a moment for their texts: a small library is whole by then."""
        await self._index.metadata_ready()
        if self._refreshing is not None:
            await asyncio.wait([self._refreshing], timeout=INDEXING_GRACE)

    def _turn(self, session_id: str, path: tuple[Node, ...]) -> Turn:
        library = self._index.library
        return Turn(
            session_id=session_id,
            path=path,
            system=self._system,
            tools=reading_tools(library) if library else (),
            model=self._model,
            citations=CitationCheck(library, delivered_on(path)),
            emit=self._emit,
        )

    def _turn_ended(self, session_id: str) -> None:
        self._turns.pop(session_id, None)
        if not self._turns:
            self._index.resume()

    async def _keep(self, session_id: str, question: str, answer: Answer) -> None:
        """Store the answer and tell how it ended."""
        node_id = ""
        if not answer.is_empty:
            try:
                changes = await self._sessions.append_assistant(
                    session_id,
                    question,
                    answer.parts,
                    model=self._model.name,
                    usage=answer.usage,
                    stop_reason=answer.stop_reason,
                )
            except (StoreUnavailable, UnknownSession, NotAllowed) as error:
                self._emit(TurnFailed(session_id, "unsaved", str(error)))
                return
            node_id = changes.added[0]
            self._changed(changes)
            if changes.leaf_id != node_id:
                answer.notes.append(_BESIDE)
        failure = answer.failure
        if failure is None and not node_id and answer.stop_reason != "cancelled":
            failure = Failure("empty", _NOTHING.get(answer.stop_reason, _NO_WORD))
        if failure is not None:
            self._emit(TurnFailed(session_id, failure.code, failure.sentence, node_id))
            return
        usage = answer.usage
        self._emit(
            TurnFinished(
                session_id,
                node_id,
                answer.stop_reason,
                usage.input_tokens if usage else 0,
                usage.output_tokens if usage else 0,
                bool(usage and usage.real),
                " ".join(filter(None, (_STOPPED.get(answer.stop_reason, ""), *answer.notes))),
            )
        )

    async def _sound_path(self, session_id: str) -> tuple[Node, ...]:
        path = await self._sessions.branch(session_id)
        if path.damage is not None:
            raise Refused("damaged", f"This chat is damaged and can only be read: {path.damage}.")
        return path.nodes

    async def _check_room(self, path: tuple[Node, ...], text: str, session_id: str) -> None:
        """No request is sent that cannot fit: the question goes to the draft instead (C-13)."""
        limit = self._model.capacity.safe_input_limit
        tokens = project(self._system, reading_tool_specs(), path, draft=text).tokens
        if tokens > limit:
            await self._sessions.keep_as_draft(session_id, text)
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


def _title(question: str) -> str:
    """A new chat's title: the question's first line, cut at a word."""
    line = question.splitlines()[0].strip()
    if len(line) <= TITLE_CHARACTERS:
        return line
    end = line.rfind(" ", TITLE_CHARACTERS // 2, TITLE_CHARACTERS)
    return line[: end if end > 0 else TITLE_CHARACTERS - 1].rstrip(" ,;:") + "…"
