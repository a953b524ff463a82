"""Words as they are compared in the search over the history: without case and diacritics, in every script (T-8).

A text is folded into tokens with one space between them, which the full-text index takes as they are:

- Case, compatible forms (full width, ligatures) and the marks of Latin, Greek, Cyrillic, Hebrew and Arabic are gone;
  letters with a stroke are the plain ones, and Turkish dotless i is found by i. Marks that are vowels stay (Devanagari
  and its kin), and so do Japanese voiced marks: が is not か.
- In scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese and others) each character is a token, so that
  any run of them is found as a phrase. Korean is folded so too: its words end in particles, and are joined at will.
- All else, such as punctuation and symbols, parts words.

Folding what is folded changes nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from .search_marks import DROPPED, JOINED_MARKS, PLAIN, SINGLE

# Two classes: Python looks a character up at once only in one that ends at U+FFFF.
_LOW, _HIGH = ("".join(sorted(mark for mark in JOINED_MARKS if (mark > "\uffff") is high)) for high in (False, True))
_JOINED = rf"(?:[{_LOW}]|(?=[\U00010000-\U0010ffff])[{_HIGH}])"
_RUN = re.compile(rf"[\x00-\x7f]+(?!{_JOINED})|.{_JOINED}*", re.DOTALL)
"""ASCII, up to a letter that a mark follows; or one character with the marks behind it."""
_MARKED = re.compile(rf".{_JOINED}+", re.DOTALL)
"""A character that has marks, with them."""
_BETWEEN_WORDS = re.compile(r"[ \n](?=[A-Za-z0-9])|(?=[\u4e00-\u9fff])")
"""Where a text can be cut and each half folded by itself, whatever it is."""
_STRETCH = 200
"""Characters that are folded at once."""
_ASCII_TOKEN = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]+")
_ASCII = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_MARK = re.compile(f"[{DROPPED}]")
_SINGLE = re.compile(f"[{SINGLE}]")


def folded(text: str) -> str:
    """`text` as it is indexed and looked for: its tokens, with one space between them."""
    if text.isascii():
        return " ".join(text.translate(_ASCII).split())
    if JOINED_MARKS.isdisjoint(text):
        return " ".join(text.translate(_CHARACTERS).split())
    pieces: list[str] = []
    end = 0
    for marked in _MARKED.finditer(text):
        pieces += (text[end : marked.start()].translate(_CHARACTERS), _cluster(marked[0]))
        end = marked.end()
    pieces.append(text[end:].translate(_CHARACTERS))
    return " ".join("".join(pieces).split())


def origin(text: str, start: int, end: int) -> tuple[int, int]:
    """Where in `text` that stands which the characters from `start` to `end` of its folded form were made from.

    A letter is taken with all its marks. Reads `text` only as far as it must; beyond its end both are its length.
    """
    leap, at = _leap(text, start)
    first, last = -1, len(text)
    is_parted = leap > 0
    for piece, begin, stop in _pieces(text, leap):
        if piece == " ":
            is_parted = True
            continue
        if is_parted and at:
            at += 1
        is_parted = False
        after = at + len(piece)
        is_plain = len(piece) == stop - begin
        if first < 0 and start < after:
            first = begin + max(0, start - at) if is_plain else begin
        if end <= after:
            last = begin + max(0, end - at) if is_plain else stop
            break
        at = after
    return (first, last) if first >= 0 else (len(text), len(text))


def _leap(text: str, start: int) -> tuple[int, int]:
    """A place between two words of `text`, and how many characters everything before it folds to: at most `start`.

    Folding whole stretches is far faster than looking at each character.
    """
    place, at = 0, 0
    while between := _BETWEEN_WORDS.search(text, place + _STRETCH):
        tokens = folded(text[place : between.start()])
        after = at + len(tokens) + (1 if at and tokens else 0)
        if after >= start:
            break
        place, at = between.start(), after
    return place, at


def _pieces(text: str, place: int) -> Iterator[tuple[str, int, int]]:
    """What the folded text is made of from a place on, each piece with its own; " " is what parts tokens."""
    for run in _RUN.finditer(text, place):
        if run[0].isascii():
            for token in _ASCII_TOKEN.finditer(run[0]):
                piece = token[0].lower() if token[0].isalnum() else " "
                yield piece, run.start() + token.start(), run.start() + token.end()
        else:
            for character in _cluster(run[0]):
                yield character, run.start(), run.end()


@lru_cache(maxsize=65_536)
def _cluster(cluster: str) -> str:
    """A character with its marks, folded; not yet with single spaces."""
    plain = _MARK.sub("", unicodedata.normalize("NFKD", cluster)).casefold()
    plain = _MARK.sub("", unicodedata.normalize("NFKD", plain)).translate(PLAIN)
    return "".join(_token(character) for character in unicodedata.normalize("NFC", plain))


class _Characters(dict[int, str]):
    """What each character is folded to where no mark follows it: a fifth of the time that going by clusters takes."""

    def __missing__(self, code: int) -> str:
        self[code] = piece = _cluster(chr(code))
        return piece


_CHARACTERS = _Characters(_ASCII)


def _token(character: str) -> str:
    if _SINGLE.match(character):
        return f" {character} " if _is_of_word(character) else " "
    return character if _is_of_word(character) else " "


def _is_of_word(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LNM" or category == "Co"
