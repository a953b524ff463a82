"""What a history of the third version becomes in the fourth: nothing is changed, compactions have room (T-9)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.store.compactions import compact
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


@pytest.mark.req("T-9", "C-9", "C-17")
@pytest.mark.parametrize("version", [1, 2, 3])
async def test_a_chat_of_any_earlier_version_can_be_compacted_and_its_attempts_are_told(
    tmp_path: Path, version: int
) -> None:
    path = older_history(tmp_path / "sessions.sqlite", version)
    async with opened(path, prefix="x") as store:
        branch = await store.branch("00000001")
        [*_, newest, _] = branch.nodes
        [added] = (await compact(store, "00000001", newest.id)).added
        assert added in (await store.branch("00000001")).checkpoints
        runs = await store.compaction.runs("00000001")
        assert runs[-1].checkpoint_id == added
        for older in runs[:-1]:
            assert (older.model, older.kind, older.requests, older.tokens_before, older.cost) == ("", "", 0, 0, None)
        assert (await store.compaction.figures()).outcomes["applied"] == 1
        await store.model_facts.note_refused("m", "", 7_000)
        assert await store.integrity() == []


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
