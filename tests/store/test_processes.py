"""Several processes on one history, and processes that are killed: nothing acknowledged is lost (T-6)."""

from __future__ import annotations

import asyncio
import random
from contextlib import ExitStack
from pathlib import Path

import pytest

from bibgenie_desktop.sessions.branch import Path as BranchPath
from bibgenie_desktop.store.changes import ForeignChanges
from tests.discipline.lengths import Loops
from tests.store.acts import Claim
from tests.store.histories import ask, opened, talk
from tests.store.promises import Promises
from tests.store.whole import faults, nodes_of
from tests.store.writer import writing


async def check(path: Path, acknowledged: set[str]) -> None:
    """Everything that was acknowledged is there, and what is there is whole."""
    async with opened(path, prefix="check") as store:
        assert await store.integrity() == []
        assert {node.id for node in await store.nodes(sorted(acknowledged))} == acknowledged
        for row in await store.sessions():
            branch = await store.branch(row.session.id)
            assert branch.damage is None
            assert row.session.branch_revision == len(branch.nodes)
            assert branch.nodes[-1].id == row.session.leaf_id


async def question(path: Path, session_id: str = "", *, prefix: str = "") -> tuple[str, str]:
    """Append a question; its session's id and its own."""
    async with opened(path, prefix=prefix) as store:
        return await ask(store, session_id)


async def branch_of(path: Path, session_id: str) -> BranchPath:
    async with opened(path) as store:
        return await store.branch(session_id)


async def sessions_of(path: Path) -> list[str]:
    async with opened(path) as store:
        return [row.session.id for row in await store.sessions()]


@pytest.mark.req("T-6")
def test_two_processes_that_write_to_one_session_lose_nothing(tmp_path: Path, loops: Loops) -> None:
    path, count = tmp_path / "sessions.sqlite", loops(200, 1_000)
    session_id, first = asyncio.run(question(path))
    options = ("--session", session_id, "--count", str(count))
    with writing(path, *options, "--prefix", "a") as one, writing(path, *options, "--prefix", "b") as two:
        stored = [*one.lines(), *two.lines()]
        assert (one.process.wait(), two.process.wait()) == (0, 0)
    ids = set(stored) - {"ready"}
    assert len(ids) == 2 * count
    asyncio.run(check(path, ids | {first}))
    branch = asyncio.run(branch_of(path, session_id))
    # Answers whose branch the other process had moved on hang beside it; every question is on it.
    assert {node.id[0] for node in branch.nodes[1:]} == {"a", "b"}
    assert sum(node.role == "user" for node in branch.nodes) == count + 1


@pytest.mark.req("T-6")
def test_processes_that_make_a_history_at_the_same_time_all_use_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "sessions.sqlite"
    with ExitStack() as stack:
        writers = [stack.enter_context(writing(path, "--prefix", prefix, "--count", "4")) for prefix in "abcd"]
        stored = {line for writer in writers for line in writer.lines()} - {"ready"}
        assert [writer.process.wait() for writer in writers] == [0] * 4
    assert len(stored) == 16
    asyncio.run(check(path, stored))
    assert len(asyncio.run(sessions_of(path))) == 4


@pytest.mark.req("T-6")
def test_a_killed_process_loses_nothing_that_it_acknowledged(tmp_path: Path, loops: Loops) -> None:
    """It is killed while it writes on, behind a number of acknowledged messages; then another one goes on."""
    path = tmp_path / "sessions.sqlite"
    chance = random.Random(20261130)
    everything: set[str] = set()
    session_id = ""
    for round_ in range(loops(3, 100)):
        acknowledged: set[str] = set()
        with writing(path, "--prefix", f"r{round_}-", "--session", session_id) as writer:
            assert writer.line() == "ready"
            for _ in range(chance.randrange(1, 40)):
                acknowledged.add(writer.line())
            writer.process.kill()
            acknowledged.update(writer.lines())  # what it had told before the kill reached it
        assert "" not in acknowledged
        asyncio.run(check(path, acknowledged))
        session_id = asyncio.run(sessions_of(path))[0]
        everything |= acknowledged | {asyncio.run(question(path, session_id, prefix=f"after{round_}-"))[1]}
    asyncio.run(check(path, everything))


@pytest.mark.req("T-6", "T-1", "T-2", "T-3")
def test_a_process_that_is_killed_in_the_midst_of_anything_breaks_no_promise(tmp_path: Path, loops: Loops) -> None:
    """Questions, answers, retries, edits, forks, switches, drafts and all else, in any order; then another goes on."""
    path = tmp_path / "sessions.sqlite"
    chance = random.Random(20261201)
    promises = Promises()
    kills = loops(6, 300)
    for round_ in range(kills):
        with writing(path, "--prefix", f"r{round_}-", "--acts", str(round_), "--size", "2000") as writer:
            told = [writer.line() for _ in range(chance.randrange(2, 120))]
            writer.process.kill()
            promises.hear([*told, *writer.lines()])
        asyncio.run(read_only_open(path))
        assert faults(path) == []
        promises.check(path)
    assert promises.acts > 10 * kills


async def read_only_open(path: Path) -> None:
    """What a start finds: the log is written back, and the chats that were used last can be loaded."""
    async with opened(path, prefix="none") as store:
        for row in (await store.sessions())[:20]:
            assert (await store.branch(row.session.id)).damage is None
            await store.tree.versions(row.session.id)


@pytest.mark.req("T-6", "T-2", "T-3")
async def test_four_processes_that_do_anything_in_the_same_chats_lose_nothing(tmp_path: Path, loops: Loops) -> None:
    """Each revision of each session is of one commit, and whoever looks on sees every session that was changed."""
    path, count = tmp_path / "sessions.sqlite", loops(60, 1_200)
    async with opened(path, prefix="first") as store:
        for _ in range(3):
            await ask(store)
        foreign = ForeignChanges(store.database)
        await foreign.look()
        before = {row.session.id: row.session.branch_revision for row in await store.sessions()}
        seen = set[str]()
        with ExitStack() as stack:
            options = [("--prefix", name, "--acts", str(number)) for number, name in enumerate("abcd")]
            writers = [stack.enter_context(writing(path, "--count", str(count), *each)) for each in options]
            reading = [asyncio.create_task(asyncio.to_thread(writer.lines)) for writer in writers]
            unfinished: set[asyncio.Task[list[str]]] = set(reading)
            while unfinished:
                _, unfinished = await asyncio.wait(unfinished, timeout=0.05)
                seen.update(await foreign.look())
            assert [writer.process.wait() for writer in writers] == [0] * 4
        lines = [line for task in reading for line in task.result()]
        assert [line for line in lines if line[0] not in "?!r" or line.startswith("refused")] == []
        claims = [Claim.from_line(line[2:]) for line in lines if line.startswith("!")]
        assert len(claims) > 2 * count
        after = {row.session.id: row.session.branch_revision for row in await store.sessions()}
    assert faults(path) == []
    stored = nodes_of(path)
    for claim in claims:
        assert claim.session not in after or set(claim.added) <= stored.get(claim.session, set())
    moves = [(claim.session, claim.revision) for claim in claims if claim.revision is not None]
    expected = {(name, number) for name in after for number in range(before.get(name, 0) + 1, after[name] + 1)}
    assert expected <= set(moves)
    own = [
        (claim.session, claim.revision) for claim in claims if claim.act in ("append_user", "edit", "switch", "fork")
    ]
    assert len(set(own)) == len(own)
    assert {name for name, _ in expected} <= seen


@pytest.mark.req("C-9", "T-6")
def test_of_two_processes_that_compact_one_chat_one_is_applied_and_one_is_stale(tmp_path: Path, loops: Loops) -> None:
    path = tmp_path / "sessions.sqlite"
    for round_ in range(loops(2, 40)):
        session_id, ids = asyncio.run(talked(path, f"t{round_}"))
        with ExitStack() as stack:
            options = [(f"{name}{round_}", kept) for name, kept in (("a", ids[2]), ("b", ids[4]))]
            writers = [
                stack.enter_context(writing(path, "--session", session_id, "--prefix", prefix, "--compact", kept))
                for prefix, kept in options
            ]
            assert [(writer.line(), writer.line()) for writer in writers] == [("ready", "prepared")] * 2
            for writer in writers:
                writer.tell()
            assert sorted(line for writer in writers for line in writer.lines()) == ["applied", "stale"]
        branch = asyncio.run(branch_of(path, session_id))
        assert branch.damage is None
        assert [node.id for node in branch.nodes[:-1]] == ids
        assert len(branch.checkpoints) == 1
        assert faults(path) == []


async def talked(path: Path, prefix: str) -> tuple[str, list[str]]:
    async with opened(path, prefix=prefix) as store:
        return await talk(store, 3)


@pytest.mark.req("T-6", "T-9")
def test_a_first_start_that_is_killed_spoils_nothing(tmp_path: Path, loops: Loops) -> None:
    """Wherever the making of the file stood, the next start makes it good."""
    for round_ in range(loops(6, 100)):
        path = tmp_path / str(round_) / "sessions.sqlite"
        with writing(path) as writer:
            assert writer.line() == "ready"
            # Some rounds end while the file is made, some at the first stored message.
            acknowledged = {writer.line()} if round_ % 3 == 0 else set()
            writer.process.kill()
            acknowledged.update(writer.lines())
        asyncio.run(check(path, acknowledged))
