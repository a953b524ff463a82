"""Writing down how far an answer has come while it streams, so that a killed process loses little of it (T-6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from ..sessions.parts import Part
from ..store.database import StoreUnavailable
from ..store.journal import JournalStore
from .storage import Place

JOURNAL_SECONDS = 0.5
"""The shortest time between two notes of one answer."""

_log = logging.getLogger(__name__)


class Journaling:
    """Notes the parts of one answer, as `so_far` gives them, as soon as it has `grown` and then after each `pause`.

    The stream never waits for it, and a file that takes no note costs none of the answer.
    """

    def __init__(
        self,
        journal: JournalStore,
        place: Place,
        so_far: Callable[[], Sequence[Part]],
        grown: asyncio.Event,
        pause: Callable[[], Awaitable[None]],
    ) -> None:
        self._journal = journal
        self._place = place
        self._so_far = so_far
        self._pause = pause
        self._grown = grown
        self._noting = asyncio.create_task(self._note(), name="journal an answer")

    async def end(self) -> None:
        """Note nothing more; a note that is being written is before whatever the store is asked for next."""
        self._noting.cancel()
        await asyncio.wait([self._noting])
        if not self._noting.cancelled() and (error := self._noting.exception()) is not None:
            _log.error("the journal of an answer ended by a fault of the program", exc_info=error)

    async def _note(self) -> None:
        trouble, place = "", self._place
        while True:
            await self._grown.wait()
            self._grown.clear()
            parts = self._so_far()
            if not parts:
                continue
            try:
                await self._journal.note(place.session_id, place.parent_id, parts, answer=place.number)
                trouble = ""
            except StoreUnavailable as error:
                if str(error) != trouble:  # once, and not at each note
                    _log.info("how far an answer has come could not be noted: %s", error)
                trouble = str(error)
            await self._pause()
