"""What a person types to search the history, as phrases; and their places in a folded text (T-8)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .search_text import folded

LONGEST_QUERY = 1_000
"""Characters that are looked at: a longer query is a pasted text."""
MOST_PHRASES = 32
MOST_PLACES = 400
"""Of each phrase in one text."""
NEAR = 100
"""Characters that a reader sees together."""

_PIECE = re.compile(r'"(?P<quoted>[^"]*)(?P<closed>"?)|(?P<word>[^\s"]+)')
_QUOTES = str.maketrans("“”„‟＂«»", '"' * 7)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Tokens that must follow each other, with one space between; `is_beginning`: the last one may go on."""

    tokens: str
    is_beginning: bool = False

    def places(self, text: str) -> list[int]:
        """Where it begins in a folded text, MOST_PLACES at most."""
        # With a space before each: where a word goes on as the phrase begins is never looked at.
        spaced, wanted = f" {text}", f" {self.tokens}"
        found: list[int] = []
        at = spaced.find(wanted)
        while at >= 0 and len(found) < MOST_PLACES:
            end = at + len(wanted)
            if self.is_beginning or spaced[end : end + 1] in ("", " "):
                found.append(at)
            at = spaced.find(wanted, at + 1)
        return found


def phrases(query: str) -> tuple[Phrase, ...]:
    """What must occur, each once: the words, and as a whole what stands in "double quotes".

    A word of several tokens, such as `don't` or one of a script without spaces, is a phrase. The last word may be the
    beginning of one, as long as it is typed; so may a quotation that is not closed.
    """
    found: dict[str, Phrase] = {}
    pieces = [
        (tokens, piece["quoted"] is None or not piece["closed"])
        for piece in _PIECE.finditer(query[:LONGEST_QUERY].translate(_QUOTES))
        if (tokens := folded(piece["quoted"] if piece["word"] is None else piece["word"]))
    ][:MOST_PHRASES]
    for place, (tokens, is_open) in enumerate(pieces, 1):
        is_beginning = is_open and place == len(pieces)
        found[tokens] = Phrase(tokens, is_beginning and found.get(tokens, Phrase("", True)).is_beginning)
    return tuple(found.values())


def expression(wanted: Sequence[Phrase]) -> str:
    """All phrases as an expression of SQLite's FTS5. They hold letters, digits and marks only: no syntax."""
    return " AND ".join(f'"{phrase.tokens}"{" *" if phrase.is_beginning else ""}' for phrase in wanted)


def best_place(wanted: Sequence[Phrase], text: str) -> tuple[int, int] | None:
    """The first place in a folded text where most phrases stand near each other: beginning and end of its first one.

    None where there is none.
    """
    places = sorted(
        (at, number, at + len(phrase.tokens)) for number, phrase in enumerate(wanted) for at in phrase.places(text)
    )
    best, most, first = None, 0, 0
    near: dict[int, int] = {}
    for at, number, _ in places:
        near[number] = near.get(number, 0) + 1
        while places[first][0] < at - NEAR:
            near[places[first][1]] -= 1
            if not near[places[first][1]]:
                del near[places[first][1]]
            first += 1
        if len(near) > most:
            best, most = first, len(near)
    return None if best is None else (places[best][0], places[best][2])
