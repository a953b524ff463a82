"""Usage as it is stored (C-5, D-5)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from bibgenie_desktop.sessions.usage import MalformedUsage, Usage
from tests.sessions.damage import damaged
from tests.sessions.values import json_values, usages


@pytest.mark.req("D-5")
@given(usages)
def test_every_usage_comes_back_from_its_json(usage: Usage) -> None:
    assert Usage.from_json(json.loads(json.dumps(usage.to_json()))) == usage


@pytest.mark.req("D-5")
def test_an_older_program_reads_the_usage_of_a_newer_one() -> None:
    assert Usage.from_json({"input_tokens": 7, "audio_tokens": {"in": 3}}) == Usage(input_tokens=7)


@pytest.mark.req("T-5")
@given(damaged(usages.map(Usage.to_json), missing=False))
def test_usage_with_one_wrong_value_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(MalformedUsage):
        Usage.from_json(data)


@pytest.mark.req("T-5")
@pytest.mark.parametrize(
    "wrong", [{"input_tokens": -1}, {"cost": -0.1}, {"cost": float("nan")}, {"cost": float("inf")}]
)
def test_counts_and_costs_are_0_or_more(wrong: dict[str, Any]) -> None:
    with pytest.raises(MalformedUsage):
        Usage.from_json(wrong)


@pytest.mark.req("T-5")
@given(json_values.filter(lambda value: not isinstance(value, dict)))
def test_anything_else_is_refused(data: Any) -> None:
    with pytest.raises(MalformedUsage):
        Usage.from_json(data)
