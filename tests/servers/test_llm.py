"""The scripted chat server does what its scripts say, over real HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.servers.llm import LlmServer, main
from tests.servers.llm_script import MalformedScript, Script, Step, parse_script

USAGE = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}


def _question(**more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "Hello?"}], "stream": True, **more}


async def _ask(server: LlmServer, **more: Any) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as client,
        client.post(f"{server.base_url}/chat/completions", json=_question(**more)) as answer,
    ):
        return answer.status, await answer.text()


def _chunks(text: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in text.split("\n\n") if line.startswith("data: {")]
    return [json.loads(line) for line in lines]


async def test_a_stream_plays_its_steps_in_order_and_ends_with_done() -> None:
    script: Script = [
        [
            {"reasoning": "Let me see. "},
            {"reasoning": "Yes.", "field": "reasoning"},
            {"text": "Front "},
            {"text": "matter: é…"},
            {"finish": "stop"},
        ]
    ]
    async with LlmServer(script) as server:
        status, text = await _ask(server)
    deltas = [chunk["choices"][0]["delta"] for chunk in _chunks(text)]
    assert status == 200
    assert deltas == [
        {"role": "assistant", "reasoning_content": "Let me see. "},
        {"reasoning": "Yes."},
        {"content": "Front "},
        {"content": "matter: é…"},
        {},
    ]
    assert [chunk["choices"][0]["finish_reason"] for chunk in _chunks(text)] == [None, None, None, None, "stop"]
    assert text.endswith("data: [DONE]\n\n")


async def test_tool_calls_are_split_exactly_as_the_script_splits_them() -> None:
    pieces = [{"index": 0, "id": "c1", "name": "search"}, {"arguments": '{"q'}, {"index": 1, "arguments": ""}]
    async with LlmServer([[{"tool_calls": pieces[:1]}, {"tool_calls": pieces[1:]}]]) as server:
        _, text = await _ask(server)
    first, second = (chunk["choices"][0]["delta"]["tool_calls"] for chunk in _chunks(text))
    assert first == [{"index": 0, "id": "c1", "type": "function", "function": {"name": "search"}}]
    assert second == [{"function": {"arguments": '{"q'}}, {"index": 1, "function": {"arguments": ""}}]


async def test_usage_alone_is_sent_only_if_it_was_asked_for() -> None:
    script: Script = [{"steps": [{"text": "Yes."}, {"finish": "stop"}, {"usage": USAGE}], "repeat": True}]
    async with LlmServer(script) as server:
        _, silent = await _ask(server)
        _, asked = await _ask(server, stream_options={"include_usage": True})
    assert "usage" not in silent
    assert _chunks(asked)[-1] == {**_chunks(asked)[-1], "choices": [], "usage": USAGE}


async def test_usage_beside_a_delta_is_always_sent() -> None:
    async with LlmServer([[{"text": "Yes.", "usage": USAGE}, {"finish": "stop", "usage": USAGE}]]) as server:
        _, text = await _ask(server)
    assert [chunk["usage"] for chunk in _chunks(text)] == [USAGE, USAGE]


async def test_answers_are_played_in_order_and_a_script_at_its_end_says_so() -> None:
    async with LlmServer([[{"text": "one"}], [{"text": "two"}]]) as server:
        texts = [(await _ask(server))[1] for _ in range(2)]
        status, late = await _ask(server)
    assert ["one" in texts[0], "two" in texts[1]] == [True, True]
    assert (status, "holds 2 answers" in late) == (500, True)


async def test_the_last_answer_may_repeat() -> None:
    async with LlmServer([[{"text": "one"}], {"steps": [{"text": "two"}], "repeat": True}]) as server:
        texts = [(await _ask(server))[1] for _ in range(4)]
    assert ["two" in text for text in texts] == [False, True, True, True]


async def test_requests_are_recorded_with_path_headers_and_body() -> None:
    async with LlmServer([[{"text": "Yes."}]]) as server:
        await _ask(server, temperature=0)
        record = await server.request(0)
    assert (record.method, record.path) == ("POST", "/v1/chat/completions")
    assert record.headers["content-type"] == "application/json"
    assert record.body == _question(temperature=0)
    assert not record.disconnected


async def test_a_wait_holds_the_answer_until_it_is_released() -> None:
    async with LlmServer([[{"text": "one"}, {"wait": True}, {"text": "two"}]]) as server:
        asking = asyncio.create_task(_ask(server))
        record = await server.request(0)
        assert not record.ended.is_set()
        server.release()
        _, text = await asking
    assert [chunk["choices"][0]["delta"]["content"] for chunk in _chunks(text)] == ["one", "two"]


async def test_a_wait_can_be_released_from_outside() -> None:
    async with LlmServer([[{"wait": True}, {"text": "one"}]]) as server:
        asking = asyncio.create_task(_ask(server))
        await server.request(0)
        async with (
            aiohttp.ClientSession() as client,
            client.post(server.base_url.removesuffix("/v1") + "/release") as answer,
        ):
            assert answer.status == 200
        _, text = await asking
    assert "one" in text


async def test_a_status_answers_with_headers_and_body_and_echoes_the_key() -> None:
    body = {"error": {"message": "Incorrect API key provided: $KEY."}}
    async with (
        LlmServer([[{"status": 401, "headers": {"retry-after": "2"}, "body": body}]]) as server,
        aiohttp.ClientSession() as client,
        client.post(
            f"{server.base_url}/chat/completions", json=_question(), headers={"Authorization": "Bearer sk-SECRET"}
        ) as answer,
    ):
        assert (answer.status, answer.headers["retry-after"]) == (401, "2")
        assert (await answer.json())["error"]["message"] == "Incorrect API key provided: sk-SECRET."


@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_dropped_connection_fails_in_the_middle_of_the_answer(how: str) -> None:
    script: Script = [[{"text": "Half"}, {"wait": True}, {"drop": how}]]
    async with (
        LlmServer(script) as server,
        aiohttp.ClientSession() as client,
        client.post(f"{server.base_url}/chat/completions", json=_question()) as answer,
    ):
        assert b"Half" in await answer.content.readuntil(b"\n\n")
        server.release()
        with pytest.raises((aiohttp.ClientError, ConnectionResetError)):
            await answer.read()


async def test_a_connection_can_be_dropped_before_the_headers() -> None:
    async with LlmServer([[{"drop": "close"}]]) as server:
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await _ask(server)


async def test_a_stream_can_end_without_done_and_hold_anything() -> None:
    script: Script = [
        [
            {"comment": "keep-alive"},
            {"line": "data: {broken"},
            {"error": {"message": "overloaded"}},
            {"chunk": {"choices": []}},
            {"end": True},
        ]
    ]
    async with LlmServer(script) as server:
        status, text = await _ask(server)
    assert status == 200
    assert text.split("\n\n") == [
        ": keep-alive",
        "data: {broken",
        'data: {"error": {"message": "overloaded"}}',
        'data: {"choices": []}',
        "",
    ]


async def test_a_client_that_leaves_a_stalled_answer_is_noticed() -> None:
    async with LlmServer([[{"text": "Half"}, {"stall": True}]]) as server:
        async with (
            aiohttp.ClientSession() as client,
            client.post(f"{server.base_url}/chat/completions", json=_question()) as answer,
        ):
            await answer.content.readuntil(b"\n\n")
            answer.close()
        record = await server.request(0)
        await record.ended.wait()
    assert record.disconnected


async def test_closing_the_server_ends_stalled_answers_without_calling_them_disconnected() -> None:
    async with LlmServer([[{"stall": True}]]) as server:
        asking = asyncio.create_task(_ask(server))
        record = await server.request(0)
    with pytest.raises(aiohttp.ClientError):
        await asking
    assert record.ended.is_set()
    assert not record.disconnected


@pytest.mark.parametrize("forced", [False, True])
async def test_an_answer_in_one_piece(forced: bool) -> None:
    steps: list[Step] = [
        {"text": "a"},
        {"text": "b"},
        {"tool_calls": [{"index": 0, "id": "c1", "name": "search", "arguments": "{"}]},
        {"tool_calls": [{"index": 0, "arguments": "}"}]},
        {"finish": "tool_calls"},
        {"usage": USAGE},
    ]
    async with LlmServer([[{"unstreamed": True}, *steps] if forced else steps]) as server:
        _, text = await _ask(server, stream=forced)
    answer = json.loads(text)
    function = {"name": "search", "arguments": "{}"}
    message = {"role": "assistant", "content": "ab", "tool_calls": [{"id": "c1", "type": "function"}]}
    message["tool_calls"][0]["function"] = function  # type: ignore[index]
    assert answer["choices"] == [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
    assert answer["usage"] == USAGE


async def test_models_are_listed_and_nothing_else_is_served() -> None:
    async with LlmServer([[]], models=("small", "large")) as server, aiohttp.ClientSession() as client:
        async with client.get(f"{server.base_url}/models") as answer:
            assert [model["id"] for model in (await answer.json())["data"]] == ["small", "large"]
        for path in ("/chat/completions", "/v1/embeddings"):
            async with client.post(server.base_url.removesuffix("/v1") + path, json={}) as answer:
                assert answer.status == 404
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ([], "at least one answer"),
        ({"text": "a"}, "array of answers"),
        (["text"], "answer 0"),
        ([7], "answer 0"),
        ([{"steps": 7}], "answer 0"),
        ([[{"txet": "a"}]], "answer 0, step 0: no step is called txet"),
        ([[{}]], "no step is called nothing"),
        ([["text"]], "a step is an object"),
        ([[{"text": "a", "body": "b"}]], "`text` takes no body"),
        ([[{"text": "a", "finish": "stop"}]], "takes no finish"),
        ([[{"drop": True}]], "`close` or `reset`"),
        ([[{"end": True}, {"text": "a"}]], "nothing can follow `end`"),
        ([[{"text": "a"}, {"unstreamed": True}]], "`unstreamed` comes first"),
        ([[{"text": "a"}, {"status": 500}]], "only waits"),
        ([{"repeat": True}], "has `steps` and `repeat`"),
        ([{"steps": [], "repeat": True}, []], "only the last"),
    ],
)
def test_a_script_that_cannot_be_played_is_refused_with_its_place(script: Any, complaint: str) -> None:
    with pytest.raises(MalformedScript, match=complaint):
        parse_script(script)


async def test_it_starts_alone_and_prints_its_address_first(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([[{"text": "Hello"}, {"finish": "stop"}]]), encoding="utf-8")
    command = [sys.executable, "-m", "tests.servers.llm", "--script", str(script), "--port", "0"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        base_url = (await process.stdout.readline()).decode().strip()
        async with (
            aiohttp.ClientSession() as client,
            client.post(f"{base_url}/chat/completions", json=_question()) as answer,
        ):
            assert "Hello" in await answer.text()
    finally:
        process.terminate()
        await process.communicate()


@pytest.mark.parametrize("content", ['[[{"txet": "a"}]]', "[[", None])
def test_alone_it_refuses_a_script_it_cannot_play(
    content: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.json"
    if content is not None:
        script.write_text(content, encoding="utf-8")
    assert main(["--script", str(script)]) == 2
    assert "script.json" in capsys.readouterr().err
