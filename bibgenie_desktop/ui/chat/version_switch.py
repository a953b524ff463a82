"""Which version of a message is shown, and the way to those beside it: `‹ 2/3 ›` in the message's heading."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QWidget

from ..theme import Colours
from .flat_button import ChevronButton
from .ink_label import InkLabel
from .message import Message
from .wording import version_count, version_words


class VersionSwitch(QWidget):
    """`messageVersions`.

    Signals:
        wanted(node_id): this version is wanted.
    """

    wanted = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("messageVersions")
        self._previous = ChevronButton("previousVersionButton", self, forwards=False)
        self._previous.setAccessibleName(self.tr("Previous version"))
        self._next = ChevronButton("nextVersionButton", self, forwards=True)
        self._next.setAccessibleName(self.tr("Next version"))
        self._count = InkLabel("messageVersionCount", self)
        self._count.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._ids = ("", "")
        self._previous.clicked.connect(lambda: self.wanted.emit(self._ids[0]))
        self._next.clicked.connect(lambda: self.wanted.emit(self._ids[1]))

    @property
    def stops(self) -> list[QWidget]:
        """Where the Tab key goes in it, in order."""
        return [button for button in (self._previous, self._next) if button.isEnabled()]

    def show_versions(self, message: Message, hindrance: str = "") -> None:
        """Show which one a message is. With a hindrance, none of the others can be shown now."""
        self._ids = (message.previous_id, message.next_id)
        self._count.setText(version_count(message))
        words = version_words(message)
        self.setAccessibleName(words)
        self._count.setAccessibleName(words)
        buttons = (self._previous, self._next)
        focused = next((button for button in buttons if button.hasFocus()), None)
        for button, node_id in zip(buttons, self._ids, strict=True):
            button.setAccessibleDescription(words)
            if node_id and not hindrance:
                button.setEnabled(True)
        if focused is not None and not hindrance and not self._ids[buttons.index(focused)]:
            # A button that can be pressed no more would hand the focus to something elsewhere.
            other = buttons[1 - buttons.index(focused)]
            if other.isEnabled():
                other.setFocus(Qt.FocusReason.OtherFocusReason)
        for button, node_id, tip in zip(buttons, self._ids, self._tips(), strict=True):
            button.setEnabled(bool(node_id) and not hindrance)
            button.setToolTip(hindrance or tip)

    def set_look(self, font: QFont, colours: Colours) -> None:
        """Draw in this font and in the colours of a theme."""
        self._count.setFont(font)
        self._count.set_ink(colours.muted)
        self._previous.colours = self._next.colours = colours

    def width_at(self, height: int) -> int:
        """How wide it is, that high."""
        return 2 * height + self._count_width()

    def arrange(self, place: QRect) -> None:
        """Take a place in the row."""
        self.setGeometry(place)
        side, count = place.height(), self._count_width()
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        first, last = QRect(0, 0, side, side), QRect(side + count, 0, side, side)
        self._previous.setGeometry(last if mirrored else first)
        self._next.setGeometry(first if mirrored else last)
        self._count.setGeometry(side, 0, count, side)

    def _count_width(self) -> int:
        return QFontMetrics(self._count.font()).horizontalAdvance(self._count.text()) + 2

    def _tips(self) -> tuple[str, str]:
        return (
            self.tr("Previous version") if self._ids[0] else self.tr("This is the first version."),
            self.tr("Next version") if self._ids[1] else self.tr("This is the last version."),
        )
