"""The messages of the open chat as a Qt model: what `messageList.model()` is (interface.md)."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QByteArray, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from .conversation import Conversation
from .message import Message


class MessageRole(IntEnum):
    """What the model tells of a message."""

    NODE_ID = Qt.ItemDataRole.UserRole + 1
    KIND = Qt.ItemDataRole.UserRole + 2
    SOURCE = Qt.ItemDataRole.UserRole + 3
    STATUS = Qt.ItemDataRole.UserRole + 4
    BRANCH_INDEX = Qt.ItemDataRole.UserRole + 5
    BRANCH_COUNT = Qt.ItemDataRole.UserRole + 6


_NAMES = {
    MessageRole.NODE_ID: b"nodeId",
    MessageRole.KIND: b"kind",
    MessageRole.SOURCE: b"source",
    MessageRole.STATUS: b"status",
    MessageRole.BRANCH_INDEX: b"branchIndex",
    MessageRole.BRANCH_COUNT: b"branchCount",
}


class TranscriptModel(QAbstractListModel):
    """The active branch of the open chat, root first, and what is being added to it.

    Signals:
        streamed(row): a message got more at its end. Told apart from `dataChanged`, so that a stream of deltas does not
        make a view ask for everything again.
        replacing(first), replaced_from(first): all rows from `first` on are taken away, and others put in their places,
            between these two.
    """

    streamed = Signal(int)
    replacing = Signal(int)
    replaced_from = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._conversation = Conversation()
        # Counted here, because the conversation tells what changed after it has changed.
        self._count = 0

    @property
    def conversation(self) -> Conversation:
        """The chat that is shown."""
        return self._conversation

    def show(self, conversation: Conversation) -> None:
        """Be the model of another chat."""
        self._conversation.listen(None)
        self._conversation = conversation
        conversation.listen(self)
        self.reset()

    def message(self, row: int) -> Message:
        """The message in a row."""
        return self._conversation.messages[row]

    def reset(self) -> None:
        """See Listener."""
        self.beginResetModel()
        self._count = len(self._conversation.messages)
        self.endResetModel()

    def inserted(self, first: int, last: int) -> None:
        """See Listener."""
        self.beginInsertRows(QModelIndex(), first, last)
        self._count += last - first + 1
        self.endInsertRows()

    def removed(self, first: int, last: int) -> None:
        """See Listener."""
        self.beginRemoveRows(QModelIndex(), first, last)
        self._count = first
        self.endRemoveRows()

    def replaced(self, first: int, before: int, now: int) -> None:
        """See Listener."""
        self.replacing.emit(first)
        self.removed(first, before - 1)
        self.inserted(first, now - 1)
        self.replaced_from.emit(first)

    def changed(self, row: int) -> None:
        """See Listener."""
        index = self.index(row)
        self.dataChanged.emit(index, index)

    def grown(self, row: int) -> None:
        """See Listener."""
        self.streamed.emit(row)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        """How many messages there are."""
        return 0 if parent.isValid() else self._count

    def roleNames(self) -> dict[int, QByteArray]:
        """The roles by the names of interface.md."""
        return {role: QByteArray(name) for role, name in _NAMES.items()}

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a role tells of a message."""
        if not index.isValid() or index.row() >= self._count:
            return None
        message = self.message(index.row())
        match role:
            case MessageRole.NODE_ID:
                return message.node_id
            case MessageRole.KIND:
                return message.role
            case MessageRole.SOURCE | Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return message.source
            case MessageRole.STATUS:
                return message.status
            case MessageRole.BRANCH_INDEX:
                return message.version
            case MessageRole.BRANCH_COUNT:
                return message.versions
            case _:
                return None
