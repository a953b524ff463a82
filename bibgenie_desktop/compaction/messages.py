"""The messages of a request, as the projection makes them and every model is sent them (D-10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call the assistant made: `arguments` is JSON text."""

    call_id: str
    name: str
    arguments: str
    replay: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the user said, or a block of the app's own record in the user's role."""

    text: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the assistant said in one step and the tools it called."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one tool call."""

    call_id: str
    name: str
    text: str


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it: `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


def message_to_chat(message: Message) -> dict[str, Any]:
    """The message in the chat-completions form, which litellm takes and `project --json` prints."""
    match message:
        case UserMessage(text=text):
            return {"role": "user", "content": text}
        case AssistantMessage(text=text, tool_calls=calls):
            chat: dict[str, Any] = {"role": "assistant", "content": text or None}
            if calls:
                chat["tool_calls"] = [
                    {
                        "id": call.call_id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": call.arguments},
                        **call.replay,
                    }
                    for call in calls
                ]
            return chat
        case ToolMessage(call_id=call_id, name=name, text=text):
            return {"role": "tool", "tool_call_id": call_id, "name": name, "content": text}


def tool_to_chat(tool: ToolSpec) -> dict[str, Any]:
    """The tool in the chat-completions form."""
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
    }
