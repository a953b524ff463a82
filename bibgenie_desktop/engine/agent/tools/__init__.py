"""The tools a model may call (A-3). All of this version read; none writes."""

from __future__ import annotations

from ....compaction.messages import ToolSpec
from ...library.library import Library
from .item import GetItem
from .pages import ReadPages
from .search import SearchLibrary
from .tool import Tool, ToolFault, parse_arguments

_READING = (SearchLibrary, GetItem, ReadPages)


def reading_tools(library: Library) -> tuple[Tool, ...]:
    """The tools over a library, in the order a model is told of them."""
    return tuple(kind(library) for kind in _READING)


def reading_tool_specs() -> tuple[ToolSpec, ...]:
    """The same tools as a model is told of them, without a library."""
    return tuple(kind.spec for kind in _READING)


def call_title(name: str, arguments: str) -> str:
    """What a call does, for the reader, from the JSON text that the model wrote; the tool's name where that is none."""
    kind = next((each for each in _READING if each.spec.name == name), None)
    if kind is not None:
        try:
            return kind.title(parse_arguments(arguments))
        except ToolFault:
            pass
    return name
