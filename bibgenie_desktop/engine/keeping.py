"""What becomes of chats: deleted for good after a time in which that can be undone, pinned, put away (T-2, T-7)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from ..protocol.commands import UNDO_SECONDS, ArchiveSession, DeleteSession, PinSession, UndoDelete
from ..protocol.events import CommandDone, Event, SessionsChanged
from ..store.database import StoreUnavailable
from ..store.leases import NotHeld
from ..store.sessions import SessionStore
from .answering import Answering
from .leases import SessionLeases
from .refused import Refused

RETRY_SECONDS = 60.0
"""Before the second attempt at what a reading process or a full disk prevents; twice as long before each next one."""
LONGEST_RETRY_SECONDS = 3_600.0
CLOSING_SECONDS = 0.4
"""Seconds that the end of an engine waits for what it is about to purge; the next start does the rest."""

_log = logging.getLogger(__name__)

_LEASED = (
    "Another window or command is answering in this chat, which was left as it is: "
    "wait for that answer or stop it there, then delete the chat."
)


class Keeping:
    """Deletes, pins and puts away the chats of one engine.

    `keep_days` is how long chats that nobody uses are kept, 0 for always. `sleep` waits for so many seconds, as
    asyncio.sleep does.
    """

    def __init__(
        self,
        sessions: SessionStore,
        leases: SessionLeases,
        answering: Answering,
        emit: Callable[[Event], None],
        *,
        keep_days: int = 0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._sessions = sessions
        self._deletion = sessions.deletion
        self._leases = leases
        self._answering = answering
        self._emit = emit
        self._keep_days = keep_days
        self._sleep = sleep
        self._own: dict[str, str] = {}
        """What was deleted here and can be undone, with its mark."""
        self._purging: dict[str, asyncio.Task[None]] = {}
        self._finishing: asyncio.Task[None] | None = None
        self._wiping: asyncio.Task[None] | None = None
        self._is_more_to_wipe = False
        self._is_closed = False

    async def handle(self, command: DeleteSession | UndoDelete | PinSession | ArchiveSession) -> None:
        """Carry a command out. Raises Refused, and what the store raises."""
        match command:
            case DeleteSession(session_id=session_id):
                await self._delete(session_id)
            case UndoDelete(session_id=session_id):
                await self._deletion.undo(session_id)
                self._forget(session_id)
            case PinSession(session_id=session_id, pinned=pinned):
                await self._sessions.pin(session_id, pinned)
            case ArchiveSession(session_id=session_id, archived=archived):
                await self._sessions.archive(session_id, archived)
        self._emit(CommandDone(command.request))

    def start(self) -> None:
        """Delete, in the background, what is no more to be kept, and finish what an earlier engine could not."""
        if self._finishing is None:
            self._finishing = asyncio.create_task(self._finish(), name="finish deleting")

    async def settled(self) -> None:
        """Wait until nothing is being deleted."""
        while tasks := self._running():
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """Purge what was deleted here. What is being wiped is broken off: the next start does it."""
        self._is_closed = True
        if tasks := self._running():
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        own, self._own = self._own, {}
        purging = [asyncio.create_task(self._deletion.purge(each, mark=mark)) for each, mark in own.items()]
        if purging:
            done, late = await asyncio.wait(purging, timeout=CLOSING_SECONDS)
            for purge in late:
                purge.cancel()
            for error in filter(None, (purge.exception() for purge in done)):
                _log.info("a deleted chat is purged at the next start: %s", error)

    def _running(self) -> list[asyncio.Task[None]]:
        tasks = (self._finishing, self._wiping, *self._purging.values())
        return [task for task in tasks if task is not None and not task.done()]

    async def _delete(self, session_id: str) -> None:
        self._answering.refuse_if_busy(session_id)
        try:
            mark = await self._deletion.delete(session_id, allowed=self._leases.free(session_id))
        except NotHeld:
            raise Refused("leased", _LEASED) from None
        if self._is_closed:
            return  # the next start purges it
        self._own[session_id] = mark
        self._purge_later(session_id, mark)

    def _purge_later(self, session_id: str, mark: str) -> None:
        self._forget_task(session_id)
        self._purging[session_id] = asyncio.create_task(self._wait_and_purge(session_id, mark), name="purge a chat")

    def _forget(self, session_id: str) -> None:
        self._own.pop(session_id, None)
        self._forget_task(session_id)

    def _forget_task(self, session_id: str) -> None:
        earlier = self._purging.pop(session_id, None)
        if earlier is not None:
            earlier.cancel()

    async def _wait_and_purge(self, session_id: str, mark: str) -> None:
        seconds: float = UNDO_SECONDS
        while True:
            await self._sleep(seconds)
            try:
                await self._deletion.purge(session_id, mark=mark)
                break
            except StoreUnavailable as error:
                _log.info("a deleted chat cannot be purged yet: %s", error)
                seconds = RETRY_SECONDS
        self._own.pop(session_id, None)
        self._purging.pop(session_id, None)
        self._wipe()

    async def _finish(self) -> None:
        try:
            if self._keep_days:
                expired = await self._deletion.expire(self._keep_days, allowed=self._leases.free)
                for session_id, mark in sorted(expired.items()):
                    await self._deletion.purge(session_id, mark=mark)
                    self._emit(SessionsChanged((session_id,)))
            for session_id, mark in sorted((await self._deletion.marked()).items()):
                if self._deletion.is_overdue(mark, UNDO_SECONDS):
                    await self._deletion.purge(session_id, mark=mark)
                elif session_id not in self._own:
                    # Of another engine, which may bring it back, or end before it has purged it.
                    self._purge_later(session_id, mark)
            await self._deletion.sweep()
        except StoreUnavailable as error:
            _log.info("what is to be deleted is deleted at the next start: %s", error)
        self._wipe()

    def _wipe(self) -> None:
        """Wipe what was purged, in the background."""
        self._is_more_to_wipe = True
        if self._wiping is None or self._wiping.done():
            self._wiping = asyncio.create_task(self._wipe_all(), name="wipe deleted chats")

    async def _wipe_all(self) -> None:
        trouble, seconds = "", RETRY_SECONDS
        while self._is_more_to_wipe:
            self._is_more_to_wipe = False
            try:
                for sentence in await self._deletion.wipe():
                    _log.warning("%s", sentence)
            except StoreUnavailable as error:
                if str(error) != trouble:  # once, and not at each attempt
                    _log.info("deleted chats cannot be wiped off the disk yet: %s", error)
                trouble = str(error)
                self._is_more_to_wipe = True
                await self._sleep(seconds)
                seconds = min(2 * seconds, LONGEST_RETRY_SECONDS)
