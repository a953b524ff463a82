"""Checkpoints and what a compaction can come to (C-2, C-17, D-6): values that every room speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

Trigger: TypeAlias = Literal["manual", "automatic", "preflight"]
"""What a compaction begins with (C-3)."""

CheckpointKind: TypeAlias = Literal["summarised", "carried", "rebuilt", "derived", "deterministic", "edited"]
"""How a checkpoint's summary came to be: written from the last one and what followed; carried over unchanged (D-3);
written from the stored messages (C-12); taken over from another branch (D-9); put together without a model (D-12);
changed by a person."""

Outcome: TypeAlias = Literal["applied", "noop", "skipped", "failed", "cancelled", "stale"]
"""What every compaction ends with, exactly one of them."""

TRIGGERS: frozenset[str] = frozenset(get_args(Trigger))
KINDS: frozenset[str] = frozenset(get_args(CheckpointKind))
OUTCOMES: frozenset[str] = frozenset(get_args(Outcome))

SECTIONS = (
    "Research Goal",
    "User Requirements and Constraints",
    "Research Progress",
    "Findings and Evidence",
    "Key Zotero Resources",
    "Decisions",
    "Next Steps",
    "Critical Context",
)
"""The headings of a summary, in their order; they are not translated (C-10)."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is stored of a checkpoint beside its node; docs/data.md says what each means.

    `first_kept_message_id` is where verbatim text begins again, None: with the node after the checkpoint (D-2).
    `covered_from_id` to `covered_to_id` is the range that this summary newly stands for (D-4); what lies before is
    covered by the checkpoints before it. Tokens are occupancies before and after, as the policy measured them.
    """

    node_id: str
    kind: str
    first_kept_message_id: str | None
    summary: str
    generation: int
    trigger: str
    model: str | None
    prompt_version: str | None
    covered_from_id: str | None
    covered_to_id: str | None
    tokens_before: int | None
    tokens_after: int | None
    validation: Any
    duration_ms: int | None
    cost: float | None
    created_at: str


@dataclass(frozen=True, slots=True)
class NewCheckpoint:
    """A checkpoint before it is stored: everything but its id and its time.

    `hangs_on` is the node that it will hang on. `provenance` joins `validation` in the store: versions of serialiser
    and checker, focus, the checkpoint it was derived from.
    """

    hangs_on: str
    kind: CheckpointKind
    first_kept_message_id: str | None
    summary: str
    generation: int
    trigger: Trigger
    model: str | None
    prompt_version: str
    covered_from_id: str | None
    covered_to_id: str | None
    tokens_before: int
    tokens_after: int
    validation: Mapping[str, Any] = field(default_factory=dict)
    duration_ms: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class CompactionRun:
    """One attempt, whatever came of it (C-17). `reason` is a code, "" where the outcome says all.

    `refused_text` is a summary that was not accepted, "" for none. Tokens and cost are what the summariser was paid
    for; they are billing and never measure occupancy (I5).
    """

    id: str
    session_id: str
    trigger: Trigger
    outcome: Outcome
    reason: str
    started_at: str
    finished_at: str
    checkpoint_id: str = ""
    refused_text: str = ""
    model: str = ""
    prompt_version: str = ""
    kind: str = ""
    generation: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
