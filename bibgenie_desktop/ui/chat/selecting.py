"""Selecting text with the pointer: within one message at a time, and beyond the edge of the page."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QWidget

from ..timing import MakeTimer
from .copying import Part, joined
from .page_layout import PageLayout
from .rows import Row

STEP_MILLISECONDS = 40
"""Between two steps of the page while the pointer is held beyond its edge."""


class Selecting:
    """Keeps the one row that text is selected in. `scroll` moves the page by so many pixels."""

    def __init__(self, viewport: QWidget, layout: PageLayout, make_timer: MakeTimer) -> None:
        self._viewport = viewport
        self._layout = layout
        self._timer = make_timer(self._step)
        self.row: Row | None = None
        """The row that text was selected in last."""
        self._place = QPoint()
        self._drawing = False

    @property
    def text(self) -> str:
        """The text that is selected, "" for none."""
        return joined(self.parts)

    @property
    def parts(self) -> list[Part]:
        """The text that is selected; long parts are left to be worked out."""
        return self.row.selection if self.row is not None else []

    def clear(self) -> None:
        """Select nothing."""
        if self.row is not None and self.row.number >= 0:
            self.row.clear_selection()

    def begin(self, row: Row) -> None:
        """A selection may begin in a row: those in others are gone."""
        if self.row is not None and self.row is not row and self.row.number >= 0:
            self.row.clear_selection()
        self.row = row

    def select_all(self, row: Row) -> None:
        """Select all text of a row."""
        self.begin(row)
        row.select_all()

    def end(self) -> None:
        """The button was let go."""
        self._timer.stop()
        self._drawing = False

    def drag(self, place: QPoint) -> None:
        """The pointer moves with the button held; beyond the edge the page follows."""
        self._place, self._drawing = place, True
        if self._beyond():
            self._timer.start(STEP_MILLISECONDS)

    def _beyond(self) -> int:
        y = self._viewport.mapFromGlobal(self._place).y()
        return y if y < 0 else max(0, y - self._viewport.height())

    def _step(self) -> None:
        beyond = self._beyond()
        if beyond and self._drawing and self.row is not None:
            self._layout.scroll_to(self._layout.value + beyond // 2)
            self.row.select_towards(self._place)
            self._timer.start(STEP_MILLISECONDS)
