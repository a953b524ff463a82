"""The keys of a person who reads: through the page, and from message to message."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from .page_layout import PageLayout

LINES_A_STEP = 3
"""Lines that an arrow key scrolls."""


class Reader(Protocol):
    """What keys move: the page, and which message is the current one."""

    @property
    def current_row(self) -> int:
        """The current message, -1 where there is none."""

    def set_current_row(self, number: int) -> None:
        """Choose the current message; one that there is not is refused."""

    def go_to_row(self, number: int) -> None:
        """Go to a message and choose it."""

    def scroll_by(self, pixels: int) -> None:
        """Scroll down, or up by a negative number."""

    def go_to_end(self) -> None:
        """Go to the end and follow what comes."""


def press(event: QKeyEvent, reader: Reader, layout: PageLayout) -> bool:
    """Do what a key means; tells whether it means anything."""
    screen = layout.height - layout.measures.line
    if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
        return False
    match event.key():
        case Qt.Key.Key_PageDown:
            reader.scroll_by(screen)
        case Qt.Key.Key_PageUp:
            reader.scroll_by(-screen)
        case Qt.Key.Key_Home:
            # Not so many pixels up: how high the rows are on the way there is not known yet.
            if len(layout.index):
                reader.go_to_row(0)
        case Qt.Key.Key_End:
            reader.go_to_end()
            reader.set_current_row(len(layout.index) - 1)
        case Qt.Key.Key_Down:
            _step(1, reader, layout)
        case Qt.Key.Key_Up:
            _step(-1, reader, layout)
        case _:
            return False
    return True


def _step(direction: int, reader: Reader, layout: PageLayout) -> None:
    """Scroll on through the current message, or go to the next one when its end was in sight."""
    seen, number = layout.seen(), reader.current_row
    if not seen:
        return
    if number not in seen:
        number = seen.start if direction > 0 else seen.stop - 1
    elif not _beyond(number, direction, layout):
        number = min(max(number + direction, 0), len(layout.index) - 1)
    reader.set_current_row(number)
    reader.scroll_by(direction * min(_beyond(number, direction, layout), LINES_A_STEP * layout.measures.line))


def _beyond(number: int, direction: int, layout: PageLayout) -> int:
    """How many pixels of a row are out of sight in a direction."""
    top = layout.top_of(number)
    return max(0, top + layout.index.height(number) - layout.height if direction > 0 else -top)
