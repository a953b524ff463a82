"""The panel under the messages: what went wrong, the question, which model answers, send and stop."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from .composer import Composer
from .icons import SIZE, arrow_icon, square_icon
from .labels import ElidedLabel
from .model_picker import ModelPicker
from .notice import NoticeBar
from .theme import Colours


class ComposerPanel(QFrame):
    """`composerPanel`.

    Signals:
        submitted: the person wants the question sent.
        stopped: the person wants the answer stopped.
    """

    submitted = Signal()
    stopped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composerPanel")
        self.composer = Composer()
        self.notice = NoticeBar()
        self.model_picker = ModelPicker()
        self.send_button = _button("sendButton", self.tr("Send"), self.tr("Send the question (Enter)"))
        self.stop_button = _button("stopButton", self.tr("Stop"), self.tr("Stop the answer (Esc)"))
        hint = ElidedLabel("composerHint")
        hint.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        hint.say(self.tr("Enter sends, Shift+Enter begins a new line"))
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.model_picker)
        buttons.addWidget(hint, 1)
        buttons.addWidget(self.send_button)
        buttons.addWidget(self.stop_button)
        inner = QVBoxLayout()
        inner.setContentsMargins(10, 8, 10, 10)
        inner.setSpacing(4)
        inner.addWidget(self.composer)
        inner.addLayout(buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addWidget(self.notice)
        column.addLayout(inner)
        self.composer.submitted.connect(self.submitted)
        self.composer.focus_changed.connect(self._mark_focus)
        self.send_button.clicked.connect(self.submitted)
        self.stop_button.clicked.connect(self.stopped)
        self.show_busy(False)

    def show_draft(self, text: str) -> None:
        """Put a text into the composer, unless it is the one that stands there; nobody is told."""
        composer = self.composer
        if text != composer.toPlainText():
            blocked = composer.blockSignals(True)
            composer.setPlainText(text)
            composer.moveCursor(composer.textCursor().MoveOperation.End)
            composer.blockSignals(blocked)

    def show_busy(self, busy: bool) -> None:
        """Offer to stop while an answer streams, else to send."""
        had_focus = self.send_button.hasFocus() or self.stop_button.hasFocus()
        self.send_button.setVisible(not busy)
        self.stop_button.setVisible(busy)
        if had_focus:
            self.composer.setFocus()

    def set_colours(self, colours: Colours) -> None:
        """Take on the theme's colours."""
        self.send_button.setIcon(arrow_icon(colours.on_accent))
        self.stop_button.setIcon(square_icon(colours.on_accent))

    def _mark_focus(self, has_focus: bool) -> None:
        self.setProperty("focused", has_focus)
        self.style().polish(self)


def _button(name: str, label: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setObjectName(name)
    button.setAccessibleName(label)
    button.setToolTip(tip)
    button.setFixedSize(30, 30)
    button.setIconSize(QSize(SIZE, SIZE))
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
