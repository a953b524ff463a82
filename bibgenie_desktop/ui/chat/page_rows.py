"""The rows of the page: how high each of them is, and the widgets of those that exist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from PySide6.QtWidgets import QAbstractScrollArea, QApplication

from .heights import HeightIndex
from .model import TranscriptModel
from .row_pool import RowPool
from .rows import Page, Row, Standing, kind_of


class PageRows:
    """The rows of `model` in the viewport of `area`. `page` is what they have in common."""

    def __init__(self, area: QAbstractScrollArea, model: TranscriptModel, pool: RowPool, page: Page) -> None:
        self._area = area
        self._viewport = area.viewport()
        self._model = model
        self._pool = pool
        self._pages: dict[Standing, Page] = {}
        self._boundary = 0
        self.page = page
        self.index = HeightIndex()
        """The heights of all rows, most of them estimated."""
        self.rows: dict[int, Row] = {}
        """Those that exist."""

    @property
    def page(self) -> Page:
        """What the rows have in common."""
        return self._page

    @page.setter
    def page(self, page: Page) -> None:
        self._page = page
        self._pages = {standing: replace(page, standing=standing) for standing in ("kept", "first", "covered")}

    def bind(self, number: int) -> None:
        """Let a row that exists show its message as it is now."""
        boundary, message = self._model.conversation.boundary, self._model.message(number)
        standing: Standing = "kept" if number >= boundary else "covered"
        if boundary and number == boundary and message.role != "checkpoint":
            standing = "first"
        self.rows[number].bind(number, message, self._pages[standing])

    def follow_boundary(self) -> None:
        """What is sent word for word may begin elsewhere now: show that in the rows that exist."""
        boundary = self._model.conversation.boundary
        if boundary != self._boundary:
            self._boundary = boundary
            for number in self.rows:
                self.bind(number)

    def estimates(self, first: int = 0) -> Iterator[int]:
        """How high the rows from `first` on may be."""
        rows = range(first, self._model.rowCount())
        return self.page.measures.message_heights(self._model.message(number) for number in rows)

    def make(self, number: int) -> None:
        """Let a row exist."""
        if number not in self.rows:
            message = self._model.message(number)
            self.rows[number] = self._pool.take(kind_of(message))
            self.bind(number)

    def lay_out(self, number: int, top: int, bottom: int) -> int:
        """Lay out what is seen of a row between two places of the page; returns its height."""
        begin = self.index.top(number)
        height = self.rows[number].lay_out(top - begin, bottom - begin)
        self.index.set_height(number, height)
        return height

    def put_in_place(self, value: int, seen: range) -> None:
        """Put every row where it belongs, `value` pixels of the page being above the screen."""
        height = self._viewport.height()
        # What is in sight moves as one: the picture is moved, not drawn again.
        for number in seen:
            row = self.rows[number]
            shift = self.index.top(number) - value - row.y()
            if row.isVisible() and row.y() < height and row.geometry().bottom() >= 0:
                if 0 < abs(shift) < height:
                    self._viewport.scroll(0, shift)
                break
        x = (self._viewport.width() - self.page.measures.column) // 2
        for number, row in self.rows.items():
            row.arrange()
            # A row that is kept although it is far away waits just out of sight.
            y = min(max(self.index.top(number) - value, -row.height() - height), 2 * height)
            if (row.x(), row.y()) != (x, y):
                row.move(x, y)
            if row.isHidden():
                row.show()

    def let_go(self, numbers: list[int]) -> None:
        """These rows need not exist any more."""
        for number in numbers:
            self.give_back(self.rows.pop(number))

    def give_back(self, row: Row) -> None:
        """A row is none of the page's any more. The focus, if it is in there, goes to the page."""
        focus = QApplication.focusWidget()
        if focus is not None and row.isAncestorOf(focus):
            self._area.setFocus()
        self._pool.give_back(row)
