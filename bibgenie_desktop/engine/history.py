"""The search over the history, as the window asks for it (T-8)."""

from __future__ import annotations

from collections.abc import Callable

from ..protocol.commands import SearchHistory
from ..protocol.events import Event, HistoryFound
from ..protocol.values import HistoryHit
from ..store.search import Hit, SearchStore
from .views import one_line, row_pieces


class History:
    """Carries out SearchHistory."""

    def __init__(self, store: SearchStore, emit: Callable[[Event], None]) -> None:
        self._store = store
        self._emit = emit

    async def search(self, command: SearchHistory) -> None:
        """Tell what is found, the best first. Raises StoreUnavailable."""
        found = await self._store.find(command.text)
        for piece, more in row_pieces([history_hit(hit) for hit in found.hits]):
            self._emit(HistoryFound(piece, found.is_cut, more, command.request))


def history_hit(hit: Hit) -> HistoryHit:
    """A hit as the window lists it."""
    return HistoryHit(
        hit.session_id,
        one_line(hit.title),
        hit.node_id,
        hit.role,
        hit.created_at,
        hit.excerpt.before,
        hit.excerpt.match,
        hit.excerpt.after,
        hit.is_active,
        hit.is_archived,
    )
