"""Rows of sessions.sqlite as the tree's values and back: what every operation on it has in common."""

from __future__ import annotations

from reprlib import Repr
from typing import Any, cast

import sqlalchemy
from sqlalchemy import Connection, Row, func, select

from ..sessions.nodes import ROLES, STOP_REASONS, Node, Role, Session, StopReason
from ..sessions.parts import UndecodablePart
from ..sessions.text import well_formed
from ..sessions.usage import Usage
from .encoding import decode_json, decode_parts, encode_json, encode_parts
from .node_text import index_node
from .schema import node, session, session_node

QUOTED = Repr()
"""What was asked for may be of any length."""
QUOTED.maxstring = 80


class UnknownSession(Exception):
    """No session has this id, or several begin with it. `str()` is one plain sentence."""


def read_session(connection: Connection, session_id: str) -> Session:
    """The session. Raises UnknownSession, also for one that is deleted and can still be brought back."""
    row = connection.execute(select(session).where(session.c.id == session_id)).one_or_none()
    if row is None or row.deleted_at is not None:
        quoted = QUOTED.repr(session_id)
        raise UnknownSession(f"There is no chat with the id {quoted}: the sessions command lists them.")
    return session_from(row)


def session_from(row: Row[Any]) -> Session:
    """A session's row as a value."""
    return Session(
        row.id,
        well_formed(str(row.title)),
        _text_or_none(row.leaf_id),
        row.branch_revision,
        row.model,
        row.created_at,
        row.updated_at,
        forked_from_id=_text_or_none(row.forked_from_id),
        is_pinned=bool(row.is_pinned),
        is_archived=row.archived_at is not None,
    )


def node_row(connection: Connection, node_id: str) -> Row[Any] | None:
    """The row of a node, None where there is none."""
    return connection.execute(select(node).where(node.c.id == node_id)).one_or_none()


def node_from(row: Row[Any]) -> Node:
    """A node's row as a value. Raises UndecodablePart, whatever its columns hold."""
    if row.role not in ROLES:
        raise UndecodablePart(f"unknown role {row.role!r}")
    if row.stop_reason is not None and row.stop_reason not in STOP_REASONS:
        raise UndecodablePart(f"unknown stop reason {row.stop_reason!r}")
    if not all(isinstance(value, str | None) for value in (row.parent_id, row.created_at, row.model)):
        raise UndecodablePart("its parent, time or model is no text")
    parts = decode_parts(row.parts)
    try:
        usage = None if row.usage is None else Usage.from_json(decode_json(row.usage))
    except ValueError as error:
        raise UndecodablePart(str(error)) from error
    role, stop_reason = cast(Role, row.role), cast(StopReason | None, row.stop_reason)
    return Node(row.id, _text_or_none(row.parent_id), role, parts, row.created_at, row.model, usage, stop_reason)


def insert_node(connection: Connection, session_id: str, added: Node, revision: int) -> None:
    """Store a node that is at the end of the session's branch from `revision` on."""
    connection.execute(
        node.insert().values(
            id=added.id,
            parent_id=added.parent_id,
            role=added.role,
            parts=encode_parts(added.parts),
            model=added.model,
            usage=None if added.usage is None else encode_json(added.usage.to_json()),
            stop_reason=added.stop_reason,
            created_at=added.created_at,
        )
    )
    connection.execute(session_node.insert().values(session_id=session_id, node_id=added.id, visited=revision))
    index_node(connection, added)


def move_leaf(connection: Connection, session_id: str, leaf_id: str | None, revision: int) -> None:
    """Let the session's branch end at a stored node of it: its state `revision`."""
    moved = session.update().where(session.c.id == session_id).values(leaf_id=leaf_id, branch_revision=revision)
    connection.execute(moved)
    mine = (session_node.c.session_id == session_id, session_node.c.node_id == leaf_id)
    connection.execute(session_node.update().where(*mine).values(visited=revision))


def note_use(connection: Connection, session_id: str, model: str | None, now: str) -> None:
    """The session is the one that was used last. Its place in the list does not hang on the clock, which may jump."""
    newest = select(func.coalesce(func.max(session.c.used), 0) + 1).scalar_subquery()
    values: dict[str, Any] = {"updated_at": now, "used": newest}
    if model is not None:
        values["model"] = model
    connection.execute(session.update().where(session.c.id == session_id).values(values))


def ancestors(leaf_id: str) -> sqlalchemy.Select[Any]:
    """The nodes from a leaf to its root, in no order."""
    # UNION, not UNION ALL: rows met twice end the recursion, so that a cycle cannot run for ever.
    walk = select(node.c.id, node.c.parent_id).where(node.c.id == leaf_id).cte("walk", recursive=True)
    walk = walk.union(select(node.c.id, node.c.parent_id).join(walk, node.c.id == walk.c.parent_id))
    return select(node).join(walk, walk.c.id == node.c.id)


def _text_or_none(stored: object) -> str | None:
    return None if stored is None else well_formed(str(stored))
