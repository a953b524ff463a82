"""A line in which something is searched for."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget


class SearchField(QLineEdit):
    """A field whose Escape key is its own, whatever else the key does in the window.

    Signals:
        escaped: Escape was pressed.
        stepped(forwards): Enter or the down key was pressed, or with Shift the key Enter, or the up key.
    """

    escaped = Signal()
    stepped = Signal(bool)

    def __init__(self, name: str, prompt: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(prompt)
        self.setPlaceholderText(prompt)
        self.setClearButtonEnabled(True)
        self.setMaxLength(200)

    def event(self, event: QEvent) -> bool:
        """Keep Escape from being a shortcut."""
        override = event.type() == QEvent.Type.ShortcutOverride
        if override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell the keys that lead out of the field from those that write in it."""
        match event.key():
            case Qt.Key.Key_Escape:
                self.escaped.emit()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.stepped.emit(not event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            case Qt.Key.Key_Down | Qt.Key.Key_Up:
                self.stepped.emit(event.key() == Qt.Key.Key_Down)
            case _:
                super().keyPressEvent(event)
