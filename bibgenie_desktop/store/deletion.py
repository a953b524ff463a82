"""Deleting sessions for good: marked at once, purged when that can no more be undone, then wiped off the disk (T-7)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, or_, select

from ..sessions.branch import NotAllowed
from .database import Database, StoreUnavailable
from .encoding import Clock, encode_json, timestamp
from .erasing import Erasure, erase_from_copies, read_erasures, truncate_log, vacuum
from .leases import Guard, anyone, see_to
from .removal import can_be_asked, choose_nodes, leaving, remove_rows
from .schema import draft, erasure, session
from .session_rows import read_session
from .tree_reading import forget_nodes

_GONE = "This chat was deleted for good and cannot be brought back."


class DeletionStore:
    """The deletions. None moves a revision. All methods raise StoreUnavailable when the file fails.

    A deleted session is only marked at first: no list, search or id finds it, and `undo` brings it back. `purge`
    removes its rows and notes what is to be wiped, which `wipe` does. What is interrupted is done by a later call.
    """

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        # Of what is pending: a later attempt goes on where an earlier one could not.
        self._wiped_from_copies: frozenset[str] = frozenset()
        self._vacuumed: frozenset[str] = frozenset()
        self._told: tuple[str, ...] = ()

    async def delete(self, session_id: str, *, allowed: Guard = anyone) -> str:
        """Mark a session as deleted, if that is `allowed`; returns the mark. Raises UnknownSession, NotHeld."""

        def transaction(connection: Connection) -> str:
            found = read_session(connection, session_id)
            see_to(allowed, connection)
            mark = timestamp(self._clock())
            connection.execute(session.update().where(session.c.id == found.id).values(deleted_at=mark))
            return mark

        return await self._database.write(transaction)

    async def undo(self, session_id: str) -> None:
        """Bring a deleted session back; one that is not deleted stays. Raises NotAllowed if it is purged."""

        def transaction(connection: Connection) -> None:
            mine = session.c.id == session_id
            if connection.execute(select(session.c.id).where(mine)).one_or_none() is None:
                raise NotAllowed(_GONE)
            connection.execute(session.update().where(mine).values(deleted_at=None))

        await self._database.write(transaction)

    async def marked(self) -> dict[str, str]:
        """The sessions that are deleted and not purged, with their marks."""

        def transaction(connection: Connection) -> dict[str, str]:
            rows = connection.execute(
                select(session.c.id, session.c.deleted_at).where(session.c.deleted_at.is_not(None))
            )
            return {row.id: str(row.deleted_at) for row in rows if can_be_asked(row.id)}

        return await self._database.read(transaction)

    def is_overdue(self, mark: str, seconds: float) -> bool:
        """Whether a session was marked at least so long ago, or as far in the future: by a clock that was wrong."""
        try:
            age = self._clock() - datetime.fromisoformat(mark)
        except (TypeError, ValueError):
            return False  # a damaged mark: nobody said that this is to be deleted
        return abs(age) >= timedelta(seconds=seconds)

    async def purge(self, session_id: str, *, mark: str) -> bool:
        """Remove a session that has this mark, with all that no other session reaches; False where it has not.

        In one transaction, which also notes what is to be wiped.
        """

        def transaction(connection: Connection) -> bool:
            marked = select(session.c.id).where(session.c.id == session_id, session.c.deleted_at == mark)
            if connection.execute(marked).one_or_none() is None:
                return False
            choose_nodes(connection, session_id)
            self._note(connection, session_id, leaving(connection))
            remove_rows(connection, session_id)
            return True

        is_purged = await self._database.write(transaction)
        forget_nodes()
        return is_purged

    async def sweep(self) -> None:
        """Remove the drafts that were written into sessions which had been purged by then."""
        strays = select(draft.c.session_id).where(
            draft.c.session_id != "", draft.c.session_id.not_in(select(session.c.id))
        )

        def transaction(connection: Connection) -> None:
            for session_id in filter(can_be_asked, connection.execute(strays).scalars().all()):
                self._note(connection, session_id, ())
                connection.execute(draft.delete().where(draft.c.session_id == session_id))

        if await self._database.read(lambda connection: connection.execute(strays).first()):
            await self._database.write(transaction)

    async def expire(self, days: int, *, allowed: Callable[[str], Guard]) -> dict[str, str]:
        """Mark the sessions that were not used for so many days, as far as that is `allowed`; pinned ones stay.

        A draft that is younger counts as use. Returns the marked sessions with their marks.
        """
        limit = timedelta(days=days)

        def transaction(connection: Connection) -> dict[str, str]:
            now = self._clock()
            mark = timestamp(now)
            rows = connection.execute(
                select(session.c.id, session.c.updated_at, draft.c.updated_at)
                .outerjoin(draft, draft.c.session_id == session.c.id)
                .where(session.c.deleted_at.is_(None), or_(session.c.is_pinned == 0, session.c.is_pinned.is_(None)))
            ).all()
            marked: dict[str, str] = {}
            for session_id, *used in rows:
                moments = [_moment(each) for each in used if each is not None]
                if (
                    not can_be_asked(session_id)
                    or None in moments
                    or any(now - moment < limit for moment in moments if moment is not None)
                ):
                    continue
                if allowed(session_id)(connection):
                    connection.execute(session.update().where(session.c.id == session_id).values(deleted_at=mark))
                    marked[session_id] = mark
            return marked

        return await self._database.write(transaction)

    async def wipe(self) -> Sequence[str]:
        """Wipe what was purged off the file, its log and its copies; returns sentences about copies it cannot wipe.

        What is cut short, by the end of the program say, is done by a later call: also where this one is cancelled.
        Raises StoreUnavailable where it cannot be finished now, such as while another process reads.
        """
        pending = await self._database.read(read_erasures)
        ids = frozenset(each.session_id for each in pending)
        if not ids:
            return ()
        trouble: StoreUnavailable | None = None
        if not ids <= self._wiped_from_copies:
            self._told, trouble = await self._wipe_copies(pending)
            self._wiped_from_copies = frozenset() if trouble else ids
        if not ids <= self._vacuumed:
            await self._database.maintain(vacuum)
            self._vacuumed = ids
        await self._database.maintain(truncate_log)
        if trouble is not None:
            raise trouble
        await self._database.write(
            lambda connection: [
                connection.execute(erasure.delete().where(erasure.c.session_id == session_id)) for session_id in ids
            ]
        )
        return self._told

    async def _wipe_copies(self, pending: Sequence[Erasure]) -> tuple[tuple[str, ...], StoreUnavailable | None]:
        """In a thread of its own: messages are stored meanwhile."""
        is_over = threading.Event()
        path = self._database.path
        work = asyncio.get_running_loop().run_in_executor(None, erase_from_copies, path, pending, is_over)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            is_over.set()
            await asyncio.wait([work])
            raise

    def _note(self, connection: Connection, session_id: str, node_ids: Sequence[str]) -> None:
        connection.execute(erasure.delete().where(erasure.c.session_id == session_id))
        connection.execute(
            erasure.insert().values(
                session_id=session_id, node_ids=encode_json(list(node_ids)), deleted_at=timestamp(self._clock())
            )
        )


def _moment(stored: object) -> datetime | None:
    """A stored time; None for what is damaged."""
    try:
        moment = datetime.fromisoformat(str(stored))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
