"""A summary that the checks refused, to be read and taken all the same (D-6)."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from .labels import breakable
from .summary_view import SummaryView
from .theme import figures

WIDTH_FIGURES, HEIGHT_LINES = 76, 30
LEAST_FIGURES, LEAST_LINES = 40, 14


class RefusedSummaryDialog(QDialog):
    """`refusedSummaryDialog`: shown beside the window, never run in an event loop of its own.

    Signals:
        accept_wanted: it is to be used all the same.
    """

    accept_wanted = Signal()

    def __init__(self, why: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("refusedSummaryDialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("The refused summary"))
        self.setPalette(parent.palette())
        self._why = QLabel(breakable(why))
        self._why.setObjectName("refusedWhy")
        self._why.setTextFormat(Qt.TextFormat.PlainText)
        self._why.setWordWrap(True)
        self._view = SummaryView("refusedSummary", self.tr("The summary that was refused"))
        self._use = QPushButton(self.tr("Use it all the same"))
        self._use.setObjectName("useRefusedButton")
        self._use.setAutoDefault(False)
        self._use.setEnabled(False)
        close = QPushButton(self.tr("Close"))
        close.setObjectName("refusedCloseButton")
        self._use.clicked.connect(self._want)
        close.clicked.connect(self.close)
        buttons = QHBoxLayout()
        buttons.addWidget(self._use)
        buttons.addStretch(1)
        buttons.addWidget(close)
        column = QVBoxLayout(self)
        # Its least size is told once, before it is shown.
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(22, 18, 22, 16)
        column.setSpacing(10)
        column.addWidget(self._why)
        column.addWidget(self._view, 1)
        column.addLayout(buttons)
        room = self.screen().availableSize() * 0.9
        wanted = (figures(self.font(), WIDTH_FIGURES), self.fontMetrics().lineSpacing() * HEIGHT_LINES)
        self.setMinimumSize(figures(self.font(), LEAST_FIGURES), self.fontMetrics().lineSpacing() * LEAST_LINES)
        self.resize(min(wanted[0], room.width()), min(wanted[1], room.height()))
        close.setFocus()

    def show_text(self, text: str) -> None:
        """Show it exactly as it was written: it may be no summary at all."""
        self._view.show_as_it_is(text)
        self._use.setEnabled(True)

    def say(self, sentence: str) -> None:
        """Say why it cannot be read."""
        self._why.setText(breakable(sentence))

    def _want(self) -> None:
        self.close()
        self.accept_wanted.emit()
