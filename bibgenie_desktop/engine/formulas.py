"""Formulas for the window: drawn by a worker one after the other, told in pieces that fit the pipe (S-1, U-4)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from ..documents.port import DocumentProblem, DrawnFormula, FormulaDrawer
from ..protocol.messages import (
    LONGEST_FORMULA,
    MOST_FORMULAS,
    CommandDone,
    CommandFailed,
    DrawFormulas,
    Event,
    FormulaDrawn,
    FormulaText,
)
from ..sessions.text import well_formed

PIECE_CHARACTERS = 20_000
"""Of an SVG in one message: it fits even where each of them is escaped."""
LONGEST_SVG = 200_000
"""Characters. One above this counts as a formula that cannot be drawn: matrices of ten by ten have 130,000."""

_log = logging.getLogger(__name__)


class FormulaDrawing:
    """Answers DrawFormulas. `emit` is called for every event, in order."""

    def __init__(self, drawer: FormulaDrawer, emit: Callable[[Event], None]) -> None:
        self._drawer = drawer
        self._emit = emit

    async def draw(self, command: DrawFormulas) -> None:
        """Draw what the command asks for: each formula is told when it is ready, then CommandDone."""
        if len(command.formulas) > MOST_FORMULAS:
            self._refuse(command, f"At most {MOST_FORMULAS} formulas can be asked for at once.")
            return
        if any(len(formula.latex) > LONGEST_FORMULA for formula in command.formulas):
            self._refuse(command, f"A formula of more than {LONGEST_FORMULA:,} characters is not drawn.")
            return
        for formula in command.formulas:
            for piece in _told(formula, await self._drawn(formula), command.request):
                self._emit(piece)
        self._emit(CommandDone(command.request))

    async def close(self) -> None:
        """Draw no more; what was asked for and is not drawn is answered as if it could not be."""
        await self._drawer.close()

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
        yield FormulaDrawn(formula.latex, formula.display, "", 0, 0, 0, False, request)
        return
    width, above, below = (round(1000 * ems) for ems in (drawn.width, drawn.above, drawn.below))
    for start in range(0, len(drawn.svg), PIECE_CHARACTERS):
        end = start + PIECE_CHARACTERS
        piece, more = drawn.svg[start:end], end < len(drawn.svg)
        yield FormulaDrawn(formula.latex, formula.display, piece, width, above, below, more, request)
