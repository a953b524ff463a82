"""The leases that an engine holds while it works on sessions, and their heartbeat (T-6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from ..store.database import StoreUnavailable
from ..store.leases import Guard, LeaseStore

_log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 5.0
"""Far below the time in which a lease expires: a few heartbeats may fail, in a database that is busy say."""


class SessionLeases:
    """What one engine holds. `sleep` waits for that many seconds, as asyncio.sleep does.

    A lease that is lost all the same, after the laptop slept say, ends no answer: it is taken anew as soon as it can
    be, and the store keeps an answer whose chat went on elsewhere.
    """

    def __init__(self, store: LeaseStore, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._store = store
        self._sleep = sleep
        self._beating: dict[str, asyncio.Task[None]] = {}

    async def take(self, session_id: str) -> bool:
        """Take the lease on a session for a turn and hold it until `release`; False if another engine holds it.

        Raises StoreUnavailable.
        """
        if not await self._store.acquire(session_id, "turn"):
            return False
        self._beating[session_id] = asyncio.create_task(self._beat(session_id), name="lease heartbeat")
        return True

    def guard(self, session_id: str) -> Guard:
        """Whether the lease is still held, asked within a transaction that only its holder may make."""
        return self._store.guard(session_id, "turn")

    def free(self, session_id: str) -> Guard:
        """Whether no other engine works on the session, asked within a transaction; nothing is taken."""
        return self._store.free(session_id)

    async def release(self, session_id: str) -> None:
        """Give a lease back, also one whose taking was interrupted. One that cannot be given back expires."""
        beating = self._beating.pop(session_id, None)
        if beating is not None:
            beating.cancel()
            await asyncio.wait([beating])
        try:
            await self._store.release(session_id)
        except StoreUnavailable as error:
            _log.info("a lease could not be released: %s", error)

    async def _beat(self, session_id: str) -> None:
        while True:
            await self._sleep(HEARTBEAT_SECONDS)
            try:
                if not await self._store.acquire(session_id, "turn"):
                    _log.info("another engine has taken the lease on a session that is worked on here")
            except StoreUnavailable as error:
                _log.info("a lease could not be renewed: %s", error)
