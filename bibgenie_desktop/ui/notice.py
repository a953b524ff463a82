"""The line above the composer that says what went wrong, in place, and offers the way on."""

from __future__ import annotations

from typing import Literal, TypeAlias

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtGui import QAccessible, QAccessibleEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QToolButton, QWidget

from .icons import cross_icon, icon_size
from .labels import breakable

MOST_LINES = 5
"""Of a sentence, before it scrolls."""

NoticeKind: TypeAlias = Literal["problem", "gone", "damage", "quiet"]
"""`gone`: no engine answers, and none is started by itself. `damage`: the chat can only be read. `quiet`: nothing is
wrong."""


class NoticeBar(QFrame):
    """One sentence; shown only while there is one.

    Signals:
        restart_wanted: "Start again" was pressed.
        continue_wanted: the damaged chat is to go on in a new one.
        export_wanted: the damaged chat is to be exported.
        dismissed: the sentence was read and is not wanted any more.
        fitted: its height is another, or it came or went.
    """

    restart_wanted = Signal()
    continue_wanted = Signal()
    export_wanted = Signal()
    dismissed = Signal()
    fitted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("noticeBar")
        self._text = QLabel()
        self._text.setObjectName("noticeText")
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._text.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._scrolled = QScrollArea()
        self._scrolled.setObjectName("noticeScroll")
        self._scrolled.setWidget(self._text)
        self._scrolled.setWidgetResizable(True)
        self._scrolled.setFrameShape(QFrame.Shape.NoFrame)
        self._scrolled.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scrolled.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._buttons: dict[QPushButton, NoticeKind] = {
            self._make("noticeButton", self.tr("Start again"), self.restart_wanted): "gone",
            self._make("continueDamagedButton", self.tr("Continue in a new chat"), self.continue_wanted): "damage",
            self._make("exportDamagedButton", self.tr("Export…"), self.export_wanted): "damage",
        }
        self._close = QToolButton()
        self._close.setObjectName("noticeCloseButton")
        self._close.setAccessibleName(self.tr("Dismiss"))
        self._close.setToolTip(self.tr("Dismiss"))
        self._close.setIconSize(icon_size(self.font()))
        self._close.setAutoRaise(True)
        self._close.clicked.connect(self.dismissed)
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 10, 8)
        row.addWidget(self._scrolled, 1)
        for button in self._buttons:
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self.say("")

    def _make(self, name: str, text: str, does: SignalInstance) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setProperty("notice", True)
        button.clicked.connect(does)
        return button

    def say(self, sentence: str, kind: NoticeKind = "problem") -> None:
        """Show a sentence, "" for none, and what can be done about its kind."""
        self._text.setText(breakable(sentence))
        self._text.setAccessibleName(sentence)
        for button, its_kind in self._buttons.items():
            button.setVisible(kind == its_kind)
        # What stays so is not put away.
        self._close.setVisible(kind in ("problem", "quiet"))
        if self.property("quiet") != (kind == "quiet"):
            self.setProperty("quiet", kind == "quiet")
            self.style().polish(self)
        self.setVisible(bool(sentence))
        self._scrolled.verticalScrollBar().setValue(0)
        self._fit()
        if sentence:
            QAccessible.updateAccessibility(QAccessibleEvent(self._text, QAccessible.Event.Alert))

    def set_colour(self, colour: str) -> None:
        """Draw the sign in this colour."""
        self._close.setIcon(cross_icon(colour))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lines break elsewhere: fit them."""
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Only now is it known how wide it is."""
        super().showEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._row.activate()
        width = self._scrolled.width()
        most = self._text.fontMetrics().lineSpacing() * MOST_LINES
        needed = self._text.heightForWidth(width)
        self._scrolled.setFixedHeight(max(self._text.fontMetrics().height(), min(needed, most)))
        self.fitted.emit()
