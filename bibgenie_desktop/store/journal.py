"""The journal of the answers that stream: what is kept of one whose process is killed (T-6).

A row is made in the transaction that begins an answer and removed in the one that stores it. One that is left while
nobody holds the session's lease is of an answer that was interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

from ..sessions.nodes import Beginning
from ..sessions.parts import Part
from .database import Database
from .encoding import Clock, encode_parts, timestamp
from .schema import stream_journal


def begin_journal(
    connection: Connection,
    session_id: str,
    parent_id: str,
    *,
    beginning: Beginning,
    model: str,
    now: str,
    previous_leaf_id: str | None = None,
    parts: Sequence[Part] = (),
) -> None:
    """Within the transaction that begins an answer under `parent_id`: note that it streams from now on.

    `previous_leaf_id` is where the branch goes back to if nothing comes of the answer.
    """
    connection.execute(_FORGET, {"session": session_id})
    values = {
        "session_id": session_id,
        "parent_id": parent_id,
        "previous_leaf_id": previous_leaf_id,
        "beginning": beginning,
        "parts": encode_parts(parts),
        "model": model,
        "started_at": now,
        "updated_at": now,
    }
    connection.execute(_BEGIN, values)


def end_journal(connection: Connection, session_id: str, parent_id: str) -> None:
    """Within the transaction that stores the answer under `parent_id` or gives it up: it streams no more.

    The journal of another answer stays: the branch may have moved on to it.
    """
    connection.execute(_END, {"session": session_id, "parent": parent_id})


@dataclass(frozen=True, slots=True)
class Journalled:
    """An answer that streams, or that was interrupted. `stored_parts` is the JSON of what is kept of it."""

    parent_id: str
    previous_leaf_id: str | None
    beginning: str
    stored_parts: str
    model: str | None


def read_journal(connection: Connection, session_id: str) -> Journalled | None:
    """The journal of a session, None where no answer streams in it."""
    row = connection.execute(_READ, {"session": session_id}).one_or_none()
    return None if row is None else Journalled(*row)


_OWN = stream_journal.c.session_id == bindparam("session")
_BEGIN = stream_journal.insert().inline()
_FORGET = stream_journal.delete().where(_OWN)
_END = stream_journal.delete().where(_OWN, stream_journal.c.parent_id == bindparam("parent"))
_READ = select(
    stream_journal.c.parent_id,
    stream_journal.c.previous_leaf_id,
    stream_journal.c.beginning,
    stream_journal.c.parts,
    stream_journal.c.model,
).where(_OWN)


class JournalStore:
    """The journal. All methods raise StoreUnavailable when the file fails."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def note(self, session_id: str, parent_id: str, parts: Sequence[Part]) -> None:
        """Note how far the answer under `parent_id` has come; nothing, where the journal knows no such answer."""
        values = {"parts": encode_parts(parts), "updated_at": timestamp(self._clock())}
        mine = (stream_journal.c.session_id == session_id, stream_journal.c.parent_id == parent_id)
        await self._database.write(
            lambda connection: connection.execute(stream_journal.update().where(*mine).values(values))
        )
