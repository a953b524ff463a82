"""One SQLite file: one serial writer with short transactions, and a reader beside it (T-6).

Measured: a write transaction that begins as a reader loses every race between two processes, so each begins
IMMEDIATE; synchronous FULL costs a sync of the disk for each commit and loses nothing to a killed process.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import sqlalchemy
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import StaticPool

from .header import is_damage, primary_code

T = TypeVar("T")

StoreCode: TypeAlias = Literal["unwritable", "damaged", "newer", "foreign", "busy", "full", "failed"]

BUSY_SECONDS = 10
"""How long a transaction waits for another process's."""


class StoreUnavailable(Exception):
    """The file cannot be used. `str()` is one plain sentence for the user: what happened, what is safe, what to do."""

    def __init__(self, code: StoreCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Database:
    """A SQLite file behind one writer thread and one reader thread.

    `write` and `read` run a function with a connection inside one transaction; what the function raises rolls the
    transaction back and reaches the caller. Errors of the file itself are raised as StoreUnavailable. Text that is
    not UTF-8 is read with a lone surrogate for each broken byte, so that one flipped bit does not hide a whole table.

    `what` and `if_damaged` are for the user: what the file is, and what to do where it is damaged.
    """

    def __init__(
        self, path: Path, *, what: str, if_damaged: str, synchronous: Literal["FULL", "NORMAL"] = "FULL"
    ) -> None:
        self.path = path
        self._name = f"{what} ({path})"
        self._if_damaged = if_damaged
        self._synchronous = synchronous
        self._writer_thread = ThreadPoolExecutor(1, thread_name_prefix=f"{path.stem}-writer")
        self._reader_thread = ThreadPoolExecutor(1, thread_name_prefix=f"{path.stem}-reader")
        self._writer = self._engine("BEGIN IMMEDIATE")
        self._reader = self._engine("BEGIN")

    async def write(self, function: Callable[[Connection], T]) -> T:
        """Run `function` in one write transaction, after all earlier ones; it is committed when this returns.

        A caller that is cancelled does not undo a transaction that has begun.
        """
        return await self._run(self._writer_thread, self._writer, function)

    async def read(self, function: Callable[[Connection], T]) -> T:
        """Run `function` on one consistent state of the file."""
        return await self._run(self._reader_thread, self._reader, function)

    async def close(self) -> None:
        """Wait for what runs, then close the file."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._writer_thread, self._writer.dispose)
        await loop.run_in_executor(self._reader_thread, self._reader.dispose)
        self._writer_thread.shutdown()
        self._reader_thread.shutdown()

    async def _run(self, thread: ThreadPoolExecutor, engine: Engine, function: Callable[[Connection], T]) -> T:
        def transaction() -> T:
            try:
                with engine.begin() as connection:
                    return function(connection)
            except DatabaseError as error:
                raise self._explained(error) from error

        return await asyncio.get_running_loop().run_in_executor(thread, transaction)

    def _engine(self, begin: str) -> Engine:
        # One connection for each thread, opened at first use in it.
        engine = sqlalchemy.create_engine(
            sqlalchemy.URL.create("sqlite", database=str(self.path)),
            poolclass=StaticPool,
            connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
        )

        @sqlalchemy.event.listens_for(engine, "connect")
        def configure(connection: sqlite3.Connection, _record: object) -> None:
            connection.isolation_level = None  # SQLAlchemy's begin event decides when a transaction begins
            connection.text_factory = _decoded
            for pragma in ("journal_mode=WAL", f"synchronous={self._synchronous}", "foreign_keys=ON"):
                connection.execute(f"PRAGMA {pragma}").close()

        @sqlalchemy.event.listens_for(engine, "begin")
        def begin_transaction(connection: Connection) -> None:
            connection.exec_driver_sql(begin)

        return engine

    def _explained(self, error: DatabaseError) -> StoreUnavailable:
        if is_damage(error.orig):
            return StoreUnavailable("damaged", f"{self._name} is damaged; it was left as it is: {self._if_damaged}.")
        code, sentence = _TROUBLES.get(primary_code(error.orig), _REFUSED)
        return StoreUnavailable(code, sentence.format(name=self._name))


_TROUBLES: dict[int | None, tuple[StoreCode, str]] = {
    sqlite3.SQLITE_READONLY: ("unwritable", "{name} cannot be written; nothing was changed: check the folder."),
    sqlite3.SQLITE_CANTOPEN: ("unwritable", "{name} cannot be opened; nothing was changed: check the folder."),
    sqlite3.SQLITE_BUSY: ("busy", "{name} is in use by another program; nothing was changed: try again."),
    sqlite3.SQLITE_FULL: ("full", "{name} is unchanged, for the disk is full: free some space and try again."),
    # Also what a quota or a limit on the size of files looks like.
    sqlite3.SQLITE_IOERR: (
        "full",
        "{name} is unchanged, for the disk refused to read or write it: check the disk and its free space.",
    ),
}
_REFUSED: tuple[StoreCode, str] = (
    "failed",
    "{name} refused a change; nothing was changed: run the doctor command.",
)

# Called for every text that is read: no function of Python's own stands between.
_decoded = partial(str, encoding="utf-8", errors="surrogateescape")
