"""What a history of the second version becomes in the third: searchable, closed under ancestors, in order (T-9)."""

from __future__ import annotations

import random
import sqlite3
import sys
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.store.database import StoreUnavailable
from bibgenie_desktop.store.schema import SCHEMA_VERSION
from bibgenie_desktop.store.search_text import folded
from bibgenie_desktop.store.sessions import SessionStore
from tests.discipline.lengths import Loops
from tests.store.histories import bytes_of, counted_ids, older_history, opened, spoil, ticking
from tests.store.writer import writing

UNREADABLE = "00000021"
"""The message of a newer version in the dump."""


@pytest.fixture
def older(tmp_path: Path) -> Path:
    return older_history(tmp_path / "sessions.sqlite", 2)


async def bring_forward(path: Path) -> None:
    async with opened(path, prefix="x"):
        pass


def rows(path: Path, statement: str, *values: object) -> list[Any]:
    """Rows of one column as its values, others as tuples."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(statement, values).fetchall()
    return [row[0] if len(row) == 1 else row for row in found]


def nodes(path: Path) -> list[Any]:
    return rows(path, "SELECT rowid, * FROM node ORDER BY rowid")


def is_sound(path: Path) -> bool:
    """By SQLite, by its foreign keys, and by the full-text index beside the texts that it is of."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO node_fts(node_fts, rank) VALUES ('integrity-check', 1)")
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)] and not list(
            connection.execute("PRAGMA foreign_key_check")
        )


@pytest.mark.req("T-9")
@pytest.mark.parametrize("version", [0, 1, 2, 3])
async def test_a_new_history_and_one_brought_forward_are_sound(tmp_path: Path, version: int) -> None:
    path = tmp_path / "sessions.sqlite"
    if version:
        older_history(path, version)
    await bring_forward(path)
    assert is_sound(path)


@pytest.mark.req("T-9", "T-1")
async def test_no_message_is_changed(older: Path) -> None:
    before = nodes(older)
    await bring_forward(older)
    assert nodes(older) == before


@pytest.mark.req("T-9", "T-3")
async def test_each_session_holds_the_whole_path_to_its_messages_also_forks_made_by_hand(older: Path) -> None:
    before = set(rows(older, "SELECT session_id, node_id FROM session_node"))
    await bring_forward(older)
    after = set(rows(older, "SELECT session_id, node_id FROM session_node"))
    path = {"00000002", "00000003", "00000004", "00000005"}  # to where both forks begin
    assert after - before == {(fork, node) for fork in ("fork-1", "fork-2") for node in path}
    assert before <= after


@pytest.mark.req("T-9", "T-4")
async def test_the_leaf_of_each_session_was_visited_last(older: Path) -> None:
    await bring_forward(older)
    visited = rows(older, "SELECT session_id, node_id, visited FROM session_node WHERE visited != 0")
    leaves = rows(older, "SELECT id, leaf_id, branch_revision FROM session WHERE leaf_id NOT NULL")
    assert set(visited) == set(leaves)
    assert set(rows(older, "SELECT typeof(visited) FROM session_node")) == {"integer"}


@pytest.mark.req("T-9")
async def test_the_list_is_in_the_order_of_use_although_the_clock_was_set_back(older: Path) -> None:
    async with opened(older, prefix="x") as store:
        listed = [row.session.id for row in await store.sessions()]
    assert listed == ["fork-2", "00000019", "00000014", "00000009", "00000001", "fork-1", "empty"]
    assert set(rows(older, "SELECT typeof(used) || typeof(is_pinned) FROM session")) == {"integerinteger"}


@pytest.mark.req("T-9", "T-8")
async def test_every_message_that_can_be_read_can_be_found(older: Path) -> None:
    await bring_forward(older)
    found = set(rows(older, "SELECT node_id FROM node_text"))
    assert found == set(rows(older, "SELECT id FROM node")) - {UNREADABLE}
    find = "SELECT node_id FROM node_fts JOIN node_text ON node_text.id = node_fts.rowid WHERE node_fts MATCH ?"
    for words, expected in (("GRÖSSE", "00000010"), ("parallax", "00000011"), ("late", "00000008")):
        assert rows(older, find, folded(words)) == [expected]
    assert rows(older, find, "newer") == []


@pytest.mark.req("T-9", "T-5")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE node SET parent_id = '00000007' WHERE id = '00000002'",
        "UPDATE node SET parent_id = id",
        "DELETE FROM node WHERE id IN ('00000003', '00000017')",
        "DELETE FROM session WHERE id IN ('00000001', 'fork-2')",
        "UPDATE session SET leaf_id = 'gone'",
        "UPDATE session SET leaf_id = CAST(x'ff' AS TEXT), title = x'ff', branch_revision = 'many'",
        "UPDATE node SET id = CAST(x'6eff' AS TEXT) WHERE id = '00000007'",
        "UPDATE node SET id = x'ff' WHERE id = '00000007'",
        "UPDATE node SET parts = x'ff'",
        "UPDATE node SET parts = CAST(x'5bff5d' AS TEXT)",
        "DELETE FROM session_node",
        "INSERT INTO session_node VALUES ('gone', 'gone'), ('gone', '00000007')",
    ],
)
async def test_a_damaged_history_is_brought_forward_all_the_same(older: Path, damage: str) -> None:
    """What can be read of it can be read then; nothing of it is mended or lost."""
    spoil(older, damage)
    before = nodes_as_bytes(older)
    async with opened(older, prefix="x") as store:
        for row in await store.sessions():
            await store.branch(row.session.id)
    assert nodes_as_bytes(older) == before
    assert rows(older, "PRAGMA user_version") == [SCHEMA_VERSION]
    with closing(sqlite3.connect(older)) as connection:
        connection.execute("INSERT INTO node_fts(node_fts, rank) VALUES ('integrity-check', 1)")


def nodes_as_bytes(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        return connection.execute("SELECT rowid, * FROM node ORDER BY rowid").fetchall()


def add_messages(path: Path, count: int, size: int) -> None:
    chance = random.Random(count)
    letters = "abcdefghijklmnopqrstuvwxyz "
    with closing(sqlite3.connect(path)) as connection:
        for number in range(count):
            text = "".join(chance.choices(letters, k=size))
            parts = f'[{{"type":"text","text":"{text}","citations":[]}}]'
            connection.execute(
                "INSERT INTO node VALUES (?, NULL, 'user', ?, NULL, NULL, NULL, '')", (f"n{number}", parts)
            )
        connection.commit()


@pytest.mark.req("T-9")
async def test_a_large_history_is_brought_forward_in_little_memory(older: Path, loops: Loops) -> None:
    """Eight megabytes of messages and more; what is held of them at a time is a fraction."""
    add_messages(older, loops(800, 6_000), 10_000)
    tracemalloc.start()
    try:
        await bring_forward(older)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000
    assert rows(older, "SELECT count(*) FROM node_text") == rows(older, "SELECT count(*) - 1 FROM node")


def part_of(path: Path, share: float) -> str:
    """A part of the file's size, in bytes."""
    return str(int(path.stat().st_size * share))


@pytest.mark.req("T-9", "T-6")
@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files there")
@pytest.mark.parametrize(
    ("share", "sentence"),
    [
        (0.5, "could not be copied into"),  # the copy finds no room
        (1.0, "is unchanged, for the disk"),  # the copy does, but not the change
    ],
)
async def test_a_disk_that_is_full_on_the_way_leaves_the_older_version(
    older: Path, share: float, sentence: str
) -> None:
    add_messages(older, 1_000, 1_000)
    before = nodes(older)
    with writing(older, "--largest-file", part_of(older, share)) as writer:
        ready, refusal = writer.lines()
    assert ready == "ready"
    assert sentence in refusal
    assert rows(older, "PRAGMA user_version") == [2]
    assert nodes(older) == before
    assert not list((older.parent / "backups").glob("*unfinished*"))
    await bring_forward(older)
    assert is_sound(older)
    assert nodes(older) == before


@pytest.mark.req("T-9", "T-6")
async def test_whoever_opens_it_meanwhile_waits_and_finds_the_new_version_or_is_told(
    older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(older)) as other:
        other.execute("BEGIN IMMEDIATE")  # as a migration that runs
        before = bytes_of(older.parent)
        monkeypatch.setattr("bibgenie_desktop.store.database.BUSY_SECONDS", 0)
        with pytest.raises(StoreUnavailable, match="in use by another program") as refusal:
            await SessionStore.open(older, clock=ticking(), new_id=counted_ids())
        assert refusal.value.code == "busy"
        assert bytes_of(older.parent).keys() == before.keys()
        other.rollback()
    await bring_forward(older)
