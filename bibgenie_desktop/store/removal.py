"""The rows of a session taken out of a history: of the present version in use, or of a copy of any version (T-7).

Damaged histories too: rows may be missing, parents may close on themselves, a leaf may lead nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError

from ..sessions.text import well_formed
from .node_text import forget_nodes

_BLOB_ID = re.compile(r"[0-9a-f]{64}")


def can_be_asked(identity: object) -> bool:
    """Whether an id that was read can be looked for: in a damaged history it may be no text, or no UTF-8."""
    return isinstance(identity, str) and well_formed(identity) == identity


def choose_nodes(connection: Connection, session_id: str) -> None:
    """Note in the temporary table `leaving` which nodes go with the session: those that no other session reaches.

    Sessions that are deleted and can still be brought back count as others.
    """
    _make_leaving(connection)
    mine = {"session_id": session_id}
    connection.exec_driver_sql(
        """
        WITH RECURSIVE walk(id) AS (
            SELECT leaf_id FROM session WHERE id = :session_id AND leaf_id IS NOT NULL
            UNION SELECT node_id FROM session_node WHERE session_id = :session_id
            UNION SELECT node.parent_id FROM node JOIN walk ON node.id = walk.id WHERE node.parent_id IS NOT NULL
        )
        INSERT INTO leaving SELECT id FROM walk
        """,
        mine,
    )
    # Nodes below them of which no session knows: of a damaged history.
    connection.exec_driver_sql(
        """
        WITH RECURSIVE below(id) AS (
            SELECT id FROM leaving
            UNION
            SELECT node.id FROM node JOIN below ON node.parent_id = below.id
            WHERE NOT EXISTS (SELECT 1 FROM session_node WHERE node_id = node.id)
            AND NOT EXISTS (SELECT 1 FROM session WHERE leaf_id = node.id AND session.id <> :session_id)
        )
        INSERT OR IGNORE INTO leaving SELECT id FROM below
        """,
        mine,
    )
    connection.exec_driver_sql(
        """
        WITH RECURSIVE kept(id) AS (
            SELECT id FROM leaving
            WHERE EXISTS (SELECT 1 FROM session_node WHERE node_id = leaving.id AND session_id <> :session_id)
            OR id IN (SELECT leaf_id FROM session WHERE session.id <> :session_id)
            OR EXISTS (SELECT 1 FROM node WHERE parent_id = leaving.id AND node.id NOT IN (SELECT id FROM leaving))
            UNION
            SELECT node.parent_id FROM node JOIN kept ON node.id = kept.id WHERE node.parent_id IS NOT NULL
        )
        DELETE FROM leaving WHERE id IN (SELECT id FROM kept)
        """,
        mine,
    )


def add_nodes(connection: Connection, node_ids: Iterable[str]) -> None:
    """Let these nodes go too."""
    for node_id in node_ids:
        connection.exec_driver_sql("INSERT OR IGNORE INTO leaving VALUES (?)", (node_id,))


def keep_nodes(connection: Connection, is_kept: Callable[[object], bool]) -> None:
    """Let those of the chosen nodes stay of which this is true."""
    for (node_id,) in connection.exec_driver_sql("SELECT id FROM leaving").all():
        if can_be_asked(node_id) and is_kept(node_id):
            connection.exec_driver_sql("DELETE FROM leaving WHERE id = ?", (node_id,))


def leaving(connection: Connection) -> list[str]:
    """The ids of the chosen nodes."""
    return [str(row[0]) for row in connection.exec_driver_sql("SELECT id FROM leaving ORDER BY id")]


def remove_rows(connection: Connection, session_id: str) -> None:
    """Within a transaction: remove the session, the chosen nodes, and all that belongs to either."""
    mentioned = _blobs_mentioned(connection, session_id)
    for statement in _statements(connection):
        connection.exec_driver_sql(statement, {"session_id": session_id} if ":session_id" in statement else {})
    _forget_words(connection)
    connection.exec_driver_sql("DELETE FROM session WHERE id = :session_id", {"session_id": session_id})
    connection.exec_driver_sql("DELETE FROM node WHERE id IN (SELECT id FROM leaving)")
    connection.exec_driver_sql("DROP TABLE leaving")
    remove_blobs(connection, mentioned)


def blobs(connection: Connection) -> set[str]:
    """The ids of all blobs."""
    return {row[0] for row in connection.exec_driver_sql("SELECT id FROM blob") if can_be_asked(row[0])}


def remove_blobs(connection: Connection, unwanted: set[str]) -> None:
    """Within a transaction: remove those of these blobs that nothing refers to."""
    if not unwanted:
        return
    texts = """
        SELECT parts FROM node WHERE instr(parts, 'blob_id') > 0
        UNION ALL SELECT attachments FROM draft
        UNION ALL SELECT parts FROM stream_journal
        UNION ALL SELECT request FROM operation
        UNION ALL SELECT result FROM operation
        """
    for blob_id in sorted(unwanted - _ids_in(connection, texts, {})):
        connection.exec_driver_sql("DELETE FROM blob WHERE id = ?", (blob_id,))


def _make_leaving(connection: Connection) -> None:
    connection.exec_driver_sql("DROP TABLE IF EXISTS temp.leaving")
    # Without a type: an id of a damaged history is compared as it is.
    connection.exec_driver_sql("CREATE TEMP TABLE leaving (id PRIMARY KEY)")


def _columns(connection: Connection, table: str) -> set[str]:
    return {row[0] for row in connection.exec_driver_sql(f"SELECT name FROM pragma_table_info('{table}')")}


def _statements(connection: Connection) -> list[str]:
    """What removes the rows of the session and of the nodes; rows of other sessions stay and refer to none of them."""
    gone = "IN (SELECT id FROM leaving)"
    own_entry = f"(session_id = :session_id OR node_id {gone})"
    statements = [
        "DELETE FROM compaction_run WHERE session_id = :session_id",
        f"UPDATE compaction_run SET checkpoint_id = NULL WHERE checkpoint_id {gone}",
        "UPDATE ledger_entry SET supersedes_id = NULL "
        f"WHERE supersedes_id IN (SELECT id FROM ledger_entry WHERE {own_entry})",
        f"DELETE FROM ledger_entry WHERE {own_entry}",
        "DELETE FROM operation WHERE session_id = :session_id",
        f"UPDATE operation SET node_id = NULL WHERE node_id {gone}",
        f"DELETE FROM stream_journal WHERE session_id = :session_id OR parent_id {gone}",
        "DELETE FROM draft WHERE session_id = :session_id",
        f"DELETE FROM checkpoint WHERE node_id {gone}",
        *(
            f"UPDATE checkpoint SET {column} = NULL WHERE {column} {gone}"
            for column in ("first_kept_message_id", "covered_from_id", "covered_to_id")
        ),
        f"DELETE FROM session_node WHERE session_id = :session_id OR node_id {gone}",
    ]
    if "previous_leaf_id" in _columns(connection, "stream_journal"):
        statements.append(f"UPDATE stream_journal SET previous_leaf_id = NULL WHERE previous_leaf_id {gone}")
    if _columns(connection, "lease"):
        statements.append("DELETE FROM lease WHERE session_id = :session_id")
    return statements


def _forget_words(connection: Connection) -> None:
    if not _columns(connection, "node_text"):
        return
    try:
        with connection.begin_nested():
            forget_nodes(connection, "leaving")
    except DatabaseError:
        # The index does not fit its texts, as in a damaged file: it is made anew from those that stay.
        connection.exec_driver_sql("DELETE FROM node_text WHERE node_id IN (SELECT id FROM leaving)")
        connection.exec_driver_sql("INSERT INTO node_fts(node_fts) VALUES ('rebuild')")


def _blobs_mentioned(connection: Connection, session_id: str) -> set[str]:
    """The blobs that what is removed refers to; an id is looked for as such, since the JSON may be damaged."""
    stored = blobs(connection)
    if not stored:
        return stored
    texts = """
        SELECT parts FROM node WHERE id IN (SELECT id FROM leaving)
        UNION ALL SELECT attachments FROM draft WHERE session_id = :session_id
        UNION ALL SELECT parts FROM stream_journal WHERE session_id = :session_id
        UNION ALL SELECT request FROM operation WHERE session_id = :session_id
        UNION ALL SELECT result FROM operation WHERE session_id = :session_id
        """
    return stored & _ids_in(connection, texts, {"session_id": session_id})


def _ids_in(connection: Connection, texts: str, values: dict[str, str]) -> set[str]:
    found: set[str] = set()
    for (text,) in connection.exec_driver_sql(texts, values):
        found.update(_BLOB_ID.findall(text if isinstance(text, str) else repr(text)))
    return found
