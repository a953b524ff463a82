"""Formulas for the window: drawn by a worker one after the other, told in pieces that fit the pipe (S-1, U-4)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator

from ..documents.port import DocumentProblem, DrawnFormula, FormulaDrawer
from ..protocol.commands import LONGEST_FORMULA, MOST_FORMULAS, DrawFormulas, FormulaText
from ..protocol.events import CommandDone, CommandFailed, Event, FormulaDrawn
from ..sessions.text import well_formed

SECONDS = 5.0
"""Of drawing that a command is worth: after that, what is left of it is skipped, so that others have their turn."""
PIECE_CHARACTERS = 20_000
"""Of an SVG in one message: it fits even where each of them is escaped."""
LONGEST_SVG = 200_000
"""Characters. One above this counts as a formula that cannot be drawn: matrices of ten by ten have 130,000."""

_log = logging.getLogger(__name__)


class FormulaDrawing:
    """Answers DrawFormulas, the newest first. `emit` is called for every event, in order; `clock` counts seconds."""

    def __init__(
        self, drawer: FormulaDrawer, emit: Callable[[Event], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._drawer = drawer
        self._emit = emit
        self._clock = clock
        self._turn = asyncio.Condition()
        self._commands: list[DrawFormulas] = []

    async def draw(self, command: DrawFormulas) -> None:
        """Draw what the command asks for: each formula is told when it is ready, then CommandDone.

        Formulas are hostile, and each may take seconds. So a command that has taken SECONDS draws no more, and one
        that comes while another draws goes before it.
        """
        if len(command.formulas) > MOST_FORMULAS:
            self._refuse(command, f"At most {MOST_FORMULAS} formulas can be asked for at once.")
            return
        if any(len(formula.latex) > LONGEST_FORMULA for formula in command.formulas):
            self._refuse(command, f"A formula of more than {LONGEST_FORMULA:,} characters is not drawn.")
            return
        self._commands.append(command)
        try:
            await self._draw_all(command)
        finally:
            self._commands = [each for each in self._commands if each is not command]
            async with self._turn:
                self._turn.notify_all()
        self._emit(CommandDone(command.request))

    async def close(self) -> None:
        """Draw no more; what was asked for and is not drawn is answered as if it could not be."""
        await self._drawer.close()

    async def _draw_all(self, command: DrawFormulas) -> None:
        spent = 0.0
        for formula in command.formulas:
            if spent >= SECONDS:
                self._emit(_undrawn(formula, command.request, skipped=True))
                continue
            async with self._turn:
                await self._turn.wait_for(lambda: self._commands[-1] is command)
                began = self._clock()
                drawn = await self._drawn(formula)
                spent += self._clock() - began
            for piece in _told(formula, drawn, command.request):
                self._emit(piece)

    async def _drawn(self, formula: FormulaText) -> DrawnFormula | None:
        try:
            drawn = await self._drawer.draw(well_formed(formula.latex), display=formula.display)
        except DocumentProblem as problem:
            # Its source is shown meanwhile, which says all that the formula does: nobody need be told.
            _log.info("a formula was not drawn: %s", problem)
            return None
        if drawn is None or not 0 < len(drawn.svg) <= LONGEST_SVG:
            return None
        if not (drawn.svg.isascii() and drawn.svg.isprintable()):
            return None
        return drawn

    def _refuse(self, command: DrawFormulas, sentence: str) -> None:
        self._emit(CommandFailed("too_large", sentence, command.request))


def _told(formula: FormulaText, drawn: DrawnFormula | None, request: int) -> Iterator[FormulaDrawn]:
    """The events that tell of a formula; one for each piece of its SVG."""
    if drawn is None:
        yield _undrawn(formula, request)
        return
    width, above, below = (round(1000 * ems) for ems in (drawn.width, drawn.above, drawn.below))
    for start in range(0, len(drawn.svg), PIECE_CHARACTERS):
        end = start + PIECE_CHARACTERS
        piece, more = drawn.svg[start:end], end < len(drawn.svg)
        yield FormulaDrawn(formula.latex, formula.display, piece, width, above, below, more, request=request)


def _undrawn(formula: FormulaText, request: int, *, skipped: bool = False) -> FormulaDrawn:
    return FormulaDrawn(formula.latex, formula.display, "", 0, 0, 0, skipped=skipped, request=request)
