"""Reading text: what a page's raw text becomes before anyone reads, indexes or quotes it.

Pure. Paragraphs are separated by one empty line; within one, lines are joined by a space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from unicodedata import normalize

TEXT_LIMIT = 200_000
"""Characters of one page or section that are kept; what is longer ends in `…`."""

# Presentation forms of letters (Latin ligatures, Hebrew, Arabic): fonts' variants, never meant as other letters.
# NFKC over the whole text would also turn x² into x2.
_FORMS = re.compile("[\ufb00-\ufdff\ufe70-\ufefc]")
_LINE_END = re.compile("([-\u2010\u00ad])[ \t]*\n[ \t]*")
# Controls, soft hyphens, zero-width spaces, bidirectional overrides, halves of surrogates. Joiners stay: Persian and
# Indic scripts need them. Controls that separate (tab, line feed, form feed, …) are spaces to `str.split`.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)
_BETWEEN_BLOCKS = "\f"


def paragraphs(blocks: Iterable[str]) -> str:
    """The reading text of `blocks`, each one paragraph of lines as they stand on a page.

    A word that was divided at the end of a line is made whole: the hyphen goes where a small letter follows; before
    a capital or a digit it stays (`COVID-19`).
    """
    text = _LINE_END.sub(_mend, _letters(_BETWEEN_BLOCKS.join(blocks)))
    lines = (" ".join(block.split()) for block in _UNSEEN.sub("", text).split(_BETWEEN_BLOCKS))
    return "\n\n".join(line for line in lines if line)


def one_line(text: str) -> str:
    """`text` without control characters, its whitespace collapsed to single spaces."""
    return " ".join(_UNSEEN.sub("", _letters(text)).split())


def limited(text: str, limit: int = TEXT_LIMIT) -> str:
    """At most `limit` characters of `text`; `…` marks that more was there."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _letters(text: str) -> str:
    return _FORMS.sub(lambda match: normalize("NFKC", match[0]), text)


def _mend(match: re.Match[str]) -> str:
    text, start, end = match.string, match.start(), match.end()
    if match[1] == "\u00ad":
        return ""
    before, after = text[start - 1 : start], text[end : end + 1]
    if not before.isalpha() or not after.isalnum():
        return match[0]
    return "" if after.islower() else match[1]
