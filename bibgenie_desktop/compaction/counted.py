"""What a node is as messages, and how many tokens those are: found out once for each node (C-5)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple

from ..sessions.nodes import Node
from ..sessions.parts import FilePart, ImagePart, ReasoningPart, TextPart, ToolCallPart, ZoteroPart
from .estimate import estimate_message
from .messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage

NO_RESULT = "This call was cut off before it gave a result."
"""Stands in for the result of a call that has none, since every call must be answered."""


class CountedNode(NamedTuple):
    """A node as it is sent; `tokens` is the estimate of its messages."""

    messages: tuple[Message, ...]
    tokens: int


class Counted:
    """Remembers the newest `most` nodes that were asked for: a stored node never changes (T-1).

    `family` is that of the model's tokenizer, as `estimate` names it.
    """

    def __init__(self, family: str = "", most: int = 20_000) -> None:
        self.family = family
        self._most = most
        self._known: OrderedDict[str, CountedNode] = OrderedDict()

    def of(self, node: Node) -> CountedNode:
        """The node's messages and their tokens; a checkpoint has none of its own."""
        known = self._known.get(node.id)
        if known is None:
            messages = node_messages(node)
            known = CountedNode(messages, sum(estimate_message(each, self.family) for each in messages))
            self._known[node.id] = known
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        return known

    def tokens(self, node: Node) -> int:
        """Tokens of a node as it is sent."""
        return self.of(node).tokens


def node_messages(node: Node) -> tuple[Message, ...]:
    """A question or an answer as messages; none for a checkpoint, or for what holds nothing that is sent."""
    if node.role == "user":
        text = user_text(node)
        return (UserMessage(text),) if text.strip() else ()
    return tuple(answer_messages(node.parts)) if node.role == "assistant" else ()


def user_text(node: Node) -> str:
    """What the user said, and a line for each thing that was attached."""
    blocks: list[str] = []
    for part in node.parts:
        match part:
            case TextPart(text=text):
                blocks.append(text)
            case ZoteroPart(title=title, citation=citation):
                blocks.append(f"[Attached from the library: {citation or title}]")
            case ImagePart(name=name, mime=mime) | FilePart(name=name, mime=mime):
                blocks.append(f"[Attached: {name or 'a file'}, {mime}]")
            case _:
                continue
    return "\n\n".join(block for block in blocks if block.strip())


def answer_messages(parts: Iterable[object]) -> list[Message]:
    """An answer's parts as messages: each model step is one assistant message, followed by its tools' results.

    Reasoning is left out. Empty steps give no message.
    """
    messages: list[Message] = []
    text: list[str] = []
    calls: list[ToolCallPart] = []

    def close_step() -> None:
        joined = "\n\n".join(text)
        if joined.strip() or calls:
            messages.append(
                AssistantMessage(joined, tuple(ToolCall(c.call_id, c.name, c.arguments, c.replay) for c in calls))
            )
            messages.extend(ToolMessage(c.call_id, c.name, c.result if c.result.strip() else NO_RESULT) for c in calls)
        text.clear()
        calls.clear()

    for part in parts:
        if isinstance(part, ToolCallPart):
            if calls and calls[-1].step != part.step:
                close_step()
            calls.append(part)
        elif isinstance(part, TextPart):
            if calls:
                close_step()
            text.append(part.text)
        elif isinstance(part, ReasoningPart):
            continue
    close_step()
    return messages
