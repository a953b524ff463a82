"""Playing scripted answers through a litellm model: what its test modules share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from bibgenie_desktop.compaction.messages import ToolSpec, UserMessage
from bibgenie_desktop.models.litellm_model import LitellmModel
from bibgenie_desktop.models.port import ModelError, ModelEvent, ModelRequest, StepFinished
from tests.servers.llm import LlmServer
from tests.servers.llm_script import Step

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
SECRET = "sk-SECRET123"
SEARCH = ToolSpec("search", "Search the library.", {"type": "object", "properties": {"query": {"type": "string"}}})
QUESTION = ModelRequest("You cite pages.", (UserMessage("What is front matter?"),), (SEARCH,))


def model_at(server: LlmServer, name: str = "openai/m", **more: Any) -> LitellmModel:
    environ: Mapping[str, str] = more.pop("environ", {"OPENAI_API_KEY": SECRET})
    return LitellmModel(name, environ=environ, api_base=server.base_url, clock=lambda: NOW, **more)


async def play(model: LitellmModel, request: ModelRequest = QUESTION) -> list[ModelEvent]:
    try:
        return [event async for event in model.stream(request)]
    finally:
        await model.close()


async def answer(*steps: Step, **more: Any) -> list[ModelEvent]:
    """The events of one scripted answer; the server must have seen exactly one request."""
    async with LlmServer([steps]) as server:
        events = await play(model_at(server, **more))
        assert len(server.requests) == 1
    return events


async def failure(*steps: Step, **more: Any) -> tuple[list[ModelEvent], ModelError]:
    """The events before a scripted fault and the fault; the server must have seen exactly one request."""
    events: list[ModelEvent] = []
    async with LlmServer([steps]) as server:
        model = model_at(server, **more)
        try:
            async for event in model.stream(QUESTION):
                events.append(event)  # noqa: PERF401  # what came before the fault is kept
        except ModelError as error:
            assert len(server.requests) == 1
            return events, error
        finally:
            await model.close()
    pytest.fail(f"no fault, but {events}")


def finished(events: list[ModelEvent]) -> StepFinished:
    assert isinstance(events[-1], StepFinished)
    return events[-1]
