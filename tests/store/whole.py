"""What holds of every history that our own programs wrote, whatever happened to them (T-1, T-2, T-3, T-6)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

# Each finds what is wrong: rows where there are none in a sound history.
_FAULTS = {
    "a leaf is not of its session": """
        SELECT id, leaf_id FROM session WHERE leaf_id NOT NULL AND NOT EXISTS (
            SELECT 1 FROM session_node WHERE session_id = session.id AND node_id = leaf_id)
        """,
    "a session lacks an ancestor of its nodes": """
        SELECT session_id, node_id FROM session_node JOIN node ON node.id = node_id
        WHERE parent_id NOT NULL AND NOT EXISTS (
            SELECT 1 FROM session_node AS other
            WHERE other.session_id = session_node.session_id AND other.node_id = parent_id)
        """,
    "a node belongs to no session": "SELECT id FROM node WHERE id NOT IN (SELECT node_id FROM session_node)",
    "a leaf was not visited last": """
        SELECT id FROM session JOIN session_node ON session_id = session.id AND node_id = leaf_id
        WHERE visited < (SELECT max(visited) FROM session_node WHERE session_id = session.id)
            OR visited > branch_revision
        """,
    "an answer hangs on no question": """
        SELECT node.id FROM node LEFT JOIN node AS parent ON parent.id = node.parent_id
        WHERE node.role = 'assistant' AND (parent.id IS NULL OR parent.role = 'assistant')
        """,
    "an answer has no stop reason, or a question has one": """
        SELECT id FROM node WHERE (role = 'assistant') != (stop_reason NOT NULL)
        """,
    "a node is younger than what hangs on it": """
        SELECT node.id FROM node JOIN node AS parent ON parent.id = node.parent_id WHERE parent.rowid >= node.rowid
        """,
    "a journal is of a node that is not of its session": """
        SELECT session_id FROM stream_journal WHERE NOT EXISTS (
            SELECT 1 FROM session_node AS mine
            WHERE mine.session_id = stream_journal.session_id AND mine.node_id = parent_id)
        OR previous_leaf_id NOT NULL AND NOT EXISTS (
            SELECT 1 FROM session_node AS mine
            WHERE mine.session_id = stream_journal.session_id AND mine.node_id = previous_leaf_id)
        OR beginning NOT IN ('ask', 'retry', 'edit', 'continue') OR NOT json_valid(parts)
        """,
    "a message cannot be found": """
        SELECT id FROM node
        WHERE parts LIKE '%"text":"_%' AND id NOT IN (SELECT node_id FROM node_text)
        """,
    "a checkpoint and its record are not one": """
        SELECT id FROM node WHERE (role = 'checkpoint') != (id IN (SELECT node_id FROM checkpoint))
        """,
    "a checkpoint keeps what is not before it, or what is no question": """
        SELECT node_id FROM checkpoint WHERE first_kept_message_id NOT NULL AND NOT EXISTS (
            WITH RECURSIVE up(id, parent_id, role) AS (
                SELECT id, parent_id, role FROM node WHERE id = checkpoint.node_id
                UNION SELECT node.id, node.parent_id, node.role FROM up JOIN node ON node.id = up.parent_id
            )
            SELECT 1 FROM up WHERE id = first_kept_message_id AND role = 'user')
        """,
    "an attempt that was applied has no checkpoint of its own": """
        SELECT id FROM compaction_run AS run WHERE outcome = 'applied' AND (checkpoint_id IS NULL OR EXISTS (
            SELECT 1 FROM compaction_run AS other WHERE other.checkpoint_id = run.checkpoint_id AND other.id != run.id))
        """,
    "two sessions were used at once": "SELECT used FROM session GROUP BY used HAVING count(*) > 1",
    "a message is no JSON": "SELECT id FROM node WHERE NOT json_valid(parts)",
}


def faults(path: Path) -> list[tuple[str, Any]]:
    """What is wrong with a history that nobody writes to, by SQLite's own checks and by the rules of the tree."""
    with closing(sqlite3.connect(path)) as connection:
        found: list[tuple[str, Any]] = [
            (line, None) for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"
        ]
        found += [("a foreign key", row) for row in connection.execute("PRAGMA foreign_key_check")]
        for fault, statement in _FAULTS.items():
            found += [(fault, row) for row in connection.execute(statement)]
        try:
            connection.execute("INSERT INTO node_fts(node_fts, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError as error:
            found.append(("the full-text index", str(error)))
        return found


def content(path: Path) -> dict[str, list[Any]]:
    """All rows of all tables of a history that nobody writes to."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            table: sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr)
            for table in [*tables, "pragma_user_version"]
        }


def state(path: Path) -> dict[str, dict[str, Any]]:
    """Each session with what its claims are about."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        rows = connection.execute(
            "SELECT session.id, leaf_id AS leaf, branch_revision AS revision, title, draft.text AS draft"
            " FROM session LEFT JOIN draft ON draft.session_id = session.id WHERE deleted_at IS NULL"
        )
        return {row["id"]: dict(row) for row in rows}


def nodes_of(path: Path) -> dict[str, set[str]]:
    """The stored nodes of each session."""
    found: dict[str, set[str]] = {}
    with closing(sqlite3.connect(path)) as connection:
        for session_id, node_id in connection.execute(
            "SELECT session_id, node.id FROM session_node JOIN node ON node.id = node_id"
        ):
            found.setdefault(session_id, set()).add(node_id)
    return found
