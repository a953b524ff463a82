"""Find in page: from one place in the chat to the next that reads so."""

from __future__ import annotations

from collections.abc import Iterator

from .model import TranscriptModel
from .page_layout import PageLayout
from .rows import Row
from .selecting import Selecting


class PageSearch:
    """Goes through the messages whose bodies are here, round the end of the chat, and selects what it finds."""

    def __init__(self, model: TranscriptModel, layout: PageLayout, selecting: Selecting) -> None:
        self._model = model
        self._layout = layout
        self._selecting = selecting
        self._row = -1
        self._start = -1
        self._hit: Row | None = None

    @property
    def all_here(self) -> bool:
        """Whether there is no message whose body is still to come."""
        return all(message.ready for message in self._model.conversation.messages)

    def reset(self, row: int = -1) -> None:
        """Begin the next search at what is in sight, or at a row."""
        self._row = -1
        self._start = row

    def find(self, text: str, *, backwards: bool = False) -> int:
        """Go to the next place, or the one before; returns its row, -1 if the text stands nowhere."""
        if not text or not self._model.rowCount():
            self._forget_hit()
            return -1
        needle = text.casefold()
        for number in self._order(backwards):
            message = self._model.message(number)
            if not message.ready or needle not in message.source.casefold():
                continue
            row = self._layout.row(number)
            y = row.find_text(text, backwards=backwards, again=number == self._row)
            if y is None:
                # What was asked for stands in the markup only, or behind this place and nowhere before it.
                continue
            self._row, self._start, self._hit = number, -1, row
            self._selecting.begin(row)
            height, line = self._layout.height, self._layout.measures.line
            if not 0 <= self._layout.top_of(number) + y <= height - 2 * line:
                self._layout.go_to_row(number, y, height // 3)
            return number
        self._forget_hit()
        return -1

    def _forget_hit(self) -> None:
        """What was found before is not what is looked for: it does not stay selected."""
        if self._hit is not None and self._selecting.row is self._hit:
            self._selecting.clear()
        self._hit = None

    def _order(self, backwards: bool) -> Iterator[int]:
        """All rows, from the one that was found last, which comes again at the end; or from what is in sight."""
        count, seen = self._model.rowCount(), self._layout.seen()
        in_sight = seen.stop - 1 if backwards else seen.start
        start = next((row for row in (self._row, self._start) if 0 <= row < count), in_sight)
        step = -1 if backwards else 1
        yield from ((start + step * distance) % count for distance in range(count))
        if self._row == start:
            self._row = -1
            yield start
