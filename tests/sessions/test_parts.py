"""The parts of a node and their JSON (T-1), which is read strictly (T-5)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.parts import (
    ImagePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UndecodablePart,
    part_from_json,
    part_to_json,
    parts_from_json,
    parts_to_json,
)
from tests.sessions.damage import damaged
from tests.sessions.values import json_values, parts


@pytest.mark.req("T-1")
@given(st.lists(parts, max_size=4).map(tuple))
def test_every_part_comes_back_from_its_json_in_order(made: tuple[Part, ...]) -> None:
    assert parts_from_json(json.loads(json.dumps(parts_to_json(made)))) == made


@pytest.mark.req("T-1")
def test_a_tool_call_is_stored_in_the_documented_form() -> None:
    call = ToolCallPart("c1", "search_library", '{"query": "peat"}', "done", "{}", step=1, summary="no passages")
    assert part_to_json(call) == {
        "type": "tool_call",
        "call_id": "c1",
        "name": "search_library",
        "arguments": '{"query": "peat"}',
        "state": "done",
        "result": "{}",
        "step": 1,
        "delivered": [],
        "summary": "no passages",
        "duration_ms": 0,
        "replay": {},
    }


@pytest.mark.req("T-5")
@given(damaged(parts.map(part_to_json)))
def test_a_part_with_one_wrong_or_missing_value_is_undecodable(data: dict[str, Any]) -> None:
    with pytest.raises(UndecodablePart):
        part_from_json(data)


@pytest.mark.req("T-5")
@given(json_values)
def test_anything_else_is_undecodable_and_raises_nothing_else(data: Any) -> None:
    with pytest.raises(UndecodablePart):
        part_from_json(data)
    if not isinstance(data, list) or data:
        with pytest.raises(UndecodablePart):
            parts_from_json(data)


@pytest.mark.req("T-5")
@pytest.mark.parametrize("wrong", [float("inf"), float("nan"), 3.5, "3", True, -1, None, []])
@pytest.mark.parametrize("key", ["step", "duration_ms"])
def test_a_count_is_a_number_from_0(key: str, wrong: object) -> None:
    data = part_to_json(ToolCallPart("c1", "search", "{}", "done")) | {key: wrong}
    with pytest.raises(UndecodablePart, match=key):
        part_from_json(data)


@pytest.mark.req("T-5")
@pytest.mark.parametrize("state", ["", "running", None, ["done"], {}])
def test_a_tool_call_in_an_unknown_state_is_undecodable(state: object) -> None:
    data = part_to_json(ToolCallPart("c1", "search", "{}", "done")) | {"state": state}
    with pytest.raises(UndecodablePart):
        part_from_json(data)


@pytest.mark.req("T-1")
def test_the_text_of_a_node_is_what_was_said_and_nothing_else() -> None:
    said = (ReasoningPart("hm"), TextPart("One [[cite:ABCD2345]]."), ImagePart("b", "image/png"), TextPart("Two."))
    assert Node("n", None, "user", said, "2026-11-30T18:50:48.123Z").text == "One [[cite:ABCD2345]].\n\nTwo."
