"""Any model that litellm reaches, behind the port (A-1, A-2, A-5)."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..compaction.capacity import ASSUMED_WINDOW, Capacity
from ..compaction.estimate import estimate_text
from ..compaction.messages import message_to_chat, tool_to_chat
from ..compaction.projection import estimate_request
from ..sessions.usage import Usage
from . import litellm_environment, reported_usage
from .accumulator import Accumulator, ToolCallDelta
from .faults import model_error, observe, sentence, shown
from .keys import NO_KEY, find_key, key_variable, needs_key
from .port import ModelError, ModelEvent, ModelRequest, ReasoningDelta, StepFinished, TextDelta

DEFAULT_TIMEOUT = 300.0
"""Seconds without a byte before an answer counts as stalled: a local model may read a long prompt for minutes."""

_SIGN_IN = frozenset({"chatgpt", "github_copilot"})
"""Providers for which litellm would start a sign-in in the browser and print to stdout."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What is known once litellm is loaded."""

    litellm: Any
    provider: str
    key: str | None
    capacity: Capacity


def _mint_id() -> str:
    return f"call_{uuid.uuid4().hex[:24]}"


def _now() -> datetime:
    return datetime.now(UTC)


class LitellmModel:
    """A model by its litellm name, such as `anthropic/claude-sonnet-4-5`; implements the `Model` port.

    `api_base` is the address of another server than the provider's. `context_window` and `max_output` are the
    user's own figures in tokens and win over the table that comes with litellm; `max_output` also caps every answer.
    `timeout` is in seconds without a byte. Keys are looked for in `environ` (see `keys`).

    litellm takes seconds to import and is imported by `prepare`, or by the first stream, and not before.
    """

    def __init__(
        self,
        name: str,
        *,
        environ: Mapping[str, str],
        api_base: str | None = None,
        context_window: int | None = None,
        max_output: int | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        clock: Callable[[], datetime] = _now,
        mint_id: Callable[[], str] = _mint_id,
    ) -> None:
        self._name = name
        self._environ = environ
        self._api_base = api_base
        self._context_window = context_window
        self._max_output = max_output
        self._timeout = timeout
        self._clock = clock
        self._mint_id = mint_id
        self._prepared: _Prepared | None = None

    @property
    def name(self) -> str:
        """The name the user chose it by."""
        return self._name

    @property
    def writes_summaries(self) -> bool:
        """Any language model can be asked."""
        return True

    @property
    def capacity(self) -> Capacity:
        """Window and output limit: the user's, else litellm's table once prepared, else assumed and marked so."""
        return self._capacity({}) if self._prepared is None else self._prepared.capacity

    async def prepare(self) -> None:
        """Load litellm and check provider and key, without a request.

        Raises ModelError (`unknown_model`, `missing_key`).
        """
        await self._ready()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Play one step by exactly one request. Closing the iterator, or cancelling it, closes the connection.

        Raises ModelError.
        """
        ready = await self._ready()
        litellm_environment.enter(self)
        step = Accumulator(self._mint_id)
        answer = await self._await(ready.litellm.acompletion(**self._call(ready, request)), ready, step)
        usage: Usage | None = None
        try:
            while (chunk := await self._await(anext(answer, None), ready, step)) is not None:
                for event in _events(chunk, step):
                    yield event
                usage = _usage(chunk, answer) or usage
            yield self._finished(request, step, usage)
        finally:
            await answer.aclose()

    async def close(self) -> None:
        """Release connections and tasks; the model may be used again."""
        if self._prepared is not None:
            await litellm_environment.leave(self._prepared.litellm, self)

    async def _ready(self) -> _Prepared:
        if self._prepared is None:
            self._prepared = await asyncio.to_thread(self._load)
        return self._prepared

    def _load(self) -> _Prepared:
        litellm = litellm_environment.load()
        if self._name.partition("/")[0] in _SIGN_IN:
            raise ModelError(
                "unknown_model",
                f"{shown(self._name)} needs a sign-in in the browser, which is not offered here; choose a model that "
                "takes an API key.",
            )
        try:
            model, provider, _, _ = litellm.get_llm_provider(model=self._name, api_base=self._api_base)
        except litellm.BadRequestError:
            model, provider = "", ""
        if not model:
            raise ModelError(
                "unknown_model",
                f"No provider is known for the model {shown(self._name)}; write it with its provider, such as "
                "anthropic/NAME, or openai/NAME with the API base of any server that speaks OpenAI's protocol.",
            )
        key = find_key(provider, self._environ)
        if key is None and provider == "openai" and self._api_base:
            key = NO_KEY
        if key is None and needs_key(provider, self._environ):
            raise ModelError("missing_key", sentence("missing_key", self._name, variable=key_variable(provider)))
        return _Prepared(litellm, provider, key, self._capacity(_row(litellm.model_cost, self._name, model, provider)))

    def _capacity(self, row: Mapping[str, Any]) -> Capacity:
        window = self._context_window or _positive(row.get("max_input_tokens"))
        return Capacity(
            context_window=window or ASSUMED_WINDOW,
            max_output=self._max_output or _positive(row.get("max_output_tokens")),
            window_known=window is not None,
        )

    def _call(self, ready: _Prepared, request: ModelRequest) -> dict[str, Any]:
        """The arguments of litellm's call: few, since not every server knows many."""
        system = [{"role": "system", "content": request.system}] if request.system else []
        call: dict[str, Any] = {
            "model": self._name,
            "messages": system + [message_to_chat(message) for message in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "timeout": self._timeout,
            # Nothing is sent twice: a retry is the user's or the turn loop's, and visible.
            "num_retries": 0,
            "max_retries": 0,
        }
        if request.tools:
            call["tools"] = [tool_to_chat(tool) for tool in request.tools]
        caps = [cap for cap in (request.max_output, self._max_output) if cap is not None]
        if caps:
            call["max_tokens"] = min(caps)
        if self._api_base:
            call["api_base"] = self._api_base
        if ready.key:
            call["api_key"] = ready.key
        return call

    async def _await(self, pending: Any, ready: _Prepared, step: Accumulator) -> Any:
        """What litellm gives, or the ModelError for whatever it raises."""
        try:
            return await pending
        except Exception as error:  # noqa: BLE001  # litellm raises every kind, and each is classified
            fault = observe(error, started=step.started)
        # Raised out here so that no key and no provider's text hangs on it as its context.
        mapped = model_error(fault, self._name, self._clock(), variable=key_variable(ready.provider))
        _log.info("a model failed: %s (%s, status %s)", mapped.code, fault.kind, fault.status)
        raise mapped

    def _finished(self, request: ModelRequest, step: Accumulator, usage: Usage | None) -> StepFinished:
        calls = step.tool_calls()
        if step.reason == "stop" and not calls and not step.text.strip():
            raise ModelError("empty", sentence("empty", self._name))
        if usage is None:
            usage = reported_usage.estimated(
                estimate_request(request.system, request.tools, request.messages),
                estimate_text(step.text + step.reasoning + "".join(call.name + call.arguments for call in calls)),
            )
        return StepFinished(step.reason, calls, usage)


def _events(chunk: Any, step: Accumulator) -> Iterator[ModelEvent]:
    """Feed a chunk to the accumulator and tell its deltas."""
    for choice in chunk.choices[:1]:
        delta = choice.delta
        thought = getattr(delta, "reasoning_content", None)
        if isinstance(thought, str) and (shareable := step.add_reasoning(thought)):
            yield ReasoningDelta(shareable)
        if isinstance(delta.content, str) and (shareable := step.add_text(delta.content)):
            yield TextDelta(shareable)
        if delta.tool_calls:
            step.add_tool_calls([_tool_call_delta(call) for call in delta.tool_calls])
        if choice.finish_reason:
            step.finish(choice.finish_reason)


def _tool_call_delta(call: Any) -> ToolCallDelta:
    return ToolCallDelta(call.index, call.id, call.function.name, call.function.arguments)


def _usage(chunk: Any, answer: Any) -> Usage | None:
    """The usage of a chunk, None where the provider sent none.

    litellm ends every stream with a usage. Only a stream with one among the chunks it kept got it from the provider;
    `chunks` is no documented attribute, and the tests of this module watch it.
    """
    usage = getattr(chunk, "usage", None)
    if usage is None or not any(getattr(kept, "usage", None) for kept in answer.chunks):
        return None
    return reported_usage.normalise(usage.model_dump())


def _row(table: Mapping[str, Any], name: str, model: str, provider: str) -> Mapping[str, Any]:
    """The model's row in litellm's bundled table, empty where it has none.

    Read directly: litellm's own look-up asks servers for some providers (Ollama, Hugging Face), while it blocks.
    """
    for key in (name, f"{provider}/{model}", model):
        row = table.get(key)
        if isinstance(row, Mapping) and str(row.get("litellm_provider", "")).startswith(provider):
            return row
    return {}


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
