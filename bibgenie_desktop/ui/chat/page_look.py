"""What the rows of a page have in common, worked out for its size, its font and its screen."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from PySide6.QtWidgets import QAbstractScrollArea

from ..theme import Theme
from ..times import Clock, short
from .body import RenderBody
from .life_sign import Beat
from .measures import Measures
from .message import Message
from .plain import PlainText
from .rows import Page

AROUND = 6
"""Lines that a question has around its text while it is written in its place."""


class PageLook:
    """Makes the page of `area`. It remembers which steps of a message are unfolded."""

    def __init__(
        self,
        area: QAbstractScrollArea,
        theme: Theme,
        clock: Clock,
        answers: RenderBody,
        leads_to: Callable[[str], str],
        beat: Beat,
    ) -> None:
        self._area = area
        self._theme = theme
        self._clock = clock
        self._answers = answers
        self._leads_to = leads_to
        self._beat = beat
        self._plain = PlainText()
        self.hindrance = ""
        """Why no other version of a message can be shown now."""
        self._unfolded: WeakKeyDictionary[Message, set[int]] = WeakKeyDictionary()

    def page(self) -> Page:
        """The page as it is now."""
        return Page(
            measures=Measures.of(self._area.font(), self._area.viewport().width()),
            colours=self._theme.colours,
            answers=self._answers,
            plain=self._plain,
            when=lambda stamp: short(stamp, self._clock()),
            leads_to=self._leads_to,
            unfolded=lambda message: self._unfolded.setdefault(message, set()),
            beat=self._beat,
            ratio=self._area.devicePixelRatioF(),
            most_writing=self._most_writing(),
            hindrance=lambda: self.hindrance,
        )

    def _most_writing(self) -> int:
        """A third of the window, or what leaves room for all else of a question in a low one."""
        around = self._area.fontMetrics().lineSpacing() * AROUND
        return min(self._area.window().height() // 3, self._area.viewport().height() - around)
