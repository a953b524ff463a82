"""The text of PDFs as it is read, indexed and cited."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bibgenie_desktop.documents.pdf import PdfDocument
from bibgenie_desktop.documents.port import DocumentProblem
from bibgenie_desktop.documents.quotes import Quote
from bibgenie_desktop.documents.reading import TEXT_LIMIT
from tests.documents.pdfs import (
    document_of,
    encrypted_pdf,
    glyphs_pdf,
    numbered_pdf,
    pdf_of,
    pdf_without_pages,
    scanned_pdf,
)

pytestmark = pytest.mark.req("Z-4")


@contextmanager
def opened(path: Path, data: bytes) -> Iterator[PdfDocument]:
    path.write_bytes(data)
    document = PdfDocument(str(path))
    try:
        yield document
    finally:
        document.close()


def text_of(path: Path, data: bytes, index: int = 0) -> str:
    with opened(path, data) as document:
        return document.page(index).text


def test_blocks_become_paragraphs_in_the_files_order(tmp_path: Path) -> None:
    data = pdf_of(["First paragraph\nof two lines.", "Second paragraph."])
    assert text_of(tmp_path / "blocks.pdf", data) == "First paragraph of two lines.\n\nSecond paragraph."


def test_words_divided_at_line_ends_and_ligatures_are_whole_words(tmp_path: Path) -> None:
    data = glyphs_pdf("The ﬁrst exam-", "ple of an oﬃce")
    assert text_of(tmp_path / "glyphs.pdf", data) == "The first example of an office"


def test_pictures_leave_no_trace_in_the_text(tmp_path: Path) -> None:
    assert text_of(tmp_path / "scan.pdf", scanned_pdf(), 1) == ""


def test_a_page_of_too_much_text_is_cut_with_a_mark(tmp_path: Path) -> None:
    document = document_of(())
    document[0].insert_text((72, 72), "x", fontname="tiro")
    line = b"BT /tiro 1 Tf 72 700 Td (" + b"word " * 100 + b") Tj ET "
    document.update_stream(document[0].get_contents()[0], line * 600)
    text = text_of(tmp_path / "long.pdf", document.tobytes())
    assert len(text) == TEXT_LIMIT
    assert text.endswith("…")


def test_a_password_for_changes_only_does_not_hinder_reading(tmp_path: Path) -> None:
    data = encrypted_pdf(user="", owner="secret")
    assert text_of(tmp_path / "owner.pdf", data) == "Kept behind a password."


def test_a_file_cut_off_in_the_middle_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = numbered_pdf(30)
    with opened(tmp_path / "cut.pdf", whole[: len(whole) * 9 // 10]) as document:
        assert document.page(0).text == "This is the text of page 0."


def test_a_page_that_is_lost_has_no_text_is_counted_and_does_not_stop_the_rest(tmp_path: Path) -> None:
    """The page tree claims two pages and holds one."""
    document = document_of(["Good."], ["Lost."])
    tree = int(document.xref_get_key(document.page_xref(0), "Parent")[1].split()[0])
    document.xref_set_key(tree, "Kids", f"[{document.page_xref(0)} 0 R]")
    with opened(tmp_path / "lost.pdf", document.tobytes()) as reader:
        assert [reader.page(index).text for index in range(reader.page_count)] == ["Good.", ""]
        assert reader.unread_pages == 1
        assert not list(reader.find(1, Quote("Lost"), 5))


@pytest.mark.req("Z-5")
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (encrypted_pdf(user="secret", owner="secret"), "encrypted"),
        (pdf_without_pages(), "damaged"),
        (b"%PDF-1.7\nnothing of a PDF follows", "damaged"),
        (numbered_pdf(3)[:40], "damaged"),
    ],
)
def test_what_cannot_be_read_has_its_word(tmp_path: Path, data: bytes, code: str) -> None:
    with pytest.raises(DocumentProblem) as raised, opened(tmp_path / "bad.pdf", data):
        pass
    assert raised.value.code == code


@pytest.mark.req("Z-5")
def test_a_page_tree_that_claims_billions_of_pages_is_damaged(tmp_path: Path) -> None:
    """Ten levels share their branches: a kilobyte that would be read for ever."""
    levels = [
        f"{level} 0 obj<</Type/Pages/Count {10 ** (11 - level)}/Kids[{f'{level + 1} 0 R ' * 10}]>>endobj"
        for level in range(2, 11)
    ]
    page = "11 0 obj<</Type/Page/MediaBox[0 0 9 9]>>endobj"
    trailer = "trailer<</Root 1 0 R/Size 12>>"
    source = "\n".join(["%PDF-1.7", "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj", *levels, page, trailer, "%%EOF"])
    with pytest.raises(DocumentProblem) as raised, opened(tmp_path / "tree.pdf", source.encode()):
        pass
    assert raised.value.code == "damaged"


@pytest.mark.req("Z-3")
def test_a_quote_over_two_lines_has_one_rectangle_a_line(tmp_path: Path) -> None:
    data = pdf_of(["It begins with a memo-\nrable sentence here\nand goes on."], ["Nothing of it."])
    with opened(tmp_path / "quote.pdf", data) as document:
        (match,) = document.find(0, Quote("a memorable sentence"), 5)
        assert not list(document.find(1, Quote("a memorable sentence"), 5))
    assert match.text == "a memorable sentence"
    assert match.page_index == 0
    (_, low, _, high), (left, low2, _, high2) = match.rects
    assert low < 842 - 72 < high  # user space counts from the bottom: the first line's base stands 72 below the top
    assert low2 < 842 - 85 < high2
    assert left == pytest.approx(72)


@pytest.mark.req("Z-3")
def test_the_same_words_are_found_as_often_as_asked(tmp_path: Path) -> None:
    data = pdf_of(["again and again", "and again", "and again"])
    with opened(tmp_path / "again.pdf", data) as document:
        assert len(list(document.find(0, Quote("again"), 3))) == 3
        assert len(list(document.find(0, Quote("again"), 9))) == 4
