"""One worker process at a time: started when it is needed, and replaced when it was lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeAlias

from .port import DocumentProblem
from .problems import problem

START_LIMIT = 30.0
"""Seconds that a worker has to start."""

_log = logging.getLogger(__name__)

Message: TypeAlias = dict[str, Any]


class WorkerChannel(Protocol):
    """A started worker process and the JSON lines to and from it."""

    @property
    def alive(self) -> bool:
        """Whether the process is known to run."""
        ...

    @property
    def ending(self) -> str:
        """How the process ended, for the log."""
        ...

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send one message; one to a process that has ended is lost without an error."""
        ...

    async def receive(self) -> Message | None:
        """The next message; None when the process has ended or does not keep to the protocol."""
        ...

    def kill(self) -> None:
        """End the process at once."""
        ...

    async def close(self) -> None:
        """End the process, wait for it, and let go of all that belongs to it; may be called again."""
        ...


class SupervisedWorker:
    """The one worker process of whoever asks `ready` for it, one request at a time.

    `start` starts a worker; it is called when one is needed and none runs, raises OSError if that fails, and leaves no
    process when it is cancelled.
    """

    def __init__(self, start: Callable[[], Awaitable[WorkerChannel]]) -> None:
        self._start = start
        self._worker: WorkerChannel | None = None
        self._condemned: list[WorkerChannel] = []
        self._closed = False

    async def ready(self) -> WorkerChannel:
        """A worker that waits for a request. Raises DocumentProblem (no_worker)."""
        if self._worker is not None:
            if self._worker.alive:
                return self._worker
            self.condemn(self._worker)
        await self.bury()
        self.refuse_when_closed()
        try:
            worker = self._worker = await self._start()
        except OSError as error:
            _log.info("no document worker could be started: %s", error)
            raise problem("no_worker") from error
        ready = False
        try:
            async with asyncio.timeout(START_LIMIT):
                ready = await worker.receive() == {"ready": True} and not self._closed
        except TimeoutError:
            pass
        finally:
            if not ready:
                self.condemn(worker)
        if not ready:
            await self.bury()
            self.refuse_when_closed()
            _log.info("a document worker did not start: %s", worker.ending)
            raise problem("no_worker")
        return worker

    def is_current(self, worker: WorkerChannel) -> bool:
        """Whether `ready` would still give this worker, were it alive."""
        return worker is self._worker

    def condemn(self, worker: WorkerChannel) -> None:
        """Kill a worker; `bury` waits for its end."""
        if self._worker is worker:
            self._worker = None
            self._condemned.append(worker)
        worker.kill()

    async def bury(self) -> None:
        """Let go of all condemned workers."""
        while self._condemned:
            worker = self._condemned[-1]
            await worker.close()
            if worker in self._condemned:
                self._condemned.remove(worker)

    def refuse_when_closed(self) -> None:
        """Raise DocumentProblem (no_worker) after `close`."""
        if self._closed:
            raise DocumentProblem("no_worker", "The program is closing and reads no more documents.")

    async def close(self) -> None:
        """End the worker, and start no more."""
        self._closed = True
        await self.end()

    async def end(self) -> None:
        """End the worker, if one runs."""
        if self._worker is not None:
            self.condemn(self._worker)
        await self.bury()
