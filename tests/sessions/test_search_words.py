"""The words of a question, and whether a text holds them (Z-6)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.language import Term, fold, matched, search_terms, words

# Letters of several scripts, what stands between them, and forms that have another, compatible one.
texts = st.text() | st.text(st.sampled_from("aeiosußÄéñcłşßﬁℌ№½Ａκйжی中文한국 ’'-‐‑.,_\u0301"))


@given(texts)
def test_folding_is_the_same_when_done_twice(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(texts)
def test_folding_knows_neither_case_nor_composition(text: str) -> None:
    assert fold(text.casefold()) == fold(text)
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text)) == fold(text)


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("Müller", "muller"),
        ("Straße", "strasse"),
        ("ﬁnal", "final"),
        ("ℌamlet", "hamlet"),
        ("Ａ１", "a1"),
        ("Ångström", "angstrom"),
        ("author’s", "author's"),
        ("re‑use", "re-use"),
        ("한국", "한국"),
    ],
)
def test_what_words_are_compared_by(word: str, folded: str) -> None:
    assert fold(word) == folded


@pytest.mark.req("Z-6")
@given(texts)
def test_every_word_of_a_question_is_found_in_that_question(question: str) -> None:
    terms = search_terms(question)
    assert matched(terms, question) == terms


@pytest.mark.req("Z-6")
@given(texts)
def test_a_question_of_words_has_terms_each_once_and_in_order(question: str) -> None:
    terms = search_terms(question)
    assert bool(terms) == bool(words(question))
    assert len({term.stem for term in terms}) == len(terms)
    positions = [words(question).index(term.word) for term in terms]
    assert positions == sorted(positions)


@pytest.mark.req("Z-6")
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What does front matter numbering do to page citations?",
            ["front", "matter", "numbering", "page", "citations"],
        ),
        ("Was bewirkt die Seitenzählung im Vorspann?", ["bewirkt", "Seitenzählung", "Vorspann"]),
        ("Quelle est la méthode de lecture ?", ["méthode", "lecture"]),
        ("¿Cuál es el método?", ["método"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("citation Citations CITATION", ["citation"]),
        ("the author's notes, the authors’ note", ["author's", "notes"]),
        ("C and R", ["C", "and", "R"]),
        ("...", []),
        ("", []),
    ],
)
def test_the_words_that_carry_a_question(question: str, expected: list[str]) -> None:
    assert [term.word for term in search_terms(question)] == expected


@pytest.mark.req("Z-6")
@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("cats", "Two cats slept."),
        ("cats", "The cat slept."),
        ("uses", "It uses peat."),
        ("sizes", "All sizes fit."),
        ("taxes", "A tax is due."),
        ("citations", "Each citation counts."),
        ("citation", "The citations count."),
        ("reading", "He reads much."),
        ("Müller", "MULLER wrote it."),
        ("Hale's", "As Hale wrote."),
        ("Hale", "Hale’s book."),
        ("known", "a well‐known fact"),
        ("known", "a well-known fact"),
        ("matière", "la matie\u0300re"),
        ("ﬁndings", "one finding"),
    ],
)
def test_a_word_is_found_in_its_forms(asked: str, text: str) -> None:
    assert [term.word for term in matched(search_terms(asked), text)] == [asked]


@pytest.mark.req("Z-6")
@pytest.mark.parametrize(
    ("asked", "text"), [("art", "an article"), ("cat", "catalogue"), ("cats", "catalogue"), ("p", "page")]
)
def test_a_short_word_is_not_found_in_longer_ones(asked: str, text: str) -> None:
    assert matched(search_terms(asked), text) == []


def test_a_stem_stands_for_what_begins_with_it_from_four_letters_on() -> None:
    assert Term("pages", "page").matches("pagination") is False
    assert Term("pages", "page").matches("pageful")
    assert not Term("arts", "art").matches("artful")
