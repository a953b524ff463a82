"""Runs `async def test_…` with asyncio.run, also under hypothesis, and fails a test that leaves a task behind."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

# No test needs as long; one that hangs is ended here with its stack, instead of holding up the whole run.
DEADLINE_SECONDS = 120.0


class TasksLeft(AssertionError):
    """A test returned while tasks that it had started were still running."""


async def _supervised(test: Awaitable[object], deadline: float | None) -> None:
    loop = asyncio.get_running_loop()
    loop.slow_callback_duration = float("inf")  # a busy machine is no fault of the test
    try:
        async with asyncio.timeout(deadline) as limit:
            await test
    except TimeoutError as fault:
        if limit.expired():
            raise AssertionError(f"the test did not end within {deadline} s") from fault
        raise
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        raise TasksLeft("the test left tasks running:\n" + "\n".join(sorted(_describe(task) for task in left)))


def _describe(task: asyncio.Task[Any]) -> str:
    stack = task.get_stack(limit=1)
    where = f" at {stack[0].f_code.co_filename}:{stack[0].f_lineno}" if stack else ""
    return f"  {task.get_name()}: {task.get_coro()!r}{where}"


def run(
    test: Callable[..., Coroutine[Any, Any, object]], deadline: float | None = DEADLINE_SECONDS
) -> Callable[..., None]:
    """Returns a plain function that runs a coroutine function to its end in a loop of its own.

    Raises what the coroutine raises, `TasksLeft`, and AssertionError after `deadline` seconds (none: no limit).
    """

    @functools.wraps(test)
    def plain(*args: Any, **kwargs: Any) -> None:
        asyncio.run(_supervised(test(*args, **kwargs), deadline), debug=True)

    return plain


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    """Puts `run` around a coroutine test for its call."""
    deadline = None if pyfuncitem.get_closest_marker("long") else DEADLINE_SECONDS
    given = getattr(pyfuncitem.obj, "hypothesis", None)
    if given is not None and inspect.iscoroutinefunction(given.inner_test):
        given.inner_test = run(given.inner_test, deadline)
    elif inspect.iscoroutinefunction(pyfuncitem.obj):
        pyfuncitem.obj = run(pyfuncitem.obj, deadline)
    return (yield)
