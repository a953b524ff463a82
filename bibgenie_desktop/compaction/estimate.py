"""A conservative estimate of tokens (C-5): never a tokenizer, right for the one question whether a request is safe.

ASCII text is counted at three characters a token (prose has four to five, code and keys about three); every byte of
UTF-8 beyond ASCII at 0.6 tokens, so that a Chinese character weighs 1.8 and a Cyrillic letter 1.2: what the least
favourable common tokenizers charge.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from .messages import Message, ToolSpec, message_to_chat, tool_to_chat

MESSAGE_OVERHEAD = 6
"""Tokens a message costs beside its text: role, separators."""


def estimate_text(text: str) -> int:
    """Tokens of `text`, rounded up."""
    if text.isascii():
        return -(-len(text) // 3)
    data = text.encode("utf-8", "surrogatepass")
    ascii_count = len(text.encode("ascii", "ignore"))
    return int(ascii_count / 3 + (len(data) - ascii_count) * 0.6) + 1


def estimate_message(message: Message) -> int:
    """Tokens of one message as sent."""
    chat = message_to_chat(message)
    calls = chat.get("tool_calls")
    extra = estimate_text(json.dumps(calls, ensure_ascii=False)) if calls else 0
    return estimate_text(chat["content"] or "") + extra + MESSAGE_OVERHEAD


def estimate_tools(tools: Iterable[ToolSpec]) -> int:
    """Tokens of the tools' schemas as sent."""
    return sum(estimate_text(json.dumps(tool_to_chat(tool), ensure_ascii=False)) + MESSAGE_OVERHEAD for tool in tools)
