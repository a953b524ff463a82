"""What estimates are multiplied with, learned from what a provider counted (A13 of the field notes, C-5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.compaction.calibration import HIGHEST, LOWEST, REMEMBERED, Calibration

sizes = st.integers(-1_000, 2_000_000)
histories = st.lists(st.tuples(sizes, sizes), max_size=60)


def learned(*pairs: tuple[int, int]) -> Calibration:
    calibration = Calibration()
    for estimated, reported in pairs:
        calibration = calibration.with_pair(estimated, reported)
    return calibration


@pytest.mark.req("C-5")
def test_an_estimate_is_left_alone_where_nothing_was_counted() -> None:
    assert Calibration().factor == 1.0


@pytest.mark.req("C-5")
def test_after_twenty_counts_of_1_63_times_the_estimate_it_is_no_longer_too_low() -> None:
    calibration = learned(*[(157_000, 257_000)] * 20)
    assert 157_000 * calibration.factor >= 257_000
    assert calibration.factor < 1.75


@pytest.mark.req("C-5")
def test_one_count_above_the_estimate_is_believed_at_once() -> None:
    assert learned((1_000, 1_500)).factor == pytest.approx(1.53)


@pytest.mark.req("C-5")
def test_an_estimate_is_made_smaller_only_after_five_counts() -> None:
    pairs = [(1_000, 700)] * 5
    assert learned(*pairs[:4]).factor == 1.0
    assert learned(*pairs).factor == pytest.approx(0.714)


@pytest.mark.req("C-5")
def test_an_estimate_that_was_right_is_left_alone_at_first() -> None:
    assert learned(*[(1_000, 1_000)] * 4).factor == 1.0


@pytest.mark.req("C-5")
def test_the_worst_of_the_newest_twenty_decides() -> None:
    good = [(1_000, 800)] * 19
    assert learned((1_000, 1_400), *good).factor == pytest.approx(1.428)
    assert learned((1_000, 1_400), (1_000, 800), *good).factor == pytest.approx(0.816)
    assert len(learned(*good, *good).pairs) == REMEMBERED
    assert Calibration(((1_000, 1_400), (1_000, 800), *good)).factor == pytest.approx(0.816)


@pytest.mark.req("C-5")
@pytest.mark.parametrize(("reported", "factor"), [(1, LOWEST), (1_000_000, HIGHEST)])
def test_the_factor_is_bounded(reported: int, factor: float) -> None:
    assert learned(*[(1_000, reported)] * 20).factor == factor


@pytest.mark.req("C-5")
@pytest.mark.parametrize("pair", [(0, 10), (10, 0), (-5, 10), (10, -5), (0, 0)])
def test_nonsense_is_not_learned_from(pair: tuple[int, int]) -> None:
    known = [(1_000, 700)] * 4
    assert learned(*known, pair) == learned(*known)
    assert Calibration((*known, pair)).factor == 1.0  # as a damaged store may hold it: no fifth count


@pytest.mark.req("C-5")
@given(histories)
def test_it_never_makes_an_estimate_smaller_than_any_count_it_remembers(history: list[tuple[int, int]]) -> None:
    calibration = learned(*history)
    assert len(calibration.pairs) <= REMEMBERED
    assert LOWEST <= calibration.factor <= HIGHEST
    for estimated, reported in calibration.pairs:
        assert estimated * calibration.factor >= min(reported, estimated * HIGHEST) * (1 - 1e-12)


@pytest.mark.req("C-5")
@given(histories, st.integers(0, 40))
def test_what_is_learned_in_two_sittings_is_what_is_learned_in_one(history: list[tuple[int, int]], split: int) -> None:
    first = learned(*history[:split])
    for estimated, reported in history[split:]:
        first = first.with_pair(estimated, reported)
    assert first == learned(*history)
