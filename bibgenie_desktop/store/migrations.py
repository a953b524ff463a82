"""Opening sessions.sqlite by its version (T-9): made anew, taken, brought forward after a backup, or refused."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError

from .backups import back_up
from .database import StoreUnavailable
from .header import is_damage, primary_code, read_header
from .node_text import fill_node_text
from .schema import APPEND_ONLY, APPLICATION_ID, FULL_TEXT, SCHEMA_VERSION, metadata

SEARCHABLE_FROM = 3
"""The version that brought the words of messages into the history."""

RESTORING = (
    "restore a backup (end BibGenie, move sessions.sqlite, sessions.sqlite-wal and sessions.sqlite-shm away, then copy "
    "a file of the profile's backups folder to sessions.sqlite)"
)
"""What to do where the history is damaged. SQLite plays a log that stays behind into whatever is put in its place."""


def check_folder(path: Path) -> None:
    """See that `path` can be made and written, making its folder. Raises StoreUnavailable."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path) from error
    writable = os.access(path, os.R_OK | os.W_OK) if path.exists() else os.access(path.parent, os.W_OK)
    if not writable or path.is_dir():
        raise _unwritable(path)


def check_file(path: Path) -> None:
    """Look at the file before anything is written. Raises StoreUnavailable.

    Refused are: a folder that cannot be written, a file that is no database, one of another program, and one that
    a newer version of this program made.
    """
    check_folder(path)
    if not path.exists() or path.stat().st_size == 0:
        return
    try:
        header = read_header(path)
    except sqlite3.Error as error:
        if not is_damage(error):
            return  # such as a lock: opening the file will tell
        raise StoreUnavailable(
            "damaged",
            f"The history file {path} is damaged or is no history; it was left as it is: {RESTORING}, or choose "
            "another profile with --profile.",
        ) from error
    if not header.tables and header.application_id == 0:
        return  # a first start that was killed before the tables were there
    if header.application_id != APPLICATION_ID:
        raise StoreUnavailable(
            "foreign",
            f"The file {path} belongs to another program and was left as it is: choose another profile with --profile.",
        )
    if header.version > SCHEMA_VERSION:
        raise _newer(path)


def migrate(connection: Connection, path: Path, clock: Callable[[], datetime]) -> None:
    """Bring the file at `path` to the present version, inside the caller's write transaction.

    A history of an older version is copied into the folder `backups` beside it first; without that copy nothing is
    changed. Raises StoreUnavailable.
    """
    (version,) = connection.exec_driver_sql("PRAGMA user_version").one()
    if version == SCHEMA_VERSION:
        return
    if version != 0 and version not in _MIGRATIONS:
        raise _newer(path)  # brought forward by another program since it was looked at
    if version != 0:
        back_up(path, version, clock())
    try:
        if version == 0:
            _make(connection)
        else:
            _bring_forward(connection, version)
    except DatabaseError as error:
        if primary_code(error.orig) != sqlite3.SQLITE_ERROR:
            raise
        # A table is missing, or there already: only damage explains it.
        raise StoreUnavailable(
            "damaged",
            f"The history {path} is damaged: it is not of the version that it says; it was left as it is: {RESTORING}.",
        ) from error


def _make(connection: Connection) -> None:
    metadata.create_all(connection)
    connection.exec_driver_sql(FULL_TEXT)
    for trigger in APPEND_ONLY:
        connection.exec_driver_sql(trigger)
    connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _bring_forward(connection: Connection, version: int) -> None:
    for step in range(version, SCHEMA_VERSION):
        for statement in _MIGRATIONS[step]:
            connection.exec_driver_sql(statement)
    if version < SEARCHABLE_FROM:
        fill_node_text(connection)
    connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")


_MIGRATIONS: Mapping[int, tuple[str, ...]] = {
    1: (
        """
        CREATE TABLE lease (
            session_id TEXT NOT NULL,
            owner TEXT NOT NULL,
            kind TEXT NOT NULL,
            heartbeat_at TEXT NOT NULL,
            acquired_at TEXT NOT NULL,
            PRIMARY KEY (session_id)
        )
        """,
    ),
    2: (
        "ALTER TABLE session ADD COLUMN used INTEGER NOT NULL DEFAULT '0'",
        "ALTER TABLE session ADD COLUMN forked_from_id TEXT",
        "ALTER TABLE session ADD COLUMN forked_at_id TEXT",
        "ALTER TABLE session ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT '0'",
        "ALTER TABLE session ADD COLUMN archived_at TEXT",
        "ALTER TABLE session ADD COLUMN deleted_at TEXT",
        "CREATE INDEX session_leaf ON session (leaf_id)",
        "ALTER TABLE session_node ADD COLUMN visited INTEGER NOT NULL DEFAULT '0'",
        # A session holds the whole path to each of its nodes, also where a row was put in by hand.
        """
        WITH RECURSIVE held(session_id, node_id) AS (
            SELECT session.id, node.id FROM session JOIN node ON node.id = session.leaf_id
            UNION
            SELECT session.id, node.parent_id
            FROM session_node JOIN session ON session.id = session_node.session_id
            JOIN node ON node.id = session_node.node_id
            WHERE NOT EXISTS (
                SELECT 1 FROM session_node AS other
                WHERE other.session_id = session.id AND other.node_id = node.parent_id
            )
            UNION
            SELECT held.session_id, node.parent_id FROM held JOIN node ON node.id = held.node_id
            WHERE NOT EXISTS (
                SELECT 1 FROM session_node AS other
                WHERE other.session_id = held.session_id AND other.node_id = node.parent_id
            )
        )
        INSERT OR IGNORE INTO session_node (session_id, node_id)
        SELECT held.session_id, node.id FROM held JOIN node ON node.id = held.node_id
        """,
        # Nodes lie in the order in which they were stored: which session was used last does not hang on clocks.
        """
        UPDATE session SET used = coalesce((
            SELECT max(node.rowid) FROM session_node JOIN node ON node.id = session_node.node_id
            WHERE session_node.session_id = session.id
        ), 0)
        """,
        # The leaf of each session was visited last.
        """
        UPDATE session_node SET visited = (SELECT branch_revision FROM session WHERE session.id = session_id)
        WHERE node_id = (SELECT leaf_id FROM session WHERE session.id = session_id)
        """,
        "DROP TABLE stream_journal",  # nothing ever wrote into it
        """
        CREATE TABLE stream_journal (
            session_id TEXT NOT NULL,
            parent_id TEXT NOT NULL,
            previous_leaf_id TEXT,
            beginning TEXT NOT NULL,
            parts TEXT NOT NULL,
            model TEXT,
            started_at TEXT NOT NULL,
            updated_at TEXT NOT NULL,
            PRIMARY KEY (session_id),
            FOREIGN KEY(session_id) REFERENCES session (id),
            FOREIGN KEY(parent_id) REFERENCES node (id),
            FOREIGN KEY(previous_leaf_id) REFERENCES node (id)
        )
        """,
        """
        CREATE TABLE erasure (
            session_id TEXT NOT NULL,
            node_ids TEXT NOT NULL,
            deleted_at TEXT NOT NULL,
            PRIMARY KEY (session_id)
        )
        """,
        """
        CREATE TABLE node_text (
            id INTEGER NOT NULL,
            node_id TEXT NOT NULL,
            text TEXT NOT NULL,
            PRIMARY KEY (id),
            FOREIGN KEY(node_id) REFERENCES node (id),
            UNIQUE (node_id)
        )
        """,
        """
        CREATE VIRTUAL TABLE node_fts USING fts5(
            text, content='node_text', content_rowid='id', tokenize='ascii'
        )
        """,
    ),
    3: (
        *(
            f"ALTER TABLE compaction_run ADD COLUMN {name} {kind}"
            for name, kind in (
                ("model", "TEXT"),
                ("prompt_version", "TEXT"),
                ("kind", "TEXT"),
                ("generation", "INTEGER"),
                ("tokens_before", "INTEGER"),
                ("tokens_after", "INTEGER"),
                ("requests", "INTEGER"),
                ("cost", "FLOAT"),
            )
        ),
        "CREATE INDEX checkpoint_covered_to ON checkpoint (covered_to_id)",
        """
        CREATE TABLE model_fact (
            model TEXT NOT NULL,
            route TEXT NOT NULL,
            ceiling INTEGER,
            pairs TEXT NOT NULL,
            updated_at TEXT NOT NULL,
            PRIMARY KEY (model, route)
        )
        """,
    ),
}
"""What brings a file of each older version to the next, written out: the tables of `schema` go on changing."""


def _newer(path: Path) -> StoreUnavailable:
    return StoreUnavailable(
        "newer",
        f"The history in {path.parent} was made by a newer version of BibGenie and was left as it is: "
        "update BibGenie, or choose another profile with --profile.",
    )


def _unwritable(path: Path) -> StoreUnavailable:
    return StoreUnavailable(
        "unwritable",
        f"The profile folder {path.parent} cannot be written: make it writable, or choose another with --profile.",
    )
