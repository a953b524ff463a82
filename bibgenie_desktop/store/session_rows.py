"""Rows of sessions.sqlite as the tree's values and back: what every operation on it has in common."""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import Repr
from typing import Any, cast

from sqlalchemy import Connection, Row, bindparam, func, select

from ..sessions.nodes import ROLES, STOP_REASONS, Node, Role, Session, StopReason
from ..sessions.parts import UndecodablePart
from ..sessions.text import well_formed
from ..sessions.usage import Usage
from .encoding import decode_json, decode_parts, encode_json, encode_parts
from .node_text import index_node, index_nodes
from .schema import node, session, session_node

LARGEST_REVISION = 2**62
"""No branch comes so far; a damaged row may."""
NEVER = 0
"""The revision at which a node was last its session's leaf, where it never was."""
QUOTED = Repr()
"""What was asked for may be of any length."""
QUOTED.maxstring = 80


class UnknownSession(Exception):
    """No session has this id, or several begin with it. `str()` is one plain sentence."""


def read_session(connection: Connection, session_id: str) -> Session:
    """The session. Raises UnknownSession, also for one that is deleted and can still be brought back."""
    row = connection.execute(_SESSION, {"wanted": session_id}).one_or_none()
    if row is None or row.deleted_at is not None:
        quoted = QUOTED.repr(session_id)
        raise UnknownSession(f"There is no chat with the id {quoted}: the sessions command lists them.")
    return session_from(row)


def session_from(row: Row[Any]) -> Session:
    """A session's row as a value, whatever its columns hold: a damaged one hides no other, and can be looked at."""
    revision = row.branch_revision
    return Session(
        well_formed(str(row.id)),
        well_formed(str(row.title)),
        _text_or_none(row.leaf_id),
        revision if isinstance(revision, int) and 0 <= revision < LARGEST_REVISION else 0,
        _text_or_none(row.model),
        well_formed(str(row.created_at)),
        well_formed(str(row.updated_at)),
        forked_from_id=_text_or_none(row.forked_from_id),
        is_pinned=bool(row.is_pinned),
        is_archived=row.archived_at is not None,
    )


def node_row(connection: Connection, node_id: str) -> Row[Any] | None:
    """The row of a node, None where there is none."""
    return connection.execute(_NODE, {"wanted": node_id}).one_or_none()


def node_from(row: Row[Any]) -> Node:
    """A node's row as a value. Raises UndecodablePart, whatever its columns hold."""
    return node_of(row.id, row.parent_id, row.role, row.parts, row.model, row.usage, row.stop_reason, row.created_at)


def node_of(
    identity: object,
    parent_id: object,
    role: object,
    stored_parts: object,
    model: object,
    stored_usage: object,
    stop_reason: object,
    created_at: object,
) -> Node:
    """A node from the columns of its table, in their order. Raises UndecodablePart, whatever they hold."""
    if not isinstance(identity, str) or well_formed(identity) != identity:
        raise UndecodablePart("its id is no text")
    if role not in ROLES:
        raise UndecodablePart(f"unknown role {role!r}")
    if stop_reason is not None and stop_reason not in STOP_REASONS:
        raise UndecodablePart(f"unknown stop reason {stop_reason!r}")
    if not (_is_text(parent_id) and _is_text(model) and _is_text(created_at)):
        raise UndecodablePart("its parent, time or model is no text")
    parts = decode_parts(stored_parts)
    try:
        usage = None if stored_usage is None else Usage.from_json(decode_json(stored_usage))
    except ValueError as error:
        raise UndecodablePart(str(error)) from error
    return Node(
        identity,
        _text_or_none(parent_id),
        cast("Role", role),
        parts,
        well_formed(str(created_at)),
        _text_or_none(model),
        usage,
        cast("StopReason | None", stop_reason),  # in quotes: the union would be put together for every node
    )


def insert_node(connection: Connection, session_id: str, added: Node, revision: int) -> None:
    """Store a node that is at the end of the session's branch from `revision` on, or NEVER was."""
    connection.execute(_INSERT_NODE, _row_of(added))
    connection.execute(_INSERT_SESSION_NODE, {"session_id": session_id, "node_id": added.id, "visited": revision})
    index_node(connection, added)


def insert_nodes(connection: Connection, session_id: str, added: Sequence[tuple[Node, int]]) -> None:
    """Store nodes as `insert_node` does, each with its revision: far faster for many. Parents stand before children."""
    if not added:
        return
    connection.execute(_INSERT_NODE, [_row_of(each) for each, _ in added])
    connection.execute(
        _INSERT_SESSION_NODE,
        [{"session_id": session_id, "node_id": each.id, "visited": revision} for each, revision in added],
    )
    index_nodes(connection, [each for each, _ in added])


def _row_of(added: Node) -> dict[str, str | None]:
    return {
        "id": added.id,
        "parent_id": added.parent_id,
        "role": added.role,
        "parts": encode_parts(added.parts),
        "model": added.model,
        "usage": None if added.usage is None else encode_json(added.usage.to_json()),
        "stop_reason": added.stop_reason,
        "created_at": added.created_at,
    }


def move_leaf(connection: Connection, session_id: str, leaf_id: str | None, revision: int) -> None:
    """Let the session's branch end at a stored node of it: its state `revision`."""
    values = {"wanted": session_id, "leaf": leaf_id, "revision": revision}
    connection.execute(_MOVE_LEAF, values)
    connection.execute(_VISIT, values)


def note_use(connection: Connection, session_id: str, model: str | None, now: str) -> int:
    """The session is the one that was used last, and no more put away. Returns the number of this use, which grows.

    Its place in the list does not hang on the clock, which may jump.
    """
    used = connection.execute(_NOTE_USE, {"wanted": session_id, "new_model": model, "now": now}).scalar()
    return used if isinstance(used, int) else 0


def _is_text(stored: object) -> bool:
    return stored is None or isinstance(stored, str)


def _text_or_none(stored: object) -> str | None:
    return None if stored is None else well_formed(str(stored))


# Put together once: making such a statement anew costs ten times as much as executing it.
_SESSION = select(session).where(session.c.id == bindparam("wanted"))
_NODE = select(node).where(node.c.id == bindparam("wanted"))
_INSERT_NODE = node.insert().inline()
_INSERT_SESSION_NODE = session_node.insert().inline()
_MOVE_LEAF = (
    session.update()
    .where(session.c.id == bindparam("wanted"))
    .values(leaf_id=bindparam("leaf"), branch_revision=bindparam("revision"))
)
_VISIT = (
    session_node.update()
    .where(session_node.c.session_id == bindparam("wanted"), session_node.c.node_id == bindparam("leaf"))
    .values(visited=bindparam("revision"))
)
_NOTE_USE = (
    session.update()
    .where(session.c.id == bindparam("wanted"))
    .values(
        updated_at=bindparam("now"),
        used=select(func.coalesce(func.max(session.alias().c.used), 0) + 1).scalar_subquery(),
        model=func.coalesce(bindparam("new_model"), session.c.model),
        archived_at=None,
    )
    .returning(session.c.used)
)
