"""Where the reader is on the page, and what is laid out for them: the geometry of the message list.

All rows have a height in the index, most of them an estimate; widgets exist only for rows in sight and, when there is
time, for one screen above and below. The reader's place is an anchor: a place in a row that stays where it is on the
screen while the heights above it become known, while the width changes, and while rows are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from PySide6.QtWidgets import QAbstractScrollArea

from .measures import Measures
from .message import Message
from .model import TranscriptModel
from .page_rows import PageRows
from .row_pool import RowPool
from .rows import Kind, Page, Place, Row, kind_of

END_PIXELS = 4
"""So near to the end the reader counts as being there."""
AHEAD = 1.0
"""Screens above and below what is seen that are laid out when there is time."""
KEPT = 1.5
"""Screens above and below what is seen beyond which rows are let go."""


class Anchor(NamedTuple):
    """What stays: a place in a row stands `below` pixels below the upper edge of the screen."""

    row: int
    place: Place
    below: int


class _Replacing(NamedTuple):
    """How the page stood before its last rows became others. `anchored` is the message that the anchor is in, `row`
    the first of these rows, which shows what stands in its place now: who has the focus in it keeps it."""

    anchor: Anchor
    anchored: Message | None
    follows: bool
    row: Row | None

    @property
    def kind(self) -> Kind | None:
        """Which kind of row it is."""
        return None if self.row is None or self.row.message is None else kind_of(self.row.message)


class PageLayout:
    """Lays out the rows of `model` in the viewport of `area`.

    `at_end` tells whether the reader is at the end: then the page follows it.
    """

    def __init__(self, area: QAbstractScrollArea, model: TranscriptModel, pool: RowPool, page: Page) -> None:
        self._viewport = area.viewport()
        self._bar = area.verticalScrollBar()
        self._model = model
        self._page_rows = PageRows(area, model, pool, page)
        self.index = self._page_rows.index
        self.rows = self._page_rows.rows
        self.at_end = True
        self.settling = False
        self._anchor = Anchor(0, Place(-1, -1, 0), 0)
        self._value = 0
        # Pixels that a reader at the end is still away from it: taking them away would hold back who leaves it slowly.
        self._short_of_end = 0
        # What the reader changed stays where it is, also where the page ends above it now: then it is longer for them.
        self._held = False
        self._least_total = 0
        self._replacing: _Replacing | None = None

    # What changes

    def reset(self) -> None:
        """All rows are others. Who was at the end is at the end again; who was not, stays if there is room."""
        self._page_rows.let_go(list(self.rows))
        self.index.reset(self._page_rows.estimates())
        self.at_end = self.at_end or self._anchor.row >= len(self.index)
        self._short_of_end = 0
        self._loosen()
        self.settle()

    def appended(self) -> None:
        """Rows were added at the end."""
        if self._replacing is None:
            for height in self._page_rows.estimates(len(self.index)):
                self.index.append(height)
            self.settle()

    def truncated(self) -> None:
        """Rows were taken away at the end."""
        count = self._model.rowCount()
        self._page_rows.let_go([number for number in self.rows if number >= count])
        self.index.truncate(count)
        if self._replacing is None:
            if self._anchor.row >= count:
                self.at_end, self._short_of_end = True, 0
                self._loosen()
            self.settle()

    def replacing(self, first: int) -> None:
        """Rows from `first` on are about to be others: look where the reader is."""
        anchor, follows = self._anchor, self.at_end
        anchored = self.rows[anchor.row].message if anchor.row in self.rows else None
        if first in self.seen():
            # It is what the reader changed, or what stands in its place.
            anchor, anchored, follows = Anchor(first, Place(-1, -1, 0), self.top_of(first)), None, False
        self._replacing = _Replacing(anchor, anchored, follows, self.rows.pop(first, None))

    @property
    def is_replacing(self) -> bool:
        """Whether they are being replaced."""
        return self._replacing is not None

    def replaced(self, first: int) -> None:
        """They are: the reader stays at the same place of the page, or goes to where it changed."""
        was, self._replacing = self._replacing, None
        assert was is not None
        self.index.reset([*map(self.index.height, range(first)), *self._page_rows.estimates(first)])
        if was.row is not None and kind_of(self._model.message(first)) == was.kind:
            self.rows[first] = was.row
            self._page_rows.bind(first)
        elif was.row is not None:
            self._page_rows.give_back(was.row)
        anchor = was.anchor
        if was.anchored is not None and anchor.row >= first:
            rows = range(first, self._model.rowCount())
            row = next((row for row in rows if self._model.message(row) is was.anchored), -1)
            anchor = anchor._replace(row=row) if row >= 0 else Anchor(first, Place(-1, -1, 0), 0)
        self._anchor, self.at_end, self._short_of_end = anchor, was.follows, 0
        if not was.follows:
            self._held, self._least_total = True, self._value + self._viewport.height()
        self.settle()

    def _loosen(self) -> None:
        """The reader goes elsewhere: nothing has to stay."""
        self._held, self._least_total = False, 0

    def refresh(self, numbers: Iterable[int]) -> None:
        """Messages look different now."""
        for number in numbers:
            if number in self.rows:
                row = self.rows[number]
                if kind_of(self._model.message(number)) != kind_of(row.message or self._model.message(number)):
                    self._page_rows.let_go([number])
                else:
                    self._page_rows.bind(number)
                    self._page_rows.lay_out(number, *self._ahead())
            else:
                self.index.set_height(number, self._page_rows.page.measures.message_height(self._model.message(number)))
        self.settle()

    def turn_page(self, page: Page) -> None:
        """The look or the sizes of the page are others."""
        resized = page.measures != self._page_rows.page.measures
        seen = {*self.seen(), self._anchor.row}
        self._page_rows.page = page
        if resized:
            self.index.reset(self._page_rows.estimates())
            self._loosen()
        self._page_rows.let_go([number for number, row in self.rows.items() if number not in seen and not row.engaged])
        for number in self.rows:
            self._page_rows.bind(number)
        self.settle()

    # The reader's place

    @property
    def measures(self) -> Measures:
        """The sizes of the page."""
        return self._page_rows.page.measures

    @property
    def height(self) -> int:
        """How many pixels of the page are in sight."""
        return self._viewport.height()

    def row(self, number: int) -> Row:
        """The row of a message, made where it is out of sight; one that nobody engages is soon let go again."""
        self._page_rows.make(number)
        return self.rows[number]

    @property
    def value(self) -> int:
        """How many pixels of the page are above the screen."""
        return self._value

    @property
    def last_value(self) -> int:
        """The largest value: the end of the page at the lower edge of the screen."""
        return max(0, self.index.total - self._viewport.height(), self._least_total - self._viewport.height())

    @property
    def is_more_below(self) -> bool:
        """Whether the end of the last row is out of sight."""
        return self.index.total - self._value - self._viewport.height() > END_PIXELS

    def seen(self) -> range:
        """The rows that are in sight, at least in part."""
        if not len(self.index):
            return range(0)
        bottom = self._value + self._viewport.height() - 1
        return range(self.index.row_at(self._value), self.index.row_at(bottom) + 1)

    def scroll_to(self, value: int) -> None:
        """The reader goes to a place of the page."""
        if len(self.index):
            value = min(max(value, 0), self.last_value)
            self.at_end = self._held = False
            self._least_total = min(self._least_total, value + self._viewport.height())
            self._anchor = self._anchor_at(value)
            self.settle()

    def go_to_row(self, number: int, y: int = 0, below: int = 0) -> None:
        """The reader goes to a row: its place `y` stands `below` pixels below the upper edge of the screen."""
        self._page_rows.make(number)
        self._page_rows.lay_out(number, y - below, y - below + self._viewport.height())
        self.at_end = False
        self._anchor = Anchor(number, self.rows[number].place_at(y), below)
        self.settle()

    def show_whole(self, number: int) -> None:
        """Scroll down until the end of a row is in sight."""
        below = self.top_of(number) + self.index.height(number) - self.height
        if below > 0:
            self.scroll_to(self.value + below)

    def go_to_end(self) -> None:
        """The reader goes to the end of the page."""
        self.at_end, self._short_of_end = True, 0
        self._loosen()
        self.settle()

    def top_of(self, number: int) -> int:
        """Where a row begins on the screen, in pixels below its upper edge."""
        return self.index.top(number) - self._value

    def hold(self, number: int) -> None:
        """The beginning of a row stays where it is on the screen, while the reader changes something below it."""
        self.at_end = False
        self._anchor = Anchor(number, Place(-1, -1, 0), self.top_of(number))

    def _anchor_at(self, value: int) -> Anchor:
        """What should stay when the reader comes to a value."""
        first = self.index.row_at(value)
        if first not in self.rows:
            # What was in sight before and still is must not jump, whatever turns out to be above it.
            bottom = value + self._viewport.height()
            known = next((row for row in range(first, self.index.row_at(bottom) + 1) if row in self.rows), None)
            if known is not None:
                return Anchor(known, Place(-1, -1, 0), self.index.top(known) - value)
        inside, before = value - self.index.top(first), self.index.height(first)
        if first not in self.rows:
            self._page_rows.make(first)
            after = self._page_rows.lay_out(first, inside, inside + self._viewport.height())
            inside = round(inside * after / before) if before else 0
        return Anchor(first, self.rows[first].place_at(inside), 0)

    def _anchored_value(self) -> int:
        number, place, below = self._anchor
        inside = self.rows[number].y_of(place) if number in self.rows else max(0, place.below)
        return self.index.top(number) + inside - below

    def _sharpen_anchor(self) -> None:
        """Hold on to the text, once it is drawn, instead of to pixels."""
        number, place, below = self._anchor
        if place.position < 0 and number in self.rows:
            row = self.rows[number]
            self._anchor = Anchor(number, row.place_at(row.y_of(place)), below)

    # Laying out

    def settle(self) -> None:
        """Lay out what is in sight, and put the rows and the scroll bar where they belong."""
        if self.settling:
            return
        self.settling = True
        try:
            self._page_rows.follow_boundary()
            if len(self.index):
                self._value = self._laid_out_value()
                self._short_of_end = self.last_value - self._value
                self.at_end = not self._held and self._short_of_end <= END_PIXELS
                self._sharpen_anchor()
            else:
                self._value, self.at_end, self._short_of_end = 0, True, 0
            self._bar.setSingleStep(self.measures.line)
            self._bar.setPageStep(self._viewport.height())
            self._bar.setRange(0, self.last_value)
            self._bar.setValue(self._value)
            self._let_go_far()
            self._page_rows.put_in_place(self._value, self.seen())
        finally:
            self.settling = False

    @property
    def wants_more(self) -> bool:
        """Whether there are rows out of sight but near that are not laid out."""
        return any(number not in self.rows for number in self.near())

    def lay_out_ahead(self) -> None:
        """Lay out one more row that is out of sight but near."""
        for number in self._near():
            if number not in self.rows:
                self._page_rows.make(number)
                self._page_rows.lay_out(number, *self._ahead())
                self.settle()
                break

    def near(self) -> range:
        """The rows in sight and one screen above and below."""
        if not len(self.index):
            return range(0)
        top, bottom = self._ahead()
        return range(self.index.row_at(top), self.index.row_at(bottom) + 1)

    def _near(self) -> Iterator[int]:
        """The rows that are near, those below first: most people read downwards."""
        near, seen = self.near(), self.seen()
        yield from range(seen.start, near.stop)
        yield from reversed(range(near.start, seen.start))

    def _ahead(self) -> tuple[int, int]:
        height = self._viewport.height()
        return self._value - round(AHEAD * height), self._value + height + round(AHEAD * height)

    def _laid_out_value(self) -> int:
        height = self._viewport.height()
        complete: set[int] = set()
        while True:
            value = self.last_value - self._short_of_end if self.at_end else self._anchored_value()
            value = min(max(value, 0), self.last_value)
            seen = range(self.index.row_at(value), self.index.row_at(value + height - 1) + 1)
            changed = False
            for number in self._order(seen):
                if number in complete:
                    continue
                new = number not in self.rows
                self._page_rows.make(number)
                before = self.index.height(number)
                after = self._page_rows.lay_out(number, value, value + height)
                if self.rows[number].complete:
                    complete.add(number)
                if after != before or (new and not self.rows[number].complete):
                    # What is in sight may be other rows now.
                    changed = True
                    break
            if not changed:
                return value

    def _order(self, seen: range) -> Iterator[int]:
        """The rows in sight, beginning with the one that all others are placed by."""
        start = seen.stop - 1 if self.at_end else min(max(self._anchor.row, seen.start), seen.stop - 1)
        yield from range(start, seen.stop)
        yield from reversed(range(seen.start, start))

    def _let_go_far(self) -> None:
        height = self._viewport.height()
        top, bottom = self._value - round(KEPT * height), self._value + height + round(KEPT * height)
        far = [
            number
            for number, row in self.rows.items()
            if (self.index.top(number + 1) < top or self.index.top(number) > bottom) and not row.engaged
        ]
        self._page_rows.let_go(far)
