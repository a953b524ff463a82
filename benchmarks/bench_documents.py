"""Pages a second through worker, pipe and pool, against a bare `page.get_text()` loop on the same file.

    python -m benchmarks.bench_documents [FILE.pdf] [--pages N] [--rounds N]

Wall is what a person waits; CPU is the sum over both processes. The goal (issue "First", speed): at least half.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pymupdf

from bibgenie_desktop.documents.pool import DocumentWorkers
from bibgenie_desktop.documents.supervised import WorkerChannel
from bibgenie_desktop.sessions.library import PageText
from bibgenie_desktop.transport.child import ChildProcess

WORKER = [sys.executable, "-c", "from bibgenie_desktop.documents.worker import main; main()"]
SYLLABLES = "re search me thod ci ta tion ev i dence pa ge num ber la bel ar chive rea der scho lar li bra ry".split()


@dataclass(frozen=True, slots=True)
class Speed:
    """Pages a second by the clock and by CPU time."""

    wall: float
    cpu: float


def realistic_pdf(pages: int) -> bytes:
    """Pages of about 3,000 characters in two columns, in three fonts, with a heading, a running head and a number."""
    chance = random.Random(7)

    def words(count: int) -> str:
        return " ".join("".join(chance.choices(SYLLABLES, k=chance.randint(1, 4))) for _ in range(count))

    document = pymupdf.open()
    for number in range(pages):
        page = document.new_page()
        page.insert_text((72, 40), words(5), fontsize=8, fontname="heit")
        page.insert_text((72, 70), words(4), fontsize=13, fontname="tibo")
        for left in (72, 302):
            for top in range(90, 760, 110):
                page.insert_textbox((left, top, left + 221, top + 108), words(36) + ".", fontsize=9, fontname="tiro")
        page.insert_text((300, 815), str(number + 1), fontsize=8, fontname="tiro")
    data: bytes = document.tobytes(garbage=3, deflate=True)
    return data


def cpu_seconds() -> float:
    """CPU of this process and of the children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def bare(path: Path, rounds: int) -> Speed:
    pages = 0
    cpu, walls = cpu_seconds(), []
    for _ in range(rounds):
        wall = time.perf_counter()
        with pymupdf.open(path) as document:
            pages = len(document)
            for page in document:
                page.get_text()
        walls.append(time.perf_counter() - wall)
    return Speed(pages / min(walls), rounds * pages / (cpu_seconds() - cpu))


async def read_through(path: Path, first_path: Path, rounds: int) -> tuple[int, list[float]]:
    """Pages, and the seconds of each round, after a worker was started and has read `first_path`."""

    async def start() -> WorkerChannel:
        return await ChildProcess.start(WORKER)

    workers = DocumentWorkers(start)
    pages, walls = 0, []
    for each in [first_path] + [path] * rounds:
        wall, pages = time.perf_counter(), 0
        async for delivered in workers.read(str(each)):
            pages += isinstance(delivered, PageText)
        walls.append(time.perf_counter() - wall)
    await workers.close()
    return pages, walls


def pipeline(path: Path, one_page: Path, rounds: int) -> tuple[Speed, float]:
    """The speed of a running worker, and the seconds until a new one has read one page."""
    cpu = cpu_seconds()
    asyncio.run(read_through(one_page, one_page, 0))
    start_cpu = cpu_seconds() - cpu
    cpu = cpu_seconds()
    pages, walls = asyncio.run(read_through(path, one_page, rounds))
    cpu = cpu_seconds() - cpu - start_cpu
    return Speed(pages / min(walls[1:]), rounds * pages / cpu), walls[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="a PDF to read instead of the generated one")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, one_page = Path(folder, "realistic.pdf"), Path(folder, "one-page.pdf")
        one_page.write_bytes(realistic_pdf(1))
        if arguments.file is None:
            path.write_bytes(realistic_pdf(arguments.pages))
        else:
            path = arguments.file
        loop = bare(path, arguments.rounds)
        ours, start = pipeline(path, one_page, arguments.rounds)
    print(f"bare get_text loop   {loop.wall:7.0f} pages/s wall   {loop.cpu:7.0f} pages/s CPU")
    print(f"worker and pool      {ours.wall:7.0f} pages/s wall   {ours.cpu:7.0f} pages/s CPU")
    print(f"ratio                {ours.wall / loop.wall:7.2f}                {ours.cpu / loop.cpu:7.2f}   (goal: 0.5)")
    print(f"first page of a new worker after {start:.2f} s")


if __name__ == "__main__":
    main()
