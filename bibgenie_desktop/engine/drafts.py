"""The drafts of the window that this engine serves, beside what others write into them (U-3, T-6).

A command or another window may put a question into a draft while a window shows what it knew before. So a window's text
replaces only what that window knew; the rest stays, above it, and the window is told.
"""

from __future__ import annotations

from collections.abc import Callable

from ..protocol.events import DraftAdded, Event
from ..store.drafts import DraftStore, words_of_others
from .views import text_pieces


class Drafts:
    """Knows for each chat the draft that the window knows."""

    def __init__(self, store: DraftStore, emit: Callable[[Event], None]) -> None:
        self._store = store
        self._emit = emit
        self._known: dict[str, str] = {}

    async def read(self, session_id: str) -> str:
        """The draft, which the window is about to know. Raises StoreUnavailable."""
        self._known[session_id] = text = await self._store.read(session_id)
        return text

    async def save(self, session_id: str, text: str) -> None:
        """Keep what the window wrote, under what others wrote meanwhile. Raises StoreUnavailable."""
        added = await self._store.save(session_id, text, known=self._known.get(session_id, ""))
        self._known[session_id] = "\n\n".join(filter(None, (added, text)))
        self._tell(session_id, added)

    async def add(self, session_id: str, text: str) -> None:
        """Keep words that were written elsewhere in the window, above its draft. Raises StoreUnavailable."""
        known = self.known(session_id)
        stored = await self._store.put_above(session_id, text)
        self._known[session_id] = stored
        if stored != known:
            self._tell(session_id, text if stored == text else words_of_others(stored, known=known, text=known))

    def known(self, session_id: str) -> str:
        """What the window knows as the draft."""
        return self._known.get(session_id, "")

    async def sent(self, session_id: str) -> None:
        """The window's text was stored as a question: tell what is left of the draft. Raises StoreUnavailable."""
        self._tell(session_id, await self.read(session_id))

    def _tell(self, session_id: str, added: str) -> None:
        for piece in text_pieces(added) if added else ():
            self._emit(DraftAdded(session_id, piece))
