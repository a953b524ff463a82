"""The panel under the messages: what went wrong, the question, which model answers, send and stop."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from .composer import Composer
from .icons import arrow_icon, icon_size, square_icon
from .labels import ElidedLabel
from .model_picker import ModelPicker
from .notice import NoticeBar
from .queue_bar import QueueBar
from .theme import Colours, sized


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
        self.queue = QueueBar()
        self.model_picker = ModelPicker()
        self.send_button = _button("sendButton", self.tr("Send"), self.tr("Send the question (Enter)"))
        self.stop_button = _button("stopButton", self.tr("Stop"), self.tr("Stop the answer (Esc)"))
        self._hint = ElidedLabel("composerHint", trailing=True)
        self._hint.setFont(sized(self._hint.font(), 0.88))
        self._hints = (
            self.tr("Enter sends, Shift+Enter begins a new line"),
            self.tr("Enter lets it wait for the end of this answer"),
        )
        self._hint_text = self._hints[0]
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.model_picker)
        buttons.addWidget(self._hint, 1)
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
        column.addWidget(self.queue)
        column.addLayout(inner)
        self.composer.submitted.connect(self.submitted)
        self.composer.focus_changed.connect(self._mark_focus)
        self.composer.textChanged.connect(self._show_hint)
        self._most_height = 0
        self.notice.fitted.connect(self._share_height)
        self.send_button.clicked.connect(self.submitted)
        self.stop_button.clicked.connect(self.stopped)
        self.show_busy(False)

    def limit_height(self, pixels: int) -> None:
        """Let the question and what stands above it grow to so much together; either has its fewest lines."""
        self._most_height = pixels
        self._share_height()

    def show_queue(self, questions: Sequence[str]) -> None:
        """Show the questions that wait."""
        had_focus = self.queue.isAncestorOf(QApplication.focusWidget() or self)
        self.queue.show_questions(questions)
        self._share_height()
        if had_focus:
            self.composer.setFocus()

    def show_draft(self, text: str) -> None:
        """Put a text into the composer, unless it is the one that stands there; nobody is told."""
        composer = self.composer
        if text != composer.toPlainText():
            blocked = composer.blockSignals(True)
            composer.show_text(text)
            composer.blockSignals(blocked)
            self._show_hint()

    def show_busy(self, busy: bool) -> None:
        """Offer to stop while an answer streams, else to send."""
        had_focus = self.send_button.hasFocus() or self.stop_button.hasFocus()
        self.send_button.setVisible(not busy)
        self.stop_button.setVisible(busy)
        self._hint_text = self._hints[int(busy)]
        self._show_hint()
        if had_focus:
            self.composer.setFocus()

    def set_colours(self, colours: Colours) -> None:
        """Take on the theme's colours."""
        self.send_button.setIcon(arrow_icon(colours.on_accent))
        self.stop_button.setIcon(square_icon(colours.on_accent))
        self.notice.set_colour(colours.muted)

    def _share_height(self) -> None:
        above = [part.sizeHint().height() for part in (self.notice, self.queue) if not part.isHidden()]
        self.composer.limit_height(self._most_height - sum(above))

    def _mark_focus(self, has_focus: bool) -> None:
        self.setProperty("focused", has_focus)
        self.style().polish(self)
        self._show_hint()

    def _show_hint(self) -> None:
        # What Enter does is told where it is about to be pressed for the first time, and then gets out of the way.
        wanted = self.composer.hasFocus() and self.composer.document().isEmpty()
        self._hint.say(self._hint_text if wanted else "")


def _button(name: str, label: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setObjectName(name)
    button.setAccessibleName(label)
    button.setToolTip(tip)
    side = max(30, QFontMetrics(button.font()).height() + 8)
    button.setFixedSize(side, side)
    button.setIconSize(icon_size(button.font()))
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
