"""Reading a whole chat out of the history, as far as it can be read (T-5, T-8)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, select

from ..sessions.checkpoints import Checkpoint
from ..sessions.nodes import Node
from ..sessions.parts import FilePart, ImagePart, UndecodablePart
from ..sessions.text import well_formed
from .chats import Blob, Chat, DamagedNode, LedgerEntry
from .database import Database
from .encoding import decode_json
from .schema import blob, checkpoint, ledger_entry
from .session_rows import node_of, read_session
from .tree_reading import read_branch
from .tree_sql import BRANCH, WHOLE

_COLUMNS = ("id", "parent_id", "role", "parts", "model", "usage", "stop_reason", "created_at")


class ExportStore:
    """Reads chats out of sessions.sqlite. All methods raise StoreUnavailable when the file fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, session_id: str, *, whole: bool) -> Chat:
        """The chat's active branch, or `whole`, every message it ever had. Raises UnknownSession."""

        def transaction(connection: Connection) -> Chat:
            found = read_session(connection, session_id)
            rows = connection.exec_driver_sql(_VISITED, {"session": session_id}).all()
            visited = {identity: count for identity, count in rows if isinstance(count, int) and count > 0}
            on_branch = {
                row[0]: _read(tuple(row)) for row in connection.exec_driver_sql(BRANCH, {"leaf": found.leaf_id})
            }
            branch = _to_root(found.leaf_id, on_branch)
            nodes: list[Node | DamagedNode] = [on_branch[identity] for identity in branch]
            if whole:
                stored = connection.exec_driver_sql(WHOLE, {"session": session_id})
                nodes = [_read(tuple(row[1:])) if row[1] is not None else _missing(row[0]) for row in stored]
                held = {each.id for each in nodes}
                nodes = [*(each for each in on_branch.values() if each.id not in held), *nodes]
            ids = {each.id for each in nodes}
            return Chat(
                found,
                tuple(nodes),
                tuple(branch),
                {identity: count for identity, count in visited.items() if identity in ids},
                _checkpoints(connection, nodes),
                _ledger(connection, session_id, ids),
                _blobs(connection, nodes),
                read_branch(connection, found.leaf_id).damage or "",
            )

        return await self._database.read(transaction)


def _read(row: tuple[Any, ...]) -> Node | DamagedNode:
    try:
        return node_of(*row)
    except UndecodablePart as error:
        return DamagedNode(
            well_formed(str(row[0])),
            None if row[1] is None else well_formed(str(row[1])),
            {name: _plain(value) for name, value in zip(_COLUMNS, row, strict=True)},
            well_formed(str(error)),
        )


def _missing(identity: object) -> DamagedNode:
    return DamagedNode(well_formed(str(identity)), None, {}, "it is missing")


def _plain(value: object) -> object:
    """A column's value as JSON can hold it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return well_formed(value) if isinstance(value, str) else value


def _to_root(leaf_id: str | None, nodes: dict[str, Node | DamagedNode]) -> list[str]:
    """The ids from the root to the leaf, also beyond a message that cannot be read, as long as its parent is known."""
    way: dict[str, None] = {}
    while leaf_id is not None and leaf_id in nodes and leaf_id not in way:
        way[leaf_id] = None
        leaf_id = nodes[leaf_id].parent_id
    return list(reversed(way))


def _checkpoints(connection: Connection, nodes: Iterable[Node | DamagedNode]) -> dict[str, Checkpoint]:
    found: dict[str, Checkpoint] = {}
    for each in nodes:
        if isinstance(each, Node) and each.role == "checkpoint":
            row = connection.execute(select(checkpoint).where(checkpoint.c.node_id == each.id)).one_or_none()
            if row is not None:
                values: dict[str, Any] = {name: _plain(value) for name, value in row._mapping.items()}
                found[each.id] = Checkpoint(**{**values, "validation": _json(row.validation)})
    return found


def _ledger(connection: Connection, session_id: str, ids: set[str]) -> tuple[LedgerEntry, ...]:
    """The entries that a person made; one about a message that is not among those exported is about the chat."""
    own = ledger_entry.c.session_id == session_id
    rows = connection.execute(select(ledger_entry).where(own).order_by(ledger_entry.c.created_at, ledger_entry.c.id))
    entries = list(rows)
    known = {row.id for row in entries}
    return tuple(
        LedgerEntry(
            row.id,
            row.node_id if row.node_id in ids else None,
            row.kind,
            row.origin,
            _json(row.value),
            row.supersedes_id if row.supersedes_id in known else None,
            row.created_at,
        )
        for row in entries
    )


def _blobs(connection: Connection, nodes: Iterable[Node | DamagedNode]) -> tuple[Blob, ...]:
    wanted = dict.fromkeys(
        part.blob_id
        for each in nodes
        if isinstance(each, Node)
        for part in each.parts
        if isinstance(part, ImagePart | FilePart)
    )
    found: list[Blob] = []
    for identity in wanted:
        row = connection.execute(select(blob).where(blob.c.id == identity)).one_or_none()
        if row is not None and isinstance(row.data, bytes):
            found.append(Blob(row.id, row.mime, row.data, row.created_at))
    return tuple(found)


def _json(stored: object) -> Any:
    """The value of a JSON column; the text itself where that is none."""
    if stored is None:
        return None
    try:
        return decode_json(stored)
    except ValueError:
        return _plain(stored)


_VISITED = "SELECT node_id, visited FROM session_node WHERE session_id = :session"
