"""The port to language models (A-1, A-2, A-5): one request, a stream of events, every fault classified."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from ..compaction.capacity import Capacity
from ..compaction.messages import Message, ToolCall, ToolSpec
from ..sessions.usage import Usage

FinishReason: TypeAlias = Literal["stop", "length", "content_filter"]

ModelErrorCode: TypeAlias = Literal[
    "missing_key",  # no API key for the provider
    "authentication",  # the key was refused
    "permission",  # the key may not use this model
    "unknown_model",
    "context_overflow",  # the request is larger than the model takes
    "rate_limit",
    "quota",  # the account has no credit left
    "bad_request",
    "server",  # the provider failed
    "connection",  # nobody answered
    "timeout",  # the answer stalled
    "interrupted",  # the stream broke or ended without a finish
    "empty",  # the answer held nothing
]


class ModelError(Exception):
    """A model could not answer.

    `str()` is one plain sentence for the user: what happened and what to do. It never holds a key, a traceback or
    the provider's raw text. `retry_after` is in seconds, where the provider named a time.
    """

    def __init__(self, code: ModelErrorCode, sentence: str, *, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One step's request. `max_output` caps the answer in tokens; None leaves it to the model."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output: int | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the model's thinking; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class StepFinished:
    """The last event of a stream: why it ended, the complete tool calls in order, and what it cost.

    `usage.real` is False where the provider sent none.
    """

    reason: FinishReason
    tool_calls: tuple[ToolCall, ...]
    usage: Usage


ModelEvent: TypeAlias = TextDelta | ReasoningDelta | StepFinished


class Model(Protocol):
    """One language model."""

    @property
    def name(self) -> str:
        """The name the user chose it by, stored with each answer."""
        ...

    @property
    def capacity(self) -> Capacity:
        """Its window and output limit."""
        ...

    @property
    def writes_summaries(self) -> bool:
        """Whether it can be asked for a checkpoint's summary; else the app puts one together itself (D-12)."""
        ...

    async def prepare(self) -> None:
        """Load what the first request needs. Raises ModelError (an unknown model, a missing key)."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Play one step: deltas, then one StepFinished. Closing the generator closes the connection.

        Raises ModelError.
        """
        ...

    async def close(self) -> None:
        """Release connections and background tasks."""
        ...
