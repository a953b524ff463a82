"""The box in which a question is written."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QResizeEvent, QTextCursor, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from .theme import reading_font

FEWEST_LINES = 2
LONG_LINE = 8_000
"""Characters of a line from which on it is broken anywhere: to look for words is quadratic in a line without any."""


class Composer(QPlainTextEdit):
    """`composer`: Enter sends, Shift+Enter begins a new line, and neither does while an input method composes.

    Signals:
        submitted: Enter was pressed.
        recall_wanted: the up key was pressed in the empty box.
        focus_changed(has_focus): the box got or lost the focus.
    """

    submitted = Signal()
    recall_wanted = Signal()
    focus_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._composing = False
        self._most_lines = 10
        self.setObjectName("composer")
        self.setAccessibleName(self.tr("Question"))
        self.setAccessibleDescription(self.tr("Enter sends, Shift and Enter begins a new line."))
        self.setPlaceholderText(self.tr("Ask a question about your library"))
        self.setTabChangesFocus(True)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setFont(reading_font(self.font()))
        self._break_at_words(True)
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self.document().setDefaultTextOption(option)
        self.document().contentsChange.connect(self._look_for_long_lines)
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())
        self._fit()

    def limit_height(self, pixels: int) -> None:
        """Grow to so much at most."""
        self._most_lines = max(FEWEST_LINES, (pixels - self._around()) // self._line())
        self._fit()

    def show_text(self, text: str) -> None:
        """Hold this text instead; there is nothing to undo then."""
        self._prepare_for(text)
        self.setPlainText(text)
        self._break_at_words(not _has_long_line(text))
        self.moveCursor(QTextCursor.MoveOperation.End)

    def replace_text(self, text: str) -> None:
        """Put a text in the place of what stands here, as if it were typed: it can be undone."""
        self._prepare_for(text)
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        cursor.endEditBlock()
        self.setTextCursor(cursor)

    def append_text(self, text: str) -> None:
        """Put a text behind what stands here, a blank line between them; it can be undone."""
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text if self.document().isEmpty() else f"\n\n{text}")
        self.setTextCursor(cursor)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Be ready for long lines before they are there."""
        self._prepare_for(source.text())
        super().insertFromMimeData(source)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell Enter from all other keys."""
        if event.key() == Qt.Key.Key_Up and self.document().isEmpty() and not self._composing:
            self.recall_wanted.emit()
        elif event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
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

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell it."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell it."""
        self._composing = False
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def changeEvent(self, event: QEvent) -> None:
        """Fit another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lines break elsewhere: fit them."""
        super().resizeEvent(event)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Room for the fewest lines."""
        return QSize(120, self._line() * FEWEST_LINES + self._around())

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

    def _fit(self) -> None:
        # Lines of several scripts differ in height, so each is asked.
        least, most = self._line() * FEWEST_LINES, self._line() * self._most_lines
        height = 0.0
        block = self.document().firstBlock()
        while block.isValid() and height < most:
            height += self.blockBoundingRect(block).height()
            block = block.next()
        self.setFixedHeight(min(max(math.ceil(height), least), most) + self._around())

    def _line(self) -> int:
        return self.fontMetrics().lineSpacing()

    def _around(self) -> int:
        return math.ceil(2 * self.document().documentMargin()) + 2 * self.frameWidth()


def _has_long_line(text: str) -> bool:
    return len(text) >= LONG_LINE and max(map(len, text.split("\n"))) >= LONG_LINE
