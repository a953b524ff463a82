"""The tables of sessions.sqlite (docs/data.md lists every column)."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

APPLICATION_ID = 0x42694265
"""Marks the file as ours in SQLite's header ("BiBe")."""

SCHEMA_VERSION = 4
"""Stored as `PRAGMA user_version`; grows with each migration (T-9)."""

metadata = MetaData()

node = Table(
    "node",
    metadata,
    Column("id", Text, primary_key=True),
    Column("parent_id", Text, ForeignKey("node.id")),
    Column("role", Text, CheckConstraint("role IN ('user', 'assistant', 'checkpoint')"), nullable=False),
    Column("parts", Text, nullable=False),
    Column("model", Text),
    Column("usage", Text),
    Column("stop_reason", Text),
    Column("created_at", Text, nullable=False),
)
Index("node_parent", node.c.parent_id)

session = Table(
    "session",
    metadata,
    Column("id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("leaf_id", Text, ForeignKey("node.id")),
    Column("branch_revision", Integer, nullable=False, default=0),
    Column("model", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("used", Integer, nullable=False, server_default="0"),
    # No foreign keys: where a fork comes from may be deleted, and the fork stays.
    Column("forked_from_id", Text),
    Column("forked_at_id", Text),
    Column("is_pinned", Integer, nullable=False, server_default="0"),
    Column("archived_at", Text),
    Column("deleted_at", Text),
)
Index("session_leaf", session.c.leaf_id)

session_node = Table(
    "session_node",
    metadata,
    Column("session_id", Text, ForeignKey("session.id"), primary_key=True),
    Column("node_id", Text, ForeignKey("node.id"), primary_key=True),
    Column("visited", Integer, nullable=False, server_default="0"),
    sqlite_with_rowid=False,
)
Index("session_node_node", session_node.c.node_id)

checkpoint = Table(
    "checkpoint",
    metadata,
    Column("node_id", Text, ForeignKey("node.id"), primary_key=True),
    Column("kind", Text, nullable=False),
    Column("first_kept_message_id", Text, ForeignKey("node.id")),
    Column("summary", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("trigger", Text, nullable=False),
    Column("model", Text),
    Column("prompt_version", Text),
    Column("covered_from_id", Text, ForeignKey("node.id")),
    Column("covered_to_id", Text, ForeignKey("node.id")),
    Column("tokens_before", Integer),
    Column("tokens_after", Integer),
    Column("validation", Text),
    Column("duration_ms", Integer),
    Column("cost", Float),
    Column("created_at", Text, nullable=False),
)

compaction_run = Table(
    "compaction_run",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, ForeignKey("session.id"), nullable=False),
    Column("trigger", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("reason", Text),
    Column("checkpoint_id", Text, ForeignKey("node.id")),
    Column("refused_text", Text),
    Column("started_at", Text, nullable=False),
    Column("finished_at", Text),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("model", Text),
    Column("prompt_version", Text),
    Column("kind", Text),
    Column("generation", Integer),
    Column("tokens_before", Integer),
    Column("tokens_after", Integer),
    Column("requests", Integer),
    Column("cost", Float),
)
Index("compaction_run_session", compaction_run.c.session_id)

# What was learned of a model on its way to the provider.
model_fact = Table(
    "model_fact",
    metadata,
    Column("model", Text, primary_key=True),
    Column("route", Text, primary_key=True),
    Column("ceiling", Integer),
    Column("pairs", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)

Index("checkpoint_covered_to", checkpoint.c.covered_to_id)

ledger_entry = Table(
    "ledger_entry",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, ForeignKey("session.id")),
    Column("node_id", Text, ForeignKey("node.id")),
    Column("kind", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("supersedes_id", Text, ForeignKey("ledger_entry.id")),
    Column("created_at", Text, nullable=False),
)
Index("ledger_entry_node", ledger_entry.c.node_id)
Index("ledger_entry_session", ledger_entry.c.session_id)

operation = Table(
    "operation",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, ForeignKey("session.id"), nullable=False),
    Column("node_id", Text, ForeignKey("node.id")),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("target_version", Text),
    Column("request", Text, nullable=False),
    Column("result", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)
Index("operation_session", operation.c.session_id)

# The draft of the session that does not exist yet has the session id "", so this is no foreign key.
draft = Table(
    "draft",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("attachments", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)

blob = Table(
    "blob",
    metadata,
    Column("id", Text, primary_key=True),
    Column("mime", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("created_at", Text, nullable=False),
)

stream_journal = Table(
    "stream_journal",
    metadata,
    Column("session_id", Text, ForeignKey("session.id"), primary_key=True),
    Column("parent_id", Text, ForeignKey("node.id"), nullable=False),
    Column("previous_leaf_id", Text, ForeignKey("node.id")),
    Column("beginning", Text, nullable=False),
    Column("parts", Text, nullable=False),
    Column("model", Text),
    Column("started_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)

# A lease is taken before its session is made, so this is no foreign key either.
lease = Table(
    "lease",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("heartbeat_at", Text, nullable=False),
    Column("acquired_at", Text, nullable=False),
)

# What is still to be wiped from the file and its backups: the ids of deleted nodes, never their text.
erasure = Table(
    "erasure",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("node_ids", Text, nullable=False),
    Column("deleted_at", Text, nullable=False),
)

# What is searched for in a message: its words, folded (store.search_text).
node_text = Table(
    "node_text",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("node_id", Text, ForeignKey("node.id"), nullable=False, unique=True),
    Column("text", Text, nullable=False),
)

FULL_TEXT = """
    CREATE VIRTUAL TABLE node_fts USING fts5(
        text, content='node_text', content_rowid='id', tokenize='ascii'
    )
    """
"""The full-text index over `node_text`; SQLAlchemy knows no virtual tables.

What is stored there are tokens with spaces between them: all that this tokenizer must do is to cut at the spaces, and
it does so whatever version of Unicode SQLite knows.
"""

APPEND_ONLY = (
    """
    CREATE TRIGGER node_is_append_only BEFORE UPDATE ON node
    BEGIN SELECT RAISE(ABORT, 'a stored message is never changed'); END
    """,
    """
    CREATE TRIGGER node_is_never_replaced BEFORE INSERT ON node
    WHEN EXISTS (SELECT 1 FROM node WHERE id = new.id)
    BEGIN SELECT RAISE(ABORT, 'a stored message is never replaced'); END
    """,
)
"""The second belt behind T-1: no UPDATE or REPLACE changes a stored node, whoever sends it."""
