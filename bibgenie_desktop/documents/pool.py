"""Supervision of the worker process that reads documents (Z-4, Z-5).

Knows no PyMuPDF and no process: the composition root passes in how a worker is started.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeAlias

from ..sessions.library import PageText
from .port import DocumentInfo, QuoteMatch
from .problems import problem, problem_named
from .supervised import Message, SupervisedWorker, WorkerChannel

PATIENCE = 60.0
"""Seconds without a page after which a worker counts as stalled."""
GRACE = 2.0
"""Seconds."""
PAGES_AHEAD = 8
"""Pages that a worker may read before the first of them was taken: it never waits for us, nor runs far in a pause."""
STRIKES = 2
"""Crashes and stalls after which a file is quarantined."""

_log = logging.getLogger(__name__)

Identity: TypeAlias = tuple[str, int, int]


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
        self._worker = SupervisedWorker(start)
        self._patience = patience
        self._grace = grace
        self._turn = asyncio.Lock()
        self._going = asyncio.Event()
        self._going.set()
        self._strikes: dict[Identity, int] = {}

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
        self._going.set()
        await self._worker.close()

    async def _answers(self, request: Message) -> AsyncGenerator[Message, None]:
        """The worker's messages to one request, but for the last. Raises DocumentProblem."""
        async with self._turn:
            await self._going.wait()
            file = await asyncio.to_thread(_identity, request["path"])
            self._worker.refuse_when_closed()
            if file is not None and self._strikes.get(file, 0) >= STRIKES:
                raise problem("quarantined")
            worker = await self._worker.ready()
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
                if not over and self._worker.is_current(worker):
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
            self._worker.refuse_when_closed()
            await self._fail(worker, file)
            raise problem("crashed")
        return message

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
                self._worker.condemn(worker)
        await self._worker.bury()

    async def _fail(self, worker: WorkerChannel, file: Identity | None) -> None:
        if file is not None:
            self._strikes[file] = self._strikes.get(file, 0) + 1
        self._worker.condemn(worker)
        await self._worker.bury()
        _log.info("a document worker was lost: %s", worker.ending)


def _identity(path: str) -> Identity | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return path, status.st_size, status.st_mtime_ns
