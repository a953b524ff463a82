"""A model that plays a script: a real implementation of the models port, without a network and without a clock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.compaction.messages import ToolCall
from bibgenie_desktop.models.port import (
    FinishReason,
    ModelError,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    StepFinished,
    TextDelta,
)
from bibgenie_desktop.sessions.usage import Usage

ROOMY = Capacity(context_window=128_000, max_output=8_000, window_known=True)


@dataclass(slots=True)
class Gate:
    """A place in a script: the model says that it got there, and waits until it is let on."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)


Act: TypeAlias = ModelEvent | ModelError | Gate


class ScriptedModel:
    """Plays `steps`, one for each request; a request too many is the test's fault and raises.

    `requests` holds what it was sent. `left` counts the streams that were closed before their end.
    """

    def __init__(self, *steps: Sequence[Act], capacity: Capacity = ROOMY, unready: ModelError | None = None) -> None:
        self.requests: list[ModelRequest] = []
        self.left = 0
        self.closed = False
        self.preparing = Gate()
        self.preparing.opened.set()
        self._steps = list(steps)
        self._capacity = capacity
        self._unready = unready

    @property
    def name(self) -> str:
        return "scripted"

    @property
    def writes_summaries(self) -> bool:
        return True

    @property
    def capacity(self) -> Capacity:
        return self._capacity

    async def prepare(self) -> None:
        self.preparing.reached.set()
        await self.preparing.opened.wait()
        if self._unready is not None:
            raise self._unready

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        number = len(self.requests)
        self.requests.append(request)
        ended = False
        try:
            for act in self._steps[number]:
                if isinstance(act, Gate):
                    act.reached.set()
                    await act.opened.wait()
                elif isinstance(act, ModelError):
                    ended = True
                    raise act
                else:
                    yield act
            ended = True
        finally:
            self.left += not ended

    async def close(self) -> None:
        self.closed = True


def says(*pieces: str) -> list[ModelEvent]:
    return [TextDelta(piece) for piece in pieces]


def thinks(text: str) -> ReasoningDelta:
    return ReasoningDelta(text)


def call(name: str, arguments: Mapping[str, Any] | str, call_id: str = "call_1") -> ToolCall:
    return ToolCall(call_id, name, arguments if isinstance(arguments, str) else json.dumps(arguments))


def ends(*calls: ToolCall, reason: FinishReason = "stop", usage: Usage | None = None) -> StepFinished:
    return StepFinished(reason, calls, usage or Usage(input_tokens=100, output_tokens=10, real=True))


def answers(*pieces: str) -> list[Act]:
    """A whole step that says something and calls no tool."""
    return [*says(*pieces), ends()]
