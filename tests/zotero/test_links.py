"""Zotero's links: built for every locator, read in every form."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.locators import (
    PERSONAL,
    AnnotationLocator,
    ItemLocator,
    ItemRef,
    LibraryRef,
    Locator,
    MalformedLocator,
    PageLocator,
    SectionLocator,
)
from bibgenie_desktop.zotero.links import OpenLink, SelectLink, build_link, parse_link

GROUP = LibraryRef(555)
WORK, NOTE, PDF = ItemRef(PERSONAL, "ART2SMTH"), ItemRef(PERSONAL, "NTECHLD2"), ItemRef(PERSONAL, "PDFSMTH2")
MARK, BOOK = ItemRef(PERSONAL, "ANNHGLT2"), ItemRef(PERSONAL, "EPUBBGS2")
GROUP_PDF, GROUP_MARK = ItemRef(GROUP, "GRPPDF22"), ItemRef(GROUP, "GRPANN22")
CFI = "epubcfi(/6/4!/4/2[id],/1:4,/1:11)"
CODED_CFI = "epubcfi%28%2F6%2F4%21%2F4%2F2%5Bid%5D%2C%2F1%3A4%2C%2F1%3A11%29"

GOLDEN: list[tuple[Locator, str]] = [
    (ItemLocator(WORK), "zotero://select/library/items/ART2SMTH"),
    (ItemLocator(NOTE), "zotero://select/library/items/NTECHLD2"),
    (ItemLocator(ItemRef(GROUP, "GRPART22")), "zotero://select/groups/555/items/GRPART22"),
    (PageLocator(PDF, 0, "117"), "zotero://open-pdf/library/items/PDFSMTH2?page=1"),
    (PageLocator(PDF, 3, "iv"), "zotero://open-pdf/library/items/PDFSMTH2?page=4"),
    (PageLocator(GROUP_PDF, 11), "zotero://open-pdf/groups/555/items/GRPPDF22?page=12"),
    (AnnotationLocator(MARK, PDF, 0, "117"), "zotero://open-pdf/library/items/PDFSMTH2?page=1&annotation=ANNHGLT2"),
    (AnnotationLocator(MARK, BOOK), "zotero://open-pdf/library/items/EPUBBGS2?annotation=ANNHGLT2"),
    (
        AnnotationLocator(GROUP_MARK, GROUP_PDF, 2),
        "zotero://open-pdf/groups/555/items/GRPPDF22?page=3&annotation=GRPANN22",
    ),
    (
        SectionLocator(BOOK, 1, "text/ch1.xhtml", CFI, "Chapter 1"),
        f"zotero://open-pdf/library/items/EPUBBGS2?cfi={CODED_CFI}",
    ),
    (SectionLocator(BOOK, 1, "text/ch1.xhtml"), "zotero://open-pdf/library/items/EPUBBGS2"),
]


@pytest.mark.parametrize(("locator", "link"), GOLDEN)
@pytest.mark.req("Z-2")
def test_the_link_of_a_locator(locator: Locator, link: str) -> None:
    assert build_link(locator) == link


@pytest.mark.parametrize(
    ("link", "parsed"),
    [
        ("zotero://select/library/items/ART2SMTH", SelectLink(PERSONAL, (WORK,))),
        ("zotero://select/groups/555/items/GRPPDF22", SelectLink(GROUP, (GROUP_PDF,))),
        ("zotero://select/library/items?itemKey=ART2SMTH,NTECHLD2", SelectLink(PERSONAL, (WORK, NOTE))),
        ("zotero://select/library/items?itemKey=ART2SMTH%2CNTECHLD2", SelectLink(PERSONAL, (WORK, NOTE))),
        (
            "zotero://select/library/collections/CPEAT222",
            SelectLink(PERSONAL, collection=ItemRef(PERSONAL, "CPEAT222")),
        ),
        (
            "zotero://select/library/collections/CPEAT222/items/ART2SMTH",
            SelectLink(PERSONAL, (WORK,), ItemRef(PERSONAL, "CPEAT222")),
        ),
        ("zotero://select/groups/555/searches/SRCHTAG2", SelectLink(GROUP, search=ItemRef(GROUP, "SRCHTAG2"))),
        ("zotero://open-pdf/library/items/PDFSMTH2", OpenLink(PDF)),
        ("zotero://open/library/items/PDFSMTH2", OpenLink(PDF)),
        ("zotero://open/library/items/PDFSMTH2?page=7", OpenLink(PDF, 6)),
        ("zotero://open-pdf/groups/555/items/GRPPDF22?page=12", OpenLink(GROUP_PDF, 11)),
        ("zotero://open-pdf/library/items/PDFSMTH2?annotation=ANNHGLT2", OpenLink(PDF, annotation=MARK)),
        ("zotero://open-pdf/library/items/PDFSMTH2?page=2&annotation=ANNHGLT2", OpenLink(PDF, 1, MARK)),
        (f"zotero://open-pdf/library/items/EPUBBGS2?cfi={CODED_CFI}", OpenLink(BOOK, cfi=CFI)),
        ("zotero://open-pdf/library/items/EPUBBGS2?sel=%23p1%20%3E%20b", OpenLink(BOOK, selector="#p1 > b")),
        ("ZOTERO://Open-PDF/library/items/PDFSMTH2?page=7#here", OpenLink(PDF, 6)),
        # forms that Zotero no longer writes
        ("zotero://select/items/0_ART2SMTH", SelectLink(PERSONAL, (WORK,))),
        ("zotero://select/items/1_ART2SMTH", SelectLink(PERSONAL, (WORK,))),
        ("zotero://open-pdf/0_PDFSMTH2/7", OpenLink(PDF, 6)),
        ("zotero://open-pdf/0_PDFSMTH2", OpenLink(PDF)),
        # places that Zotero skips
        ("zotero://open-pdf/library/items/EPUBBGS2?page=NaN", OpenLink(BOOK)),
        ("zotero://open-pdf/library/items/PDFSMTH2?page=631%", OpenLink(PDF)),
        ("zotero://open-pdf/library/items/PDFSMTH2?page=0", OpenLink(PDF)),
        ("zotero://open-pdf/library/items/PDFSMTH2?page=1٣", OpenLink(PDF)),
        ("zotero://open-pdf/library/items/PDFSMTH2?page=", OpenLink(PDF)),
        ("zotero://open-pdf/library/items/PDFSMTH2?annotation=nokey", OpenLink(PDF)),
        ("zotero://open-pdf/library/items/EPUBBGS2?cfi=chapter1", OpenLink(BOOK)),
        ("zotero://open-pdf/0_PDFSMTH2/seven", OpenLink(PDF)),
    ],
)
@pytest.mark.req("Z-2")
def test_a_link_is_read_in_every_form_that_zotero_wrote(link: str, parsed: SelectLink | OpenLink) -> None:
    assert parse_link(link) == parsed


@pytest.mark.parametrize(
    "link",
    [
        "",
        "https://example.org/select/library/items/ART2SMTH",
        "zotero:select/library/items/ART2SMTH",
        "zotero://report/library/items/ART2SMTH",
        "zotero://select/library/items/art2smth",
        "zotero://select/library/items/ART2SMTH/",
        "zotero://select/library/items/ART2SMTH\n",
        "zotero://select/library/items/../ART2SMTH",
        "zotero://select/library/items",
        "zotero://select/library/items?itemKey=",
        "zotero://select/library/items?itemKey=ART2SMTH,short",
        "zotero://select/library",
        "zotero://select/users/9876543/items/ART2SMTH",
        "zotero://select/group/555/items/GRPART22",
        "zotero://select/groups/0/items/GRPART22",
        "zotero://select/groups/-5/items/GRPART22",
        "zotero://select/groups/" + "9" * 5000 + "/items/GRPART22",
        "zotero://select/items/77_ART2SMTH",
        "zotero://open-pdf/77_PDFSMTH2/7",
        "zotero://open-pdf/library/collections/CPEAT222",
        "zotero://open-pdf/library/items/?page=631%",
        "zotero://open-pdf/library/items/PDFSMTH2/7",
        "zotero://select/library/items/ART2SMTH?" + "x" * 40_000,
    ],
)
@pytest.mark.req("Z-2")
def test_what_is_no_link_of_zoteros_is_refused(link: str) -> None:
    with pytest.raises(MalformedLocator):
        parse_link(link)


@pytest.mark.parametrize(
    "locator",
    [
        PageLocator(PDF, -1),
        AnnotationLocator(MARK, PDF, -3),
        AnnotationLocator(GROUP_MARK, PDF, 0),
        SectionLocator(BOOK, 0, "a.xhtml", "javascript:alert(1)"),
        SectionLocator(BOOK, 0, "a.xhtml", "epubcfi(/6/2!/4\n)"),
        SectionLocator(BOOK, 0, "a.xhtml", "epubcfi(/6/2!/4\ud800)"),
        SectionLocator(BOOK, 0, "a.xhtml", "epubcfi(" + "/2" * 5000 + ")"),
    ],
)
@pytest.mark.req("Z-2")
def test_no_link_is_built_for_a_locator_that_names_no_place(locator: Locator) -> None:
    with pytest.raises(MalformedLocator):
        build_link(locator)


libraries = st.just(PERSONAL) | st.builds(LibraryRef, st.integers(1, 10**9))
keys = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=8, max_size=8)
refs = st.builds(ItemRef, libraries, keys)
pages = st.integers(0, 2**31 - 1)
steps = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=60)


@st.composite
def annotation_locators(draw: st.DrawFn) -> AnnotationLocator:
    attachment = draw(refs)
    annotation = ItemRef(attachment.library, draw(keys))
    return AnnotationLocator(annotation, attachment, draw(st.none() | pages), draw(st.text()))


@st.composite
def section_locators(draw: st.DrawFn) -> SectionLocator:
    spine = draw(st.integers(0, 9999))
    cfi = f"epubcfi(/6/{2 * spine + 2}!{draw(steps)})"
    return SectionLocator(draw(refs), spine, draw(st.text()), cfi, draw(st.text()))


@given(
    st.builds(ItemLocator, refs)
    | st.builds(PageLocator, refs, pages, st.text())
    | annotation_locators()
    | section_locators()
)
@pytest.mark.req("Z-2")
def test_a_link_read_back_names_the_same_place_as_far_as_a_link_can(locator: Locator) -> None:
    """Labels, titles and names of files inside a book are not part of a link; everything else comes back."""
    match locator:
        case ItemLocator():
            held: Locator = locator
        case PageLocator() | AnnotationLocator():
            held = replace(locator, page_label="")
        case SectionLocator():
            held = replace(locator, href="", section_title="")
    link = build_link(locator)
    assert parse_link(link).locator == held
    assert link.isascii()
    assert build_link(held) == link


@given(refs, st.integers(0, 9999), st.text())
@pytest.mark.req("Z-2")
def test_a_section_without_a_cfi_opens_its_book(book: ItemRef, spine: int, href: str) -> None:
    parsed = parse_link(build_link(SectionLocator(book, spine, href)))
    assert parsed == OpenLink(book)
    assert parsed.locator is None


@pytest.mark.parametrize("cfi", ["epubcfi(/4/2!/4)", "epubcfi(/6/3!/4)", "epubcfi(/6/0!/4)", "epubcfi(x)"])
@pytest.mark.req("Z-2")
def test_a_cfi_that_names_no_section_gives_no_locator_but_still_a_link(cfi: str) -> None:
    parsed = parse_link(build_link(SectionLocator(BOOK, 0, "", cfi)))
    assert parsed == OpenLink(BOOK, cfi=cfi)
    assert parsed.locator is None


@given(st.text() | st.text("zotero:/-pdfselctibrygu0_ART2?&=%", max_size=80).map("zotero://".__add__))
@pytest.mark.req("Z-2")
def test_any_text_is_read_or_refused_and_never_anything_else(text: str) -> None:
    try:
        parsed = parse_link(text)
    except MalformedLocator:
        return
    assert isinstance(parsed, SelectLink | OpenLink)
