"""Processes that are killed at any instant: every statement and any byte of every act, and at random (T-6)."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.discipline.lengths import Loops
from tests.store.histories import ask, older_history, opened
from tests.store.mortal import Mortals, Stage, mortals
from tests.store.situations import WHERE, prepare
from tests.store.whole import content, faults

pytestmark = [
    pytest.mark.req("T-6"),
    pytest.mark.skipif(sys.platform == "win32", reason="processes are not forked there"),
]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    path = tmp_path_factory.mktemp("prepared") / "sessions.sqlite"
    names = asyncio.run(prepare(path))
    assert faults(path) == []
    return path, names


@pytest.fixture(scope="module")
def server() -> Iterator[Mortals]:
    with mortals() as running:
        yield running


@pytest.mark.parametrize("act", WHERE)
def test_killed_before_any_of_its_statements_an_act_was_never_begun(
    server: Mortals, prepared: tuple[Path, dict[str, str]], tmp_path: Path, act: str, loops: Loops
) -> None:
    origin, names = prepared
    stage = Stage(server, origin, tmp_path, act, names[WHERE[act]])
    assert stage.whole.claim is not None
    assert stage.after != stage.before
    assert faults(stage.path) == []
    assert stage.whole.statements >= 3  # it begins, it does something, it is committed
    points = range(1, stage.whole.statements + 1)
    for point in sorted({*random.Random(act).sample(points, min(len(points), loops(5, 10_000))), points[-1]}):
        ended = stage.do(statement=point)
        assert (ended.signal, ended.is_done) == (signal.SIGKILL, False)
        assert faults(stage.path) == [], point
        assert content(stage.path) == stage.before, point


@pytest.mark.parametrize("act", WHERE)
def test_killed_within_a_write_an_act_is_done_or_not_done_and_what_was_acknowledged_is_there(
    server: Mortals, prepared: tuple[Path, dict[str, str]], tmp_path: Path, act: str, loops: Loops
) -> None:
    """Any byte of the log may be the last one, and any of the file, into which the log is written back at the end."""
    origin, names = prepared
    stage = Stage(server, origin, tmp_path, act, names[WHERE[act]])
    largest = max(stage.whole.log, stage.path.stat().st_size)
    chance = random.Random(act)
    killed = 0
    for room in (0, 31, 32, *(chance.randrange(largest) for _ in range(loops(4, 150)))):
        ended = stage.do(room=room)
        killed += ended.signal == signal.SIGXFSZ
        assert faults(stage.path) == [], room
        assert content(stage.path) in ([stage.after] if ended.is_done else [stage.before, stage.after]), room
    assert killed >= 3


@pytest.mark.req("T-7")
def test_wherever_a_wipe_is_killed_nothing_else_is_lost_and_the_next_one_completes_it(
    server: Mortals, prepared: tuple[Path, dict[str, str]], tmp_path: Path, loops: Loops
) -> None:
    """It is many transactions, and the file is written anew; what is to be wiped is known until it is."""
    stage = Stage(server, prepared[0], tmp_path / "here", "wipe", "")
    assert stage.before["erasure"] != [] == stage.after["erasure"]
    chance = random.Random(7)
    statements = chance.sample(range(1, stage.whole.statements + 1), min(stage.whole.statements, loops(4, 10_000)))
    rooms = [chance.randrange(stage.path.stat().st_size) for _ in range(loops(4, 150))]
    for order in [*((point, -1) for point in statements), *((0, room) for room in rooms)]:
        ended = stage.do(*order)
        assert ended.signal in (0, signal.SIGKILL, signal.SIGXFSZ)
        assert faults(stage.path) == [], order
        found = content(stage.path)
        assert found["erasure"] in ([stage.after["erasure"]] if ended.is_done else [stage.before["erasure"], []])
        for table in ("node", "session", "session_node", "node_text", "draft", "stream_journal", "operation"):
            assert found[table] == stage.before[table], order
        asyncio.run(_wipe(stage.path))
        assert content(stage.path)["erasure"] == []
        assert faults(stage.path) == []


async def _wipe(path: Path) -> None:
    async with opened(path, prefix="after") as store:
        await store.deletion.wipe()


@pytest.mark.req("T-9")
@pytest.mark.parametrize("version", [1, 2, 3])
def test_killed_before_any_of_its_statements_a_migration_was_never_begun(
    server: Mortals, tmp_path: Path, version: int, loops: Loops
) -> None:
    origin = older_history(tmp_path / "older.sqlite", version)
    stage = Stage(server, origin, tmp_path / "here", "open", "")
    assert stage.whole.statements > 10
    points = range(1, stage.whole.statements + 1)
    for point in sorted({*random.Random(version).sample(points, min(len(points), loops(10, 10_000))), points[-1]}):
        assert stage.do(statement=point).signal == signal.SIGKILL
        assert content(stage.path) == stage.before, point
        asyncio.run(_go_on(stage.path))
        assert faults_of_the_dump(stage.path) == []


@pytest.mark.req("T-9")
@pytest.mark.parametrize("version", [1, 2, 3])
def test_killed_within_a_write_a_migration_leaves_the_older_version_or_the_new_one(
    server: Mortals, tmp_path: Path, version: int, loops: Loops
) -> None:
    """The writes of the copy are among them."""
    origin = older_history(tmp_path / "older.sqlite", version)
    stage = Stage(server, origin, tmp_path / "here", "open", "")
    chance = random.Random(version)
    largest = max(stage.whole.log, stage.path.stat().st_size)
    for room in (0, 31, 32, *(chance.randrange(largest) for _ in range(loops(8, 300)))):
        ended = stage.do(room=room)
        assert content(stage.path) in ([stage.after] if ended.is_done else [stage.before, stage.after]), room
        asyncio.run(_go_on(stage.path))
        assert content(stage.path)["pragma_user_version"] == stage.after["pragma_user_version"]
        assert faults_of_the_dump(stage.path) == []


async def _go_on(path: Path) -> None:
    async with opened(path, prefix="after") as store:
        await ask(store, "00000001")


def faults_of_the_dump(path: Path) -> list[object]:
    """Without the one that is a fault of the dump itself: a message of a newer version, and sessions never used."""
    known = {("a message cannot be found", ("00000021",))}
    return [fault for fault in faults(path) if fault not in known]
