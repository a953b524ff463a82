"""The outlines of letters take less to say, and are the same to a small fraction of a letter."""

from __future__ import annotations

import re
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.documents.compact_svg import compact
from bibgenie_desktop.documents.formulas import draw_formula

TOLERANCE = 0.05 + 1e-9
"""Half a tenth of a unit."""

Outline: TypeAlias = list[tuple[str, list[float]]]

numbers = st.integers(-99_999, 99_999).map(lambda number: number / 1000)
steps: st.SearchStrategy[tuple[str, list[float]]] = st.one_of(
    st.tuples(st.just("M"), st.lists(numbers, min_size=2, max_size=2)),
    st.tuples(st.just("L"), st.lists(numbers, min_size=2, max_size=2)),
    st.tuples(st.just("Q"), st.lists(numbers, min_size=4, max_size=4)),
    st.tuples(st.just("C"), st.lists(numbers, min_size=6, max_size=6)),
    st.tuples(st.just("Z"), st.just([])),
)


def written(outline: Outline) -> str:
    return "".join(f"{' '.join([command, *(f'{number:g}' for number in given)])} " for command, given in outline)


def read(outline: str) -> Outline:
    """The steps of an outline with absolute points, as the SVG specification says that they are read."""
    x = y = 0.0
    start = (0.0, 0.0)
    found = []
    for command, text in re.findall(r"([A-Za-z])([^A-Za-z]*)", outline):
        values = [float(number) for number in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", text)]
        if command.islower():
            values = [value + (x, y)[index % 2] for index, value in enumerate(values)]
        if command in "Zz":
            x, y = start
        else:
            x, y = values[-2:]
        if command == "M":
            start = (x, y)
        found.append((command.upper(), values))
    return found


def without_pauses(outline: Outline) -> Outline:
    """Without lines to where the pen stands already, once rounded."""
    kept, point, start = [], (0.0, 0.0), (0.0, 0.0)
    for command, values in outline:
        to = (round(values[-2] * 10), round(values[-1] * 10)) if values else start
        if command == "L" and to == point:
            continue
        if command == "M":
            start = to
        point = to
        kept.append((command, values))
    return kept


@given(st.lists(steps, max_size=12).map(lambda rest: [("M", [1.0, 2.0]), *rest]))
def test_an_outline_is_the_same_within_the_rounding(outline: Outline) -> None:
    svg = compact(f'<path d="{written(outline)}" fill="black" />')
    short = re.fullmatch(r'<path d="([^"]*)" fill="black" />', svg)
    assert short is not None
    before, after = without_pauses(outline), read(short[1])
    assert [command for command, _ in after] == [command for command, _ in before]
    for (_, expected), (_, values) in zip(before, after, strict=True):
        assert values == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize("outline", ["M 1 2 A 1 1 0 0 1 2 2", "M 1 2 h 3", "M 1", "M 1 2 3 4", "M 1e3 2", "M 1,2", "x"])
def test_an_outline_in_other_words_stays_as_it_is(outline: str) -> None:
    svg = f'<g><path d="{outline}" /></g>'
    assert compact(svg) == svg


def test_a_formula_takes_less_than_half() -> None:
    formula = draw_formula(r"\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}", display=True)
    assert formula is not None
    short = compact(formula.svg)
    assert len(short) < len(formula.svg) / 2
    assert re.sub(r' d="[^"]*"', "", short) == re.sub(r' d="[^"]*"', "", formula.svg)
