"""PDFs for the tests, made by PyMuPDF in the test's own process: the program reads them in another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pymupdf


def document_of(*pages: Sequence[str]) -> Any:
    """An open document; each page is a sequence of paragraphs, whose lines are set one below the other."""
    document = pymupdf.open()
    for paragraphs in pages:
        page = document.new_page()
        top = 72
        for paragraph in paragraphs:
            for line in paragraph.split("\n"):
                page.insert_text((72, top), line, fontsize=11, fontname="tiro")
                top += 13
            top += 40
    return document


def pdf_of(*pages: Sequence[str]) -> bytes:
    data: bytes = document_of(*pages).tobytes()
    return data


def numbered_pdf(pages: int) -> bytes:
    """Pages that say which they are."""
    return pdf_of(*([f"This is the text of page {number}."] for number in range(pages)))


def labelled_pdf(pages: int, tree: str, **objects: str) -> bytes:
    """Empty pages under the /PageLabels tree `tree`; `{name}` in it or in an object refers to the object `name`."""
    document = document_of(*([()] * pages))
    numbers = {name: document.get_new_xref() for name in objects}
    references = {name: f"{number} 0 R" for name, number in numbers.items()}
    for name, source in objects.items():
        document.update_object(numbers[name], source % references)
    document.xref_set_key(document.pdf_catalog(), "PageLabels", tree % references)
    data: bytes = document.tobytes()
    return data


def glyphs_pdf(*lines: str) -> bytes:
    """One page whose lines are drawn glyph by glyph from a Unicode font, so that ligatures stay single characters."""
    document = pymupdf.open()
    page = document.new_page()
    writer = pymupdf.TextWriter(page.rect)
    for number, line in enumerate(lines):
        writer.append((72, 72 + 14 * number), line, font=pymupdf.Font("tiro"), fontsize=11)
    writer.write_text(page)
    data: bytes = document.tobytes()
    return data


def scanned_pdf() -> bytes:
    """Two pages that hold a picture and no text."""
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 8, 8))
    picture.clear_with(90)
    document = pymupdf.open()
    for _ in range(2):
        document.new_page().insert_image(pymupdf.Rect(72, 72, 300, 300), pixmap=picture)
    data: bytes = document.tobytes()
    return data


def encrypted_pdf(*, user: str, owner: str) -> bytes:
    document = document_of(["Kept behind a password."])
    data: bytes = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=user, owner_pw=owner)
    return data


def pdf_without_pages() -> bytes:
    return (
        b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
        b"trailer<</Root 1 0 R/Size 3>>\n%%EOF\n"
    )


def stalling_pdf(good_pages: int = 1, after: int = 0) -> bytes:
    """A PDF whose page `good_pages` MuPDF never finishes: forms nested 24 deep, each drawing the next ten times."""
    depth, times = 24, 10
    document = document_of(
        *([f"This is the text of page {number}."] for number in range(good_pages)),
        (),
        *([f"A page after {number}."] for number in range(after)),
    )
    forms = [document.get_new_xref() for _ in range(depth)]
    for form, inner in zip(forms, [*forms[1:], None], strict=True):
        resources = "" if inner is None else f"/Resources<</XObject<</F {inner} 0 R>>>>"
        document.update_object(form, f"<</Type/XObject/Subtype/Form/BBox[0 0 612 792]{resources}>>")
        document.update_stream(form, b"0 0 1 1 re f" if inner is None else b"/F Do " * times)
    contents = document.get_new_xref()
    document.update_object(contents, "<<>>")
    document.update_stream(contents, b"/F Do")
    page = document.page_xref(good_pages)
    document.xref_set_key(page, "Resources", f"<</XObject<</F {forms[0]} 0 R>>>>")
    document.xref_set_key(page, "Contents", f"{contents} 0 R")
    data: bytes = document.tobytes()
    return data
