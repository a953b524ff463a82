"""Text that can be stored (T-6: what a provider cuts in two must not cost the answer)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.text import well_formed

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
