"""A conservative estimate of tokens (C-5): never a tokenizer, right for the one question whether a request is safe.

Each character is weighed by its kind, as the least favourable of the common tokenizers charges for running text of it:
English prose comes out half again too high, tables of numbers and rare scripts just right. One weight for all of ASCII
would not do: prose has five letters a token, Zotero keys and figures hardly two characters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from .messages import Message, ToolSpec, message_to_chat, tool_to_chat

MESSAGE_OVERHEAD = 6
"""Tokens a message costs beside its text: role, separators."""

_UNITS = 20
"""Units in a token."""

# What a byte of UTF-8 begins, as ranges of first bytes, and the units that the character weighs.
_KINDS: tuple[tuple[int, str], ...] = (
    (6, "az"),
    (16, "AZ"),
    (32, "09"),
    (8, "  \t\t\n\n\r\r"),
    (20, "\0\b\x0b\x0c\x0e\x1f!/:@[`{\x7f"),
    (0, "\x80\xbf"),  # the further bytes of a character
    (50, "\xc0\xcb"),  # Latin letters with accents: they cut a word in pieces
    (28, "\xcc\xdf"),  # Greek, Cyrillic, Hebrew, Arabic
    (36, "\xe3\xe9\xeb\xed"),  # Chinese, Japanese, Korean
    (50, "\xe0\xe2\xea\xea\xee\xef"),  # South and South-East Asian scripts, Georgian, typographic signs
    (80, "\xf0\xff"),  # emoji and historic scripts: a token for each byte
)


def _kind_of(byte: int) -> int:
    for kind, (_, ranges) in enumerate(_KINDS):
        if any(ord(first) <= byte <= ord(last) for first, last in zip(ranges[::2], ranges[1::2], strict=True)):
            return kind
    raise AssertionError(f"no kind holds the byte {byte}")


_KIND_OF_BYTE = bytes(_kind_of(byte) for byte in range(256))


def family_of(model: str) -> str:
    """The family of a model's tokenizer."""
    return ""


def estimate_text(text: str, family: str = "") -> int:
    """Tokens of `text`, rounded up."""
    kinds = text.encode("utf-8", "surrogatepass").translate(_KIND_OF_BYTE)
    units = sum(weight * kinds.count(kind) for kind, (weight, _) in enumerate(_KINDS))
    return -(-units // _UNITS)


def estimate_message(message: Message, family: str = "") -> int:
    """Tokens of one message as sent: its text, and whatever else it carries (calls, a call's id and name)."""
    chat = message_to_chat(message)
    del chat["role"]
    content = chat.pop("content") or ""
    extra = estimate_text(json.dumps(chat, ensure_ascii=False)) if chat else 0
    return estimate_text(content) + extra + MESSAGE_OVERHEAD


def estimate_tools(tools: Iterable[ToolSpec], family: str = "") -> int:
    """Tokens of the tools' schemas as sent."""
    return sum(estimate_text(json.dumps(tool_to_chat(tool), ensure_ascii=False)) + MESSAGE_OVERHEAD for tool in tools)
