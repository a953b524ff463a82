"""What a history of the third version becomes in the fourth: nothing is changed, compactions have room (T-9)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.store.histories import older_history, opened

TABLES = ("node", "session", "session_node", "draft", "stream_journal", "node_text", "lease", "erasure", "checkpoint")


def contents(path: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(path)) as connection:
        return {table: sorted(connection.execute(f"SELECT * FROM {table}")) for table in TABLES}


@pytest.mark.req("T-9", "T-1")
async def test_nothing_that_was_stored_is_changed(tmp_path: Path) -> None:
    path = older_history(tmp_path / "sessions.sqlite", 3)
    before = contents(path)
    async with opened(path, prefix="x") as store:
        [session] = [each.session for each in await store.sessions() if each.session.id == "v00000001"]
        assert [run.id for run in await store.compaction.runs("00000001")] == ["run-1"]
        assert (await store.branch(session.id)).damage is None
    assert contents(path) == before


@pytest.mark.req("T-9", "C-17")
async def test_a_history_brought_forward_is_made_of_the_same_tables_as_a_new_one(tmp_path: Path) -> None:
    shapes = []
    for name, version in (("new", 0), ("brought", 3)):
        path = tmp_path / name / "sessions.sqlite"
        path.parent.mkdir()
        if version:
            older_history(path, version)
        async with opened(path):
            pass
        with closing(sqlite3.connect(path)) as connection:
            tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            shapes.append(
                {
                    table: [row[1:4] for row in connection.execute(f"PRAGMA table_info({table})")]
                    for table in sorted(tables)
                }
            )
    assert shapes[0] == shapes[1]
