"""The engine: takes commands, emits events, and owns the sessions, turns and the library while it runs.

Every change of a branch is one operation of the store; its change-set is emitted after the commit. An answer belongs
to its session, whatever a window shows meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime

from .. import __version__
from ..compaction.projection import BrokenProjection
from ..documents.port import FormulaDrawer
from ..models.port import ModelError
from ..protocol.commands import (
    VERSION,
    ArchiveSession,
    CancelCompaction,
    ChooseModel,
    Command,
    Compact,
    ContinueAnswer,
    ContinueDamaged,
    DeleteSession,
    DrawFormulas,
    EditMessage,
    ExportSession,
    FetchBodies,
    FetchCheckpoint,
    FetchContext,
    FetchRefusedText,
    FetchTree,
    FindFile,
    Fork,
    Hello,
    ImportSession,
    ListModels,
    ListSessions,
    OpenSession,
    PinSession,
    RenameSession,
    Retry,
    SaveDraft,
    SearchHistory,
    SendMessage,
    Shutdown,
    StopTurn,
    SwitchTo,
    UndoDelete,
)
from ..protocol.events import Branch, CommandDone, CommandFailed, Event, NodeBody, SessionList, SessionRenamed, Welcome
from ..sessions.branch import NotAllowed, Path
from ..sessions.parts import UndecodablePart
from ..sessions.text import well_formed
from ..sessions.tree import Versions
from ..store.changes import ForeignChanges
from ..store.database import StoreUnavailable
from ..store.encoding import Clock
from ..store.session_rows import QUOTED, UnknownSession
from ..store.sessions import NEW_SESSION, SessionStore
from .agent.tools import reading_tool_specs
from .answering import Answering, LibraryReading
from .branches import Branches
from .checkpoints import Checkpoints
from .compactor import Compactor
from .contexts import CompactionSettings, Contexts
from .drafts import Drafts
from .exchange import Exchange
from .formulas import FormulaDrawing
from .history import History
from .journaling import JOURNAL_SECONDS
from .keeping import Keeping
from .leases import SessionLeases
from .library.files import NoFile, find_file
from .library.index import LibraryIndex
from .models import ModelChoice
from .refused import Refused, damage_of
from .views import body_pieces, branch_row, one_line, row_pieces, session_row, text_pieces
from .watching import SessionWatch

_log = logging.getLogger(__name__)

_CLOSING = "BibGenie is closing and takes no more commands."


class Engine:
    """One engine over one profile, one library and the model that is chosen.

    `emit` is called for every event, in order, on the loop's thread. `journal_pause` lies between two notes of how far
    an answer has come. `keep_days` is how long unused chats are kept, 0 for always; `keeping_sleep` waits for seconds.
    `compaction` is what was chosen of it, `route` where a model's questions go; `clock` tells its time, `monotonic`
    measures it and `compaction_sleep` waits for it.
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
        journal_pause: Callable[[], Awaitable[None]] = lambda: asyncio.sleep(JOURNAL_SECONDS),
        keep_days: int = 0,
        keeping_sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        compaction: CompactionSettings = CompactionSettings(),  # noqa: B008 - frozen
        route: Callable[[str], str] = lambda _: "",
        clock: Clock = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
        compaction_sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._sessions = sessions
        self._index = index
        self._models = models
        self._profile = profile
        self._emit = emit
        self._formulas = FormulaDrawing(formulas, emit)
        self._drafts = Drafts(sessions.drafts, emit)
        self._contexts = Contexts(sessions, system=system, tools=reading_tool_specs(), settings=compaction, route=route)
        self._compactor = Compactor(
            sessions=sessions,
            leases=leases,
            contexts=self._contexts,
            lent=models.lent,
            summariser=lambda model: models.summariser(model, compaction.model),
            is_answering=lambda session_id: self._answering.is_busy(session_id),
            changed=lambda changes: self._answering.changed(changes),
            emit=emit,
            clock=clock,
            new_id=sessions.new_session_id,
            monotonic=monotonic,
            sleep=compaction_sleep,
        )
        self._answering = Answering(
            sessions=sessions,
            leases=leases,
            drafts=self._drafts,
            library=LibraryReading(index, self.start),
            models=models,
            contexts=self._contexts,
            compactor=self._compactor,
            system=system,
            emit=emit,
            pause=journal_pause,
        )
        self._branches = Branches(sessions, leases, self._answering, emit)
        self._keeping = Keeping(sessions, leases, self._answering, emit, keep_days=keep_days, sleep=keeping_sleep)
        self._checkpoints = Checkpoints(sessions, emit)
        self._history = History(sessions.search, emit)
        self._exchange = Exchange(sessions, emit)
        self._recovering: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> asyncio.Task[None]:
        """Begin to read and index the library in the background."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._index.refresh(), name="library refresh")
        return self._refreshing

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
        await self._answering.settled()

    async def deletion_settled(self) -> None:
        """Wait until nothing is being deleted, and what was deleted is wiped off the disk."""
        await self._keeping.settled()

    async def close(self) -> None:
        """Stop what runs and keep what streams: after this nothing of the engine is left, and no command is taken."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="close the engine")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await self._compactor.close()
        await self._answering.close()
        await self._keeping.close()
        for task in filter(None, (self._refreshing, self._watching, self._recovering)):
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
        except UnknownSession as error:
            self._emit(CommandFailed("refused", str(error), command.request))
        except (NotAllowed, ModelError) as error:
            self._emit(CommandFailed(error.code, str(error), command.request))
        except StoreUnavailable as error:
            self._emit(CommandFailed(error.code, str(error), command.request))
        except BrokenProjection as error:
            sentence = f"This chat cannot be sent to a model: {error}."
            self._emit(CommandFailed("damaged", sentence, command.request))
        except UndecodablePart:
            _log.error("a stored message cannot be read")  # why would quote it
            sentence = "A stored message cannot be read; it was left as it is: run the doctor command."
            self._emit(CommandFailed("damaged", sentence, command.request))

    async def _handle(self, command: Command) -> None:
        match command:
            case Hello(version=version):
                if version != VERSION:
                    raise Refused("version", "Window and engine are of different versions: restart BibGenie.")
                welcome = Welcome(VERSION, __version__, self._profile, self._index.title, one_line(self._models.name))
                self._emit(replace(welcome, request=command.request))
                self._emit(self._index.progress)
                self._models.load_ahead()
                self._recover()
                self._keeping.start()
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
            case SendMessage() | Retry() | ContinueAnswer() | EditMessage():
                await self._answering.begin(command)
            case Compact():
                await self._compactor.compact(command)
            case CancelCompaction(session_id=session_id):
                self._compactor.cancel(session_id)
                self._emit(CommandDone(command.request))
            case FetchContext(session_id=session_id, draft=draft, draft_characters=characters):
                await self._tell_context(session_id, well_formed(draft), characters, command.request)
            case FetchCheckpoint() | FetchRefusedText():
                await self._checkpoints.tell(command)
            case Fork() | SwitchTo() | ContinueDamaged() | FetchTree():
                await self._branches.handle(command)
            case DeleteSession() | UndoDelete() | PinSession() | ArchiveSession():
                await self._keeping.handle(command)
            case SearchHistory():
                await self._history.search(command)
            case ExportSession() | ImportSession():
                await self._exchange.handle(command)
            case StopTurn(session_id=session_id):
                await self._answering.stop(session_id)
                self._emit(CommandDone(command.request))
            case SaveDraft(session_id=session_id, text=text):
                await self._drafts.save(session_id, well_formed(text))
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

    async def _tell_context(self, session_id: str, draft: str, characters: int, request: int) -> None:
        why_not = ""
        if self._compactor.is_running(session_id):
            why_not = "Earlier context is being compacted already."
        elif self._answering.is_busy(session_id):
            why_not = "Not while an answer streams: wait for it or stop it."
        async with self._models.lent() as model:
            state = await self._contexts.state(session_id, model, draft, characters, why_not)
        self._emit(replace(state, request=request))

    async def recover(self, session_id: str) -> None:
        """Bring back what a killed process left of an answer in this chat."""
        await self._answering.interrupted.recover(session_id)

    async def compactions_settled(self) -> None:
        """Wait until nothing is compacted."""
        await self._compactor.all_settled()

    async def prepare_model(self) -> None:
        """Load what the model's first request needs. Raises ModelError (an unknown model, a missing key)."""
        await self._models.prepare()

    async def keep_question(self, session_id: str, text: str) -> None:
        """Keep a question that cannot be asked now as the chat's draft, above the one that is there."""
        await self._sessions.drafts.put_above(session_id, text)

    async def find_session(self, beginning: str) -> str:
        """The id of the only session whose id begins so. Raises UnknownSession."""
        return (await self._sessions.find(beginning)).id

    async def last_message(self, session_id: str) -> str:
        """The last question or answer of the active branch, "" where there is none. Raises UnknownSession."""
        await self._answering.interrupted.recover(session_id)
        path = await self._sessions.branch(session_id)
        return next((node.id for node in reversed(path.nodes) if node.role != "checkpoint"), "")

    async def find_message(self, session_id: str, beginning: str) -> str:
        """The id of the session's only message whose id begins so, on any branch.

        Raises UnknownSession, and NotAllowed for no such message or several.
        """
        nodes = await self._sessions.tree.whole(session_id)
        found = [node.id for node in nodes if node.id.startswith(beginning)] if beginning else []
        if beginning in found:
            return beginning
        if len(found) != 1:
            quoted = QUOTED.repr(beginning)
            what = f"Several messages of this chat have ids that begin with {quoted}: give more of the id."
            missing = f"This chat has no message with the id {quoted}: the branches command shows them."
            raise NotAllowed(what if found else missing)
        return found[0]

    def _recover(self) -> None:
        """Bring back, in the background, what killed processes left of their answers."""
        if self._recovering is None:
            recovering = self._answering.interrupted.recover_all()
            self._recovering = asyncio.create_task(recovering, name="recover interrupted answers")

    async def _open(self, session_id: str, request: int) -> None:
        draft = await self._drafts.read(session_id)
        title, revision, path, versions = "", 0, Path(()), dict[str, Versions]()
        if session_id != NEW_SESSION:
            await self._answering.interrupted.recover(session_id)
            session = await self._sessions.session(session_id)
            title, revision = one_line(session.title), session.branch_revision
            path = await self._sessions.branch(session_id)
            versions = await self._sessions.tree.versions(session_id)
        damage = damage_of(path)
        rows = [
            branch_row(node, versions.get(node.id, Versions()), path.checkpoints.get(node.id)) for node in path.nodes
        ]
        contents = [(piece, "") for piece, _ in row_pieces(rows)]
        first, *others = text_pieces(draft)
        contents[-1] = (contents[-1][0], first)
        contents += [((), part) for part in others]
        for number, (piece, part) in enumerate(contents, 1):
            more = number < len(contents)
            self._emit(Branch(session_id, title, revision, piece, part, damage, more, request))
        self._compactor.tell_running(session_id)
