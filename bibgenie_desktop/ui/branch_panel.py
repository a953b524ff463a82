"""The branch map with its head and the words about one message, beside the messages or above them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSplitter, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from ..protocol.values import TreeRow
from .branch_map import BranchMap
from .icons import cross_icon, icon_size
from .labels import ElidedLabel, breakable
from .theme import Colours, Theme, figures
from .times import Clock
from .timing import MakeTimer

FEWEST_FIGURES = 26
"""Of the panel's width beside the messages."""
BESIDE_FIGURES = 84
"""Of the width from which on the panel has its place beside the messages, and not above them."""
FEWEST_LINES = 4
"""Of the map's smallest height."""
EXCERPT_LINES = 2
FOOT_LINES = 13
"""Of the panel's height from which on there is room for words under the map."""


class BranchPanel(QFrame):
    """`branchMapPanel`.

    Signals:
        shown(shown): it came into sight, or went.
        closed: it was closed from within.
    """

    shown = Signal(bool)
    closed = Signal()

    def __init__(self, theme: Theme, clock: Clock, make_timer: MakeTimer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("branchMapPanel")
        self.map = BranchMap(theme, clock, make_timer)
        self.map.setMinimumHeight(self.fontMetrics().lineSpacing() * FEWEST_LINES)
        self._session_id = ""
        title = ElidedLabel("branchMapTitle")
        title.say(self.tr("Branch map"))
        self._close = QToolButton()
        self._close.setObjectName("branchMapCloseButton")
        self._close.setAccessibleName(self.tr("Close the branch map"))
        self._close.setToolTip(self.tr("Close the branch map"))
        self._close.setIconSize(icon_size(self.font()))
        self._close.setAutoRaise(True)
        head = QHBoxLayout()
        head.setContentsMargins(14, 8, 8, 4)
        head.addWidget(title, 1)
        head.addWidget(self._close)
        self._told = QLabel()
        self._told.setObjectName("branchMapTold")
        self._told.setTextFormat(Qt.TextFormat.PlainText)
        self._told.setWordWrap(True)
        self._told.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._told.setContentsMargins(14, 4, 14, 4)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.map)
        self._pages.addWidget(self._told)
        self._who = ElidedLabel("branchMapWho")
        self._excerpt = _Lines("branchMapExcerpt", EXCERPT_LINES)
        foot = QVBoxLayout()
        foot.setContentsMargins(14, 6, 14, 8)
        foot.setSpacing(2)
        foot.addWidget(self._who)
        foot.addWidget(self._excerpt)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self._pages, 1)
        column.addLayout(foot)
        self._close.clicked.connect(self.closed)
        self.map.escaped.connect(self.closed)
        self.map.told.connect(self._tell)

    def show_tree(self, session_id: str, tree: tuple[TreeRow, ...]) -> None:
        """Show the tree of a chat."""
        self.map.show_tree(tree, fresh=session_id != self._session_id)
        self._session_id = session_id
        if tree:
            self._pages.setCurrentWidget(self.map)
        else:
            self.say(self.tr("Nothing was asked in this chat yet."))

    def say(self, sentence: str) -> None:
        """Say something in the place of the map."""
        self._told.setText(breakable(sentence))
        self._pages.setCurrentWidget(self._told)
        self._tell("", "")

    def set_colours(self, colours: Colours) -> None:
        """Take on the theme's colours."""
        self._close.setIcon(cross_icon(colours.muted))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave a low panel to the map."""
        super().resizeEvent(event)
        roomy = event.size().height() >= self.fontMetrics().lineSpacing() * FOOT_LINES
        for label in (self._who, self._excerpt):
            label.setVisible(roomy)

    def showEvent(self, event: QShowEvent) -> None:
        """The tree is wanted now."""
        super().showEvent(event)
        self.shown.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """The tree is wanted no more."""
        super().hideEvent(event)
        self.shown.emit(False)

    def _tell(self, who: str, excerpt: str) -> None:
        self._who.say(who)
        self._excerpt.say(excerpt)


class _Lines(QLabel):
    """A label of so many lines of plain text, whatever stands in it."""

    def __init__(self, name: str, lines: int) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * lines)

    def say(self, text: str) -> None:
        """Show as much of a text as there is room for."""
        self.setText(breakable(text))


class ChatArea(QSplitter):
    """The messages, and the panel beside them where there is room, else above them."""

    def __init__(self, panel: BranchPanel, messages: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setObjectName("chatArea")
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self._panel = panel
        self._messages = messages
        self._beside = figures(self.font(), BESIDE_FIGURES)
        self.addWidget(messages)
        self.addWidget(panel)
        self.setStretchFactor(0, 1)
        self._turn(beside=True)
        panel.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Turn where the room beside the messages comes or goes."""
        super().resizeEvent(event)
        beside = event.size().width() >= self._beside
        if beside != (self.orientation() == Qt.Orientation.Horizontal):
            self._turn(beside=beside)

    def _turn(self, *, beside: bool) -> None:
        self.setOrientation(Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical)
        self.insertWidget(1 if beside else 0, self._panel)
        self._panel.setMinimumWidth(figures(self.font(), FEWEST_FIGURES) if beside else 0)
        self._panel.setProperty("beside", beside)
        self._panel.style().polish(self._panel)
        whole = self.width() if beside else self.height()
        part = figures(self.font(), FEWEST_FIGURES * 5 // 4) if beside else whole * 3 // 5
        self.setSizes([whole - part, part] if beside else [part, whole - part])
