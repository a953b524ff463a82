"""The compaction operation, played in every order of what can happen: always one outcome (C-9, D-11)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.compaction.checking import Summarised
from bibgenie_desktop.compaction.counted import Counted
from bibgenie_desktop.compaction.estimate import estimate_text
from bibgenie_desktop.compaction.operation import (
    DEADLINE,
    RETRIES,
    SHRINKS,
    TRANSIENT,
    Ask,
    Commit,
    Ended,
    Operation,
    Pause,
    Step,
    WrongStep,
)
from bibgenie_desktop.compaction.policy import Plan, Policy, Wish
from bibgenie_desktop.compaction.projection import project
from bibgenie_desktop.compaction.prompts import normalised
from bibgenie_desktop.sessions.checkpoints import OUTCOMES
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.usage import Usage
from tests.compaction.chats import dialogue, summary

pytestmark = pytest.mark.req("C-9", "C-14", "D-11")

ROOMY = Capacity(128_000, 8_000, True)
GOOD = summary(
    "[user] The goal is to compare observer effort between atlases, in winter and in summer, since 1990. " * 2
)
USAGE = Usage(1_000, 200, real=True, cost=0.5)


def operation(
    path: list[Node] | None = None, *, capacity: Capacity = ROOMY, summariser: Capacity = ROOMY, **changes: Any
) -> Operation:
    path = path or dialogue(4, size=4_000)
    counted = Counted()
    policy = Policy(capacity, counted=counted)
    plan = policy.by_hand(
        policy.ground(path, {}, project("system", (), path, counted=counted), model="scripted"), Wish()
    )
    assert isinstance(plan, Plan)
    plan = replace(plan, **changes)
    return Operation(
        plan,
        capacity,
        summariser,
        "scripted",
        tokens_after=lambda text: policy.tokens_after(plan, text),
        summary_tokens=estimate_text,
        language="en",
        begun=0.0,
    )


def good(text: str = GOOD) -> Summarised:
    return Summarised(text, "stop")


def test_the_straight_way() -> None:
    made = operation()
    asked = made.begin(0)
    assert isinstance(asked, Ask)
    assert (asked.piece, asked.pieces, asked.is_repair, made.phase) == (1, 1, False, "summarising")
    committing = made.answered(good(), USAGE, 12.5)
    assert isinstance(committing, Commit)
    new = committing.checkpoint
    assert (new.kind, new.trigger, new.hangs_on, new.duration_ms, new.cost) == (
        "summarised",
        "manual",
        "a4",
        12_500,
        0.5,
    )
    assert new.summary == normalised(GOOD)
    assert new.validation["pieces"] == 1
    assert made.committed().outcome == "applied"


def test_a_second_refusal_ends_it_and_keeps_the_text_that_was_refused() -> None:
    made = operation()
    made.begin(0)
    repair = made.answered(good("Not a summary."), USAGE, 1)
    assert isinstance(repair, Ask)
    assert repair.is_repair
    assert "Not a summary." in repair.user
    ended = made.answered(good("Again not."), USAGE, 2)
    assert isinstance(ended, Ended)
    assert (ended.outcome, ended.reason, ended.refused_text) == ("failed", "missing_section", "Again not.")
    assert made.spent.requests == 2
    assert (made.spent.input_tokens, made.spent.cost) == (2_000, 1.0)


def test_there_is_one_repair_in_the_whole_operation_also_over_many_pieces() -> None:
    made = operation(
        dialogue(12, size=6_000), summariser=Capacity(8_192, 2_000, True), capacity=Capacity(32_000, 2_000, True)
    )
    step = made.begin(0)
    assert isinstance(step, Ask)
    assert step.pieces > 2
    step = made.answered(good("No."), USAGE, 1)
    assert isinstance(step, Ask)
    assert (step.is_repair, step.piece) == (True, 1)
    step = made.answered(good(), USAGE, 2)
    assert isinstance(step, Ask)
    assert (step.is_repair, step.piece) == (False, 2)
    assert "observer effort between atlases" in step.user
    ended = made.answered(good("No."), USAGE, 3)
    assert isinstance(ended, Ended)


@pytest.mark.parametrize(
    "code", ["authentication", "quota", "missing_key", "bad_request", "unknown_model", "permission"]
)
def test_a_fault_that_does_not_pass_ends_it_at_once(code: str) -> None:
    made = operation()
    made.begin(0)
    ended = made.failed(code, "The key was refused.", None, 1)
    assert isinstance(ended, Ended)
    assert (ended.outcome, ended.reason) == ("failed", code)
    assert "the key was refused" in ended.sentence


def test_nothing_is_waited_for_beyond_the_deadline() -> None:
    made = operation()
    made.begin(0)
    ended = made.failed("rate_limit", "Too many requests.", DEADLINE, 1)
    assert isinstance(ended, Ended)
    assert ended.outcome == "failed"
    late = operation()
    late.begin(0)
    assert isinstance(late.failed("server", "It failed.", None, 1), Pause)
    ended = late.waited(DEADLINE)
    assert isinstance(ended, Ended)
    assert ended.reason == "deadline"


def test_a_request_that_is_sent_again_is_the_same_and_one_that_was_too_large_is_not() -> None:
    made = operation()
    first = made.begin(0)
    made.failed("connection", "It broke.", None, 1)
    assert made.waited(3) is first
    smaller = made.failed("context_overflow", "Too large.", None, 4)
    assert isinstance(smaller, Ask)
    assert isinstance(first, Ask)
    assert len(smaller.user) < len(first.user)
    assert smaller.pieces > 1


def test_what_needs_no_model_is_committed_at_once() -> None:
    made = operation(kind="carried", summary=GOOD)
    assert isinstance(made.begin(0), Commit)
    without_gain = operation(kind="derived", summary=GOOD, trigger="automatic")
    ended = without_gain.begin(0)
    assert isinstance(ended, Ended)
    assert ended.reason == "no_gain"


def test_a_summariser_with_a_tiny_window_is_named() -> None:
    ended = operation(summariser=Capacity(2_048, 1_024, True)).begin(0)
    assert isinstance(ended, Ended)
    assert ended.reason == "summariser_too_small"


def test_what_is_told_out_of_turn_is_a_mistake_of_the_driver() -> None:
    made = operation()
    wrong: list[Callable[[], object]] = [
        lambda: made.answered(good(), USAGE, 0),
        made.committed,
        made.went_stale,
        lambda: made.waited(0),
    ]
    for tell in wrong:
        with pytest.raises(WrongStep):
            tell()
    made.begin(0)
    with pytest.raises(WrongStep):
        made.begin(0)


class Played(RuleBasedStateMachine):
    """Whatever happens in whatever order, within bounded steps there is one outcome, and it stays."""

    def __init__(self) -> None:
        super().__init__()
        self.made = operation(
            dialogue(10, size=5_000), summariser=Capacity(8_192, 2_000, True), capacity=Capacity(32_000, 2_000, True)
        )
        self.now = 0.0
        self.step: Step = self.made.begin(0)
        self.outcome: Ended | None = None
        self.asked = 1

    def told(self, step: Step) -> None:
        self.step = step
        self.asked += isinstance(step, Ask)
        if isinstance(step, Ended):
            self.outcome = self.outcome or step

    def waits(self, kind: type[Any]) -> bool:
        return isinstance(self.step, kind)

    @precondition(lambda self: self.waits(Ask))
    @rule(
        text=st.sampled_from([GOOD, "", "No.", summary(""), GOOD.replace("## Decisions", "")]),
        finish=st.sampled_from(["stop", "length"]),
    )
    def answers(self, text: str, finish: str) -> None:
        self.told(self.made.answered(Summarised(text, finish), USAGE, self.now))

    @precondition(lambda self: self.waits(Ask))
    @rule(
        code=st.sampled_from([*sorted(TRANSIENT), "authentication", "context_overflow"]),
        after=st.sampled_from([None, 1.0, 500.0]),
    )
    def fails(self, code: str, after: float | None) -> None:
        self.told(self.made.failed(code, "It does not work.", after, self.now))

    @precondition(lambda self: self.waits(Pause))
    @rule()
    def waits_for_it(self) -> None:
        assert isinstance(self.step, Pause)
        self.now += self.step.seconds
        self.told(self.made.waited(self.now))

    @precondition(lambda self: self.waits(Commit))
    @rule(how=st.sampled_from(["committed", "went_stale", "not_stored"]))
    def commits(self, how: str) -> None:
        ended = self.made.not_stored("busy", "The file is busy.") if how == "not_stored" else getattr(self.made, how)()
        self.told(ended)

    @precondition(lambda self: self.outcome is None)
    @rule(seconds=st.sampled_from([1.0, 60.0, 200.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def cancels(self) -> None:
        self.told(self.made.cancelled())

    @rule()
    def is_too_late(self) -> None:
        if not self.waits(Commit):
            self.told(self.made.late())

    @invariant()
    def the_first_outcome_stays_and_is_one_of_six(self) -> None:
        if self.outcome is not None:
            assert self.made.ended == self.outcome
            assert self.outcome.outcome in OUTCOMES
            assert self.outcome.sentence
            assert self.made.phase == "ended"

    @invariant()
    def what_is_paid_for_is_bounded_and_counted(self) -> None:
        assert self.made.spent.requests == self.asked
        assert self.asked <= (len(self.made._pieces) or 1) + 1 + RETRIES + SHRINKS


TestPlayed = Played.TestCase
TestPlayed.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
