"""Answers as Markdown (Z-2, Z-3, S-1, interface.md)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.engine.markdown import citation_markdown, text_markdown
from bibgenie_desktop.sessions.citations import Citation
from bibgenie_desktop.sessions.locators import PERSONAL, ItemRef, PageLocator, SectionLocator
from bibgenie_desktop.sessions.markdown import escaped, unescaped, unlinked
from bibgenie_desktop.sessions.parts import (
    TextPart,
)

LABELS = ItemRef(PERSONAL, "PDFLABL2")
LINK = "zotero://open-pdf/library/items/PDFLABL2?page=3"
SPECIAL = set("\\[]*_`<>~|")


@pytest.mark.req("Z-2", "Z-3")
@pytest.mark.parametrize(
    ("state", "reason", "link", "shown"),
    [
        ("verified", "", LINK, f"[Okafor 2014, p. 1]({LINK})"),
        ("unverified", "it was not read", LINK, f"[Okafor 2014, p. 1]({LINK}) (unverified: it was not read)"),
        ("unverified", "", LINK, f"[Okafor 2014, p. 1]({LINK}) (unverified)"),
        ("wrong", "no such words", LINK, f"~~[Okafor 2014, p. 1]({LINK})~~ (wrong: no such words)"),
        ("wrong", "no such item", "", "~~[Okafor 2014, p. 1]~~ (wrong: no such item)"),
    ],
)
def test_a_citation_is_a_link_that_never_hides_its_state(state: str, reason: str, link: str, shown: str) -> None:
    assert citation_markdown("Okafor 2014, p. 1", link, state, reason) == shown  # type: ignore[arg-type]


@pytest.mark.req("S-1", "Z-2")
@pytest.mark.parametrize(
    "label",
    [
        "Title](https://evil.example)",
        "![picture](https://evil.example/spy.png)",
        "<script>alert(1)</script>",
        "*bold* _it_ `code` ~~gone~~ | cell",
        "back\\slash\\",
        "line\n\n# heading",
        "[[cite:ABCD2345@1]]",
    ],
)
def test_no_label_breaks_out_of_its_link(label: str) -> None:
    shown = citation_markdown(label, LINK, "verified", "")
    text = shown.removeprefix("[").removesuffix(f"]({LINK})")
    assert shown == f"[{text}]({LINK})"
    assert unescaped(text) == " ".join(label.split())
    assert "\n" not in shown
    bare = text.replace("\\\\", "")
    assert all(bare[place - 1 : place] == "\\" for place, mark in enumerate(bare) if mark in SPECIAL - {"\\"})
    assert not bare.endswith("\\")
    reasoned = citation_markdown("x", LINK, "wrong", label)
    assert "\n" not in reasoned
    assert "](https" not in reasoned.replace("\\](https", "")


@pytest.mark.req("S-1")
@given(st.text())
def test_escaped_text_reads_as_it_was(text: str) -> None:
    assert unescaped(escaped(text)) == text


@pytest.mark.req("S-1", "Z-2")
@pytest.mark.parametrize("before", ["See there!", "A backslash \\"])
def test_what_stands_before_a_citation_makes_no_picture_of_it(before: str) -> None:
    token = "[[cite:PDFLABL2@2]]"
    citation = Citation(token, "verified", "Okafor 2014", PageLocator(LABELS, 2, "1"))
    assert text_markdown(TextPart(f"{before}{token}.", (citation,))) == f"{before} [Okafor 2014, p. 1]({LINK})."
    assert text_markdown(TextPart(f"See{token}.", (citation,))) == f"See[Okafor 2014, p. 1]({LINK})."


@pytest.mark.req("Z-2")
def test_a_link_into_a_book_holds_no_bracket() -> None:
    cfi = "epubcfi(/6/4!/4/2[a)b])"
    citation = Citation("[[cite:PDFLABL2@s1]]", "verified", "Marsh 1998", SectionLocator(LABELS, 1, "x", cfi, "Ends"))
    shown = text_markdown(TextPart(citation.token, (citation,)))
    assert shown.startswith("[Marsh 1998, “Ends”](zotero://open-pdf/library/items/PDFLABL2?cfi=epubcfi%28")
    assert shown.count("(") == shown.count(")") == 1


@pytest.mark.req("S-1", "Z-3")
@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[Hale 2010, p. 4](zotero://open-pdf/library/items/PDFLABL2?page=4)", "]\\("),
        ("[Hale 2010, p. 4][1]\n\n[1]: zotero://select/library/items/PDFLABL2", "]\\:"),
        ("<zotero://select/library/items/PDFLABL2>", "\\<zotero"),
        ('<a href="zotero://x">Hale 2010, p. 4</a>', "\\<a"),
        ("![Hale](http://example.org/x.png)", "]\\("),
    ],
)
def test_a_link_that_a_model_wrote_itself_is_none(written: str, shown: str) -> None:
    """Only the app links, and only what it checked; a forged citation stays visible text."""
    assert shown in text_markdown(TextPart(written))
    assert "](" not in text_markdown(TextPart(written))


@pytest.mark.req("S-1")
@given(st.text(alphabet="[](:<a\\ ", max_size=40), st.integers(0, 40))
def test_a_forged_link_is_found_wherever_the_stream_is_cut(text: str, cut: int) -> None:
    first, second = text[:cut], text[cut:]
    told = unlinked(first) + unlinked(second, first)
    assert "](" not in told
    assert "][" not in told
    assert "]:" not in told
