"""The plain text of titles and notes, which are hostile HTML (S-1)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.library import plain

PIECES = [
    "<",
    ">",
    "<p>",
    "</p>",
    "<br/>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "<style",
    "</style >",
    "&lt;",
    "&amp;",
]
hostile = st.lists(st.sampled_from([*PIECES, "a", " ", "\n", "\u2003", "&#0;", "&bogus;", "<i>", "</i>"])).map("".join)


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("A <i>Sphagnum</i> bog", "A Sphagnum bog"),
        ("CO<sub>2</sub> &amp; H<sub>2</sub>O", "CO2 & H2O"),
        ("<p>One</p><p>Two<br>Three</p>", "One\nTwo\nThree"),
        ("<h1>Head</h1>\n\n  <ul><li>a</li><li>b</li></ul>", "Head\na\nb"),
        ("a&nbsp;&nbsp;b\u2003c\td", "a b c d"),
        ("x<script>alert(1)</script>y", "x y"),
        ("x<SCRIPT type='a'>if (1 < 2) { }</script >y", "x y"),
        ("x<style>p { }</style>y<!-- no <p>comment</p> -->z", "x y z"),
        ("<img src=x onerror=alert(1)>seen", "seen"),
        ("&lt;script&gt;shown as text&lt;/script&gt;", "<script>shown as text</script>"),
        ("p < 0.05 and q > 3", "p < 0.05 and q > 3"),
        ("p<0.05", "p<0.05"),
        ("an open <script>alert(1)", "an open alert(1)"),
        ("an open <!-- comment", "an open <!-- comment"),
        ("<script>a<!-- </script> b --> c", "b --> c"),
        ("<!-- <script> --> kept </script>", "kept"),
        ("", ""),
        ("<p></p>", ""),
    ],
)
def test_markup_becomes_the_text_that_a_reader_sees(markup: str, text: str) -> None:
    assert plain(markup) == text


@pytest.mark.req("S-1")
@given(hostile | st.text())
def test_any_markup_becomes_text_without_empty_lines_and_edges(markup: str) -> None:
    text = plain(markup)
    assert text == text.strip()
    assert not re.search(r"\n\s|[^\S\n]\n|[^\S\n]{2}", text)


@pytest.mark.req("S-1")
@given(st.text(st.characters(exclude_characters="<>&"), max_size=40))
def test_text_without_markup_is_only_freed_of_space(text: str) -> None:
    assert plain(text).split() == text.split()


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "piece",
    ["<script", "<script ", "<!--", "<style>", "<br", "<br ", "<", "&", "\u2003", " \n", "</script", "<a href='", "-"],
)
def test_no_markup_takes_more_than_one_pass(piece: str) -> None:
    """A note of a megabyte that opens a script at each place: looking for each one's end would not end."""
    plain(piece * (1_000_000 // len(piece)))
