"""Formulas in Markdown: `$…$`, `$$…$$`, `\\(…\\)` and `\\[…\\]`. No Qt.

A formula has no blank line in it. What is not closed, and prices such as `$5 and $10`, stay text. `\\[…\\]` is also how
Markdown writes plain brackets: it is a formula where a LaTeX command is in it, or where it stands alone and has a sign.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .source import PLACEHOLDER_BEGIN

if TYPE_CHECKING:  # the parser is loaded with the first text
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

LONGEST_FORMULA = 2_000
"""Characters."""

CLOSERS = {"$$": "$$", "\\(": "\\)", "\\[": "\\]", "$": "$"}

_MOST_ESCAPED = 20
_BLANK_LINE = re.compile(r"\n[\s>]*\n")
_COMMAND = re.compile(r"(?<!\\)\\[A-Za-z]")
_SIGN = re.compile(r"[\w)}\]'!]\s*[\^_=+<>]\s*[\w\\({\[|=-]")
_PROSE = re.compile(r"\s[^\W\d_]{2,}")
# What may follow a formula that stands alone: a full stop, or the number of the equation.
_BEHIND = re.compile(r"\s*([.,;:]|\([^()$]{1,40}\))?\s*")


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in LaTeX, without delimiters; `display` for one that stands alone."""

    latex: str
    display: bool

    @property
    def name(self) -> str:
        """The same for the same formula: 32 hexadecimal digits."""
        kind = "display" if self.display else "inline"
        return hashlib.sha256(f"{kind}:{self.latex}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class FormulaImage:
    """The picture of a formula: `width` and `height` in pixels, drawn for Qt's `vertical-align: middle`."""

    width: float
    height: float


def middle_box(above: float, below: float, x_height: float) -> tuple[float, float]:
    """The height of a picture whose baseline comes to stand on the line's, and where in it the formula's top is.

    Qt puts the middle of a picture a quarter of the font's `x_height` above the baseline, and knows no other place
    between the lines. `above` and `below` are the formula's extents from its baseline.
    """
    half = max(above - x_height / 4, below + x_height / 4)
    return 2 * half, half + x_height / 4 - above


def closing(text: str, begin: int, end: int, closer: str) -> int:
    """Where the formula that began before `begin` is closed, or -1."""
    end = min(end, begin + LONGEST_FORMULA)
    for _ in range(_MOST_ESCAPED):
        place = text.find(closer, begin, end)
        if place < 0 or not _escaped(text, place):
            return place
        begin = place + 1
    return -1


def inline_formula(state: StateInline, silent: bool) -> bool:
    """The rule for formulas in a line of text."""
    text, start = state.src, state.pos
    if text[start] not in "$\\":
        return False
    opener = text[start] if text[start] == "$" and text[start + 1 : start + 2] != "$" else text[start : start + 2]
    closer = CLOSERS.get(opener)
    if closer is None:
        return False
    begin = start + len(opener)
    end = closing(text, begin, state.posMax, closer)
    if end < 0:
        return False
    latex = text[begin:end]
    if not _is_formula(latex) or (opener == "$" and not _dollars_enclose(text, start, end)):
        return False
    if opener == "\\[" and not _COMMAND.search(latex):
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content, token.markup = latex.strip(), opener
    state.pos = end + len(closer)
    return True


def math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The rule for formulas in lines of their own."""
    if state.is_code_block(start):
        return False
    text, begin = state.src, state.bMarks[start] + state.tShift[start]
    opener = text[begin : begin + 2]
    if opener not in ("$$", "\\["):
        return False
    place = closing(text, begin + 2, len(text), CLOSERS[opener])
    if place < 0:
        return False
    last = start
    while state.eMarks[last] < place:
        last += 1
        if last >= end or state.isEmpty(last) or state.sCount[last] < state.blkIndent:
            return False
    behind = _BEHIND.fullmatch(text, place + 2, state.eMarks[last])
    # Line by line, as the marks of a quote are not of the formula.
    lines = [
        text[
            max(begin + 2, state.bMarks[line]) if line == start else state.bMarks[line] : min(place, state.eMarks[line])
        ]
        for line in range(start, last + 1)
    ]
    latex = "\n".join(lines)
    if behind is None or not _is_formula(latex):
        return False
    if opener == "\\[" and not _COMMAND.search(latex) and not _SIGN.search(latex):
        return False
    if not silent:
        token = state.push("formula_block", "", 0)
        token.content, token.markup, token.info = latex.strip(), opener, behind[1] or ""
        token.map = [start, last + 1]
        state.line = last + 1
    return True


def may_grow_into_formula(text: str, start: int) -> bool:
    """Whether the line at `start` opens a formula that more lines after the end of `text` could close."""
    begin = start + len(text[start : start + 4]) - len(text[start : start + 4].lstrip(" "))
    closer = {"$$": "$$", "\\[": "\\]"}.get(text[begin : begin + 2])
    if closer is None or len(text) - begin > LONGEST_FORMULA + 4:
        return False
    return closing(text, begin + 2, len(text), closer) < 0 and not _BLANK_LINE.search(text, begin)


def _is_formula(latex: str) -> bool:
    return bool(latex.strip()) and PLACEHOLDER_BEGIN not in latex and not _BLANK_LINE.search(latex)


def _dollars_enclose(text: str, start: int, end: int) -> bool:
    """Whether single dollars at these places are delimiters and not prices."""
    inside, before, behind = text[start + 1 : end], text[start - 1 : start], text[end + 1 : end + 2]
    if inside[0].isspace() or inside[-1].isspace() or before.isalnum() or before == "$":
        return False
    if behind.isdigit() or behind == "$":
        return False
    prose = inside[0].isdigit() and _PROSE.search(inside)
    return not prose or bool(_COMMAND.search(inside) or _SIGN.search(inside))


def _escaped(text: str, place: int) -> bool:
    first = place
    while first > 0 and text[first - 1] == "\\":
        first -= 1
    return (place - first) % 2 == 1
