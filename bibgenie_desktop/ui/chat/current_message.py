"""The message that the actions are about: its ring, the actions under it, and the way of the Tab key through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAction, QCursor
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

from ..theme import Colours
from .action_bar import ActionBar
from .message import Message
from .page_layout import PageLayout
from .rows import Row
from .wording import translate


def suits_all(_name: str, _message: Message) -> bool:
    """Every action has to do with every message."""
    return True


class CurrentMessage:
    """`number` is the row chosen by the pointer or by keys, -1 where none was."""

    def __init__(self, page: QAbstractScrollArea, layout: PageLayout) -> None:
        self._page = page
        self._layout = layout
        self._bar = ActionBar(page.viewport())
        self._bar.hide()
        self._stops: list[QWidget] = []
        self._marked: Row | None = None
        self._actions: list[QAction] = []
        self._suits: Callable[[str, Message], bool] = suits_all
        self._pointer = QPointF(QCursor.pos())
        self.number = -1
        self.hovered = False

    def is_entered(self, place: QPointF) -> bool:
        """A row came under the pointer, which is at `place`; tells whether that chooses it. Rows that are moved under a
        pointer that rests are not chosen by it."""
        is_moved, self._pointer = place != self._pointer, place
        self.hovered = self.hovered or is_moved
        return is_moved

    def set_actions(self, actions: Sequence[QAction], colours: Colours, suits: Callable[[str, Message], bool]) -> None:
        """Offer these actions; `suits` tells whether the one of a name has to do with a message."""
        self._bar.set_actions(actions)
        self._actions = [*actions]
        self._suits = suits
        self._bar.set_colours(colours)
        self._stops = []

    def actions_on(self, message: Message) -> list[QAction]:
        """Those that have to do with a message."""
        return [each for each in self._actions if self._suits(each.objectName(), message)]

    def trigger(self, name: str) -> str:
        """Do what the action of a name does; returns why that is not allowed now, "" if it is done."""
        wanted = next((each for each in self._actions if each.objectName() == name), None)
        if wanted is None:
            return ""
        if not wanted.isEnabled():
            return wanted.toolTip()
        wanted.trigger()
        return ""

    def set_colours(self, colours: Colours) -> None:
        """Draw in the colours of a theme."""
        self._bar.set_colours(colours)

    def announce(self) -> None:
        """Tell a screen reader which message it is."""
        row = self._layout.rows.get(self.number)
        count = len(self._layout.index)
        self._page.setAccessibleDescription(
            translate("Chat", "Message {number} of {count}").format(number=self.number + 1, count=count)
        )
        if row is not None and self._page.hasFocus():
            QAccessible.updateAccessibility(QAccessibleEvent(row, QAccessible.Event.Focus))

    def show(self, number: int) -> None:
        """Mark row `number`, and put the actions under it where the pointer or the keyboard's focus is on the page."""
        focus = QApplication.focusWidget()
        on_page = focus is not None and (focus is self._page or self._page.isAncestorOf(focus))
        row = self._layout.rows.get(number)
        # A row that was let go has no marks, and may be gone.
        if self._marked is not None and self._marked is not row and self._marked.number >= 0:
            self._marked.mark(current=False, ringed=False)
        if row is not None:
            row.mark(current=on_page, ringed=focus is self._page)
        self._marked = row
        if row is not None and on_page:
            self._order_stops(row)
        if row is not None and row.message is not None:
            message = row.message
            self._bar.offer([each for each in self._bar.buttons if self._suits(each.action_name, message)])
        is_written = row is not None and row.message is not None and row.message.edit is not None
        if row is not None and self._bar.buttons and (self.hovered or on_page) and not is_written:
            self._put_at(row)
        else:
            self._bar.hide()

    def _put_at(self, row: Row) -> None:
        width = self._bar.sizeHint().width()
        self._bar.setGeometry(row.place_for_actions(width).translated(row.pos()))
        self._bar.show()
        self._bar.raise_()

    def _order_stops(self, row: Row) -> None:
        stops = [self._page, *row.stops, *self._bar.buttons]
        if stops != self._stops:
            self._stops = stops
            for before, after in pairwise(stops):
                QWidget.setTabOrder(before, after)
