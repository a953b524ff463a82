"""Pages a second that the library index takes in, against a bare `page.get_text()` loop over the same file.

    python -m benchmarks.bench_index [--pages N] [--rounds N]

A library of one generated PDF is indexed anew each round: source, worker, pipe, passages, full-text index, commit. Wall
is what a person waits; CPU is the sum over both processes. The goal (issue "First", speed): at least half.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path

from benchmarks.bench_documents import WORKER, Speed, bare, cpu_seconds, realistic_pdf
from bibgenie_desktop.documents.pool import DocumentWorkers
from bibgenie_desktop.documents.supervised import WorkerChannel
from bibgenie_desktop.engine.library.index import LibraryIndex
from bibgenie_desktop.store.library import LibraryStore
from bibgenie_desktop.transport.child import ChildProcess
from bibgenie_desktop.zotero.demo import DemoSource


def write_library(directory: Path, pages: int) -> Path:
    """A library laid out like the demo library, with one work and its PDF; returns the PDF's path."""
    path = directory / "storage" / "BENCHPD2" / "realistic.pdf"
    path.parent.mkdir(parents=True)
    path.write_bytes(realistic_pdf(pages))
    work = {
        "key": "BENCHWK2",
        "itemType": "book",
        "title": "A Realistic Book",
        "creators": [{"role": "author", "last": "Hale", "first": "Ida"}],
        "date": "2026",
        "fields": {},
        "tags": [],
        "collections": [],
    }
    attachment = {
        "key": "BENCHPD2",
        "parent": "BENCHWK2",
        "title": "PDF",
        "filename": path.name,
        "contentType": "application/pdf",
        "linkMode": "imported_file",
    }
    library = {
        "format": 1,
        "identity": "benchmark",
        "as_of": "2026-11-30T00:00:00Z",
        "name": "Benchmark",
        "items": [work],
        "attachments": [attachment],
        "notes": [],
        "annotations": [],
        "collections": [],
    }
    (directory / "library.json").write_text(json.dumps(library), encoding="utf-8")
    return path


async def index(directory: Path, caches: Path, warm_up: Path, rounds: int, *, refresh: bool = True) -> list[float]:
    """Seconds of each round: a new index each, with a worker that was started before; without `refresh` that alone."""

    async def start() -> WorkerChannel:
        return await ChildProcess.start(WORKER)

    walls = []
    for number in range(rounds):
        store = await LibraryStore.open(caches / f"{number}.sqlite")
        indexing = DocumentWorkers(start)
        async for _ in indexing.read(str(warm_up)):
            pass
        library_index = LibraryIndex(
            open_source=lambda: DemoSource(directory),
            store=store,
            indexing=indexing,
            reading=DocumentWorkers(start),
            report=lambda _: None,
            remember=lambda _: None,
        )
        if refresh:
            wall = time.perf_counter()
            await library_index.refresh()
            walls.append(time.perf_counter() - wall)
            assert library_index.progress.state == "ready", library_index.progress.sentence
        await library_index.close()
        await store.close()
    return walls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    pages, rounds = arguments.pages, arguments.rounds
    with tempfile.TemporaryDirectory() as folder:
        path = write_library(Path(folder, "library"), pages)
        one_page, caches = Path(folder, "one-page.pdf"), Path(folder, "caches")
        one_page.write_bytes(realistic_pdf(1))
        loop = bare(path, rounds)
        before = cpu_seconds()
        asyncio.run(index(path.parents[2], Path(folder, "starts"), one_page, rounds, refresh=False))
        started = cpu_seconds()
        walls = asyncio.run(index(path.parents[2], caches, one_page, rounds))
        cpu = cpu_seconds() - started - (started - before)
        ours = Speed(pages / min(walls), rounds * pages / cpu)
        size = (caches / "0.sqlite").stat().st_size
    print(f"bare get_text loop   {loop.wall:7.0f} pages/s wall   {loop.cpu:7.0f} pages/s CPU")
    print(f"library index        {ours.wall:7.0f} pages/s wall   {ours.cpu:7.0f} pages/s CPU")
    print(f"ratio                {ours.wall / loop.wall:7.2f}                {ours.cpu / loop.cpu:7.2f}   (goal: 0.5)")
    print(f"size of the index    {size / pages / 1000:7.1f} kB a page")


if __name__ == "__main__":
    main()
