"""Sessions and nodes in sessions.sqlite: every change is one transaction that returns its change-set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, select

from ..sessions.branch import NotAllowed, check_append
from ..sessions.branch import Path as BranchPath
from ..sessions.nodes import ChangeSet, Node, Session, StopReason
from ..sessions.parts import Part
from ..sessions.text import well_formed
from ..sessions.usage import Usage
from .compaction import CompactionStore
from .database import Database
from .deletion import DeletionStore
from .drafts import DraftStore
from .encoding import Clock, decode_json, timestamp
from .exporting import ExportStore
from .importing import ImportStore
from .journal import JournalStore, begin_journal, end_journal, read_journal
from .leases import Guard, anyone, see_to
from .migrations import RESTORING, check_file, migrate
from .model_facts import ModelFactStore
from .schema import node, session
from .search import SearchStore
from .session_rows import (
    NEVER,
    QUOTED,
    UnknownSession,
    insert_node,
    move_leaf,
    node_from,
    node_row,
    note_use,
    read_session,
    session_from,
)
from .titles import clean_title
from .tree import TreeStore
from .tree_reading import read_branch

NEW_SESSION = ""
"""The session id under which the draft of a session that does not exist yet is kept."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session with the counts of its active branch; `tokens` is the newest answer's occupancy, 0 if unknown."""

    session: Session
    turns: int
    tokens: int


class SessionStore:
    """The history: append-only nodes, and sessions that point at their leaf.

    `drafts`, `journal` and `model_facts` are what else is kept in its file, `tree` holds the operations on its
    branches, `compaction` makes its checkpoints. All methods
    raise StoreUnavailable when the file fails.
    """

    def __init__(self, database: Database, *, clock: Clock, new_id: Callable[[], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self.drafts = DraftStore(database, clock=clock)
        self.journal = JournalStore(database, clock=clock)
        self.deletion = DeletionStore(database, clock=clock)
        self.tree = TreeStore(database, clock=clock, new_id=new_id)
        self.search = SearchStore(database)
        self.model_facts = ModelFactStore(database, clock=clock)
        self.compaction = CompactionStore(database, clock=clock, new_id=new_id)
        self.exporting = ExportStore(database)
        self.importing = ImportStore(database, clock=clock, new_id=new_id)

    @classmethod
    async def open(cls, path: Path, *, clock: Clock, new_id: Callable[[], str]) -> SessionStore:
        """Open or make the history at `path`. Raises StoreUnavailable with nothing written."""
        check_file(path)
        database = Database(path, what="The history", if_damaged=RESTORING, overwrites=True)
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
        sent_draft: str = "",
        new_session_id: str = "",
        allowed: Guard = anyone,
    ) -> ChangeSet:
        """Store a question at the end of the session's branch, in one transaction, if it is `allowed` within that.

        Its answer is expected: the journal begins with it.
        `sent_draft`, the question as it stands in the draft, is taken off that. `session_id` "" begins a new session
        with `title`, of the id `new_session_id` if one is given. Raises UnknownSession, and NotHeld if not allowed.
        """

        def transaction(connection: Connection) -> ChangeSet:
            see_to(allowed, connection)
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
                found = read_session(connection, session_id)
                leaf_id, revision = found.leaf_id, found.branch_revision
            added = Node(self._new_id(), leaf_id, "user", tuple(parts), now)
            insert_node(connection, identity, added, revision + 1)
            move_leaf(connection, identity, added.id, revision + 1)
            begun = note_use(connection, identity, model, now)
            begin_journal(connection, identity, added.id, beginning="ask", model=model, now=now)
            if sent_draft:
                self.drafts.take_off(connection, session_id, sent_draft)
            return ChangeSet("append_user", identity, added.id, revision + 1, (added.id,), begun)

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
        answer: int | None = None,
    ) -> ChangeSet:
        """Store an answer under `parent_id`; its number is `answer`, as its beginning had it, or None for whichever.

        The session's leaf moves to it if the branch still ends at `parent_id`; if it has moved meanwhile, or another
        answer streams there, it is stored beside it, reachable as a sibling, and the branch stays where the user
        brought it. Raises UnknownSession, NotAllowed.
        """

        def transaction(connection: Connection) -> ChangeSet:
            now = self._now()
            found = read_session(connection, session_id)
            parent = node_row(connection, parent_id)
            if parent is None:
                raise NotAllowed("The question of this answer is no longer stored.")
            check_append("assistant", node_from(parent), stop_reason)
            added = Node(self._new_id(), parent_id, "assistant", tuple(parts), now, model, usage, stop_reason)
            end_journal(connection, session_id, parent_id, answer)
            streaming = read_journal(connection, session_id)
            is_at_end = found.leaf_id == parent_id and (streaming is None or streaming.parent_id != parent_id)
            revision = found.branch_revision + 1
            insert_node(connection, session_id, added, revision if is_at_end else NEVER)
            if not is_at_end:
                return ChangeSet("append_assistant", session_id, found.leaf_id, found.branch_revision, (added.id,))
            move_leaf(connection, session_id, added.id, revision)
            note_use(connection, session_id, model, now)
            return ChangeSet("append_assistant", session_id, added.id, revision, (added.id,))

        return await self._database.write(transaction)

    async def rename(self, session_id: str, title: str) -> str:
        """Give a session another title and return it as stored (see `clean_title`).

        Nothing else changes: neither `branch_revision` (T-2) nor `updated_at`, since a chat that was only renamed was
        not used and keeps its place in the list. Raises UnknownSession, NotAllowed.
        """
        cleaned = clean_title(title)

        def transaction(connection: Connection) -> str:
            found = read_session(connection, session_id)
            connection.execute(session.update().where(session.c.id == found.id).values(title=cleaned))
            return cleaned

        return await self._database.write(transaction)

    async def pin(self, session_id: str, pinned: bool) -> None:
        """Keep a session at the top of the list, or no more; nothing else changes (T-2). Raises UnknownSession."""
        await self._database.write(lambda connection: _set(connection, session_id, is_pinned=int(pinned)))

    async def archive(self, session_id: str, archived: bool) -> None:
        """Put a session away, or back; nothing else changes (T-2). Raises UnknownSession."""
        moment = self._now() if archived else None
        await self._database.write(lambda connection: _set(connection, session_id, archived_at=moment))

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
        return await self._database.read(lambda connection: read_session(connection, session_id))

    async def find(self, beginning: str) -> Session:
        """The only session whose id begins so, as a person types it. Raises UnknownSession."""

        start = well_formed(beginning)

        def transaction(connection: Connection) -> Session:
            begins = session.c.id.startswith(start, autoescape=True)
            found = select(session).where(begins, session.c.deleted_at.is_(None)).limit(2)
            rows = connection.execute(found).all() if start else []
            if len(rows) > 1:
                beginning = QUOTED.repr(start)
                raise UnknownSession(f"Several chats have ids that begin with {beginning}: give more of the id.")
            return read_session(connection, rows[0].id if rows else start)

        return await self._database.read(transaction)

    async def sessions(self) -> list[SessionSummary]:
        """All sessions, pinned ones first, then the last used, whatever the clock said; deleted ones are left out."""
        return await self._database.read(_summaries)

    async def branch(self, session_id: str) -> BranchPath:
        """The session's active branch, root first, as far as it is sound (T-5). Raises UnknownSession."""

        return await self._database.read(
            lambda connection: read_branch(connection, read_session(connection, session_id).leaf_id)
        )

    async def nodes(self, node_ids: Sequence[str]) -> list[Node]:
        """These nodes, in the order asked; unknown ids are left out. Raises UndecodablePart."""

        def transaction(connection: Connection) -> list[Node]:
            rows = (node_row(connection, node_id) for node_id in node_ids)
            return [node_from(row) for row in rows if row is not None]

        return await self._database.read(transaction)

    async def integrity(self) -> list[str]:
        """What SQLite's full check and the foreign keys find wrong; empty for a sound file."""

        def transaction(connection: Connection) -> list[str]:
            found = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(20)")]
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(20)
            return [line for line in found if line != "ok"] + [
                f"{row[0]} refers to a missing {row[2]}" for row in broken
            ]

        return await self._database.read(transaction)

    def _now(self) -> str:
        return timestamp(self._clock())


def _set(connection: Connection, session_id: str, **values: object) -> None:
    found = read_session(connection, session_id)
    connection.execute(session.update().where(session.c.id == found.id).values(values))


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
        .where(session.c.deleted_at.is_(None))
        .order_by(session.c.is_pinned.desc(), session.c.used.desc(), session.c.id)
    )
    return [SessionSummary(session_from(row), row.turns, _occupancy(row.usage)) for row in rows]


def _occupancy(usage: str | None) -> int:
    if usage is None:
        return 0
    try:
        counts = Usage.from_json(decode_json(usage))
    except ValueError:
        return 0  # a damaged message must not hide the list; opening the session tells of it
    return counts.input_tokens + counts.output_tokens
