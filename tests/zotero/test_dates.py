"""Zotero's dates: a sortable form and the writer's words in one text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.zotero.dates import written_date, year_of


@pytest.mark.parametrize(
    ("stored", "year", "written"),
    [
        ("2020-03-15 2020-03-15", "2020", "2020-03-15"),
        ("2011-00-00 2011", "2011", "2011"),
        ("1999-00-00 circa 1999", "1999", "circa 1999"),
        ("2001-00-00 Spring 2001", "2001", "Spring 2001"),
        ("1998-05-00 May 1998", "1998", "May 1998"),
        ("0079-10-24 24 October 79", "79", "24 October 79"),
        ("0000-00-00 n.d.", "", "n.d."),
        ("0000-00-00 in press", "", "in press"),
        ("0000-00-00 between 1890 and 1895", "1890", "between 1890 and 1895"),
        ("2019", "2019", "2019"),
        ("15 March 2020", "2020", "15 March 2020"),
        ("[1998?]", "1998", "[1998?]"),
        ("2021-05-06", "2021", "2021-05-06"),
        ("2024-01-15 09:00:00", "2024", "2024-01-15 09:00:00"),
        ("undated", "", "undated"),
        ("", "", ""),
        ("no. 12345", "", "no. 12345"),
        ("forthcoming", "", "forthcoming"),
    ],
)
@pytest.mark.req("Z-1")
def test_a_date_gives_its_year_and_its_words(stored: str, year: str, written: str) -> None:
    assert year_of(stored) == year
    assert written_date(stored) == written


@given(
    st.integers(1, 9999),
    st.integers(0, 12),
    st.integers(0, 31),
    st.text(min_size=1).filter(lambda words: not words[:5].strip()[:2].isdigit()),
)
@pytest.mark.req("Z-1")
def test_the_sortable_form_decides_whatever_the_words(year: int, month: int, day: int, words: str) -> None:
    stored = f"{year:04}-{month:02}-{day:02} {words}"
    assert year_of(stored) == str(year)
    assert written_date(stored) == words


@given(st.text())
@pytest.mark.req("Z-1")
def test_any_text_has_a_year_of_digits_or_none(text: str) -> None:
    year = year_of(text)
    assert year == "" or (year.isdigit() and len(year) <= 4)
