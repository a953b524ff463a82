"""Cutting a page into passages (Z-6): nothing of it is lost and nothing is doubled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.store.library_writing import PASSAGE_CHARACTERS, passages_of

paragraphs = st.one_of(
    st.text(max_size=30),
    st.builds(
        lambda word, count: word * count, st.sampled_from(["peat ", "x", "中", " ", "a\n", "🙂"]), st.integers(0, 3_000)
    ),
)
texts = st.lists(paragraphs, max_size=6).flatmap(
    lambda made: st.sampled_from(["\n\n", "\n\n\n", "\n", " "]).map(lambda joint: joint.join(made))
)


@pytest.mark.req("Z-6")
@given(texts)
def test_passages_cover_all_that_is_seen_in_order_and_without_overlap(text: str) -> None:
    end = 0
    for start, length in passages_of(text):
        assert length > 0
        assert text[end:start].strip() == ""
        assert start >= end
        end = start + length
    assert text[end:].strip() == ""
    assert end <= len(text)


@pytest.mark.req("Z-6")
@given(texts)
def test_no_passage_is_longer_than_twice_the_size_aimed_at(text: str) -> None:
    assert all(length <= 2 * PASSAGE_CHARACTERS for _, length in passages_of(text))


@pytest.mark.req("Z-6")
def test_short_paragraphs_are_gathered_and_never_cut() -> None:
    text = "\n\n".join([f"Paragraph {number}. " + "x" * 250 for number in range(8)])
    assert [text[start : start + length].count("Paragraph") for start, length in passages_of(text)] == [3, 3, 2]


@pytest.mark.req("Z-6")
def test_a_long_paragraph_is_cut_between_words() -> None:
    text = "moss " * 1_000
    pieces = [text[start : start + length] for start, length in passages_of(text.strip())]
    assert len(pieces) > 3
    assert {word for piece in pieces for word in piece.split()} == {"moss"}


@pytest.mark.req("Z-6")
@pytest.mark.parametrize("text", ["", " ", "\n\n", "\n\n \n\n"])
def test_an_empty_page_has_no_passages(text: str) -> None:
    assert passages_of(text) == []
