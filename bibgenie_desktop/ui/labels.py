"""Plain text, whatever it holds: what is shown of foreign text, and labels and tips for it."""

from __future__ import annotations

import html
import re

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

LONGEST_TIP = 600
"""Characters."""
LONGEST_WORD = 24
"""Characters, before a word may be broken in the middle."""
_DIRECTING = re.compile("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0e-\x1b\x7f]")
"""What turns the direction of the text around it, and what nobody sees."""
_OVERLONG = re.compile(rf"\S{{{LONGEST_WORD}}}(?=\S)")


def plain_line(text: str) -> str:
    """A text in one line, without characters that reorder what stands beside them (S-1)."""
    return " ".join(_DIRECTING.sub("", text).split())


def isolated(text: str) -> str:
    """A text whose direction of writing is its own, wherever it is drawn."""
    return f"\u2068{text}\u2069"


def breakable(text: str) -> str:
    """A text whose longest words can be broken where a line ends."""
    return _OVERLONG.sub("\\g<0>\u200b", text)


def plain_tip(text: str) -> str:
    """A tip that shows `text` as it is: markup in it is told, not followed (S-1). Long lines are broken."""
    shown = _DIRECTING.sub("", text).strip()
    if len(shown) > LONGEST_TIP:
        shown = f"{shown[: LONGEST_TIP - 1]}…"
    lines = [html.escape(breakable(line)) for line in shown.splitlines()]
    return f"<qt>{'<br>'.join(lines)}</qt>" if lines else ""


class ElidedLabel(QLabel):
    """A label of one line of plain text that gives way where room is scarce.

    It begins where lines begin in the language of the window, or with `trailing` ends where they end; the language of
    its text does not matter.
    """

    def __init__(self, name: str, parent: QWidget | None = None, *, trailing: bool = False) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._trailing = trailing
        self._whole = ""
        self._align()

    def say(self, text: str) -> None:
        """Show `text`, cut with an ellipsis where it does not fit."""
        self._whole = plain_line(text)
        self.setAccessibleName(self._whole)
        self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut the text anew."""
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the direction of the window."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self._align()

    def _align(self) -> None:
        # A label's own alignment follows the direction of its text, unless it is absolute.
        at_right = self.isRightToLeft() != self._trailing
        side = Qt.AlignmentFlag.AlignRight if at_right else Qt.AlignmentFlag.AlignLeft
        self.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter)

    def _elide(self) -> None:
        self.setText(self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, self.width()))
