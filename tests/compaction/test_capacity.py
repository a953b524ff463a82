"""How much of a window a request may take, and the shares that compaction goes by (C-4, D-1, D-6, D-13)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.compaction.capacity import ASSUMED_WINDOW, Capacity

windows = st.integers(0, 10_000_000)
outputs = st.none() | st.integers(-10, 5_000_000)
chosen = st.none() | st.integers(-10, 3_000_000)
capacities = st.builds(Capacity, windows, outputs, st.booleans(), chosen, chosen)


@pytest.mark.req("C-4", "D-13")
@pytest.mark.parametrize(
    ("capacity", "reserve", "limit"),
    [
        (Capacity(200_000, 8_192), 8_192, 191_808),
        (Capacity(200_000, 64_000), 40_000, 160_000),
        (Capacity(200_000), 40_000, 160_000),
        (Capacity(200_000, 0), 40_000, 160_000),
        (Capacity(200_000, -1), 40_000, 160_000),
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
    assert unknown.safe_input_limit == unknown.compacts_at == 50_000


@pytest.mark.req("C-4", "D-6", "D-13")
def test_the_shares_of_a_large_window_are_the_documented_ones() -> None:
    capacity = Capacity(200_000, 8_192, True)
    assert capacity.compacts_at == 160_000
    assert capacity.tail_budget == 191_808 * 15 // 100
    assert capacity.summary_budget == 4_096
    assert capacity.ledger_budget == 10_000
    assert capacity.low_water == 191_808 * 60 // 100
    assert capacity.least_gain == 19_180


@pytest.mark.req("D-13")
@pytest.mark.parametrize(
    ("capacity", "summary", "ledger"),
    [
        (Capacity(200_000, 64_000), 20_000, 10_000),
        (Capacity(32_768, 1_500), 1_024, 1_638),
        (Capacity(8_192, 2_048), 1_024, 600),
        (Capacity(8_192, 100), 1_024, 600),
        (Capacity(32_768), 3_276, 1_638),
    ],
)
def test_a_summary_takes_half_of_the_reserve_but_never_less_than_it_needs(
    capacity: Capacity, summary: int, ledger: int
) -> None:
    assert (capacity.summary_budget, capacity.ledger_budget) == (summary, ledger)


@pytest.mark.req("C-4")
def test_where_the_reserve_is_more_than_a_fifth_compaction_begins_at_the_safe_limit() -> None:
    capacity = Capacity(8_192, 8_192, True)
    assert capacity.compacts_at == capacity.safe_input_limit == 6_144 < 8_192 * 4 // 5


@pytest.mark.req("C-4", "D-13")
def test_a_person_who_chose_a_threshold_gets_all_shares_from_it() -> None:
    """15 % of a million tokens would be more than the threshold: each compaction would be followed by the next."""
    capacity = Capacity(1_000_000, 8_192, True, threshold=120_000)
    assert capacity.compacts_at == 120_000
    assert capacity.safe_input_limit == 991_808
    assert capacity.tail_budget == 18_000
    assert capacity.least_gain == 12_000
    assert capacity.low_water == 96_000


@pytest.mark.req("C-4")
@pytest.mark.parametrize("threshold", [None, 0, -5, 10_000_000])
def test_a_threshold_never_raises_where_compaction_begins(threshold: int | None) -> None:
    assert Capacity(200_000, 8_192, True, threshold).compacts_at == 160_000


@pytest.mark.req("D-1")
@pytest.mark.parametrize("refused", [1, 9, 1_000, 100_000, 940_000])
def test_a_size_that_was_refused_is_never_reached_again(refused: int) -> None:
    capacity = Capacity(1_000_000, 8_192, True, ceiling=refused)
    assert capacity.safe_input_limit <= refused * 90 // 100 < refused
    assert capacity.compacts_at <= capacity.safe_input_limit


@pytest.mark.req("D-1")
@pytest.mark.parametrize("refused", [None, 0, -1, 5_000_000])
def test_a_ceiling_above_the_window_or_none_changes_nothing(refused: int | None) -> None:
    assert Capacity(200_000, 8_192, True, ceiling=refused).safe_input_limit == 191_808


@pytest.mark.req("C-4")
@pytest.mark.parametrize(
    "capacity", [Capacity(200_000, 8_192, True), Capacity(200_000, threshold=70_000), Capacity(200_000, ceiling=90_000)]
)
def test_compaction_begins_at_its_limit_and_a_request_fits_up_to_its_own(capacity: Capacity) -> None:
    start, limit = capacity.compacts_at, capacity.safe_input_limit
    assert [capacity.needs_compaction(start + step) for step in (-1, 0, 1)] == [False, True, True]
    assert [capacity.fits(limit + step) for step in (-1, 0, 1)] == [True, True, False]


@pytest.mark.req("C-4")
@given(capacities, st.integers(0, 20_000_000))
def test_what_does_not_fit_always_needs_compaction(capacity: Capacity, tokens: int) -> None:
    assert capacity.fits(tokens) or capacity.needs_compaction(tokens)


@pytest.mark.req("C-4", "D-13")
@given(windows, outputs)
def test_there_is_always_room_for_an_answer_beside_the_largest_request(window: int, output: int | None) -> None:
    capacity = Capacity(window, output)
    assert capacity.reserve >= 1_024
    assert 0 <= capacity.safe_input_limit <= max(0, window - 1_024)
    assert capacity.safe_input_limit == 0 or capacity.safe_input_limit + capacity.reserve == window


@pytest.mark.req("C-4", "D-13")
@given(st.integers(1_000, 2_000_000), outputs | st.just(2_000_000))
def test_no_longest_output_leaves_a_window_unusable(window: int, output: int | None) -> None:
    """A longest output of the window's size or more, none, or a senseless one: the request keeps its share."""
    capacity = Capacity(window, output)
    if window >= 2_048:
        assert window * 4 // 10 < capacity.safe_input_limit < window
    assert 0 <= capacity.tail_budget <= capacity.low_water <= capacity.compacts_at <= capacity.safe_input_limit


@pytest.mark.req("C-4", "D-13")
@given(capacities)
def test_every_share_is_a_size_below_the_limit(capacity: Capacity) -> None:
    limit = capacity.safe_input_limit
    assert 0 <= capacity.compacts_at <= limit
    for share in (capacity.tail_budget, capacity.low_water, capacity.least_gain):
        assert 0 <= share <= limit
    assert capacity.low_water <= capacity.compacts_at
    assert capacity.tail_budget < capacity.compacts_at or capacity.compacts_at == 0
    assert min(capacity.summary_budget, capacity.reserve) >= 1_024


@pytest.mark.req("C-4")
def test_a_window_below_nothing_leaves_no_room_instead_of_a_negative_one() -> None:
    broken = Capacity(-5, -5)
    assert (broken.safe_input_limit, broken.compacts_at, broken.tail_budget) == (0, 0, 0)


@pytest.mark.req("C-4")
@given(windows, st.integers(0, 100_000), outputs)
def test_a_larger_window_never_leaves_less_room(window: int, more: int, output: int | None) -> None:
    """From one side of the 8k step to the other the reserve shrinks; the room must not."""
    assert Capacity(window + more, output).safe_input_limit >= Capacity(window, output).safe_input_limit


@pytest.mark.req("C-4", "D-1")
@given(capacities, st.integers(1, 3_000_000))
def test_a_threshold_or_a_refused_size_only_ever_lowers(capacity: Capacity, tokens: int) -> None:
    free = replace(capacity, threshold=None, ceiling=None)
    for bound in (replace(free, threshold=tokens), replace(free, ceiling=tokens)):
        assert bound.compacts_at <= free.compacts_at
        assert bound.safe_input_limit <= free.safe_input_limit
