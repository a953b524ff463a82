"""Which messages are drawn anew, and when: soon where they are seen, seldom while they are not."""

from __future__ import annotations

from collections.abc import Callable

from ..timing import Coalesced, MakeTimer
from .page_layout import PageLayout

REPAINT_MILLISECONDS = 33
"""Between two repaints of an answer that is seen while it streams."""
UNSEEN_MILLISECONDS = 250
"""Between two looks at an answer that streams out of sight."""


class Redrawing:
    """Draws the messages of a page that changed. `drawn` is called after it."""

    def __init__(self, layout: PageLayout, make_timer: MakeTimer, drawn: Callable[[], None]) -> None:
        self._layout = layout
        self._drawn = drawn
        self._stale: set[int] = set()
        self._unseen: set[int] = set()
        self._drawing = Coalesced(self.draw, REPAINT_MILLISECONDS, make_timer, at_once=True)
        self._looking = Coalesced(self._draw_unseen, UNSEEN_MILLISECONDS, make_timer)

    @property
    def is_seen_stale(self) -> bool:
        """Whether a message in sight is not drawn as it is now."""
        return bool(self._stale.intersection(self._layout.seen()))

    def changed(self, number: int) -> None:
        """A message is to be drawn anew."""
        self._stale.add(number)
        self._drawing.ask()

    def streamed(self, number: int) -> None:
        """A message got more at its end."""
        if number in self._layout.seen():
            self.changed(number)
        else:
            self._unseen.add(number)
            self._looking.ask()

    def draw(self) -> None:
        """Draw what changed, without waiting."""
        stale, self._stale = self._stale, set()
        self._layout.refresh(stale)
        self._drawn()

    def draw_come_into_sight(self) -> bool:
        """Draw what changed out of sight and is in sight now; tells whether there was such a message."""
        is_seen = bool(self._unseen.intersection(self._layout.seen()))
        if is_seen:
            self._draw_unseen()
        return is_seen

    def truncated(self, count: int) -> None:
        """There are so many messages now."""
        for numbers in (self._stale, self._unseen):
            numbers.intersection_update(range(count))

    def _draw_unseen(self) -> None:
        self._stale |= self._unseen
        self._unseen.clear()
        self.draw()
