"""A Zotero database, read from a private copy: the one in use is never opened (Z-1)."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC
from pathlib import Path

from ..sessions.library import LibrarySnapshot
from .discovery import DATABASE_NAME
from .files import AttachmentFiles
from .port import Clock, ZoteroUnavailable
from .reading import DatabaseReader

# 123 is Zotero 7.0, 129 is 10.0. Beyond what is known there is some room, since most changes only add.
OLDEST_SCHEMA, NEWEST_SCHEMA = 120, 140

# What belongs to a database at rest or at work: rows not yet checkpointed (Zotero 10) and the pages to roll back to
# (Zotero 9 in a transaction, or after a crash). The shared memory file is not among them: it is made anew.
_COMPANIONS = ("-wal", "-journal")
_COPY_PREFIX = "bibgenie-zotero-"
_ABANDONED_SECONDS = 3_600
_REPEATS = 3
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


class DatabaseSource:
    """A LibrarySource over a `zotero.sqlite`, given itself or by its data directory.

    `clock` gives the time a snapshot is marked with. `attachment_base` is what `attachments:` paths are relative to.
    `scratch` is the directory for the temporary copy, the system's own by default. The copy is complete and private
    to the user, and is gone when a call returns. Nothing is written, made or locked in the data directory.
    """

    kind = "sqlite"

    def __init__(
        self, path: Path, *, clock: Clock, attachment_base: Path | None = None, scratch: Path | None = None
    ) -> None:
        path = path.absolute()
        directory_given = os.path.isdir(path)
        self._given = path
        self._directory = path if directory_given else path.parent
        # Companions lie beside the file itself, not beside a link to it.
        self._database = Path(os.path.realpath(path / DATABASE_NAME if directory_given else path))
        self._clock = clock
        self._files = AttachmentFiles(self._directory, attachment_base)
        self._scratch = scratch
        self._identity: str | None = None

    @property
    def title(self) -> str:
        """`the Zotero database in` its directory."""
        return f"the Zotero database in {self._directory}"

    @property
    def identity(self) -> str:
        """The data directory and the account. Costs a copy of the database unless a snapshot was taken before.

        Raises ZoteroUnavailable.
        """
        if self._identity is None:
            with self._copied() as (reader, _):
                self._identity = self._identify(reader)
        return self._identity

    def fingerprint(self) -> str:
        """The database's place, and size and time of change of it and its write-ahead log. Raises ZoteroUnavailable."""
        stamps = self._stamps()
        main, log = (f"{stamp[0]}.{stamp[1]}" if stamp else "none" for stamp in stamps[:2])
        return f"{self._database}|{main}|{log}"

    def snapshot(self) -> LibrarySnapshot:
        """All that the database holds now. Raises ZoteroUnavailable."""
        with self._copied() as (reader, as_of):
            self._identity = self._identify(reader)
            return reader.snapshot(self._identity, as_of, self._files)

    def _identify(self, reader: DatabaseReader) -> str:
        user = reader.user_id()
        directory = f"zotero:{os.path.realpath(self._directory)}"
        return directory if user is None else f"{directory}#user={user}"

    @contextmanager
    def _copied(self) -> Iterator[tuple[DatabaseReader, str]]:
        """A reader over a checked copy, and the moment whose state it is."""
        try:
            temporary = tempfile.TemporaryDirectory(prefix=_COPY_PREFIX, dir=self._scratch)
        except OSError as error:
            raise ZoteroUnavailable(
                "No temporary directory can be made for a copy of the Zotero database "
                f"({error.strerror}); nothing was changed; free some disk space or set TMPDIR, then try again."
            ) from error
        with temporary as directory:
            _sweep(Path(directory))
            copy = Path(directory) / DATABASE_NAME
            as_of = self._copy_to(copy)
            try:
                with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
                    yield self._checked(connection), as_of
            except sqlite3.Error as error:
                raise self._unreadable(error) from error

    def _copy_to(self, copy: Path) -> str:
        """Copy the database while it does not change; the moment before, in UTC."""
        for _ in range(1 + _REPEATS):
            before = self._stamps()
            moment = self._clock().astimezone(UTC)
            try:
                shutil.copyfile(self._database, copy)
                for companion, stamp in zip(_COMPANIONS, before[1:], strict=True):
                    target = copy.with_name(copy.name + companion)
                    target.unlink(missing_ok=True)
                    if stamp:
                        shutil.copyfile(self._beside(companion), target)
            except FileNotFoundError:
                continue  # a companion that went between is a change
            except OSError as error:
                raise self._not_copied(error) from error
            if self._stamps() == before:
                return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
        raise ZoteroUnavailable(
            "Zotero is changing its database just now, so no whole copy could be taken; nothing was lost; "
            "wait until Zotero has finished and try again."
        )

    def _checked(self, connection: sqlite3.Connection) -> DatabaseReader:
        # A value that is not UTF-8 must not cost the rest of the library.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.execute("PRAGMA trusted_schema = OFF")
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise self._damaged()
        connection.execute("PRAGMA query_only = ON")
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        reader = DatabaseReader(connection)
        schema = reader.schema() if "version" in tables else None
        if schema is None:
            raise self._not_zotero()
        if schema < OLDEST_SCHEMA:
            raise ZoteroUnavailable(
                f"The Zotero database {self._database} was last used by a Zotero before version 7 (layout {schema}) "
                "and cannot be read; nothing was changed; open it once with a current Zotero, then try again."
            )
        if schema > NEWEST_SCHEMA:
            raise self._unknown_layout(f"layout {schema}")
        return reader

    def _beside(self, companion: str) -> Path:
        return self._database.with_name(self._database.name + companion)

    def _stamps(self) -> tuple[tuple[int, int] | None, ...]:
        """Size and time of change (ns) of the database and of each companion, None for one that is not there."""
        try:
            status = self._database.stat()
            if not stat.S_ISREG(status.st_mode):
                raise self._not_zotero()
            return (status.st_size, status.st_mtime_ns), *map(_stamp, map(self._beside, _COMPANIONS))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise self._missing() from error
        except OSError as error:
            raise self._not_copied(error) from error

    def _missing(self) -> ZoteroUnavailable:
        if os.path.isdir(self._given):
            return ZoteroUnavailable(
                f"The directory {self._given} holds no {DATABASE_NAME}; give Zotero's data directory, which Zotero "
                "shows in its settings under Advanced, or try the demo library (--zotero demo)."
            )
        return ZoteroUnavailable(
            f"There is no Zotero database at {self._given}; check the path, or try the demo library (--zotero demo)."
        )

    def _not_zotero(self) -> ZoteroUnavailable:
        return ZoteroUnavailable(
            f"{self._database} is not a Zotero database; nothing was changed; "
            f"give the {DATABASE_NAME} in Zotero's data directory."
        )

    def _damaged(self) -> ZoteroUnavailable:
        return ZoteroUnavailable(
            f"The Zotero database {self._database} is damaged and was not read; nothing was changed; "
            "start Zotero, which checks it and offers its last backup, then try again."
        )

    def _unknown_layout(self, which: str) -> ZoteroUnavailable:
        return ZoteroUnavailable(
            f"The Zotero database {self._database} is laid out in a way that this version does not know ({which}); "
            "nothing was changed; install a newer BibGenie Desktop."
        )

    def _no_room(self) -> ZoteroUnavailable:
        return ZoteroUnavailable(
            "There is no room for a temporary copy of the Zotero database; nothing was lost; "
            "free some disk space and try again."
        )

    def _not_copied(self, error: OSError) -> ZoteroUnavailable:
        if error.errno in _NO_ROOM:
            return self._no_room()
        return ZoteroUnavailable(
            f"The Zotero database {self._database} cannot be read ({error.strerror or error}); nothing was changed; "
            "check that you may read it, then try again."
        )

    def _unreadable(self, error: sqlite3.Error) -> ZoteroUnavailable:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code == sqlite3.SQLITE_NOTADB:
            return self._not_zotero()
        if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}:
            return self._no_room()
        if code == sqlite3.SQLITE_CORRUPT:
            return self._damaged()
        return self._unknown_layout(str(error))


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns


def _sweep(fresh: Path) -> None:
    """Remove copies beside `fresh` that a killed process has left: a library is private, and large.

    The file system's own clock tells their age.
    """
    oldest = fresh.stat().st_mtime - _ABANDONED_SECONDS
    for left in fresh.parent.glob(f"{_COPY_PREFIX}*"):
        with suppress(OSError):
            if left.stat().st_mtime < oldest:
                shutil.rmtree(left)
