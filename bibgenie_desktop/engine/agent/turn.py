"""The turn loop: model steps and tool calls until the answer is complete (A-1, A-3, A-4)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ...compaction.messages import ToolCall
from ...compaction.projection import answer_messages, estimate_request, project
from ...models.port import (
    Model,
    ModelError,
    ModelRequest,
    ReasoningDelta,
    StepFinished,
    TextDelta,
)
from ...protocol.messages import AnswerCitation, AnswerReasoning, AnswerText, Event, ToolFinished, ToolStarted
from ...sessions.citations import Citation, parse_token, token_for
from ...sessions.locators import locator_to_json
from ...sessions.nodes import Node, StopReason
from ...sessions.parts import Part, ReasoningPart, TextPart, ToolCallPart, ToolState
from ...sessions.text import well_formed
from ...sessions.usage import Usage
from ...store.database import StoreUnavailable
from ...store.sessions import encode_json
from ...zotero.links import build_link
from .citations import CitationCheck, TokenSplitter
from .tools.tool import Tool, ToolFault, ToolResult, parse_arguments

_log = logging.getLogger(__name__)

STEP_LIMIT = 12
"""Model steps of one turn."""

SMALLEST_RESULT = 2_000
LARGEST_RESULT = 24_000
"""Characters of one tool result; in between it is what the room left in the window gives."""

Emit: TypeAlias = Callable[[Event], None]


@dataclass(slots=True)
class Answer:
    """An answer as far as it has come. `failure` is set where the model failed; the parts so far are kept."""

    parts: list[Part] = field(default_factory=list)
    stop_reason: StopReason = "stop"
    usage: Usage | None = None
    failure: ModelError | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to keep."""
        return not any(
            isinstance(part, ToolCallPart) or (isinstance(part, TextPart) and part.text.strip()) for part in self.parts
        )


class Turn:
    """One answer to the question at the end of `path`."""

    def __init__(
        self,
        *,
        session_id: str,
        path: Sequence[Node],
        system: str,
        tools: Sequence[Tool],
        model: Model,
        citations: CitationCheck,
        emit: Emit,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session_id = session_id
        self._path = path
        self._system = system
        self._tools = {tool.spec.name: tool for tool in tools}
        self._model = model
        self._citations = citations
        self._emit = emit
        self._monotonic = monotonic
        self.answer = Answer()

    async def run(self) -> Answer:
        """Play the turn to its end. A cancelled turn leaves in `answer` what there is; a failed one returns it."""
        answer = self.answer
        try:
            for step in range(STEP_LIMIT):
                finished, with_tools = await self._step(step)
                if not finished.tool_calls:
                    answer.stop_reason = "context_full" if step and not with_tools else finished.reason
                    return answer
                await self._run_tools(finished.tool_calls, step)
            answer.stop_reason = "step_limit"
        except ModelError as error:
            answer.failure = error
            answer.stop_reason = "interrupted" if error.code in ("interrupted", "timeout", "connection") else "error"
        except asyncio.CancelledError:
            self._cancel_pending()
            answer.stop_reason = "cancelled"
            raise
        return answer

    async def _step(self, step: int) -> tuple[StepFinished, bool]:
        """One request. Tools are left out where the room in the window has run out (A-4)."""
        specs = tuple(tool.spec for tool in self._tools.values())
        projection = project(self._system, specs, self._path)
        messages = (*projection.messages, *answer_messages(self.answer.parts))
        tokens = estimate_request(self._system, specs, messages)
        with_tools = tokens <= self._model.capacity.safe_input_limit or step == 0
        request = ModelRequest(self._system, messages, specs if with_tools else (), self._model.capacity.max_output)
        finished: StepFinished | None = None
        text = _TextInProgress()
        try:
            async with aclosing(self._model.stream(request)) as events:  # a turn that ends early closes the connection
                async for event in events:
                    match event:
                        case TextDelta(text=delta):
                            await self._take_text(text, text.splitter.feed(delta))
                        case ReasoningDelta(text=delta):
                            self._take_reasoning(well_formed(delta))
                        case StepFinished():
                            finished = event
        finally:
            # Without awaiting: a cancelled turn keeps what was held back as plain text.
            text.parts.extend(text.splitter.flush())
            self._emit_text("".join(text.parts[text.emitted :]))
            self._keep_text(text)
        if finished is None:
            raise ModelError("interrupted", "The model's answer broke off; what came is kept. Ask again to go on.")
        self.answer.usage = _added(self.answer.usage, finished.usage)
        return finished, with_tools

    async def _take_text(self, text: _TextInProgress, pieces: list[str]) -> None:
        for piece in pieces:
            if parse_token(piece) is None:
                whole = well_formed(piece)
                text.parts.append(whole)
                text.emitted = len(text.parts)
                self._emit_text(whole)
                continue
            citation = await self._citations.check(piece, "".join(text.parts))
            text.parts.append(piece)
            text.emitted = len(text.parts)
            text.citations.append(citation)
            self._emit(citation_event(self._session_id, citation))

    def _emit_text(self, text: str) -> None:
        if text:
            self._emit(AnswerText(self._session_id, text))

    def _keep_text(self, text: _TextInProgress) -> None:
        joined = well_formed("".join(text.parts))
        if joined.strip():
            self.answer.parts.append(TextPart(joined, tuple(text.citations)))

    def _take_reasoning(self, delta: str) -> None:
        parts = self.answer.parts
        if parts and isinstance(parts[-1], ReasoningPart):
            parts[-1] = replace(parts[-1], text=parts[-1].text + delta)
        else:
            parts.append(ReasoningPart(delta))
        self._emit(AnswerReasoning(self._session_id, delta))

    async def _run_tools(self, calls: Sequence[ToolCall], step: int) -> None:
        """Run the calls of one step in order; each is in the answer before it runs, so that a stop keeps it."""
        first = len(self.answer.parts)
        self.answer.parts += [
            ToolCallPart(call.call_id, call.name, call.arguments, "pending", step=step, replay=call.replay)
            for call in calls
        ]
        for place, call in enumerate(calls, first):
            tool = self._tools.get(call.name)
            started = self._monotonic()
            try:
                arguments = parse_arguments(call.arguments)
                title = tool.title(arguments) if tool else call.name
                self._emit(ToolStarted(self._session_id, call.call_id, call.name, title))
                if tool is None:
                    raise ToolFault(f"There is no tool {call.name}: use {', '.join(self._tools)}.")
                result = await tool.run(arguments, budget=self._budget(len(calls)))
                state: ToolState = "done"
            except (ToolFault, StoreUnavailable) as fault:
                result, state = ToolResult({"error": str(fault)}, summary=str(fault)), "error"
            took = round((self._monotonic() - started) * 1000)
            pending = self.answer.parts[place]
            assert isinstance(pending, ToolCallPart)
            self.answer.parts[place] = replace(
                pending,
                state=state,
                result=well_formed(result.text()),
                delivered=result.delivered,
                summary=result.summary,
                duration_ms=took,
            )
            self._citations.delivered.update(token_for(locator) for locator in result.delivered)
            self._emit(ToolFinished(self._session_id, call.call_id, state, result.summary, took))

    def _budget(self, calls: int) -> int:
        """Characters a result may take: half of the room left in the window, shared by the step's calls."""
        specs = [tool.spec for tool in self._tools.values()]
        messages = (*project(self._system, specs, self._path).messages, *answer_messages(self.answer.parts))
        room = self._model.capacity.safe_input_limit - estimate_request(self._system, specs, messages)
        return max(SMALLEST_RESULT, min(LARGEST_RESULT, room * 3 // (2 * calls)))

    def _cancel_pending(self) -> None:
        self.answer.parts = [
            replace(part, state="cancelled", result=encode_json({"error": "The user stopped this call."}))
            if isinstance(part, ToolCallPart) and part.state == "pending"
            else part
            for part in self.answer.parts
        ]


class _TextInProgress:
    """The text of one model step while it streams: its pieces, and how many of them were told."""

    def __init__(self) -> None:
        self.splitter = TokenSplitter()
        self.parts: list[str] = []
        self.emitted = 0
        self.citations: list[Citation] = []


def citation_event(session_id: str, citation: Citation) -> AnswerCitation:
    """A citation as it is told to a window or a terminal."""
    locator = citation.locator
    return AnswerCitation(
        session_id,
        citation.label,
        "" if locator is None else build_link(locator),
        citation.state,
        citation.reason,
        citation.quote,
        None if locator is None else locator_to_json(locator),
    )


def _added(before: Usage | None, step: Usage) -> Usage:
    """The turn's usage after one more step: the last step's occupancy, and the sums for billing."""
    if before is None:
        return replace(step, steps=1, turn_input_tokens=step.input_tokens, turn_output_tokens=step.output_tokens)
    costs = [cost for cost in (before.cost, step.cost) if cost is not None]
    return replace(
        step,
        steps=before.steps + 1,
        turn_input_tokens=before.turn_input_tokens + step.input_tokens,
        turn_output_tokens=before.turn_output_tokens + step.output_tokens,
        cost=sum(costs) if costs else None,
    )
