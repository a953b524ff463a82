"""The button that leads back to the newest message, over the page's lower edge."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from ..theme import Colours

_ABOVE_EDGE = 12
"""Pixels."""


class JumpButton(QAbstractButton):
    """`jumpToNewestButton`."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("jumpToNewestButton")
        self.setText(self.tr("Jump to newest"))
        self.setToolTip(self.tr("Go to the newest message and follow the answer (End)"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._colours: Colours | None = None
        self.hide()

    def set_colours(self, colours: Colours) -> None:
        """Draw in the colours of a theme."""
        self._colours = colours
        self.update()

    def put_on(self, page: QRect) -> None:
        """Stand in the middle of the lower edge of the page, above all that moves under it."""
        size = self.sizeHint()
        x = (page.width() - size.width()) // 2
        self.setGeometry(QRect(x, page.height() - size.height() - _ABOVE_EDGE, size.width(), size.height()))
        self.raise_()

    def sizeHint(self) -> QSize:
        """Room for its words."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 46, metrics.height() + 12)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a pill with an arrow and the words."""
        if self._colours is None:
            return
        colours = self._colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        accent, edge = QColor(colours.accent), QColor(colours.line)
        painter.setPen(QPen(accent if self.hasFocus() else edge, 1))
        painter.setBrush(QColor(colours.bubble if self.underMouse() else colours.chip))
        round_ = (self.height() - 2) / 2
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), round_, round_)
        painter.setPen(QPen(accent, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        x, y = 20, self.height() // 2
        for tip in (x - 4, x + 4):
            painter.drawLine(tip, y, x, y + 4)
        painter.drawLine(x, y - 5, x, y + 4)
        painter.setPen(QColor(colours.text))
        painter.drawText(self.rect().adjusted(32, 0, -12, 0), Qt.AlignmentFlag.AlignVCenter, self.text())
        painter.end()
