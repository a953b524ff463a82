"""Quotes are found where they stand, whatever a model or a typesetter did to their characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.documents.quotes import SHORT, Quote, WordSpan

pytestmark = [pytest.mark.req("Z-3"), pytest.mark.req("Z-4")]


def found(quote: str, text: str, limit: int = 9) -> list[str]:
    words = text.split()
    return [" ".join(words[span.first : span.last + 1]) for span in Quote(quote).find_in(words, limit)]


@pytest.mark.parametrize(
    ("quote", "text", "place"),
    [
        ("the archive of the library", "In THE Archive of the library, we", "THE Archive of the library,"),
        ("the archive  of\nthe library", "the archive of the library", "the archive of the library"),
        ("first efforts of the office", "The ﬁrst eﬀorts of the oﬃce", "ﬁrst eﬀorts of the oﬃce"),
        ("a resource for citation", "a re- source for cita\u00ad tion", "a re- source for cita\u00ad tion"),
        ("a well-known method", "a well- known method", "a well- known method"),
        ("a wellknown method", "a well-known method", "a well-known method"),
        ('the author\'s "own" words', "the author’s “own” words", "the author’s “own” words"),
        ("the author’s ‘own’ words", "the author's 'own' words", "the author's 'own' words"),
        ('he said "yes" to that', "he said ’’yes’’ to that", "he said ’’yes’’ to that"),
        ("pages 12-13 and beyond", "pages 12–13 and beyond", "pages 12–13 and beyond"),
        ("one – or two – things", "one — or two — things", "one — or two — things"),
        ("and so on... to the end", "and so on… to the end", "and so on… to the end"),
        ("Straße am Flussufer", "STRASSE AM FLUSSUFER", "STRASSE AM FLUSSUFER"),
        ("“…the quoted sentence.”", "in the quoted sentence, which", "the quoted sentence,"),
        ("a sentence that ends-", "a sentence that ends- where", "a sentence that ends-"),
        ("図書館の本", "これは図書館の本です", "これは図書館の本です"),
    ],
)
def test_a_quote_is_found_through_differences_of_setting(quote: str, text: str, place: str) -> None:
    assert found(quote, text) == [place]


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("the archive of the library", "the archives of the library"),
        ("it fell by -5 degrees", "it fell by 5 degrees"),
        ("in the years 12-13 of it", "in the years 1213 of it"),
        ("art", "the heart of it"),
        ("rapist", "the rapists and the therapist"),
        ("", "anything"),
        (" “…” ", "anything “…” at all"),
        ("longer than the text", "longer than"),
    ],
)
def test_other_words_are_no_match(quote: str, text: str) -> None:
    assert found(quote, text) == []


def test_a_short_quote_must_begin_and_end_with_a_word() -> None:
    assert found("art", "heart, art (art) art-house") == ["art", "(art)", "art-house"]
    assert found("known", "old-style well-known unknown") == ["well-known"]


def test_a_short_quote_may_begin_and_end_anywhere_in_a_script_without_spaces() -> None:
    assert found("図書", "ABC図書館") == ["ABC図書館"]
    assert found("ABC", "ABC図書館") == ["ABC図書館"]
    assert found("AB", "ABC図書館") == []


def test_a_long_quote_is_found_where_a_pdf_lost_its_spaces() -> None:
    assert found("evidence of absence", "noevidenceofabsence there") == ["noevidenceofabsence"]


def test_matches_come_in_order_up_to_the_limit() -> None:
    words = "once again and once again and once again".split()
    assert Quote("once again").find_in(words, 2) == [WordSpan(0, 1), WordSpan(3, 4)]
    assert Quote("once again").find_in(words, 0) == []


def test_words_of_nothing_but_marks_that_do_not_count_shift_no_span() -> None:
    assert Quote("known method of old").find_in(["well", "-", "\u00ad", "known", "method", "of", "old"], 1) == [
        WordSpan(3, 6)
    ]


WORD = st.text("abcdefghiß éﬁŒ中ж", min_size=1, max_size=8).map(lambda word: word.replace(" ", "") or "x")


@given(st.lists(WORD, min_size=1, max_size=30), st.data())
def test_every_passage_of_a_text_is_found_in_it_whatever_its_case_and_spacing(
    words: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    gap = data.draw(st.sampled_from([" ", "\n", " \u00ad", "  ", "-\n"]))
    passage = gap.join(words[first : last + 1])
    quote = data.draw(st.sampled_from([passage, passage.upper(), f"“{passage}”", f"  {passage}. "]))
    spans = Quote(quote).find_in(words, len(words))
    assert spans
    for span in spans:
        assert 0 <= span.first <= span.last < len(words)
        assert Quote(passage).find_in(words[span.first : span.last + 1], 1)
    if last - first + 1 >= SHORT:
        assert any(span.first <= first for span in spans)


@given(st.text(max_size=40), st.lists(st.text(max_size=10), max_size=10), st.integers(0, 3))
def test_no_text_whatever_breaks_the_search(quote: str, words: list[str], limit: int) -> None:
    spans = Quote(quote).find_in(words, limit)
    assert len(spans) <= limit
    assert all(0 <= span.first <= span.last < len(words) for span in spans)
