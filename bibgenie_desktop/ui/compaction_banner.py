"""The line above the composer while earlier context is compacted: how far it is, and the way out (U-2)."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from .chat.life_sign import Beat
from .compacting import Running
from .icons import SIZE
from .labels import ElidedLabel
from .theme import Colours
from .timing import MakeTimer

_ARC = 270
"""Degrees of the ring that is drawn."""


class CompactionBanner(QFrame):
    """`compactionBanner`; shown only while something runs.

    Signals:
        cancelled: "Cancel" was pressed.
        left: its button had the focus and has it no more.
    """

    cancelled = Signal()
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("compactionBanner")
        self._sign = _LifeRing()
        self._text = QLabel(self.tr("Compacting earlier context…"))
        self._text.setObjectName("compactionText")
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self.setAccessibleName(self._text.text())
        self._progress = ElidedLabel("compactionProgress")
        self._cancel = QPushButton()
        self._cancel.setObjectName("compactionCancelButton")
        self._cancel.setProperty("notice", True)
        self._cancel.setAutoDefault(True)  # for Enter
        self._cancel.setToolTip(self.tr("Cancel compacting; the chat stays as it is (Esc)"))
        self._cancel.clicked.connect(self.cancelled)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 8, 6)
        row.setSpacing(10)
        row.addWidget(self._sign)
        row.addWidget(self._text)
        row.addWidget(self._progress, 1)
        row.addWidget(self._cancel)
        # The longest that it says, so that nothing moves when it is pressed.
        words = (self.tr("Cancel"), self.tr("Cancelling…"))
        widths = []
        for word in words:
            self._cancel.setText(word)
            widths.append(self._cancel.sizeHint().width())
        self._words = words
        self._cancel.setMinimumWidth(max(widths))
        self.hide()

    @property
    def button(self) -> QPushButton:
        """The way out."""
        return self._cancel

    def text(self) -> str:
        """What it says, beside how far it is."""
        return self._text.text()

    def set_look(self, make_timer: MakeTimer) -> None:
        """Let its sign live by these timers."""
        self._sign.beat = Beat(make_timer)

    def set_colours(self, colours: Colours) -> None:
        """Take on the theme's colours."""
        self._sign.colour = colours.accent
        self._sign.update()

    def show_running(self, running: Running | None) -> None:
        """Show what runs; None for nothing."""
        had_focus = self.window().focusWidget() is self._cancel
        is_new = running is not None and self.isHidden()
        is_cancelling = running is not None and running.is_cancelling
        is_cancelled = is_cancelling and self._cancel.isEnabled()
        self._cancel.setText(self._words[int(is_cancelling)])
        self._cancel.setAccessibleDescription(self.text())
        self._cancel.setEnabled(running is not None and not is_cancelling)
        self._progress.say("" if running is None or is_cancelling else self._words_of(running))
        self.setVisible(running is not None)
        if had_focus and not self._cancel.isEnabled():
            self.left.emit()
        if is_new or is_cancelled:
            told = self._cancel.text() if is_cancelled else self.text()
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, told))

    def _words_of(self, running: Running) -> str:
        match running.phase:
            case "summarising" if running.pieces > 1:
                return self.tr("piece {number} of {count}").format(number=running.piece, count=running.pieces)
            case "checking":
                return self.tr("checking")
            case "repairing":
                return self.tr("writing it a second time")
            case "committing":
                return self.tr("storing")
            case _:
                return ""


class _LifeRing(QWidget):
    """A ring that beats quietly."""

    def __init__(self) -> None:
        super().__init__()
        self.beat: Beat | None = None
        self.colour = ""
        side = max(SIZE, self.fontMetrics().height())
        self.setFixedSize(QSize(side, side))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ring."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(self.beat.strength(self, self.rect()) if self.beat is not None else 1.0)
        painter.setPen(QPen(QColor(self.colour), 2.2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        room = QRectF(self.rect()).adjusted(3, 3, -3, -3)
        painter.drawArc(room, 60 * 16, -_ARC * 16)
        painter.end()
