"""The whole history looked through, for the doctor: the file, the search, every chat, and what is left to do (T-5)."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError

from ..sessions.text import well_formed
from ..sessions.tree import Unreadable
from .database import StoreUnavailable
from .header import is_damage
from .sessions import SessionStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DamagedChat:
    """A chat that can be read in part only. `reason` says in a few words what is wrong and where."""

    session_id: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found; nothing was changed.

    `faults` are what SQLite's full check and the foreign keys find wrong with the file. `is_searchable`: the full-text
    index fits the messages. `interrupted` counts answers that stream or were cut off with their process, `unerased` the
    deletions that are not finished.
    """

    chats: int
    faults: tuple[str, ...]
    is_searchable: bool
    damaged: tuple[DamagedChat, ...]
    interrupted: int
    unerased: int

    @property
    def is_sound(self) -> bool:
        """Whether nothing needs doing."""
        return not self.faults and not self.damaged and self.is_searchable


async def examine(sessions: SessionStore) -> Examination:
    """Look through the history. Raises StoreUnavailable where it cannot be used, or where not even its list is left."""
    read = sessions.database.read
    faults = await _unless_damaged(sessions.integrity(), ["the file cannot be read to its end"])
    listed = await read(_chats)
    incomplete = await _unless_damaged(read(_incomplete), frozenset())
    damaged: list[DamagedChat] = []
    for session_id, title in listed:
        reason = await _unless_damaged(_damage(sessions, session_id), "its part of the file is damaged")
        if reason is None and session_id in incomplete:
            reason = "some of its messages are not counted among them"
        if reason is not None:
            damaged.append(DamagedChat(session_id, title, reason))
    is_searchable = await _unless_damaged(sessions.database.write(_is_searchable), False)
    interrupted, unerased = await _unless_damaged(read(_unfinished), (0, 0))
    return Examination(len(listed), tuple(faults), is_searchable, tuple(damaged), interrupted, unerased)


async def _unless_damaged(looking: Awaitable[T], otherwise: T) -> T:
    """What is found, or `otherwise` where the pages of the file that tell are broken."""
    try:
        return await looking
    except StoreUnavailable as error:
        if error.code != "damaged":
            raise
        return otherwise


async def _damage(sessions: SessionStore, session_id: str) -> str | None:
    """What is wrong with a chat, on its branch or beside it."""
    branch = await sessions.branch(session_id)
    if branch.damage is not None:
        return branch.damage
    beside = [node for node in await sessions.tree.whole(session_id) if isinstance(node, Unreadable)]
    if beside:
        return f"message {beside[0].id}, which is not on the branch that the chat shows, cannot be read"
    return None


def _chats(connection: Connection) -> list[tuple[str, str]]:
    rows = connection.exec_driver_sql("SELECT id, title FROM session WHERE deleted_at IS NULL ORDER BY used DESC, id")
    return [(row[0], well_formed(str(row[1]))) for row in rows]


def _incomplete(connection: Connection) -> frozenset[str]:
    """The sessions that lack their leaf or an ancestor of what they have."""
    rows = connection.exec_driver_sql(
        """
        SELECT id FROM session WHERE leaf_id NOT NULL AND NOT EXISTS (
            SELECT 1 FROM session_node WHERE session_id = session.id AND node_id = leaf_id)
        UNION
        SELECT session_id FROM session_node JOIN node ON node.id = node_id
        WHERE parent_id NOT NULL AND NOT EXISTS (
            SELECT 1 FROM session_node AS other
            WHERE other.session_id = session_node.session_id AND other.node_id = node.parent_id)
        """
    )
    return frozenset(str(row[0]) for row in rows)


def _is_searchable(connection: Connection) -> bool:
    # The check is written as an INSERT, and so wants the writer; it changes nothing.
    try:
        connection.exec_driver_sql("INSERT INTO node_fts(node_fts, rank) VALUES ('integrity-check', 1)")
    except DatabaseError as error:
        if not is_damage(error.orig):
            raise
        return False
    return True


def _unfinished(connection: Connection) -> tuple[int, int]:
    (interrupted,) = connection.exec_driver_sql("SELECT count(*) FROM stream_journal").one()
    (unerased,) = connection.exec_driver_sql(
        "SELECT (SELECT count(*) FROM erasure) + (SELECT count(*) FROM session WHERE deleted_at NOT NULL)"
    ).one()
    return interrupted, unerased
