"""The signs that an answer is still coming: a dot that beats quietly where it goes on."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QStyle, QWidget
from shiboken6 import isValid

from ..theme import Colours
from ..timing import MakeTimer

BEAT_MILLISECONDS = 400
"""Between two steps of a sign."""
DOT = 7
"""Pixels across a dot."""
_STRENGTHS = (1.0, 0.65, 0.3, 0.65)


class Beat:
    """The time of all signs of a page. It runs only as long as a sign is painted: what nobody sees costs nothing."""

    def __init__(self, make_timer: MakeTimer) -> None:
        self._timer = make_timer(self._step)
        self._count = 0
        self._painted: dict[QWidget, QRect] = {}

    def strength(self, painted: QWidget, area: QRect) -> float:
        """How opaque the sign in an area of a widget is that is being painted now, from 0 to 1; the area will be
        painted again at the next step."""
        if not _may_move():
            return 1.0
        if not self._painted:
            self._timer.start(BEAT_MILLISECONDS)
        self._painted[painted] = area
        return _STRENGTHS[self._count % len(_STRENGTHS)]

    def _step(self) -> None:
        self._count += 1
        painted, self._painted = self._painted, {}
        for widget, area in painted.items():
            if isValid(widget):
                widget.update(area)


def _may_move() -> bool:
    """Whether the person has not switched off animations, or the blinking of the text cursor."""
    style = QApplication.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration)
    return style > 0 and QGuiApplication.styleHints().cursorFlashTime() > 0


def draw_dot(painter: QPainter, middle: QPointF, colour: str, strength: float) -> None:
    """Draw a dot around a place."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setOpacity(strength)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawEllipse(middle, DOT / 2, DOT / 2)
    painter.restore()


class LifeSign(QWidget):
    """A dot, and behind it words where nothing else is to be read yet."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("messageLife")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._beat: Beat | None = None
        self._colours: Colours | None = None
        self._words = ""

    def set_look(self, beat: Beat, colours: Colours, words: str) -> None:
        """Draw in these colours, in the time given."""
        if (beat, colours, words) != (self._beat, self._colours, self._words):
            self._beat, self._colours, self._words = beat, colours, words
            self.setAccessibleName(words)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the dot and the words."""
        if self._beat is None or self._colours is None:
            return
        painter = QPainter(self)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        inset = DOT / 2 + 1
        middle = QPointF(self.width() - inset if mirrored else inset, self.height() / 2)
        draw_dot(painter, middle, self._colours.muted, self._beat.strength(self, self.rect()))
        if self._words:
            beside = 2 * DOT
            room = QRect(0 if mirrored else beside, 0, self.width() - beside, self.height())
            painter.setPen(QColor(self._colours.muted))
            painter.drawText(room, Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter, self._words)
        painter.end()
