"""A conservative estimate of tokens (C-5): never a tokenizer, right for the one question whether a request is safe.

Each character is weighed by its kind. The weights are the least with which no piece of 600 characters of prose, code,
LaTeX, tables and keys in some forty languages was counted too low (`benchmarks/bench_estimate.py` measures them). One
weight for all of ASCII would not do: prose has five letters a token, Zotero keys and figures hardly two characters.
For a known family, languages without accents that its tokenizer hardly saw (Gaelic, Luganda) come out up to a fifth
too low, as does Arabic with its vowel signs by a quarter: calibration makes up for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

from .messages import Message, ToolSpec, message_to_chat, tool_to_chat

MESSAGE_OVERHEAD = 6
"""Tokens a message costs beside its text: role, separators."""

IMAGE_TOKENS = 1_700
"""Tokens of an image of whatever size, wherever it stands. Anthropic documents width x height / 750 after scaling,
about 1,600 at most; OpenAI 85 and 170 for each of up to eight tiles, 1,445."""

_UNITS = 100
"""Units in a token."""


_FAMILIES = ("cl100k", "o200k", "")
"""Families of tokenizers, in the order of the weights below; "" is any other, and weighs no less than each of them."""


class _Kind(NamedTuple):
    """Characters that weigh the same: ranges of first bytes of UTF-8, first and last by turns, and units by family."""

    ranges: str
    units: tuple[int, int, int]


_KINDS = (
    _Kind("ailpruwwyy", (27, 25, 37)),
    _Kind("jkqqvvxxzz", (146, 136, 190)),  # rare in prose, common in what looks random
    _Kind("AZ", (59, 57, 59)),
    _Kind("09", (185, 186, 186)),
    _Kind("  ", (16, 15, 17)),
    _Kind("\t\n\r\r", (70, 60, 70)),
    _Kind("\0\b\v\f\x0e\x1f!/:@[`{\x7f", (85, 92, 92)),
    # Beyond ASCII:
    _Kind("\xc0\xc2", (250, 250, 250)),  # signs of Latin-1
    _Kind("\xc3\xca", (188, 160, 205)),  # Latin letters with accents: they cut a word in pieces
    _Kind("\xcb\xcc", (250, 250, 250)),  # combining accents
    _Kind("\xcd\xcf", (161, 40, 161)),  # Greek
    _Kind("\xd0\xd3", (89, 40, 91)),  # Cyrillic
    _Kind("\xd4\xd7", (215, 52, 216)),  # Armenian, Hebrew
    _Kind("\xd8\xdb", (115, 49, 115)),  # Arabic
    _Kind("\xdc\xdf", (210, 210, 210)),  # Syriac, Thaana
    _Kind("\xe0\xe0", (294, 196, 325)),  # South and South-East Asian scripts
    _Kind("\xe1\xe1", (301, 320, 320)),  # Ethiopic, Khmer, Mongolian
    _Kind("\xe2\xe2", (130, 180, 200)),  # typographic and mathematical signs
    _Kind("\xe3\xe3\xef\xef", (91, 61, 91)),  # kana, signs of East Asian scripts
    _Kind("\xe4\xe9", (163, 113, 168)),  # Chinese characters
    _Kind("\xea\xed", (129, 80, 151)),  # Korean
    _Kind("\xee\xee\xf0\xff", (410, 410, 410)),  # emoji, historic scripts, private use: a token for each byte
)
_ASCII_KINDS = 7

# Scripts that are lighter than others which begin with the same byte: the second byte tells them apart.
_LIGHTER = (
    ("\xe0", "\xa4\xa5\xa6\xa7", (147, 42, 208)),  # Devanagari, Bengali
    ("\xe0", "\xb8\xb9", (106, 50, 189)),  # Thai
    ("\xe1", "\x80\x81\x82\x83", (215, 60, 215)),  # Burmese, Georgian
    ("\xe1", "\xba\xbb\xbc\xbd\xbe\xbf", (151, 244, 315)),  # Latin and Greek letters with two accents
)


def _kind_of(byte: int) -> int:
    """The kind whose characters begin with this byte; one more than there are for a byte that begins none."""
    for kind, (ranges, _) in enumerate(_KINDS):
        if any(ord(first) <= byte <= ord(last) for first, last in zip(ranges[::2], ranges[1::2], strict=True)):
            return kind
    return len(_KINDS)


class _Discount(NamedTuple):
    """What a character of a lighter script weighs less than its kind says."""

    kind: int
    beginnings: tuple[bytes, ...]
    units: tuple[int, ...]


def _discount(first: str, seconds: str, units: tuple[int, int, int]) -> _Discount:
    kind = _kind_of(ord(first))
    less = tuple(heavy - light for heavy, light in zip(_KINDS[kind].units, units, strict=True))
    return _Discount(kind, tuple((first + second).encode("latin-1") for second in seconds), less)


_KIND_OF_BYTE = bytes(_kind_of(byte) for byte in range(256))
_DISCOUNTS = tuple(_discount(*script) for script in _LIGHTER)

_CL100K = re.compile(r"(gpt-4(-(turbo|32k|vision|preview|\d{4})\b.*)?|gpt-3\.?5-turbo.*)")
_O200K = re.compile(r"(chat)?gpt-(4o|4\.1|4\.5|5|oss)\b.*|o[134](-.*)?")


def family_of(model: str) -> str:
    """The family of a model's tokenizer by the model's name, "" where that does not tell it.

    Only OpenAI has published its tokenizers for what it serves. The name is matched whole behind its provider: an
    `ollama/gpt-4-x-alpaca` is none of OpenAI's.
    """
    name = model.lower().rpartition("/")[2].removeprefix("ft:").partition(":")[0]
    if _O200K.fullmatch(name):
        return "o200k"
    return "cl100k" if _CL100K.fullmatch(name) else ""


def estimate_text(text: str, family: str = "") -> int:
    """Tokens of `text`, rounded up. `family` is one that `family_of` names."""
    column = _FAMILIES.index(family)
    data = text.encode("utf-8", "surrogatepass")
    kinds = data.translate(_KIND_OF_BYTE)
    if text.isascii():
        units = sum(_KINDS[kind].units[column] * kinds.count(kind) for kind in range(_ASCII_KINDS))
        return -(-units // _UNITS)
    counts = [kinds.count(kind) for kind in range(len(_KINDS))]
    units = sum(kind.units[column] * count for kind, count in zip(_KINDS, counts, strict=True))
    for script in _DISCOUNTS:
        if counts[script.kind]:
            units -= script.units[column] * sum(data.count(beginning) for beginning in script.beginnings)
    return -(-units // _UNITS)


def estimate_message(message: Message, family: str = "") -> int:
    """Tokens of one message as sent: its text, and whatever else it carries (calls, a call's id and name)."""
    chat = message_to_chat(message)
    del chat["role"]
    content = chat.pop("content") or ""
    extra = estimate_text(json.dumps(chat, ensure_ascii=False), family) if chat else 0
    return estimate_text(content, family) + extra + MESSAGE_OVERHEAD


def estimate_tools(tools: Iterable[ToolSpec], family: str = "") -> int:
    """Tokens of the tools' schemas as sent."""
    return sum(
        estimate_text(json.dumps(tool_to_chat(tool), ensure_ascii=False), family) + MESSAGE_OVERHEAD for tool in tools
    )
