"""The list of chats at the left: found by their titles, renamed in place, with what can be done with each."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu, QWidget

from ..protocol.values import SessionRow
from .session_delegate import SessionDelegate
from .session_lines import SessionListModel, SessionRole
from .theme import Theme
from .times import Clock

FEWEST_LINES = 2
"""Of the smallest height of the list."""


class SessionList(QListView):
    """`sessionList`.

    Signals:
        chosen(session_id): the person wants this chat opened.
        renamed(session_id, title): the person wants this chat to have another title.
        pin_wanted(session_id, pinned): the person wants this chat at the top, or no more.
        archive_wanted(session_id, archived): the person wants this chat put away, or back.
        export_wanted(session_id, whole): the person wants this chat in a file; `whole`, with every branch.
        delete_wanted(session_id): the person wants this chat deleted; they are asked first.
        left(downwards): the keys lead out of the list.
        escaped: Escape was pressed.
    """

    chosen = Signal(str)
    renamed = Signal(str, str)
    pin_wanted = Signal(str, bool)
    archive_wanted = Signal(str, bool)
    export_wanted = Signal(str, bool)
    delete_wanted = Signal(str)
    left = Signal(bool)
    escaped = Signal()

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
        self._unfolded = False
        self._sessions = SessionListModel(clock, self)
        self.setModel(self._sessions)
        self._lines = SessionDelegate(theme, self)
        self.setItemDelegate(self._lines)
        self._current = ""
        self.clicked.connect(self._choose)
        self.customContextMenuRequested.connect(self._pop_menu_up)
        self._sessions.renamed.connect(self.renamed)
        self._lines.closeEditor.connect(self._show, Qt.ConnectionType.QueuedConnection)
        theme.changed.connect(self.viewport().update)

    def show_sessions(self, sessions: Sequence[SessionRow]) -> None:
        """Show these chats; the open one stays marked."""
        self._all = tuple(sessions)
        self._show()

    def search(self, text: str) -> None:
        """Show only chats whose titles hold all of these words, archived ones too; all for none."""
        self._words = text.casefold().split()
        self._show()

    @property
    def finds_nothing(self) -> bool:
        """Whether there are chats, but none with the words looked for."""
        return bool(self._all) and not self._sessions.rowCount()

    @property
    def shown_height(self) -> int:
        """The height of all lines together, in pixels."""
        rows = self._sessions.rowCount()
        return self.visualRect(self._sessions.index(rows - 1)).bottom() + self.verticalOffset() + 1 if rows else 0

    def row(self, session_id: str) -> SessionRow | None:
        """What is known of a chat; None if there is no such one."""
        return next((row for row in self._all if row.id == session_id), None)

    def mark(self, session_id: str) -> None:
        """Mark the chat that is open; "" marks none."""
        self._current = session_id
        row = self._sessions.row_of(session_id)
        if row < 0:
            self.selectionModel().clear()
        elif self.currentIndex().row() != row:
            self.setCurrentIndex(self._sessions.index(row))

    def open_first(self) -> bool:
        """Open the first chat that is shown; tells whether there is one."""
        index = self._edge(first=True, chats=True)
        if index.isValid():
            self.setCurrentIndex(index)
            self._choose(index)
        return index.isValid()

    def enter(self, *, first: bool = True) -> bool:
        """Take the focus at the first line, or the last; tells whether there is one to stand on."""
        index = self._edge(first=first)
        if index.isValid():
            self.setCurrentIndex(index)
            self.setFocus()
        return index.isValid()

    @property
    def highlighted(self) -> str:
        """The chat that the keys have reached, "" for none."""
        return str(self.currentIndex().data(SessionRole.SESSION_ID) or "")

    def rename(self, session_id: str) -> None:
        """Let the person write another title in the title's place. While one is written it stays at that."""
        session = self.row(session_id)
        if session is not None and session.is_archived and not self._unfolded:
            self._unfold(True)
        row = self._sessions.row_of(session_id)
        if row >= 0 and self.state() != QAbstractItemView.State.EditingState:
            index = self._sessions.index(row)
            self.scrollTo(index)
            self.edit(index)

    def minimumSizeHint(self) -> QSize:
        """Room for some lines."""
        return QSize(super().minimumSizeHint().width(), self.fontMetrics().lineSpacing() * FEWEST_LINES)

    def changeEvent(self, event: QEvent) -> None:
        """Measure the lines again in other letters."""
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._lines.measure_again()
        super().changeEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keep Escape from being a shortcut while it leads back to the search."""
        override = event.type() == QEvent.Type.ShortcutOverride and bool(self._words)
        if override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open and delete a chat, and lead out of the list at its ends."""
        match event.key():
            case _ if self.state() == QAbstractItemView.State.EditingState:
                # What the field in which a title is written leaves alone is nothing that the list does.
                super().keyPressEvent(event)
            # Handled here: what Enter and a click do in a list differs from platform to platform.
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._choose(self.currentIndex())
            case Qt.Key.Key_Delete | Qt.Key.Key_Backspace if self.highlighted:
                self.delete_wanted.emit(self.highlighted)
            case Qt.Key.Key_Escape if self._words:
                self.escaped.emit()
            case Qt.Key.Key_Up if self.currentIndex() == self._edge(first=True):
                self.left.emit(False)
            case Qt.Key.Key_Down if self.currentIndex() == self._edge(first=False):
                self.left.emit(True)
            case _:
                super().keyPressEvent(event)

    def context_menu(self, index: QModelIndex) -> QMenu:
        """`sessionMenu`: what can be done with a chat."""
        session_id = str(index.data(SessionRole.SESSION_ID))
        session = self.row(session_id)
        menu = QMenu(self)
        menu.setObjectName("sessionMenu")
        menu.addAction(self.tr("Open"), lambda: self._choose(self._sessions.index(self._sessions.row_of(session_id))))
        menu.addAction(self.tr("Rename"), lambda: self.rename(session_id)).setShortcut(QKeySequence(Qt.Key.Key_F2))
        if session is not None:
            pinned, archived = session.is_pinned, session.is_archived
            menu.addAction(
                self.tr("Unpin") if pinned else self.tr("Pin"), lambda: self.pin_wanted.emit(session_id, not pinned)
            )
            menu.addAction(
                self.tr("Bring back") if archived else self.tr("Archive"),
                lambda: self.archive_wanted.emit(session_id, not archived),
            )
        exporting = menu.addMenu(self.tr("Export"))
        exporting.addAction(self.tr("This branch…"), lambda: self.export_wanted.emit(session_id, False))
        exporting.addAction(self.tr("The whole tree…"), lambda: self.export_wanted.emit(session_id, True))
        menu.addSeparator()
        deleting = menu.addAction(self.tr("Delete…"), lambda: self.delete_wanted.emit(session_id))
        deleting.setShortcut(QKeySequence(Qt.Key.Key_Delete))
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
            # Who searches wants to find: what was put away too.
            unfolded = self._unfolded or bool(self._words)
            titles = {each.id: each.title for each in self._all}
            found = [each for each in self._all if self._matches(each.title)] if self._words else self._all
            self._sessions.show(found, titles, unfolded=unfolded)
            self.mark(self._current)

    def _unfold(self, unfolded: bool) -> None:
        self._unfolded = unfolded
        self._show()

    def _matches(self, title: str) -> bool:
        folded = title.casefold()
        return all(word in folded for word in self._words)

    def _edge(self, *, first: bool, chats: bool = False) -> QModelIndex:
        """The first or the last line that can be stood on."""
        rows = range(self._sessions.rowCount())
        for row in rows if first else reversed(rows):
            index = self._sessions.index(row)
            usable = self._sessions.flags(index) & Qt.ItemFlag.ItemIsSelectable
            if index.data(SessionRole.SESSION_ID) or (usable and not chats):
                return index
        return QModelIndex()

    def _choose(self, index: QModelIndex | QPersistentModelIndex) -> None:
        session_id = index.data(SessionRole.SESSION_ID)
        if session_id and session_id != self._current:
            self.chosen.emit(session_id)
        elif index.data(SessionRole.KIND) == "archive" and not self._words:
            self._unfold(not self._unfolded)
            self.setCurrentIndex(self._sessions.index(self._sessions.archive_row))
