"""The search over the history of all sessions, on every branch (T-8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, text

from ..sessions.nodes import ROLES, Role
from ..sessions.parts import UndecodablePart
from ..sessions.text import well_formed
from .database import Database
from .encoding import decode_parts
from .excerpts import Excerpt, excerpt
from .node_text import searched
from .search_query import Phrase, expression, phrases
from .search_text import folded

MOST_HITS = 50


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that was found, and the chat that it opens: one on whose active branch it lies, if there is one.

    `excerpt` is of the message, or of the chat's title, which leads to the last message of the chat.
    """

    session_id: str
    title: str
    node_id: str
    role: Role
    created_at: str
    excerpt: Excerpt
    is_active: bool
    is_archived: bool


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of a search, the best first. `is_cut`: there are more."""

    hits: tuple[Hit, ...]
    is_cut: bool = False


class SearchStore:
    """Searches sessions.sqlite. All methods raise StoreUnavailable when the file fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, query: str, *, limit: int = MOST_HITS) -> Found:
        """The messages that hold all words of a query, whatever it is (see `search_query.phrases`), each once.

        Chats whose title holds them come first, the last used one before the others, unless the title only repeats a
        message that was found; then messages by their weight (BM25), the newest first among equals. What belongs to
        deleted chats alone is not found.
        """
        wanted = phrases(well_formed(query))
        if not wanted:
            return Found(())
        return await self._database.read(lambda connection: _Search(connection, wanted, limit).found())


class _Search:
    """One search within one transaction."""

    def __init__(self, connection: Connection, wanted: Sequence[Phrase], limit: int) -> None:
        self._connection = connection
        self._wanted = wanted
        self._limit = limit
        self._branches: dict[str, frozenset[str]] = {}

    def found(self) -> Found:
        titles = self._titles()
        places = [place for place, _ in zip(self._places(), range(self._limit + 1), strict=False)]
        messages = [(self._hit(place), place.words) for place in places]
        named = [hit for hit in titles if not any(_repeats(hit, message, words) for message, words in messages)]
        leaves = {hit.node_id for hit in named}
        hits = [*named, *(message for message, _ in messages if message.node_id not in leaves)]
        return Found(tuple(hits[: self._limit]), len(hits) > self._limit)

    def _titles(self) -> list[Hit]:
        """The chats whose titles hold all phrases, each with its last message; of those that share it, one."""
        found: dict[str, Hit] = {}
        for row in self._connection.execute(_TITLES):
            title = well_formed(str(row.title))
            words = _folded_title(title)
            if row.role not in ROLES or row.leaf_id in found or not all(each.places(words) for each in self._wanted):
                continue
            found[row.leaf_id] = Hit(
                well_formed(str(row.id)),
                title,
                well_formed(str(row.leaf_id)),
                row.role,
                well_formed(str(row.created_at)),
                excerpt(title, self._wanted, text_folded=words),
                is_active=True,
                is_archived=row.archived_at is not None,
            )
            if len(found) > self._limit:
                break
        return list(found.values())

    def _places(self) -> Iterator[_Place]:
        """The messages that are found and belong to a chat, the best first, each with the chat that it opens."""
        wanted, size, start = expression(self._wanted), self._limit + 1, 0
        while identities := self._ranked(wanted, size, start):
            for identity in identities:
                chats = self._connection.execute(_CHATS, {"id": identity}).all()
                if chats:
                    active = next((chat for chat in chats if chat.node_id in self._branch(chat.id, chat.leaf_id)), None)
                    message = self._connection.execute(_MESSAGE, {"id": identity}).one_or_none()
                    if message is None or message.role not in ROLES:
                        continue  # damaged: opening the chat tells of it
                    yield _Place(active or chats[0], message, active is not None)
            start += size

    def _ranked(self, wanted: str, size: int, start: int) -> Sequence[int]:
        values = {"expression": wanted, "size": size, "start": start}
        return self._connection.execute(_RANKED, values).scalars().all()

    def _hit(self, place: _Place) -> Hit:
        chat, message = place.chat, place.message
        try:
            words = searched(decode_parts(message.parts))
        except UndecodablePart:
            words = place.words
        return Hit(
            well_formed(str(chat.id)),
            well_formed(str(chat.title)),
            well_formed(str(chat.node_id)),
            message.role,
            well_formed(str(message.created_at)),
            excerpt(words, self._wanted, text_folded=place.words),
            place.is_active,
            chat.archived_at is not None,
        )

    def _branch(self, session_id: str, leaf_id: object) -> frozenset[str]:
        if session_id not in self._branches:
            rows = self._connection.execute(_BRANCH, {"leaf": None if leaf_id is None else well_formed(str(leaf_id))})
            self._branches[session_id] = frozenset(rows.scalars())
        return self._branches[session_id]


@dataclass(frozen=True, slots=True)
class _Place:
    chat: Any
    message: Any
    is_active: bool

    @property
    def words(self) -> str:
        """The message's words, folded."""
        return str(self.message.text)


def _repeats(hit: Hit, message: Hit, words: str) -> bool:
    """Whether a chat's title is the beginning of a message of it that was found, as the app names chats by itself."""
    return hit.session_id == message.session_id and words.startswith(_folded_title(hit.title))


_folded_title = lru_cache(20_000)(folded)

# A session's leaf is joined: one whose branch is damaged there has nothing to lead to.
_TITLES = text(
    """
    SELECT session.id, title, leaf_id, archived_at, role, node.created_at FROM session JOIN node ON node.id = leaf_id
    WHERE deleted_at IS NULL ORDER BY used DESC, session.id
    """
)
_RANKED = text(
    """
    SELECT rowid FROM node_fts WHERE node_fts MATCH :expression ORDER BY rank, rowid DESC LIMIT :size OFFSET :start
    """
)
_CHATS = text(
    """
    SELECT session.id, title, leaf_id, archived_at, node_text.node_id
    FROM node_text JOIN session_node ON session_node.node_id = node_text.node_id
    JOIN session ON session.id = session_node.session_id
    WHERE node_text.id = :id AND deleted_at IS NULL ORDER BY used DESC, session.id
    """
)
_MESSAGE = text(
    """
    SELECT role, parts, created_at, text FROM node_text JOIN node ON node.id = node_text.node_id
    WHERE node_text.id = :id
    """
)
_BRANCH = text(
    """
    WITH RECURSIVE walk(id, parent_id) AS (
        SELECT id, parent_id FROM node WHERE id = :leaf
        UNION SELECT node.id, node.parent_id FROM walk JOIN node ON node.id = walk.parent_id
    )
    SELECT id FROM walk
    """
)
