"""The column at the left: the search over chats and messages, the way to a new chat, the list, what can be undone."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from .history import HistorySearched
from .history_list import HistoryList
from .icons import icon_size, plus_icon
from .keeping_bar import KeepingBar
from .search_field import SearchField
from .sessions import SessionList
from .theme import Colours, Theme, figures, sized
from .times import Clock

FEWEST_FIGURES = 22
"""Of the column's width."""
UNLIMITED = 16_777_215
"""What Qt takes for no limit of a height."""


class SidePane(QWidget):
    """`sidePane`.

    Signals:
        left: the search was left with Escape.
        searched(text): this is looked for; "" for nothing.
    """

    left = Signal()
    searched = Signal(str)

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
        self.history = HistoryList(theme, clock)
        self.keeping_bar = KeepingBar()
        self._history = HistorySearched()
        self._nothing = self._label("sessionSearchTold", self.tr("No chat has this in its title."), margin=10)
        self._heading = self._label("historyHeading", self.tr("In messages"))
        self._heading.setFont(sized(self._heading.font(), 0.92))
        self._told = self._label("historyTold", "")
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
        column.addWidget(self._heading)
        column.addWidget(self._told)
        column.addWidget(self.history, 2)
        # Stands in for the hits while there are none, so that the rest stays where it is.
        self._rest = QWidget()
        column.addWidget(self._rest, 2)
        column.addWidget(self.keeping_bar)
        self.search.textChanged.connect(self._search)
        self.search.entered.connect(self._open_first)
        self.search.moved.connect(self._leave_search)
        self.search.escaped.connect(self._end_search)
        self.sessions.left.connect(self._leave_sessions)
        self.sessions.escaped.connect(self.begin_search)
        self.history.left.connect(self._leave_history)
        self.history.escaped.connect(self.begin_search)
        self.keeping_bar.left.connect(self.sessions.setFocus)
        self.sessions.model().modelReset.connect(self._tell)
        self._tell()

    def begin_search(self) -> None:
        """Be ready for a word to look for."""
        self.search.setFocus()
        self.search.selectAll()

    def show_history(self, searched: HistorySearched) -> None:
        """Show what was found in the messages."""
        self._history = searched
        self.history.show_hits(searched.hits)
        self._tell()
        if searched.state in ("found", "failed"):
            count = len(searched.hits)
            told = self.tr("1 message found") if count == 1 else self.tr("{count} messages found").format(count=count)
            spoken = told if count else self._told.text()
            self.search.setAccessibleDescription(spoken)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.search, spoken))
        else:
            self.search.setAccessibleDescription("")

    def set_colours(self, colours: Colours) -> None:
        """Take on the theme's colours."""
        self.new_button.setIcon(plus_icon(colours.accent))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the height anew."""
        super().resizeEvent(event)
        self._share_height()

    def _search(self, text: str) -> None:
        self.sessions.search(text)
        self.searched.emit(text)
        self._tell()

    def _open_first(self) -> None:
        if self.sessions.open_first():
            self.sessions.setFocus()
        elif self._history.state == "found" and self.history.open_first():
            self.history.setFocus()

    def _leave_search(self, downwards: bool) -> None:
        if downwards and not self.sessions.enter():
            self.history.enter()

    def _leave_sessions(self, downwards: bool) -> None:
        if not downwards:
            self.begin_search()
        elif self.history.isVisible():
            self.history.enter()

    def _leave_history(self) -> None:
        if self.sessions.isHidden() or not self.sessions.enter(first=False):
            self.begin_search()

    def _end_search(self) -> None:
        self.search.clear()
        self.left.emit()

    def _tell(self) -> None:
        searched = self._history
        searching = searched.state != "idle"
        self._nothing.setVisible(self.sessions.finds_nothing)
        self._heading.setVisible(searching)
        match searched.state:
            case "searching":
                told = "" if searched.hits else self.tr("Searching…")
            case "failed":
                told = searched.sentence
            case "found" if not searched.hits:
                told = self.tr("No message has this.")
            case "found" if searched.is_cut:
                told = self.tr("There are more: add a word.")
            case _:
                told = ""
        self._told.setText(told)
        self._told.setVisible(bool(told))
        self.history.setVisible(bool(searched.hits))
        self._rest.setVisible(searching and not searched.hits)
        self.sessions.setVisible(not (searching and self.sessions.finds_nothing))
        self._share_height()

    def _share_height(self) -> None:
        """Titles get what they need beside messages, and no more than the smaller half."""
        searching = self._history.state != "idle"
        self.sessions.setMaximumHeight(
            max(self.sessions.minimumSizeHint().height(), min(self.sessions.shown_height, self.height() * 2 // 5))
            if searching
            else UNLIMITED
        )

    def _label(self, name: str, text: str, margin: int = 18) -> QLabel:
        label = QLabel(text)
        label.setObjectName(name)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setContentsMargins(margin, 4, margin, 0)
        return label
