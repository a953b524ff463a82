"""Cutting long text without cutting a character in two (C21)."""

from __future__ import annotations

import unicodedata

from ..sessions.text import well_formed

_JOINER = "\u200d"


def cut_middle(text: str, characters: int) -> str:
    """The first three quarters and the last quarter of `characters` characters, and between them how many are left out.

    Shorter text comes back whole. What comes back can always be encoded.
    """
    text = well_formed(text)
    if len(text) <= characters:
        return text
    head = border_before(text, characters * 3 // 4)
    tail = border_after(text, len(text) - characters // 4)
    return f"{text[:head]}\n[… {tail - head:,} characters left out …]\n{text[tail:]}"


def border_before(text: str, place: int) -> int:
    """The last place up to this one at which no visible character is cut in two."""
    while 0 < place < len(text) and _joins(text, place):
        place -= 1
    return place


def border_after(text: str, place: int) -> int:
    """The first place from this one on at which no visible character is cut in two."""
    while 0 < place < len(text) and _joins(text, place):
        place += 1
    return place


def _joins(text: str, place: int) -> bool:
    """Whether the characters before and behind this place are shown as one."""
    before, behind = text[place - 1], text[place]
    if behind in (_JOINER, "\ufe0e", "\ufe0f") or before == _JOINER:
        return True
    if unicodedata.combining(behind) or unicodedata.category(behind) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= behind <= "\U0001f3ff":  # skin tones
        return True
    if _is_flag(behind) and _is_flag(before):  # flags are pairs: count how many stand before
        run = 0
        while place - 1 - run >= 0 and _is_flag(text[place - 1 - run]):
            run += 1
        return run % 2 == 1
    return before == "\r" and behind == "\n"


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
