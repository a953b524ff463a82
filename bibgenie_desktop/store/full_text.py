"""Expressions of SQLite's FTS5 from search words: nothing a user types can be taken for syntax."""

from __future__ import annotations

from collections.abc import Iterable

from ..sessions.language import Term


def one_word(term: Term) -> str:
    """Matches the word itself and its stem; if that is long enough, also every word that begins with one of them."""
    beginning = "*" if term.is_prefix else ""
    forms = dict.fromkeys((term.word, term.stem))
    return f"({' OR '.join(_quoted(form) + beginning for form in forms)})"


def all_words(terms: Iterable[Term]) -> str:
    """Matches passages that hold every word."""
    return " AND ".join(one_word(term) for term in terms)


def any_word(terms: Iterable[Term]) -> str:
    """Matches passages that hold at least one word."""
    return " OR ".join(one_word(term) for term in terms)


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""').replace("\0", " ") + '"'
