"""Fields of one line that leave keys to the input method while it composes, and the one in which is searched."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

_COMPOSING_KEYS = (
    Qt.Key.Key_Escape,
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Tab,
    Qt.Key.Key_Backtab,
)


class LineField(QLineEdit):
    """A field that knows whether an input method composes in it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._composing = False

    def belongs_to_method(self, event: QEvent) -> bool:
        """Whether this is a key that the input method takes: it chooses, accepts or gives up what is composed."""
        return self._composing and isinstance(event, QKeyEvent) and event.key() in _COMPOSING_KEYS

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Note whether something is being composed."""
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Nothing is composed any more."""
        self._composing = False
        super().focusOutEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keep keys of the input method from doing anything else."""
        if self.belongs_to_method(event):
            event.accept()
            return True
        return super().event(event)


class SearchField(LineField):
    """A field whose Escape key is its own, whatever else the key does in the window.

    Signals:
        escaped: Escape was pressed.
        stepped(forwards): Enter or the down key was pressed, or with Shift the key Enter, or the up key.
        entered: of these it was Enter, without Shift.
        moved(downwards): it was one of the arrow keys.
    """

    escaped = Signal()
    stepped = Signal(bool)
    entered = Signal()
    moved = Signal(bool)

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
                forwards = not event.modifiers() & Qt.KeyboardModifier.ShiftModifier
                self.stepped.emit(forwards)
                if forwards:
                    self.entered.emit()
            case Qt.Key.Key_Down | Qt.Key.Key_Up:
                downwards = event.key() == Qt.Key.Key_Down
                self.stepped.emit(downwards)
                self.moved.emit(downwards)
            case _:
                super().keyPressEvent(event)
