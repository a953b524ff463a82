"""Find in page: the line above the messages that is there while something is looked for."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QWidget

from .icons import SIZE, chevron_icon, cross_icon
from .labels import ElidedLabel
from .search_field import SearchField


class FindBar(QFrame):
    """`findBar`. `find(text, backwards, afresh)` goes to a place and tells whether there is one; `afresh` says that the
    text has changed. `all_here` tells whether there is nothing still to come that could be searched: until then
    `look_again` is to be called whenever more came.

    Signals:
        opened: it came into sight, and the whole chat is to be searched.
        closed: it was closed.
    """

    opened = Signal()
    closed = Signal()

    def __init__(
        self,
        find: Callable[[str, bool, bool], bool],
        all_here: Callable[[], bool] = lambda: True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("findBar")
        self._find = find
        self._all_here = all_here
        self._searching = False
        self._told_opened = False
        self._field = SearchField("findField", self.tr("Find in this chat"))
        self._told = ElidedLabel("findTold")
        self._before = self._button("findPreviousButton", self.tr("Previous place (Shift+Enter)"))
        self._next = self._button("findNextButton", self.tr("Next place (Enter)"))
        self._close = self._button("findCloseButton", self.tr("Close (Esc)"))
        row = QHBoxLayout(self)
        row.setContentsMargins(22, 6, 14, 6)
        row.addWidget(self._field, 2)
        row.addWidget(self._before)
        row.addWidget(self._next)
        row.addWidget(self._told, 1)
        row.addWidget(self._close)
        self._field.textEdited.connect(lambda: self._look(afresh=True))
        self._field.stepped.connect(lambda forwards: self._look(backwards=not forwards))
        self._before.clicked.connect(lambda: self._look(backwards=True))
        self._next.clicked.connect(lambda: self._look())
        self._close.clicked.connect(self.close_bar)
        self._field.escaped.connect(self.close_bar)
        self.hide()

    def open_bar(self) -> None:
        """Come into sight, ready for a word."""
        self.show()
        self._field.setFocus()
        self._field.selectAll()
        self._tell_opened()

    def show_search(self, text: str, *, found: bool) -> None:
        """Come into sight with a text that was looked for elsewhere; the focus stays where it is.

        The rest of the chat is not wanted before somebody goes on from there.
        """
        self.show()
        self._field.setText(text)
        self._told.say("" if found else self.tr("Not found in this chat"))

    def close_bar(self) -> None:
        """Go away."""
        self.hide()
        self.closed.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Whatever hides it: what it told is not told again."""
        super().hideEvent(event)
        if self.isHidden():
            self._searching = self._told_opened = False
            self._told.say("")

    def look_again(self) -> None:
        """More can be searched now."""
        if self._searching:
            self._look(afresh=True)

    def event(self, event: QEvent) -> bool:
        """Keep Escape from being a shortcut."""
        override = event.type() == QEvent.Type.ShortcutOverride
        if override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes it from wherever in it the focus is."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            super().keyPressEvent(event)

    def step(self, *, backwards: bool = False) -> None:
        """Go to the next place, or the one before; opens where nothing is looked for."""
        if self.isVisible() and self._field.text():
            self._look(backwards=backwards)
        else:
            self.open_bar()

    def set_colour(self, colour: str) -> None:
        """Draw the signs in this colour."""
        self._before.setIcon(chevron_icon(colour, up=True))
        self._next.setIcon(chevron_icon(colour))
        self._close.setIcon(cross_icon(colour))

    def _look(self, *, backwards: bool = False, afresh: bool = False) -> None:
        self._tell_opened()
        text = self._field.text()
        found = self._find(text, backwards, afresh)
        self._searching = bool(text) and not found and not self._all_here()
        if self._searching:
            self._told.say(self.tr("Searching older messages…"))
        else:
            self._told.say(self.tr("Not found in this chat") if text and not found else "")

    def _tell_opened(self) -> None:
        if not self._told_opened:
            self._told_opened = True
            self.opened.emit()

    def _button(self, name: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setObjectName(name)
        button.setAccessibleName(tip)
        button.setToolTip(tip)
        button.setIconSize(QSize(SIZE, SIZE))
        button.setAutoRaise(True)
        return button
