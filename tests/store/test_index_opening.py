"""The index is a cache: what does not fit is made anew, but another program's file is left alone (Z-6)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bibgenie_desktop.store.database import StoreUnavailable
from bibgenie_desktop.store.library import LibraryStore
from tests.store.histories import bytes_of
from tests.store.indexes import check_full_text, file, opened_index, put, ref, rows, snapshot, texts, work

INDEX = "library.sqlite"


async def index(path: Path) -> None:
    async with opened_index(path) as store:
        source = await store.apply(snapshot(work("w1", "Peat"), file("f1")), "1")
        await put(store, source, "f1", *["Moss grows. " * 500] * 5)


@pytest.mark.req("Z-6")
async def test_an_index_is_made_with_the_folders_it_needs_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "new" / INDEX
    await index(path)
    before = bytes_of(path.parent)
    assert list(before) == [INDEX]
    async with opened_index(path) as store:
        assert len(await texts(store, 1, "peat moss")) > 1
    assert bytes_of(path.parent) == before


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "text": lambda _: b"no database " * 999,
    "a header alone": lambda whole: whole[:100],
    "half": lambda whole: whole[: len(whole) // 2],
    "a page short": lambda whole: whole[:-4096],
    "a broken header": lambda whole: b"SQLite format 4\0" + whole[16:],
    "a broken schema": lambda whole: whole[:100] + b"\xff" * 3996 + whole[4096:],
}


@pytest.mark.req("Z-6")
@pytest.mark.parametrize("name", DAMAGE)
async def test_a_damaged_index_is_made_anew(tmp_path: Path, name: str) -> None:
    path = tmp_path / INDEX
    await index(path)
    path.write_bytes(DAMAGE[name](path.read_bytes()))
    (tmp_path / f"{INDEX}-wal").write_bytes(b"the log of a file that is no more")
    async with opened_index(path) as store:
        source = await store.apply(snapshot(work("w1", "Fen")), "2")
        assert await texts(store, source, "fen peat") == {"Fen\n\nJo Hale 2010"}
    check_full_text(path)


@pytest.mark.req("Z-6")
@pytest.mark.parametrize("version", [0, 2, 99])
async def test_an_index_of_another_version_is_made_anew(tmp_path: Path, version: int) -> None:
    path = tmp_path / INDEX
    await index(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE item RENAME TO work")
        connection.execute(f"PRAGMA user_version = {version}")
    async with opened_index(path) as store:
        source = await store.apply(snapshot(work("w1", "Fen")), "2")
        assert await texts(store, source, "fen peat") == {"Fen\n\nJo Hale 2010"}
    check_full_text(path)
    assert rows(path, "PRAGMA user_version") == [(1,)]


@pytest.mark.req("Z-6", "S-4")
@pytest.mark.parametrize("journal", ["wal", "delete"])
async def test_a_database_of_another_program_is_left_alone(tmp_path: Path, journal: str) -> None:
    """A profile may have been put into a folder that has a library.sqlite of its own."""
    with closing(sqlite3.connect(tmp_path / INDEX)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE books (title TEXT)")
    before = bytes_of(tmp_path)
    with pytest.raises(StoreUnavailable, match="belongs to another program") as refusal:
        await LibraryStore.open(tmp_path / INDEX)
    assert refusal.value.code == "foreign"
    assert bytes_of(tmp_path) == before


@pytest.mark.req("Z-6")
async def test_an_index_that_another_process_holds_is_not_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock is no damage."""
    monkeypatch.setattr("bibgenie_desktop.store.database.BUSY_SECONDS", 0)
    path = tmp_path / INDEX
    await index(path)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE item SET title = title")
        with pytest.raises(StoreUnavailable) as refusal:
            await LibraryStore.open(path)
        assert refusal.value.code == "busy"
        other.rollback()
    async with opened_index(path) as store:
        assert len(await texts(store, 1, "peat")) == 1


@pytest.mark.req("Z-6")
async def test_damage_inside_is_told_with_what_helps_for_a_cache(tmp_path: Path) -> None:
    path = tmp_path / INDEX
    await index(path)
    ((root,),) = rows(path, "SELECT rootpage FROM sqlite_master WHERE name = 'item'")
    whole = bytearray(path.read_bytes())
    whole[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    path.write_bytes(whole)
    async with opened_index(path) as store:
        with pytest.raises(StoreUnavailable, match="delete this file, and it is built anew") as refusal:
            await store.item(1, ref("w1"))
    assert refusal.value.code == "damaged"
    assert "backup" not in str(refusal.value)


async def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / INDEX).mkdir()
    with pytest.raises(StoreUnavailable) as refusal:
        await LibraryStore.open(tmp_path / INDEX)
    assert refusal.value.code == "unwritable"
