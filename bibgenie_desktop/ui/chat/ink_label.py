"""A line, or some lines, of plain text in a colour that nothing but its owner changes."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QTextLayout, QTextOption
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
        if self.wordWrap():
            self._laid_out(self.width()).draw(painter, QPointF(0, 0))
        else:
            flags = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
            text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
            painter.drawText(self.rect(), flags, text)
        painter.end()

    def heightForWidth(self, width: int) -> int:
        """The height of its lines."""
        return math.ceil(self._laid_out(width).boundingRect().height()) if self.wordWrap() else self.sizeHint().height()

    def _laid_out(self, width: int) -> QTextLayout:
        """Its lines at a width: a word that is longer than one, such as an address, is broken where a line ends."""
        # A line end of Qt's own, as a layout knows no other.
        layout = QTextLayout(self.text().replace("\n", "\u2028"), self.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTextDirection(self.layoutDirection())
        layout.setTextOption(option)
        layout.beginLayout()
        y = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, y))
            y += line.height()
        layout.endLayout()
        return layout
