"""The check of a summary, in one order (D-6): how it ended, its sections, size, language, ledger, gain.

The first thing that is wrong is what is told. The place of the ledger's check is kept: nothing is looked at there yet.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..sessions.checkpoints import SECTIONS, Trigger
from .capacity import Capacity
from .language import differs
from .prompts import bodies
from .refusals import Refusal, Summarised

__all__ = ["VERSION", "Refusal", "Summarised", "check", "check_gain"]

VERSION = "check-1"

FLOOR = 0.015
"""Of the range's tokens: a summary below it has forgotten what it stands for (H20)."""
LEAST, FLOOR_LIMIT = 60, 600
"""Tokens: the floor is never below the first, and above the second size is no sign any more."""
CAP = 1.25
"""Times the summary's budget: one above it grows from generation to generation (H18)."""

_PROTOCOL = re.compile(
    r"<\|?(?:tool_call|function_call|think|thinking|im_start|im_end)\b|\[TOOL_CALLS\]", re.IGNORECASE
)
_ECHO = re.compile(r"^=== (?:USER|ASSISTANT), ", re.MULTILINE)
_EMPTY = frozenset(
    {"", "none", "n/a", "-", "–", "—", "keine", "aucun", "aucune", "ninguno", "ninguna", "nessuno", "nessuna"}
)

_FINISH = {
    "length": Refusal("finish_length", "The summary was cut off at the model's longest output."),
    "content_filter": Refusal("finish_filter", "The provider's filter ended the summary."),
    "tool_call": Refusal("finish_tool_call", "The model called a tool instead of writing the summary."),
}


def check(
    summarised: Summarised,
    *,
    trigger: Trigger,
    range_tokens: int,
    capacity: Capacity,
    language: str,
    tokens_before: int,
    tokens_after: Callable[[str], int] | None,
    size: Callable[[str], int],
    ledger: Callable[[str], Refusal | None] | None = None,
) -> Refusal | None:
    """What is wrong with a summary, None for nothing.

    `range_tokens` are those of what it stands for, `size` estimates a text. `tokens_after` measures the projection with
    it, None for a piece that others follow. By hand there is no rule about gain, and none about the size of a summary
    of little.
    """
    text = summarised.text.strip()
    if (refusal := _ended(summarised, text)) is not None:
        return refusal
    found = bodies(text)
    refusal = (
        _sections(text, found)
        or _size(text, found, trigger, range_tokens, capacity, size)
        or (_language(found, language))
        or (ledger(text) if ledger is not None else None)
    )
    if refusal is not None or tokens_after is None:
        return refusal
    return check_gain(trigger, capacity=capacity, tokens_before=tokens_before, tokens_after=tokens_after(text))


def check_gain(trigger: Trigger, *, capacity: Capacity, tokens_before: int, tokens_after: int) -> Refusal | None:
    """Whether enough is freed, by what began the compaction (D-6)."""
    if trigger == "preflight" and not capacity.fits(tokens_after):
        over = tokens_after - capacity.safe_input_limit
        return Refusal("no_gain", f"With this summary the request is still about {over:,} tokens too large.")
    if trigger == "automatic" and (
        tokens_before - tokens_after < capacity.least_gain or tokens_after > capacity.low_water
    ):
        return Refusal(
            "no_gain",
            f"This summary frees too little: about {tokens_before:,} tokens would become about {tokens_after:,}.",
        )
    return None


def _ended(summarised: Summarised, text: str) -> Refusal | None:
    if summarised.tool_calls:
        return _FINISH["tool_call"]
    if summarised.finish != "stop":
        unknown = Refusal("finish_unknown", "The summary ended in a way that is not known.")
        return _FINISH.get(summarised.finish, unknown)
    if not text and summarised.reasoning_characters:
        return Refusal(
            "only_reasoning",
            f"The model only thought, for {summarised.reasoning_characters:,} characters, and wrote no summary.",
        )
    return None if text else Refusal("empty", "The model wrote nothing.")


def _sections(text: str, found: dict[str, str]) -> Refusal | None:
    if _PROTOCOL.search(text):
        return Refusal("tool_protocol", "The summary holds marks of the model's own protocol.")
    if len(_ECHO.findall(text)) > 1:
        return Refusal("echo", "The model repeated the conversation instead of summarising it.")
    missing = [name for name in SECTIONS if name not in found]
    if len(missing) == len(SECTIONS):
        return Refusal(
            "missing_section", "The model wrote something else than a summary: all its sections are missing."
        )
    if missing:
        named = ", ".join(f"“{name}”" for name in missing)
        return Refusal("missing_section", f"Sections of the summary are missing: {named}.")
    if all(body.strip(" .*_").casefold() in _EMPTY for body in found.values()):
        return Refusal("only_headings", "All sections of the summary are empty.")
    return None


def _size(
    text: str,
    found: dict[str, str],
    trigger: Trigger,
    range_tokens: int,
    capacity: Capacity,
    size: Callable[[str], int],
) -> Refusal | None:
    tokens = size(text)
    if tokens > capacity.summary_budget * CAP:
        return Refusal("too_long", f"The summary is too long: about {tokens:,} tokens of {capacity.summary_budget:,}.")
    said = size("\n".join(found.values()))
    floor = min(FLOOR_LIMIT, max(LEAST, int(range_tokens * FLOOR)))
    if said < floor and (trigger != "manual" or range_tokens > capacity.summary_budget * 4):
        return Refusal("too_thin", f"The summary says too little: about {said:,} tokens for {range_tokens:,}.")
    return None


def _language(found: dict[str, str], expected: str) -> Refusal | None:
    if differs("\n".join(found.values()), expected):
        return Refusal("language", "The summary is not in the language of the conversation.")
    return None
