"""Any litellm model through the port, over real HTTP against the scripted server (A-1, A-2, C-5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bibgenie_desktop.compaction.capacity import ASSUMED_WINDOW
from bibgenie_desktop.compaction.estimate import estimate_text
from bibgenie_desktop.compaction.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from bibgenie_desktop.models.litellm_model import LitellmModel
from bibgenie_desktop.models.port import (
    ModelRequest,
    ReasoningDelta,
    TextDelta,
)
from tests.models.playing import SEARCH, SECRET, answer, finished, model_at, play
from tests.servers.llm import LlmServer
from tests.servers.llm_script import Step

pytestmark = pytest.mark.usefixtures("litellm")

USAGE = {
    "prompt_tokens": 1234,
    "completion_tokens": 56,
    "total_tokens": 1290,
    "prompt_tokens_details": {"cached_tokens": 1024},
    "completion_tokens_details": {"reasoning_tokens": 40},
}


@pytest.mark.req("A-1")
async def test_text_and_thinking_arrive_in_order_and_apart() -> None:
    events = await answer(
        {"reasoning": "They ask "},
        {"reasoning": "about pages.", "field": "reasoning"},
        {"text": "Roman "},
        {"comment": "keep-alive"},
        {"text": "numerals."},
        {"finish": "stop"},
        {"usage": USAGE},
    )
    assert events[:-1] == [
        ReasoningDelta("They ask "),
        ReasoningDelta("about pages."),
        TextDelta("Roman "),
        TextDelta("numerals."),
    ]
    assert finished(events).reason == "stop"
    assert finished(events).tool_calls == ()


@pytest.mark.req("A-1", "A-2")
async def test_the_request_is_sent_as_the_projection_made_it() -> None:
    call = ToolCall("c1", "search", '{"query": "a"}')
    messages = (UserMessage("Search."), AssistantMessage("", (call,)), ToolMessage("c1", "search", "[]"))
    async with LlmServer([[{"text": "Nothing."}, {"finish": "stop"}]]) as server:
        await play(model_at(server), ModelRequest("You cite pages.", messages, (SEARCH,), max_output=99))
        request = server.requests[0]
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert request.body["model"] == "m"
    assert request.body["messages"] == [
        {"role": "system", "content": "You cite pages."},
        {"role": "user", "content": "Search."},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "a"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "name": "search", "content": "[]"},
    ]
    assert [tool["function"]["name"] for tool in request.body["tools"]] == ["search"]
    assert request.body["max_tokens"] == 99
    assert request.body["stream_options"] == {"include_usage": True}
    assert set(request.body) == {"model", "messages", "tools", "max_tokens", "stream", "stream_options"}


@pytest.mark.req("A-2")
async def test_the_users_cap_on_the_output_is_kept_where_the_request_asks_for_more() -> None:
    async with LlmServer([{"steps": [{"text": "Yes."}, {"finish": "stop"}], "repeat": True}]) as server:
        for wanted in (None, 50, 500):
            await play(model_at(server, max_output=100), ModelRequest("", (UserMessage("Hi"),), max_output=wanted))
        assert [request.body["max_tokens"] for request in server.requests] == [100, 50, 100]
        assert all(request.body["messages"] == [{"role": "user", "content": "Hi"}] for request in server.requests)
        assert all("tools" not in request.body for request in server.requests)


@pytest.mark.req("A-2")
async def test_a_local_server_gets_no_key_of_anybody_where_none_is_set() -> None:
    async with LlmServer([[{"text": "Yes."}, {"finish": "stop"}]]) as server:
        await play(model_at(server, environ={"ANTHROPIC_API_KEY": SECRET}))
        assert SECRET not in json.dumps(dict(server.requests[0].headers))


@pytest.mark.req("A-2")
@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("deepseek/deepseek-chat", "DEEPSEEK_API_KEY"),
        ("groq/x", "GROQ_API_KEY"),
        ("hosted_vllm/x", ""),
        ("lm_studio/x", ""),
        ("mistral/x", "MISTRAL_API_KEY"),
        ("openrouter/a/b", "OR_API_KEY"),
        ("together_ai/x", "TOGETHER_API_KEY"),
        ("xai/x", "XAI_API_KEY"),
    ],
)
async def test_other_providers_that_speak_the_protocol_answer_too(name: str, variable: str) -> None:
    steps: list[Step] = [
        {"text": "Yes."},
        {"tool_calls": [{"index": 0, "id": "c1", "name": "search", "arguments": "{}"}]},
        {"finish": "tool_calls", "usage": USAGE},
    ]
    async with LlmServer([steps]) as server:
        events = await play(model_at(server, name, environ={variable: SECRET}))
        assert len(server.requests) == 1
        assert (SECRET in server.requests[0].headers["authorization"]) == bool(variable)
    assert events[0] == TextDelta("Yes.")
    assert finished(events).tool_calls == (ToolCall("c1", "search", "{}"),)
    assert finished(events).usage.real


@pytest.mark.req("A-1")
async def test_one_tool_call_in_many_pieces() -> None:
    events = await answer(
        {"text": "I look. "},
        {"tool_calls": [{"index": 0, "id": "c1", "name": "search", "arguments": ""}]},
        *({"tool_calls": [{"index": 0, "arguments": piece}]} for piece in ('{"que', 'ry": "fr', 'ont"}')),
        {"finish": "tool_calls"},
    )
    assert finished(events).tool_calls == (ToolCall("c1", "search", '{"query": "front"}'),)
    assert finished(events).reason == "stop"


TWO_CALLS = (ToolCall("c1", "search", '{"query": "a"}'), ToolCall("c2", "item", '{"key": "b"}'))


@pytest.mark.req("A-1", "A-5")
@pytest.mark.parametrize("index", [1, 0])
async def test_parallel_calls_with_their_own_index_or_sharing_one(index: int) -> None:
    events = await answer(
        {"tool_calls": [{"index": 0, "id": "c1", "name": "search", "arguments": '{"query"'}]},
        {"tool_calls": [{"index": 0, "arguments": ': "a"}'}]},
        {"tool_calls": [{"index": index, "id": "c2", "name": "item", "arguments": '{"key"'}]},
        {"tool_calls": [{"index": index, "arguments": ': "b"}'}]},
        {"finish": "stop"},
    )
    assert finished(events).tool_calls == TWO_CALLS


@pytest.mark.req("A-5")
@pytest.mark.parametrize("together", [True, False])
async def test_calls_without_index_and_id_get_ids_of_ours(together: bool) -> None:
    calls = [{"name": call.name, "arguments": call.arguments} for call in TWO_CALLS]
    chunks: list[Step] = [{"tool_calls": calls}] if together else [{"tool_calls": [call]} for call in calls]
    final = finished(await answer(*chunks, {"finish": "tool_calls"}))
    assert [(call.name, call.arguments) for call in final.tool_calls] == [
        (call.name, call.arguments) for call in TWO_CALLS
    ]
    ids = [call.call_id for call in final.tool_calls]
    assert all(ids)
    assert ids[0] != ids[1]


@pytest.mark.req("A-5")
async def test_repeated_ids_and_repeated_whole_arguments_make_no_second_call() -> None:
    whole = '{"query": "a"}'
    events = await answer(
        {"tool_calls": [{"index": 0, "id": "c1", "name": "search", "arguments": '{"query"'}]},
        {"tool_calls": [{"index": 0, "id": "c1", "name": "search", "arguments": ': "a"}'}]},
        {"tool_calls": [{"index": 0, "id": "c1", "name": "search", "arguments": json.dumps(whole)}]},
        {"finish": "tool_calls"},
    )
    assert finished(events).tool_calls == TWO_CALLS[:1]


@pytest.mark.req("A-5")
async def test_an_answer_cut_off_by_length_keeps_its_text_and_drops_its_unfinished_calls() -> None:
    events = await answer(
        {"text": "Half an"},
        {"tool_calls": [{"index": 0, "id": "c1", "name": "search", "arguments": '{"que'}]},
        {"finish": "length"},
    )
    assert events[0] == TextDelta("Half an")
    assert (finished(events).reason, finished(events).tool_calls) == ("length", ())


@pytest.mark.req("A-5")
async def test_a_filtered_answer_says_so_even_when_it_is_empty() -> None:
    assert finished(await answer({"finish": "content_filter"})).reason == "content_filter"


@pytest.mark.req("A-5")
async def test_a_finish_reason_nobody_knows_ends_the_answer_well() -> None:
    assert finished(await answer({"text": "Yes."}, {"finish": "max_tokens_reached_custom"})).reason == "stop"


@pytest.mark.req("A-5")
async def test_a_hundred_equal_pieces_are_an_answer_and_not_a_fault() -> None:
    """A table of dashes: litellm takes a hundred equal chunks for a model gone wild unless told otherwise."""
    events = await answer(*[{"text": "---"}] * 150, {"finish": "stop"})
    assert events[:-1] == [TextDelta("---")] * 150


@pytest.mark.req("A-1")
async def test_a_character_cut_in_halves_arrives_whole() -> None:
    def chunk(half: str) -> Step:
        choice = '{"index": 0, "delta": {"content": "%s"}, "finish_reason": null}' % half  # noqa: UP031
        head = '"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"'
        return {"line": f'data: {{{head}, "choices": [{choice}]}}'}

    events = await answer(chunk("a\\ud83d"), chunk("\\ude00"), {"finish": "stop"})
    assert events[:-1] == [TextDelta("a"), TextDelta("😀")]


@pytest.mark.req("C-5", "A-7")
@pytest.mark.parametrize(
    "steps",
    [
        [{"text": "Yes."}, {"finish": "stop"}, {"usage": USAGE}],
        [{"text": "Yes."}, {"finish": "stop", "usage": USAGE}],
        [
            {"text": "Y", "usage": {"prompt_tokens": 1234, "completion_tokens": 1, "total_tokens": 1235}},
            {"text": "es."},
            {"finish": "stop", "usage": USAGE},
        ],
    ],
    ids=["alone at the end", "with the finish", "growing"],
)
async def test_usage_that_the_provider_sent_is_real(steps: list[Step]) -> None:
    usage = finished(await answer(*steps)).usage
    assert usage.real
    assert (usage.input_tokens, usage.output_tokens) == (1234, 56)
    assert (usage.cached_tokens, usage.reasoning_tokens) == (1024, 40)
    assert (usage.steps, usage.turn_input_tokens, usage.turn_output_tokens) == (1, 1234, 56)


@pytest.mark.req("C-5", "D-5")
@pytest.mark.parametrize(
    "usage", [None, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}], ids=["none", "nought"]
)
async def test_usage_that_nobody_counted_is_our_estimate_and_marked_so(usage: dict[str, int] | None) -> None:
    """litellm ends the stream with a usage all the same, without a mark."""
    last: list[Step] = [] if usage is None else [{"usage": usage}]
    final = finished(await answer({"text": "Roman numerals."}, {"finish": "stop"}, *last))
    assert not final.usage.real
    assert final.usage.input_tokens > 20
    assert final.usage.output_tokens == estimate_text("Roman numerals.")


@pytest.mark.req("C-5", "D-5")
@pytest.mark.parametrize("sent", [True, False])
async def test_usage_that_litellm_computes_is_told_from_the_providers(
    sent: bool, litellm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A contract: litellm keeps the provider's usage in the stream's `chunks`, and its own nowhere there."""
    steps: list[Step] = [{"text": "Yes."}, {"finish": "stop"}, *([{"usage": USAGE}] if sent else [])]
    async with LlmServer([steps]) as server:
        model = model_at(server)
        await model.prepare()
        monkeypatch.setattr(litellm, "disable_token_counter", False)
        final = finished(await play(model))
    assert final.usage.real is sent


@pytest.mark.req("C-4", "A-6")
@pytest.mark.parametrize(
    ("name", "given", "window", "max_output", "known"),
    [
        ("openai/gpt-4o", {}, 128_000, 16_384, True),
        ("gpt-4o", {}, 128_000, 16_384, True),
        ("anthropic/claude-sonnet-4-5", {}, 200_000, 64_000, True),
        ("gemini/gemini-2.5-pro", {}, 1_048_576, 65_536, True),
        ("openai/gpt-4o", {"context_window": 8_000}, 8_000, 16_384, True),
        ("openai/gpt-4o", {"max_output": 1_000}, 128_000, 1_000, True),
        ("openai/my-own", {}, ASSUMED_WINDOW, None, False),
        ("openai/my-own", {"context_window": 32_768, "max_output": 2_048}, 32_768, 2_048, True),
        ("openrouter/openai/gpt-nonsense", {}, ASSUMED_WINDOW, None, False),
        ("ollama_chat/qwen3", {}, ASSUMED_WINDOW, None, False),
    ],
)
async def test_the_window_is_the_users_else_the_tables_else_unknown(
    name: str, given: dict[str, int], window: int, max_output: int | None, known: bool
) -> None:
    names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")
    model = LitellmModel(name, environ=dict.fromkeys(names, SECRET), **given)  # type: ignore[arg-type]
    await model.prepare()
    capacity = model.capacity
    assert (capacity.context_window, capacity.max_output, capacity.window_known) == (window, max_output, known)


@pytest.mark.req("C-4")
def test_before_anything_is_loaded_the_capacity_is_the_users_or_unknown() -> None:
    assert not LitellmModel("openai/gpt-4o", environ={}).capacity.window_known
    capacity = LitellmModel("openai/gpt-4o", environ={}, context_window=9_000, max_output=500).capacity
    assert (capacity.context_window, capacity.max_output, capacity.window_known) == (9_000, 500, True)
