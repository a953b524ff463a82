"""The messages of the open chat as a Qt model: what `messageList.model()` is (interface.md)."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QByteArray, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from .conversation import Conversation, Message


class MessageRole(IntEnum):
    """What the model tells of a message."""

    NODE_ID = Qt.ItemDataRole.UserRole + 1
    KIND = Qt.ItemDataRole.UserRole + 2
    SOURCE = Qt.ItemDataRole.UserRole + 3
    STATUS = Qt.ItemDataRole.UserRole + 4


_NAMES = {
    MessageRole.NODE_ID: b"nodeId",
    MessageRole.KIND: b"kind",
    MessageRole.SOURCE: b"source",
    MessageRole.STATUS: b"status",
}


class TranscriptModel(QAbstractListModel):
    """The active branch of the open chat, root first, and what is being added to it.

    Signals:
        streamed(row): a message got more at its end. Told apart from `dataChanged`, so that a stream of deltas does not
        make a view ask for everything again.
    """

    streamed = Signal(int)

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

    def removed(self, row: int) -> None:
        """See Listener."""
        self.beginRemoveRows(QModelIndex(), row, row)
        self._count -= 1
        self.endRemoveRows()

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
            case _:
                return None
