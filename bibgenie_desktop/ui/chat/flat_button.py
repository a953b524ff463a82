"""Buttons on the page: flat, quiet, and pressed with the mouse, Space or Enter."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QToolButton, QWidget

from ..theme import Colours

_DISABLED = 0.5
"""How opaque a button is that cannot be pressed now."""


class FlatButton(QToolButton):
    """A word to press: the accent's colour under the pointer, or always where it is `strong`."""

    def __init__(self, name: str, parent: QWidget, *, strong: bool = False) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._strong = strong
        self._colours: Colours | None = None

    @property
    def colours(self) -> Colours | None:
        """The theme's colours; nothing is drawn before they are told."""
        return self._colours

    @colours.setter
    def colours(self, colours: Colours) -> None:
        if colours is not self._colours:
            self._colours = colours
            self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses too; arrow keys are the page's."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Select):
            super().keyPressEvent(event)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what it says, and its ring."""
        if self._colours is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_accented = self.isEnabled() and (self._strong or self.underMouse())
        painter.setOpacity(1.0 if self.isEnabled() else _DISABLED)
        painter.setPen(QColor(self._colours.accent if is_accented else self._colours.muted))
        self.draw(painter)
        if self.hasFocus():
            painter.setPen(QPen(QColor(self._colours.accent), 1))
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 4, 4)
        painter.end()

    def draw(self, painter: QPainter) -> None:
        """Draw the word."""
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())


class ChevronButton(FlatButton):
    """A chevron to press: on to what comes before or after, in the direction of reading."""

    def __init__(self, name: str, parent: QWidget, *, forwards: bool) -> None:
        super().__init__(name, parent)
        self._forwards = forwards

    def draw(self, painter: QPainter) -> None:
        """Draw the chevron."""
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        middle, reach = QPointF(self.width() / 2, self.height() / 2), self.height() * 0.2
        ahead = QPointF(reach / 2 if self._forwards != mirrored else -reach / 2, 0)
        pen = QPen(painter.pen().color(), 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawPolyline(
            QPolygonF([middle - ahead - QPointF(0, reach), middle + ahead, middle - ahead + QPointF(0, reach)])
        )
