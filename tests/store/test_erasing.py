"""Of a deleted chat no byte is left: in the history, its log, its index, its copies (T-7)."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from bibgenie_desktop.store.database import StoreUnavailable
from tests.discipline.lengths import Loops
from tests.store.histories import ask, opened
from tests.store.traces import KEPT_BLOB, LAST_SHARED, SESSION, WORD, delete, rows, secret, told, traces
from tests.store.writer import ROOT

pytestmark = pytest.mark.req("T-7")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite"


async def pending(path: Path) -> int:
    async with opened(path) as store:
        return await store.database.read(
            lambda connection: connection.exec_driver_sql("SELECT count(*) FROM erasure").scalar_one()
        )


def backups(path: Path) -> list[str]:
    return sorted(each.name for each in (path.parent / "backups").iterdir())


async def test_not_a_byte_of_a_deleted_chat_is_left_in_any_file(path: Path) -> None:
    async with told(path) as history:
        before = traces(path.parent)
        copies = backups(path)
        assert before["sessions.sqlite"] + before["sessions.sqlite-wal"] > 60
        assert [f"backups/{name}" for name in copies] == [name for name in before if name.startswith("backups")]
        assert len(copies) == 3
        kept = await rows(history.store, history.fork, history.other)
        await delete(history.store, SESSION)
        assert traces(path.parent) == {}  # while the file is open, its log included
        assert await rows(history.store, history.fork, history.other) == kept
        assert await history.store.integrity() == []
    assert traces(path.parent) == {}
    assert backups(path) == copies  # and nothing beside them
    assert await pending(path) == 0


async def test_what_is_shared_with_other_chats_stays_readable_and_found(path: Path) -> None:
    async with told(path) as history:
        store = history.store
        await delete(store, SESSION)
        branch = await store.branch(history.fork)
        assert [node.text for node in branch.nodes] == ["question 0", "answer 0", "question 1", "answer 1"]
        assert branch.damage is None
        found = await store.database.read(
            lambda connection: (
                connection.exec_driver_sql(
                    "SELECT node_id FROM node_text JOIN node_fts ON node_fts.rowid = id WHERE node_fts MATCH 'answer'"
                )
                .scalars()
                .all()
            )
        )
        assert sorted(found) == ["00000003", LAST_SHARED]
        blobs = await store.database.read(
            lambda connection: connection.exec_driver_sql("SELECT id FROM blob").scalars().all()
        )
        assert blobs == [KEPT_BLOB]
        await ask(store, history.fork)


async def test_the_copies_stay_histories_that_can_be_restored(path: Path, tmp_path: Path) -> None:
    async with told(path) as history:
        await delete(history.store, SESSION)
    for name in backups(path):
        restored = tmp_path / name / "sessions.sqlite"
        restored.parent.mkdir()
        restored.write_bytes((path.parent / "backups" / name).read_bytes())
        async with opened(restored) as store:
            assert await store.integrity() == []
            titles = [row.session.title for row in await store.sessions()]
            assert titles == (["Other", "Peat"] if name == "mine.sqlite" else [])
        with closing(sqlite3.connect(restored)) as connection:
            assert connection.execute("SELECT count(*) FROM node WHERE id <= '00000005'").fetchone() == (4,)


async def test_when_the_last_chat_that_shares_them_goes_the_shared_messages_go_from_the_copies_too(path: Path) -> None:
    async with told(path) as history:
        await delete(history.store, SESSION)
        await delete(history.store, history.fork)
    for name in backups(path):
        with closing(sqlite3.connect(path.parent / "backups" / name)) as connection:
            assert connection.execute("SELECT count(*) FROM node WHERE id <= '00000005'").fetchone() == (0,)


async def test_a_copy_that_is_damaged_or_no_history_is_left_and_told(path: Path) -> None:
    async with told(path) as history:
        folder = path.parent / "backups"
        (folder / "broken.sqlite").write_bytes(b"no database " * 1_000)
        (folder / "notes.txt").write_text("notes")
        with closing(sqlite3.connect(folder / "others.sqlite")) as connection:
            connection.execute("CREATE TABLE node (id)")
        before = (folder / "others.sqlite").read_bytes()
        mark = await history.store.deletion.delete(SESSION)
        await history.store.deletion.purge(SESSION, mark=mark)
        [sentence] = await history.store.deletion.wipe()
        assert sentence.startswith(f"The backup {folder / 'broken.sqlite'} is damaged and was left as it is")
        assert (folder / "others.sqlite").read_bytes() == before
        assert (folder / "broken.sqlite").read_bytes() == b"no database " * 1_000
    assert traces(path.parent) == {}
    assert await pending(path) == 0


async def test_a_copy_that_is_in_use_is_wiped_later(path: Path) -> None:
    async with told(path) as history:
        copy = path.parent / "backups" / "mine.sqlite"
        with closing(sqlite3.connect(copy, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            mark = await history.store.deletion.delete(SESSION)
            await history.store.deletion.purge(SESSION, mark=mark)
            with pytest.raises(StoreUnavailable) as refusal:
                await history.store.deletion.wipe()
            assert refusal.value.code == "busy"
            other.execute("ROLLBACK")
        assert list(traces(path.parent)) == ["backups/mine.sqlite"]
        assert await history.store.deletion.wipe() == ()
        assert traces(path.parent) == {}


async def test_what_a_killed_program_left_of_a_copy_goes(path: Path) -> None:
    async with told(path) as history:
        (path.parent / "backups" / "sessions.unfinished").write_text(secret("unfinished"))
        await delete(history.store, SESSION)
        assert traces(path.parent) == {}


async def test_a_long_read_of_another_process_only_puts_off_the_wiping(path: Path) -> None:
    async with told(path) as history:
        store = history.store
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM node").fetchone()
            mark = await store.deletion.delete(SESSION)
            await store.deletion.purge(SESSION, mark=mark)
            with pytest.raises(StoreUnavailable) as refusal:
                await store.deletion.wipe()
            assert refusal.value.code == "busy"
            await ask(store, history.fork)  # nobody is held up
            reader.execute("ROLLBACK")
        assert await store.deletion.wipe() == ()
        assert traces(path.parent) == {}


async def test_a_wiping_that_is_cancelled_or_closed_is_done_by_the_next_program(path: Path) -> None:
    async with told(path) as history:
        mark = await history.store.deletion.delete(SESSION)
        await history.store.deletion.purge(SESSION, mark=mark)
        wiping = asyncio.create_task(history.store.deletion.wipe())
        await asyncio.sleep(0)
        wiping.cancel()
        await asyncio.wait([wiping])
        assert wiping.cancelled()
    assert traces(path.parent) != {}
    async with opened(path, prefix="n") as store:
        assert await store.integrity() == []
        assert await store.deletion.wipe() == ()
    assert traces(path.parent) == {}


async def test_maintenance_ends_when_the_file_is_closed(path: Path) -> None:
    """It would go on for ever otherwise."""
    async with opened(path) as store:
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def work(connection: sqlite3.Connection) -> None:
            loop.call_soon_threadsafe(begun.set)
            connection.execute(endless).fetchone()

        running = asyncio.create_task(store.database.maintain(work))
        await begun.wait()
    with pytest.raises(StoreUnavailable, match="is being closed"):
        await running


async def test_after_maintenance_that_failed_the_file_is_written_as_before(path: Path) -> None:
    async with opened(path) as store:
        with pytest.raises(StoreUnavailable):
            await store.database.maintain(lambda connection: connection.execute("no statement"))
        busy = await store.database.maintain(lambda connection: connection.execute("PRAGMA busy_timeout").fetchone())
        assert busy == (300,)
        assert (
            await store.database.write(
                lambda connection: connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
            )
            == 10_000
        )
        await ask(store)


def erase(path: Path, statement: int, largest_file: int = 0) -> tuple[int, str]:
    """A process that deletes SESSION and ends at its n-th statement; its exit code and output."""
    command = [sys.executable, "-m", "tests.store.eraser", str(path), SESSION, str(statement), str(largest_file)]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, env=environ, capture_output=True, encoding="utf-8", timeout=100)
    return ended.returncode, ended.stdout + ended.stderr


async def made(path: Path) -> tuple[str, str, str]:
    async with told(path) as history:
        return history.fork, history.other, await rows(history.store, history.fork, history.other)


async def finish(path: Path, fork: str, other: str, kept: str) -> None:
    """What the next start does; then all is gone that is to be gone, and the rest is as it was."""
    async with opened(path, prefix="n") as store:
        assert [row.session.id for row in await store.sessions()] == [other, fork]
        for session_id, mark in (await store.deletion.marked()).items():
            await store.deletion.purge(session_id, mark=mark)
        assert await store.deletion.wipe() == ()
        assert await rows(store, fork, other) == kept
        assert await store.integrity() == []
    assert traces(path.parent) == {}
    assert await pending(path) == 0


def test_what_a_kill_interrupts_is_finished_at_the_next_start(tmp_path: Path, loops: Loops) -> None:
    """The process is killed at one of its statements, those within VACUUM included."""
    base = tmp_path / "base"
    base.mkdir()
    history = asyncio.run(made(base / "sessions.sqlite"))

    def anew(step: int) -> Path:
        return shutil.copytree(base, tmp_path / str(step)) / "sessions.sqlite"

    whole = anew(0)
    code, output = erase(whole, 0)
    assert code == 0, output
    count = int(output)
    assert count > 100
    asyncio.run(finish(whole, *history))
    for step in {*random.Random(7).sample(range(1, count), loops(5, count - 1)), count}:
        path = anew(step)
        code, output = erase(path, step)
        assert code != 0, f"{step}: {output}"
        assert output == ""
        asyncio.run(finish(path, *history))


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files there")
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_disk_that_is_full_while_the_file_is_made_anew_leaves_all_sound(path: Path, share: float) -> None:
    """The system lets no file grow above a size, as where a quota is used up."""
    history = asyncio.run(made(path))
    code, output = erase(path, 0, int(path.stat().st_size * share))
    assert code == 0, output
    assert output.startswith(("refused full: The history", "refused busy: The backup")), output
    assert "Traceback" not in output
    asyncio.run(finish(path, *history))


def test_the_word_is_found_where_it_stands(tmp_path: Path) -> None:
    """What looks for it would find it, as it is written and as it is indexed."""
    (tmp_path / "a").write_text(f"x{WORD.upper()}y{WORD}")
    assert traces(tmp_path) == {"a": 2}
