"""Cutting what is to be summarised into pieces that the summariser takes (C-12): nothing of it is left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from .cutting import border_before
from .estimate import estimate_text
from .serialise import MARGIN, Entry

_BREAKS = (re.compile(r"\n\n"), re.compile(r"\n"), re.compile(r"(?<=[.!?。！？])\s"), re.compile(r"\s"))
_LABEL = "[Part {number} of {count} of one message]\n"
_LABEL_TOKENS = 40


def pieces(entries: Iterable[Entry], limit_tokens: int, size: Callable[[str], int] = estimate_text) -> list[str]:
    """The entries in order, in as few pieces as fit, each of `limit_tokens` at most; one empty piece for none.

    An entry that is too long by itself is split, at the end of a paragraph, a line, a sentence or a word if it can be.
    """
    found: list[str] = []
    waiting: list[str] = []
    filled = 0
    for entry in entries:
        for text in _parts(entry.text, limit_tokens, size):
            tokens = size(text) + 2
            if waiting and filled + tokens > limit_tokens:
                found.append("\n\n".join(waiting))
                waiting, filled = [], 0
            waiting.append(text)
            filled += tokens
    if waiting or not found:
        found.append("\n\n".join(waiting))
    return found


def _parts(text: str, limit: int, size: Callable[[str], int]) -> Sequence[str]:
    """A text that is too long, in labelled parts; a shorter one alone."""
    if size(text) + 2 <= limit:
        return (text,)
    room = max(1, limit - _LABEL_TOKENS)
    parts: list[str] = []
    start = 0
    while start < len(text):
        end = _end(text, start, room, size)
        line = text.rfind("\n", 0, start) + 1
        # What is cut out of the middle of a document's line stays marked as that.
        is_quoted = line < start and text.startswith(MARGIN, line)
        parts.append((MARGIN if is_quoted else "") + text[start:end])
        start = end
    return [_LABEL.format(number=number, count=len(parts)) + part for number, part in enumerate(parts, 1)]


def _end(text: str, start: int, room: int, size: Callable[[str], int]) -> int:
    """Where a part that begins at `start` ends: behind it as little as possible is cut in two."""
    low, high = start + 1, len(text)
    if size(text[start:high]) <= room:
        return high
    while low < high:  # the longest beginning that fits
        middle = (low + high + 1) // 2
        if size(text[start:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    for pattern in _BREAKS:
        last = None
        for match in pattern.finditer(text, start + (low - start) // 2, low):
            last = match.end()
        if last is not None and last > start:
            return last
    end = border_before(text, low)
    return end if end > start else low
