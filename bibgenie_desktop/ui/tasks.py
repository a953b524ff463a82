"""Coroutines of the window: each is a task with a name and an owner, kept until it ends, its errors logged."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

_log = logging.getLogger(__name__)


class TaskRegistry:
    """Keeps the window's tasks. The event loop alone holds a task too loosely: a waiting one could be collected."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[Any], object] = {}

    def start(self, coro: Coroutine[Any, Any, object], *, name: str, owner: object) -> asyncio.Task[Any]:
        """Run a coroutine as a task of `owner`. Needs a running event loop. An error of the task is logged."""
        task = asyncio.get_running_loop().create_task(coro, name=name)
        self._tasks[task] = owner
        task.add_done_callback(self._ended)
        return task

    def cancel(self, owner: object) -> None:
        """Cancel the tasks of one owner."""
        for task, its_owner in list(self._tasks.items()):
            if its_owner is owner:
                task.cancel()

    async def close(self) -> None:
        """Cancel all tasks and wait for their ends."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def __len__(self) -> int:
        return len(self._tasks)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        del self._tasks[task]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("the task %r failed", task.get_name(), exc_info=error)
