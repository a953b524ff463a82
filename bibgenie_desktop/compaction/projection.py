"""The projection: what the model is sent (C-1, D-10). One function, for the sender, the meter and `project`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..sessions.nodes import Node
from ..sessions.parts import FilePart, ImagePart, Part, ReasoningPart, TextPart, ToolCallPart, ZoteroPart
from .estimate import estimate_message, estimate_text, estimate_tools
from .messages import AssistantMessage, Message, ToolCall, ToolMessage, ToolSpec, UserMessage

NO_RESULT = "This call was cut off before it gave a result."
"""Stands in for the result of a call that has none, since every call must be answered."""

GO_ON = (
    "Your answer was interrupted. Go on exactly where it ended, in the middle of a sentence or a word if need be: "
    "repeat nothing of it, add no greeting and say nothing about the interruption."
)
"""What a model is told, in the user's role, that is to go on with the answer which stands before it (T-6)."""


class BrokenProjection(Exception):
    """A request that no provider would take: the roles do not alternate, or a call and its result are apart."""


@dataclass(frozen=True, slots=True)
class Projection:
    """A request as it is sent. `tokens` is the estimate of the whole: system prompt, tools and messages."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    tokens: int


def project(
    system: str, tools: Sequence[ToolSpec], path: Iterable[Node], *, draft: str = "", kept: Sequence[Part] = ()
) -> Projection:
    """What the model is sent for this branch, and for `draft` behind it where there is one.

    `kept` is what there is of the answer to the branch's last question, which the model is to go on with.
    Raises BrokenProjection if the result breaks a rule that providers hold.
    """
    messages: list[Message] = []
    for node in path:
        if node.role == "user":
            _append_user(messages, _user_text(node))
        elif node.role == "assistant":
            messages.extend(answer_messages(node.parts))
        else:
            raise BrokenProjection("this branch holds a checkpoint, which this version cannot project")
    if draft.strip():
        _append_user(messages, draft)
    if kept:
        messages = list(going_on((*messages, *answer_messages(kept))))
    check_roles(messages)
    return Projection(system, tuple(messages), tuple(tools), estimate_request(system, tools, messages))


def estimate_request(system: str, tools: Sequence[ToolSpec], messages: Iterable[Message]) -> int:
    """Tokens of a whole request."""
    return estimate_text(system) + estimate_tools(tools) + sum(estimate_message(message) for message in messages)


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


def going_on(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages, and behind an answer that ended in its text what asks for the rest of it.

    Behind the results of its calls a model goes on by itself.
    """
    is_text = bool(messages) and isinstance(messages[-1], AssistantMessage)
    return (*messages, UserMessage(GO_ON)) if is_text else messages


def check_roles(messages: Sequence[Message]) -> None:
    """The role automaton (D-10): user first, no empty part, every call answered at once and in order.

    Two assistant messages may follow each other only across tool results. Raises BrokenProjection.
    """
    open_calls: list[str] = []
    previous: Message | None = None
    for message in messages:
        match message:
            case ToolMessage(call_id=call_id, text=text):
                if not open_calls or open_calls[0] != call_id:
                    raise BrokenProjection(f"the result of call {call_id} has no call before it")
                if not text.strip():
                    raise BrokenProjection(f"the result of call {call_id} is empty")
                open_calls.pop(0)
            case UserMessage(text=text):
                if open_calls or isinstance(previous, UserMessage):
                    raise BrokenProjection("a user message stands where it may not")
                if not text.strip():
                    raise BrokenProjection("a user message is empty")
            case AssistantMessage(text=text, tool_calls=calls):
                if open_calls or previous is None or isinstance(previous, AssistantMessage):
                    raise BrokenProjection("an assistant message stands where it may not")
                if not text.strip() and not calls:
                    raise BrokenProjection("an assistant message is empty")
                open_calls = [call.call_id for call in calls]
        previous = message
    if open_calls:
        raise BrokenProjection(f"call {open_calls[0]} has no result")


def _append_user(messages: list[Message], text: str) -> None:
    """Neighbours of one role are merged: two questions in a row occur when the first got no answer."""
    if not text.strip():
        return
    last = messages[-1] if messages else None
    if isinstance(last, UserMessage):
        messages[-1] = UserMessage(f"{last.text}\n\n{text}")
    else:
        messages.append(UserMessage(text))


def _user_text(node: Node) -> str:
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
