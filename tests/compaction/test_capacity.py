"""How much of a window a request may take (C-4, D-13)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.compaction.capacity import ASSUMED_WINDOW, Capacity

windows = st.integers(0, 10_000_000)
outputs = st.none() | st.integers(0, 1_000_000)


@pytest.mark.req("C-4", "D-13")
@pytest.mark.parametrize(
    ("capacity", "reserve", "limit"),
    [
        (Capacity(200_000, 8_192), 8_192, 191_808),
        (Capacity(200_000, 64_000), 40_000, 160_000),
        (Capacity(200_000), 40_000, 160_000),
        (Capacity(32_768, 4_096), 4_096, 28_672),
        (Capacity(8_192), 2_048, 6_144),
        (Capacity(8_193), 1_638, 6_555),
        (Capacity(4_096, 256), 1_024, 3_072),
        (Capacity(2_048), 1_024, 1_024),
        (Capacity(512), 1_024, 0),
    ],
)
def test_the_reserve_is_the_documented_share_of_the_window(capacity: Capacity, reserve: int, limit: int) -> None:
    assert (capacity.reserve, capacity.safe_input_limit) == (reserve, limit)


@pytest.mark.req("C-4")
def test_a_model_that_nobody_knows_gets_50_000_tokens_of_input() -> None:
    unknown = Capacity()
    assert unknown.context_window == ASSUMED_WINDOW
    assert not unknown.window_known
    assert unknown.safe_input_limit == 50_000


@pytest.mark.req("C-4", "D-13")
@given(windows, outputs)
def test_there_is_always_room_for_an_answer_beside_the_largest_request(window: int, output: int | None) -> None:
    capacity = Capacity(window, output)
    assert capacity.reserve >= 1_024
    assert 0 <= capacity.safe_input_limit <= max(0, window - 1_024)
    assert capacity.safe_input_limit == 0 or capacity.safe_input_limit + capacity.reserve == window


@pytest.mark.req("C-4")
@given(windows, st.integers(0, 100_000), outputs)
def test_a_larger_window_never_leaves_less_room(window: int, more: int, output: int | None) -> None:
    """From one side of the 8k step to the other the reserve shrinks; the room must not."""
    assert Capacity(window + more, output).safe_input_limit >= Capacity(window, output).safe_input_limit
