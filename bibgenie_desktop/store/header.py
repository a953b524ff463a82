"""A SQLite file looked at before it is opened for good, leaving nothing behind: not a byte in it, no file beside it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Header:
    """Whose database it is, of which version, and the names of its tables, indexes, views and triggers."""

    application_id: int
    version: int
    tables: frozenset[str]


def read_header(path: Path) -> Header:
    """The header of an existing file. Raises sqlite3.Error, by `is_damage` for a file that is no sound database."""
    # Opening a file in WAL mode makes two files beside it, and a reader does not remove them. Without a log the file
    # is complete in itself, and can be read as one that nobody changes; then no log may have come meanwhile.
    log = Path(f"{path}-wal")
    if not log.exists():
        try:
            header = _read(path, "mode=ro&immutable=1")
        except sqlite3.Error:
            if not log.exists():
                raise
        else:
            if not log.exists():
                return header
    return _read(path, "mode=ro")


def _read(path: Path, mode: str) -> Header:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, timeout=0, isolation_level=None)
    try:
        connection.execute("BEGIN")  # all of it from one state of the file
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        tables = frozenset(name for (name,) in connection.execute("SELECT name FROM sqlite_master"))
    finally:
        connection.close()
    return Header(application_id, version, tables)


def is_damage(error: BaseException | None) -> bool:
    """Whether SQLite found that a file is no database or a broken one (and not, say, locked)."""
    return primary_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def primary_code(error: BaseException | None) -> int | None:
    """SQLite's result code of an error without its extension; None for an error that is not SQLite's own."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
