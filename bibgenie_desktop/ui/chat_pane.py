"""The open chat in the middle of the window: its title, its messages or what stands for them, the composer under it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from .branch_panel import BranchPanel, ChatArea
from .icons import icon_size
from .labels import ElidedLabel
from .theme import column_width, figures, sized

CHAT_FIGURES = 36
"""Of the smallest width of the chat."""
LIST_LINES = 2
"""Of the smallest height of the chat's messages."""
OVERHANG = 24
"""Pixels that the composer is wider than the text above it, at either side."""


class ChatPane(QWidget):
    """`chatPane`. Lays out what the window made: `empty` stands where there are no `messages`, `branches` beside them,
    `panel` and `status` under them; `map_action` is at the end of the title."""

    def __init__(
        self,
        map_action: QAction,
        find_bar: QWidget,
        branches: BranchPanel,
        messages: QWidget,
        empty: QWidget,
        panel: QWidget,
        status: QWidget,
    ) -> None:
        super().__init__()
        self.setObjectName("chatPane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = ElidedLabel("chatTitle")
        self.title.setFont(sized(self.title.font(), 1.15))
        self._messages = messages
        self._empty = empty
        self._pages = QStackedWidget()
        self._pages.addWidget(empty)
        self._pages.addWidget(messages)
        self._pages.setMinimumHeight(self.fontMetrics().lineSpacing() * LIST_LINES)
        middle = QVBoxLayout(self)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(0)
        middle.addWidget(self._header(map_action))
        middle.addWidget(find_bar)
        middle.addWidget(ChatArea(branches, self._pages), 1)
        middle.addLayout(self._foot(panel, status))
        self.setMinimumWidth(figures(self.font(), CHAT_FIGURES))

    def show_empty(self, empty: bool) -> None:
        """Show what stands for messages, or the messages."""
        self._pages.setCurrentWidget(self._empty if empty else self._messages)

    def _header(self, map_action: QAction) -> QWidget:
        header = QWidget()
        header.setObjectName("chatHeader")
        header.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(header)
        row.setContentsMargins(22, 11, 22, 11)
        row.addWidget(self.title, 1)
        map_button = QToolButton()
        map_button.setObjectName("branchMapButton")
        map_button.setDefaultAction(map_action)
        map_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        map_button.setIconSize(icon_size(map_button.font()))
        map_button.setAutoRaise(True)
        row.addWidget(map_button)
        return header

    def _foot(self, panel: QWidget, status: QWidget) -> QHBoxLayout:
        """The composer in a column that is as wide as the text, in the middle."""
        column = QWidget()
        column.setMaximumWidth(column_width(self.font()) + 2 * OVERHANG)
        rows = QVBoxLayout(column)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(6)
        rows.addWidget(panel)
        rows.addWidget(status)
        centred = QHBoxLayout()
        centred.setContentsMargins(14, 6, 14, 8)
        centred.addStretch(1)
        centred.addWidget(column, 1000)
        centred.addStretch(1)
        return centred
