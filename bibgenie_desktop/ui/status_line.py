"""The line under the composer: how far the library is, what became of what was done, where a link leads."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from ..protocol.events import LibraryProgress
from .labels import ElidedLabel
from .theme import figures
from .timing import MakeTimer

ANSWER_MILLISECONDS = 6_000
"""How long an answer is told."""
_BAR_FIGURES = 14
_BAR_HEIGHT = 4


class StatusLine(QWidget):
    """`statusLine` and, while the library is indexed, `libraryProgress`.

    Where a link leads is told while the pointer is on it, else the answer to what the person did, else the library.
    """

    def __init__(self, make_timer: MakeTimer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._library = LibraryProgress("none", 0, 0, self.tr("Starting…"))
        self._hovered = self._answer = ""
        self._ends = make_timer(lambda: self.show_answer(""))
        self._text = ElidedLabel("statusLine")
        self._bar = QProgressBar()
        self._bar.setObjectName("libraryProgress")
        self._bar.setAccessibleName(self.tr("Indexing the library"))
        self._bar.setTextVisible(False)
        self._bar.setFixedSize(figures(self.font(), _BAR_FIGURES), _BAR_HEIGHT)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 0, 14, 0)
        row.setSpacing(10)
        row.addWidget(self._bar, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._text, 1)
        self._show()

    def show_library(self, progress: LibraryProgress) -> None:
        """Tell how far the library is."""
        if progress.state != self._library.state:
            # What begins or ends is news; what merely goes on waits until the answer was read.
            self.show_answer("")
        self._library = progress
        self._show()

    def show_answer(self, sentence: str) -> None:
        """Tell for a while what became of what the person did."""
        self._hovered, self._answer = "", sentence
        if sentence:
            self._ends.start(ANSWER_MILLISECONDS)
        else:
            self._ends.stop()
        self._show()

    def show_link(self, sentence: str) -> None:
        """Tell where the link under the pointer leads; "" where there is none."""
        self._hovered = sentence
        self._show()

    def _show(self) -> None:
        library = self._library
        self._text.say(self._hovered or self._answer or library.sentence)
        self._bar.setVisible(library.state == "indexing" and library.total > 0)
        self._bar.setRange(0, max(1, library.total))
        self._bar.setValue(library.done)
