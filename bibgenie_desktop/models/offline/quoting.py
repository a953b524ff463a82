"""Choosing what to quote: whole sentences of the passages a search delivered, the best covered first. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...sessions.language import Term, fold, is_whole, matched, sentences, words

LONGEST_QUOTE = 600
"""Characters; a longer sentence is passed over, since it is a table, a formula or a run-on of bad text."""

CUT = "[…]"
"""Ends a text that the tool cut: its last sentence is not whole."""

_MARKS = (("“", "”"), ("«", "»"), ('"', '"'))

QUOTES = 5
QUOTES_OF_ONE_PAGE = 2


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as the search tool delivers it; `page_label` and `page_index` are empty where there are no pages."""

    cite: str
    item: str
    text: str
    kind: str = "page"
    page_label: str = ""
    page_index: int | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """One or more sentences that follow each other in a passage, and the terms that occur in them."""

    passage: Passage
    text: str
    terms: tuple[Term, ...]
    score: float


def choose_quotes(passages: Sequence[Passage], terms: Sequence[Term]) -> list[Quote]:
    """The best quotes, at most QUOTES and QUOTES_OF_ONE_PAGE of one page; no text twice, nor a part of one.

    A sentence counts by the words it holds, each weighted by how few of the passages hold it, and a piece of one or a
    question by half of that; what counts for less than half of the best is left out. A quoted sentence takes its
    neighbour along if that one was chosen too.
    """
    weights = _weights(passages, terms)
    candidates: list[tuple[float, int, int, Quote]] = []
    for rank, passage in enumerate(passages):
        for position, sentence in _sentences(passage):
            if sentence.endswith(CUT) or marks_around(sentence) is None:
                continue
            if passage.kind == "page" and position == 0 and sentence[0].islower():
                continue  # it began on the page before
            found = matched(terms, sentence)
            whole = is_whole(sentence)
            if passage.kind == "item" and not whole:
                continue  # a title or a list of tags is no sentence to quote
            if found and len(sentence) <= LONGEST_QUOTE and len(words(sentence)) >= 4:
                score = sum(weights[term.stem] for term in found) / (1 + len(sentence) / 1_200)
                score *= 1 if whole and not sentence.rstrip('"”’»)').endswith("?") else 0.5
                candidates.append((score, rank, position, Quote(passage, sentence, tuple(found), score)))
    if not candidates:
        return []
    candidates.sort(key=lambda candidate: (-candidate[0], candidate[1], candidate[2]))
    best = candidates[0][0]
    chosen: dict[tuple[int, int], Quote] = {}
    seen: list[str] = []
    of_page: dict[str, int] = {}
    for score, rank, position, quote in candidates:
        if len(chosen) == QUOTES or score < best / 2:
            break
        same = " ".join(fold(word) for word in words(quote.text))
        if (
            any(same in other or other in same for other in seen)
            or of_page.get(quote.passage.cite, 0) == QUOTES_OF_ONE_PAGE
        ):
            continue
        seen.append(same)
        of_page[quote.passage.cite] = of_page.get(quote.passage.cite, 0) + 1
        chosen[rank, position] = quote
    return _joined(chosen)


def marks_around(text: str) -> tuple[str, str] | None:
    """The quotation marks to put around `text`, whose own marks stay as they are; None where it holds all kinds."""
    return next((marks for marks in _MARKS if not any(mark in text for mark in marks)), None)


def _sentences(passage: Passage) -> list[tuple[int, str]]:
    """Its sentences with their positions, which are consecutive where nothing stands between them.

    In metadata, notes and annotations each line is by itself; on a page lines mean nothing.
    """
    blocks = [passage.text] if passage.kind == "page" else passage.text.splitlines()
    found: list[tuple[int, str]] = []
    for block in blocks:
        first = found[-1][0] + 2 if found else 0
        found += enumerate(sentences(block), first)
    return found


def _weights(passages: Sequence[Passage], terms: Sequence[Term]) -> dict[str, float]:
    holding = {term.stem: 0 for term in terms}
    for passage in passages:
        for term in matched(terms, passage.text):
            holding[term.stem] += 1
    return {stem: 1 + math.log((1 + len(passages)) / (1 + count)) for stem, count in holding.items()}


def _joined(chosen: dict[tuple[int, int], Quote]) -> list[Quote]:
    """Chosen sentences that follow each other in one passage become one quote; the best quote comes first."""
    quotes: list[Quote] = []
    for (rank, position), quote in sorted(chosen.items()):
        if (rank, position - 1) in chosen and len(quotes[-1].text) + len(quote.text) <= LONGEST_QUOTE:
            before = quotes.pop()
            terms = before.terms + tuple(term for term in quote.terms if term not in before.terms)
            quote = Quote(quote.passage, f"{before.text} {quote.text}", terms, max(before.score, quote.score))
        quotes.append(quote)
    return sorted(quotes, key=lambda quote: -quote.score)
