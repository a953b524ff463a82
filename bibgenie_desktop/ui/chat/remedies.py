"""What can be done about what a sentence above the composer says went wrong with the context. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

OVERFLOW = "context_overflow"
"""The code of a request that the provider refused as too large (D-1)."""

Remedy: TypeAlias = Literal["try_again", "without_model", "read_refused", "send_again", "compact"]
"""To compact again; to compact without a model (D-12); to read the summary that was refused, which can be taken all the
same (D-6); to compact and then send what stands in the draft (D-1); only to compact."""


@dataclass(frozen=True, slots=True)
class Remedies:
    """The remedies on offer, which belong to a sentence; `run_id` is the attempt whose summary can be read."""

    sentence: str
    kinds: tuple[Remedy, ...]
    run_id: str = ""

    def suit(self, sentence: str) -> bool:
        """Whether they belong to what is said now: the engine may have added what became of the question."""
        return bool(sentence) and sentence.startswith(self.sentence.rstrip("."))
