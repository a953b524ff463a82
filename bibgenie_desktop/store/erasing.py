"""Wiping deleted text off the disk: the file's free space, its full-text index, its log, and its copies (T-7)."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import sqlalchemy
from sqlalchemy import Connection, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import StaticPool

from .backups import copies_of, remove_unfinished
from .database import MAINTENANCE_BUSY_SECONDS, STEPS_BETWEEN_LOOKS, StoreCode, StoreUnavailable, decoded
from .encoding import decode_json
from .header import is_damage, primary_code
from .removal import add_nodes, blobs, choose_nodes, keep_nodes, remove_blobs, remove_rows
from .schema import APPLICATION_ID, erasure

_PASSING = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT)


@dataclass(frozen=True, slots=True)
class Erasure:
    """What of a purged session is still to be wiped."""

    session_id: str
    node_ids: tuple[str, ...]


def read_erasures(connection: Connection) -> list[Erasure]:
    """All that is still to be wiped."""
    found: list[Erasure] = []
    for row in connection.execute(select(erasure)):
        try:
            node_ids = decode_json(row.node_ids)
        except ValueError:
            node_ids = []  # damaged: the session's own rows tell of its nodes
        found.append(Erasure(row.session_id, tuple(each for each in node_ids if isinstance(each, str))))
    return found


def vacuum(connection: sqlite3.Connection) -> None:
    """Outside a transaction: make the index and the file anew, without what was deleted."""
    # What another process copied and could not finish; one that copies at this moment holds this lock.
    connection.execute("BEGIN IMMEDIATE")
    try:
        (path,) = connection.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()
        remove_unfinished(Path(path))
        _tidy_index(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it
            connection.execute("ROLLBACK")
        raise
    connection.execute("VACUUM")


def _tidy_index(connection: sqlite3.Connection) -> None:
    """Within a transaction: what was deleted from the index stays in it until all of it is merged."""
    try:
        connection.execute("INSERT INTO node_fts(node_fts) VALUES ('optimize')")
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        connection.execute("INSERT INTO node_fts(node_fts) VALUES ('rebuild')")


def truncate_log(connection: sqlite3.Connection) -> None:
    """Outside a transaction: empty the log into the file. Raises sqlite3.OperationalError while another reads it."""
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        error = sqlite3.OperationalError("the log is read by another connection")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error


def erase_from_copies(
    path: Path, pending: Sequence[Erasure], is_over: threading.Event
) -> tuple[tuple[str, ...], StoreUnavailable | None]:
    """Wipe the copies in `backups` of the history at `path`, until `is_over`.

    Returns sentences about those that are no history any more and were left, and the last trouble with one that is to
    be tried again.
    """
    told: list[str] = []
    trouble: StoreUnavailable | None = None
    for copy in copies_of(path):
        try:
            _erase_from_copy(copy, path, pending, is_over)
        except (OSError, sqlite3.Error, DatabaseError) as error:
            if is_damage(getattr(error, "orig", error)):
                told.append(
                    f"The backup {copy} is damaged and was left as it is; it may hold what you deleted: remove it."
                )
            else:
                code: StoreCode = "busy" if primary_code(getattr(error, "orig", error)) in _PASSING else "unwritable"
                sentence = f"The backup {copy} cannot be changed now, and may still hold what was deleted."
                trouble = StoreUnavailable(code, sentence)
    return tuple(told), trouble


def _erase_from_copy(copy: Path, path: Path, pending: Sequence[Erasure], is_over: threading.Event) -> None:
    with _opened(copy, is_over) as raw, closing(_reading(path)) as history:
        (application_id,) = raw.execute("PRAGMA application_id").fetchone()
        if application_id != APPLICATION_ID:
            return  # a file that somebody put there

        def is_kept(table: str, identity: object) -> bool:
            return history.execute(f"SELECT 1 FROM {table} WHERE id = ?", (identity,)).fetchone() is not None

        # Without a log beside it: a copy is one file, whatever happens.
        raw.execute("PRAGMA journal_mode = DELETE").fetchone()
        raw.execute("PRAGMA secure_delete = ON").fetchone()
        engine = sqlalchemy.create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool, hide_parameters=True)
        with engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            for each in pending:
                choose_nodes(connection, each.session_id)
                add_nodes(connection, each.node_ids)
                keep_nodes(connection, partial(is_kept, "node"))
                remove_rows(connection, each.session_id)
            remove_blobs(connection, {each for each in blobs(connection) if not is_kept("blob", each)})
            if raw.execute("SELECT 1 FROM sqlite_master WHERE name = 'node_fts'").fetchone():
                _tidy_index(raw)
            connection.exec_driver_sql("COMMIT")
        raw.execute("VACUUM")


@contextmanager
def _opened(copy: Path, is_over: threading.Event) -> Iterator[sqlite3.Connection]:
    uri = f"{copy.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(uri, uri=True, timeout=MAINTENANCE_BUSY_SECONDS, isolation_level=None)
    try:
        connection.text_factory = decoded
        connection.set_progress_handler(is_over.is_set, STEPS_BETWEEN_LOOKS)
        yield connection
    finally:
        connection.close()


def _reading(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    connection.text_factory = decoded
    return connection
