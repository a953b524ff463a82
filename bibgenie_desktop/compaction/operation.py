"""The compaction operation as a state machine, without a clock and without I/O (C-9, C-14, D-6, D-11).

idle → preparing → summarising → checking → (repairing → checking) → committing → one outcome. Whoever drives it carries
out each step and tells what came of it; the time is passed in. So every way through it can be played in a test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..sessions.checkpoints import NewCheckpoint, Outcome
from ..sessions.usage import Usage
from . import checking, prompts, serialise
from .capacity import Capacity
from .checking import Refusal, Summarised
from .folding import pieces
from .policy import Plan

Phase: TypeAlias = Literal["idle", "preparing", "summarising", "checking", "repairing", "committing", "ended"]

DEADLINE = 180.0
"""Seconds that a whole operation may take (D-11)."""
RETRIES = 2
"""Of requests that failed by a fault that may pass, in the whole operation (D-11)."""
SHRINKS = 3
"""So often what is sent at once is halved where the summariser takes less than it said (C1, B9)."""
PAUSE = 2.0
"""Seconds before a request is sent again, where the provider names no time."""
ADVICE_TOKENS = 150
"""What a second attempt is told beside the material."""
SMALLEST_PIECE = 500
"""Tokens: less is not worth a request."""

TRANSIENT: frozenset[str] = frozenset({"connection", "timeout", "interrupted", "server", "rate_limit", "empty"})
"""Codes of faults that may pass; others fail the operation at once (B8, I1)."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Send this to the summariser; tell `answered` or `failed`."""

    system: str
    user: str
    max_output: int
    piece: int
    pieces: int
    is_repair: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for as many seconds; tell `waited`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Commit:
    """Store this checkpoint; tell `committed`, `went_stale`, `not_stored` or `cancelled`."""

    checkpoint: NewCheckpoint


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of it. `refused_text` is a summary that was not accepted; `sentence` is for the person."""

    outcome: Outcome
    reason: str
    sentence: str
    refused_text: str = ""


Step: TypeAlias = Ask | Pause | Commit | Ended


@dataclass(slots=True)
class Spent:
    """What the summariser was paid for."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    def add(self, usage: Usage) -> None:
        """One more request."""
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        if usage.cost is not None:
            self.cost = (self.cost or 0.0) + usage.cost


class WrongStep(RuntimeError):
    """The driver told of something that the operation does not wait for."""


@dataclass(slots=True)
class Operation:
    """One compaction of one plan.

    `summariser` is the capacity of the model that writes the summary, `model` its name, None where none is asked.
    `capacity` is that of the chat's model: the summary's budget comes from it. `tokens_after` measures the projection
    with a summary. `summary_tokens` estimates a text for the summariser. `language` is the conversation's. `begun` is
    the time at the start, in seconds of the driver's own clock.
    """

    plan: Plan
    capacity: Capacity
    summariser: Capacity
    model: str | None
    tokens_after: Callable[[str], int]
    summary_tokens: Callable[[str], int]
    language: str
    begun: float
    deadline: float = DEADLINE
    phase: Phase = "idle"
    spent: Spent = field(default_factory=Spent)
    ended: Ended | None = None
    repaired: str = ""
    _entries: list[serialise.Entry] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _at: int = 0
    _limit: int = 0
    _previous: str = ""
    _last_ask: Ask | None = None
    _retries: int = RETRIES
    _shrinks: int = SHRINKS
    _refused: Refusal | None = None
    _refused_text: str = ""

    def begin(self, now: float) -> Step:
        """The first step."""
        self._expect("idle")
        self.phase = "preparing"
        plan = self.plan
        if plan.summary or plan.kind == "carried":
            return self._without_asking(now)
        self._previous = plan.previous
        self._entries = serialise.serialise(plan.source)
        self._limit = self._room()
        if self._limit < SMALLEST_PIECE:
            return self._end(
                "failed", "summariser_too_small", "The model that writes summaries has too small a window for it."
            )
        self._pieces = pieces(self._entries, self._limit, self.summary_tokens)
        return self._ask(now)

    def answered(self, summarised: Summarised, usage: Usage, now: float) -> Step:
        """The summariser's whole answer, and what it cost."""
        self._expect("summarising", "repairing")
        self.spent.add(usage)
        self.phase = "checking"
        is_last = self._at == len(self._pieces) - 1
        refusal = self._check(summarised, is_last=is_last)
        if refusal is None:
            text = prompts.normalised(summarised.text)
            if is_last:
                return self._commit(text, now)
            self._previous, self._at, self._refused = text, self._at + 1, None
            return self._ask(now)
        if self.repaired:
            self._refused_text = summarised.text
            return self._refuse(refusal)
        self.repaired = refusal.code
        self._refused, self._refused_text = refusal, summarised.text
        return self._ask(now)

    def failed(self, code: str, sentence: str, retry_after: float | None, now: float) -> Step:
        """The summariser could not answer."""
        self._expect("summarising", "repairing")
        if code == "context_overflow":
            return self._shrink(sentence, now)
        wait = retry_after if retry_after is not None else PAUSE
        if code not in TRANSIENT or not self._retries:
            return self._end("failed", code, f"The summary could not be written: {_lower(sentence)}")
        if now + wait >= self.begun + self.deadline:
            return self._end("failed", code, f"The summary could not be written in time: {_lower(sentence)}")
        self._retries -= 1
        return Pause(wait)

    def waited(self, now: float) -> Step:
        """The pause is over: the same request is sent again."""
        self._expect("summarising", "repairing")
        if self._last_ask is None:
            raise WrongStep("nothing was asked")
        if self._is_late(now):
            return self.late()
        self.spent.requests += 1
        return self._last_ask

    def late(self) -> Ended:
        """The deadline passed before the commit."""
        if self.ended is not None:
            return self.ended
        return self._end(
            "failed", "deadline", f"The summary was not written within {self.deadline:.0f} seconds; nothing is changed."
        )

    def cancelled(self) -> Ended:
        """The person cancelled before anything was stored; after a commit its outcome stands."""
        if self.ended is not None:
            return self.ended
        return self._end("cancelled", "", "Compacting was cancelled; the chat is as it was.")

    def committed(self) -> Ended:
        """The checkpoint is stored: whatever comes, this is what came of it."""
        self._expect("committing")
        return self._end("applied", "", "Earlier context is compacted.")

    def went_stale(self) -> Ended:
        """The branch changed meanwhile: the summary is of a branch that is no more."""
        self._expect("committing")
        return self._end(
            "stale", "stale", "The chat changed while it was compacted; nothing was stored: compact it again."
        )

    def not_stored(self, code: str, sentence: str) -> Ended:
        """The store refused or failed."""
        self._expect("committing")
        return self._end("failed", code, sentence)

    def _without_asking(self, now: float) -> Step:
        """A summary that is known: carried over, derived, put together, or accepted by hand."""
        self.phase = "checking"
        plan = self.plan
        if plan.kind in ("derived", "deterministic") and not self._has_gain(plan.summary):
            return self._refuse(self._no_gain(plan.summary))
        return self._commit(plan.summary, now)

    def _ask(self, now: float) -> Step:
        if self._is_late(now):
            return self.late()
        plan, budget = self.plan, self.capacity.summary_budget
        material = prompts.Material(
            self._previous,
            self._pieces[self._at],
            self.language,
            budget,
            plan.focus,
            self._at + 1,
            len(self._pieces),
        )
        if self._refused is not None:
            self.phase = "repairing"
            system, user = prompts.repair_request(material, self._refused_text, self._refused)
            if self.summary_tokens(system) + self.summary_tokens(user) > self.summariser.safe_input_limit:
                # What was wrong is told; what was written must make way for the material.
                system, user = prompts.repair_request(material, "", self._refused)
        else:
            self.phase = "summarising"
            system, user = prompts.summary_request(material)
        self.spent.requests += 1
        self._last_ask = Ask(
            system, user, self._max_output(), self._at + 1, len(self._pieces), self._refused is not None
        )
        return self._last_ask

    def _max_output(self) -> int:
        """The whole reserve: thinking counts as output too, and must not eat the summary (C11)."""
        longest = max(self.capacity.summary_budget, min(self.capacity.reserve, self.summariser.reserve))
        return longest if self.summariser.max_output is None else min(longest, self.summariser.max_output)

    def _room(self) -> int:
        """Tokens of transcript that one request to the summariser takes, with a summary before it."""
        system, user = prompts.summary_request(prompts.Material("", "", self.language, self.capacity.summary_budget))
        instruction = self.summary_tokens(system) + self.summary_tokens(user) + self.summary_tokens(self.plan.focus)
        previous = max(self.summary_tokens(self.plan.previous), self.capacity.summary_budget)
        return self.summariser.safe_input_limit - instruction - previous - ADVICE_TOKENS

    def _shrink(self, sentence: str, now: float) -> Step:
        """The summariser takes less than it said: halve what is sent at once, and go on with what is left."""
        if not self._shrinks or self._limit // 2 < SMALLEST_PIECE:
            return self._end("failed", "context_overflow", f"The summary could not be written: {_lower(sentence)}")
        self._shrinks -= 1
        self._limit = min(self._limit, self.summary_tokens(self._pieces[self._at])) // 2
        left = self._pieces[self._at :]
        done = self._pieces[: self._at]
        again = pieces([serialise.Entry("", "user", text) for text in left], self._limit, self.summary_tokens)
        self._pieces = [*done, *again]
        self._refused = None
        return self._ask(now)

    def _check(self, summarised: Summarised, *, is_last: bool) -> Refusal | None:
        plan = self.plan
        return checking.check(
            summarised,
            trigger=plan.trigger,
            range_tokens=plan.range_tokens,
            capacity=self.capacity,
            language=self.language,
            tokens_before=plan.ground.occupancy.tokens,
            tokens_after=self.tokens_after if is_last else None,
            size=self.summary_tokens,
        )

    def _has_gain(self, summary: str) -> bool:
        return (
            checking.check_gain(
                self.plan.trigger,
                capacity=self.capacity,
                tokens_before=self.plan.ground.occupancy.tokens,
                tokens_after=self.tokens_after(summary),
            )
            is None
        )

    def _no_gain(self, summary: str) -> Refusal:
        refusal = checking.check_gain(
            self.plan.trigger,
            capacity=self.capacity,
            tokens_before=self.plan.ground.occupancy.tokens,
            tokens_after=self.tokens_after(summary),
        )
        assert refusal is not None
        return refusal

    def _commit(self, summary: str, now: float) -> Step:
        self.phase = "committing"
        plan = self.plan
        validation: dict[str, Any] = {
            "checker": checking.VERSION,
            "serialiser": serialise.VERSION,
            "pieces": len(self._pieces),
            "language": self.language,
        }
        if self.repaired:
            validation["repaired"] = self.repaired
        if plan.focus:
            validation["focus"] = plan.focus
        if plan.derived_from:
            validation["derived_from"] = plan.derived_from
        if plan.summary and plan.kind in ("summarised", "rebuilt"):
            validation["accepted_by_hand"] = True
        return Commit(
            NewCheckpoint(
                plan.ground.leaf,
                plan.kind,
                plan.first_kept_message_id,
                summary,
                plan.generation,
                plan.trigger,
                self.model,
                prompts.VERSION,
                plan.covered_from_id,
                plan.covered_to_id,
                plan.ground.occupancy.tokens,
                self.tokens_after(summary),
                validation,
                round((now - self.begun) * 1000),
                self.spent.cost,
            )
        )

    def _refuse(self, refusal: Refusal) -> Ended:
        return self._end(
            "failed", refusal.code, f"{refusal.sentence} The chat is as it was.", refused_text=self._refused_text
        )

    def _end(self, outcome: Outcome, reason: str, sentence: str, refused_text: str = "") -> Ended:
        self.phase = "ended"
        self.ended = Ended(outcome, reason, sentence, refused_text)
        return self.ended

    def _is_late(self, now: float) -> bool:
        return now >= self.begun + self.deadline

    def _expect(self, *phases: Phase) -> None:
        if self.phase not in phases:
            raise WrongStep(f"the operation is {self.phase}, not {' or '.join(phases)}")


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
