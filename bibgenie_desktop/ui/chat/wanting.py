"""What the page lacks: bodies of messages near to what is seen, and pictures of formulas. Each is asked for once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..timing import MakeTimer
from .model import TranscriptModel
from .page_layout import PageLayout

BODIES_MILLISECONDS = 40
"""Of quiet before bodies are asked for: who drags the scroll bar wants those where it stops."""


class Wanting:
    """Looks at a page for what it lacks. `ask_for_bodies` is called with the first and the last row that lack one,
    `ask_for_formulas` with a tuple of formulas."""

    def __init__(
        self,
        model: TranscriptModel,
        layout: PageLayout,
        make_timer: MakeTimer,
        ask_for_bodies: Callable[[int, int], Any],
        ask_for_formulas: Callable[[tuple[object, ...]], Any],
    ) -> None:
        self._model = model
        self._layout = layout
        self._ask_for_bodies = ask_for_bodies
        self._ask_for_formulas = ask_for_formulas
        self._asked: set[int] = set()
        self._formulas: set[object] = set()
        self._asking = make_timer(self._ask)

    def look(self) -> None:
        """Other rows are on the page, or others are near."""
        wanted = {formula for row in self._layout.rows.values() for formula in row.missing} - self._formulas
        if wanted:
            self._formulas |= wanted
            self._ask_for_formulas(tuple(wanted))
        if self._missing():
            self._asking.start(BODIES_MILLISECONDS)

    def formulas_drawn(self) -> None:
        """There are pictures of formulas that there were not when they were wanted."""
        numbers = [number for number, row in self._layout.rows.items() if row.missing]
        for number in numbers:
            self._layout.rows[number].forget_missing()
        self._layout.refresh(numbers)

    def truncated(self, count: int) -> None:
        """There are so many messages now."""
        self._asked.intersection_update(range(count))

    def _missing(self) -> list[int]:
        near = self._layout.near()
        return [number for number in near if number not in self._asked and not self._model.message(number).ready]

    def _ask(self) -> None:
        if missing := self._missing():
            self._asked.update(missing)
            self._ask_for_bodies(missing[0], missing[-1])
