"""The provider's usage, normalised (D-5): real only where the provider sent it.

litellm puts a usage at the end of every stream and computes it where the provider sent none, without a mark. Only
the chunks it kept tell the two apart. Pure: it is fed plain mappings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..sessions.usage import Usage


def normalise(reported: Mapping[str, Any]) -> Usage | None:
    """Usage in the keys of chat completions as ours; None where it counts no input and so is none."""
    prompt = _mapping(reported.get("prompt_tokens_details"))
    completion = _mapping(reported.get("completion_tokens_details"))
    input_tokens = _count(reported.get("prompt_tokens"))
    output_tokens = _count(reported.get("completion_tokens"))
    if input_tokens == 0:
        return None
    cached = _count(prompt.get("cached_tokens")) or _count(reported.get("cache_read_input_tokens"))
    written = _count(prompt.get("cache_creation_tokens")) or _count(reported.get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        reasoning_tokens=min(_count(completion.get("reasoning_tokens")), output_tokens),
        cached_tokens=min(cached, input_tokens),
        cache_write_tokens=min(written, input_tokens),
        turn_input_tokens=input_tokens,
        turn_output_tokens=output_tokens,
        real=True,
    )


def estimated(input_tokens: int, output_tokens: int) -> Usage:
    """Usage by our own estimate, which anchors nothing."""
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        turn_input_tokens=input_tokens,
        turn_output_tokens=output_tokens,
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
