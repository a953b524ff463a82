"""Typesetting in Charis SIL: glyphs, lines, justified paragraphs, as operators of a PDF content stream.

Charis SIL is the serif that MuPDF carries for EPUBs; it is under the SIL Open Font License, which leaves documents
that embed it free. Lengths are in points. Lines are broken by the least sum of demerits over the whole paragraph,
without dividing words, so that the words of a quotation stand on the page as they are written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import pymupdf

from .source import BadSource, Face, Span

FONT_NAMES: dict[Face, str] = {"regular": "R", "italic": "I", "bold": "B"}
"""The fonts' names in the resources of every page."""

LEADING = 1.48
"""The least distance of lines as a share of the type size: the height that the typeface claims, so that the boxes
around the characters of two lines, from which programs tell lines apart, do not overlap."""

_SPACE = 0.25  # of the type size: the width of a space, how far it may grow, how far it may shrink
_STRETCH = 0.16
_SHRINK = 0.07
_TIE = "\u00a0"
_DIGIT = frozenset("0123456789")


@lru_cache(maxsize=3)
def _font(face: Face) -> pymupdf.Font:
    font = pymupdf.Font("tiro")  # PyMuPDF names no way to this typeface: the wrapper gets MuPDF's own font
    font.this = pymupdf.mupdf.fz_new_builtin_font("Charis SIL", face == "bold", face == "italic")
    return font


def font_file(face: Face) -> bytes:
    """The font file to embed for a face."""
    return bytes(_font(face).buffer)


@lru_cache(maxsize=512)
def glyph(character: str, face: Face) -> tuple[str, float]:
    """A character's glyph as four hexadecimal digits, and its advance as a share of the type size.

    Raises BadSource for a character without a glyph.
    """
    number = int(_font(face).has_glyph(ord(character)))
    if not number:
        raise BadSource(f"the typeface has no glyph for {character!r}")
    return f"{number:04x}", float(_font(face).glyph_advance(ord(character)))


Word = tuple[Span, ...]
"""A word: spans without a space in them, since a word may change its face before its comma."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line to set: its words, and the width of the spaces between them in points."""

    words: tuple[Word, ...]
    space: float
    size: float

    @property
    def width(self) -> float:
        """The line's width in points."""
        return sum(_width(word) for word in self.words) * self.size + self.space * max(0, len(self.words) - 1)

    def operators(self, x: float, y: float) -> str:
        """The operators that draw the line with its baseline at `y`, from `x` on."""
        drawn: list[str] = [f"BT 1 0 0 1 {x:.3f} {y:.3f} Tm"]
        current = ""
        shown = ""
        for position, word in enumerate(self.words):
            spans = word if position == 0 else (Span(" ", word[0].face), *word)
            for span in spans:
                name = FONT_NAMES[span.face]
                if name != current:
                    drawn.extend([f"[{shown}] TJ"] if shown else [])
                    drawn.append(f"/{name} {self.size:g} Tf")
                    current, shown = name, ""
                shown += self._show(span, self.space if span.text == " " else _SPACE * self.size)
        drawn.append(f"[{shown}] TJ ET")
        return " ".join(drawn)

    def _show(self, span: Span, space: float) -> str:
        """The array elements of a span; spaces are glyphs, for readers of the text, and are set to width."""
        elements = ""
        for character in span.text:
            digits, advance = glyph(" " if character == _TIE else character, span.face)
            elements += f"<{digits}>"
            if character in (" ", _TIE):
                elements += f"{(advance - space / self.size) * 1000:.2f}"
        return elements.replace("><", "")


def words_of(spans: Sequence[Span]) -> list[Word]:
    """Split spans into words at their spaces, and tie what must not be parted at a line's end."""
    words: list[Word] = []
    current: list[Span] = []
    for span in spans:
        first, *others = span.text.split(" ")
        if first:
            current.append(Span(first, span.face))
        for other in others:
            if current:
                words.append(tuple(current))
            current = [Span(other, span.face)] if other else []
    if current:
        words.append(tuple(current))
    return _tied(words)


def _tied(words: list[Word]) -> list[Word]:
    """Join a number to what it numbers: `p. 3`, `Table 1`, `Chapter 2`, `3 March`."""
    tied: list[Word] = []
    for word in words:
        before = "".join(span.text for span in tied[-1]).lstrip("“(") if tied else ""
        text = "".join(span.text for span in word)
        number = text[0] in _DIGIT or text.rstrip(".,;:”)") in ("i", "iii", "v", "vii", "viii", "xii")
        if number and before in ("p.", "pp.", "page", "pages", "Table", "Figure", "figure", "chapter", "Chapter"):
            tied[-1] = (*tied[-1], Span(_TIE, word[0].face), *word)
        else:
            tied.append(word)
    return tied


def _width(word: Word) -> float:
    """A word's width as a share of the type size."""
    return sum(
        _SPACE if character == _TIE else glyph(character, span.face)[1] for span in word for character in span.text
    )


def set_line(spans: Sequence[Span], size: float) -> Line:
    """All of `spans` on one line with ordinary spaces."""
    return Line(tuple(words_of(spans)), _SPACE * size, size)


def set_ragged(spans: Sequence[Span], size: float, measure: float) -> list[Line]:
    """Lines filled one after the other with ordinary spaces, as for a table's cell."""
    lines: list[Line] = []
    words: list[Word] = []
    for word in words_of(spans):
        if words and Line((*words, word), _SPACE * size, size).width > measure:
            lines.append(Line(tuple(words), _SPACE * size, size))
            words = []
        words.append(word)
    lines.append(Line(tuple(words), _SPACE * size, size))
    return lines


def set_justified(spans: Sequence[Span], size: float, measure: float, indent: float = 0.0) -> list[Line]:
    """A paragraph in lines of width `measure` (the first shorter by `indent`), broken where it looks best.

    Raises BadSource where no way of breaking keeps the spaces above their least width.
    """
    words = words_of(spans)
    widths = [_width(word) * size for word in words]
    best: list[tuple[float, int]] = [(0.0, 0)]  # for the words before each place: demerits, start of the last line
    for end in range(1, len(words) + 1):
        choice = (math.inf, 0)
        natural = -_SPACE * size
        for start in range(end - 1, -1, -1):
            natural += widths[start] + _SPACE * size
            room = measure - (indent if start == 0 else 0.0) - natural
            if room < -_SHRINK * size * (end - start - 1) - 0.001:
                break
            demerits = best[start][0] + _demerits(room, end - start - 1, size, last=end == len(words), measure=measure)
            choice = min(choice, (demerits, start))
        best.append(choice)
    if best[-1][0] == math.inf:
        raise BadSource(f"a paragraph cannot be broken to {measure:g} points: {spans[0].text[:50]}")
    lines: list[Line] = []
    end = len(words)
    while end:
        start = best[end][1]
        gaps = end - start - 1
        natural = sum(widths[start:end]) + gaps * _SPACE * size
        room = measure - (indent if start == 0 else 0.0) - natural
        justified = gaps and (end < len(words) or room < 0)
        lines.insert(0, Line(tuple(words[start:end]), _SPACE * size + (room / gaps if justified else 0.0), size))
        end = start
    return lines


def _demerits(room: float, gaps: int, size: float, *, last: bool, measure: float) -> float:
    """How bad a line is that has `room` to spread over `gaps` spaces; below 0 the spaces shrink."""
    if last and room >= 0:
        return 40000.0 if room > 0.88 * measure else 1.0  # a last line of one short word looks lost
    if not gaps:
        return 1e9
    ratio = room / (gaps * size * (_STRETCH if room > 0 else _SHRINK))
    return (1.0 + 100.0 * abs(ratio) ** 3) ** 2
