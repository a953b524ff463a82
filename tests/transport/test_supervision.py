"""An engine that dies is started again, but not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from bibgenie_desktop.protocol.commands import ListSessions
from bibgenie_desktop.protocol.events import Event, Welcome
from bibgenie_desktop.transport.supervision import MOST_RESTARTS, SETTLED_SECONDS, EngineEnd, EngineSupervisor
from tests.transport.engines import DYING, ECHOING, REFUSING, STILLBORN

pytestmark = pytest.mark.req("T-6")
ENDED = pytest.mark.expect_log("ERROR bibgenie_desktop.transport.supervision: the engine ended: exit code")


class Watch:
    """A supervisor's events and ends; its clock stands still unless it is moved."""

    def __init__(self, argv: list[str]) -> None:
        self.events: list[Event] = []
        self.ends: list[EngineEnd] = []
        self.time = 0.0
        self.on_event: Callable[[], None] = lambda: None
        self.supervisor = EngineSupervisor(argv, take=self._take, ended=self.ends.append, monotonic=lambda: self.time)

    def _take(self, event: Event) -> None:
        self.events.append(event)
        self.on_event()


@ENDED
@pytest.mark.parametrize("argv", [DYING, STILLBORN], ids=["dying", "stillborn"])
async def test_an_engine_that_dies_is_started_again_three_times_in_a_row_at_most(argv: list[str]) -> None:
    watch = Watch(argv)
    await watch.supervisor.run()
    assert [end.restarting for end in watch.ends] == [True] * MOST_RESTARTS + [False]
    assert MOST_RESTARTS == 3
    assert watch.supervisor.pid is None


@ENDED
async def test_an_engine_that_answered_and_lived_a_while_counts_as_a_success() -> None:
    watch = Watch(DYING)

    def live() -> None:
        if len(watch.events) <= 5:
            watch.time += SETTLED_SECONDS

    watch.on_event = live
    await watch.supervisor.run()
    assert [end.restarting for end in watch.ends] == [True] * (4 + MOST_RESTARTS) + [False]


@ENDED
async def test_it_can_be_run_again_after_it_gave_up() -> None:
    watch = Watch(STILLBORN)
    await watch.supervisor.run()
    await watch.supervisor.run()
    assert len(watch.ends) == 2 * (MOST_RESTARTS + 1)


@ENDED
async def test_an_engine_that_refuses_is_not_started_again() -> None:
    watch = Watch(REFUSING)
    await watch.supervisor.run()
    assert watch.ends == [EngineEnd("The profile cannot be written: choose another.", restarting=False)]


@pytest.mark.expect_log("ERROR bibgenie_desktop.transport.supervision: the engine cannot be started")
async def test_an_engine_that_is_not_there_is_told(tmp_path: Path) -> None:
    watch = Watch([str(tmp_path / "engine")])
    await watch.supervisor.run()
    [end] = watch.ends
    assert end.sentence.startswith("The engine cannot be started (")
    assert not end.restarting


async def test_closing_ends_the_engine_and_is_no_failure() -> None:
    watch = Watch(ECHOING)
    welcomed = asyncio.Event()
    watch.on_event = welcomed.set
    running = asyncio.create_task(watch.supervisor.run())
    await welcomed.wait()
    assert isinstance(watch.events[0], Welcome)
    watch.supervisor.send(ListSessions(5))
    assert watch.supervisor.pid is not None
    await watch.supervisor.close()
    await running
    assert watch.ends == []
    # Nobody is there to hear it.
    watch.supervisor.send(ListSessions(6))


async def test_closing_while_the_engine_is_being_started_leaves_none_behind() -> None:
    watch = Watch(ECHOING)
    running = asyncio.create_task(watch.supervisor.run())
    await asyncio.sleep(0)
    await watch.supervisor.close()
    assert running.done() or watch.supervisor.pid is None
    await running
    assert watch.ends == []


async def test_a_supervisor_that_never_ran_closes_too() -> None:
    watch = Watch(ECHOING)
    await watch.supervisor.close()
    await watch.supervisor.run()
    assert watch.events == []
