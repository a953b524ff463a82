"""The words around a place of a message, in one line as it was written (T-8)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from .search_query import Phrase, best_place
from .search_text import folded, origin

AROUND = 60
"""Characters that are shown on each side of what was found."""
LONGEST_MATCH = 120


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What stands before what was found, that itself, and what follows; together they read as one line."""

    before: str
    match: str
    after: str


def excerpt(text: str, wanted: Sequence[Phrase], *, text_folded: str | None = None) -> Excerpt:
    """The excerpt around the first place where the phrases stand; the text's beginning where they do not.

    `text_folded` is the text as `folded` gives it, if it is known.
    """
    place = best_place(wanted, folded(text) if text_folded is None else text_folded)
    if place is None:
        return Excerpt("", "", _after(text[: 4 * AROUND]))
    start, end = origin(text, *place)
    match = _shown(text[start:end])
    cut = match if len(match) <= LONGEST_MATCH else f"{match[: LONGEST_MATCH - 1]}…"
    return Excerpt(_before(text[max(0, start - 4 * AROUND) : start]), cut, _after(text[end : end + 4 * AROUND]))


def _before(text: str) -> str:
    """The end of a text, which begins with a whole word if it can."""
    line = _shown(text)
    if len(line) <= AROUND:
        return line.lstrip()
    kept = line[-AROUND:]
    space = kept.find(" ", 0, AROUND // 3)
    kept = kept[space + 1 :] if space >= 0 and line[-AROUND - 1] != " " else kept
    while kept and unicodedata.category(kept[0])[0] == "M":
        kept = kept[1:]
    return f"…{kept.lstrip()}"


def _after(text: str) -> str:
    """The beginning of a text, which ends with a whole word if it can."""
    line = _shown(text)
    if len(line) <= AROUND:
        return line.rstrip()
    end = AROUND
    while end < len(line) and unicodedata.category(line[end])[0] == "M":
        end += 1
    kept = line[:end]
    space = kept.rfind(" ", 2 * AROUND // 3)
    kept = kept[:space] if space >= 0 and line[end : end + 1] not in ("", " ") else kept
    return f"{kept.rstrip()}…"


_TURNING = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _shown(text: str) -> str:
    """`text` with single spaces for white space and control characters, kept at both ends; nothing turns it round."""
    plain = _UNSEEN.sub(" ", _TURNING.sub("", text))
    line = " ".join(plain.split())
    if not line:
        return " " if plain else ""
    return f"{' ' * plain[0].isspace()}{line}{' ' * plain[-1].isspace()}"
