"""The drafts of the window that this engine serves, beside what others write into them (U-3, T-6).

A command or another window may put a question into a draft while a window shows what it knew before. So a window's text
replaces only what that window knew; the rest stays, above it, and the window is told.

A question that was the draft stands in the stored one until the transaction that puts it into the chat takes it off:
at any instant it is in one of the two places and never in both (P11), whatever the window saves meanwhile. What a
window knew is judged when its command arrives: the commands that touch one draft are carried out in their order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from ..protocol.events import DraftAdded, Event
from ..sessions.text import without
from ..store.database import StoreUnavailable
from ..store.drafts import DraftStore, words_of_others
from .views import text_pieces

_log = logging.getLogger(__name__)


class Drafts:
    """Knows for each chat the draft that the window knows. All methods may raise StoreUnavailable."""

    def __init__(self, store: DraftStore, emit: Callable[[Event], None]) -> None:
        self._store = store
        self._emit = emit
        # As it was stored when this engine touched it last, with the questions that are on their way into the chat.
        self._known: dict[str, str] = {}
        self._on_their_way: dict[str, list[str]] = {}
        self._orders: dict[str, asyncio.Lock] = {}

    async def read(self, session_id: str) -> str:
        """The draft, which the window is about to know: without what it sent, which is no draft for it any more."""
        async with self._order(session_id):
            self._known[session_id] = draft = await self._store.read(session_id)
            for question in self._sent(session_id):
                draft = without(draft, question)
            return draft

    async def save(self, session_id: str, text: str) -> None:
        """Keep what the window wrote, under what others wrote meanwhile and what is on its way."""
        async with self._order(session_id):
            await self._save(session_id, text)

    async def add(self, session_id: str, text: str) -> None:
        """Keep words that were written elsewhere in the window, above its draft."""
        async with self._order(session_id):
            known = self._knows(session_id)
            stored = await self._store.put_above(session_id, text)
            self._known[session_id] = stored
            if stored != known:
                self._tell(session_id, text if stored == text else words_of_others(stored, known=known, text=known))

    # A question on its way from the draft into the chat

    async def send(self, session_id: str, question: str, *, is_draft: bool) -> None:
        """A question arrived which is the window's draft, or stands in it where it waited: it stays there until it is
        `taken`. One from elsewhere is no draft's."""
        async with self._order(session_id):
            known = self._knows(session_id)
            if is_draft or without(known, question) != known:
                self._on_their_way.setdefault(session_id, []).append(question)
            if is_draft and known != question:
                await self._save(session_id, "")

    @asynccontextmanager
    async def taken(self, session_id: str, question: str) -> AsyncIterator[str]:
        """While the question is being stored in the chat; gives what is taken off the draft in the same transaction, ""
        for nothing. Afterwards the window is told what of the rest it does not know."""
        async with self._order(session_id):
            if question not in self._sent(session_id):
                yield ""
                return
            yield question
            mine = self._let_go(session_id, question)
            try:
                self._known[session_id] = left = await self._store.read(session_id)
            except StoreUnavailable as error:
                # The question is stored, which counts; what others wrote is told when the draft is saved next.
                _log.info("a draft could not be read: %s", error)
            else:
                if left != mine:
                    self._tell(session_id, words_of_others(left, known=mine, text=mine))

    async def keep(self, session_id: str, question: str) -> None:
        """A question is not taken: it is kept above the draft, once, as words that the window has still to hear of."""
        async with self._order(session_id):
            self._let_go(session_id, question)
            await self._store.put_above(session_id, question)

    async def give_back(self, session_id: str, question: str) -> None:
        """A question is not taken, and the window puts it back into its draft itself."""
        async with self._order(session_id):
            self._let_go(session_id, question)

    def _let_go(self, session_id: str, question: str) -> str:
        """The question is on its way no more; returns what the window knows beside it."""
        if question in self._sent(session_id):
            self._on_their_way[session_id].remove(question)
            self._known[session_id] = without(self._knows(session_id), question)
        return self._knows(session_id)

    async def _save(self, session_id: str, text: str) -> None:
        whole = "\n\n".join(filter(None, (*self._sent(session_id), text)))
        added = await self._store.save(session_id, whole, known=self._knows(session_id))
        self._known[session_id] = "\n\n".join(filter(None, (added, whole)))
        self._tell(session_id, added)

    def _sent(self, session_id: str) -> list[str]:
        return self._on_their_way.get(session_id, [])

    def _knows(self, session_id: str) -> str:
        return self._known.get(session_id, "")

    def _order(self, session_id: str) -> asyncio.Lock:
        """Held while something is done to a draft; who asks for it first has it first."""
        return self._orders.setdefault(session_id, asyncio.Lock())

    def _tell(self, session_id: str, added: str) -> None:
        for piece in text_pieces(added) if added else ():
            self._emit(DraftAdded(session_id, piece))
