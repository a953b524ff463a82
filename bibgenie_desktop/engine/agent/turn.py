"""The turn loop: model steps and tool calls until the answer is complete (A-1, A-3, A-4)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ...compaction.counted import Counted, answer_messages
from ...compaction.estimate import estimate_message
from ...compaction.messages import ToolCall
from ...compaction.projection import Projection, going_on, project
from ...models.port import (
    Model,
    ModelError,
    ModelRequest,
    ReasoningDelta,
    StepFinished,
    TextDelta,
)
from ...protocol.events import AnswerReasoning, AnswerText, Event, ToolFinished, ToolStarted
from ...sessions.branch import Path
from ...sessions.citations import Citation, parse_token, token_for
from ...sessions.nodes import StopReason
from ...sessions.parts import Part, TextPart, ToolCallPart, ToolState
from ...sessions.text import well_formed
from ...sessions.usage import Usage
from ...store.database import StoreUnavailable
from ...store.encoding import encode_json
from ..views import LONGEST_DETAIL, text_pieces
from .citations import CitationCheck, quote_after
from .step import LONGEST_NAME, StepInProgress, citation_event, cut_off, told
from .tools.tool import Tool, ToolFault, ToolResult, cut, parse_arguments

STEP_LIMIT = 12
"""Model steps of one turn."""

SMALLEST_RESULT = 500
LARGEST_RESULT = 8_000
"""Estimated tokens of one tool result; in between it is what the room left in the window gives."""

LEAST_ANSWER = 200
"""Estimated tokens that must be left of the window for an answer."""

_CUT_OFF = encode_json({"error": "This call was cut off before it gave a result."})
_NO_ROOM = "There is no room left for this result: answer with what you have, or ask for less at once."

Emit: TypeAlias = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an answer is not whole: a code for programs, and one plain sentence for the user."""

    code: str
    sentence: str


@dataclass(slots=True)
class Answer:
    """An answer as far as it has come. `failure` is set where it ended by a fault; the parts so far are kept.

    `kept` are the parts of a former answer that this one goes on with: it begins with them.
    """

    parts: list[Part] = field(default_factory=list)
    stop_reason: StopReason = "stop"
    usage: Usage | None = None
    failure: Failure | None = None
    notes: list[str] = field(default_factory=list)
    """Sentences to tell at the end: quotations found wrong after their citation was told."""
    kept: tuple[Part, ...] = ()
    estimated: int = 0
    """Tokens of the last request, as they were estimated."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to keep: nothing, or nothing new where the model did not say that this was all."""
        if self.kept and self.stop_reason == "stop":
            return False
        return _worth_keeping(self.parts) == _worth_keeping(self.kept)


def _worth_keeping(parts: Sequence[Part]) -> list[Part]:
    return [
        part for part in parts if isinstance(part, ToolCallPart) or (isinstance(part, TextPart) and part.text.strip())
    ]


class Turn:
    """One answer to the question at the end of `path`; it begins with what is `kept` of a former one.

    Raises BrokenProjection.
    """

    def __init__(
        self,
        *,
        session_id: str,
        path: Path,
        system: str,
        tools: Sequence[Tool],
        model: Model,
        citations: CitationCheck,
        emit: Emit,
        kept: Sequence[Part] = (),
        counted: Counted | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session_id = session_id
        self._tools = {tool.spec.name: tool for tool in tools}
        self._history: Projection = project(
            system, tuple(tool.spec for tool in tools), path.nodes, path.checkpoints, counted=counted
        )
        self._model = model
        self._citations = citations
        self._emit = emit
        self._monotonic = monotonic
        self._said: StepInProgress | None = None
        self._first_step = 1 + max((part.step for part in kept if isinstance(part, ToolCallPart)), default=-1)
        self.answer = Answer(list(kept), kept=tuple(kept))

    def tell_kept(self) -> None:
        """Tell what the answer begins with, as it was told when it came."""
        for event in told(self._session_id, self.answer.kept):
            self._emit(event)

    def so_far(self) -> list[Part]:
        """What there is of the answer at this moment, and was told; calls that run are `pending`."""
        parts = [*self.answer.parts, *(self._said.kept() if self._said else ())]
        return parts if _worth_keeping(parts) else []

    async def run(self) -> None:
        """Play the turn to its end. However it ends, `answer` holds what there is."""
        answer = self.answer
        try:
            for step in range(STEP_LIMIT):
                room, reserve = self._room(), self._model.capacity.reserve
                if step and room + reserve < LEAST_ANSWER:
                    answer.stop_reason = "context_full"  # no request is sent that leaves no room for an answer (C-13)
                    return
                # Tools are switched off where the next result could not be sent.
                with_tools = step == 0 or room >= 0
                finished = await self._step(with_tools, room + reserve)
                if not with_tools or not finished.tool_calls:
                    answer.stop_reason = finished.reason if with_tools else "context_full"
                    return
                await self._run_tools(finished.tool_calls, self._first_step + step)
            answer.stop_reason = "step_limit"
        except ModelError as error:
            answer.failure = Failure(error.code, str(error))
            answer.stop_reason = "interrupted" if error.code in ("interrupted", "timeout", "connection") else "error"
        finally:
            answer.parts = [
                replace(part, state="cancelled", result=_CUT_OFF)
                if isinstance(part, ToolCallPart) and part.state == "pending"
                else part
                for part in answer.parts
            ]

    def _room(self) -> int:
        """Estimated tokens that the next request is below the model's safe limit; less than 0 if above."""
        return self._model.capacity.safe_input_limit - self._request_tokens()

    def _request_tokens(self) -> int:
        """Estimated tokens of the next request."""
        answered = sum(estimate_message(message) for message in answer_messages(self.answer.parts))
        return self._history.tokens + answered

    async def _step(self, with_tools: bool, left: int) -> StepFinished:
        """One request; `left` are the estimated tokens of the window that remain for its answer."""
        tools = self._history.tools if with_tools else ()
        self.answer.estimated = self._request_tokens() - (0 if with_tools else self._history.sizes.tools)
        # Providers refuse a request that, with the answer it allows, is larger than the window.
        allowed = self._model.capacity.max_output
        longest = None if allowed is None else min(allowed, max(LEAST_ANSWER, left))
        messages = going_on((*self._history.messages, *answer_messages(self.answer.parts)))
        request = ModelRequest(self._history.system, messages, tools, longest)
        finished: StepFinished | None = None
        said = self._said = StepInProgress(self._text_to_go_on())
        try:
            async with aclosing(self._model.stream(request)) as events:  # a turn that ends early closes the connection
                async for event in events:
                    match event:
                        case TextDelta(text=delta):
                            said.waiting.extend(said.splitter.feed(delta))
                            await self._take_text(said)
                        case ReasoningDelta(text=delta):
                            said.thoughts.append(well_formed(delta))
                            for piece in text_pieces(said.thoughts[-1]):
                                self._emit(AnswerReasoning(self._session_id, piece))
                        case StepFinished():
                            finished = event
            await self._check_introduced(said)
        finally:
            self._keep_step(said)
        if finished is None:
            raise ModelError("interrupted", "The model's answer broke off; what came is kept. Ask again to go on.")
        # Only a request on the same checkpoint can be measured by it (D-5).
        usage = replace(finished.usage, checkpoint_id=self._history.checkpoint_id)
        self.answer.usage = _added(self.answer.usage, usage)
        return finished

    def _text_to_go_on(self) -> TextPart | None:
        """Take back the text that the answer ends with: only one that is gone on with begins a step so."""
        parts = self.answer.parts
        if not parts or not isinstance(parts[-1], TextPart):
            return None
        last = parts.pop()
        assert isinstance(last, TextPart)
        return last

    async def _take_text(self, said: StepInProgress) -> None:
        """Tell the pieces that wait; one leaves the queue only then, so that a stop in between loses none."""
        while said.waiting:
            piece = said.waiting[0]
            if parse_token(piece) is None:
                self._say(said, piece)
            else:
                before = said.text_since_citation
                grouped = bool(said.citations) and not any(character.isalnum() for character in before)
                said.text_before_group = said.text_before_group if grouped else before
                self._cite(said, await self._citations.check(piece, said.text_before_group, grouped=grouped))
            said.waiting.popleft()

    def _say(self, said: StepInProgress, text: str) -> None:
        said.parts.append(well_formed(text))
        for piece in text_pieces(said.parts[-1]):
            self._emit(AnswerText(self._session_id, piece))

    def _cite(self, said: StepInProgress, citation: Citation) -> None:
        said.parts.append(citation.token)
        said.cited = len(said.parts)
        said.citations.append(citation)
        self._emit(citation_event(self._session_id, citation))

    async def _check_introduced(self, said: StepInProgress) -> None:
        """Check the quotations that stand behind their citation; what is not there is told when the answer ends."""
        said.waiting.extend(said.splitter.flush())
        await self._take_text(said)
        places = [place for place, part in enumerate(said.parts) if parse_token(part) is not None]
        for number, (citation, place) in enumerate(zip(said.citations, places, strict=True)):
            is_last = number + 1 == len(places)
            following = "".join(said.parts[place + 1 : None if is_last else places[number + 1]])
            # What stands before the next citation of the same paragraph was checked as that one's.
            quote = quote_after(following) if is_last or "\n\n" in following else ""
            if quote and not citation.quote and citation.state == "verified":
                checked = await self._citations.check(citation.token, f"“{quote}”")
                said.citations[number] = checked
                if checked.state != "verified":
                    self.answer.notes.append(f"Behind the citation {checked.label}: {checked.reason}: “{quote}”.")

    def _keep_step(self, said: StepInProgress) -> None:
        """What the model thought and said in this step, also where it was cut off. Awaits nothing."""
        for piece in (*said.waiting, *said.splitter.flush()):
            if parse_token(piece) is None:
                self._say(said, piece)
            else:
                self._cite(said, cut_off(piece))
        self.answer.parts += said.kept()
        self._said = None

    async def _run_tools(self, calls: Sequence[ToolCall], step: int) -> None:
        """Run the calls of one step in order; each is in the answer before it runs, so that a stop keeps it."""
        first = len(self.answer.parts)
        self.answer.parts += [
            ToolCallPart(
                well_formed(call.call_id),
                well_formed(call.name),
                well_formed(call.arguments),
                "pending",
                step=step,
                replay=call.replay,
            )
            for call in calls
        ]
        for place in range(first, len(self.answer.parts)):
            pending = self.answer.parts[place]
            assert isinstance(pending, ToolCallPart)
            self.answer.parts[place] = await self._run_tool(pending, len(self.answer.parts) - place)

    async def _run_tool(self, call: ToolCallPart, calls_left: int) -> ToolCallPart:
        """The call with its result; every ToolStarted is followed by a ToolFinished."""
        started = self._monotonic()
        state: ToolState = "cancelled"
        result = ToolResult({}, summary="stopped")
        try:
            result, state = await self._result(call, calls_left)
        finally:
            took = round((self._monotonic() - started) * 1000)
            call_id, summary = call.call_id[:LONGEST_NAME], result.summary[:LONGEST_DETAIL]
            self._emit(ToolFinished(self._session_id, call_id, state, summary, took))
        self._citations.delivered.update(token_for(locator) for locator in result.delivered)
        return replace(
            call,
            state=state,
            result=result.text(),
            delivered=result.delivered,
            summary=result.summary,
            duration_ms=took,
        )

    async def _result(self, call: ToolCallPart, calls_left: int) -> tuple[ToolResult, ToolState]:
        tool = self._tools.get(call.name)
        name = cut(call.name, LONGEST_NAME)
        started = ToolStarted(self._session_id, call.call_id[:LONGEST_NAME], name, name)
        try:
            arguments = parse_arguments(call.arguments)
            if tool is None:
                known = f": use {', '.join(self._tools)}" if self._tools else ""
                raise ToolFault(f"There is no tool {name}{known}.")
            started = replace(started, title=tool.title(arguments))
        except ToolFault as fault:
            self._emit(started)
            return _refused(fault), "error"
        self._emit(started)
        try:
            return await tool.run(arguments, budget=self._budget(calls_left)), "done"
        except (ToolFault, StoreUnavailable) as fault:
            return _refused(fault), "error"

    def _budget(self, calls_left: int) -> int:
        """Estimated tokens a result may take: half of the room left, shared by the step's calls that are to come.

        However little is left, a small result may take half of the model's reserve. Raises ToolFault without even that.
        """
        room = self._room()
        budget = max(SMALLEST_RESULT, min(LARGEST_RESULT, room // (2 * calls_left)))
        if budget > room + self._model.capacity.reserve // 2:
            raise ToolFault(_NO_ROOM)
        return budget


def _refused(fault: Exception) -> ToolResult:
    return ToolResult({"error": str(fault)}, summary=str(fault))


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
