"""Leases: which engine works on which session, so that no two of them answer in one chat at a time (T-6).

A lease keeps engines apart that behave; what holds when one does not, after a laptop slept say, are the store's own
transactions. So a lease that cannot be renewed is no reason to end an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, select

from .database import Database
from .encoding import Clock, timestamp
from .schema import lease

Guard = Callable[[Connection], bool]
"""Tells within a transaction whether it may write."""

EXPIRY = timedelta(seconds=30)
"""How long a lease lasts after its last heartbeat."""
FORGOTTEN = timedelta(days=1)
"""After so long a lease is removed: a chat that never came to be would keep its own for ever."""


class NotHeld(Exception):
    """The session is another engine's by now."""


def anyone(connection: Connection) -> bool:
    """The guard of what is always allowed."""
    return True


def see_to(allowed: Guard, connection: Connection) -> None:
    """Go on only if a transaction is allowed. Raises NotHeld."""
    if not allowed(connection):
        raise NotHeld


class LeaseStore:
    """The leases of one engine, `owner`, in the history's file.

    `has_ended` tells of another owner that its process has certainly ended: its leases can be had at once, and not
    only after EXPIRY. All methods raise StoreUnavailable when the file fails.
    """

    def __init__(self, database: Database, *, owner: str, clock: Clock, has_ended: Callable[[str], bool]) -> None:
        self._database = database
        self._owner = owner
        self._clock = clock
        self._has_ended = has_ended

    async def acquire(self, session_id: str, kind: str) -> bool:
        """Take the lease on a session, or renew one's own, and say whether it is held now.

        It is had where nobody holds it, where its holder has not renewed it in time, and where the holder has ended.
        The session need not exist yet. `kind` says what for, such as `turn`. Leases that are long void are removed.
        """
        return await self._database.write(lambda connection: self._acquire(connection, session_id, kind))

    def guard(self, session_id: str, kind: str) -> Guard:
        """Does what `acquire` does as a part of another transaction: what that writes, the holder alone writes."""
        return lambda connection: self._acquire(connection, session_id, kind)

    def free(self, session_id: str) -> Guard:
        """Whether no other engine works on the session, asked within a transaction; nothing is taken."""

        def is_free(connection: Connection) -> bool:
            found = connection.execute(select(lease).where(lease.c.session_id == session_id)).one_or_none()
            return found is None or found.owner == self._owner or not self._is_live(found, self._clock())

        return is_free

    def _acquire(self, connection: Connection, session_id: str, kind: str) -> bool:
        now = self._clock()
        found = connection.execute(select(lease).where(lease.c.session_id == session_id)).one_or_none()
        if found is not None and found.owner != self._owner and self._is_live(found, now):
            return False
        acquired_at = timestamp(now)
        if found is not None and found.owner == self._owner:
            acquired_at = found.acquired_at
        connection.execute(lease.delete().where(lease.c.session_id == session_id))
        connection.execute(lease.delete().where(lease.c.heartbeat_at < timestamp(now - FORGOTTEN)))
        connection.execute(
            lease.insert().values(
                session_id=session_id,
                owner=self._owner,
                kind=kind,
                heartbeat_at=timestamp(now),
                acquired_at=acquired_at,
            )
        )
        return True

    async def release(self, session_id: str) -> None:
        """Give one's own lease back; another's stays."""
        own = lease.delete().where(lease.c.session_id == session_id, lease.c.owner == self._owner)
        await self._database.write(lambda connection: connection.execute(own))

    def _is_live(self, found: Row[Any], now: datetime) -> bool:
        try:
            age = now - datetime.fromisoformat(found.heartbeat_at)
        except (TypeError, ValueError):
            return False  # damaged: its holder will write it anew
        # One from the future is of a clock that was set back; a live holder's next heartbeat has the new time.
        return abs(age) < EXPIRY and not self._has_ended(found.owner)
