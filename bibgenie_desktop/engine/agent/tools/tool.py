"""What every tool has in common: its schema, its checked arguments, its result as data.

A result is one JSON object. Text that comes from documents, notes or metadata stands only in fields whose names begin
with `quoted_`: to the model it is data, whatever it says (S-1). Citation tokens that such text brings along are broken
up, so that only the app's own can be copied.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ....compaction.estimate import estimate_text
from ....compaction.messages import ToolSpec
from ....sessions.locators import PERSONAL, ItemRef, Locator, MalformedLocator
from ....sessions.text import well_formed
from ....store.encoding import encode_json

_INTEGER = re.compile(r"-?[0-9]{1,9}")


class ToolFault(Exception):
    """A call that cannot be carried out as asked. `str()` is told to the model and shown to the user."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gives back: the data for the model, the passages it showed, and a short count for the reader."""

    data: Mapping[str, Any]
    delivered: tuple[Locator, ...] = ()
    summary: str = ""

    def text(self) -> str:
        """The result as the model reads it."""
        return well_formed(encode_json(_guarded(self.data)))


class Tool(Protocol):
    """One tool."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and arguments, as the model is told."""
        ...

    def title(self, arguments: Mapping[str, Any]) -> str:
        """What this call does, for the reader: `Search the library for “bias”`. Takes any arguments."""
        ...

    async def run(self, arguments: Mapping[str, Any], *, budget: int) -> ToolResult:
        """Carry the call out; the result weighs about `budget` estimated tokens at most (A-4). Raises ToolFault.

        What does not fit is left out, and the result says so and how to read on.
        """
        ...


def parse_arguments(text: str) -> dict[str, Any]:
    """The arguments a model wrote; empty text is none. Raises ToolFault."""
    try:
        arguments = json.loads(text.strip() or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolFault(f"The arguments are not valid JSON: {error}.") from error
    if isinstance(arguments, str):  # some providers encode twice
        return parse_arguments(arguments)
    if not isinstance(arguments, dict):
        raise ToolFault("The arguments must be one JSON object.")
    return {name: well_formed(value) if isinstance(value, str) else value for name, value in arguments.items()}


def text_argument(arguments: Mapping[str, Any], name: str) -> str:
    """A text argument that must be there. Raises ToolFault."""
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ToolFault(f"The argument {name} is missing: it is a text.")
    return value.strip()


def number_argument(arguments: Mapping[str, Any], name: str, *, default: int, least: int, most: int) -> int:
    """A whole number, drawn into its range; absent gives the default. Raises ToolFault."""
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ToolFault(f"The argument {name} must be a whole number.")
    return max(least, min(most, value))


def key_argument(arguments: Mapping[str, Any], name: str = "key") -> ItemRef:
    """A key: `ABCD2345`, or `groups/555/ABCD2345` in a group's library. Raises ToolFault."""
    value = text_argument(arguments, name)
    try:
        library, _, key = value.rpartition("/")
        return ItemRef.from_path(f"{library}/items/{key}") if library else ItemRef(PERSONAL, key)
    except MalformedLocator as error:
        raise ToolFault(f"{cut(repr(value), 40)} is no key: copy one from a result, such as ABCD2345.") from error


def key_text(ref: ItemRef) -> str:
    """The key as `key_argument` reads it."""
    return f"{ref.library.path}/{ref.key}" if ref.library.group_id else ref.key


def cut(text: str, length: int) -> str:
    """`text`, cut at a space to about `length` characters and marked where it was cut."""
    if len(text) <= length:
        return text
    end = text.rfind(" ", max(0, length - 80), length)
    return text[: end if end > 0 else length].rstrip() + " […]"


def weight(data: object) -> int:
    """The estimated tokens of `data` as it stands in a result."""
    return estimate_text(encode_json(data))


def fitting(text: str, tokens: int) -> int:
    """How many characters of `text`, from its beginning and up to a space, weigh no more than `tokens`."""
    end = len(text)
    while end and (weighed := weight(text[:end])) > tokens:
        end = min(end - 1, max(0, end * tokens // weighed))
    if end == len(text):
        return end
    space = text.rfind(" ", max(0, end - 80), end)
    return space if space > 0 else end


def fitted(text: str, tokens: int) -> str:
    """`text`, cut and marked where it weighs more than `tokens`."""
    end = fitting(text, tokens)
    return text if end == len(text) else f"{text[:end].rstrip()} […]"


def _guarded(value: object, *, quoted: bool = False) -> object:
    """`value` without what could be taken for a citation token in its quoted texts; spaces do not count in a quote."""
    if isinstance(value, str):
        return value.replace("[[cite:", "[ [cite:") if quoted else value
    if isinstance(value, Mapping):
        return {name: _guarded(each, quoted=quoted or name.startswith("quoted_")) for name, each in value.items()}
    if isinstance(value, Sequence):
        return [_guarded(each, quoted=quoted) for each in value]
    return value
