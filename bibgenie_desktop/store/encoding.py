"""How times and JSON are written into the files, and read from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from ..sessions.parts import Part, UndecodablePart, parts_from_json, parts_to_json
from ..sessions.text import well_formed

Clock = Callable[[], datetime]


def timestamp(moment: datetime) -> str:
    """UTC in ISO 8601 with milliseconds: `2026-11-30T18:50:48.123Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encode_json(value: object) -> str:
    """Compact JSON text, readable in every script; lone surrogates, which no file can hold, become U+FFFD."""
    return well_formed(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def decode_json(stored: object) -> Any:
    """The value of a JSON column. Raises ValueError for all that is none, however deep, long or broken it is."""
    if not isinstance(stored, str):
        raise ValueError(f"JSON is text, not {type(stored).__name__}")
    stored.encode()  # text that is not UTF-8 was read with surrogates
    try:
        return json.loads(stored)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def decode_parts(stored: object) -> tuple[Part, ...]:
    """The parts in a JSON column. Raises UndecodablePart."""
    try:
        return parts_from_json(decode_json(stored))
    except UndecodablePart:
        raise
    except ValueError as error:
        raise UndecodablePart(str(error)) from error


def encode_parts(parts: Sequence[Part]) -> str:
    """Parts as they stand in a JSON column."""
    return encode_json(parts_to_json(parts))
