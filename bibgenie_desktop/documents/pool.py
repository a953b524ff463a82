"""Supervision of the worker process that reads documents (Z-4, Z-5).

Knows no PyMuPDF and no process: the composition root passes in how a worker is started.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, Protocol, TypeAlias

from ..sessions.library import PageText
from .port import DocumentInfo, DocumentProblem, QuoteMatch
from .problems import problem, problem_named

PATIENCE = 60.0
"""Seconds without a page after which a worker counts as stalled."""
START_LIMIT = 30.0
"""Seconds that a worker has to start."""
GRACE = 2.0
"""Seconds."""
PAGES_AHEAD = 8
"""Pages that a worker may read before the first of them was taken: it never waits for us, nor runs far in a pause."""
STRIKES = 2
"""Crashes and stalls after which a file is quarantined."""

_log = logging.getLogger(__name__)

Message: TypeAlias = dict[str, Any]
Identity: TypeAlias = tuple[str, int, int]


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


class DocumentWorkers:
    """Reads documents in one worker process, one document at a time, in the order of asking.

    `start` starts a worker; it is called when there is something to read and none runs, raises OSError if that fails,
    and leaves no process when it is cancelled. A worker that brings no page within `patience` seconds, or dies, is
    replaced; a file (path, size, time of change) to which that happened `STRIKES` times is quarantined until it
    changes. `grace` is what a worker gets in seconds to end the page it is at when its work is no longer wanted,
    before it is killed.

    Background and foreground work each need an instance of their own: a long document or a pause holds up all that is
    asked of the same one.
    """

    def __init__(
        self, start: Callable[[], Awaitable[WorkerChannel]], *, patience: float = PATIENCE, grace: float = GRACE
    ) -> None:
        self._start = start
        self._patience = patience
        self._grace = grace
        self._turn = asyncio.Lock()
        self._going = asyncio.Event()
        self._going.set()
        self._worker: WorkerChannel | None = None
        self._condemned: list[WorkerChannel] = []
        self._strikes: dict[Identity, int] = {}
        self._closed = False

    async def read(
        self, path: str, *, first: int = 0, last: int | None = None
    ) -> AsyncGenerator[DocumentInfo | PageText, None]:
        """See DocumentReader. Raises ValueError for a negative `first`."""
        if first < 0:
            raise ValueError(f"pages count from 0, not from {first}")
        request = {"op": "read", "path": path, "first": first, "last": last}
        async with aclosing(self._answers(request)) as answers:
            async for answer in answers:
                if "page" in answer:
                    page = answer["page"]
                    anchors = tuple((offset, cfi) for offset, cfi in page["anchors"])
                    yield PageText(page["index"], page["label"], page["text"], page["href"], anchors)
                else:
                    yield DocumentInfo(**answer["info"])

    async def find_quote(
        self, path: str, quote: str, *, page_index: int | None = None, limit: int = 5
    ) -> tuple[QuoteMatch, ...]:
        """See DocumentReader. Raises ValueError for a negative `page_index`."""
        if page_index is not None and page_index < 0:
            raise ValueError(f"pages count from 0, not from {page_index}")
        request = {"op": "find", "path": path, "quote": quote, "limit": limit}
        request |= {"first": page_index or 0, "last": page_index}
        found: list[QuoteMatch] = []
        async with aclosing(self._answers(request)) as answers:
            async for answer in answers:
                for match in answer.get("matches", ()):
                    rects = tuple((x0, y0, x1, y1) for x0, y0, x1, y1 in match.pop("rects"))
                    found.append(QuoteMatch(rects=rects, **match))
        return tuple(found)

    def pause(self) -> None:
        """See DocumentReader. At most `PAGES_AHEAD` pages are finished. No time limit runs in a pause."""
        self._going.clear()

    def resume(self) -> None:
        """See DocumentReader."""
        self._going.set()

    async def close(self) -> None:
        """End the worker; whoever still reads or waits gets a DocumentProblem."""
        self._closed = True
        self._going.set()
        if self._worker is not None:
            self._condemn(self._worker)
        await self._bury()

    async def _answers(self, request: Message) -> AsyncGenerator[Message, None]:
        """The worker's messages to one request, but for the last. Raises DocumentProblem."""
        async with self._turn:
            await self._going.wait()
            file = await asyncio.to_thread(_identity, request["path"])
            self._refuse_when_closed()
            if file is not None and self._strikes.get(file, 0) >= STRIKES:
                raise problem("quarantined")
            worker = await self._ready_worker()
            over = False
            try:
                await worker.send(request | {"pages": PAGES_AHEAD, "patience": self._patience})
                taken = 0
                while True:
                    await self._going.wait()
                    message = await self._next(worker, file)
                    if "done" in message or "problem" in message:
                        over = True
                        break
                    yield message
                    if "info" not in message:
                        taken += 1
                        if taken == PAGES_AHEAD // 2:
                            await worker.send({"op": "more", "pages": taken})
                            taken = 0
            finally:
                if not over and worker is self._worker:
                    await self._settle(worker)
            if "problem" in message:
                raise problem_named(message["problem"])

    async def _next(self, worker: WorkerChannel, file: Identity | None) -> Message:
        try:
            async with asyncio.timeout(self._patience):
                message = await worker.receive()
        except TimeoutError:
            await self._fail(worker, file)
            raise problem("timeout") from None
        if message is None:
            self._refuse_when_closed()
            await self._fail(worker, file)
            raise problem("crashed")
        return message

    async def _ready_worker(self) -> WorkerChannel:
        if self._worker is not None:
            if self._worker.alive:
                return self._worker
            self._condemn(self._worker)
        await self._bury()
        self._refuse_when_closed()
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
                self._condemn(worker)
        if not ready:
            await self._bury()
            self._refuse_when_closed()
            _log.info("a document worker did not start: %s", worker.ending)
            raise problem("no_worker")
        return worker

    async def _settle(self, worker: WorkerChannel) -> None:
        """End a request that is no longer wanted: the worker stops at its next page or is killed."""
        settled = False
        try:
            async with asyncio.timeout(self._grace):
                await worker.send({"op": "stop"})
                message = await worker.receive()
                while message is not None and "done" not in message and "problem" not in message:
                    message = await worker.receive()
                settled = message is not None
        except TimeoutError:
            pass
        finally:
            if not settled:
                self._condemn(worker)
        await self._bury()

    async def _fail(self, worker: WorkerChannel, file: Identity | None) -> None:
        if file is not None:
            self._strikes[file] = self._strikes.get(file, 0) + 1
        self._condemn(worker)
        await self._bury()
        _log.info("a document worker was lost: %s", worker.ending)

    def _condemn(self, worker: WorkerChannel) -> None:
        if self._worker is worker:
            self._worker = None
            self._condemned.append(worker)
        worker.kill()

    async def _bury(self) -> None:
        while self._condemned:
            worker = self._condemned[-1]
            await worker.close()
            if worker in self._condemned:
                self._condemned.remove(worker)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise DocumentProblem("no_worker", "The program is closing and reads no more documents.")


def _identity(path: str) -> Identity | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return path, status.st_size, status.st_mtime_ns
