"""A selection that reaches over the parts of one message."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QWidget

from .text_box import TextBox


class RowSelection:
    """The selection in a row whose boxes of text, from top to bottom, are told by `boxes`."""

    def __init__(self, row: QWidget, boxes: Callable[[], list[TextBox]]) -> None:
        self._row = row
        self._boxes = boxes
        self._begun: TextBox | None = None
        self.whole = False
        """Whether all is selected, also what has no box."""

    def __bool__(self) -> bool:
        return self.whole or any(box.has_selection for box in self._boxes())

    def clear(self) -> None:
        """Select nothing."""
        self.whole = False
        for box in self._boxes():
            box.select(0, 0)

    def take_all(self) -> None:
        """Select all text."""
        self.whole = True
        for box in self._boxes():
            box.select(0, box.last)

    def begin(self, begun: TextBox) -> None:
        """A selection may begin in a box: those in others are gone."""
        self._begun, self.whole = begun, False
        for box in self._boxes():
            if box is not begun:
                box.select(0, 0)

    def reach(self, place: QPoint) -> None:
        """Reach to a place on the screen."""
        if self._begun is not None:
            self._begun.extend_to(QPointF(self._begun.mapFromGlobal(place)))
            self.reach_beyond(place)

    def reach_beyond(self, place: QPoint) -> None:
        """Reach to a place on the screen; the box that the selection began in has done its part."""
        begun, y = self._begun, self._row.mapFromGlobal(place).y()
        for box in self._boxes():
            inside = QPointF(box.mapFromGlobal(place))
            if begun is None or box is begun:
                continue
            if box.y() > begun.y() and y >= box.y():
                box.select_from_begin(inside)
            elif box.y() < begun.y() and y < box.geometry().bottom():
                box.select_to_end(inside)
            else:
                box.select(0, 0)
