"""Reading text: what a page's raw text becomes before anyone reads, indexes or quotes it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.documents.reading import limited, one_line, paragraphs

pytestmark = pytest.mark.req("Z-4")


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("two\nlines\n", "two lines"),
        ("a divi-\nded word", "a divided word"),
        ("a divi‐\n  ded word", "a divided word"),
        ("a divi\u00ad\nded and a soft\u00adly hyphened word", "a divided and a softly hyphened word"),
        ("the COVID-\n19 years of Smith-\nJones", "the COVID-19 years of Smith-Jones"),
        ("a dash -\nset apart", "a dash - set apart"),
        ("pages 12-\n13", "pages 12- 13"),
        ("the ﬁrst eﬀort of oﬃce", "the first effort of office"),
        ("x² + ½ … ™", "x² + ½ … ™"),
        ("nul\x00s, bells\x07 and\ttabs\x1fand\x85more", "nuls, bells and tabs and more"),
        ("over\u202eridden\u202c, zero\u200bwidth, half \ud83d", "overridden, zerowidth, half"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("thin\u2009and\u00a0hard spaces", "thin and hard spaces"),
    ],
)
def test_a_paragraph_is_one_line_of_whole_words(raw: str, read: str) -> None:
    assert paragraphs([raw]) == read


def test_paragraphs_are_separated_by_one_empty_line_and_empty_ones_are_left_out() -> None:
    assert paragraphs(["One.\n", " \n", "Two\nlines.\n"]) == "One.\n\nTwo lines."


def test_a_hyphen_at_the_end_of_a_block_stays() -> None:
    """The next block may be a caption or another column: nothing says that the word goes on there."""
    assert paragraphs(["half-\n", "way"]) == "half-\n\nway"


def test_what_is_too_long_ends_in_a_mark() -> None:
    assert limited("abcdef", 6) == "abcdef"
    assert limited("abcdefg", 6) == "abcde…"


@given(st.lists(st.text()))
def test_reading_text_holds_no_controls_and_reading_it_again_changes_nothing(blocks: list[str]) -> None:
    text = paragraphs(blocks)
    kinds = {unicodedata.category(character) for character in text.replace("\n", "")}
    assert not kinds & {"Cc", "Cs", "Zl", "Zp"}
    assert "\u00ad" not in text
    assert paragraphs(text.split("\n\n")) == text
    assert "\n" not in one_line(text)
