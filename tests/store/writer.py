"""A process that writes to a history and tells each message once it is stored: `python -m tests.store.writer …`.

It prints `ready` before it opens the history, then the id of each stored message, and at a fault its code and sentence.
With `--compact` it prints `prepared`, compacts a chat once it reads a line, and prints what came of it. With `--acts`
it does anything there is to do, and prints each act before it (`? act session`) and its claim after it (`! claim`).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bibgenie_desktop.store.compaction import Stale
from bibgenie_desktop.store.database import StoreUnavailable
from bibgenie_desktop.store.sessions import SessionStore
from tests.store.acts import Hand, anything
from tests.store.compactions import ready
from tests.store.histories import answer, ask, opened

ROOT = Path(__file__).parents[2]


async def write(options: argparse.Namespace) -> None:
    """Append questions and answers until there are `--count` (0: until killed) or the store refuses."""
    print("ready", flush=True)
    try:
        async with opened(options.path, prefix=options.prefix) as store:
            if options.compact:
                await compact(store, options)
            else:
                await (append(store, options) if options.acts is None else do_anything(store, options))
    except StoreUnavailable as fault:
        print(f"refused {fault.code}: {fault}", flush=True)


async def append(store: SessionStore, options: argparse.Namespace) -> None:
    session_id, left = options.session, options.count
    try:
        while True:
            session_id, question = await ask(store, session_id, "x" * options.size)
            print(question, flush=True)
            print(await answer(store, session_id, question, "y" * options.size), flush=True)
            left -= 2
            if left == 0:
                return
    except StoreUnavailable as fault:
        print(f"refused {fault.code}: {fault}", flush=True)
        branch = await store.branch(session_id)
        print(f"still readable: {len(branch.nodes)} {branch.damage}", flush=True)


async def compact(store: SessionStore, options: argparse.Namespace) -> None:
    """Prepare a checkpoint, tell it, and commit it once a line is read."""
    prepared = await ready(store, options.session, options.compact)
    run = replace(prepared[2], id=f"{options.prefix}run")
    print("prepared", flush=True)
    sys.stdin.readline()
    try:
        await store.compaction.commit(options.session, prepared[0], prepared[1], run)
    except Stale as stale:
        print(stale.code, flush=True)
    else:
        print("applied", flush=True)


async def do_anything(store: SessionStore, options: argparse.Namespace) -> None:
    hand = Hand(store, random.Random(options.acts), options.size)
    left = options.count
    while True:
        await anything(hand, lambda line: print(line, flush=True))
        left -= 1
        if left == 0:
            return


def main() -> None:
    """Read the options and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--session", default="")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--acts", type=int, help="do anything there is to do, chosen by this number")
    parser.add_argument("--compact", default="", help="compact once, with this question as the boundary")
    parser.add_argument("--largest-file", type=int, default=0, help="bytes; POSIX only")
    options = parser.parse_args()
    if options.largest_file and sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (options.largest_file, options.largest_file))
    asyncio.run(write(options))


class Writer:
    """A running writer, seen from the test that started it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def line(self) -> str:
        """The next line it prints, "" at its end."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def lines(self) -> list[str]:
        """All it prints from here to its end."""
        return list(iter(self.line, ""))

    def tell(self) -> None:
        """Let it go on where it reads a line."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


@contextmanager
def writing(path: Path, *options: str) -> Iterator[Writer]:
    """A writer on `path`; at the end it is killed if it still runs."""
    command = [sys.executable, "-m", "tests.store.writer", str(path), *options]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, encoding="utf-8"
    ) as process:
        try:
            yield Writer(process)
        finally:
            process.kill()


if __name__ == "__main__":
    main()
