"""Finding a quote in words as they stand in a document (Z-3, Z-4). Pure: knows neither files nor pages.

Quote and words are both reduced to one stream of characters and compared there. Of no account are: case, spaces, soft
hyphens, the forms that NFKC unifies (ligatures, full width, …), which kind of quotation mark or dash was set, a dash
between two letters (a line end may have put it there, the reading text may have taken it away), and punctuation at
the quote's two ends.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from unicodedata import normalize

SHORT = 12
"""A quote of fewer characters must begin and end with a word; in longer ones chance is not to be feared, and some
PDFs lose the spaces between their words."""

_MARKS = str.maketrans(dict.fromkeys("‘’‚‛‹›`ʼ′", "'") | dict.fromkeys('“”„‟«»"', "''") | dict.fromkeys("‐‒–—―−⁃", "-"))
_SPACES = re.compile("[\\s\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+")
_DASH_IN_WORD = re.compile(r"(?<=[^\W\d_])-+(?=[^\W\d_])")
_ENDS = re.compile(r"^(?:'|\.\.\.|-+(?=[^\W\d_]))+|(?:['.,;:]|(?<=[^\W\d_])-+)+$")
# Scripts written without spaces: a word may begin or end anywhere.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_BETWEEN_WORDS = "\x00"


@dataclass(frozen=True, slots=True)
class WordSpan:
    """Words `first` to `last` of a sequence, both included."""

    first: int
    last: int


class Quote:
    """A quote to look for. One that holds nothing but spaces and punctuation stands nowhere."""

    def __init__(self, text: str) -> None:
        self._stream = _ENDS.sub("", _DASH_IN_WORD.sub("", _reduced(text)))

    def find_in(self, words: Sequence[str], limit: int) -> list[WordSpan]:
        """Up to `limit` places where the quote stands in `words`, in order and without overlap.

        A span holds the whole words that the quote touches: punctuation that clings to them is included.
        """
        if not self._stream or limit < 1:
            return []
        stream = _Stream(words)
        spans: list[WordSpan] = []
        start = stream.text.find(self._stream)
        while start >= 0 and len(spans) < limit:
            end = start + len(self._stream)
            if len(self._stream) >= SHORT or (stream.divides(start) and stream.divides(end)):
                spans.append(stream.span(start, end))
                start = stream.text.find(self._stream, end)
            else:
                start = stream.text.find(self._stream, start + 1)
        return spans


class _Stream:
    """The characters of `words`, and which word each came from."""

    def __init__(self, words: Sequence[str]) -> None:
        # Reduced in one go, which is many times faster than word by word; NUL composes with nothing.
        reduced = _reduced(_BETWEEN_WORDS.join(word.replace(_BETWEEN_WORDS, "") for word in words)).split(
            _BETWEEN_WORDS
        )
        text = "".join(reduced)
        removed = [at for match in _DASH_IN_WORD.finditer(text) for at in range(match.start(), match.end())]
        self.text = _DASH_IN_WORD.sub("", text)
        self._starts = [start - bisect_left(removed, start) for start in accumulate(map(len, reduced), initial=0)]
        self._dashes = {at - number for number, at in enumerate(removed)}

    def span(self, start: int, end: int) -> WordSpan:
        return WordSpan(bisect_right(self._starts, start) - 1, bisect_left(self._starts, end) - 1)

    def divides(self, at: int) -> bool:
        """Whether a word may begin or end before the character `at`."""
        before, after = self.text[at - 1 : at] if at else "", self.text[at : at + 1]
        return (
            not (before.isalnum() and after.isalnum())
            or at in self._dashes
            or self._starts[bisect_left(self._starts, at)] == at
            or _UNSPACED.match(before) is not None
            or _UNSPACED.match(after) is not None
        )


def _reduced(text: str) -> str:
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    return _SPACES.sub("", folded.translate(_MARKS))
