"""The engine: takes commands, emits events, and owns the sessions, turns and the library while it runs.

Every change of a branch is one operation of the store; its change-set is emitted after the commit. An answer belongs
to its session, whatever a window shows meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from .. import __version__
from ..compaction.projection import BrokenProjection, project
from ..documents.port import FormulaDrawer
from ..models.port import Model, ModelError
from ..protocol.messages import (
    VERSION,
    Branch,
    BranchChanged,
    ChooseModel,
    Command,
    CommandDone,
    CommandFailed,
    DrawFormulas,
    Event,
    FetchBodies,
    FindFile,
    Hello,
    ListModels,
    ListSessions,
    NodeBody,
    OpenSession,
    RenameSession,
    SaveDraft,
    SendMessage,
    SessionList,
    SessionRenamed,
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
from ..store.changes import ForeignChanges
from ..store.database import StoreUnavailable
from ..store.sessions import NEW_SESSION, SessionStore, UnknownSession
from .agent.citations import CitationCheck, delivered_on
from .agent.ending import BESIDE, ending
from .agent.running import RunningTurn
from .agent.tools import reading_tool_specs, reading_tools
from .agent.turn import Answer, Turn
from .formulas import FormulaDrawing
from .leases import SessionLeases
from .library.files import NoFile, find_file
from .library.index import LibraryIndex
from .models import ModelChoice, prepare
from .views import body_pieces, branch_row, one_line, row_pieces, session_row, text_pieces, title_of
from .watching import SessionWatch

_log = logging.getLogger(__name__)

INDEXING_GRACE = 5.0
"""Seconds that a question waits for documents that are being indexed; after that the answer says what is missing."""

_CLOSING = "BibGenie is closing and takes no more commands."
_LEASED = (
    "Another window or command is answering in this chat; your question is kept as the draft: "
    "wait for that answer or stop it there, or ask in a new chat."
)


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
    """One engine over one profile, one library and the model that is chosen.

    `emit` is called for every event, in order, on the loop's thread.
    """

    def __init__(
        self,
        *,
        sessions: SessionStore,
        leases: SessionLeases,
        index: LibraryIndex,
        formulas: FormulaDrawer,
        models: ModelChoice,
        system: str,
        profile: str,
        emit: Callable[[Event], None],
    ) -> None:
        self._sessions = sessions
        self._leases = leases
        self._index = index
        self._models = models
        self._system = system
        self._profile = profile
        self._emit = emit
        self._formulas = FormulaDrawing(formulas, emit)
        self._turns: dict[str, RunningTurn] = {}
        self._sending: set[str] = set()
        self._stopped_early: set[str] = set()
        self._closing: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to read and index the library in the background."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._index.refresh(), name="library refresh")

    async def watch(self, pause: Callable[[], Awaitable[None]]) -> None:
        """From now on tell what others change in the history, looking after each `pause` (T-6)."""
        watch = SessionWatch(ForeignChanges(self._sessions.database), self._emit)
        await watch.look()
        self._watching = asyncio.create_task(watch.run(pause), name="watch the history")

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
        for task in filter(None, (self._refreshing, self._watching)):
            task.cancel()
            await asyncio.wait([task])
        await self._index.close()
        await self._formulas.close()
        await self._models.close()

    async def handle(self, command: Command) -> None:
        """Carry a command out; answers and refusals are emitted, nothing is raised for them."""
        try:
            if self._closing and not isinstance(command, Shutdown):
                raise Refused("closing", _CLOSING)
            await self._handle(command)
        except (Refused, NoFile) as error:
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
                welcome = Welcome(VERSION, __version__, self._profile, self._index.title, self._models.name)
                self._emit(replace(welcome, request=command.request))
                self._emit(self._index.progress)
                self._models.load_ahead()
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
            case DrawFormulas():
                await self._formulas.draw(command)
            case RenameSession(session_id=session_id, title=title):
                stored = await self._sessions.rename(session_id, title)
                self._emit(SessionRenamed(session_id, one_line(stored), command.request))
            case ListModels() | ChooseModel():
                await self._models.handle(command)
            case FindFile(link=link):
                if self._index.library is None:
                    self.start()
                self._emit(await find_file(self._index, link, command.request))
            case Shutdown():
                await self.close()
                self._emit(CommandDone(command.request))

    async def prepare_model(self) -> None:
        """Load what the model's first request needs. Raises ModelError (an unknown model, a missing key)."""
        await self._models.prepare()

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
        leased = session_id or self._sessions.new_session_id()
        try:
            if not await self._leases.take(leased):
                await self._sessions.keep_as_draft(session_id, text)
                raise Refused("leased", _LEASED)
            async with self._models.lent() as model:
                await self._begin_turn(command, text, leased, model)
        finally:
            self._sending.discard(session_id)
            self._stopped_early.discard(session_id)
            if leased not in self._turns:
                await self._leases.release(leased)

    async def _begin_turn(self, command: SendMessage, text: str, leased: str, model: Model) -> None:
        session_id = command.session_id
        self.start()  # what changed in the library since the last question is read before this one
        await prepare(model)
        await self._library_read()
        nodes = await self._sound_path(session_id) if session_id else ()
        await self._check_room(nodes, text, session_id, model)
        if self._closing:
            await self._sessions.keep_as_draft(session_id, text)
            raise Refused("closing", "BibGenie is closing; your question is kept as the draft.")
        title = title_of(text)
        changes = await self._sessions.append_user(
            session_id,
            [TextPart(text)],
            title=title,
            model=model.name,
            is_draft=command.is_draft,
            new_session_id=leased,
        )
        self._changed(changes)
        question = changes.added[0]
        session = await self._sessions.session(changes.session_id)
        turn = self._turn(session.id, await self._sound_path(session.id), model)
        if self._closing:
            raise Refused("closing", "BibGenie is closing; your question is stored and can be answered later.")
        self._emit(TurnStarted(session.id, question, one_line(session.title), model.name, command.request))
        running = RunningTurn(turn, lambda answer: self._keep(session.id, question, answer, model.name))
        self._turns[session.id] = running
        self._models.hold()
        self._index.pause()
        running.kept.add_done_callback(lambda _: self._turn_ended(session.id))
        if session_id in self._stopped_early:
            running.stop()

    async def _library_read(self) -> None:
        """Wait until the works are known, and for a moment for their texts: a small library is whole by then."""
        await self._index.metadata_ready()
        if self._refreshing is not None:
            await asyncio.wait([self._refreshing], timeout=INDEXING_GRACE)

    def _turn(self, session_id: str, path: tuple[Node, ...], model: Model) -> Turn:
        library = self._index.library
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
            self._index.resume()

    async def _keep(self, session_id: str, question: str, answer: Answer, model: str) -> None:
        """Store the answer, give the session's lease back, and tell how the answer ended."""
        try:
            end = await self._store(session_id, question, answer, model)
        finally:
            await self._leases.release(session_id)
        self._emit(end)

    async def _store(self, session_id: str, question: str, answer: Answer, model: str) -> TurnFinished | TurnFailed:
        node_id = ""
        if not answer.is_empty:
            try:
                changes = await self._sessions.append_assistant(
                    session_id,
                    question,
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

    async def _check_room(self, path: tuple[Node, ...], text: str, session_id: str, model: Model) -> None:
        """No request is sent that cannot fit: the question goes to the draft instead (C-13)."""
        limit = model.capacity.safe_input_limit
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
