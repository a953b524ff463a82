"""The box in which a question is written."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QWidget

from .question_box import QuestionBox
from .theme import reading_font

FEWEST_LINES = 2


class Composer(QuestionBox):
    """`composer`.

    Signals:
        recall_wanted: the up key was pressed in the empty box.
        focus_changed(has_focus): the box got or lost the focus.
    """

    recall_wanted = Signal()
    focus_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("composer", parent)
        self._most_lines = 10
        self.setAccessibleName(self.tr("Question"))
        self.setPlaceholderText(self.tr("Ask a question about your library"))
        self.setFont(reading_font(self.font()))
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())
        self._fit()

    def limit_height(self, pixels: int) -> None:
        """Grow to so much at most."""
        self._most_lines = max(FEWEST_LINES, (pixels - self._around()) // self._line())
        self._fit()

    def replace_text(self, text: str) -> None:
        """Put a text in the place of what stands here, as if it were typed: it can be undone."""
        self._prepare_for(text)
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        cursor.endEditBlock()
        self.setTextCursor(cursor)

    def put_above(self, text: str) -> None:
        """Put a text above what stands here, where the person goes on writing; it can be undone."""
        self._prepare_for(text)
        cursor = QTextCursor(self.document())
        cursor.insertText(text)

    def append_text(self, text: str) -> None:
        """Put a text behind what stands here, a blank line between them; it can be undone."""
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text if self.document().isEmpty() else f"\n\n{text}")
        self.setTextCursor(cursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The up key recalls where there is nothing to go up in."""
        if event.key() == Qt.Key.Key_Up and self.document().isEmpty() and not self._composing:
            self.recall_wanted.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell it."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell it."""
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
