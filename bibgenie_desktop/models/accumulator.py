"""Putting a streamed answer together (A-1): text, thinking, and tool calls however a provider splits them.

Pure: it is fed plain values and knows no client library. What it repairs was seen in the wild (stack-facts A1, A4):
parallel calls that share an index, calls without id or index, ids and names repeated with every piece, and a last
piece that repeats all arguments, once more encoded or not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..compaction.messages import ToolCall
from ..sessions.text import well_formed
from .port import FinishReason


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of a tool call, with what the provider gave of it."""

    index: int | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None


class _Characters:
    """Text in pieces, cut only between whole characters: a provider may cut between the halves of one."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._half = ""

    def add(self, text: str) -> str:
        """Take a piece; returns what is whole by now, which may be nothing."""
        text = self._half + text
        self._half = text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
        whole = well_formed(text[:-1] if self._half else text)
        if whole:
            self.pieces.append(whole)
        return whole


class _Call:
    """A tool call on its way."""

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.call_id = ""
        self.name = ""
        self.arguments = ""

    @property
    def whole(self) -> bool:
        """Whether the arguments are complete, so that a further piece cannot belong to them."""
        return self.arguments.rstrip().endswith("}") and _parsed(self.arguments) is not None

    def add_name(self, name: str) -> None:
        if name.startswith(self.name):
            self.name = name
        elif not self.arguments:
            self.name += name

    def add_arguments(self, arguments: str) -> None:
        # Nothing can follow a complete object but a repetition of it, which is left out.
        if self.arguments.strip() == "{}" and arguments.lstrip().startswith("{"):
            # Some servers open every call with an empty object.
            self.arguments = arguments
        elif not self.whole:
            self.arguments += arguments

    def repeated_by(self, delta: ToolCallDelta) -> bool:
        """Whether a piece says once more what this complete call says."""
        return delta.name == self.name and delta.arguments in (self.arguments, json.dumps(self.arguments))

    def finished(self, mint_id: Callable[[], str]) -> ToolCall:
        arguments = well_formed(self.arguments.strip() or "{}")
        inner = _parsed(arguments)
        if isinstance(inner, str) and isinstance(_parsed(inner), dict):
            arguments = inner
        return ToolCall(self.call_id or mint_id(), well_formed(self.name), arguments)


class Accumulator:
    """One step's answer while it arrives. `mint_id` makes an id for a call that the provider gave none."""

    def __init__(self, mint_id: Callable[[], str]) -> None:
        self._mint_id = mint_id
        self._text = _Characters()
        self._reasoning = _Characters()
        self._calls: list[_Call] = []
        self._reason: str | None = None

    @property
    def started(self) -> bool:
        """Whether anything has arrived."""
        return bool(self._text.pieces or self._reasoning.pieces or self._calls)

    @property
    def text(self) -> str:
        """The answer's text so far."""
        return "".join(self._text.pieces)

    @property
    def reasoning(self) -> str:
        """The thinking so far."""
        return "".join(self._reasoning.pieces)

    @property
    def reason(self) -> FinishReason:
        """Why the answer ended: whatever is neither cut off nor filtered ended well."""
        match self._reason:
            case "length" | "content_filter":
                return self._reason
            case _:
                return "stop"

    def add_text(self, text: str) -> str:
        """More text; returns what can be shown of it, which is "" while a character lacks its second half."""
        return self._text.add(text)

    def add_reasoning(self, text: str) -> str:
        """More thinking; returns what can be shown of it, as `add_text` does."""
        return self._reasoning.add(text)

    def add_tool_calls(self, deltas: Sequence[ToolCallDelta]) -> None:
        """The pieces of tool calls that arrived together."""
        touched: list[_Call] = []
        for delta in deltas:
            call = self._call_for(delta, touched)
            if call is None:
                call = _Call(delta.index)
                self._calls.append(call)
            touched.append(call)
            if delta.call_id and not call.call_id:
                call.call_id = delta.call_id
            if delta.name:
                call.add_name(delta.name)
            if delta.arguments:
                call.add_arguments(delta.arguments)

    def finish(self, reason: str) -> None:
        """The finish reason, in the words of chat completions."""
        self._reason = reason

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The complete calls in order: none if the answer was cut off, since their arguments are then unfinished."""
        if self.reason != "stop":
            return ()
        calls: list[ToolCall] = []
        taken: set[str] = set()
        for call in self._calls:
            if not call.name:
                continue
            finished = call.finished(self._mint_id)
            if finished.call_id in taken:
                finished = ToolCall(self._mint_id(), finished.name, finished.arguments)
            taken.add(finished.call_id)
            calls.append(finished)
        return tuple(calls)

    def _call_for(self, delta: ToolCallDelta, touched: Sequence[_Call]) -> _Call | None:
        """The call that a piece belongs to, or None where it begins one."""
        if delta.call_id:
            known = [call for call in self._calls if call.call_id == delta.call_id]
            if known:
                return self._of_known_id(delta, known)
        call = self._at(delta.index)
        if not delta.call_id and not delta.name:
            # A piece without any name tag: at its index, unless that call is complete and another waits for more.
            return call if call is not None and not call.whole else self._unfinished() or call
        if call is None or call in touched or (delta.call_id and call.call_id):
            # An id may follow a call's first pieces, but never changes.
            return None
        if delta.name and call.whole and not call.repeated_by(delta):
            return None
        if delta.index is None and not delta.call_id and call.name != delta.name:
            return None
        return call

    @staticmethod
    def _of_known_id(delta: ToolCallDelta, known: Sequence[_Call]) -> _Call | None:
        """Equal ids are one call, unless another name, and another index or complete arguments, say otherwise."""
        for call in known:
            another = bool(delta.name) and delta.name != call.name and call.whole
            if delta.index in (None, call.index) and not another:
                return call
        return None if delta.name else known[-1]

    def _unfinished(self) -> _Call | None:
        """The latest call whose arguments are not complete."""
        return next((call for call in reversed(self._calls) if not call.whole), None)

    def _at(self, index: int | None) -> _Call | None:
        """The latest call with that index; the latest of all where there is no index."""
        return next((call for call in reversed(self._calls) if index is None or call.index == index), None)


def _parsed(text: str) -> object:
    """What the JSON text holds, None where it is none (or `null`)."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value
