"""Where a long text is cut into pieces, each of which can be rendered and laid out in one go. No Qt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...protocol.values import Segment
from .text_run import Run

PIECE = 12_000
"""Characters of one piece: its rendering and layout together stay below a frame, in most scripts."""
LINES = 200
"""Lines of one piece, but for code: each row of a table costs as much as a long line."""
_LONGEST_FENCE, _LONGEST_HEAD = 200, 1_000
"""Characters of a fence's first line, and of a table's head, that are repeated where they are cut."""


class Cuts:
    """Where a text that may be long is cut into pieces: between blocks, or where it must be.

    Nothing decided changes when the text grows. A code block that must be cut goes on in the next piece under its
    first line, a table under its head; with `blocks` False there are no such things, nor blocks.
    """

    _FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)

    def __init__(self, *, blocks: bool, size: int = PIECE, lines: int = LINES) -> None:
        self._blocks = blocks
        self._size = size
        self._lines = lines
        # Where a piece ends, what is put there to close it, and what the next one is begun with.
        self._cuts: list[tuple[int, str, str]] = []

    def pieces(self, run: Run) -> Iterator[Run]:
        """The pieces of a text that begins with the one given before."""
        start, opening = (self._cuts[-1][0], self._cuts[-1][2]) if self._cuts else (0, "")
        while end := self._end(run.source, start, opening):
            start, closing, opening = self._cut(run.source[start:end], start, opening)
            self._cuts.append((start, closing, opening))
        start, opening = 0, ""
        for end, closing, following in self._cuts:
            yield _framed(run.between(start, end), opening, closing)
            start, opening = end, following
        yield _framed(run.between(start, len(run)), opening, "")

    def _end(self, source: str, start: int, opening: str) -> int:
        """Where the piece that begins at `start` must end at the latest, 0 while it may still grow."""
        end = start + self._size
        if source.count("\n", start, end) >= self._lines:
            window = source[start:end]
            place = start + len(window) - len(window.split("\n", self._lines)[-1])
            # Lines of code cost little, and are better copied together.
            if place < len(source) and not self._fences(source[start:place], opening)[-1][1]:
                return place
        return end if len(source) > end else 0

    def _cut(self, window: str, start: int, opening: str) -> tuple[int, str, str]:
        fences = self._fences(window, opening)
        place = len(window)
        while (place := window.rfind("\n\n", 0, place)) >= 0:
            # What is indented still belongs to what stands above it.
            if not window[place + 2 : place + 3].isspace() and place + 2 < len(window) and not _open_at(fences, place):
                return start + place + 2, "", ""
        place = window.rfind("\n", 1) + 1 or window.rfind(" ", self._size // 2) + 1 or len(window)
        fence = _open_at(fences, place - 1)
        if fence or not self._blocks:
            return start + place, _closing(fence), fence
        return start + place, "", _head(f"{opening}\n{window[:place]}" if opening else window[:place])

    def _fences(self, window: str, opening: str) -> list[tuple[int, str]]:
        """From where on which fence is open, "" for none."""
        found = [(0, opening if opening[:1] in ("`", "~") else "")]
        if self._blocks and ("```" in window or "~~~" in window):
            for mark in self._FENCE.finditer(window):
                found.append((mark.start(), _after_mark(found[-1][1], mark[1], mark[2])))
        return found


def _head(text: str) -> str:
    """The head of the table at the end of a text, "" where there is none."""
    block = text.rfind("\n\n", 0, len(text) - 1) + 2 if "\n\n" in text[:-1] else 0
    lines = text[block:].split("\n", 2)
    is_table = len(lines) > 2 and "|" in lines[0] and "-" in lines[1] and not lines[1].strip(" \t|:-")
    head = "\n".join(lines[:2])
    return head if is_table and len(head) <= _LONGEST_HEAD else ""


def _framed(run: Run, opening: str, closing: str) -> Run:
    if not opening and not closing:
        return run
    before = [Segment("text", f"{opening}\n")] if opening else []
    after = [Segment("text", closing)] if closing else []
    return Run([*before, *run.segments, *after])


def _open_at(fences: list[tuple[int, str]], place: int) -> str:
    return next(fence for begin, fence in reversed(fences) if begin <= max(place, 0))


def _after_mark(fence: str, mark: str, rest: str) -> str:
    """The fence that is open behind a line that looks like one."""
    if not fence:
        return "" if mark[0] == "`" and "`" in rest else (mark + rest)[:_LONGEST_FENCE].rstrip()
    length = len(fence) - len(fence.lstrip(fence[0]))
    return "" if mark[0] == fence[0] and len(mark) >= length and not rest.strip() else fence


def _closing(fence: str) -> str:
    return f"\n{fence[0] * (len(fence) - len(fence.lstrip(fence[0])))}" if fence else ""
