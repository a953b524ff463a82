"""Checkpoints in the history: the one transaction that makes them, and the log of all attempts (C-9, C-16, C-17)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, bindparam, func, literal_column, select

from ..sessions.branch import DamagedBranch, NotAllowed
from ..sessions.checkpoints import OUTCOMES, TRIGGERS, Checkpoint, CompactionRun, NewCheckpoint, Outcome, Trigger
from ..sessions.nodes import ChangeSet, Node, Session
from ..sessions.operations import UNFINISHED, Operation, has_expired
from ..sessions.parts import ToolCallPart, UndecodablePart
from ..sessions.text import well_formed
from ..sessions.tree import NodeHead
from .checkpoint_rows import checkpoint_from
from .checkpoint_rules import check_checkpoint, newest_checkpoint, uncovered_from
from .database import Database
from .encoding import Clock, decode_parts, encode_json, timestamp
from .journal import read_journal
from .leases import Guard, anyone, see_to
from .schema import checkpoint, compaction_run, operation, session, session_node
from .session_rows import QUOTED, insert_node, read_session
from .tree_reading import read_line
from .tree_sql import DERIVABLE, TAIL

NEW_QUESTION = "new question"
"""Stands in a checkpoint for the question that is stored with it."""

_OPEN = UNFINISHED - {"unknown"}
"""An operation whose outcome is unknown blocks nothing (C-8)."""


class Stale(NotAllowed):
    """The branch is not as it was when the summary was begun: nothing is stored (C-9)."""

    code = "stale"


class Cancelled(Exception):
    """The compaction was cancelled before its commit: nothing is stored."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The end and the state of a branch as the operation began with them."""

    leaf_id: str | None
    branch_revision: int


@dataclass(frozen=True, slots=True)
class CompactionFigures:
    """What compactions came to, of one chat or of all (C-18). Tokens are sums over those that were applied."""

    outcomes: dict[str, int]
    tokens_before: int = 0
    tokens_after: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


class CompactionStore:
    """Commits and logs. All methods raise StoreUnavailable when the file fails, UnknownSession for no such session."""

    def __init__(self, database: Database, *, clock: Clock, new_id: Callable[[], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def commit(
        self,
        session_id: str,
        expected: Expected,
        new: NewCheckpoint,
        run: CompactionRun,
        *,
        is_cancelled: Callable[[], bool] = lambda: False,
        allowed: Guard = anyone,
    ) -> ChangeSet:
        """Store a checkpoint at the end of a branch, with its run, if the branch is still `expected` (C-9).

        The cancel is looked at last, within the transaction. Raises Stale, Cancelled, NotHeld, and NotAllowed where the
        chat is at work, the branch is damaged or the boundary is not one of it: nothing is stored then.
        """

        await self._database.read(lambda connection: _check_branch(connection, session_id, expected, new))

        def transaction(connection: Connection) -> ChangeSet:
            see_to(allowed, connection)
            found = read_session(connection, session_id)
            if read_journal(connection, session_id) is not None:
                raise NotAllowed("An answer streams in this chat: nothing was compacted.")
            added = add_checkpoint(connection, found, expected, new, run, node_id=self._new_id(), now=self._now())
            if is_cancelled():
                raise Cancelled
            return ChangeSet("compact", session_id, added, found.branch_revision + 1, (added,))

        return await self._database.write(transaction)

    async def log(self, run: CompactionRun) -> None:
        """Note an attempt of which no checkpoint came."""

        def transaction(connection: Connection) -> None:
            read_session(connection, run.session_id)
            _insert_run(connection, run)

        await self._database.write(transaction)

    async def runs(self, session_id: str) -> list[CompactionRun]:
        """All attempts in a chat, in the order in which they ended."""
        statement = select(compaction_run).where(compaction_run.c.session_id == session_id).order_by(_STORED)

        def transaction(connection: Connection) -> list[CompactionRun]:
            return [_run_from(row._mapping) for row in connection.execute(statement)]

        return await self._database.read(transaction)

    async def run(self, session_id: str, run_id: str) -> CompactionRun:
        """One attempt. Raises NotAllowed where the chat has none of this id."""
        statement = select(compaction_run).where(
            compaction_run.c.id == run_id, compaction_run.c.session_id == session_id
        )
        row = await self._database.read(lambda connection: connection.execute(statement).one_or_none())
        if row is None:
            raise NotAllowed(f"This chat was never compacted in a run {QUOTED.repr(run_id)}.")
        return _run_from(row._mapping)

    async def refused_text(self, session_id: str, run_id: str) -> str:
        """The summary that a run refused. Raises NotAllowed where there is none."""
        statement = select(compaction_run.c.refused_text).where(
            compaction_run.c.id == run_id, compaction_run.c.session_id == session_id
        )
        text = await self._database.read(lambda connection: connection.execute(statement).scalar())
        if not text:
            raise NotAllowed(f"There is no refused summary of the run {QUOTED.repr(run_id)}.")
        return well_formed(str(text))

    async def checkpoint(self, session_id: str, node_id: str) -> Checkpoint:
        """A checkpoint of a chat, on whatever branch. Raises NotAllowed where there is none."""
        statement = (
            select(checkpoint)
            .join(session_node, session_node.c.node_id == checkpoint.c.node_id)
            .where(session_node.c.session_id == session_id, checkpoint.c.node_id == node_id)
        )
        row = await self._database.read(lambda connection: connection.execute(statement).one_or_none())
        if row is None:
            raise NotAllowed(f"This chat has no checkpoint {QUOTED.repr(node_id)}.")
        try:
            return checkpoint_from(tuple(row))
        except UndecodablePart as error:
            raise DamagedBranch(f"This checkpoint cannot be read: {error}.") from error

    async def derivable(self, session_id: str, path_ids: Sequence[str]) -> list[Checkpoint]:
        """Checkpoints beside this path whose covered range ends on it, the one that covers most first (D-9)."""
        on_path = set(path_ids)

        def transaction(connection: Connection) -> list[Checkpoint]:
            found: list[Checkpoint] = []
            for row in connection.exec_driver_sql(DERIVABLE, {"ids": encode_json(list(path_ids))}):
                with suppress(UndecodablePart):
                    found.append(checkpoint_from(tuple(row)))
            return [each for each in found if each.node_id not in on_path]

        return await self._database.read(transaction)

    async def figures(self, session_id: str = "") -> CompactionFigures:
        """What compactions came to in a chat, "" for all chats (C-18)."""
        runs = compaction_run.c
        statement = select(
            runs.outcome,
            func.count(),
            func.coalesce(func.sum(runs.tokens_before), 0),
            func.coalesce(func.sum(runs.tokens_after), 0),
            func.coalesce(func.sum(runs.input_tokens), 0),
            func.coalesce(func.sum(runs.output_tokens), 0),
            func.coalesce(func.sum(runs.cost), 0.0),
        ).group_by(runs.outcome)
        if session_id:
            statement = statement.where(runs.session_id == session_id)

        def transaction(connection: Connection) -> CompactionFigures:
            rows = connection.execute(statement).all()
            applied = next((row for row in rows if row[0] == "applied"), None)
            return CompactionFigures(
                {str(row[0]): int(row[1]) for row in rows},
                int(applied[2]) if applied else 0,
                int(applied[3]) if applied else 0,
                sum(int(row[4]) for row in rows),
                sum(int(row[5]) for row in rows),
                sum(float(row[6]) for row in rows),
            )

        return await self._database.read(transaction)

    def _now(self) -> str:
        return timestamp(self._clock())


def add_checkpoint(
    connection: Connection,
    found: Session,
    expected: Expected,
    new: NewCheckpoint,
    run: CompactionRun,
    *,
    node_id: str,
    now: str,
) -> str:
    """Within a transaction: let the branch end with a new checkpoint, in the state after `expected`; returns its id.

    The branch ended at `expected.leaf_id`; the rules of `check_checkpoint` hold already. What may have changed since is
    looked at here: the branch's end, what waits in the chat, and the way from the checkpoint up to its boundary. Raises
    Stale, NotAllowed.
    """
    _check_expected(found, expected)
    _check_settled(connection, found.id, now)
    _check_tail(connection, new)
    revision = expected.branch_revision + 1
    insert_node(connection, found.id, Node(node_id, new.hangs_on, "checkpoint", (), now), revision)
    connection.execute(_INSERT, _row_of(new, node_id, now))
    values = {"wanted": found.id, "leaf": node_id, "revision": revision}
    moved = connection.execute(
        _MOVE, {**values, "old_leaf": expected.leaf_id, "old_revision": expected.branch_revision}
    )
    if moved.rowcount != 1:
        raise Stale(_CHANGED)
    _insert_run(connection, run, checkpoint_id=node_id)
    return node_id


def check_place(connection: Connection, heads: Sequence[NodeHead], new: NewCheckpoint) -> None:
    """See that a checkpoint belongs at the end of this branch, root first: `check_checkpoint`. Raises NotAllowed."""
    last = newest_checkpoint(heads)
    kept = None if last is None else connection.execute(_FIRST_KEPT, {"wanted": heads[last].id}).scalar()
    check_checkpoint(heads, uncovered_from(heads, last, kept), new)


def _check_branch(connection: Connection, session_id: str, expected: Expected, new: NewCheckpoint) -> None:
    """What can be said before the transaction. Raises UnknownSession, Stale, NotAllowed."""
    _check_expected(read_session(connection, session_id), expected)
    line = read_line(connection, expected.leaf_id)
    if line.damage is not None:
        raise DamagedBranch(f"This chat is damaged and can only be read: {line.damage}.")
    check_place(connection, line.heads, new)
    if new.covered_from_id is not None:
        _check_up_to(connection, new.hangs_on, new.covered_from_id)


def _check_expected(found: Session, expected: Expected) -> None:
    if (found.leaf_id, found.branch_revision) != (expected.leaf_id, expected.branch_revision):
        raise Stale(_CHANGED)


def _check_settled(connection: Connection, session_id: str, now: str) -> None:
    """Nothing is compacted while a change waits for its approval or is being made (C-8)."""
    moment = datetime.fromisoformat(now)
    for row in connection.execute(_WAITING, {"wanted": session_id}):
        waiting = Operation(
            row.id, session_id, None, row.kind, row.state, row.target, None, {}, None, row.created_at, row.updated_at
        )
        if not has_expired(waiting, moment):
            raise NotAllowed("A change in Zotero waits for an answer in this chat: nothing was compacted.")


def _check_tail(connection: Connection, new: NewCheckpoint) -> None:
    """The boundary lies above the checkpoint, and no tool call is open behind it or in the newest answer (C-8, C-9)."""
    _check_up_to(connection, new.hangs_on, new.first_kept_message_id or new.hangs_on)


def _check_up_to(connection: Connection, leaf_id: str, end_id: str) -> None:
    """The one node lies at or above the other, and no tool call is open from there on. Raises NotAllowed."""
    rows = connection.exec_driver_sql(TAIL, {"leaf": leaf_id, "end": end_id}).all()
    if not any(row.id == end_id for row in rows):
        raise NotAllowed("The boundary of this checkpoint is not on the chat's branch: nothing was stored.")
    for row in rows:
        if row.pending is not None and _has_pending_call(row.pending):
            raise NotAllowed("A tool call is still open in this chat: nothing was compacted.")


def _has_pending_call(stored_parts: object) -> bool:
    try:
        parts = decode_parts(stored_parts)
    except UndecodablePart as error:
        raise DamagedBranch(f"This chat is damaged and can only be read: {error}.") from error
    return any(isinstance(part, ToolCallPart) and part.state == "pending" for part in parts)


def _row_of(new: NewCheckpoint, node_id: str, now: str) -> dict[str, Any]:
    return {
        "node_id": node_id,
        "kind": new.kind,
        "first_kept_message_id": new.first_kept_message_id,
        "summary": new.summary,
        "generation": new.generation,
        "trigger": new.trigger,
        "model": new.model,
        "prompt_version": new.prompt_version,
        "covered_from_id": new.covered_from_id,
        "covered_to_id": new.covered_to_id,
        "tokens_before": new.tokens_before,
        "tokens_after": new.tokens_after,
        "validation": encode_json(dict(new.validation)),
        "duration_ms": new.duration_ms,
        "cost": new.cost,
        "created_at": now,
    }


def _insert_run(connection: Connection, run: CompactionRun, checkpoint_id: str = "") -> None:
    values = asdict(run)
    values["checkpoint_id"] = checkpoint_id or run.checkpoint_id or None
    values["refused_text"] = run.refused_text or None
    if checkpoint_id:
        values["outcome"] = "applied"
    connection.execute(_INSERT_RUN, values)


def _run_from(row: Any) -> CompactionRun:
    """A run, whatever its columns hold: it is told, and nothing is decided by it."""
    values = {field.name: row[field.name] for field in fields(CompactionRun)}
    numbers = ("generation", "tokens_before", "tokens_after", "requests", "input_tokens", "output_tokens")
    for name in numbers:
        values[name] = values[name] if isinstance(values[name], int) else 0
    values["cost"] = values["cost"] if isinstance(values["cost"], int | float) else None
    for name in values.keys() - {*numbers, "cost"}:
        values[name] = "" if values[name] is None else well_formed(str(values[name]))
    values["trigger"] = cast("Trigger", values["trigger"] if values["trigger"] in TRIGGERS else "manual")
    values["outcome"] = cast("Outcome", values["outcome"] if values["outcome"] in OUTCOMES else "failed")
    return CompactionRun(**values)


_CHANGED = "The chat changed while it was compacted: nothing was stored."
_STORED: ColumnElement[int] = literal_column("compaction_run.rowid")
"""Clocks jump: the order in which they were stored is SQLite's."""

# Put together once: making such a statement anew costs ten times as much as executing it.
_FIRST_KEPT = select(checkpoint.c.first_kept_message_id).where(checkpoint.c.node_id == bindparam("wanted"))
_WAITING = select(operation).where(operation.c.session_id == bindparam("wanted"), operation.c.state.in_(sorted(_OPEN)))
_INSERT = checkpoint.insert().inline()
_INSERT_RUN = compaction_run.insert().inline()
_MOVE = (
    session.update()
    .where(
        session.c.id == bindparam("wanted"),
        session.c.leaf_id.is_not_distinct_from(bindparam("old_leaf")),
        session.c.branch_revision == bindparam("old_revision"),
    )
    .values(leaf_id=bindparam("leaf"), branch_revision=bindparam("revision"))
)
