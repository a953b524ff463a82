"""Supervision of the worker process that draws formulas: it waits for no document and no pause.

Knows no ziamath and no process: the composition root passes in how a worker is started.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from .port import DrawnFormula
from .supervised import Message, SupervisedWorker, WorkerChannel

SECONDS = 2.0
"""Of work that a formula is worth: the worker gives it up by itself after that."""
PATIENCE = 15.0
"""Seconds without an answer after which a worker counts as stalled."""
IDLE = 120.0
"""Seconds without a formula after which the worker is ended: it holds 90 MB."""
STRIKES = 2
"""Workers that a formula may end before it is left alone; one that stalls a worker is left alone at once."""
MOST_REMEMBERED = 1_000
"""Formulas that are left alone; the oldest are forgotten and tried again."""

_log = logging.getLogger(__name__)


class FormulaWorkers:
    """Draws formulas in one worker process, in the order of asking: see FormulaDrawer.

    `start` starts a worker, as for DocumentWorkers. `seconds`, `patience` and `idle` are as the constants say. A worker
    that was lost is replaced.
    """

    def __init__(
        self,
        start: Callable[[], Awaitable[WorkerChannel]],
        *,
        seconds: float = SECONDS,
        patience: float = PATIENCE,
        idle: float = IDLE,
    ) -> None:
        self._worker = SupervisedWorker(start)
        self._seconds = seconds
        self._patience = patience
        self._idle = idle
        self._turn = asyncio.Lock()
        self._resting: asyncio.Task[None] | None = None
        self._left_alone: dict[tuple[str, bool], None] = {}

    async def draw(self, latex: str, *, display: bool) -> DrawnFormula | None:
        """See FormulaDrawer."""
        if (latex, display) in self._left_alone:
            return None
        async with self._turn:
            await self._stop_resting()
            answer = await self._answer(latex, display)
            if answer is not None:
                self._resting = asyncio.create_task(self._rest(), name="end the idle formula worker")
        if answer is None:
            while len(self._left_alone) >= MOST_REMEMBERED:
                del self._left_alone[next(iter(self._left_alone))]
            self._left_alone[latex, display] = None
            return None
        return None if answer["formula"] is None else DrawnFormula(**answer["formula"])

    async def close(self) -> None:
        """See FormulaDrawer."""
        await self._worker.close()
        async with self._turn:  # whoever waited has been told by now
            await self._stop_resting()

    async def _answer(self, latex: str, display: bool) -> Message | None:
        """The worker's answer; None if the formula stalls a worker, or ends two. Raises DocumentProblem."""
        request = {"op": "formula", "latex": latex, "display": display}
        request |= {"seconds": self._seconds, "patience": self._patience}
        for _ in range(STRIKES):
            worker = await self._worker.ready()
            answer, in_time = None, False
            try:
                async with asyncio.timeout(self._patience):
                    await worker.send(request)
                    answer = await worker.receive()
                    in_time = True
            except TimeoutError:
                pass
            finally:
                if answer is None:
                    self._worker.condemn(worker)
            if answer is not None:
                return answer
            await self._worker.bury()
            self._worker.refuse_when_closed()
            # Not what it said: that may hold the formula, which is a chat's.
            _log.info("a formula's worker %s", "was lost" if in_time else "stalled")
            if not in_time:
                break
        return None

    async def _rest(self) -> None:
        await asyncio.sleep(self._idle)
        await self._worker.end()

    async def _stop_resting(self) -> None:
        if self._resting is not None:
            self._resting.cancel()
            await asyncio.wait([self._resting])
            self._resting = None
