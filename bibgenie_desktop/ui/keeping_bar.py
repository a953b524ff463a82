"""The line under the list of chats that asks before one is deleted, and then offers the way back."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from .keeping import Offer
from .labels import breakable, isolated, plain_line

LONGEST_TITLE = 60
"""Characters of a title in a sentence."""


class KeepingBar(QFrame):
    """`keepingBar`; shown only while there is something to answer.

    Signals:
        delete_wanted: "Delete" was chosen.
        keep_wanted: "Keep" was chosen, or Escape pressed.
        undo_wanted: "Undo" was chosen.
        left: it goes, and had the focus.
    """

    delete_wanted = Signal()
    keep_wanted = Signal()
    undo_wanted = Signal()
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("keepingBar")
        self._offer: Offer | None = None
        self._text = QLabel()
        self._text.setObjectName("keepingText")
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._delete = self._button("keepingDeleteButton", self.tr("Delete"))
        self._keep = self._button("keepingKeepButton", self.tr("Keep"))
        self._undo = self._button("keepingUndoButton", self.tr("Undo"))
        self.buttons = (self._delete, self._keep, self._undo)
        row = QHBoxLayout()
        row.setSpacing(4)
        for button in self.buttons:
            row.addWidget(button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 6)
        column.setSpacing(2)
        column.addWidget(self._text)
        column.addLayout(row)
        self._delete.clicked.connect(self.delete_wanted)
        self._keep.clicked.connect(self.keep_wanted)
        self._undo.clicked.connect(self.undo_wanted)
        self.hide()

    def show_offer(self, offer: Offer | None) -> None:
        """Show what can be answered now; None for nothing. A question takes the focus, at the answer that is safe."""
        if offer == self._offer:
            return
        # Of the window, which need not be the active one.
        had_focus = self.window().focusWidget() in self.buttons
        self._offer = offer
        asking = offer is not None and offer.kind == "ask"
        self._delete.setVisible(asking)
        self._keep.setVisible(asking)
        self._undo.setVisible(offer is not None and not asking)
        self.setVisible(offer is not None)
        if offer is not None:
            self._say(offer)
        if asking:
            self._keep.setFocus()
        elif had_focus:
            self.left.emit()

    def event(self, event: QEvent) -> bool:
        """Keep Escape from being a shortcut while it answers."""
        override = event.type() == QEvent.Type.ShortcutOverride and self._keep.isVisible()
        if override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape keeps the chat."""
        if event.key() == Qt.Key.Key_Escape and self._keep.isVisible():
            self.keep_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _say(self, offer: Offer) -> None:
        title = plain_line(offer.title) or self.tr("Untitled chat")
        if len(title) > LONGEST_TITLE:
            title = f"{title[: LONGEST_TITLE - 1]}…"
        if offer.kind == "ask":
            sentence = self.tr("Delete “{title}” for good?").format(title=isolated(title))
        else:
            sentence = self.tr("Deleted “{title}”.").format(title=isolated(title))
        self._text.setText(breakable(sentence))
        self._text.setAccessibleName(sentence)
        for button in self.buttons:
            button.setAccessibleDescription(sentence)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, sentence))

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAutoDefault(True)  # for Enter
        return button
