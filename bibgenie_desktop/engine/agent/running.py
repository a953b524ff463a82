"""A turn while it plays, and the keeping of its answer, which no stop interrupts (A-1, T-6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from .turn import Answer, Failure, Turn

_log = logging.getLogger(__name__)

_FAULT = Failure("fault", "The answer ended by a fault of the program, which the log tells; what came of it is kept.")


class RunningTurn:
    """Plays `turn` at once; when it has ended, in whichever way, `keep` gets its answer.

    `kept` is done once that is done too.
    """

    def __init__(self, turn: Turn, keep: Callable[[Answer], Awaitable[None]]) -> None:
        self._answer = turn.answer
        self._playing = asyncio.create_task(turn.run(), name="turn")
        self.kept = asyncio.create_task(self._settle(keep), name="keep an answer")

    def stop(self) -> None:
        """Stop the turn. After its end, or a second time, this does nothing."""
        if not self._playing.cancelling():
            self._playing.cancel()

    async def _settle(self, keep: Callable[[Answer], Awaitable[None]]) -> None:
        await asyncio.wait([self._playing])
        if self._playing.cancelled():
            self._answer.stop_reason = "cancelled"
        elif (error := self._playing.exception()) is not None:
            _log.error("a turn ended by a fault of the program", exc_info=error)
            self._answer.stop_reason = "error"
            self._answer.failure = _FAULT
        await keep(self._answer)
