"""The typed parts of a node, and their JSON (T-1; docs/data.md lists every key).

Reading is strict: a part that cannot be understood raises UndecodablePart, so that a damaged node is shown as
damaged instead of being quietly shortened (T-5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from .citations import Citation
from .locators import ItemRef, Locator, locator_from_json, locator_to_json

ToolState: TypeAlias = Literal["pending", "done", "error", "denied", "cancelled"]


class UndecodablePart(ValueError):
    """A stored part that this program cannot read."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text as it was written, citation tokens included, with the citations that were checked in it."""

    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """What a model thought aloud. `replay` is the provider's own form, kept verbatim for that provider only."""

    text: str
    replay: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """One tool call with its state and result.

    `arguments` is the JSON text the model wrote, whatever it was. `result` is the text the model was given back.
    `step` numbers the model step of the turn, from 0: calls of one step were made in parallel. `delivered` names the
    passages that the result showed: the ground on which citations are checked (Z-3). `summary` is the short count
    for the reader, such as "12 passages"; `duration_ms` the time it took.
    """

    call_id: str
    name: str
    arguments: str
    state: ToolState
    result: str = ""
    step: int = 0
    delivered: tuple[Locator, ...] = ()
    summary: str = ""
    duration_ms: int = 0
    replay: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image of the user's, its bytes in the blob `blob_id` (a SHA-256)."""

    blob_id: str
    mime: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file of the user's, its bytes in the blob `blob_id` (a SHA-256)."""

    blob_id: str
    mime: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class ZoteroPart:
    """Something of the library that the user attached to a question: its locator, title and citation text."""

    locator: Locator
    title: str
    citation: str = ""
    item: ItemRef | None = None


Part: TypeAlias = TextPart | ReasoningPart | ToolCallPart | ImagePart | FilePart | ZoteroPart


def part_to_json(part: Part) -> dict[str, Any]:
    """The JSON object of one part."""
    match part:
        case TextPart():
            return {"type": "text", "text": part.text, "citations": [c.to_json() for c in part.citations]}
        case ReasoningPart():
            return {"type": "reasoning", "text": part.text, "replay": dict(part.replay)}
        case ToolCallPart():
            return {
                "type": "tool_call",
                "call_id": part.call_id,
                "name": part.name,
                "arguments": part.arguments,
                "state": part.state,
                "result": part.result,
                "step": part.step,
                "delivered": [locator_to_json(locator) for locator in part.delivered],
                "summary": part.summary,
                "duration_ms": part.duration_ms,
                "replay": dict(part.replay),
            }
        case ImagePart():
            return {"type": "image", "blob_id": part.blob_id, "mime": part.mime, "name": part.name}
        case FilePart():
            return {"type": "file", "blob_id": part.blob_id, "mime": part.mime, "name": part.name}
        case ZoteroPart():
            return {
                "type": "zotero",
                "locator": locator_to_json(part.locator),
                "title": part.title,
                "citation": part.citation,
                "item": None if part.item is None else part.item.path,
            }


def part_from_json(data: object) -> Part:
    """Read one part. Raises UndecodablePart."""
    if not isinstance(data, Mapping):
        raise UndecodablePart(f"a part is an object, not {type(data).__name__}")
    try:
        match data["type"]:
            case "text":
                return TextPart(_text(data, "text"), tuple(Citation.from_json(c) for c in _array(data, "citations")))
            case "reasoning":
                return ReasoningPart(_text(data, "text"), _object(data, "replay"))
            case "tool_call":
                state = data["state"]
                if state not in get_args(ToolState):
                    raise UndecodablePart(f"unknown state of a tool call: {state!r}")
                return ToolCallPart(
                    call_id=_text(data, "call_id"),
                    name=_text(data, "name"),
                    arguments=_text(data, "arguments"),
                    state=state,
                    result=_text(data, "result"),
                    step=_count(data, "step"),
                    delivered=tuple(locator_from_json(locator) for locator in _array(data, "delivered")),
                    summary=_text(data, "summary"),
                    duration_ms=_count(data, "duration_ms"),
                    replay=_object(data, "replay"),
                )
            case "image":
                return ImagePart(_text(data, "blob_id"), _text(data, "mime"), _text(data, "name"))
            case "file":
                return FilePart(_text(data, "blob_id"), _text(data, "mime"), _text(data, "name"))
            case "zotero":
                item = data["item"]
                return ZoteroPart(
                    locator_from_json(data["locator"]),
                    _text(data, "title"),
                    _text(data, "citation"),
                    None if item is None else ItemRef.from_path(item),
                )
            case kind:
                raise UndecodablePart(f"unknown type of part: {kind!r}")
    except UndecodablePart:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UndecodablePart(f"a part of type {data.get('type')!r} is damaged: {error}") from error


def parts_to_json(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """The JSON array of a node's parts, in order."""
    return [part_to_json(part) for part in parts]


def parts_from_json(data: object) -> tuple[Part, ...]:
    """Read a node's parts. Raises UndecodablePart."""
    if not isinstance(data, Sequence) or isinstance(data, str | bytes):
        raise UndecodablePart("the parts of a node are an array")
    return tuple(part_from_json(item) for item in data)


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data[key]
    if not isinstance(value, str):
        raise UndecodablePart(f"{key} is text, not {type(value).__name__}")
    return value


def _count(data: Mapping[str, Any], key: str) -> int:
    value = data[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UndecodablePart(f"{key} is a number from 0, not {value!r}")
    return value


def _array(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data[key]
    if not isinstance(value, list):
        raise UndecodablePart(f"{key} is an array, not {type(value).__name__}")
    return value


def _object(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = data[key]
    if not isinstance(value, dict):
        raise UndecodablePart(f"{key} is an object, not {type(value).__name__}")
    return value
