"""The list of chats at the left: grouped by day, the last used first, found by their titles, renamed in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ..protocol.messages import SessionRow
from .labels import isolated, plain_line
from .search_field import LineField
from .theme import Theme, sized
from .times import Age, Clock, age, local, short

LONGEST_TITLE = 200
"""Characters."""


class SessionRole(IntEnum):
    """What the model tells of a line."""

    SESSION_ID = Qt.ItemDataRole.UserRole + 1
    DETAIL = Qt.ItemDataRole.UserRole + 2


@dataclass(frozen=True, slots=True)
class _Line:
    """A heading (without a session) or a chat."""

    title: str
    session_id: str = ""
    detail: str = ""


class SessionListModel(QAbstractListModel):
    """The chats with headings between them. Headings can be neither chosen nor opened.

    Signals:
        renamed(session_id, title): the person wrote another title.
    """

    renamed = Signal(str, str)

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._lines: list[_Line] = []

    def show(self, sessions: Sequence[SessionRow]) -> None:
        """Show these chats, the last used first."""
        today = self._clock()
        lines: list[_Line] = []
        group: Age | None = None
        for session in sessions:
            moment = local(session.updated_at)
            its_group = age(moment, today) if moment else "older"
            if its_group != group:
                group = its_group
                lines.append(_Line(self._heading(its_group)))
            turns = self.tr("1 question") if session.turns == 1 else self.tr("{count} questions")
            detail = f"{turns.format(count=session.turns)} · {short(session.updated_at, today)}"
            # The title of a chat is a question's first line: nothing in it may break the line or turn it round.
            lines.append(_Line(plain_line(session.title), session.id, detail))
        if lines != self._lines:
            self.beginResetModel()
            self._lines = lines
            self.endResetModel()

    def row_of(self, session_id: str) -> int:
        """The row of a chat, -1 if it is not listed."""
        rows = (row for row, line in enumerate(self._lines) if session_id and line.session_id == session_id)
        return next(rows, -1)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        """How many lines there are, headings included."""
        return 0 if parent.isValid() else len(self._lines)

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """A heading can neither be chosen nor used."""
        if not index.isValid() or not self._lines[index.row()].session_id:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable

    def setData(
        self, index: QModelIndex | QPersistentModelIndex, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        """Want a chat renamed; it shows the title once it has it."""
        line = self._lines[index.row()] if index.isValid() else _Line("")
        title = plain_line(str(value))
        if role != Qt.ItemDataRole.EditRole or not line.session_id or title in ("", line.title):
            return False
        self.renamed.emit(line.session_id, title)
        return True

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a role tells of a line."""
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return line.title or self.tr("Untitled chat")
            case Qt.ItemDataRole.EditRole:
                return line.title
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{index.data()}, {line.detail}" if line.session_id else line.title
            case SessionRole.SESSION_ID:
                return line.session_id
            case SessionRole.DETAIL:
                return line.detail
            case _:
                return None

    def _heading(self, group: Age) -> str:
        match group:
            case "today":
                return self.tr("Today")
            case "week":
                return self.tr("Last seven days")
            case _:
                return self.tr("Earlier")


class SessionList(QListView):
    """`sessionList`.

    Signals:
        chosen(session_id): the person wants this chat opened.
        renamed(session_id, title): the person wants this chat to have another title.
    """

    chosen = Signal(str)
    renamed = Signal(str, str)

    def __init__(self, theme: Theme, clock: Clock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sessionList")
        self.setAccessibleName(self.tr("Chats"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setMouseTracking(True)
        self._all: tuple[SessionRow, ...] = ()
        self._words: list[str] = []
        self._sessions = SessionListModel(clock, self)
        self.setModel(self._sessions)
        self.setItemDelegate(_SessionDelegate(theme, self))
        self._current = ""
        # One signal for a click and for Enter, on every platform.
        self.clicked.connect(self._choose)
        self.activated.connect(self._choose)
        self.customContextMenuRequested.connect(self._pop_menu_up)
        self._sessions.renamed.connect(self.renamed)
        self.itemDelegate().closeEditor.connect(self._show, Qt.ConnectionType.QueuedConnection)
        theme.changed.connect(self.viewport().update)

    def show_sessions(self, sessions: Sequence[SessionRow]) -> None:
        """Show these chats; the open one stays marked."""
        self._all = tuple(sessions)
        self._show()

    def search(self, text: str) -> None:
        """Show only chats whose titles hold all of these words; all for none."""
        self._words = text.casefold().split()
        self._show()

    @property
    def finds_nothing(self) -> bool:
        """Whether there are chats, but none with the words looked for."""
        return bool(self._all) and not self._sessions.rowCount()

    def mark(self, session_id: str) -> None:
        """Mark the chat that is open; "" marks none."""
        self._current = session_id
        row = self._sessions.row_of(session_id)
        if row < 0:
            self.selectionModel().clear()
        elif self.currentIndex().row() != row:
            self.setCurrentIndex(self._sessions.index(row))

    def open_first(self) -> None:
        """Open the first chat that is shown."""
        for row in range(self._sessions.rowCount()):
            index = self._sessions.index(row)
            if index.data(SessionRole.SESSION_ID):
                self.setCurrentIndex(index)
                self._choose(index)
                return

    @property
    def highlighted(self) -> str:
        """The chat that the keys have reached, "" for none."""
        return str(self.currentIndex().data(SessionRole.SESSION_ID) or "")

    def rename(self, session_id: str) -> None:
        """Let the person write another title in the title's place. While one is written it stays at that."""
        row = self._sessions.row_of(session_id)
        if row >= 0 and self.state() != QAbstractItemView.State.EditingState:
            index = self._sessions.index(row)
            self.scrollTo(index)
            self.edit(index)

    def context_menu(self, index: QModelIndex) -> QMenu:
        """`sessionMenu`: what can be done with a chat."""
        session_id = index.data(SessionRole.SESSION_ID)
        menu = QMenu(self)
        menu.setObjectName("sessionMenu")
        menu.addAction(self.tr("Open"), lambda: self._choose(self._sessions.index(self._sessions.row_of(session_id))))
        menu.addAction(self.tr("Rename"), lambda: self.rename(session_id)).setShortcut(QKeySequence(Qt.Key.Key_F2))
        return menu

    def _pop_menu_up(self, place: QPoint) -> None:
        index = self.indexAt(place)
        if index.data(SessionRole.SESSION_ID):
            menu = self.context_menu(index)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.viewport().mapToGlobal(place))

    def _show(self) -> None:
        # A title that is being written is not taken away by a list that changes meanwhile: it comes afterwards.
        if self.state() != QAbstractItemView.State.EditingState:
            self._sessions.show([each for each in self._all if self._matches(each.title)])
            self.mark(self._current)

    def _matches(self, title: str) -> bool:
        folded = title.casefold()
        return all(word in folded for word in self._words)

    def _choose(self, index: QModelIndex) -> None:
        session_id = index.data(SessionRole.SESSION_ID)
        if session_id and session_id != self._current:
            self.chosen.emit(session_id)


class _SessionDelegate(QStyledItemDelegate):
    """Draws a heading as one quiet line, a chat as its title over its detail."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """The size of a line."""
        title, detail = _fonts(option.font)
        height = QFontMetrics(detail).height()
        if index.data(SessionRole.SESSION_ID):
            return QSize(120, QFontMetrics(title).height() + height + 18)
        return QSize(120, height + 18)

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        """The line in which a title is written."""
        editor = LineField(parent)
        editor.setObjectName("sessionTitleField")
        editor.setAccessibleName(self.tr("Title of the chat"))
        editor.setMaxLength(LONGEST_TITLE)
        return editor

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        """Leave to an input method what is its own: Enter accepts what was composed, not the title."""
        if isinstance(editor, LineField) and editor.belongs_to_method(event):
            event.accept()
            return True
        return super().eventFilter(editor, event)

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """In the place of the whole line."""
        rect: QRect = option.rect
        editor.setGeometry(rect.adjusted(8, 2, -8, -2))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a line."""
        colours = self._theme.colours
        title_font, detail_font = _fonts(option.font)
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        inner = rect.adjusted(18, 0, -18, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not index.data(SessionRole.SESSION_ID):
            painter.setFont(detail_font)
            painter.setPen(QColor(colours.muted))
            painter.drawText(inner.adjusted(0, 8, 0, 0), Qt.AlignmentFlag.AlignVCenter, index.data())
            painter.restore()
            return
        box = rect.adjusted(8, 2, -8, -2)
        if state & QStyle.StateFlag.State_Selected:
            painter.setPen(QPen(QColor(colours.accent if state & QStyle.StateFlag.State_HasFocus else colours.line)))
            painter.setBrush(QColor(colours.paper))
            painter.drawRoundedRect(box, 7, 7)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.bubble))
            painter.drawRoundedRect(box, 7, 7)
        title_metrics, detail_metrics = QFontMetrics(title_font), QFontMetrics(detail_font)
        top = rect.top() + 9
        painter.setFont(title_font)
        painter.setPen(QColor(colours.text))
        title = title_metrics.elidedText(index.data(), Qt.TextElideMode.ElideRight, inner.width())
        first = QRect(inner.left(), top, inner.width(), title_metrics.height())
        painter.drawText(first, Qt.AlignmentFlag.AlignVCenter, isolated(title))
        painter.setFont(detail_font)
        painter.setPen(QColor(colours.muted))
        second = QRect(inner.left(), top + title_metrics.height(), inner.width(), detail_metrics.height())
        told = detail_metrics.elidedText(index.data(SessionRole.DETAIL), Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(second, Qt.AlignmentFlag.AlignVCenter, isolated(told))
        painter.restore()


def _fonts(font: QFont) -> tuple[QFont, QFont]:
    return sized(font, 1.03), sized(font, 0.92)
