"""How long storing a checkpoint holds the history's write lock, beside the shortest transaction there is (C-9).

    python -m benchmarks.bench_commit [--rounds N]

A history of 100,000 messages in one tree, with a branch 2,000 deep that was never compacted. Each round forks it, and
commits a checkpoint there whose tail is 200 messages long; then sqlite3 stores one row in a transaction of its own, in
the same file and as durably. Both are timed from the moment they have the lock to the moment they have given it back,
the disk's sync included. Told are medians and the slowest tenth. Goal: issue "Context compaction", speed. Ends with 1
if it is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import sqlalchemy

from bibgenie_desktop.sessions.checkpoints import CompactionRun, NewCheckpoint
from bibgenie_desktop.store.compaction import Expected
from bibgenie_desktop.store.sessions import SessionStore

from .bench_tree import DEPTH, NODES, connect, fill, made, one_tree, opened, texts

TAIL = 200
LIMIT = 5.0
SUMMARY = "word " * 1_500
NOW = "2026-12-01T00:00:00.000Z"


@contextmanager
def locks() -> Iterator[list[float]]:
    """How long each write transaction of the store holds the lock, in milliseconds, the newest last."""
    held: list[float] = []
    begun: dict[object, float] = {}

    def begin(connection: sqlalchemy.Connection, _cursor: object, statement: str, *_: object) -> None:
        if statement == "BEGIN IMMEDIATE":
            begun[connection.connection.driver_connection] = time.perf_counter()

    def end(connection: sqlite3.Connection, _record: object) -> None:
        if connection in begun:
            held.append((time.perf_counter() - begun.pop(connection)) * 1e3)

    sqlalchemy.event.listen(sqlalchemy.Engine, "after_cursor_execute", begin)
    sqlalchemy.event.listen(sqlalchemy.Pool, "checkin", end)
    try:
        yield held
    finally:
        sqlalchemy.event.remove(sqlalchemy.Engine, "after_cursor_execute", begin)
        sqlalchemy.event.remove(sqlalchemy.Pool, "checkin", end)


async def committed(store: SessionStore, ids: list[str], number: int, held: list[float]) -> float:
    """Milliseconds for which a commit at the end of a fork of its own holds the lock."""
    fork = await store.tree.fork("deep", ids[-1])
    cut = len(ids) - TAIL
    new = NewCheckpoint(
        ids[-1], "summarised", ids[cut], SUMMARY, 1, "automatic", "m", "summary-1", ids[0], ids[cut - 1], 90_000, 9_000
    )
    run = CompactionRun(f"run{number}", fork.session_id, "automatic", "applied", "", NOW, NOW)
    held.clear()
    await store.compaction.commit(fork.session_id, Expected(fork.leaf_id, fork.branch_revision), new, run)
    [milliseconds] = held
    return milliseconds


def bare(connection: sqlite3.Connection, number: int) -> float:
    """Milliseconds for which sqlite3 holds the lock to store one row."""
    connection.execute("BEGIN IMMEDIATE")
    begun = time.perf_counter()
    connection.execute(
        "INSERT INTO node (id, parent_id, role, parts, created_at) VALUES (?, NULL, 'user', '[]', ?)",
        (f"bare{number}", NOW),
    )
    connection.execute("COMMIT")
    return (time.perf_counter() - begun) * 1e3


async def measure(path: Path, rounds: int) -> bool:
    """Measure and print; whether the limit holds."""
    ids = [f"deep{place:028}" for place in range(DEPTH)]
    pairs: list[tuple[float, float]] = []
    with closing(connect(path)) as connection, locks() as held:
        async with opened(path, "c") as store:
            for number in range(rounds):
                ours_held = await committed(store, ids, number, held)
                pairs.append((ours_held, bare(connection, number)))
    ours, theirs = ([pair[at] for pair in pairs] for at in (0, 1))
    beyond = statistics.median(ours) - statistics.median(theirs)
    print(f"the lock is held, ms, {DEPTH:,} deep in {NODES:,} messages, {rounds} rounds")
    for name, taken in (("commit of a checkpoint", ours), ("one row by sqlite3", theirs)):
        slow = statistics.quantiles(taken, n=10)[-1]
        print(f"  {name:<24} median {statistics.median(taken):7.2f}   slowest tenth {slow:7.2f}")
    print(f"  {'beyond it':<24} {beyond:14.2f} of {LIMIT:.1f}  {'holds' if beyond <= LIMIT else 'BROKEN'}")
    return beyond <= LIMIT


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=101)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.sqlite"
        asyncio.run(made(path))
        fill(path, one_tree(), texts())
        return 0 if asyncio.run(measure(path, options.rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
