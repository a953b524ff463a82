"""Leases on sessions: one holder at a time, whoever asks and whenever (T-6)."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from bibgenie_desktop.store.database import Database, StoreUnavailable
from bibgenie_desktop.store.encoding import timestamp
from bibgenie_desktop.store.leases import EXPIRY, FORGOTTEN, LeaseStore
from tests.store.histories import START, opened, spoil

T = TypeVar("T")


class MovedClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> Any:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@asynccontextmanager
async def engines(
    path: Path, clock: MovedClock, *owners: str, has_ended: Callable[[str], bool] = lambda _: False
) -> AsyncIterator[list[LeaseStore]]:
    """The leases of several engines, each with a connection of its own."""
    async with opened(path):
        pass
    databases = [Database(path, what="The history", if_damaged="") for _ in owners]
    try:
        yield [
            LeaseStore(database, owner=owner, clock=clock, has_ended=has_ended)
            for database, owner in zip(databases, owners, strict=True)
        ]
    finally:
        for database in databases:
            await database.close()


def rows(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(
            "SELECT session_id, owner, kind, heartbeat_at, acquired_at FROM lease ORDER BY session_id"
        ).fetchall()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite"


@pytest.mark.req("T-6")
async def test_a_lease_is_held_by_one_and_says_by_whom_and_since_when(path: Path) -> None:
    clock = MovedClock()
    async with engines(path, clock, "a", "b") as (one, two):
        assert await one.acquire("s", "turn")
        clock.move(5)
        assert await one.acquire("s", "turn")
        assert not await two.acquire("s", "turn")
        assert await two.acquire("another", "turn")
        assert rows(path) == [
            ("another", "b", "turn", timestamp(clock.now), timestamp(clock.now)),
            ("s", "a", "turn", timestamp(clock.now), timestamp(START)),
        ]


@pytest.mark.req("T-6")
async def test_a_lease_can_be_had_again_once_it_is_released_and_by_its_holder_only(path: Path) -> None:
    async with engines(path, MovedClock(), "a", "b") as (one, two):
        await one.acquire("s", "turn")
        await two.release("s")
        assert not await two.acquire("s", "turn")
        await one.release("s")
        assert await two.acquire("s", "turn")
        await one.release("s")
        assert not await one.acquire("s", "turn")
        await two.release("s")
        await two.release("s")
    assert rows(path) == []


@pytest.mark.req("T-6")
async def test_a_lease_expires_without_heartbeats(path: Path) -> None:
    clock = MovedClock()
    async with engines(path, clock, "a", "b") as (one, two):
        await one.acquire("s", "turn")
        clock.move(29.999)
        assert not await two.acquire("s", "turn")
        await one.acquire("s", "turn")
        clock.move(29.999)
        assert not await two.acquire("s", "turn")
        clock.move(0.001)
        assert await two.acquire("s", "turn")
        assert not await one.acquire("s", "turn")


@pytest.mark.req("T-6")
async def test_the_lease_of_an_engine_that_has_ended_is_had_at_once(path: Path) -> None:
    ended = set[str]()
    async with engines(path, MovedClock(), "a", "b", has_ended=ended.__contains__) as (one, two):
        await one.acquire("s", "turn")
        assert not await two.acquire("s", "turn")
        ended.add("a")
        assert await two.acquire("s", "turn")


@pytest.mark.req("T-6")
async def test_a_clock_that_was_set_back_holds_no_chat_for_hours(path: Path) -> None:
    """A live holder's next heartbeat is of the new time; a dead one's never comes."""
    clock = MovedClock()
    async with engines(path, clock, "a", "b") as (one, two):
        await one.acquire("s", "turn")
        clock.move(-3_600)
        await one.acquire("s", "turn")
        assert not await two.acquire("s", "turn")
        clock.move(-3_600)
        assert await two.acquire("s", "turn")


@pytest.mark.req("T-6", "T-5")
@pytest.mark.parametrize("value", ["''", "'soon'", "7", "x'ff'", "'2026-11-30T18:50:48'"])
async def test_a_lease_whose_time_is_damaged_holds_nobody_up(path: Path, value: str) -> None:
    async with engines(path, MovedClock(), "a", "b") as (one, two):
        await one.acquire("s", "turn")
        spoil(path, f"UPDATE lease SET heartbeat_at = {value}")
        assert await two.acquire("s", "turn")


@pytest.mark.req("T-6")
async def test_of_two_that_ask_at_once_one_gets_it(path: Path) -> None:
    async with engines(path, MovedClock(), "a", "b") as (one, two):
        for number in range(30):
            got = await asyncio.gather(one.acquire(f"s{number}", "turn"), two.acquire(f"s{number}", "turn"))
            assert sorted(got) == [False, True]


@pytest.mark.req("T-6")
async def test_while_the_file_is_busy_a_lease_is_neither_had_nor_lost(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bibgenie_desktop.store.database.BUSY_SECONDS", 0)
    async with engines(path, MovedClock(), "a", "b") as (one, two):
        await one.acquire("s", "turn")
        with closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            for act in (one.acquire("s", "turn"), two.acquire("t", "turn"), one.release("s")):
                with pytest.raises(StoreUnavailable) as refusal:
                    await act
                assert refusal.value.code == "busy"
            other.rollback()
        assert [row[:2] for row in rows(path)] == [("s", "a")]


@pytest.mark.req("T-6")
async def test_leases_of_chats_that_never_came_to_be_do_not_stay_for_ever(path: Path) -> None:
    clock = MovedClock()
    async with engines(path, clock, "a", "b") as (one, two):
        for number in range(3):
            await one.acquire(f"never {number}", "turn")
        clock.move(1)
        await two.acquire("later", "turn")
        clock.move(86_399)
        await two.acquire("s", "turn")
        assert [row[0] for row in rows(path)] == ["later", "never 0", "never 1", "never 2", "s"]
        clock.move(0.001)
        await two.acquire("s", "turn")
        assert [row[0] for row in rows(path)] == ["later", "s"]


SESSIONS = st.sampled_from(["s", "t"])
SIDES = st.integers(0, 1)


class LeaseMachine(RuleBasedStateMachine):
    """Two engines over one file, which take, renew and give back leases, die and are started again, as time goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "sessions.sqlite"
        self.clock = MovedClock()
        self.ended = set[str]()
        self.running = engines(self.path, self.clock, "a", "b", has_ended=self.ended.__contains__)
        self.stores = self.run(self.running.__aenter__())
        self.owners = ["a", "b"]
        self.started = 2
        # session -> who took it last, and when it was renewed last
        self.held: dict[str, tuple[str, Any]] = {}

    def run(self, job: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(job)

    def teardown(self) -> None:
        self.run(self.running.__aexit__(None, None, None))
        self.runner.close()
        self.folder.cleanup()

    def is_live(self, session_id: str) -> bool:
        if session_id not in self.held:
            return False
        owner, renewed = self.held[session_id]
        return owner not in self.ended and self.clock.now - renewed < EXPIRY

    @rule(side=SIDES, session_id=SESSIONS)
    def acquire(self, side: int, session_id: str) -> None:
        owner = self.owners[side]
        free = not self.is_live(session_id) or self.held[session_id][0] == owner
        assert self.run(self.stores[side].acquire(session_id, "turn")) == free
        if free:
            oldest = self.clock.now - FORGOTTEN
            self.held = {each: held for each, held in self.held.items() if held[1] >= oldest}
            self.held[session_id] = (owner, self.clock.now)

    @rule(side=SIDES, session_id=SESSIONS)
    def release(self, side: int, session_id: str) -> None:
        self.run(self.stores[side].release(session_id))
        if self.held.get(session_id, ("",))[0] == self.owners[side]:
            del self.held[session_id]

    @rule(seconds=st.sampled_from([0.001, 1, 5, 15, 29.999, 30, 3_600, 86_399.999, 86_400]))
    def time_goes_on(self, seconds: float) -> None:
        self.clock.move(seconds)

    @rule(side=SIDES)
    def die_and_start_again(self, side: int) -> None:
        self.ended.add(self.owners[side])
        self.started += 1
        self.owners[side] = f"engine {self.started}"
        store = self.stores[side]
        self.stores[side] = LeaseStore(
            store._database, owner=self.owners[side], clock=self.clock, has_ended=self.ended.__contains__
        )

    @invariant()
    def the_file_names_the_one_holder_of_each(self) -> None:
        assert {row[0]: (row[1], row[3]) for row in rows(self.path)} == {
            session_id: (owner, timestamp(renewed)) for session_id, (owner, renewed) in self.held.items()
        }


@pytest.mark.req("T-6")
def test_there_is_never_a_second_holder() -> None:
    run_state_machine_as_test(LeaseMachine, settings=settings(max_examples=30, stateful_step_count=20))
