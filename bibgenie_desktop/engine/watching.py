"""Telling a window which sessions other windows and commands change (T-6)."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence

from ..protocol.events import Event, SessionsChanged
from ..store.changes import ForeignChanges
from ..store.database import StoreUnavailable
from .views import PIECE_BYTES

_log = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
"""The pace at which a window's engine looks for changes by others."""


class SessionWatch:
    """Emits SessionsChanged for what others change in the history."""

    def __init__(self, changes: ForeignChanges, emit: Callable[[Event], None]) -> None:
        self._changes = changes
        self._emit = emit
        self._trouble = ""

    async def look(self) -> None:
        """Tell what was changed since the last look; the first one begins. A file that fails now is looked at later."""
        try:
            session_ids = await self._changes.look()
        except StoreUnavailable as error:
            if str(error) != self._trouble:  # once, and not at each look
                _log.info("changes by others cannot be seen: %s", error)
            self._trouble = str(error)
            return
        self._trouble = ""
        for piece in _pieces(session_ids):
            self._emit(SessionsChanged(piece))

    async def run(self, pause: Callable[[], Awaitable[None]]) -> None:
        """Look after each `pause`, until cancelled."""
        while True:
            await pause()
            await self.look()


def _pieces(session_ids: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The ids in pieces of about PIECE_BYTES; none for no ids."""
    piece: list[str] = []
    room = PIECE_BYTES
    for session_id in session_ids:
        size = len(json.dumps(session_id)) + 1
        if piece and size > room:
            yield tuple(piece)
            piece, room = [], PIECE_BYTES
        piece.append(session_id)
        room -= size
    if piece:
        yield tuple(piece)
