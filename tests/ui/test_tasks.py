"""Tasks of the window are kept, named, owned, and their errors are logged."""

from __future__ import annotations

import asyncio
import gc

import pytest

from bibgenie_desktop.ui.tasks import TaskRegistry


async def test_a_waiting_task_that_nobody_else_holds_survives_the_garbage_collector() -> None:
    tasks = TaskRegistry()
    finished = asyncio.Event()

    async def wait() -> None:
        # Nothing but the task itself knows this future.
        await asyncio.get_running_loop().create_future()

    async def work() -> None:
        await asyncio.sleep(0)
        finished.set()

    tasks.start(wait(), name="wait", owner=tasks)
    tasks.start(work(), name="work", owner=tasks)
    await asyncio.sleep(0)
    gc.collect()
    await finished.wait()
    assert len(tasks) >= 1
    await tasks.close()
    assert len(tasks) == 0


async def test_the_tasks_of_one_owner_are_cancelled_and_no_others() -> None:
    tasks = TaskRegistry()
    mine, yours = object(), object()
    event = asyncio.Event()
    first = tasks.start(event.wait(), name="first", owner=mine)
    second = tasks.start(event.wait(), name="second", owner=yours)
    tasks.cancel(mine)
    await asyncio.wait([first])
    assert first.cancelled()
    assert not second.done()
    event.set()
    await second
    assert len(tasks) == 0


@pytest.mark.expect_log("ERROR bibgenie_desktop.ui.tasks: the task 'count' failed")
async def test_an_error_is_logged_under_the_tasks_name() -> None:
    tasks = TaskRegistry()

    async def fail() -> None:
        raise ZeroDivisionError

    task = tasks.start(fail(), name="count", owner=tasks)
    await asyncio.wait([task])
    await asyncio.sleep(0)
    assert len(tasks) == 0
