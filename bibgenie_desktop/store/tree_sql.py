"""The SQL of the session tree that is walked along its parents: recursive queries, written out in SQLite's dialect.

Prepared text: putting such a query together anew costs more than running it. UNION, not UNION ALL: rows met twice end
a recursion, so that a cycle cannot run for ever. CROSS JOIN, where SQLite would begin with all nodes of a session. The
order in which nodes were stored is SQLite's rowid: no clock.
"""

from __future__ import annotations

from .checkpoint_rows import COLUMNS

NODE = "node.id, node.parent_id, node.role, node.parts, node.model, node.usage, node.stop_reason, node.created_at"
"""The columns of a node, in the order of its table."""

CHECKPOINT = ", ".join(f"checkpoint.{name}" for name in COLUMNS.split(", "))

_UP = """
    WITH RECURSIVE walk(place, id, parent_id, role) AS (
        SELECT rowid, id, parent_id, role FROM node WHERE id = :leaf
        UNION SELECT node.rowid, node.id, node.parent_id, node.role FROM walk JOIN node ON node.id = walk.parent_id
    )
    """

HEADS = f"{_UP} SELECT id, parent_id, role FROM walk"
"""Every node from `leaf` to its root without its body, in no order: no page of a long body is read."""

BRANCH = f"{_UP} SELECT {NODE} FROM walk JOIN node ON node.rowid = walk.place"
"""Every node from `leaf` to its root, with its body, in no order."""

NEWEST = f"""
    WITH RECURSIVE walk(place, parent_id, number) AS (
        SELECT rowid, parent_id, 1 FROM node WHERE id = :leaf
        UNION ALL
        SELECT node.rowid, node.parent_id, number + 1 FROM walk JOIN node ON node.id = walk.parent_id
        WHERE number < :limit
    )
    SELECT {NODE} FROM walk JOIN node ON node.rowid = walk.place
    """
"""The `limit` nodes from `leaf` upwards, in no order; one of a cycle may come several times."""

TAIL = """
    WITH RECURSIVE walk(place, id, parent_id, role, is_end, is_answered) AS (
        SELECT rowid, id, parent_id, role, id = :end, role = 'assistant' FROM node WHERE id = :leaf
        UNION
        SELECT node.rowid, node.id, node.parent_id, node.role,
            walk.is_end OR node.id = :end, walk.is_answered OR node.role = 'assistant'
        FROM walk JOIN node ON node.id = walk.parent_id WHERE NOT (walk.is_end AND walk.is_answered)
    )
    SELECT walk.id, CASE WHEN walk.role = 'assistant' AND instr(parts, '"pending"') > 0 THEN parts END AS pending
    FROM walk JOIN node ON node.rowid = walk.place
    """
"""The nodes from `leaf` up to `end` and to the newest answer, or to the root; the bodies in which `pending` stands."""

CHECKPOINTS = f"SELECT {CHECKPOINT} FROM checkpoint WHERE node_id IN (SELECT value FROM json_each(:ids))"
"""The whole checkpoints with these ids, a JSON array."""

FIRST_KEPT = """
    SELECT node_id, first_kept_message_id FROM checkpoint WHERE node_id IN (SELECT value FROM json_each(:ids))
    """
"""What the checkpoints with these ids, a JSON array, keep first."""

DERIVABLE = f"""
    SELECT {CHECKPOINT} FROM json_each(:ids) AS way CROSS JOIN checkpoint ON checkpoint.covered_to_id = way.value
    WHERE kind IN ('summarised', 'rebuilt', 'edited', 'derived') AND EXISTS (
        SELECT 1 FROM session_node JOIN session ON session.id = session_id
        WHERE session_node.node_id = checkpoint.node_id AND deleted_at IS NULL
    )
    ORDER BY way.key DESC, checkpoint.rowid DESC
    """
"""The checkpoints whose range ends on a path, a JSON array of ids, the one that ends last first.

Those of deleted sessions are left out, which can still be brought back: they are no source of summaries.
"""

BESIDE = f"""
    {_UP},
    below(id, parent_id, role, place) AS (
        SELECT id, parent_id, role, rowid FROM node WHERE parent_id IS NULL
        UNION SELECT node.id, node.parent_id, node.role, node.rowid FROM walk JOIN node ON node.parent_id = walk.id
        UNION SELECT node.id, node.parent_id, node.role, node.rowid
            FROM below JOIN node ON node.parent_id = below.id WHERE below.role = 'checkpoint'
    )
    SELECT id, parent_id, role FROM below
    WHERE EXISTS (SELECT 1 FROM session_node WHERE session_id = :session AND node_id = id) ORDER BY place
    """
"""The nodes of `session` that hang on the branch of `leaf`, or are roots, seen through checkpoints: oldest first."""

LAST_VISITED = """
    WITH RECURSIVE below(place, id) AS (
        SELECT rowid, id FROM node WHERE id = :top
        UNION SELECT node.rowid, node.id FROM below CROSS JOIN node ON node.parent_id = below.id
            WHERE EXISTS (SELECT 1 FROM session_node WHERE session_id = :session AND node_id = node.id)
    )
    SELECT id FROM below CROSS JOIN session_node ON session_id = :session AND node_id = id
    ORDER BY visited DESC, place DESC LIMIT 1
    """
"""The node of `session` at or below `top` that was its leaf last; where none ever was, the newest."""

ADOPT = f"""
    {_UP}
    INSERT INTO session_node (session_id, node_id, visited)
    SELECT :session, id, CASE id WHEN :leaf THEN :revision ELSE 0 END FROM walk
    """
"""Let `session` have every node from `leaf` to its root."""

WHOLE = f"""
    SELECT session_node.node_id, {NODE} FROM session_node LEFT JOIN node ON node.id = node_id
    WHERE session_id = :session ORDER BY node.rowid
    """
"""Every node of `session`, oldest first; those that are missing, before them all, have no columns but the first."""

FIRST_KEPT_OF_SESSION = """
    SELECT checkpoint.node_id, first_kept_message_id FROM checkpoint
    JOIN session_node ON session_id = :session AND session_node.node_id = checkpoint.node_id
    """
"""The checkpoints of `session`, on whatever branch."""

OWN_HEAD = """
    SELECT id, parent_id, role, stop_reason FROM node JOIN session_node ON session_id = :session AND node_id = id
    WHERE id = :node
    """
"""One node of `session` without its body."""

INTERRUPTED = """
    SELECT session_id FROM stream_journal JOIN session ON session.id = session_id
    WHERE deleted_at IS NULL ORDER BY stream_journal.rowid
    """
"""The sessions with a journal."""
