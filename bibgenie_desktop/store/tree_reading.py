"""Branches read from sessions.sqlite: with their bodies, without them, or as far as a window shows them (T-5)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import Connection

from ..sessions.branch import LONGEST_REASON, Path, path_to_root
from ..sessions.checkpoints import Checkpoint
from ..sessions.nodes import ROLES, Node
from ..sessions.parts import UndecodablePart
from ..sessions.text import well_formed
from ..sessions.tree import Line, NodeHead, Unreadable, Versions, checkpoint_damage, last_sound, line_to_root, versions
from .checkpoint_rows import checkpoint_from
from .encoding import encode_json
from .session_rows import node_of
from .tree_sql import BESIDE, BRANCH, CHECKPOINTS, FIRST_KEPT, FIRST_KEPT_OF_SESSION, HEADS, NEWEST, OWN_HEAD, WHOLE

T = TypeVar("T")

REMEMBERED, REMEMBERED_CHARACTERS = 4_000, 4_000
"""Nodes are decoded once, which costs more than reading them: as many of the last ones, up to that length, are kept."""


def read_branch(connection: Connection, leaf_id: str | None) -> Path:
    """The branch that ends at `leaf_id`, root first, as far as it is sound, with what is wrong with it."""
    if leaf_id is None:
        return Path(())
    path = path_to_root(leaf_id, _nodes(_rows(connection, BRANCH, {"leaf": leaf_id})))
    if path.damage is not None:
        return path
    ids = [node.id for node in path.nodes if node.role == "checkpoint"]
    if not ids:
        return path
    rows = _rows(connection, CHECKPOINTS, {"ids": encode_json(ids)})
    damage = checkpoint_damage([_head(node) for node in path.nodes], {row[0]: _parent(row[2]) for row in rows})
    if damage is not None:
        return Path(path.nodes, damage)
    checkpoints, damage = _checkpoints(rows)
    return Path(path.nodes, damage, {} if damage else checkpoints)


def read_newest(connection: Connection, leaf_id: str | None, limit: int) -> Path:
    """The last `limit` nodes of a branch; damage is what shows in them, so that it says nothing of those before.

    Checkpoints whose records cannot be read are left out.
    """
    if leaf_id is None:
        return Path(())
    nodes = _nodes(_rows(connection, NEWEST, {"leaf": leaf_id, "limit": limit}))
    path = path_to_root(leaf_id, nodes)
    damage = None if len(path.nodes) >= limit else path.damage
    ids = [node.id for node in path.nodes if node.role == "checkpoint"]
    if not ids:
        return Path(path.nodes, damage)
    checkpoints, _ = _checkpoints(_rows(connection, CHECKPOINTS, {"ids": encode_json(ids)}))
    return Path(path.nodes, damage, checkpoints)


def read_line(connection: Connection, leaf_id: str | None) -> Line:
    """The branch that ends at `leaf_id` by its ids and roles: no body is read or decoded."""
    if leaf_id is None:
        return Line(())
    heads: dict[str, NodeHead | Exception] = {}
    for identity, parent_id, role in _rows(connection, HEADS, {"leaf": leaf_id}):
        if role not in ROLES:
            heads[identity] = UndecodablePart(f"unknown role {role!r}")
        elif parent_id is None or isinstance(parent_id, str):
            heads[identity] = NodeHead(identity, parent_id if parent_id is None else well_formed(parent_id), role)
        else:
            heads[identity] = UndecodablePart("its parent, time or model is no text")
    line = line_to_root(leaf_id, heads)
    if line.damage is not None:
        return line
    return Line(line.heads, _checkpoint_damage(connection, line.heads))


def read_own_head(connection: Connection, session_id: str, node_id: str) -> NodeHead | None:
    """A node of the session, on its branch or not, None where it has no such node."""
    row = connection.exec_driver_sql(OWN_HEAD, {"session": session_id, "node": node_id}).one_or_none()
    return None if row is None else NodeHead(*row)


def read_versions(connection: Connection, session_id: str, leaf_id: str | None) -> dict[str, Versions]:
    """What else was written in the place of each node of the branch, as far as that can be read."""
    if leaf_id is None:
        return {}
    rows = _rows(connection, BESIDE, {"session": session_id, "leaf": leaf_id})
    return versions(read_line(connection, leaf_id).heads, [NodeHead(*row) for row in rows])


def read_whole(connection: Connection, session_id: str) -> list[Node | Unreadable]:
    """Every node of the session in the order in which they were stored, so that parents come first."""
    return _taken(connection, WHOLE, {"session": session_id}, _node_or_none)


def read_last_sound(connection: Connection, session_id: str, leaf_id: str | None) -> str | None:
    """The answer at which a damaged chat can go on: see `sessions.tree.last_sound`."""
    heads: dict[str, NodeHead] = {}
    broken: set[str] = set()
    rows = [tuple(row[1:]) for row in connection.exec_driver_sql(WHOLE, {"session": session_id}) if row[1] is not None]
    rows += [tuple(row) for row in connection.exec_driver_sql(BRANCH, {"leaf": leaf_id})]
    for row in rows:
        identity, parent_id, role, _, _, _, stop_reason, _ = row
        heads[identity] = NodeHead(identity, _parent(parent_id), role, stop_reason)
        try:
            node_of(*row)
        except UndecodablePart:
            broken.add(identity)
    stored = connection.exec_driver_sql(FIRST_KEPT_OF_SESSION, {"session": session_id}).all()
    return last_sound(leaf_id, heads, broken, _first_kept(stored))


def _node_or_none(row: Sequence[Any]) -> Node | Unreadable:
    """A node of a session, from its id there and its own columns."""
    if row[1] is None:
        return Unreadable(well_formed(str(row[0])), None, "it is missing")
    try:
        return node_of(*row[1:])
    except UndecodablePart as error:
        return Unreadable(well_formed(str(row[1])), _parent(row[2]), str(error)[:LONGEST_REASON])


def _rows(connection: Connection, statement: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    return _taken(connection, statement, parameters, tuple)


def _taken(
    connection: Connection, statement: str, parameters: dict[str, Any], take: Callable[[Sequence[Any]], T]
) -> list[T]:
    """The rows of a query over many nodes, each taken so, without what a function of ours costs for every text of them.

    Where a text is not UTF-8, or the file fails, they are read in the connection's own way.
    """
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    tolerant, driver.text_factory = driver.text_factory, str
    try:
        return [take(row) for row in driver.execute(statement, parameters)]
    except sqlite3.Error:
        pass
    finally:
        driver.text_factory = tolerant
    return [take(row) for row in connection.exec_driver_sql(statement, parameters)]


def _nodes(rows: Iterable[tuple[Any, ...]]) -> dict[str, Node | Exception]:
    nodes: dict[str, Node | Exception] = {}
    for row in rows:
        is_short = isinstance(row[3], str) and len(row[3]) <= REMEMBERED_CHARACTERS
        try:
            nodes[row[0]] = _node(*row) if is_short else node_of(*row)
        except UndecodablePart as error:
            nodes[row[0]] = error
    return nodes


# Keyed by the whole row: a file that was changed meanwhile is read as it is now.
_node = lru_cache(REMEMBERED)(node_of)


def forget_nodes() -> None:
    """Keep no decoded node in memory: some were deleted (T-7)."""
    _node.cache_clear()


def remembered() -> int:
    """How many decoded nodes are kept in memory."""
    return _node.cache_info().currsize


def _head(node: Node) -> NodeHead:
    return NodeHead(node.id, node.parent_id, node.role, node.stop_reason)


def _parent(stored: object) -> str | None:
    return None if stored is None else well_formed(str(stored))


def _checkpoints(rows: Iterable[Sequence[Any]]) -> tuple[dict[str, Checkpoint], str | None]:
    """The checkpoints that can be read, by their ids, and what is wrong with another."""
    found: dict[str, Checkpoint] = {}
    damage: str | None = None
    for row in rows:
        try:
            found[row[0]] = checkpoint_from(row)
        except UndecodablePart as error:
            damage = f"checkpoint {row[0]} cannot be read: {str(error)[:LONGEST_REASON]}"
    return found, damage


def _checkpoint_damage(connection: Connection, heads: Sequence[NodeHead]) -> str | None:
    ids = [head.id for head in heads if head.role == "checkpoint"]
    if not ids:
        return None
    stored = connection.exec_driver_sql(FIRST_KEPT, {"ids": encode_json(ids)}).all()
    return checkpoint_damage(heads, _first_kept(stored))


def _first_kept(stored: Iterable[Any]) -> dict[str, str | None]:
    return {node_id: _parent(kept) for node_id, kept in stored}
