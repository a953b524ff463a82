"""The text of a question while it is written: what keys mean in it, and how lines break."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QTextCursor, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QWidget

LONG_LINE = 8_000
"""Characters of a line from which on it is broken anywhere: to look for words is quadratic in a line without any."""


class QuestionBox(QPlainTextEdit):
    """Enter sends, Shift+Enter begins a new line, and neither does while an input method composes.

    Signals:
        submitted: Enter was pressed.
    """

    submitted = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._composing = False
        self.setObjectName(name)
        self.setAccessibleDescription(self.tr("Enter sends, Shift and Enter begins a new line."))
        self.setTabChangesFocus(True)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self._break_at_words(True)
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self.document().setDefaultTextOption(option)
        self.document().contentsChange.connect(self._look_for_long_lines)

    @property
    def composing(self) -> bool:
        """Whether an input method composes something."""
        return self._composing

    def show_text(self, text: str) -> None:
        """Hold this text instead; there is nothing to undo then."""
        self._prepare_for(text)
        self.setPlainText(text)
        self._break_at_words(not _has_long_line(text))
        self.moveCursor(QTextCursor.MoveOperation.End)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Be ready for long lines before they are there."""
        self._prepare_for(source.text())
        super().insertFromMimeData(source)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell Enter from all other keys."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif self._composing:
            event.accept()  # it belongs to the input method, which takes what was composed
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        else:
            self.submitted.emit()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Note whether something is being composed."""
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """What was being composed is given up."""
        self._composing = False
        super().focusOutEvent(event)

    def _prepare_for(self, text: str) -> None:
        if _has_long_line(text):
            self._break_at_words(False)

    def _look_for_long_lines(self, position: int, _removed: int, added: int) -> None:
        # It stays so until another text is shown: what was removed comes back when that is undone.
        if self.wordWrapMode() == QTextOption.WrapMode.WrapAnywhere or self.document().characterCount() < LONG_LINE:
            return
        block, end = self.document().findBlock(position), position + added
        while block.isValid() and block.position() <= end:
            if block.length() >= LONG_LINE:
                self._break_at_words(False)
                return
            block = block.next()

    def _break_at_words(self, at_words: bool) -> None:
        mode = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere if at_words else QTextOption.WrapMode.WrapAnywhere
        if mode != self.wordWrapMode():
            self.setWordWrapMode(mode)


def _has_long_line(text: str) -> bool:
    return len(text) >= LONG_LINE and max(map(len, text.split("\n"))) >= LONG_LINE
