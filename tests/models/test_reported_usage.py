"""The provider's usage is normalised, and only that counts as real (C-5, D-5, A-7)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.models.reported_usage import estimated, normalise


@pytest.mark.req("C-5", "A-7")
def test_cached_and_reasoning_tokens_are_parts_of_input_and_output() -> None:
    usage = normalise(
        {
            "prompt_tokens": 1234,
            "completion_tokens": 56,
            "total_tokens": 1290,
            "prompt_tokens_details": {"cached_tokens": 1024, "cache_creation_tokens": 100},
            "completion_tokens_details": {"reasoning_tokens": 40},
        }
    )
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens) == (1234, 56, 40)
    assert (usage.cached_tokens, usage.cache_write_tokens) == (1024, 100)
    assert (usage.steps, usage.turn_input_tokens, usage.turn_output_tokens) == (1, 1234, 56)
    assert usage.real


@pytest.mark.req("C-5")
def test_cache_counts_outside_the_details_are_read_too() -> None:
    usage = normalise({"prompt_tokens": 100, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30})
    assert usage is not None
    assert (usage.cached_tokens, usage.cache_write_tokens) == (60, 30)


@pytest.mark.req("D-5")
@pytest.mark.parametrize("reported", [{}, {"prompt_tokens": 0}, {"prompt_tokens": None}, {"completion_tokens": 7}])
def test_usage_that_counts_no_input_is_none(reported: dict[str, Any]) -> None:
    assert normalise(reported) is None


@pytest.mark.req("D-5")
def test_an_estimate_is_not_real() -> None:
    usage = estimated(8, 3)
    assert (usage.input_tokens, usage.turn_input_tokens, usage.output_tokens, usage.turn_output_tokens) == (8, 8, 3, 3)
    assert not usage.real


ANYTHING = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()))
DETAILS = st.dictionaries(
    st.sampled_from(["cached_tokens", "cache_creation_tokens", "reasoning_tokens"]), ANYTHING, max_size=3
)


@pytest.mark.req("C-5", "S-1")
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "prompt_tokens",
                "completion_tokens",
                "cache_read_input_tokens",
                "prompt_tokens_details",
                "completion_tokens_details",
            ]
        ),
        st.one_of(ANYTHING, DETAILS),
    )
)
def test_whatever_a_server_counts_the_parts_never_exceed_the_whole(reported: dict[str, Any]) -> None:
    usage = normalise(reported)
    if usage is not None:
        assert usage.input_tokens > 0
        assert 0 <= usage.cached_tokens <= usage.input_tokens
        assert 0 <= usage.cache_write_tokens <= usage.input_tokens
        assert 0 <= usage.reasoning_tokens <= usage.output_tokens
