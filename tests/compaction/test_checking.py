"""The check of a summary: each way of going wrong has its code, and the first one is told (D-6, C-14)."""

from __future__ import annotations

from typing import Any

import pytest

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.compaction.checking import Refusal, Summarised, check, check_gain
from bibgenie_desktop.compaction.estimate import estimate_text
from bibgenie_desktop.sessions.checkpoints import SECTIONS
from tests.compaction.chats import summary
from tests.compaction.test_language import TEXTS

pytestmark = pytest.mark.req("D-6", "C-14")

CAPACITY = Capacity(64_000, 8_000, True)
DENSE = TEXTS["en"] + " "
GOOD = summary(DENSE * 2)


def refusal(text: str = GOOD, finish: str = "stop", tool_calls: int = 0, thought: int = 0, **changes: Any) -> str:
    made: dict[str, Any] = {
        "trigger": "automatic",
        "range_tokens": 10_000,
        "capacity": CAPACITY,
        "language": "en",
        "tokens_before": 50_000,
        "tokens_after": lambda text: 5_000,
        "size": estimate_text,
    }
    found = check(Summarised(text, finish, tool_calls, thought), **(made | changes))
    return found.code if found is not None else ""


def test_a_good_summary_passes_in_every_way_of_beginning() -> None:
    assert [refusal(trigger=trigger) for trigger in ("automatic", "preflight", "manual")] == ["", "", ""]


@pytest.mark.parametrize(
    ("finish", "calls", "code"),
    [
        ("length", 0, "finish_length"),
        ("content_filter", 0, "finish_filter"),
        ("stop", 1, "finish_tool_call"),
        ("tool_call", 0, "finish_tool_call"),
        ("weird", 0, "finish_unknown"),
        ("", 0, "finish_unknown"),
    ],
)
def test_only_a_summary_that_ended_by_itself_is_whole(finish: str, calls: int, code: str) -> None:
    assert refusal(finish=finish, tool_calls=calls) == code


@pytest.mark.parametrize(("thought", "code"), [(0, "empty"), (4_000, "only_reasoning")])
@pytest.mark.parametrize("text", ["", "  \n "])
def test_nothing_is_no_summary_and_thinking_is_none_either(text: str, thought: int, code: str) -> None:
    assert refusal(text, thought=thought) == code


@pytest.mark.parametrize("section", SECTIONS)
def test_each_of_the_eight_sections_is_needed(section: str) -> None:
    assert refusal(GOOD.replace(f"## {section}\n", "")) == "missing_section"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I cannot help with that.", "missing_section"),
        (summary(""), "only_headings"),
        (summary("None."), "only_headings"),
        (summary("–"), "only_headings"),
        (f"{GOOD}\n<tool_call>search</tool_call>", "tool_protocol"),
        (f"<think>well</think>\n{GOOD}", "tool_protocol"),
        (f"{GOOD}\n=== USER, 2026-11-30\nWhy?\n=== ASSISTANT, 2026-11-30\nSo.", "echo"),
    ],
)
def test_what_is_no_summary_is_refused(text: str, code: str) -> None:
    assert refusal(text) == code


def test_a_summary_is_not_too_thin_for_what_it_stands_for_nor_above_its_budget() -> None:
    thin = summary("Birds.")
    assert refusal(thin, range_tokens=20_000) == "too_thin"
    assert refusal(thin, range_tokens=200) == "too_thin"
    assert refusal(thin, range_tokens=200, trigger="manual") == ""
    assert refusal(thin, range_tokens=200_000, trigger="manual") == "too_thin"
    assert refusal(summary(DENSE * 60)) == "too_long"


def test_the_language_is_that_of_the_conversation() -> None:
    assert refusal(summary(TEXTS["de"] * 3)) == "language"
    assert refusal(summary(TEXTS["de"] * 3), language="") == ""


def test_enough_is_freed_by_what_began_it() -> None:
    def code(trigger: Any, before: int, after: int) -> str:
        found = check_gain(trigger, capacity=CAPACITY, tokens_before=before, tokens_after=after)
        return found.code if found else ""

    gain, low, limit = CAPACITY.least_gain, CAPACITY.low_water, CAPACITY.safe_input_limit
    assert code("automatic", low + gain, low) == ""
    assert code("automatic", low + gain - 1, low) == "no_gain"
    assert code("automatic", limit, low + 1) == "no_gain"
    assert code("preflight", 10 * limit, limit) == ""
    assert code("preflight", 10 * limit, limit + 1) == "no_gain"
    assert code("manual", 1_000, 2_000) == ""


def test_a_piece_that_others_follow_frees_nothing_yet() -> None:
    assert refusal(tokens_after=lambda text: 60_000) == "no_gain"
    assert refusal(tokens_after=None) == ""


def test_the_first_thing_that_is_wrong_is_told_in_the_order_of_the_rules() -> None:
    def ledger(text: str) -> Refusal:
        return Refusal("ledger", "Something is missing.")

    wrong = TEXTS["de"]
    huge = summary(wrong * 60)
    everything: dict[str, Any] = {"ledger": ledger, "tokens_after": lambda text: 60_000}
    assert refusal(huge.replace("## Decisions", ""), "length", **everything) == "finish_length"
    assert refusal(huge.replace("## Decisions", ""), **everything) == "missing_section"
    assert refusal(huge, **everything) == "too_long"
    assert refusal(summary(wrong * 3), **everything) == "language"
    assert refusal(GOOD, **everything) == "ledger"
    assert refusal(GOOD, tokens_after=lambda text: 60_000) == "no_gain"
