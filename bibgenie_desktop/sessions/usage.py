"""The provider's count of tokens for one answer, normalised (C-5, D-5)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeGuard


class MalformedUsage(ValueError):
    """Stored usage that cannot be read."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer; all counts are 0 or more.

    `input_tokens` is the whole prompt of the answer's last model step, cached parts included once, and
    `output_tokens` that step's output, reasoning included: together they are the context's occupancy. The
    `turn_` sums add up all steps and serve billing only; they never measure occupancy. `real` is False where
    the provider sent no usage and the numbers are our estimate: such usage anchors nothing (D-5).
    `checkpoint_id` names the checkpoint that the request was built on, None if there was none.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    steps: int = 1
    turn_input_tokens: int = 0
    turn_output_tokens: int = 0
    real: bool = False
    checkpoint_id: str | None = None
    cost: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The keys documented in docs/data.md."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: object) -> Usage:
        """Read what `to_json` writes; unknown keys are left out, so that an older program reads a newer row.

        Raises MalformedUsage.
        """
        if not isinstance(data, Mapping):
            raise MalformedUsage(f"usage is an object, not {type(data).__name__}")
        known = {field.name for field in fields(cls)} & data.keys()
        for key in known:
            if not _fits(key, data[key]):
                raise MalformedUsage(f"the usage's {key} is {data[key]!r}")
        return cls(**{key: data[key] for key in known})


def _fits(key: str, value: object) -> bool:
    match key:
        case "real":
            return isinstance(value, bool)
        case "checkpoint_id":
            return value is None or isinstance(value, str)
        case "cost":
            return value is None or (_is_number(value) and 0 <= value < math.inf)
        case _:
            return isinstance(value, int) and _is_number(value) and value >= 0


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
