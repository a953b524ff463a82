"""A disk that is full or fails: one sentence, and the history stays as it was, readable and whole (T-6)."""

from __future__ import annotations

import asyncio
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.store.database import Database, StoreUnavailable
from bibgenie_desktop.store.sessions import SessionStore
from tests.discipline.lengths import Loops
from tests.store.histories import ask, counted_ids, opened, talk, ticking
from tests.store.mortal import Mortals, Stage, mortals
from tests.store.situations import WHERE, prepare
from tests.store.whole import content, faults
from tests.store.writer import writing


@pytest.mark.req("T-6")
async def test_a_full_disk_refuses_a_change_and_takes_the_next_that_fits(tmp_path: Path) -> None:
    """SQLite's own limit on pages stands for the disk: it fails in the same way."""
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
    database = Database(path, what="The history", if_damaged="")
    try:
        await database.write(lambda connection: connection.exec_driver_sql("PRAGMA max_page_count = 60").scalar())
        store = SessionStore(database, clock=ticking(), new_id=counted_ids("b"))
        await store.drafts.save(session_id, "kept")
        before = await store.session(session_id)
        for act in (
            lambda: ask(store, session_id, "x" * 400_000),
            lambda: store.drafts.save(session_id, "x" * 400_000),
        ):
            with pytest.raises(StoreUnavailable) as refusal:
                await act()
            assert refusal.value.code == "full"
            assert str(refusal.value) == (
                f"The history ({path}) is unchanged, for the disk is full: free some space and try again."
            )
        assert await store.session(session_id) == before
        assert await store.drafts.read(session_id) == "kept"
        assert [node.id for node in (await store.branch(session_id)).nodes] == ids
        assert await store.integrity() == []
        await ask(store, session_id, "a short one")
    finally:
        await database.close()


@pytest.mark.req("T-6")
@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files there")
@pytest.mark.parametrize("act", WHERE)
def test_no_act_is_half_done_where_a_write_fails_and_each_can_be_done_once_there_is_room(
    server: Mortals, prepared: tuple[Path, dict[str, str]], tmp_path: Path, act: str, loops: Loops
) -> None:
    """The write that fails may be any; the same process goes on."""
    origin, names = prepared
    stage = Stage(server, origin, tmp_path, act, names[WHERE[act]])
    chance = random.Random(act)
    refused = 0
    for room in (0, 31, *(chance.randrange(stage.whole.log) for _ in range(loops(3, 100)))):
        ended = stage.do(room=room, is_spared=True)
        assert (ended.signal, ended.is_done) == (0, True)
        if ended.refusal:
            refused += 1
            assert ended.refusal.startswith(f"full: The history ({stage.path}) is unchanged, for the disk ")
        assert faults(stage.path) == [], room
        assert same(content(stage.path), stage.after), room
    assert refused >= 3


def same(one: dict[str, list[Any]], other: dict[str, list[Any]]) -> bool:
    """Whether two histories hold the same, but for ids and times: what was refused had taken some."""
    return {name: len(rows) for name, rows in one.items()} == {name: len(rows) for name, rows in other.items()}


@pytest.mark.req("T-6")
@pytest.mark.skipif(sys.platform != "linux", reason="small disks are made otherwise there")
def test_on_a_disk_that_is_really_full_nothing_acknowledged_is_lost(small_disk: Path) -> None:
    path = small_disk / "sessions.sqlite"
    session_id, ids = asyncio.run(begin(path))
    with writing(path, "--session", session_id, "--prefix", "w", "--size", "2000") as writer:
        ready, *stored, refusal, readable = writer.lines()
        assert writer.process.wait() == 0
    assert ready == "ready"
    assert len(stored) > 10
    assert refusal.startswith(f"refused full: The history ({path}) is unchanged, for the disk ")
    assert readable == f"still readable: {len(ids) + len(stored)} None"
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    asyncio.run(check_and_go_on(path, session_id, [*ids, *stored]))
    assert faults(path) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes, where this user may make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("there is no mount command")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True)
    if made.returncode:
        pytest.skip("this user may not make a disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    path = tmp_path_factory.mktemp("prepared") / "sessions.sqlite"
    return path, asyncio.run(prepare(path))


@pytest.fixture(scope="module")
def server() -> Iterator[Mortals]:
    with mortals() as running:
        yield running


@pytest.mark.req("T-6")
@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files there")
def test_a_quota_is_told_in_one_sentence_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    """The system refuses to let the file grow: SQLite reports a failing disk, which is no damage."""
    path = tmp_path / "sessions.sqlite"
    session_id, ids = asyncio.run(begin(path))
    limit = str(path.stat().st_size + 600_000)
    with writing(path, "--session", session_id, "--prefix", "w", "--largest-file", limit) as writer:
        ready, *stored, refusal, readable = writer.lines()
        assert writer.process.wait() == 0
    assert ready == "ready"
    assert len(stored) > 10
    assert refusal == (
        f"refused full: The history ({path}) is unchanged, for the disk refused to read or write it: "
        "check the disk and its free space."
    )
    assert readable == f"still readable: {len(ids) + len(stored)} None"
    asyncio.run(check_and_go_on(path, session_id, [*ids, *stored]))


async def begin(path: Path) -> tuple[str, list[str]]:
    async with opened(path) as store:
        return await talk(store, 2)


async def check_and_go_on(path: Path, session_id: str, ids: list[str]) -> None:
    async with opened(path, prefix="c") as store:
        branch = await store.branch(session_id)
        assert [node.id for node in branch.nodes] == ids
        assert branch.damage is None
        assert await store.integrity() == []
        await ask(store, session_id)
