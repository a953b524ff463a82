"""The line above the composer that says what went wrong, in place, and offers the way on."""

from __future__ import annotations

from typing import Literal, TypeAlias

from PySide6.QtCore import QPoint, QRect, Qt, Signal, SignalInstance
from PySide6.QtGui import QAccessible, QAccessibleEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from .chat.remedies import Remedy
from .icons import cross_icon, icon_size
from .labels import breakable

MOST_LINES = 5
"""Of a sentence, before it scrolls."""
REMEDY_GAP = 18
"""Pixels between two ways on."""

NoticeKind: TypeAlias = Literal["problem", "gone", "damage", "quiet"]
"""`gone`: no engine answers, and none is started by itself. `damage`: the chat can only be read. `quiet`: nothing is
wrong."""


class NoticeBar(QFrame):
    """One sentence; shown only while there is one.

    Signals:
        restart_wanted: "Start again" was pressed.
        continue_wanted: the damaged chat is to go on in a new one.
        export_wanted: the damaged chat is to be exported.
        remedy_wanted(Remedy): this is to be done about it.
        dismissed: the sentence was read and is not wanted any more.
        fitted: its height is another, or it came or went.
    """

    restart_wanted = Signal()
    continue_wanted = Signal()
    export_wanted = Signal()
    remedy_wanted = Signal(str)
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
        self._row = row = QHBoxLayout()
        row.addWidget(self._scrolled, 1)
        for button in self._buttons:
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._remedies = _Remedies(self.remedy_wanted)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 8, 10, 8)
        column.setSpacing(2)
        column.addLayout(row)
        column.addWidget(self._remedies)
        self.say("")

    def _make(self, name: str, text: str, does: SignalInstance) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setProperty("notice", True)
        button.clicked.connect(does)
        return button

    def offer(self, remedies: tuple[Remedy, ...]) -> None:
        """Offer these ways on with the sentence that is shown next."""
        self._remedies.show_remedies(remedies)

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


class _Remedies(QWidget):
    """A button for each remedy, side by side as far as there is room."""

    def __init__(self, wanted: SignalInstance) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        words: dict[Remedy, tuple[str, str]] = {
            "try_again": ("compactAgainButton", self.tr("Try again")),
            "without_model": ("compactWithoutModelButton", self.tr("Compact without a model")),
            "read_refused": ("readRefusedButton", self.tr("Read the refused summary")),
            "compact": ("compactFirstButton", self.tr("Compact earlier context")),
            "send_again": ("compactAndSendButton", self.tr("Compact and send again")),
        }
        self._buttons: dict[Remedy, QPushButton] = {}
        for remedy, (name, text) in words.items():
            button = self._buttons[remedy] = QPushButton(text, self)
            button.setObjectName(name)
            button.setProperty("notice", True)
            button.setProperty("remedy", True)
            button.setAutoDefault(True)  # for Enter
            button.clicked.connect(lambda _=False, remedy=remedy: wanted.emit(remedy))
        self.hide()

    def show_remedies(self, remedies: tuple[Remedy, ...]) -> None:
        """Show these."""
        for remedy, button in self._buttons.items():
            button.setVisible(remedy in remedies)
        self.setVisible(bool(remedies))
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange them anew."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        x = y = height = 0
        for button in self._buttons.values():
            if button.isHidden():
                continue
            size = button.sizeHint()
            if x and x + size.width() > self.width():
                x, y = 0, y + height
            height = size.height()
            place = QRect(QPoint(self.width() - x - size.width() if self.isRightToLeft() else x, y), size)
            button.setGeometry(place)
            x += size.width() + REMEDY_GAP
        self.setFixedHeight(y + height)
