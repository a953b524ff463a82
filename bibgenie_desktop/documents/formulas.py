"""Formulas in LaTeX as SVG, for the worker process: hostile LaTeX must not stop the window.

The time that ziamath and latex2mathml need doubles with each level of nesting, so a formula has a deadline.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from time import perf_counter
from types import FrameType
from xml.etree.ElementTree import ParseError, fromstring

from latex2mathml import exceptions

from .port import DrawnFormula

with warnings.catch_warnings():
    # ziamath opens its font in a way that Python 3.11 and 3.12 discourage, and later ones do not.
    warnings.simplefilter("ignore", DeprecationWarning)
    from ziamath.config import config
    from ziamath.tex import tex2mml
    from ziamath.zmath import Math

LONGEST_FORMULA = 2_000
"""Characters of LaTeX."""
LONGEST_SVG = 400_000
"""Characters."""
WIDEST, HIGHEST = 250, 60
"""Ems."""
SECONDS = 1.0
"""For one formula."""
INK = "black"
"""The colour of all that has none of its own: replace `"black"` in the SVG by another."""

_SIZE = 24.0
_MARGIN = 1.0
_DEFINES = re.compile(r"\\(?:newcommand|renewcommand|providecommand|[egx]?def|let)(?![A-Za-z])")
_MATRIX = re.compile(r"\\(begin|end)\{([pbvBV]matrix)\}")
_UNSAFE = re.compile(r"<(?!/?(?:svg|g|path|rect|ellipse|line|polyline|polygon)\b)|href=|style=|url\(", re.IGNORECASE)


class _Late(Exception):
    """The deadline has passed."""


_FAILURES: tuple[type[Exception], ...] = (
    *(each for each in vars(exceptions).values() if isinstance(each, type)),
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    ParseError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
    _Late,
)

# QtSvg draws nothing where an SVG says `<use>`.
config.svg2 = False


def draw_formula(
    latex: str, *, display: bool, seconds: float | None = SECONDS, clock: Callable[[], float] = perf_counter
) -> DrawnFormula | None:
    """The formula, drawn for a line of its own or within one; None where that fails, or takes longer than `seconds`.

    Looking at the clock takes as long as the drawing; with None for `seconds` the caller sees to the time.
    """
    if len(latex) > LONGEST_FORMULA or _DEFINES.search(latex):
        return None
    try:
        with nullcontext() if seconds is None else _Deadline(clock, seconds):
            mathml = tex2mml(_matrices_braced(latex), inline=not display)
            if "\\" in mathml:  # a command that is not known would be drawn as its name
                return None
            drawn = Math(mathml, size=_SIZE, margin=_MARGIN)
            if not all(drawn.font.glyphindex(letter) for letter in _letters(mathml)):  # the font lacks it: CJK, emoji
                return None
            svg = drawn.svg()
            width, height = drawn.getsize()
            below = -drawn.getyofst()
    except _FAILURES:
        return None
    if not (0 < width <= WIDEST * _SIZE and 0 < height <= HIGHEST * _SIZE):
        return None
    if len(svg) > LONGEST_SVG or _UNSAFE.search(svg):
        return None
    above = height - below
    return DrawnFormula(svg, (width + 2 * _MARGIN) / _SIZE, (above + _MARGIN) / _SIZE, (below + _MARGIN) / _SIZE)


def _matrices_braced(latex: str) -> str:
    """The formula with braces around each matrix: what is raised behind one would end up among its brackets."""
    return _MATRIX.sub(lambda edge: "{" + edge[0] if edge[1] == "begin" else edge[0] + "}", latex)


def _letters(mathml: str) -> set[str]:
    return {letter for letter in "".join(fromstring(mathml).itertext()) if not letter.isspace()}


class _Deadline:
    """Raises _Late in whatever Python code runs within it too long. Code that calls nothing is not stopped."""

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self._clock = clock
        self._end = clock() + seconds

    def __enter__(self) -> None:
        self._before = sys.getprofile()
        sys.setprofile(self._watch)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)

    def _watch(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and self._clock() > self._end:
            raise _Late
