"""The journal of the answers that stream: what is kept of one whose process is killed (T-6).

A row is made in the transaction that begins an answer and removed in the one that stores it. One that is left while
nobody holds the session's lease is of an answer that was interrupted.

An engine that stood still may come back to an answer whose place in the journal another's has by now, under the same
question. So it says the number of its own, which no later one has: no two uses of a session have the same, and there is
none between the beginning of an answer and its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Integer, bindparam, or_, select

from ..sessions.nodes import Beginning
from ..sessions.parts import Part
from .database import Database
from .encoding import Clock, encode_parts, timestamp
from .schema import session, stream_journal


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


def end_journal(connection: Connection, session_id: str, parent_id: str, answer: int | None = None) -> None:
    """Within the transaction that stores the answer under `parent_id` or gives it up: it streams no more.

    The journal of another answer stays: the branch may have moved on to it. `answer` is as in `ChangeSet`; None is
    whichever streams there.
    """
    connection.execute(_END, {"session": session_id, "parent": parent_id, "answer": answer})


@dataclass(frozen=True, slots=True)
class Journalled:
    """An answer that streams, or that was interrupted. `stored_parts` is the JSON of what is kept of it."""

    parent_id: str
    previous_leaf_id: str | None
    beginning: str
    stored_parts: str
    model: str | None
    answer: int

    def is_of(self, parent_id: str, answer: int | None) -> bool:
        """Whether it is of the answer under `parent_id` with this number, None for whichever."""
        return self.parent_id == parent_id and answer in (None, self.answer)


def read_journal(connection: Connection, session_id: str) -> Journalled | None:
    """The journal of a session, None where no answer streams in it."""
    row = connection.execute(_READ, {"session": session_id}).one_or_none()
    return None if row is None else Journalled(*row)


_OWN = stream_journal.c.session_id == bindparam("session")
_BEGIN = stream_journal.insert().inline()
_FORGET = stream_journal.delete().where(_OWN)
_USED = select(session.c.used).where(session.c.id == stream_journal.c.session_id).scalar_subquery()
_MINE = (
    _OWN,
    stream_journal.c.parent_id == bindparam("parent"),
    or_(bindparam("answer", type_=Integer).is_(None), bindparam("answer", type_=Integer) == _USED),
)
_END = stream_journal.delete().where(*_MINE)
_NOTE = stream_journal.update().where(*_MINE).values(parts=bindparam("noted"), updated_at=bindparam("now"))
_READ = select(
    stream_journal.c.parent_id,
    stream_journal.c.previous_leaf_id,
    stream_journal.c.beginning,
    stream_journal.c.parts,
    stream_journal.c.model,
    _USED,
).where(_OWN)


class JournalStore:
    """The journal. All methods raise StoreUnavailable when the file fails."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def note(self, session_id: str, parent_id: str, parts: Sequence[Part], *, answer: int | None = None) -> bool:
        """Note how far the answer under `parent_id` has come; False where the journal knows no such answer.

        `answer` is as for `end_journal`.
        """
        noted = {"noted": encode_parts(parts), "now": timestamp(self._clock())}
        mine = {"session": session_id, "parent": parent_id, "answer": answer}
        return await self._database.write(lambda connection: connection.execute(_NOTE, {**noted, **mine}).rowcount > 0)
