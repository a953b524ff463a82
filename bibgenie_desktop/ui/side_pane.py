"""The column at the left: the search over chats, the way to a new one, and the list."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from .icons import icon_size, plus_icon
from .search_field import SearchField
from .sessions import SessionList
from .theme import Colours, Theme, figures
from .times import Clock

FEWEST_FIGURES = 22
"""Of the column's width."""


class SidePane(QWidget):
    """`sidePane`.

    Signals:
        left: the search was left with Escape.
    """

    left = Signal()

    def __init__(self, theme: Theme, clock: Clock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidePane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(figures(self.font(), FEWEST_FIGURES))
        self.search = SearchField("sessionSearch", self.tr("Search chats"))
        self.new_button = QPushButton(self.tr("New chat"))
        self.new_button.setObjectName("newSessionButton")
        self.new_button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.new_button.setIconSize(icon_size(self.new_button.font()))
        self.sessions = SessionList(theme, clock)
        self._nothing = QLabel(self.tr("No chat has this in its title."))
        self._nothing.setObjectName("sessionSearchTold")
        self._nothing.setWordWrap(True)
        self._nothing.setContentsMargins(10, 6, 10, 0)
        top = QVBoxLayout()
        top.setContentsMargins(8, 0, 8, 0)
        top.setSpacing(6)
        top.addWidget(self.search)
        top.addWidget(self.new_button)
        top.addWidget(self._nothing)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 8)
        column.setSpacing(6)
        column.addLayout(top)
        column.addWidget(self.sessions, 1)
        self.search.textChanged.connect(self._search)
        self.search.stepped.connect(self._leave_for_list)
        self.search.escaped.connect(self._end_search)
        self.sessions.model().modelReset.connect(self._tell)
        self._tell()

    def begin_search(self) -> None:
        """Be ready for a word to look for."""
        self.search.setFocus()
        self.search.selectAll()

    def set_colours(self, colours: Colours) -> None:
        """Take on the theme's colours."""
        self.new_button.setIcon(plus_icon(colours.accent))

    def _search(self, text: str) -> None:
        self.sessions.search(text)
        self._tell()

    def _leave_for_list(self, forwards: bool) -> None:
        if forwards:
            self.sessions.open_first()
            self.sessions.setFocus()

    def _end_search(self) -> None:
        self.search.clear()
        self.left.emit()

    def _tell(self) -> None:
        self._nothing.setVisible(self.sessions.finds_nothing)
