"""The search over the history of all sessions, on every branch (T-8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from sqlalchemy import Connection

from ..sessions.nodes import ROLES, Role
from ..sessions.parts import UndecodablePart
from ..sessions.text import well_formed
from .database import Database
from .encoding import decode_parts, encode_json
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

    def found(self) -> Found:
        titles = self._titles()
        messages = [(self._hit(place), place.words) for place in islice(self._places(), self._limit + 1)]
        named = [hit for hit in titles if not any(_repeats(hit, message, words) for message, words in messages)]
        leaves = {hit.node_id for hit in named}
        hits = [*named, *(message for message, _ in messages if message.node_id not in leaves)]
        return Found(tuple(hits[: self._limit]), len(hits) > self._limit)

    def _titles(self) -> list[Hit]:
        """The chats whose titles hold all phrases, each with its last message; of those that share it, one."""
        found: dict[str, Hit] = {}
        for place, session_id, stored, leaf_id, archived_at in self._connection.exec_driver_sql(_TITLES).all():
            words = _folded_title(stored)
            if leaf_id in found or not all(each.places(words) for each in self._wanted):
                continue
            last = self._connection.exec_driver_sql(_LAST, {"place": place}).one_or_none()
            if last is None or last.role not in ROLES:
                continue  # its branch is damaged there: it has nothing to lead to
            title = well_formed(str(stored))
            found[leaf_id] = Hit(
                session_id,
                title,
                leaf_id,
                last.role,
                str(last.created_at),
                excerpt(title, self._wanted, text_folded=words),
                is_active=True,
                is_archived=archived_at is not None,
            )
            if len(found) > self._limit:
                break
        return list(found.values())

    def _places(self) -> Iterator[_Place]:
        """The messages that are found and belong to a chat, the best first, each with the chat that it opens."""
        values: dict[str, Any] = {"expression": expression(self._wanted), "size": self._limit + 1, "start": 0}
        while identities := self._connection.exec_driver_sql(_RANKED, values).scalars().all():
            chats: dict[int, list[Any]] = {}
            for chat in self._connection.exec_driver_sql(_CHATS, {"ids": encode_json(list(identities))}).all():
                chats.setdefault(chat.id, []).append(chat)
            shown = self._shown(chats)
            messages = self._connection.exec_driver_sql(_MESSAGES, {"ids": encode_json(list(chats))}).all()
            known = {message.id: message for message in messages}
            for identity in filter(known.__contains__, identities):
                active = shown.get(identity)
                yield _Place(active or chats[identity][0], known[identity], active is not None)
            values["start"] += values["size"]

    def _shown(self, chats: Mapping[int, Sequence[Any]]) -> dict[int, Any]:
        """For each message the first of its chats that has it on its active branch, as far as one has.

        Nearly always the first of all: only where it has not, the next two are looked at, then the next four.
        """
        shown: dict[int, Any] = {}
        begin, size = 0, 1
        while waiting := {identity: each[begin:] for identity, each in chats.items() if identity not in shown}:
            looked_at = [(identity, chat) for identity, each in waiting.items() for chat in each[:size]]
            if not looked_at:
                break
            values = {
                "sessions": encode_json(sorted({chat.place for _, chat in looked_at})),
                "ids": encode_json(list(waiting)),
            }
            on_branch = {tuple(row) for row in self._connection.exec_driver_sql(_ON_BRANCHES, values).all()}
            for identity, chat in looked_at:
                if identity not in shown and (chat.place, chat.node_id) in on_branch:
                    shown[identity] = chat
            begin, size = begin + size, 2 * size
        return shown

    def _hit(self, place: _Place) -> Hit:
        chat, message = place.chat, place.message
        try:
            words = searched(decode_parts(message.parts))
        except UndecodablePart:
            words = place.words
        return Hit(
            chat.session_id,
            well_formed(str(chat.title)),
            chat.node_id,
            message.role,
            str(message.created_at),
            excerpt(words, self._wanted, text_folded=place.words),
            place.is_active,
            chat.archived_at is not None,
        )


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


@lru_cache(20_000)
def _folded_title(stored: object) -> str:
    return folded(well_formed(str(stored)))


# Sessions by their places: the id of a damaged one may be none that can be asked for.
_TITLES = """
    SELECT rowid, id, title, leaf_id, archived_at FROM session WHERE deleted_at IS NULL ORDER BY used DESC, id
    """
_LAST = "SELECT role, node.created_at FROM session JOIN node ON node.id = leaf_id WHERE session.rowid = :place"
_RANKED = """
    SELECT rowid FROM node_fts WHERE node_fts MATCH :expression ORDER BY rank, rowid DESC LIMIT :size OFFSET :start
    """
_CHATS = """
    SELECT node_text.id, session.rowid AS place, session.id AS session_id, title, archived_at, node_text.node_id
    FROM node_text JOIN session_node ON session_node.node_id = node_text.node_id
    JOIN session ON session.id = session_node.session_id
    WHERE node_text.id IN (SELECT value FROM json_each(:ids)) AND deleted_at IS NULL ORDER BY used DESC, session.id
    """
_MESSAGES = """
    SELECT node_text.id, role, parts, created_at, text FROM node_text JOIN node ON node.id = node_text.node_id
    WHERE node_text.id IN (SELECT value FROM json_each(:ids))
    """
_ON_BRANCHES = """
    WITH RECURSIVE walk(place, id) AS (
        SELECT rowid, leaf_id FROM session WHERE rowid IN (SELECT value FROM json_each(:sessions))
        UNION SELECT place, node.parent_id FROM walk JOIN node ON node.id = walk.id WHERE node.parent_id IS NOT NULL
    )
    SELECT place, id FROM walk
    WHERE id IN (SELECT node_id FROM node_text WHERE node_text.id IN (SELECT value FROM json_each(:ids)))
    """
