"""One SQLite file: one serial writer with short transactions, and a reader beside it (T-6).

Measured: a write transaction that begins as a reader loses every race between two processes, so each begins
IMMEDIATE; synchronous FULL costs a sync of the disk for each commit and loses nothing to a killed process.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
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
MAINTENANCE_BUSY_SECONDS = 0.3
"""How long maintenance does: it is tried again later, and closing the file waits for it."""
STEPS_BETWEEN_LOOKS = 10_000
"""Of SQLite's machine, between two looks whether maintenance is to end: some hundredths of a second."""


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

    `what` and `if_damaged` are for the user: what the file is, and what to do where it is damaged. `overwrites` tells
    SQLite to fill what is deleted with zeros.
    """

    def __init__(
        self,
        path: Path,
        *,
        what: str,
        if_damaged: str,
        synchronous: Literal["FULL", "NORMAL"] = "FULL",
        overwrites: bool = False,
    ) -> None:
        self.path = path
        self._name = f"{what} ({path})"
        self._if_damaged = if_damaged
        self._synchronous = synchronous
        self._overwrites = overwrites
        self._is_closing = threading.Event()
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

    async def maintain(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run `function` on the writer's thread outside a transaction: VACUUM, a checkpoint of the log.

        It is broken off where its caller is cancelled and when the file is closed; another process's lock is waited
        for only MAINTENANCE_BUSY_SECONDS. What is broken off or locked out is raised as StoreUnavailable, `busy`.
        """
        is_over = threading.Event()
        running = asyncio.get_running_loop().run_in_executor(self._writer_thread, self._maintain, function, is_over)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            is_over.set()
            await asyncio.wait([running])
            running.exception()  # it is of no interest any more
            raise

    async def close(self) -> None:
        """Wait for what runs, but for maintenance, which is broken off; then close the file."""
        self._is_closing.set()
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
                raise self._explained(error.orig) from error

        return await asyncio.get_running_loop().run_in_executor(thread, transaction)

    def _maintain(self, function: Callable[[sqlite3.Connection], T], is_over: threading.Event) -> T:
        try:
            with closing(self._writer.raw_connection()) as lent:
                connection = lent.driver_connection
                assert isinstance(connection, sqlite3.Connection)
                is_to_end = lambda: is_over.is_set() or self._is_closing.is_set()  # noqa: E731
                connection.set_progress_handler(is_to_end, STEPS_BETWEEN_LOOKS)
                connection.execute(f"PRAGMA busy_timeout = {round(1000 * MAINTENANCE_BUSY_SECONDS)}").close()
                try:
                    return function(connection)
                finally:
                    connection.set_progress_handler(None, 0)
                    connection.execute(f"PRAGMA busy_timeout = {round(1000 * BUSY_SECONDS)}").close()
        except DatabaseError as error:
            raise self._explained(error.orig) from error
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def _engine(self, begin: str) -> Engine:
        # One connection for each thread, opened at first use in it.
        engine = sqlalchemy.create_engine(
            sqlalchemy.URL.create("sqlite", database=str(self.path)),
            poolclass=StaticPool,
            connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
            hide_parameters=True,  # errors get into the log, and what is written are chats
        )

        @sqlalchemy.event.listens_for(engine, "connect")
        def configure(connection: sqlite3.Connection, _record: object) -> None:
            connection.isolation_level = None  # SQLAlchemy's begin event decides when a transaction begins
            connection.text_factory = decoded
            pragmas = ["journal_mode=WAL", f"synchronous={self._synchronous}", "foreign_keys=ON"]
            for pragma in (*pragmas, "secure_delete=ON") if self._overwrites else pragmas:
                connection.execute(f"PRAGMA {pragma}").close()

        @sqlalchemy.event.listens_for(engine, "begin")
        def begin_transaction(connection: Connection) -> None:
            connection.exec_driver_sql(begin)

        return engine

    def _explained(self, error: BaseException | None) -> StoreUnavailable:
        if is_damage(error):
            return StoreUnavailable("damaged", f"{self._name} is damaged; it was left as it is: {self._if_damaged}.")
        code, sentence = _TROUBLES.get(primary_code(error), _REFUSED)
        return StoreUnavailable(code, sentence.format(name=self._name))


_TROUBLES: dict[int | None, tuple[StoreCode, str]] = {
    sqlite3.SQLITE_READONLY: ("unwritable", "{name} cannot be written; nothing was changed: check the folder."),
    sqlite3.SQLITE_CANTOPEN: ("unwritable", "{name} cannot be opened; nothing was changed: check the folder."),
    sqlite3.SQLITE_BUSY: ("busy", "{name} is in use by another program; nothing was changed: try again."),
    sqlite3.SQLITE_LOCKED: ("busy", "{name} is in use by another program; nothing was changed: try again."),
    sqlite3.SQLITE_INTERRUPT: ("busy", "{name} is being closed; what was broken off is done at the next start."),
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
decoded = partial(str, encoding="utf-8", errors="surrogateescape")
