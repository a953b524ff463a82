"""Which sessions other processes change, seen through SQLite's data version (T-6)."""

from __future__ import annotations

from typing import TypeAlias

from sqlalchemy import Connection

from .database import Database
from .tree_reading import forget_nodes

_States: TypeAlias = dict[str, str]
"""What a session is, by its id: its columns in one text."""


_COLUMNS = ("leaf_id", "branch_revision", "title", "updated_at", "is_pinned", "archived_at", "deleted_at")


def _state(row: str) -> str:
    # quote() takes whatever a damaged file holds; columns are put together for the comparison alone.
    return " || ' ' || ".join(f"quote({row}{name})" for name in _COLUMNS)


# Temporary tables and triggers are those of one connection: they note what the writer does, and nobody else.
_NOTE_OWN_CHANGES = (
    "CREATE TEMP TABLE own_change (session_id TEXT, before TEXT, after TEXT)",
    f"""
    CREATE TEMP TRIGGER own_insert AFTER INSERT ON main.session
    BEGIN INSERT INTO own_change VALUES (NEW.id, NULL, {_state("NEW.")}); END
    """,
    f"""
    CREATE TEMP TRIGGER own_update AFTER UPDATE ON main.session
    BEGIN INSERT INTO own_change VALUES (NEW.id, {_state("OLD.")}, {_state("NEW.")}); END
    """,
    f"""
    CREATE TEMP TRIGGER own_delete AFTER DELETE ON main.session
    BEGIN INSERT INTO own_change VALUES (OLD.id, {_state("OLD.")}, NULL); END
    """,
)


class ForeignChanges:
    """Sessions that were made, changed or deleted, but not through this database object. One for each database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._version = 0
        self._known: _States | None = None

    async def look(self) -> tuple[str, ...]:
        """The ids of the sessions that others changed since the last call, sorted; the first call begins and has none.

        A look costs 0.1 ms as long as nobody writes to the file. Raises StoreUnavailable; what was changed until then
        is told by a later call.
        """
        if self._known is None:
            self._known = await self._database.write(_begin)
            return ()
        peeked = await self._database.read(self._peek)
        if peeked is None:
            return ()
        version, states = peeked
        others: set[str] = set()
        if states != self._known:
            known = self._known
            others, states = await self._database.write(lambda connection: _compare(connection, known))
            self._known = states
            if others - states.keys():
                forget_nodes()
        self._version = version
        return tuple(sorted(others))

    def _peek(self, connection: Connection) -> tuple[int, _States] | None:
        """The file's data version with all sessions; None where it is the known one. Writers are not held up."""
        (version,) = connection.exec_driver_sql("PRAGMA data_version").one()
        return None if version == self._version else (version, _states(connection))


def _begin(connection: Connection) -> _States:
    for statement in _NOTE_OWN_CHANGES:
        connection.exec_driver_sql(statement)
    return _states(connection)


def _states(connection: Connection) -> _States:
    rows = connection.exec_driver_sql(f"SELECT id, {_state('')} FROM session")
    return {row[0]: row[1] for row in rows}


def _compare(connection: Connection, known: _States) -> tuple[set[str], _States]:
    """Who changed what since `known`, and what is known now; nobody else can write meanwhile.

    An own change that does not begin where the last known state ended has another's change before it.
    """
    others: set[str] = set()
    expected: dict[str, str | None] = dict(known)
    for session_id, before, after in connection.exec_driver_sql("SELECT * FROM own_change ORDER BY rowid"):
        if expected.get(session_id) != before:
            others.add(session_id)
        expected[session_id] = after
    connection.exec_driver_sql("DELETE FROM own_change")
    states = _states(connection)
    others |= {each for each in expected.keys() | states.keys() if expected.get(each) != states.get(each)}
    return others, states
