"""An OpenAI-compatible chat server that plays scripts, with all their faults, over real HTTP.

In a test:

    async with LlmServer([[{"text": "Hello"}, {"finish": "stop"}]]) as server:
        ...  # talk to server.base_url
        assert server.requests[0].body["stream"] is True

From a shell (`--port 0` takes a free port; the first line printed is the base URL):

    python -m tests.servers.llm --script FILE --port N

It answers `GET /v1/models` and `POST /v1/chat/completions`, and 404 everywhere else. `POST /release` releases a gate
from outside the process. Nothing waits for a clock.

# The script

A script is a JSON array of answers. The first request gets the first answer, and so on; when they are used up, the
server answers 500 and says so, unless the last one repeats. An answer is an array of steps, or the object
`{"steps": […], "repeat": true}`, which only the last one may be. A step is an object with one of these keys:

    {"text": "…"}              a delta of the answer's text
    {"reasoning": "…"}         a delta of the thinking; "field" names its key, `reasoning_content` if left out
    {"tool_calls": [{…}]}      a delta of tool calls. Each may hold any of "index", "id", "name" and "arguments";
                               what is left out is left out of the delta too
    {"finish": "stop"}         the finish reason, with an empty delta
    {"usage": {…}}             usage alone, in a chunk with empty choices; sent only if the request asked for it
                               by `stream_options`, as real servers do
    {"chunk": {…}}             any chunk, sent as it stands
    {"line": "…"}              any line, sent as it stands: invalid JSON, say
    {"comment": "…"}           a comment of the stream, a keep-alive
    {"error": {…}}             an error object within the stream
    {"wait": true}             waits for one `server.release()`
    {"stall": true}            sends nothing more and keeps the connection open
    {"drop": "close"}          closes the connection in the middle of the answer; "reset" resets it instead
    {"end": true}              ends the stream without `[DONE]`; nothing may follow

The four deltas and the finish may carry "usage" beside them, as some servers send it. Headers are sent with the first
step that sends something, so a `wait`, `stall` or `drop` in the first place comes before them. After the last step
the stream ends with `[DONE]`. Two steps stand at an answer's beginning:

    {"unstreamed": true}       first: the answer comes in one piece although a stream was asked for
    {"status": 429}            alone, after waits at most: an answer by HTTP status, with "headers" (an object) and
                               "body" (text or JSON); `$KEY` in the body becomes the key that the client sent

A request without `"stream": true` gets the steps in one piece. There `line`, `comment` and `chunk` have no place.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.servers.llm_script import Script, Step, parse_script, verb_of


@dataclass(slots=True)
class RecordedRequest:
    """One request that the server got. Header names are in lower case; `body` is None where there was no JSON.

    `ended` is set when the server is done with it; `disconnected` then tells whether the client left before that.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    disconnected: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class LlmServer:
    """The server; an async context manager that listens on loopback while it is entered."""

    def __init__(self, script: Script, *, port: int = 0, models: Sequence[str] = ("scripted",)) -> None:
        self.requests: list[RecordedRequest] = []
        self._answers = parse_script(script)
        self._played = 0
        self._models = tuple(models)
        self._port = port
        self._gate = asyncio.Semaphore(0)
        self._arrived = asyncio.Condition()
        self._handlers: set[asyncio.Task[Any]] = set()
        self._closing = False
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        """The address to give a client as its API base."""
        return f"http://127.0.0.1:{self._port}/v1"

    def release(self) -> None:
        """Let one `wait` pass, now or when it is reached."""
        self._gate.release()

    async def request(self, number: int = 0) -> RecordedRequest:
        """The request with that number, once it has arrived."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) > number)
        return self.requests[number]

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._handle)
        # Cancelling the handler is how aiohttp tells that the client has left.
        runner = web.AppRunner(app, handle_signals=False, handler_cancellation=True, access_log=None)
        await runner.setup()
        listener = socket.create_server(("127.0.0.1", self._port))
        self._port = listener.getsockname()[1]
        await web.SockSite(runner, listener).start()
        self._runner = runner
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        for handler in self._handlers:
            handler.cancel()
        if self._handlers:
            await asyncio.wait(self._handlers)
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        record = await self._record(request)
        handler = asyncio.current_task()
        assert handler is not None
        self._handlers.add(handler)
        try:
            return await self._route(request, record)
        except asyncio.CancelledError:
            record.disconnected = not self._closing
            raise
        except ConnectionResetError:
            # A write to a client that has left; aiohttp is told the same by the closed connection.
            record.disconnected = True
            return web.Response()
        finally:
            self._handlers.discard(handler)
            record.ended.set()

    async def _record(self, request: web.Request) -> RecordedRequest:
        body = await request.read()
        parsed: Any = None
        with contextlib.suppress(ValueError):
            parsed = json.loads(body)
        headers = {name.lower(): value for name, value in request.headers.items()}
        record = RecordedRequest(request.method, request.path, headers, parsed)
        async with self._arrived:
            self.requests.append(record)
            self._arrived.notify_all()
        return record

    async def _route(self, request: web.Request, record: RecordedRequest) -> web.StreamResponse:
        match (record.method, record.path):
            case ("POST", "/v1/chat/completions") if isinstance(record.body, dict):
                return await self._play(request, record)
            case ("GET", "/v1/models"):
                data = [{"id": name, "object": "model", "created": 0, "owned_by": "script"} for name in self._models]
                return web.json_response({"object": "list", "data": data})
            case ("POST", "/release"):
                self.release()
                return web.json_response({"released": True})
            case _:
                return _failure(404, f"nothing is served at {record.method} {record.path}")

    async def _play(self, request: web.Request, record: RecordedRequest) -> web.StreamResponse:
        number = self._played
        self._played += 1
        if number < len(self._answers):
            answer = self._answers[number]
        elif self._answers[-1].repeat:
            answer = self._answers[-1]
        else:
            return _failure(500, f"the script holds {len(self._answers)} answers, and this is request {number + 1}")
        streamed = record.body.get("stream") is True and not any("unstreamed" in step for step in answer.steps[:1])
        reply: _Streamed | _Whole = _Streamed(request, record.body) if streamed else _Whole(record.body)
        for step in answer.steps:
            match verb_of(step):
                case "wait":
                    await self._gate.acquire()
                case "stall":
                    await asyncio.Event().wait()
                case "status":
                    return _status(step, record.headers)
                case "drop":
                    return _drop(request, step["drop"], reply)
                case "unstreamed":
                    pass
                case verb:
                    await reply.send(verb, step)
        return await reply.end(done=not any("end" in step for step in answer.steps))


class _Streamed:
    """An answer as server-sent events."""

    def __init__(self, request: web.Request, body: Mapping[str, Any]) -> None:
        self.response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        self._request = request
        self._model = str(body.get("model", ""))
        self._usage_wanted = bool((body.get("stream_options") or {}).get("include_usage"))
        self._role_told = False

    async def send(self, verb: str, step: Step) -> None:
        match verb:
            case "usage":
                if self._usage_wanted:
                    await self._data(self._chunk([], step))
            case "chunk":
                await self._data(step["chunk"])
            case "error":
                await self._data({"error": step["error"]})
            case "line":
                await self._write(f"{step['line']}\n\n")
            case "comment":
                await self._write(f": {step['comment']}\n\n")
            case "end":
                await self._write("")
            case _:
                delta = _delta(verb, step)
                if not self._role_told:
                    delta = {"role": "assistant", **delta}
                    self._role_told = True
                choice = {"index": 0, "delta": delta, "finish_reason": step.get("finish")}
                await self._data(self._chunk([choice], step))

    async def end(self, *, done: bool) -> web.StreamResponse:
        await self._write("data: [DONE]\n\n" if done else "")
        await self.response.write_eof()
        return self.response

    def _chunk(self, choices: list[dict[str, Any]], step: Step) -> dict[str, Any]:
        chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": self._model}
        return {**chunk, "choices": choices, **({"usage": step["usage"]} if "usage" in step else {})}

    async def _data(self, data: object) -> None:
        await self._write(f"data: {json.dumps(data, ensure_ascii=False)}\n\n")

    async def _write(self, text: str) -> None:
        if not self.response.prepared:
            await self.response.prepare(self._request)
        if text:
            await self.response.write(text.encode())


class _Whole:
    """An answer in one piece."""

    response: web.StreamResponse | None = None

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._model = str(body.get("model", ""))
        self._message: dict[str, Any] = {"role": "assistant", "content": ""}
        self._calls: dict[int, dict[str, Any]] = {}
        self._finish: str | None = None
        self._usage: Any = None
        self._error: Any = None

    async def send(self, verb: str, step: Step) -> None:
        self._usage = step.get("usage", self._usage)
        self._finish = step.get("finish", self._finish)
        self._error = step.get("error", self._error)
        for key, value in _delta(verb, step).items():
            if key == "tool_calls":
                for delta in value:
                    self._add_call(delta)
            else:
                self._message[key] = self._message.get(key, "") + value

    def _add_call(self, delta: Mapping[str, Any]) -> None:
        function = {"name": "", "arguments": ""}
        call = self._calls.setdefault(delta.get("index", 0), {"id": "", "type": "function", "function": function})
        call["id"] = call["id"] or delta.get("id", "")
        for key, value in delta["function"].items():
            call["function"][key] += value

    async def end(self, *, done: bool) -> web.StreamResponse:
        if self._error is not None:
            return web.json_response({"error": self._error})
        if self._calls:
            self._message["tool_calls"] = list(self._calls.values())
        choice = {"index": 0, "message": self._message, "finish_reason": self._finish}
        body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": self._model}
        usage = {} if self._usage is None else {"usage": self._usage}
        return web.json_response({**body, "choices": [choice], **usage})


def _delta(verb: str, step: Step) -> dict[str, Any]:
    match verb:
        case "text":
            return {"content": step["text"]}
        case "reasoning":
            return {step.get("field", "reasoning_content"): step["reasoning"]}
        case "tool_calls":
            return {"tool_calls": [_tool_call(call) for call in step["tool_calls"]]}
        case _:
            return {}


def _tool_call(call: Mapping[str, Any]) -> dict[str, Any]:
    outer = {key: call[key] for key in ("index", "id") if key in call}
    function = {key: call[key] for key in ("name", "arguments") if key in call}
    return {**outer, **({"type": "function"} if "id" in call else {}), "function": function}


def _status(step: Step, headers: Mapping[str, str]) -> web.Response:
    body = step.get("body", "")
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    text = text.replace("$KEY", headers.get("authorization", "").removeprefix("Bearer "))
    kind = "text/plain" if isinstance(body, str) else "application/json"
    return web.Response(status=step["status"], headers=step.get("headers"), text=text, content_type=kind)


def _failure(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "server_error", "code": None}}, status=status)


def _drop(request: web.Request, how: str, reply: _Streamed | _Whole) -> web.StreamResponse:
    if request.transport is not None:
        if how == "reset":
            request.transport.abort()
        else:
            request.transport.close()
    return reply.response if reply.response is not None and reply.response.prepared else web.Response()


async def _serve(script: Script, port: int) -> None:
    async with LlmServer(script, port=port) as server:
        print(server.base_url, flush=True)
        await asyncio.Event().wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve a script until interrupted. Returns the exit code: 2 for a script that cannot be played."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers.llm", description="Play a script as a chat server.")
    parser.add_argument("--script", type=Path, required=True, help="the script, a JSON file")
    parser.add_argument("--port", type=int, default=0, help="the port on loopback; 0 takes a free one")
    options = parser.parse_args(arguments)
    try:
        script = json.loads(options.script.read_text(encoding="utf-8"))
        parse_script(script)
    except (OSError, ValueError) as error:
        print(f"{options.script}: {error}", file=sys.stderr)
        return 2
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(script, options.port))
    return 0


if __name__ == "__main__":
    sys.exit(main())
