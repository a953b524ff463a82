"""The height index against a plain list: whatever is done to it, both tell the same."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bibgenie_desktop.ui.chat.heights import HeightIndex

pytestmark = pytest.mark.req("U-4")

HEIGHTS = st.integers(0, 5_000)


class NaiveHeights(RuleBasedStateMachine):
    """Does the same to an index and to a list, and compares them after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.index = HeightIndex()
        self.heights: list[int] = []

    @rule(heights=st.lists(HEIGHTS, max_size=40))
    def reset(self, heights: list[int]) -> None:
        self.index.reset(heights)
        self.heights = list(heights)

    @rule(height=HEIGHTS)
    def append(self, height: int) -> None:
        self.index.append(height)
        self.heights.append(height)

    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        count = data.draw(st.integers(0, len(self.heights)))
        self.index.truncate(count)
        del self.heights[count:]

    @precondition(lambda self: self.heights)
    @rule(data=st.data(), height=HEIGHTS)
    def set_height(self, data: st.DataObject, height: int) -> None:
        row = data.draw(st.integers(0, len(self.heights) - 1))
        self.index.set_height(row, height)
        self.heights[row] = height

    @invariant()
    def same(self) -> None:
        assert len(self.index) == len(self.heights)
        assert self.index.total == sum(self.heights)
        tops = [0, *itertools.accumulate(self.heights)]
        assert [self.index.top(row) for row in range(len(tops))] == tops
        assert [self.index.height(row) for row in range(len(self.heights))] == self.heights
        if self.heights:
            for y in {-1, 0, 1, sum(self.heights) // 2, sum(self.heights) - 1, sum(self.heights), *tops}:
                naive = next((row for row, end in enumerate(tops[1:]) if end > y), len(self.heights) - 1)
                assert self.index.row_at(y) == naive


TestNaiveHeights = NaiveHeights.TestCase
TestNaiveHeights.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


@given(st.lists(HEIGHTS, min_size=1, max_size=300), st.data())
def test_each_place_is_covered_by_the_row_found_there(heights: list[int], data: st.DataObject) -> None:
    index = HeightIndex(heights)
    y = data.draw(st.integers(0, max(0, index.total - 1)))
    row = index.row_at(y)
    assert index.top(row) <= y
    assert y < index.top(row + 1) or index.total == 0


@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=300))
def test_row_and_place_are_each_others_inverse(heights: list[int]) -> None:
    index = HeightIndex(heights)
    assert [index.row_at(index.top(row)) for row in range(len(heights))] == list(range(len(heights)))


@given(st.lists(HEIGHTS, max_size=300))
def test_one_by_one_or_all_at_once_makes_the_same_index(heights: list[int]) -> None:
    grown = HeightIndex()
    for height in heights:
        grown.append(height)
    built = HeightIndex(heights)
    assert [grown.top(row) for row in range(len(heights) + 1)] == [built.top(row) for row in range(len(heights) + 1)]


def test_what_there_is_not_is_refused() -> None:
    index = HeightIndex([10, 20])
    for row in (-1, 2):
        with pytest.raises(IndexError):
            index.height(row)
        with pytest.raises(IndexError):
            index.set_height(row, 1)
    with pytest.raises(IndexError):
        index.top(3)
    with pytest.raises(ValueError, match="cannot be kept"):
        index.truncate(3)
    with pytest.raises(ValueError, match="not -1"):
        index.set_height(0, -1)
    with pytest.raises(IndexError):
        HeightIndex().row_at(0)
