"""Starting real worker processes for the tests, as the composition root does."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bibgenie_desktop.documents.pool import DocumentWorkers
from bibgenie_desktop.documents.port import DocumentInfo, DocumentProblem
from bibgenie_desktop.documents.supervised import WorkerChannel
from bibgenie_desktop.sessions.library import PageText
from bibgenie_desktop.transport.child import ChildProcess

WORKER = (sys.executable, "-c", "from bibgenie_desktop.documents.worker import main; main()")


class Starter:
    """Starts workers and remembers them, so that a test can end one and count them."""

    def __init__(self, argv: tuple[str, ...] = WORKER) -> None:
        self.argv = argv
        self.started: list[ChildProcess] = []

    async def __call__(self) -> WorkerChannel:
        child = await ChildProcess.start(self.argv)
        self.started.append(child)
        return child


@asynccontextmanager
async def document_workers(starter: Starter, patience: float = 60, grace: float = 60) -> AsyncIterator[DocumentWorkers]:
    """Workers that are closed at the end. Where no limit is given, none is reached on the slowest machine."""
    workers = DocumentWorkers(starter, patience=patience, grace=grace)
    try:
        yield workers
    finally:
        await workers.close()
        assert all(child.returncode is not None for child in starter.started)


async def read_all(workers: DocumentWorkers, path: object) -> list[DocumentInfo | PageText]:
    return [delivered async for delivered in workers.read(str(path))]


async def read_until_problem(workers: DocumentWorkers, path: object) -> tuple[list[DocumentInfo | PageText], str]:
    """What is delivered before the problem, and the problem's code; "" if there is none."""
    delivered: list[DocumentInfo | PageText] = []
    try:
        async for each in workers.read(str(path)):
            delivered.append(each)  # noqa: PERF401 (what came before the problem counts)
    except DocumentProblem as problem:
        return delivered, problem.code
    return delivered, ""


async def texts(workers: DocumentWorkers, path: object) -> list[str]:
    return [delivered.text for delivered in await read_all(workers, path) if isinstance(delivered, PageText)]
