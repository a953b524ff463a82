"""Long text is cut without cutting a visible character in two (C-11, field note C21)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.compaction.cutting import border_after, border_before, cut_middle

pytestmark = pytest.mark.req("C-11")

PIECES = ["a", " ", "é", "e\u0301", "字", "👩🏽‍🔬", "🇩🇪", "🇫🇷", "क्षि", "\r\n", "\ud800", "☺️"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=80).map("".join)


def test_shorter_text_stays_whole_and_longer_text_says_what_is_missing() -> None:
    assert cut_middle("short", 5) == "short"
    cut = cut_middle("a" * 750 + "b" * 1_000 + "c" * 250, 1_000)
    assert cut == f"{'a' * 750}\n[… 1,000 characters left out …]\n{'c' * 250}"


@given(TEXTS, st.integers(4, 60))
def test_what_is_cut_can_be_encoded_and_is_never_longer_than_asked_for(text: str, characters: int) -> None:
    cut = cut_middle(text, characters)
    cut.encode("utf-8")
    head, _, rest = cut.partition("\n[… ")
    if rest:
        assert len(head) + len(rest.partition("…]\n")[2]) <= characters


@pytest.mark.parametrize("cluster", ["e\u0301", "👩🏽‍🔬", "🇩🇪", "क्षि", "☺️", "\r\n"])
def test_no_visible_character_is_cut_in_two(cluster: str) -> None:
    text = f"ab{cluster}cd"
    for place in range(3, 2 + len(cluster)):
        assert border_before(text, place) <= 2 or cluster == "क्षि"
        assert border_after(text, place) >= place
    assert border_before(text, 2) == border_after(text, 2) == 2


def test_of_flags_in_a_row_whole_ones_stay() -> None:
    flags = "🇩🇪🇫🇷🇯🇵"
    assert [border_before(flags, place) for place in range(1, 6)] == [0, 2, 2, 4, 4]
