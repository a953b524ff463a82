"""The place of a question in which it is written anew: its text, why it cannot be sent, send and cancel."""

from __future__ import annotations

import math
from collections.abc import Iterator

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QWidget

from ..question_box import LONG_LINE, QuestionBox
from ..theme import Colours, palette
from .edits import Edit
from .flat_button import FlatButton
from .ink_label import InkLabel
from .measures import GAP
from .wording import hindrance_words

FEWEST_LINES = 2
_GAP, _SPARE = 14, 4
"""Pixels between the two buttons, and those below a text so that its last line is wholly in sight."""


class EditBox(QuestionBox):
    """`editBox`: the keys are those of the composer, and Escape leaves it.

    Signals:
        left: Escape was pressed.
    """

    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__("editBox", parent)
        self.setAccessibleName(self.tr("Edit the question"))
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)
        self._colours: Colours | None = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys that move through the text are not the page's, also where the text ends."""
        if event.key() == Qt.Key.Key_Escape and not self._composing:
            self.left.emit()
        else:
            super().keyPressEvent(event)
            if event.key() not in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
                event.accept()

    def changeEvent(self, event: QEvent) -> None:
        """Keep the colours: a palette is forgotten whenever a style sheet is set."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._keep_palette()

    def set_colours(self, colours: Colours) -> None:
        """Take on the colours of a theme."""
        self._colours = colours
        self._keep_palette()

    def _keep_palette(self) -> None:
        if self._colours is not None:
            wanted = palette(self._colours)
            if self.palette().color(wanted.ColorRole.Text) != wanted.color(wanted.ColorRole.Text):
                self.setPalette(wanted)

    def height_at(self, width: int, most: int) -> int:
        """How high its text is at a width, at most `most`. Worked out apart: Qt lays out what is shown only."""
        line = self.fontMetrics().lineSpacing()
        most = max(most, FEWEST_LINES * line)
        height = 0.0
        for paragraph in self._lines():
            if height >= most:
                break
            height += max(line, _height(paragraph, self.font(), width, most))
        # A bar that comes while the box grows would make the text higher than it is.
        fits = height + _SPARE <= most
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAlwaysOff if fits else policy.ScrollBarAsNeeded)
        return min(max(math.ceil(height), FEWEST_LINES * line) + _SPARE, most)

    def _lines(self) -> Iterator[str]:
        block = self.document().firstBlock()
        while block.isValid():
            yield block.text()
            block = block.next()


class EditPanel(QWidget):
    """`editPanel`: shows an Edit and writes into it what the person types.

    Signals:
        resized: its height is another.
        finished(send): the question is to be sent, or left.
    """

    resized = Signal()
    finished = Signal(bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("editPanel")
        self._edit: Edit | None = None
        self._colours: Colours | None = None
        self._width = self._most = self._height = self._line = 0
        self.box = EditBox(self)
        self._told = InkLabel("editTold", self)
        self._told.setWordWrap(True)
        self._cancel = FlatButton("editCancelButton", self)
        self._cancel.setText(self.tr("Cancel"))
        self._cancel.setToolTip(self.tr("Leave the question as it is (Esc); what you wrote here is kept"))
        self._send = FlatButton("editSendButton", self, strong=True)
        self._send.setText(self.tr("Send"))
        self.box.textChanged.connect(self._typed)
        self.box.cursorPositionChanged.connect(self._moved)
        self.box.submitted.connect(self._submit)
        self.box.left.connect(lambda: self.finished.emit(False))
        self._cancel.clicked.connect(lambda: self.finished.emit(False))
        self._send.clicked.connect(self._submit)

    @property
    def stops(self) -> list[QWidget]:
        """Where the Tab key goes in it, in order."""
        return [self.box, self._send, self._cancel]

    def show_edit(self, edit: Edit, reading: QFont, quiet: QFont, colours: Colours) -> None:
        """Show what is written, as it is now."""
        self.box.setFont(reading)
        for part in (self._told, self._cancel, self._send):
            part.setFont(quiet)
        self._told.set_ink(colours.accent if edit.sentence else colours.muted)
        self._cancel.colours = self._send.colours = self._colours = colours
        self.box.set_colours(colours)
        self._line = round(QFontMetrics(quiet).height() * 1.4)
        if edit is not self._edit or self.box.toPlainText() != edit.text:
            self._edit = None
            self.box.show_text(edit.text)
            cursor = self.box.textCursor()
            cursor.setPosition(min(edit.cursor, len(edit.text)))
            self.box.setTextCursor(cursor)
        self._edit = edit
        self._tell()

    def let_go(self) -> None:
        """Show nothing."""
        self._edit = None
        self.hide()

    def _typed(self) -> None:
        if self._edit is not None:
            self._edit.text, self._edit.sentence = self.box.toPlainText(), ""
            self._tell()
            if self.height_at(self._width, self._most) != self._height:
                self.resized.emit()

    def _moved(self) -> None:
        if self._edit is not None:
            self._edit.cursor = self.box.textCursor().position()

    def _submit(self) -> None:
        if self._edit is not None and not self._edit.sending:
            if hindrance := self._edit.hindrance:
                self._edit.sentence = hindrance_words(hindrance)
                self._tell()
                self.resized.emit()
            else:
                self.finished.emit(True)

    def _tell(self) -> None:
        edit = self._edit
        if edit is None:
            return
        sending = self.tr("sending…") if edit.sending else ""
        self._told.setText(sending or edit.sentence)
        if self._colours is not None:
            self._told.set_ink(self._colours.accent if edit.sentence and not sending else self._colours.muted)
        self.box.setReadOnly(edit.sending)
        hindrance = hindrance_words(edit.hindrance)
        self._send.setEnabled(not hindrance and not edit.sending)
        self._send.setToolTip(hindrance or self.tr("Send the question (Enter); the former one stays reachable"))
        self._send.setAccessibleDescription(self._send.toolTip())
        self._cancel.setEnabled(not edit.sending)

    # Geometry

    def height_at(self, width: int, most: int) -> int:
        """How high it is at a width; its text is at most `most` high."""
        self._width, self._most = width, most
        told = self._told.heightForWidth(width) + GAP if self._told.text() else 0
        return self.box.height_at(width, most) + told + GAP + self._line

    def arrange(self, place: QRect) -> None:
        """Take a place in the row."""
        self.setGeometry(place)
        width, self._height = place.width(), place.height()
        y = self.box.height_at(width, self._most)
        self.box.setGeometry(0, 0, width, y)
        self._told.setVisible(bool(self._told.text()))
        if self._told.text():
            told = self._told.heightForWidth(width)
            self._told.setGeometry(0, y + GAP, width, told)
            y += told + GAP
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        x = 0
        for button in (self._send, self._cancel):
            own = button.fontMetrics().horizontalAdvance(button.text()) + 6
            left = x if mirrored else width - x - own
            button.setGeometry(left, y + GAP, own, self._line)
            x += own + _GAP


def _height(text: str, font: QFont, width: int, most: int) -> float:
    """How high a paragraph is; of one that is very long no more than `most` is looked at."""
    option = QTextOption()
    wrap = QTextOption.WrapMode
    option.setWrapMode(wrap.WrapAnywhere if len(text) >= LONG_LINE else wrap.WrapAtWordBoundaryOrAnywhere)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    layout = QTextLayout(text[:LONG_LINE], font)
    layout.setTextOption(option)
    layout.beginLayout()
    height = 0.0
    while height < most and (line := layout.createLine()).isValid():
        line.setLineWidth(max(1, width))
        height += line.height()
    layout.endLayout()
    return height
