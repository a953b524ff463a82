"""How coroutine tests are run."""

from __future__ import annotations

import asyncio

import pytest

from tests.discipline.coroutines import TasksLeft, run


def test_a_coroutine_that_never_ends_is_ended_by_its_deadline() -> None:
    async def waits() -> None:
        await asyncio.Event().wait()

    with pytest.raises(AssertionError, match=r"did not end within 0\.01 s"):
        run(waits, deadline=0.01)()


def test_a_timeout_of_the_test_itself_stays_what_it_is() -> None:
    async def times_out() -> None:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        run(times_out)()


def test_the_tasks_left_are_named_with_their_place() -> None:
    async def waits() -> None:
        await asyncio.Event().wait()

    async def leaves_two() -> list[asyncio.Task[None]]:
        tasks = [asyncio.create_task(waits(), name=name) for name in ("one", "two")]
        await asyncio.sleep(0)
        return tasks

    with pytest.raises(TasksLeft, match=rf"(?s)  one: .*{__name__.rpartition('.')[2]}\.py:\d+\n  two: "):
        run(leaves_two)()


async def test_a_coroutine_runs_in_debug_mode() -> None:
    assert asyncio.get_running_loop().get_debug()
