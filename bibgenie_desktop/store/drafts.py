"""Drafts in sessions.sqlite: what is written and not sent, one for each session and one for a new one (U-3)."""

from __future__ import annotations

from sqlalchemy import Connection, select

from ..sessions.text import well_formed, without
from .database import Database
from .encoding import Clock, timestamp
from .schema import draft


class DraftStore:
    """The drafts. No change of one moves a revision (T-2). All methods raise StoreUnavailable when the file fails."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def read(self, session_id: str) -> str:
        """The draft of the session, "" if there is none."""
        return await self._database.read(lambda connection: _draft(connection, session_id))

    async def put_above(self, session_id: str, text: str) -> str:
        """Keep a question that was not taken: above the draft that is there, which is never overwritten (U-2).

        Where it stands there already, it is not put there again. Returns the draft.
        """

        now = timestamp(self._clock())
        return await self._database.write(lambda connection: put_above(connection, session_id, text, now))

    async def save(self, session_id: str, text: str, *, known: str | None = None) -> str:
        """Keep the draft; an empty one is removed.

        It replaces what was `known` of the draft, all of it where None is given; what others wrote into it since stands
        above `text` now and is returned.
        """

        def transaction(connection: Connection) -> str:
            added = ""
            if known is not None:
                added = words_of_others(_draft(connection, session_id), known=known, text=text)
            _put(connection, session_id, "\n\n".join(filter(None, (added, text))), timestamp(self._clock()))
            return added

        return await self._database.write(transaction)

    def take_off(self, connection: Connection, session_id: str, question: str) -> None:
        """Within the transaction that stores a question which stands in the draft: leave the rest of that (P11)."""
        draft = _draft(connection, session_id)
        if (left := without(draft, question)) != draft:
            _put(connection, session_id, left, timestamp(self._clock()))


def put_above(connection: Connection, session_id: str, text: str, now: str) -> str:
    """Within a transaction: what `DraftStore.put_above` does."""
    known = _draft(connection, session_id)
    kept = text if text.startswith(known.strip()) else f"{text}\n\n{known}"
    if f"\n\n{text}\n\n" in f"\n\n{known}\n\n":
        kept = known
    _put(connection, session_id, kept, now)
    return kept


def _put(connection: Connection, session_id: str, text: str, now: str) -> None:
    connection.execute(draft.delete().where(draft.c.session_id == session_id))
    if text:
        connection.execute(draft.insert().values(session_id=session_id, text=text, attachments="[]", updated_at=now))


def _draft(connection: Connection, session_id: str) -> str:
    text = connection.execute(select(draft.c.text).where(draft.c.session_id == session_id)).scalar()
    return well_formed(str(text or ""))


def words_of_others(stored: str, *, known: str, text: str) -> str:
    """What of a stored draft was written by others, where a window knew it as `known` and has `text` now."""
    if stored.strip() in text or stored.strip() in known:
        return ""
    others = without(stored, known)
    # Two windows that each put the other's words above their own have the same paragraphs in another order.
    paragraphs, here = others.split("\n\n"), {each.strip() for each in f"{known}\n\n{text}".split("\n\n")}
    if here.isdisjoint(each.strip() for each in paragraphs if each.strip()):
        return others.strip()
    return "\n\n".join(each for each in paragraphs if each.strip() not in here).strip()
