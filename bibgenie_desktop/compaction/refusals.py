"""What a summariser answered, and why it cannot be used: values of the check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summarised:
    """One whole answer of a summariser. `finish` is why it ended: `stop` alone is a whole one."""

    text: str
    finish: str
    tool_calls: int = 0
    reasoning_characters: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a summary is not used: a code, and a plain sentence for the person and for the model."""

    code: str
    sentence: str
