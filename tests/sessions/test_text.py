"""Text that can be stored (T-6: what a provider cuts in two must not cost the answer)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.text import well_formed, without

anything = st.text(st.characters() | st.characters(categories=["Cs"]))


@pytest.mark.req("T-6")
@given(anything)
def test_any_text_can_be_written_to_a_file(text: str) -> None:
    assert well_formed(text).encode("utf-8").decode("utf-8") == well_formed(text)
    assert well_formed(well_formed(text)) == well_formed(text)


@pytest.mark.req("T-6")
@given(st.text())
def test_whole_text_is_left_as_it_is(text: str) -> None:
    assert well_formed(text) == text


@pytest.mark.req("T-6")
@given(st.text(), st.text())
def test_halves_of_a_character_are_joined_and_lone_ones_marked(before: str, after: str) -> None:
    assert well_formed(f"{before}\ud83d\ude00{after}") == f"{before}😀{after}"
    assert well_formed(f"{before}\ud83d{after}") == f"{before}\ufffd{after}"
    assert well_formed(f"{before}\ude00\ud83d{after}") == f"{before}\ufffd\ufffd{after}"


@pytest.mark.parametrize(
    ("text", "paragraphs", "left"),
    [
        ("a", "a", ""),
        ("x\n\na", "a", "x"),
        ("a\n\ny", "a", "y"),
        ("x\n\na\n\nb\n\ny", "a\n\nb", "x\n\ny"),
        ("a\n\na", "a", "a"),
        ("a cat\n\na", "a", "a cat"),
        ("a cat", "a", "a cat"),
        ("x\n\n", "a", "x\n\n"),
        ("a", "", "a"),
        ("", "", ""),
    ],
)
def test_whole_paragraphs_are_taken_out_of_a_text_and_nothing_else(text: str, paragraphs: str, left: str) -> None:
    assert without(text, paragraphs) == left
