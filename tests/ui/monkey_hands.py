"""The hands of the monkey: keys and clicks that go to the window's system surface, as those of the system do.

So shortcuts, focus, menus and dialogs take their part. What the person erases by them is noted.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QInputMethodEvent, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPlainTextEdit, QWidget

from tests.ui.desk import Desk
from tests.ui.monkey_record import WORD, Record

NONE = Qt.KeyboardModifier.NoModifier
ALT = Qt.KeyboardModifier.AltModifier


class Hands:
    """Of whoever works at `desk`; `record` notes what is erased."""

    def __init__(self, desk: Desk, record: Record, chance: random.Random) -> None:
        self.desk = desk
        self.record = record
        self._random = chance

    # Where events go

    @property
    def _top(self) -> QWidget:
        return QApplication.activePopupWidget() or QApplication.activeModalWidget() or self.desk.app.window

    def _surface(self) -> QWindow:
        return self._top.windowHandle() or self.desk.app.window.windowHandle()

    @property
    def _text_with_focus(self) -> QWidget | None:
        focus = QApplication.focusWidget()
        return focus if isinstance(focus, QPlainTextEdit | QLineEdit) else None

    def composer_text(self) -> Iterator[str]:
        while True:
            yield self.desk.composer.toPlainText()

    def _key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = NONE) -> str:
        composer = self.desk.composer
        submits = key == Qt.Key.Key_Return and modifier == NONE
        if composer.hasFocus() and not submits and modifier != ALT and self._top is self.desk.app.window:
            chat = self.desk.app._controller.conversation
            before = composer.toPlainText()
            QTest.keyClick(self._surface(), key, modifier)
            if self.desk.app._controller.conversation is chat and composer.toPlainText() != before:
                self.record.erased |= set(WORD.findall(before)) - set(WORD.findall(composer.toPlainText()))
                if key in (Qt.Key.Key_V, Qt.Key.Key_Z, Qt.Key.Key_Up):
                    self.record.repeated |= set(WORD.findall(composer.toPlainText()))
        else:
            QTest.keyClick(self._surface(), key, modifier)
        return f"{modifier.name or ''}+{key.name}" if modifier != NONE else str(key.name)

    def _type_text(self, text: str) -> str:
        with self.record.erasing(self.composer_text()):
            for letter in text:
                if letter.isascii():
                    QTest.keyClick(self._surface(), ord(letter))
                elif (focus := QApplication.focusWidget()) is not None:
                    # As an input method does.
                    event = QInputMethodEvent()
                    event.setCommitString(letter)
                    QApplication.sendEvent(focus, event)
        return f"types {text!r}"

    def _click(
        self, place: QPoint, button: Qt.MouseButton = Qt.MouseButton.LeftButton, *, double: bool = False
    ) -> None:
        """Click in the window that takes clicks now."""
        top = self._top
        under = top.childAt(place)
        named = under
        while named is not None and not named.objectName():
            named = named.parentWidget()
        if named is not None and named.objectName().startswith("queue"):
            # One of the questions that wait may be taken away.
            for text in self.desk.app._controller.conversation.queue:
                self.record.erased.update(WORD.findall(text))
        in_text = under is not None and self.desk.composer.isAncestorOf(under)
        if in_text or isinstance(top, QMenu):
            # Menus can cut, paste and undo.
            with self.record.erasing(self.composer_text()):
                self._click_surface(place, button, double)
            self.record.repeated.update(WORD.findall(self.desk.composer.toPlainText()))
        else:
            self._click_surface(place, button, double)

    def _click_surface(self, place: QPoint, button: Qt.MouseButton, double: bool) -> None:
        (QTest.mouseDClick if double else QTest.mouseClick)(self._surface(), button, NONE, place)

    def _middle(self, widget: QWidget, rect: QRect | None = None) -> QPoint:
        return widget.mapTo(self._top, (rect or widget.rect()).center())

    def _anywhere(self, widget: QWidget) -> QPoint:
        size = widget.size()
        return QPoint(self._random.randrange(max(1, size.width())), self._random.randrange(max(1, size.height())))
