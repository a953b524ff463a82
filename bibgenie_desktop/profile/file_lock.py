"""A lock on a file of the profile, among threads and processes."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

BUSY_SECONDS = 10
"""How long to wait for another process."""

_threads = threading.Lock()


class LockUnavailable(Exception):
    """The lock cannot be had: its file cannot be made, or another process does not give it back."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock whose file is `path`, which is made and stays, empty. Raises LockUnavailable.

    It is SQLite's lock on a database without content: the same on every system, waited for with a limit, and given
    back by a process that is killed.
    """
    with _threads:
        try:
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        except sqlite3.Error as error:
            raise LockUnavailable from error
        with closing(connection):
            try:
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error as error:
                raise LockUnavailable from error
            yield
