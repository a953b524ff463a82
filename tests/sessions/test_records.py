"""The short reference of a work, as the links of answers show it (Z-2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.library import Creator, ItemRecord
from bibgenie_desktop.sessions.locators import PERSONAL, ItemRef

REF = ItemRef(PERSONAL, "ABCD2345")
HALE, OKAFOR, VALE = Creator("author", "Hale", "Jo"), Creator("author", "Okafor"), Creator("author", "Vale")
EDITOR = Creator("editor", "Ruiz", "Ana")


@pytest.mark.req("Z-2")
@pytest.mark.parametrize(
    ("creators", "title", "year", "expected"),
    [
        ((HALE,), "Peat", "2010", "Hale 2010"),
        ((HALE, OKAFOR), "Peat", "2010", "Hale & Okafor 2010"),
        ((HALE, OKAFOR, VALE), "Peat", "2010", "Hale et al. 2010"),
        ((HALE, EDITOR), "Peat", "2010", "Hale 2010"),
        ((EDITOR,), "Peat", "2010", "Ruiz 2010"),
        ((HALE,), "Peat", "", "Hale"),
        ((Creator("author", "World Peat Union"),), "Peat", "2010", "World Peat Union 2010"),
        ((Creator("author", "", "Aristotle"),), "Peat", "", "Aristotle"),
        ((Creator("author", "", ""), HALE), "Peat", "2010", "Hale 2010"),
        ((), "Peat", "2010", "Peat 2010"),
        (
            (),
            "A <i>long</i>\ntitle that goes on and on beyond all reason",
            "",
            "A long title that goes on and on beyond…",
        ),
        ((), "", "2010", "book 2010"),
        ((Creator("author", "<b>Hale</b>"),), "Peat", "2010", "Hale 2010"),
    ],
)
def test_a_work_is_named_by_author_and_year_or_by_its_title(
    creators: tuple[Creator, ...], title: str, year: str, expected: str
) -> None:
    assert ItemRecord(REF, "book", title, creators, year).short_ref == expected


@pytest.mark.req("Z-2", "S-1")
@given(
    st.lists(
        st.builds(Creator, st.sampled_from(["author", "editor"]), st.text(max_size=9), st.text(max_size=9)), max_size=4
    ),
    st.text(),
    st.sampled_from(["", "2010"]),
)
def test_any_work_has_a_short_reference_of_one_line(creators: list[Creator], title: str, year: str) -> None:
    short_ref = ItemRecord(REF, "", title, tuple(creators), year).short_ref
    assert short_ref.strip() == short_ref != ""
    assert len(short_ref.splitlines()) == 1
