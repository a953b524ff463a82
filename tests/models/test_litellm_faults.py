"""Faults, stops and ends of litellm models, over real HTTP against the scripted server (A-1, A-5, S-2)."""

from __future__ import annotations

import asyncio
import gc
from contextlib import aclosing
from typing import Any

import pytest

from bibgenie_desktop.models.litellm_model import LitellmModel
from bibgenie_desktop.models.port import (
    ModelError,
    ModelErrorCode,
    StepFinished,
    TextDelta,
)
from tests.models.playing import QUESTION, SECRET, failure, model_at, play
from tests.servers.llm import LlmServer
from tests.servers.llm_script import Step

pytestmark = pytest.mark.usefixtures("litellm")


def _http(status: int, body: object, **headers: str) -> Step:
    return {"status": status, "body": body, "headers": {name.replace("_", "-"): text for name, text in headers.items()}}


def _error(message: str, **more: str) -> dict[str, Any]:
    return {"error": {"message": f"{message} Key: {SECRET}.", **more}}


HTTP_FAULTS: list[tuple[ModelErrorCode, Step]] = [
    ("authentication", _http(401, {"error": {"message": "Incorrect API key provided: $KEY."}})),
    ("permission", _http(403, _error("You may not."))),
    ("unknown_model", _http(404, _error("The model does not exist.", code="model_not_found"))),
    ("unknown_model", _http(404, "404 page not found")),
    ("rate_limit", _http(429, _error("Rate limit reached."))),
    ("quota", _http(429, _error("You exceeded your current quota.", code="insufficient_quota"))),
    ("quota", _http(402, _error("Insufficient Balance."))),
    ("bad_request", _http(400, _error("temperature must be 1."))),
    ("bad_request", _http(400, _error("Refused.", code="content_filter"))),
    ("bad_request", _http(422, {"detail": [{"msg": f"bad {SECRET}"}]})),
    ("server", _http(500, _error("oops"))),
    ("server", _http(502, f"<html>{SECRET}</html>")),
    ("server", _http(503, _error("loading"))),
    ("server", _http(529, _error("overloaded"))),
    ("timeout", _http(504, SECRET)),
    ("context_overflow", _http(413, _error("too large"))),
    ("context_overflow", _http(400, _error("This model's maximum context length is 4096 tokens. However, you …"))),
    ("context_overflow", _http(400, _error("the request exceeds the available context size. try increasing it"))),
    ("context_overflow", _http(400, _error("Prompt contains 40000 tokens … too large for model with 32768"))),
    ("context_overflow", _http(400, {"error": f"The number of tokens to keep from the initial prompt … {SECRET}"})),
    ("context_overflow", _http(400, _error("prompt is too long: 210000 tokens > 200000 maximum"))),
]


@pytest.mark.req("A-5", "S-2")
@pytest.mark.parametrize(("code", "step"), HTTP_FAULTS, ids=[f"{step['status']}-{code}" for code, step in HTTP_FAULTS])
async def test_a_fault_by_status_ends_in_one_sentence_without_the_providers_words(
    code: ModelErrorCode, step: Step
) -> None:
    events, error = await failure(step)
    assert (events, error.code, error.retry_after) == ([], code, None)
    _assert_clean(error)


STREAM_FAULTS: list[tuple[ModelErrorCode, int, list[Step]]] = [
    ("interrupted", 1, [{"text": "Half"}, {"end": True}]),
    ("interrupted", 1, [{"text": "Half"}]),
    ("interrupted", 1, [{"text": "Half"}, {"drop": "close"}]),
    ("interrupted", 1, [{"text": "Half"}, {"line": "data: {broken"}, {"finish": "stop"}]),
    ("interrupted", 1, [{"text": "Half"}, {"error": _error("overloaded")["error"]}]),
    ("server", 0, [{"error": _error("overloaded")["error"]}]),
    ("context_overflow", 1, [{"text": "Half"}, {"error": {"message": "maximum context length", "code": SECRET}}]),
    ("connection", 0, [{"drop": "close"}]),
    ("connection", 0, [{"drop": "reset"}]),
    ("empty", 0, [{"finish": "stop"}]),
    ("empty", 0, []),
    ("empty", 0, [{"reasoning": "Hm."}, {"text": " \n"}, {"finish": "stop"}]),
    ("empty", 0, [{"unstreamed": True}, {"text": "In one piece."}, {"finish": "stop"}]),
    ("empty", 0, [_http(200, "<html>Please sign in</html>")]),
]


@pytest.mark.req("A-5", "S-2")
@pytest.mark.parametrize(
    ("code", "texts", "steps"),
    STREAM_FAULTS,
    ids=[f"{number}-{code}" for number, (code, _, _) in enumerate(STREAM_FAULTS)],
)
async def test_a_fault_in_the_stream_keeps_what_had_arrived(
    code: ModelErrorCode, texts: int, steps: list[Step]
) -> None:
    events, error = await failure(*steps)
    assert error.code == code
    assert [event for event in events if event == TextDelta("Half")] == [TextDelta("Half")] * texts
    _assert_clean(error)


@pytest.mark.req("A-5")
async def test_a_reset_connection_interrupts_the_answer() -> None:
    async with LlmServer([[{"text": "Half"}, {"wait": True}, {"drop": "reset"}]]) as server:
        model = model_at(server)
        async with aclosing(model.stream(QUESTION)) as stream:
            assert await anext(stream) == TextDelta("Half")
            server.release()
            with pytest.raises(ModelError) as caught:
                await anext(stream)
        await model.close()
    assert caught.value.code == "interrupted"


@pytest.mark.req("A-5")
@pytest.mark.parametrize("before", [[], [{"text": "Half"}]], ids=["before the headers", "in the answer"])
async def test_an_answer_that_stalls_is_given_up(before: list[Step]) -> None:
    events, error = await failure(*before, {"stall": True}, timeout=0.2)
    assert (len(events), error.code) == (len(before), "timeout")
    _assert_clean(error)


@pytest.mark.req("A-5")
@pytest.mark.parametrize(("value", "seconds"), [("2", 2.0), ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0)])
async def test_the_providers_waiting_time_is_passed_on_and_not_waited_for(value: str, seconds: float) -> None:
    _, error = await failure(_http(429, _error("Rate limit reached."), retry_after=value))
    assert (error.code, error.retry_after) == ("rate_limit", seconds)
    assert f"in {seconds:.0f} seconds" in str(error)


@pytest.mark.req("A-5")
async def test_a_server_that_does_not_run_is_told() -> None:
    async with LlmServer([[]]) as server:
        model = model_at(server)
    with pytest.raises(ModelError) as caught:
        await play(model)
    assert caught.value.code == "connection"


def _assert_clean(error: ModelError) -> None:
    """Neither the sentence nor anything that hangs on the error holds the provider's words."""
    assert not any(word in str(error) for word in ("SECRET", "litellm", "Error", "Traceback", "Exception", "<"))
    assert (error.__cause__, error.__context__) == (None, None)


@pytest.mark.req("A-1")
@pytest.mark.parametrize("begun", [True, False], ids=["in the answer", "before the headers"])
async def test_stopping_closes_the_connection(begun: bool) -> None:
    steps: list[Step] = [{"text": "Half"}, {"stall": True}] if begun else [{"stall": True}]
    async with LlmServer([steps]) as server:
        model = model_at(server)
        seen = asyncio.Event()

        async def listen() -> None:
            async for _ in model.stream(QUESTION):
                seen.set()

        turn = asyncio.create_task(listen())
        request = await server.request(0)
        if begun:
            await seen.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        await request.ended.wait()
        await model.close()
    assert request.disconnected


@pytest.mark.req("A-1")
async def test_stopping_at_any_moment_leaves_nothing_behind() -> None:
    """Also while litellm prepares the call in a thread, before anything is sent."""
    async with LlmServer([{"steps": [{"text": "Half"}, {"stall": True}], "repeat": True}]) as server:
        model = model_at(server)
        await model.prepare()
        for moment in range(0, 400, 8):
            turn = asyncio.create_task(play(model))
            for _ in range(moment):
                await asyncio.sleep(0)
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
        for request in server.requests:
            await request.ended.wait()
        await model.close()
    assert all(request.disconnected for request in server.requests)


@pytest.mark.req("A-1")
async def test_closing_the_iterator_closes_the_connection() -> None:
    async with LlmServer([[{"text": "Half"}, {"stall": True}]]) as server:
        model = model_at(server)
        stream = model.stream(QUESTION)
        assert await anext(stream) == TextDelta("Half")
        await stream.aclose()
        request = await server.request(0)
        await request.ended.wait()
        await model.close()
    assert request.disconnected


@pytest.mark.req("A-1")
async def test_closing_one_model_leaves_the_others_answer_alone() -> None:
    """litellm shares its connections between all models of a process."""
    async with LlmServer([[{"text": "one"}, {"wait": True}, {"text": "two"}, {"finish": "stop"}]]) as server:
        first, second = model_at(server), model_at(server)
        stream = first.stream(QUESTION)
        assert await anext(stream) == TextDelta("one")
        await second.prepare()
        await second.close()
        server.release()
        assert await anext(stream) == TextDelta("two")
        assert isinstance(await anext(stream), StepFinished)
        await first.close()


@pytest.mark.req("A-1")
async def test_a_closed_model_can_be_used_again() -> None:
    async with LlmServer([{"steps": [{"text": "Yes."}, {"finish": "stop"}], "repeat": True}]) as server:
        model = model_at(server)
        assert [(await play(model))[0] for _ in range(2)] == [TextDelta("Yes.")] * 2


@pytest.mark.req("A-5")
async def test_after_a_fault_the_next_question_is_answered() -> None:
    async with LlmServer([[{"text": "Half"}, {"drop": "close"}], [{"text": "Yes."}, {"finish": "stop"}]]) as server:
        model = model_at(server)
        with pytest.raises(ModelError):
            async for _ in model.stream(QUESTION):
                pass
        assert (await play(model))[0] == TextDelta("Yes.")
        assert len(server.requests) == 2


@pytest.mark.req("A-5", "S-2")
@pytest.mark.parametrize(
    ("name", "environ", "words"),
    [
        ("anthropic/claude-sonnet-4-5", {}, "ANTHROPIC_API_KEY"),
        ("claude-sonnet-4-5", {"OPENAI_API_KEY": SECRET}, "ANTHROPIC_API_KEY"),
        ("openai/gpt-4o", {"OPENAI_API_KEY": " "}, "OPENAI_API_KEY"),
        ("gemini/gemini-2.5-pro", {}, "GEMINI_API_KEY"),
    ],
)
async def test_a_missing_key_is_found_before_any_request_and_its_variable_is_named(
    name: str, environ: dict[str, str], words: str
) -> None:
    with pytest.raises(ModelError) as caught:
        await LitellmModel(name, environ=environ).prepare()
    assert caught.value.code == "missing_key"
    assert f"set {words} in the environment" in str(caught.value)
    _assert_clean(caught.value)


@pytest.mark.req("A-5")
@pytest.mark.parametrize("name", ["nonsense", "foo/bar", "openai/", "", "a\nb", "github_copilot/gpt-4o"])
async def test_a_model_of_no_known_provider_is_refused_before_any_request(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with LlmServer([[]]) as server:
        with pytest.raises(ModelError) as caught:
            await model_at(server, name).prepare()
        assert server.requests == []
    assert caught.value.code == "unknown_model"
    assert "\n" not in str(caught.value)
    assert capsys.readouterr() == ("", "")


@pytest.mark.req("A-1")
async def test_many_answers_and_faults_leave_no_task_behind() -> None:
    """The tasks are looked for by the discipline that every test is under."""
    faults: list[list[Step]] = [
        [{"text": "Yes."}, {"finish": "stop"}],
        [{"text": "Half"}, {"drop": "close"}],
        [_http(500, "oops")],
        [{"text": "Half"}, {"error": {"message": "maximum context length"}}],
    ]
    async with LlmServer(faults * 3) as server:
        model = model_at(server)
        for _ in range(12):
            try:
                async for _ in model.stream(QUESTION):
                    pass
            except ModelError:
                continue
        await model.close()
        assert len(server.requests) == 12
    gc.collect()
    await model.close()
