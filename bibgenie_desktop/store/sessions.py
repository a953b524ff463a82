"""Sessions, nodes and drafts in sessions.sqlite: every change is one transaction that returns its change-set."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from reprlib import Repr
from typing import Any, NamedTuple, cast

import sqlalchemy
from sqlalchemy import Connection, Row, func, select

from ..sessions.branch import NotAllowed, check_append, path_to_root
from ..sessions.branch import Path as BranchPath
from ..sessions.nodes import ROLES, STOP_REASONS, ChangeSet, Node, Role, Session, StopReason
from ..sessions.parts import Part, UndecodablePart, parts_from_json, parts_to_json
from ..sessions.text import well_formed
from ..sessions.usage import Usage
from .database import Database
from .migrations import RESTORING, check_file, migrate
from .schema import draft, node, session, session_node

Clock = Callable[[], datetime]
Guard = Callable[[Connection], bool]
"""Tells within a transaction whether it may write."""

NEW_SESSION = ""
"""The session id under which the draft of a session that does not exist yet is kept."""


LONGEST_TITLE = 200
"""Characters of a chat's title."""


_QUOTED = Repr()
_QUOTED.maxstring = 80
"""What was asked for may be of any length."""


class SentDraft(NamedTuple):
    """A draft that a window sends as a question: as it was `known` to be stored, and the `text` that is sent."""

    known: str
    text: str


class NotHeld(Exception):
    """The session belongs to another engine by now."""


class UnknownSession(Exception):
    """No session has this id, or several begin with it. `str()` is one plain sentence."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session with the counts of its active branch; `tokens` is the newest answer's occupancy, 0 if unknown."""

    session: Session
    turns: int
    tokens: int


def timestamp(moment: datetime) -> str:
    """UTC in ISO 8601 with milliseconds: `2026-11-30T18:50:48.123Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encode_json(value: object) -> str:
    """Compact JSON text, readable in every script; lone surrogates, which no file can hold, become U+FFFD."""
    return well_formed(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")
"""Letters and symbols that are drawn as nothing: Hangul's fillers, Braille's blank, the null notehead."""


def clean_title(text: str) -> str:
    """A chat's title as it is stored: well-formed, one line without control characters, at most LONGEST_TITLE long.

    Cleaning it again changes nothing. Raises NotAllowed where nothing that can be seen is left.
    """
    line = "".join(" " if unicodedata.category(character) == "Cc" else character for character in well_formed(text))
    title = " ".join(line.split())
    is_long = len(title) > LONGEST_TITLE
    kept = title[: LONGEST_TITLE - 1].rstrip() if is_long else title
    if not any(_is_seen(character) for character in kept):
        raise NotAllowed("A chat needs a title: write one, or leave the one it has.")
    return f"{kept}…" if is_long else kept


def _is_seen(character: str) -> bool:
    """Whether a character is seen by itself: no space, no format or control, no mark that wants a letter below it."""
    return unicodedata.category(character)[0] in "LNPS" and character not in _BLANK


class SessionStore:
    """The history: append-only nodes, sessions that point at their leaf, drafts.

    All methods raise StoreUnavailable when the file fails.
    """

    def __init__(self, database: Database, *, clock: Clock, new_id: Callable[[], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    @classmethod
    async def open(cls, path: Path, *, clock: Clock, new_id: Callable[[], str]) -> SessionStore:
        """Open or make the history at `path`. Raises StoreUnavailable with nothing written."""
        check_file(path)
        database = Database(path, what="The history", if_damaged=RESTORING)
        try:
            await database.write(lambda connection: migrate(connection, path, clock))
        except BaseException:
            await database.close()
            raise
        return cls(database, clock=clock, new_id=new_id)

    @property
    def database(self) -> Database:
        """The file itself, for what else is kept in it."""
        return self._database

    async def close(self) -> None:
        """Wait for the last transaction and close the file."""
        await self._database.close()

    def new_session_id(self) -> str:
        """An id that no session has, for one that is about to begin."""
        return self._new_id()

    async def append_user(
        self,
        session_id: str,
        parts: Sequence[Part],
        *,
        title: str,
        model: str,
        sent_draft: SentDraft | None = None,
        new_session_id: str = "",
        allowed: Guard = lambda connection: True,
    ) -> ChangeSet:
        """Store a question at the end of the session's branch, in one transaction, if it is `allowed` within that.

        `sent_draft` is taken off the draft: what others wrote into it stays. `session_id` "" begins a new session with
        `title`, of the id `new_session_id` if one is given. Raises UnknownSession, and NotHeld if it is not allowed.
        """

        def transaction(connection: Connection) -> ChangeSet:
            if not allowed(connection):
                raise NotHeld
            now = self._now()
            identity, leaf_id, revision = session_id, None, 0
            check_append("user", None, None)
            if session_id == NEW_SESSION:
                identity = new_session_id or self._new_id()
                connection.execute(
                    session.insert().values(
                        id=identity,
                        title=title,
                        leaf_id=None,
                        branch_revision=0,
                        model=model,
                        created_at=now,
                        updated_at=now,
                    )
                )
            else:
                found = _session(connection, session_id)
                leaf_id, revision = found.leaf_id, found.branch_revision
            added = Node(self._new_id(), leaf_id, "user", tuple(parts), now)
            _insert_node(connection, identity, added)
            _move_leaf(connection, identity, added.id, revision + 1, model, now)
            if sent_draft is not None:
                left = words_of_others(self._draft(connection, session_id), **sent_draft._asdict())
                self._put_draft(connection, session_id, left)
            return ChangeSet("append_user", identity, added.id, revision + 1, (added.id,))

        return await self._database.write(transaction)

    async def append_assistant(
        self,
        session_id: str,
        parent_id: str,
        parts: Sequence[Part],
        *,
        model: str,
        usage: Usage | None,
        stop_reason: StopReason,
    ) -> ChangeSet:
        """Store an answer under `parent_id`.

        The session's leaf moves to it if the branch still ends at `parent_id`; if it has moved meanwhile, the
        answer is stored beside it, reachable as a sibling, and the branch stays where the user brought it.
        Raises UnknownSession, NotAllowed.
        """

        def transaction(connection: Connection) -> ChangeSet:
            now = self._now()
            found = _session(connection, session_id)
            parent = _node_row(connection, parent_id)
            if parent is None:
                raise NotAllowed("The question of this answer is no longer stored.")
            check_append("assistant", _decode(parent), stop_reason)
            added = Node(self._new_id(), parent_id, "assistant", tuple(parts), now, model, usage, stop_reason)
            _insert_node(connection, session_id, added)
            if found.leaf_id != parent_id:
                return ChangeSet("append_assistant", session_id, found.leaf_id, found.branch_revision, (added.id,))
            revision = found.branch_revision + 1
            _move_leaf(connection, session_id, added.id, revision, model, now)
            return ChangeSet("append_assistant", session_id, added.id, revision, (added.id,))

        return await self._database.write(transaction)

    async def rename(self, session_id: str, title: str) -> str:
        """Give a session another title and return it as stored (see `clean_title`).

        Nothing else changes: neither `branch_revision` (T-2) nor `updated_at`, since a chat that was only renamed was
        not used and keeps its place in the list. Raises UnknownSession, NotAllowed.
        """
        cleaned = clean_title(title)

        def transaction(connection: Connection) -> str:
            found = _session(connection, session_id)
            connection.execute(session.update().where(session.c.id == found.id).values(title=cleaned))
            return cleaned

        return await self._database.write(transaction)

    async def last_models(self, limit: int) -> list[str]:
        """The models that the sessions used last, each once and the newest first: at most `limit` names, as stored."""

        def transaction(connection: Connection) -> list[str]:
            newest = func.max(session.c.updated_at)
            named = select(session.c.model).where(func.typeof(session.c.model) == "text", session.c.model != "")
            rows = connection.execute(
                named.group_by(session.c.model).order_by(newest.desc(), session.c.model).limit(limit)
            )
            return [well_formed(name) for name in rows.scalars()]

        return await self._database.read(transaction)

    async def session(self, session_id: str) -> Session:
        """The session with this id. Raises UnknownSession."""
        return await self._database.read(lambda connection: _session(connection, session_id))

    async def find(self, beginning: str) -> Session:
        """The only session whose id begins so, as a person types it. Raises UnknownSession."""

        start = well_formed(beginning)

        def transaction(connection: Connection) -> Session:
            begins = session.c.id.startswith(start, autoescape=True)
            rows = connection.execute(select(session).where(begins).limit(2)).all() if start else []
            if len(rows) > 1:
                beginning = _QUOTED.repr(start)
                raise UnknownSession(f"Several chats have ids that begin with {beginning}: give more of the id.")
            return _session(connection, rows[0].id if rows else start)

        return await self._database.read(transaction)

    async def sessions(self) -> list[SessionSummary]:
        """All sessions, the last used first."""
        return await self._database.read(_summaries)

    async def branch(self, session_id: str) -> BranchPath:
        """The session's active branch, root first, as far as it is sound (T-5). Raises UnknownSession."""

        def transaction(connection: Connection) -> BranchPath:
            found = _session(connection, session_id)
            if found.leaf_id is None:
                return BranchPath(())
            nodes: dict[str, Node | Exception] = {}
            for row in connection.execute(_ancestors(found.leaf_id)):
                try:
                    nodes[row.id] = _decode(row)
                except UndecodablePart as error:
                    nodes[row.id] = error
            return path_to_root(found.leaf_id, nodes)

        return await self._database.read(transaction)

    async def nodes(self, node_ids: Sequence[str]) -> list[Node]:
        """These nodes, in the order asked; unknown ids are left out. Raises UndecodablePart."""

        def transaction(connection: Connection) -> list[Node]:
            rows = (_node_row(connection, node_id) for node_id in node_ids)
            return [_decode(row) for row in rows if row is not None]

        return await self._database.read(transaction)

    async def draft(self, session_id: str) -> str:
        """The draft of the session, "" if there is none."""

        return await self._database.read(lambda connection: self._draft(connection, session_id))

    async def keep_as_draft(self, session_id: str, text: str) -> None:
        """Keep a question that was not taken: above the draft that is there, which is never overwritten (U-2)."""

        def transaction(connection: Connection) -> None:
            known = self._draft(connection, session_id)
            self._put_draft(connection, session_id, text if text.startswith(known.strip()) else f"{text}\n\n{known}")

        await self._database.write(transaction)

    async def save_draft(self, session_id: str, text: str, *, known: str | None = None) -> str:
        """Keep the draft (U-3); an empty one is removed. It moves no revision (T-2).

        It replaces what was `known` of the draft, all of it where None is given; what others wrote into it since stands
        above `text` now and is returned.
        """

        def transaction(connection: Connection) -> str:
            added = ""
            if known is not None:
                added = words_of_others(self._draft(connection, session_id), known=known, text=text)
            self._put_draft(connection, session_id, "\n\n".join(filter(None, (added, text))))
            return added

        return await self._database.write(transaction)

    async def integrity(self) -> list[str]:
        """What SQLite's full check and the foreign keys find wrong; empty for a sound file."""

        def transaction(connection: Connection) -> list[str]:
            found = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(20)")]
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(20)
            return [line for line in found if line != "ok"] + [
                f"{row[0]} refers to a missing {row[2]}" for row in broken
            ]

        return await self._database.read(transaction)

    def _draft(self, connection: Connection, session_id: str) -> str:
        text = connection.execute(select(draft.c.text).where(draft.c.session_id == session_id)).scalar()
        return well_formed(str(text or ""))

    def _put_draft(self, connection: Connection, session_id: str, text: str) -> None:
        connection.execute(draft.delete().where(draft.c.session_id == session_id))
        if text:
            connection.execute(
                draft.insert().values(session_id=session_id, text=text, attachments="[]", updated_at=self._now())
            )

    def _now(self) -> str:
        return timestamp(self._clock())


def words_of_others(stored: str, *, known: str, text: str) -> str:
    """What of a stored draft was written by others, where a window knew it as `known` and has `text` now."""
    if stored.strip() in text or stored.strip() in known:
        return ""
    return stored.replace(known, "", 1).strip() if known and known in stored else stored.strip()


def _insert_node(connection: Connection, session_id: str, added: Node) -> None:
    connection.execute(
        node.insert().values(
            id=added.id,
            parent_id=added.parent_id,
            role=added.role,
            parts=encode_json(parts_to_json(added.parts)),
            model=added.model,
            usage=None if added.usage is None else encode_json(added.usage.to_json()),
            stop_reason=added.stop_reason,
            created_at=added.created_at,
        )
    )
    connection.execute(session_node.insert().values(session_id=session_id, node_id=added.id))


def _move_leaf(connection: Connection, session_id: str, leaf_id: str, revision: int, model: str, now: str) -> None:
    connection.execute(
        session.update()
        .where(session.c.id == session_id)
        .values(leaf_id=leaf_id, branch_revision=revision, model=model, updated_at=now)
    )


def _session(connection: Connection, session_id: str) -> Session:
    row = connection.execute(select(session).where(session.c.id == session_id)).one_or_none()
    if row is None:
        quoted = _QUOTED.repr(session_id)
        raise UnknownSession(f"There is no chat with the id {quoted}: the sessions command lists them.")
    return _session_from(row)


def _session_from(row: Row[Any]) -> Session:
    title = well_formed(str(row.title))
    leaf_id = None if row.leaf_id is None else well_formed(str(row.leaf_id))
    return Session(row.id, title, leaf_id, row.branch_revision, row.model, row.created_at, row.updated_at)


def _node_row(connection: Connection, node_id: str) -> Row[Any] | None:
    return connection.execute(select(node).where(node.c.id == node_id)).one_or_none()


def _ancestors(leaf_id: str) -> sqlalchemy.Select[Any]:
    # UNION, not UNION ALL: rows met twice end the recursion, so that a cycle cannot run for ever.
    walk = select(node.c.id, node.c.parent_id).where(node.c.id == leaf_id).cte("walk", recursive=True)
    walk = walk.union(select(node.c.id, node.c.parent_id).join(walk, node.c.id == walk.c.parent_id))
    return select(node).join(walk, walk.c.id == node.c.id)


def _summaries(connection: Connection) -> list[SessionSummary]:
    ids = select(session.c.id.label("session_id"), session.c.leaf_id.label("id"))
    walk = ids.where(session.c.leaf_id.is_not(None)).cte("walk", recursive=True)
    parents = select(walk.c.session_id, node.c.parent_id).join(walk, node.c.id == walk.c.id)
    walk = walk.union(parents.where(node.c.parent_id.is_not(None)))
    counted = (
        select(walk.c.session_id, func.count().label("turns"))
        .join(node, node.c.id == walk.c.id)
        .where(node.c.role == "user")
        .group_by(walk.c.session_id)
        .subquery()
    )
    rows = connection.execute(
        select(session, func.coalesce(counted.c.turns, 0).label("turns"), node.c.usage)
        .outerjoin(counted, counted.c.session_id == session.c.id)
        .outerjoin(node, node.c.id == session.c.leaf_id)
        .order_by(session.c.updated_at.desc(), session.c.id)
    )
    return [SessionSummary(_session_from(row), row.turns, _occupancy(row.usage)) for row in rows]


def _occupancy(usage: str | None) -> int:
    if usage is None:
        return 0
    try:
        counts = Usage.from_json(_json(usage))
    except ValueError:
        return 0  # a damaged message must not hide the list; opening the session tells of it
    return counts.input_tokens + counts.output_tokens


def _decode(row: Row[Any]) -> Node:
    """The row as a node. Raises UndecodablePart, whatever its columns hold."""
    if row.role not in ROLES:
        raise UndecodablePart(f"unknown role {row.role!r}")
    if row.stop_reason is not None and row.stop_reason not in STOP_REASONS:
        raise UndecodablePart(f"unknown stop reason {row.stop_reason!r}")
    if not all(isinstance(value, str | None) for value in (row.parent_id, row.created_at, row.model)):
        raise UndecodablePart("its parent, time or model is no text")
    try:
        parts = parts_from_json(_json(row.parts))
        usage = None if row.usage is None else Usage.from_json(_json(row.usage))
    except UndecodablePart:
        raise
    except ValueError as error:
        raise UndecodablePart(str(error)) from error
    role, stop_reason = cast(Role, row.role), cast(StopReason | None, row.stop_reason)
    parent_id = None if row.parent_id is None else well_formed(row.parent_id)
    return Node(row.id, parent_id, role, parts, row.created_at, row.model, usage, stop_reason)


def _json(stored: object) -> Any:
    """The value of a JSON column. Raises ValueError for all that is none, however deep, long or broken it is."""
    if not isinstance(stored, str):
        raise ValueError(f"JSON is text, not {type(stored).__name__}")
    stored.encode()  # text that is not UTF-8 was read with surrogates
    try:
        return json.loads(stored)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error
