"""A model that answers questions and writes summaries, each by a function of the test: no network and no clock."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.compaction.projection import estimate_request
from bibgenie_desktop.models.port import ModelError, ModelEvent, ModelRequest, StepFinished, TextDelta
from bibgenie_desktop.sessions.usage import Usage
from tests.compaction.chats import summary
from tests.engine.scripted import ROOMY, Act, Gate, ends

Summarise = Callable[[ModelRequest, int], Sequence[Act]]

DENSE = "[user] The goal is to compare observer effort between atlases, in winter and in summer, from 1990 on. " * 3


def perfect(request: ModelRequest, number: int) -> list[Act]:
    """A whole summary, dense enough for any range of these tests."""
    return [TextDelta(summary(f"{DENSE} (summary {number})")), ends()]


def writes(text: str, *, reason: str = "stop") -> Summarise:
    """A summariser that always writes the same."""
    return lambda request, number: [TextDelta(text), ends(reason=reason)]  # type: ignore[arg-type]


def fails(code: str, sentence: str = "It does not work.", *, retry_after: float | None = None) -> Summarise:
    """A summariser that always fails."""
    return lambda request, number: [ModelError(code, sentence, retry_after=retry_after)]  # type: ignore[arg-type]


def after(first: Summarise, *others: Summarise) -> Summarise:
    """One behaviour for each request in turn, the last for all that follow."""
    behaviours = (first, *others)
    return lambda request, number: behaviours[min(number, len(behaviours)) - 1](request, number)


class Researcher:
    """Requests without tools are for a summary (D-11): `summaries` has those, `questions` the others.

    Its usage is real: the estimate of each request, so that tests can reckon with it; `counts` False sends none.
    """

    def __init__(
        self,
        summarise: Summarise = perfect,
        *,
        capacity: Capacity = ROOMY,
        answer: Callable[[ModelRequest, int], Sequence[Act]] | None = None,
        name: str = "researcher",
        counts: bool = True,
    ) -> None:
        self.summaries: list[ModelRequest] = []
        self.questions: list[ModelRequest] = []
        self.name = name
        self.capacity = capacity
        self.writes_summaries = True
        self.closed = False
        self._summarise = summarise
        self._answer = answer or (lambda request, number: [TextDelta(f"Answer {number}."), ends()])
        self._counts = counts

    async def prepare(self) -> None:
        """Nothing is to be loaded."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if request.tools:
            self.questions.append(request)
            acts = self._answer(request, len(self.questions))
        else:
            self.summaries.append(request)
            acts = self._summarise(request, len(self.summaries))
        said = ""
        for act in acts:
            if isinstance(act, Gate):
                act.reached.set()
                await act.opened.wait()
            elif isinstance(act, ModelError):
                raise act
            elif isinstance(act, StepFinished):
                yield StepFinished(act.reason, act.tool_calls, self._usage(request, said))
            else:
                said += act.text if isinstance(act, TextDelta) else ""
                yield act

    async def close(self) -> None:
        self.closed = True

    def _usage(self, request: ModelRequest, said: str) -> Usage:
        tokens = estimate_request(request.system, request.tools, request.messages)
        return Usage(tokens, len(said) // 4 + 1, real=self._counts, cost=0.01)
