"""A document that shows a text, also while the text grows: only what may still change is rendered again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

from PySide6.QtGui import QFont, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextDocument, QTextDocumentFragment

from ...protocol.values import Segment
from .body import Look, RenderBody, Rendered
from .text_run import Run

_TABLE = re.compile("<table|</table")
_END = QTextCursor.MoveOperation.End
_KEEP = QTextCursor.MoveMode.KeepAnchor


@dataclass(slots=True)
class _Closed:
    """What of a growing text is in closed blocks: its length in the source, its end in the document and how the block
    there looked, and what rendering it gave."""

    length: int = 0
    position: int = 0
    block: QTextBlockFormat = field(default_factory=QTextBlockFormat)
    characters: QTextCharFormat = field(default_factory=QTextCharFormat)
    html: str = ""
    citations: int = 0
    codes: tuple[str, ...] = ()
    missing: tuple[object, ...] = ()


class GrowingText:
    """Keeps a document at a run of text. The document's own formats are whoever made it's.

    `keeping` is entered while all behind a place in the document is written anew: whoever has a selection there keeps
    it in this way.
    """

    def __init__(
        self,
        document: QTextDocument,
        keeping: Callable[[int], AbstractContextManager[None]] = lambda begin: nullcontext(),
    ) -> None:
        self._document = document
        self._keeping = keeping
        self._renderer: RenderBody | None = None
        self._look: Look | None = None
        self._font: QFont | None = None
        self._run: Run | None = None
        self._closed = _Closed()
        self._tail = Rendered("")
        # So many characters of the tail, whole lines, were found to be open.
        self._open_lines = 0
        self._scratch: QTextDocument | None = None
        self.changed_from: int | None = 0
        """The place in the document from which on it looks different; None where it does not. Reset by who draws it."""

    def dress(self, renderer: RenderBody, look: Look, font: QFont) -> None:
        """Render this way from now on."""
        if renderer is not self._renderer or look != self._look or font != self._font:
            self._renderer, self._look, self._font = renderer, look, font
            self._document.setDefaultFont(font)
            self.clear()

    @property
    def renderer(self) -> RenderBody | None:
        """Who renders."""
        return self._renderer

    @property
    def codes(self) -> tuple[str, ...]:
        """The texts of its code blocks, in order."""
        return (*self._closed.codes, *self._tail.codes)

    @property
    def missing(self) -> tuple[object, ...]:
        """The formulas that are shown as their source."""
        return (*self._closed.missing, *self._tail.missing)

    @property
    def has_links(self) -> bool:
        """Whether there is a link to go to."""
        return "href=" in self._tail.html or "href=" in self._closed.html

    def citation(self, number: int) -> Segment | None:
        """The citation that is counted so."""
        cited = [segment for segment in self._run.segments if segment.kind == "citation"] if self._run else []
        return cited[number] if number < len(cited) else None

    def clear(self) -> None:
        """Forget the text: the next one is drawn whole."""
        self._run = None
        self._begin_anew()

    def show(self, run: Run) -> None:
        """Draw a text, unless it is the one that is drawn."""
        if self._run == run and not self._closed.length:
            return
        whole = self._render(run, 0, 0)
        # What was written while the text grew is mostly what the whole text gives: then nothing moves.
        if self._run != run or whole.html != self._closed.html + self._tail.html:
            with self._keeping(0):
                self._write_all(whole.html)
        self._run = run
        self._begin_anew()
        self._tail = whole

    def grow(self, run: Run) -> None:
        """Draw a text that grows at its end: what follows the blocks that are closed is rendered again."""
        if self._run == run:
            return
        closed = self._closed
        if self._run is None or len(run) < closed.length or not run.begins_with(self._run, closed.length):
            self._begin_anew()
        with self._keeping(self._closed.position):
            self._write_from(run, self._closed.length)
        self._run = run

    def _write_from(self, run: Run, start: int) -> None:
        """Write what of a text stands behind a place in its source, the end of the closed blocks."""
        tail = run.between(start, len(run))
        assert self._renderer is not None
        if length := self._closed_in(tail.source):
            self._close(tail.between(0, length))
            tail = tail.between(length, len(tail))
        before, self._tail = self._tail.html, Rendered("")
        if len(tail):
            self._tail = self._render(tail, self._closed.citations, len(self._closed.codes))
        self._write_tail(self._tail.html, before)

    def _closed_in(self, tail: str) -> int:
        """How many characters of the tail are closed now; not asked for again before another line is whole."""
        assert self._renderer is not None
        lines = tail.rfind("\n") + 1
        if lines <= self._open_lines:
            return 0
        length = self._renderer.closed(tail)
        self._open_lines = 0 if length else lines
        return length

    def _render(self, run: Run, citations: int, codes: int) -> Rendered:
        assert self._renderer is not None
        assert self._look is not None
        return self._renderer.render(run.segments, self._look, first_citation=citations, first_code=codes)

    def _close(self, run: Run) -> None:
        before = self._closed
        rendered = self._render(run, before.citations, len(before.codes))
        self._write_tail(rendered.html, self._tail.html)
        end = QTextCursor(self._document)
        end.movePosition(_END)
        self._closed = _Closed(
            before.length + len(run),
            end.position(),
            end.blockFormat(),
            end.blockCharFormat(),
            before.html + rendered.html,
            before.citations + sum(segment.kind == "citation" for segment in run.segments),
            (*before.codes, *rendered.codes),
            (*before.missing, *rendered.missing),
        )
        self._tail = Rendered("")

    def _write_all(self, html: str) -> None:
        with self._unseen():
            # A line end behind the last block would become a space.
            self._document.setHtml(html.rstrip())
        self.changed_from = 0

    def _write_tail(self, html: str, before: str) -> None:
        """Replace all that stands behind the closed blocks, which was `before`."""
        closed = self._closed
        if not closed.length:
            self._write_all(html)
            return
        edit = QTextCursor(self._document)
        with self._unseen():
            edit.beginEditBlock()
            edit.setPosition(closed.position)
            edit.movePosition(_END, _KEEP)
            edit.removeSelectedText()
            if html:
                edit.insertFragment(self._fragment(html))
            # An empty block behind a table takes on the look of what is put there, or was.
            edit.setPosition(closed.position)
            if edit.blockFormat() != closed.block:
                edit.setBlockFormat(closed.block)
            if edit.blockCharFormat() != closed.characters:
                edit.setBlockCharFormat(closed.characters)
            edit.endEditBlock()
        # Whole paragraphs that are as they were look as they did, but in a table that goes on: its columns may move.
        same = html.count("</p>", 0, _settled(html[: _common(html, before)]))
        block = self._document.findBlockByNumber(edit.blockNumber() + 1 + same)
        begin = (block if block.isValid() else self._document.lastBlock()).position()
        self.changed_from = begin if self.changed_from is None else min(begin, self.changed_from)

    @contextmanager
    def _unseen(self) -> Iterator[None]:
        """Whoever shows the document is not told to draw it: it first has to be moved to where it belongs."""
        layout = self._document.documentLayout()
        blocked = layout.blockSignals(True)
        try:
            yield
        finally:
            layout.blockSignals(blocked)

    def _fragment(self, html: str) -> QTextDocumentFragment:
        """Blocks to insert behind others."""
        # Qt gives the first block of what is inserted the look of the block that it lands in: so that is a block of no
        # meaning, of which only the end is inserted.
        if self._scratch is None:
            self._scratch = QTextDocument(self._document)
            self._scratch.setDefaultFont(self._document.defaultFont())
        self._scratch.setHtml(f"<p>.</p>{html.rstrip()}")
        piece = QTextCursor(self._scratch)
        piece.setPosition(1)
        piece.movePosition(_END, _KEEP)
        return QTextDocumentFragment(piece)

    def _begin_anew(self) -> None:
        self._closed, self._tail, self._open_lines = _Closed(), Rendered(""), 0
        if self._scratch is not None:
            self._scratch.deleteLater()
            self._scratch = None


def _settled(html: str) -> int:
    """Where the outermost table begins that is open at the end; the end where none is."""
    begins: list[int] = []
    for tag in _TABLE.finditer(html):
        if tag[0] == "<table":
            begins.append(tag.start())
        elif begins:
            begins.pop()
    return begins[0] if begins else len(html)


def _common(one: str, other: str) -> int:
    """How many characters at the beginning are the same."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
