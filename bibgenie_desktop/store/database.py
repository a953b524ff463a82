"""One SQLite file: one serial writer with short transactions, and a reader beside it (T-6).

Measured: a write transaction that begins as a reader loses every race between two processes, so each begins
IMMEDIATE; synchronous FULL costs a sync of the disk for each commit and loses nothing to a killed process.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import sqlalchemy
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import StaticPool

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
    transaction back and reaches the caller. Errors of the file itself are raised as StoreUnavailable.
    """

    def __init__(self, path: Path, *, what: str, synchronous: Literal["FULL", "NORMAL"] = "FULL") -> None:
        self.path = path
        self._what = what
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
            for pragma in ("journal_mode=WAL", f"synchronous={self._synchronous}", "foreign_keys=ON"):
                connection.execute(f"PRAGMA {pragma}").close()

        @sqlalchemy.event.listens_for(engine, "begin")
        def begin_transaction(connection: Connection) -> None:
            connection.exec_driver_sql(begin)

        return engine

    def _explained(self, error: DatabaseError) -> StoreUnavailable:
        text = str(error.orig).lower()
        name = f"{self._what} ({self.path})"
        if "readonly" in text or "unable to open" in text:
            return StoreUnavailable("unwritable", f"{name} cannot be written; nothing was changed: check the folder.")
        if "malformed" in text or "not a database" in text or "disk i/o error" in text:
            return StoreUnavailable(
                "damaged", f"{name} is damaged; it was left as it is: restore a backup from the profile's backups."
            )
        if "locked" in text or "busy" in text:
            return StoreUnavailable("busy", f"{name} is in use by another program; nothing was changed: try again.")
        if "full" in text:
            return StoreUnavailable("full", f"The disk is full; {name} is unchanged: free some space and try again.")
        return StoreUnavailable("failed", f"{name} refused a change; nothing was changed: run the doctor command.")
