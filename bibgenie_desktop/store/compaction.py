"""Checkpoints in the history: the one transaction that makes them, and the log of all attempts (C-9, C-16, C-17)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, cast

from sqlalchemy import Connection, bindparam, func, select

from ..sessions.branch import DamagedBranch, NotAllowed
from ..sessions.checkpoints import KINDS, OUTCOMES, TRIGGERS, Checkpoint, CompactionRun, NewCheckpoint, Outcome, Trigger
from ..sessions.nodes import ChangeSet, Node, Session
from ..sessions.operations import UNFINISHED
from ..sessions.parts import ToolCallPart, UndecodablePart
from ..sessions.text import well_formed
from .checkpoint_rows import checkpoint_from
from .database import Database
from .encoding import Clock, encode_json, timestamp
from .journal import read_journal
from .leases import Guard, anyone, see_to
from .schema import checkpoint, compaction_run, operation, session, session_node
from .session_rows import QUOTED, insert_node, node_from, node_row, read_session
from .tree_sql import UP_TO

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
        """All attempts in a chat, the oldest first."""
        statement = select(compaction_run).where(compaction_run.c.session_id == session_id).order_by(_stored_order())

        def transaction(connection: Connection) -> list[CompactionRun]:
            return [_run_from(row._mapping) for row in connection.execute(statement)]

        return await self._database.read(transaction)

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
        places = {node_id: place for place, node_id in enumerate(path_ids)}

        def transaction(connection: Connection) -> list[Checkpoint]:
            found: list[Checkpoint] = []
            for row in connection.execute(_CANDIDATES).all():
                if row.covered_to_id in places and row.node_id not in places:
                    whole = connection.execute(_CHECKPOINT, {"wanted": row.node_id}).one()
                    try:
                        found.append(checkpoint_from(tuple(whole)))
                    except UndecodablePart:
                        continue
            return sorted(found, key=lambda each: places[each.covered_to_id or ""], reverse=True)

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

    The branch ended at `expected.leaf_id`, and `new.hangs_on` is that or lies on it. Raises Stale, NotAllowed.
    """
    _check_expected(found, expected)
    _check_settled(connection, found.id)
    _check_boundary(connection, new)
    revision = expected.branch_revision + 1
    added = Node(node_id, new.hangs_on, "checkpoint", (), now)
    insert_node(connection, found.id, added, revision)
    connection.execute(_INSERT, _row_of(new, node_id, now))
    moved = connection.execute(
        _MOVE,
        {
            "wanted": found.id,
            "leaf": node_id,
            "revision": revision,
            "old_leaf": found.leaf_id,
            "old_revision": found.branch_revision,
        },
    )
    if moved.rowcount != 1:
        raise Stale("The chat changed while it was compacted: nothing was stored.")
    _insert_run(connection, run, checkpoint_id=node_id)
    return node_id


def _check_expected(found: Session, expected: Expected) -> None:
    if (found.leaf_id, found.branch_revision) != (expected.leaf_id, expected.branch_revision):
        raise Stale("The chat changed while it was compacted: nothing was stored.")


def _check_settled(connection: Connection, session_id: str) -> None:
    """Nothing is compacted while a change waits for its approval or is being made (C-8)."""
    waiting = select(operation.c.id).where(operation.c.session_id == session_id, operation.c.state.in_(sorted(_OPEN)))
    if connection.execute(waiting.limit(1)).first() is not None:
        raise NotAllowed("A change in Zotero waits for an answer in this chat: nothing was compacted.")


def _check_boundary(connection: Connection, new: NewCheckpoint) -> None:
    """The boundary is a question of this branch, not behind the last one's, and no tool call is open before it.

    The walk up the branch ends at the boundary: what lies before it is covered, and was looked at then.
    """
    if new.kind not in KINDS or new.trigger not in TRIGGERS:
        raise NotAllowed("This checkpoint is of an unknown kind: nothing was stored.")
    kept = new.first_kept_message_id
    above = node_row(connection, new.hangs_on)
    if kept is None and new.trigger != "preflight" and (above is None or above.role != "checkpoint"):
        raise NotAllowed("A checkpoint keeps at least the newest turn: nothing was stored.")
    last = _last_kept(connection, new.hangs_on)
    stop = kept if kept is not None else new.hangs_on
    rows = connection.exec_driver_sql(UP_TO, {"leaf": new.hangs_on, "end": stop}).all()
    by_id = {row.id: row for row in rows}
    if stop not in by_id:
        raise NotAllowed("The boundary of this checkpoint is not on the chat's branch: nothing was stored.")
    if kept is not None and by_id[kept].role != "user":
        raise NotAllowed("The boundary of this checkpoint is no question: nothing was stored.")
    if last is not None and kept is not None and kept != last and not _is_after(connection, kept, last):
        raise NotAllowed("The boundary of this checkpoint lies before the last one's: nothing was stored.")
    for identity in by_id:
        row = node_row(connection, identity)
        if row is None or row.role != "assistant" or '"pending"' not in row.parts:
            continue
        if any(isinstance(part, ToolCallPart) and part.state == "pending" for part in node_from(row).parts):
            raise NotAllowed("A tool call is still open in this chat: nothing was compacted.")


def _last_kept(connection: Connection, leaf_id: str) -> str | None:
    """Where the newest checkpoint above lets verbatim text begin: itself, where it keeps nothing; None without one."""
    row = connection.exec_driver_sql(_NEWEST_ABOVE, {"leaf": leaf_id}).first()
    return None if row is None else (row.first_kept_message_id or row.id)


def _is_after(connection: Connection, node_id: str, other_id: str) -> bool:
    """Whether `other_id` is an ancestor of `node_id`."""
    rows = connection.exec_driver_sql(UP_TO, {"leaf": node_id, "end": other_id}).all()
    return any(row.id == other_id for row in rows)


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


def _stored_order() -> Any:
    from sqlalchemy import literal_column

    return literal_column("compaction_run.rowid")


_NEWEST_ABOVE = """
    WITH RECURSIVE walk(place, id, parent_id, role) AS (
        SELECT rowid, id, parent_id, role FROM node WHERE id = :leaf
        UNION SELECT node.rowid, node.id, node.parent_id, node.role FROM walk JOIN node ON node.id = walk.parent_id
            WHERE walk.role <> 'checkpoint'
    )
    SELECT walk.id, first_kept_message_id FROM walk JOIN checkpoint ON node_id = walk.id WHERE role = 'checkpoint'
    """
"""The newest checkpoint at or above `leaf`: the walk ends there."""

_CANDIDATES = select(checkpoint.c.node_id, checkpoint.c.covered_to_id).where(
    checkpoint.c.kind.in_(("summarised", "rebuilt", "edited", "derived"))
)
_CHECKPOINT = select(checkpoint).where(checkpoint.c.node_id == bindparam("wanted"))
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
