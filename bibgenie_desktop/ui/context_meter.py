"""How full the context is: a ring with its percentage under the question, and what it is full of (C-3, D-6)."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLocale, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from ..protocol.events import ContextState
from .chat.wording import model_name
from .icons import icon_size
from .labels import plain_tip
from .theme import Colours

_GAP = 6
_PADDING = 6
OPENING_KEYS = (Qt.Key.Key_Space, Qt.Key.Key_Select, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down)


@dataclass(frozen=True, slots=True)
class Fill:
    """A state of the context in numbers that are shown: in per cent of what the model is sent at most."""

    percent: int
    is_due: bool

    @classmethod
    def of(cls, state: ContextState) -> Fill:
        """The numbers of a state. What is not empty is never shown as 0, and what is not full never as 100."""
        limit = max(1, state.limit)
        percent = round(100 * state.tokens / limit)
        if state.tokens and not percent:
            percent = 1
        if percent == 100 and state.tokens < limit:
            percent = 99
        return cls(percent, state.tokens >= state.compacts_at)


class ContextMeter(QToolButton):
    """`contextMeter`.

    Signals:
        opened: what it is full of is wanted, or wanted no more.
    """

    opened = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("contextMeter")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setIconSize(icon_size(self.font()))
        self._fill: Fill | None = None
        self._colours: Colours | None = None
        self._narrow = True
        self.clicked.connect(self.opened)
        self.show_state(None)

    def set_colours(self, colours: Colours) -> None:
        """Draw in the colours of a theme."""
        self._colours = colours
        self.update()

    def set_narrow(self, narrow: bool) -> None:
        """Show the ring alone."""
        if narrow != self._narrow:
            self._narrow = narrow
            self.updateGeometry()
            self.update()

    def show_state(self, state: ContextState | None) -> None:
        """Show how full it is; None where nobody knows."""
        self._fill = None if state is None else Fill.of(state)
        if state is None or self._fill is None:
            words = self.tr("How full the context is, is not known yet")
            self.setText("")
            self.setToolTip(plain_tip(words))
        else:
            percent = QLocale().toString(self._fill.percent)
            self.setText(self.tr("{percent} %").format(percent=percent))
            words = self.tr("Context: {percent} % full").format(percent=percent)
            counted = self.tr("estimated") if state.is_estimate else self.tr("counted by the provider")
            told = self.tr("{tokens} of {limit} tokens that {model} is sent at most, {counted}").format(
                tokens=QLocale().toString(state.tokens),
                limit=QLocale().toString(state.limit),
                model=model_name(state.model),
                counted=counted,
            )
            self.setToolTip(plain_tip(f"{words}\n{told}"))
            self.setAccessibleDescription(told)
        self.setAccessibleName(words)
        self.update()

    def sizeHint(self) -> QSize:
        """Room for the ring and three figures."""
        side = self.iconSize().height()
        words = (
            0
            if self._narrow
            else _GAP + self.fontMetrics().horizontalAdvance(self.tr("{percent} %").format(percent=100))
        )
        return QSize(side + words + 2 * _PADDING, side + 8)

    def minimumSizeHint(self) -> QSize:
        """The same."""
        return self.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys that press a button, and those that open a list."""
        if event.key() in OPENING_KEYS:
            self.opened.emit()
        else:
            super().keyPressEvent(event)

    @property
    def corner(self) -> QPoint:
        """Where what it is full of is shown, on the screen: its upper corner at the end of the line."""
        return self.mapToGlobal(QPoint(0 if self.isRightToLeft() else self.width(), 0))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ring, as much of it as is full, and the words."""
        if self._colours is None:
            return
        colours, side = self._colours, self.iconSize().height()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.underMouse() or self.hasFocus():
            painter.setPen(QPen(QColor(colours.accent), 1) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.bubble) if self.underMouse() else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        x = self.width() - _PADDING - side if self.isRightToLeft() else _PADDING
        ring = QRectF(x, (self.height() - side) / 2, side, side).adjusted(3, 3, -3, -3)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.line), 3.4))
        painter.drawEllipse(ring)
        if self._fill is not None:
            full = min(100, self._fill.percent)
            painter.setPen(QPen(QColor(colours.accent if self._fill.is_due else colours.muted), 3.4))
            painter.drawArc(ring, 90 * 16, -round(full * 3.6 * 16))
        if not self._narrow and self.text():
            words = self.rect().adjusted(_PADDING, 0, -_PADDING, 0)
            inset = side + _GAP
            words.adjust(*((0, 0, -inset, 0) if self.isRightToLeft() else (inset, 0, 0, 0)))
            is_due = self._fill is not None and self._fill.is_due
            painter.setPen(QColor(colours.accent if is_due else colours.muted))
            painter.drawText(words, Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter, self.text())
        painter.end()
