"""Answers whose process was killed: what the journal kept of them is put into their chats (T-6)."""

from __future__ import annotations

import logging
from collections.abc import Callable

from ..sessions.branch import NotAllowed
from ..sessions.nodes import ChangeSet
from ..store.database import StoreUnavailable
from ..store.leases import Guard, NotHeld
from ..store.session_rows import UnknownSession
from ..store.sessions import SessionStore
from .leases import SessionLeases

_log = logging.getLogger(__name__)


class InterruptedAnswers:
    """Recovers what was left behind. `is_busy` tells of a session that this engine itself answers in."""

    def __init__(
        self,
        sessions: SessionStore,
        leases: SessionLeases,
        *,
        is_busy: Callable[[str], bool],
        changed: Callable[[ChangeSet], None],
    ) -> None:
        self._sessions = sessions
        self._leases = leases
        self._is_busy = is_busy
        self._changed = changed

    async def recover_all(self) -> None:
        """Recover every session that nobody answers in; one that cannot be is looked at again when it is opened."""
        try:
            session_ids = await self._sessions.tree.interrupted()
        except StoreUnavailable as error:
            _log.info("interrupted answers could not be looked for: %s", error)
            return
        for session_id in session_ids:
            await self.recover(session_id)

    async def recover(self, session_id: str) -> None:
        """Recover one session, unless an answer streams in it, here or in another process."""
        try:
            # Looked at first: to open a chat must not wait for whoever writes to the file.
            if session_id not in await self._sessions.tree.interrupted() or self._is_busy(session_id):
                return
            # Asked for at once: a beginning of this engine that comes now is written after it.
            await self.recover_under(session_id, self._leases.free(session_id))
        except NotHeld:
            return
        except (StoreUnavailable, UnknownSession, NotAllowed) as error:
            _log.info("an interrupted answer was not recovered: %s", error)

    async def recover_under(self, session_id: str, allowed: Guard) -> None:
        """Recover a session that is about to be used. Raises NotHeld, UnknownSession, StoreUnavailable."""
        changes = await self._sessions.tree.recover(session_id, allowed=allowed)
        if changes is not None:
            self._changed(changes)
