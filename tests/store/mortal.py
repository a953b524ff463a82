"""Processes that end themselves in the middle of an act: `python -m tests.store.mortal`, POSIX only (T-6).

One server is started, which knows all modules, and forks for each order, a line of JSON:

    path, act, session, seed    the history, what is done in it, and in which session; the act `open` opens it
    statement                   0, or which SQL statement of the act the process is killed before (SIGKILL); SQLite's
                                own statements on the tables of the full-text index count too
    room                        -1, or how many bytes a file may have once the act begins: the write that goes beyond
                                ends the process (SIGXFSZ) with a part of it written
    is_spared                   such a write fails instead; then there is room again, and the act is done once more

The answer is a line of JSON: `signal` that ended the process, 0 for none, `claim`, `is_done` (acknowledged),
`statements`, `log` (the write-ahead log's bytes after the act), and `refusal`, what the store said first.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import sqlalchemy

from bibgenie_desktop.store.database import StoreUnavailable
from tests.store.acts import Hand
from tests.store.histories import opened
from tests.store.whole import content

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Order:
    path: str
    act: str
    session: str = ""
    seed: int = 0
    statement: int = 0
    room: int = -1
    is_spared: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    signal: int
    claim: str | None
    is_done: bool
    statements: int
    log: int
    refusal: str = ""


class Counter:
    """Counts the statements of all connections from `begin` on, and ends the process before the one it is told."""

    def __init__(self, fatal: int) -> None:
        self._fatal = fatal
        self._is_on = False
        self.statements = 0
        sqlalchemy.event.listen(sqlalchemy.Engine, "connect", self._connected)

    def begin(self) -> None:
        self._is_on = True

    def _connected(self, connection: sqlite3.Connection, _record: object) -> None:
        connection.set_trace_callback(self._count)

    def _count(self, statement: str) -> None:
        if self._is_on:
            self.statements += 1
            if self.statements == self._fatal:
                os.kill(os.getpid(), signal.SIGKILL)


async def _act(order: Order, told: int) -> None:
    counter = Counter(order.statement)
    path = Path(order.path)
    if order.act == "open":
        _begin(order, counter)
    async with opened(path, prefix="k") as store:
        claim, refusal = None, ""
        if order.act != "open":
            _begin(order, counter)
            try:
                claim = await Hand(store, random.Random(order.seed)).do(order.act, order.session)
            except StoreUnavailable as error:
                refusal = f"{error.code}: {error}"
                _limit(-1)
                claim = await Hand(store, random.Random(order.seed)).do(order.act, order.session)
        done = {
            "is_done": True,
            "claim": None if claim is None else claim.to_line(),
            "statements": counter.statements,
            "log": _size(Path(f"{path}-wal")),
            "refusal": refusal,
        }
        _limit(-1 if order.is_spared else order.room)
        os.write(told, json.dumps(done).encode())


def _begin(order: Order, counter: Counter) -> None:
    counter.begin()
    if order.room >= 0 and not order.is_spared:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    _limit(order.room)


def _limit(room: int) -> None:
    """Let files have so many bytes, -1 for any number."""
    assert sys.platform != "win32"
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if room < 0 else room, hard))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _serve() -> None:
    assert sys.platform != "win32"
    for line in sys.stdin:
        order = Order(**json.loads(line))
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            code = 1
            try:
                asyncio.run(_act(order, write))
                code = 0
            finally:
                if code:
                    traceback.print_exc()
                os._exit(code)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            told = pipe.read()
        _, status = os.waitpid(child, 0)
        done: dict[str, Any] = {"is_done": False, "claim": None, "statements": 0, "log": 0}
        done |= json.loads(told) if told else {}
        ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            ended = -1
        print(json.dumps({"signal": ended, **done}), flush=True)


class Stage:
    """A history in which one act is done again and again, each time from the beginning.

    `before` is what it holds then, `after` what it holds once the act is done, `whole` how that went.
    """

    def __init__(self, server: Mortals, origin: Path, folder: Path, act: str, session_id: str) -> None:
        folder.mkdir(exist_ok=True)
        self._server = server
        self._origin = origin
        self._order = Order(str(folder / "sessions.sqlite"), act, session_id, seed=5)
        self.path = Path(self._order.path)
        self.before = content(origin)
        self.whole = self.do()
        assert self.whole.signal == 0
        assert self.whole.is_done
        self.after = content(self.path)

    def do(self, statement: int = 0, room: int = -1, *, is_spared: bool = False) -> Ended:
        """Do the act in a new copy of the history, as `Order` says."""
        for name in ("", "-wal", "-shm"):
            Path(f"{self.path}{name}").unlink(missing_ok=True)
        shutil.rmtree(self.path.parent / "backups", ignore_errors=True)
        shutil.copy(self._origin, self.path)
        return self._server.order(replace(self._order, statement=statement, room=room, is_spared=is_spared))


class Mortals:
    """The server, seen from a test."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def order(self, order: Order) -> Ended:
        """Have it done; a process that failed by itself fails the test."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(order)) + "\n")
        self._process.stdin.flush()
        ended = Ended(**json.loads(self._process.stdout.readline()))
        assert ended.signal >= 0, "the process failed: see its stderr"
        return ended


@contextmanager
def mortals() -> Iterator[Mortals]:
    """A server, ended when it is left."""
    command = [sys.executable, "-m", "tests.store.mortal"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        encoding="utf-8",
    ) as process:
        try:
            yield Mortals(process)
        finally:
            process.kill()


if __name__ == "__main__":
    _serve()
