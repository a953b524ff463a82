"""The file sessions.sqlite as other programs find it (interface.md), and what it holds fast by itself (T-1)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bibgenie_desktop.store.database import Database
from tests.store.histories import bytes_of, opened, talk

TABLES = {
    "node": "id parent_id role parts model usage stop_reason created_at",
    "session": "id title leaf_id branch_revision model created_at updated_at used forked_from_id forked_at_id is_pinned"
    " archived_at deleted_at",
    "session_node": "session_id node_id visited",
    "checkpoint": "node_id kind first_kept_message_id summary generation trigger model prompt_version covered_from_id"
    " covered_to_id tokens_before tokens_after validation duration_ms cost created_at",
    "compaction_run": "session_id trigger outcome reason checkpoint_id refused_text input_tokens output_tokens model"
    " prompt_version kind generation tokens_before tokens_after requests cost",
    "model_fact": "model route ceiling pairs updated_at",
    "ledger_entry": "id",
    "operation": "id",
    "draft": "session_id text attachments",
    "blob": "id",
    "stream_journal": "session_id parent_id previous_leaf_id beginning parts model started_at updated_at",
    "lease": "session_id owner kind heartbeat_at acquired_at",
    "erasure": "session_id node_ids deleted_at",
    "node_text": "id node_id text",
    "node_fts": "text",
}


@pytest.mark.req("T-1", "T-9")
async def test_all_tables_have_the_names_that_others_rely_on(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite"):
        pass
    with closing(sqlite3.connect(tmp_path / "sessions.sqlite")) as connection:
        for table, names in TABLES.items():
            columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            assert set(names.split()) <= columns, table


@pytest.mark.req("T-6", "T-9")
async def test_the_file_is_ours_of_this_version_and_survives_a_loss_of_power(tmp_path: Path) -> None:
    """Write-ahead log, synchronous FULL (2) and foreign keys, on both connections."""
    path = tmp_path / "sessions.sqlite"
    async with opened(path):
        pass
    database = Database(path, what="The history", if_damaged="")
    try:
        for run in (database.write, database.read):
            settings = await run(
                lambda connection: [
                    connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                    for name in ("journal_mode", "synchronous", "foreign_keys", "application_id", "user_version")
                ]
            )
            assert settings == ["wal", 2, 1, 0x42694265, 4]
    finally:
        await database.close()
    assert list(bytes_of(tmp_path)) == ["sessions.sqlite"]


STATEMENTS = [
    "UPDATE node SET {} = {}",
    "UPDATE OR IGNORE node SET {} = {}",
    "UPDATE OR REPLACE node SET {} = {}",
]
COLUMNS = {
    "parent_id": "NULL",
    "role": "'user'",
    "parts": "'[]'",
    "usage": "'{}'",
    "stop_reason": "'stop'",
    "id": "'x'",
}


@pytest.mark.req("T-1")
@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("column", COLUMNS)
async def test_no_update_changes_a_stored_node(tmp_path: Path, statement: str, column: str) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        await talk(store, 1)
    with closing(sqlite3.connect(path)) as connection:
        before = connection.execute("SELECT * FROM node").fetchall()
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            connection.execute(statement.format(column, COLUMNS[column]))
        assert connection.execute("SELECT * FROM node").fetchall() == before


@pytest.mark.req("T-1")
@pytest.mark.parametrize(
    "statement",
    [
        "REPLACE INTO node SELECT id, NULL, 'user', '[]', NULL, NULL, NULL, '' FROM node",
        "INSERT OR REPLACE INTO node SELECT id, parent_id, role, '[]', model, usage, stop_reason, '' FROM node",
        "INSERT INTO node SELECT id, NULL, 'user', '[]', NULL, NULL, NULL, '' FROM node WHERE true"
        " ON CONFLICT (id) DO UPDATE SET parts = '[]'",
    ],
)
async def test_no_replacement_changes_a_stored_node_either(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        await talk(store, 1)
    with closing(sqlite3.connect(path)) as connection:
        before = connection.execute("SELECT * FROM node").fetchall()
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            connection.execute(statement)
        assert connection.execute("SELECT * FROM node").fetchall() == before


@pytest.mark.req("T-1")
async def test_no_node_has_a_role_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path):
        pass
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        connection.execute("INSERT INTO node (id, role, parts, created_at) VALUES ('n', 'system', '[]', '')")
