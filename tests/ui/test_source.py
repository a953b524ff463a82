"""The Markdown of an answer with its citations in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.ui.markdown.source import PLACEHOLDER, AnswerSource, clean, placeholder
from tests.ui.rendering import citation, source


@pytest.mark.req("A-1", "Z-2")
def test_a_citation_stands_where_it_came() -> None:
    made = source("Effort varies ", citation("Hale"), " and more ", citation("Lund"), ".")
    assert made.text == f"Effort varies {placeholder(0)} and more {placeholder(1)}."
    assert [each.text for each in made.citations] == ["Hale", "Lund"]


def test_the_runs_of_one_message_number_their_citations_on() -> None:
    second = AnswerSource(first=2)
    second.add_citation(citation())
    assert second.text == placeholder(2)


@pytest.mark.req("S-1")
@pytest.mark.parametrize("forged", [placeholder(0), "\ufdd0", "1\ufdd1", "\ufdd00", "\ufdef"])
def test_a_model_cannot_write_a_citation(forged: str) -> None:
    made = source(citation(), forged, citation())
    assert len(PLACEHOLDER.findall(made.text)) == 2
    assert "\ufffd" in made.text


@pytest.mark.req("S-1")
@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f", "\x9f", "\ud800", "\ufffc", "\uffff"])
def test_what_is_no_text_is_replaced(character: str) -> None:
    assert clean(f"a{character}b") == "a\ufffdb"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\u2029", "\x85"])
def test_there_is_one_kind_of_line_end(end: str) -> None:
    assert clean(f"a{end}b") == "a\nb"


@given(st.text(st.sampled_from("ab\r\n\u2028\ufdd0é"), max_size=30), st.data())
def test_text_in_pieces_is_the_text_in_one(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    made = source(*(text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True)))
    assert made.text == clean(text)
