"""EPUBs: sections in the spine's order, their titles, text and CFIs; and books that mean harm."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from bibgenie_desktop.documents import epub_archive, section_text
from bibgenie_desktop.documents.epub import EpubDocument
from bibgenie_desktop.documents.markup import parse
from bibgenie_desktop.documents.port import DocumentProblem
from bibgenie_desktop.documents.quotes import Quote
from bibgenie_desktop.documents.reading import TEXT_LIMIT
from bibgenie_desktop.documents.section_text import read_section
from bibgenie_desktop.sessions.library import PageText
from tests.documents.epubs import CONTAINER, package, write_epub, write_zip, xhtml

pytestmark = pytest.mark.req("Z-4")


@contextmanager
def opened(path: Path) -> Iterator[EpubDocument]:
    document = EpubDocument(str(path))
    try:
        yield document
    finally:
        document.close()


def sections(path: Path) -> list[PageText]:
    with opened(path) as document:
        return [document.page(index) for index in range(document.page_count)]


def refusal(path: Path) -> str:
    with pytest.raises(DocumentProblem) as raised:
        sections(path)
    return raised.value.code


def element_at(root: etree._Element, cfi: str) -> etree._Element:
    """The element that a CFI below a section names, by the rule that even steps count elements."""
    path = re.fullmatch(r"epubcfi\(/6/\d+!((?:/\d+)*)\)", cfi)
    assert path is not None
    for step in path[1].split("/")[1:]:
        elements = [child for child in root if isinstance(child.tag, str)]
        assert int(step) % 2 == 0
        root = elements[int(step) // 2 - 1]
    return root


# Text and anchors


def test_sections_come_in_the_order_of_the_spine_with_paragraphs_and_files(tmp_path: Path) -> None:
    book = write_epub(
        tmp_path / "book.epub",
        {
            "one.xhtml": xhtml("<h1>One</h1><p>It was\n the  best <i>of</i> bogs.</p><p>It was the worst.</p>"),
            "two.xhtml": xhtml("<p>The end.</p>"),
        },
    )
    first, second = sections(book)
    assert first.text == "One\n\nIt was the best of bogs.\n\nIt was the worst."
    assert (first.index, first.href) == (0, "OEBPS/one.xhtml")
    assert (second.index, second.href, second.text) == (1, "OEBPS/two.xhtml", "The end.")


def test_anchors_name_the_block_that_each_paragraph_starts_in(tmp_path: Path) -> None:
    body = (
        "<h1>One</h1><div><p>First.</p><!-- a remark --><ul><li>Second.</li><li><b>Third</b> here.</li></ul></div>"
        "Loose."
    )
    (section,) = sections(write_epub(tmp_path / "book.epub", {"one.xhtml": xhtml(body)}))
    assert section.text == "One\n\nFirst.\n\nSecond.\n\nThird here.\n\nLoose."
    assert section.anchors == (
        (0, "epubcfi(/6/2!/4/2)"),
        (5, "epubcfi(/6/2!/4/4/2)"),
        (13, "epubcfi(/6/2!/4/4/4/2)"),
        (22, "epubcfi(/6/2!/4/4/4/4)"),
        (35, "epubcfi(/6/2!/4)"),
    )


def test_what_is_not_read_aloud_is_left_out(tmp_path: Path) -> None:
    body = (
        "<script>alert(1)</script><style>p {}</style><p>Seen<br/>and <ruby>漢字<rt>かんじ</rt></ruby>.</p>"
        "<table><tr><td>A</td><td>B</td></tr><tr><td>C</td></tr></table><template>no</template>"
    )
    (section,) = sections(write_epub(tmp_path / "book.epub", {"one.xhtml": xhtml(body)}))
    assert section.text == "Seen and 漢字.\n\nA B\n\nC"


BLOCK = st.sampled_from(["p", "div", "li", "blockquote", "section", "h2"])
INLINE = st.sampled_from(["i", "span", "a"])
MARKUP = st.recursive(
    st.sampled_from(["word ", "two words", " ", "<!-- remark -->", "<?php no ?>", "<br/>", "ﬁn\u00ad&amp; "]),
    lambda inner: st.tuples(st.one_of(BLOCK, INLINE), st.lists(inner, max_size=4)).map(
        lambda element: f"<{element[0]}>{''.join(element[1])}</{element[0]}>"
    ),
    max_leaves=25,
)


@given(st.lists(MARKUP, max_size=5).map("".join))
def test_no_text_is_lost_and_every_anchor_leads_to_an_element_that_holds_its_paragraph(body: str) -> None:
    root = parse(xhtml(body).encode())
    assert root is not None
    section = read_section(root, "/6/8!")
    paragraphs = section.text.split("\n\n") if section.text else []
    whole = etree.tostring(root[1], method="text", encoding="unicode")
    assert re.sub(r"\s", "", section.text) == re.sub(r"[\s\u00ad]", "", whole.replace("ﬁ", "fi"))
    assert len(section.anchors) == len(paragraphs)
    for (offset, cfi), paragraph in zip(section.anchors, paragraphs, strict=True):
        assert section.text.startswith(paragraph, offset)
        held = "".join(str(text) for text in element_at(root, cfi).itertext("{*}*"))
        assert re.sub(r"\s", "", paragraph) in re.sub(r"[\s\u00ad]", "", held.replace("ﬁ", "fi"))


def test_a_section_of_too_much_text_is_cut_and_its_anchors_are_bounded(tmp_path: Path) -> None:
    long = xhtml("<p>" + "word " * 50_000 + "</p>")
    many = xhtml("<p>a</p>" * 20_000)
    first, second = sections(write_epub(tmp_path / "book.epub", {"long.xhtml": long, "many.xhtml": many}))
    assert len(first.text) == TEXT_LIMIT
    assert first.text.endswith("…")
    assert len(second.text) == 20_000 * 3 - 2
    assert len(second.anchors) == section_text.MOST_ANCHORS


# Titles


def test_titles_come_from_the_navigation_entry_that_names_or_precedes_the_file(tmp_path: Path) -> None:
    names = ["cover", "one", "one-b", "two"]
    book = write_epub(
        tmp_path / "book.epub",
        {f"{name}.xhtml": xhtml(f"<h2>Heading {name}</h2>") for name in names},
        nav=[("one.xhtml", "First <i>chapter</i>"), ("one.xhtml#part", "A part of it"), ("two.xhtml#top", "Second")],
    )
    assert [section.label for section in sections(book)] == ["Heading cover", "First chapter", "A part of it", "Second"]


def test_titles_come_from_the_ncx_where_there_is_no_navigation(tmp_path: Path) -> None:
    book = write_epub(tmp_path / "b.epub", {"one.xhtml": xhtml("<h1>Other</h1>")}, toc=[("one.xhtml", "From the NCX")])
    assert [section.label for section in sections(book)] == ["From the NCX"]


def test_titles_come_from_the_ncx_where_the_navigation_is_empty(tmp_path: Path) -> None:
    book = write_epub(tmp_path / "b.epub", {"one.xhtml": xhtml("")}, nav=[], toc=[("one.xhtml", "From the NCX")])
    assert [section.label for section in sections(book)] == ["From the NCX"]


def test_without_any_table_the_first_heading_or_the_files_name_is_the_title(tmp_path: Path) -> None:
    book = write_epub(
        tmp_path / "book.epub",
        {"one.xhtml": xhtml("<p>x</p><h3>A\nheading</h3><h1>Later</h1>"), "two.xhtml": xhtml("<p>No heading.</p>")},
    )
    assert [section.label for section in sections(book)] == ["A heading", "two.xhtml"]


def test_a_table_of_contents_that_names_nothing_does_not_hinder_reading(tmp_path: Path) -> None:
    book = write_epub(
        tmp_path / "book.epub",
        {"one.xhtml": xhtml("<p>Text.</p>")},
        nav=[("nowhere.xhtml", "Nowhere"), ("../../../etc/passwd", "Out"), ("", "Itself")],
    )
    assert [section.label for section in sections(book)] == ["one.xhtml"]


# Files of a book


def test_names_in_a_book_may_be_percent_encoded_and_differ_in_case(tmp_path: Path) -> None:
    book = write_epub(
        tmp_path / "book.epub",
        {"Text/Übung 1.xhtml": xhtml("<p>Eins.</p>"), "Text/100%25.xhtml": xhtml("<p>Zwei.</p>")},
        hrefs=["text/%C3%9Cbung%201.xhtml", "Text/100%25.xhtml"],
        nav=[("Text/%C3%9Cbung%201.xhtml#a", "Übung")],
    )
    first, second = sections(book)
    assert (first.text, first.label, first.href) == ("Eins.", "Übung", "OEBPS/Text/Übung 1.xhtml")
    assert second.text == "Zwei."


def test_a_section_whose_file_is_missing_or_broken_keeps_its_index_and_has_no_text(tmp_path: Path) -> None:
    book = write_epub(
        tmp_path / "book.epub",
        {"one.xhtml": xhtml("<p>One.</p>"), "bad.xhtml": b"\x00\x01\x02", "four.xhtml": xhtml("<p>Four.</p>")},
        hrefs=["one.xhtml", "missing.xhtml", "bad.xhtml", "four.xhtml"],
    )
    with opened(book) as document:
        texts = [document.page(index).text for index in range(document.page_count)]
        assert texts == ["One.", "", "", "Four."]
        assert document.unread_pages == 2


def test_the_cfi_counts_where_the_spine_really_stands(tmp_path: Path) -> None:
    opf = package(["one.xhtml"]).replace("<metadata/>", "<!-- x --><metadata/><collection/>")
    book = write_epub(tmp_path / "book.epub", {"one.xhtml": xhtml("<p>One.</p>")}, extra={"OEBPS/book.opf": opf})
    (section,) = sections(book)
    assert section.anchors[0][1] == "epubcfi(/8/2!/4/2)"


# Quotes


@pytest.mark.req("Z-3")
def test_a_quote_is_found_with_its_words_title_and_block(tmp_path: Path) -> None:
    body = "<h1>One</h1><p>Before it.</p><p>It was “the <b>best</b> of bogs”, they said.</p><p>And after.</p>"
    book = write_epub(tmp_path / "book.epub", {"one.xhtml": xhtml(body)})
    with opened(book) as document:
        (match,) = document.find(0, Quote("the best of bogs"), 5)
        (across,) = document.find(0, Quote("they said. And after"), 5)
    assert match.text == "“the best of bogs”,"
    assert (match.page_index, match.page_label, match.rects) == (0, "One", ())
    assert match.cfi == "epubcfi(/6/2!/4/6)"
    assert across.text == "they said. And after."


# Books that mean harm, or are none


@pytest.mark.req("Z-5")
def test_a_zip_of_another_kind_is_unsupported(tmp_path: Path) -> None:
    assert refusal(write_zip(tmp_path / "a.docx", {"[Content_Types].xml": "<Types/>"})) == "unsupported"
    (tmp_path / "b.zip").write_bytes(b"PK\x03\x04 and nothing more")
    assert refusal(tmp_path / "b.zip") == "unsupported"


@pytest.mark.req("Z-5")
@pytest.mark.parametrize(
    "files",
    [
        {"mimetype": "application/epub+zip"},
        {"META-INF/container.xml": "<container/>"},
        {"META-INF/container.xml": CONTAINER},
        {"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": "not a package"},
        {"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": "<package/>"},
        {"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": package([])},
    ],
)
def test_a_book_without_its_inner_files_is_damaged(tmp_path: Path, files: dict[str, str]) -> None:
    assert refusal(write_zip(tmp_path / "book.epub", files)) == "damaged"


@pytest.mark.req("Z-5")
def test_a_book_cut_off_in_the_middle_is_damaged(tmp_path: Path) -> None:
    book = write_epub(tmp_path / "book.epub", {"one.xhtml": xhtml("<p>One.</p>")})
    book.write_bytes(book.read_bytes()[:-60])
    assert refusal(book) == "damaged"


@pytest.mark.req("Z-5")
def test_one_damaged_section_does_not_stop_the_rest(tmp_path: Path) -> None:
    book = write_epub(tmp_path / "b.epub", {"one.xhtml": xhtml("<p>One.</p>"), "two.xhtml": xhtml("<p>Two.</p>")})
    with zipfile.ZipFile(book) as archive:
        start = archive.getinfo("OEBPS/one.xhtml").header_offset + 30 + len("OEBPS/one.xhtml")
    data = bytearray(book.read_bytes())
    data[start : start + 20] = b"\xff" * 20
    book.write_bytes(data)
    assert [section.text for section in sections(book)] == ["", "Two."]


@pytest.mark.req("Z-5")
def test_rights_management_over_the_text_is_encryption_and_obfuscated_fonts_are_not(tmp_path: Path) -> None:
    def listing(algorithm: str, uri: str) -> str:
        return (
            '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData '
            f'xmlns="http://www.w3.org/2001/04/xmlenc#"><EncryptionMethod Algorithm="{algorithm}"/><CipherData>'
            f'<CipherReference URI="{uri}"/></CipherData></EncryptedData></encryption>'
        )

    aes = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"
    parts = {"one.xhtml": xhtml("<p>One.</p>"), "two words.xhtml": xhtml("<p>Two.</p>")}
    extra = {"OEBPS/font.otf": b"\x01"}
    for algorithm, uri, refused in [
        (aes, "OEBPS/two%20words.xhtml", True),
        (aes, "OEBPS/font.otf", False),
        ("http://www.idpf.org/2008/embedding", "OEBPS/font.otf", False),
    ]:
        files = extra | {"META-INF/encryption.xml": listing(algorithm, uri).encode()}
        book = write_epub(tmp_path / "book.epub", parts, hrefs=["one.xhtml", "two%20words.xhtml"], extra=files)
        if refused:
            assert refusal(book) == "encrypted"
        else:
            assert [section.text for section in sections(book)] == ["One.", "Two."]


@pytest.mark.req("Z-5")
def test_an_encrypted_zip_entry_is_encryption(tmp_path: Path) -> None:
    book = write_epub(tmp_path / "book.epub", {"one.xhtml": xhtml("<p>One.</p>")})
    data = bytearray(book.read_bytes())
    entry = data.rindex(b"PK\x01\x02")  # the last entry of the directory is the section
    data[entry + 8] |= 0x1
    book.write_bytes(data)
    assert refusal(book) == "encrypted"


@pytest.mark.req("S-1")
@pytest.mark.req("Z-5")
def test_a_section_that_unpacks_to_far_more_than_it_weighs_is_too_large(tmp_path: Path) -> None:
    bomb = b"<p>" + b" " * 20_000_000 + b"</p>"
    book = write_epub(tmp_path / "book.epub", {"bomb.xhtml": bomb})
    assert book.stat().st_size < 100_000
    assert refusal(book) == "too_large"


@pytest.mark.req("S-1")
@pytest.mark.req("Z-5")
def test_a_spine_that_repeats_one_file_is_read_up_to_a_total(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epub_archive, "MOST_UNPACKED", 100_000)
    section = xhtml("<p>" + "".join(chr(0x4E00 + n) for n in range(5000)) + "</p>")
    book = write_epub(tmp_path / "book.epub", {"one.xhtml": section}, hrefs=["one.xhtml"] * 100)
    with pytest.raises(DocumentProblem) as raised:
        sections(book)
    assert raised.value.code == "too_large"


@pytest.mark.req("S-1")
def test_an_entry_that_lies_about_its_size_is_damaged(tmp_path: Path) -> None:
    book = write_epub(tmp_path / "book.epub", {"one.xhtml": xhtml("<p>" + "word " * 9000 + "</p>")})
    data = bytearray(book.read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    book.write_bytes(data)
    assert [section.text for section in sections(book)] == [""]


@pytest.mark.req("S-1")
def test_entities_of_a_section_are_neither_expanded_nor_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    document = f'<!DOCTYPE html [<!ENTITY x SYSTEM "{secret.as_uri()}">]>' + xhtml("<p>before &x; after&nbsp;it</p>")
    (section,) = sections(write_epub(tmp_path / "book.epub", {"one.xhtml": document}))
    assert section.text == "before &x; after it"
