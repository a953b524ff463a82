"""The titles of chats, as they are stored."""

from __future__ import annotations

import unicodedata

from ..sessions.branch import NotAllowed
from ..sessions.text import well_formed

LONGEST_TITLE = 200
"""Characters of a chat's title."""

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")
"""Letters and symbols that are drawn as nothing: Hangul's fillers, Braille's blank, the null notehead."""


def clean_title(text: str) -> str:
    """A chat's title as it is stored: well-formed, one line without control characters, at most LONGEST_TITLE long.

    Cleaning it again changes nothing. Raises NotAllowed where nothing that can be seen is left.
    """
    line = "".join(" " if unicodedata.category(character) == "Cc" else character for character in well_formed(text))
    title = " ".join(line.split())
    is_long = len(title) > LONGEST_TITLE
    kept = title[: LONGEST_TITLE - 1].rstrip() if is_long else title
    if not any(_is_seen(character) for character in kept):
        raise NotAllowed("A chat needs a title: write one, or leave the one it has.")
    return f"{kept}…" if is_long else kept


def _is_seen(character: str) -> bool:
    """Whether a character is seen by itself: no space, no format or control, no mark that wants a letter below it."""
    return unicodedata.category(character)[0] in "LNPS" and character not in _BLANK
