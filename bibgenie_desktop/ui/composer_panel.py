"""The panel under the messages: what went wrong, the question, which model answers, send and stop."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from .compacting import Running
from .compaction_banner import CompactionBanner
from .composer import Composer
from .context_meter import ContextMeter
from .icons import arrow_icon, icon_size, square_icon
from .labels import ElidedLabel
from .model_picker import ModelPicker
from .notice import NoticeBar
from .queue_bar import QueueBar
from .theme import Colours, figures, sized

ROOMY_FIGURES = 62
"""Of the panel's width from which on the meter has a number, and the button to compact a word."""


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
        self.banner = CompactionBanner()
        self.model_picker = ModelPicker()
        self.meter = ContextMeter()
        self.compact_button = _compact_button()
        self._narrow = True
        self.send_button = _button("sendButton", self.tr("Send"), self.tr("Send the question (Enter)"))
        self.stop_button = _button("stopButton", self.tr("Stop"), self.tr("Stop the answer (Esc)"))
        self._hint = ElidedLabel("composerHint", trailing=True)
        self._hint.setFont(sized(self._hint.font(), 0.88))
        self._hints = (
            self.tr("Enter sends, Shift+Enter begins a new line"),
            self.tr("Enter lets it wait for the end of this answer"),
            self.tr("Enter lets it wait until the context is compacted"),
        )
        self._hint_text = self._hints[0]
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.model_picker)
        buttons.addWidget(self._hint, 1)
        buttons.addWidget(self.meter)
        buttons.addWidget(self.compact_button)
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
        column.addWidget(self.banner)
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

    def show_compaction(self, running: Running | None) -> None:
        """Show what is compacted; None for nothing."""
        self.banner.show_running(running)
        if not self.stop_button.isVisibleTo(self):
            self._hint_text = self._hints[0 if running is None else 2]
            self._show_hint()
        self._share_height()

    def set_compact_action(self, action: QAction) -> None:
        """Let the button do this."""
        self.compact_button.setDefaultAction(action)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave narrow panels to what cannot be left out."""
        super().resizeEvent(event)
        narrow = event.size().width() < figures(self.font(), ROOMY_FIGURES)
        if narrow != self._narrow:
            self._narrow = narrow
            self.meter.set_narrow(narrow)
            style = Qt.ToolButtonStyle.ToolButtonIconOnly if narrow else Qt.ToolButtonStyle.ToolButtonTextOnly
            self.compact_button.setToolButtonStyle(style)

    def show_draft(self, text: str) -> None:
        """Put a text into the composer, unless it is the one that stands there; nobody is told."""
        composer = self.composer
        typed = composer.toPlainText()
        if text != typed:
            blocked = composer.blockSignals(True)
            if typed and text.endswith(f"\n\n{typed}"):
                # Who is writing goes on where they are.
                composer.put_above(text.removesuffix(typed))
            elif not typed and composer.composing:
                composer.put_above(f"{text}\n\n")
            else:
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
        self.banner.set_colours(colours)
        self.meter.set_colours(colours)

    def _share_height(self) -> None:
        above = [part.sizeHint().height() for part in (self.notice, self.banner, self.queue) if not part.isHidden()]
        self.composer.limit_height(self._most_height - sum(above))

    def _mark_focus(self, has_focus: bool) -> None:
        self.setProperty("focused", has_focus)
        self.style().polish(self)
        self._show_hint()

    def _show_hint(self) -> None:
        # What Enter does is told where it is about to be pressed for the first time, and then gets out of the way.
        wanted = self.composer.hasFocus() and self.composer.document().isEmpty()
        self._hint.say(self._hint_text if wanted else "")


def _compact_button() -> QToolButton:
    button = QToolButton()
    button.setObjectName("compactButton")
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
    button.setIconSize(icon_size(button.font()))
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


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
