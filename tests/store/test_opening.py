"""Opening a history: made anew, taken as it is, or refused with not a byte changed (T-9, T-5)."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bibgenie_desktop.store.database import StoreUnavailable
from bibgenie_desktop.store.schema import SCHEMA_VERSION
from bibgenie_desktop.store.sessions import SessionStore
from tests.store.histories import ask, bytes_of, counted_ids, opened, talk, ticking

HISTORY = "sessions.sqlite"


async def refused(path: Path, code: str) -> str:
    """Opening is refused, with one sentence; the sentence."""
    with pytest.raises(StoreUnavailable) as refusal:
        await SessionStore.open(path, clock=ticking(), new_id=counted_ids())
    sentence = str(refusal.value)
    assert refusal.value.code == code, sentence
    assert str(path.parent) in sentence
    assert len(sentence.splitlines()) == 1
    return sentence


async def history(path: Path) -> None:
    async with opened(path) as store:
        await talk(store, 40)


def pragma(path: Path, name: str, value: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA {name} = {value}")


@pytest.mark.req("T-9")
async def test_a_history_is_made_with_the_folders_it_needs(tmp_path: Path) -> None:
    async with opened(tmp_path / "new" / "profile" / HISTORY) as store:
        assert await store.sessions() == []
        assert await store.integrity() == []
    assert list(bytes_of(tmp_path / "new" / "profile")) == [HISTORY]


@pytest.mark.req("T-9")
async def test_a_history_of_this_version_is_taken_as_it_is(tmp_path: Path) -> None:
    await history(tmp_path / HISTORY)
    before = bytes_of(tmp_path)
    async with opened(tmp_path / HISTORY) as store:
        assert len((await store.branch("00000001")).nodes) == 80
    assert bytes_of(tmp_path) == before


@pytest.mark.req("T-9")
@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, 1_000, 2_147_483_647])
async def test_a_history_of_a_newer_version_is_refused(tmp_path: Path, version: int) -> None:
    await history(tmp_path / HISTORY)
    pragma(tmp_path / HISTORY, "user_version", version)
    before = bytes_of(tmp_path)
    assert "update BibGenie" in await refused(tmp_path / HISTORY, "newer")
    assert bytes_of(tmp_path) == before


NEWER = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA user_version = 9")
os._exit(0)
"""


@pytest.mark.req("T-9")
async def test_a_newer_version_is_seen_also_where_it_stands_in_the_log_only(tmp_path: Path) -> None:
    """The newer program was killed before its log was written back into the file."""
    await history(tmp_path / HISTORY)
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", NEWER, str(tmp_path / HISTORY))
    assert await killed.wait() == 0
    before = bytes_of(tmp_path)
    assert f"{HISTORY}-wal" in before
    await refused(tmp_path / HISTORY, "newer")
    after = bytes_of(tmp_path)
    assert {name: after[name] for name in (HISTORY, f"{HISTORY}-wal")} == {
        name: before[name] for name in (HISTORY, f"{HISTORY}-wal")
    }


@pytest.mark.req("T-9")
@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("application_id", [0, 0x0F055112])
async def test_a_database_of_another_program_is_refused(tmp_path: Path, application_id: int, journal: str) -> None:
    """And nothing is left beside it either, whatever journal it keeps."""
    with closing(sqlite3.connect(tmp_path / HISTORY)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute(f"PRAGMA application_id = {application_id}")
        connection.execute("CREATE TABLE moz_places (id INTEGER)")
    before = bytes_of(tmp_path)
    assert "belongs to another program" in await refused(tmp_path / HISTORY, "foreign")
    assert bytes_of(tmp_path) == before


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "text": lambda _: b"This is no database, but a note that somebody saved under this name. " * 99,
    "two bytes": lambda _: b"SQ",
    "zeros": lambda whole: bytes(len(whole)),
    "a header alone": lambda whole: whole[:100],
    "half": lambda whole: whole[: len(whole) // 2],
    "a page short": lambda whole: whole[:-4096],
    "half a page": lambda whole: whole[:2048],
    "a broken header": lambda whole: b"SQLite format 4\0" + whole[16:],
    "a broken schema": lambda whole: whole[:100] + b"\xff" * 3996 + whole[4096:],
}


@pytest.mark.req("T-5", "T-9")
@pytest.mark.parametrize("name", DAMAGE)
async def test_a_file_that_is_no_sound_database_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / HISTORY
    await history(path)
    path.write_bytes(DAMAGE[name](path.read_bytes()))
    before = bytes_of(tmp_path)
    assert "left as it is" in await refused(path, "damaged")
    assert bytes_of(tmp_path) == before


@pytest.mark.req("T-5", "T-9")
@pytest.mark.parametrize("version", [0, 1, 2])
async def test_a_history_that_is_not_of_the_version_it_says_is_damaged_and_left_as_it_is(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / HISTORY
    await history(path)
    pragma(path, "user_version", version)
    before = bytes_of(tmp_path)[HISTORY]
    assert "restore a backup" in await refused(path, "damaged")
    assert bytes_of(tmp_path)[HISTORY] == before


@pytest.mark.req("T-5")
async def test_damage_inside_is_told_when_it_is_met_and_the_rest_stays_readable(tmp_path: Path) -> None:
    """Opening cannot look at every page; what is met later is damage in the same words, and changes nothing."""
    path = tmp_path / HISTORY
    await history(path)
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'node'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    whole = bytearray(path.read_bytes())
    whole[(root - 1) * size : root * size] = b"\xff" * size
    path.write_bytes(whole)
    before = bytes_of(tmp_path)
    async with opened(path, prefix="b") as store:
        for act in (lambda: store.branch("00000001"), lambda: ask(store, "00000001"), store.integrity):
            with pytest.raises(StoreUnavailable, match=r"is damaged; it was left as it is: restore a backup"):
                await act()
        assert (await store.session("00000001")).title == "question 0"
        assert await store.drafts.read("00000001") == ""
    assert bytes_of(tmp_path) == before


@pytest.mark.req("T-9")
async def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / HISTORY).mkdir()
    await refused(tmp_path / HISTORY, "unwritable")
    assert bytes_of(tmp_path) == {}


@pytest.mark.req("T-9")
@pytest.mark.parametrize("below", [HISTORY, f"deeper/{HISTORY}"])
async def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path, below: str) -> None:
    (tmp_path / "profile").write_bytes(b"a file")
    await refused(tmp_path / "profile" / below, "unwritable")
    assert bytes_of(tmp_path) == {"profile": b"a file"}


async def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "profile"
    folder.mkdir(mode=0o500)
    try:
        try:
            (folder / "trial").touch()
        except OSError:
            pass
        else:
            pytest.skip("this user may write anywhere")
        await refused(folder / HISTORY, "unwritable")
    finally:
        folder.chmod(0o700)


@pytest.mark.skipif(sys.platform != "linux", reason="a folder that nobody can write, not even root")
async def test_a_folder_that_is_writable_by_its_mode_only_is_refused() -> None:
    await refused(Path("/proc") / HISTORY, "unwritable")


@pytest.mark.req("T-6")
@pytest.mark.parametrize("steps", ["", "PRAGMA journal_mode = wal"])
async def test_a_first_start_that_was_killed_is_made_good(tmp_path: Path, steps: str) -> None:
    """It left an empty file, or an empty database that is not marked as ours yet."""
    path = tmp_path / HISTORY
    path.touch()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(steps)
    async with opened(path) as store:
        session_id, ids = await talk(store, 1)
        assert [node.id for node in (await store.branch(session_id)).nodes] == ids


@pytest.mark.req("T-6")
async def test_a_history_whose_log_was_not_written_back_is_whole(tmp_path: Path) -> None:
    """What a killed process leaves: file and log. Together they are the history, also after a move."""
    path = tmp_path / "a" / HISTORY
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert f"{HISTORY}-wal" in bytes_of(tmp_path / "b")
    async with opened(tmp_path / "b" / HISTORY) as store:
        assert [node.id for node in (await store.branch(session_id)).nodes] == ids


@pytest.mark.req("T-6")
async def test_while_another_program_holds_the_file_the_wait_ends_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bibgenie_desktop.store.database.BUSY_SECONDS", 0)
    path = tmp_path / HISTORY
    async with opened(path) as store:
        session_id, ids = await talk(store, 1)
        with closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match="in use by another program") as refusal:
                await ask(store, session_id)
            assert refusal.value.code == "busy"
            assert [node.id for node in (await store.branch(session_id)).nodes] == ids
            other.rollback()
        await ask(store, session_id)


@pytest.mark.req("T-6")
async def test_a_store_is_closed_once_all_is_written(tmp_path: Path) -> None:
    async with opened(tmp_path / HISTORY) as store:
        await talk(store, 1)
    assert list(bytes_of(tmp_path)) == [HISTORY]
