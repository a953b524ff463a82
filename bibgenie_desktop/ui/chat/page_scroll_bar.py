"""The scroll bar of the page: its room is always there, its thumb only where there is something to scroll."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QScrollBar


class PageScrollBar(QScrollBar):
    """`paper` is the colour of the page, which it shows where all of the page is in sight."""

    paper = QColor()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the thumb, or the page."""
        if self.maximum() > self.minimum():
            super().paintEvent(event)
            return
        painter = QPainter(self)
        painter.fillRect(event.rect(), self.paper)
        painter.end()
