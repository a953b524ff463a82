"""A line, or some lines, of plain text in a colour that nothing but its owner changes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget


class InkLabel(QLabel):
    """Plain text. A label's palette is forgotten whenever a style sheet is set: so it is drawn here."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._ink = QColor()

    @property
    def ink(self) -> str:
        """The colour of its text."""
        return self._ink.name()

    def set_ink(self, colour: str) -> None:
        """Draw in this colour."""
        if colour != self._ink.name():
            self._ink = QColor(colour)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text."""
        painter = QPainter(self)
        painter.setPen(self._ink)
        wrap = Qt.TextFlag.TextWordWrap if self.wordWrap() else Qt.TextFlag.TextSingleLine
        flags = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter | wrap
        text = self.text()
        if not self.wordWrap():
            text = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), flags, text)
        painter.end()
