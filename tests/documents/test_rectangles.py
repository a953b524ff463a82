"""A quote's rectangles are in PDF user space, whatever the page's rotation, boxes and unit (zotero-facts 3.5)."""

from __future__ import annotations

import itertools
from pathlib import Path

import pymupdf
import pytest

from bibgenie_desktop.documents.pdf import PdfDocument
from bibgenie_desktop.documents.quotes import Quote

ROTATIONS = (0, 90, 180, 270)
MEDIA_BOXES = ((0, 0, 612, 792), (-50, -30, 562, 762), (100, 200, 712, 992))
CROPS = ("none", "inside", "larger")
UNITS = (1, 2)
COMBINATIONS = list(itertools.product(ROTATIONS, MEDIA_BOXES, CROPS, UNITS))


def crop_box(media: tuple[int, int, int, int], crop: str) -> str:
    x0, y0, x1, y1 = media
    if crop == "inside":
        return f"[{x0 + 20} {y0 + 30} {x1 - 20} {y1 - 60}]"
    return f"[{x0 - 40} {y0 - 40} {x1 + 40} {y1 + 40}]"


@pytest.mark.req("Z-4")
@pytest.mark.parametrize(("rotation", "media", "crop", "unit"), COMBINATIONS)
def test_the_rectangle_lies_where_the_word_was_drawn(
    tmp_path: Path, rotation: int, media: tuple[int, int, int, int], crop: str, unit: int
) -> None:
    document = pymupdf.open()
    page = document.new_page(width=612, height=792)
    page.insert_text((200, 300), "alpha bravo charlie", fontsize=12)  # its base is at y = 492 in user space
    document.xref_set_key(page.xref, "MediaBox", "[{} {} {} {}]".format(*media))
    if crop != "none":
        document.xref_set_key(page.xref, "CropBox", crop_box(media, crop))
    document.xref_set_key(page.xref, "UserUnit", str(unit))
    document.xref_set_key(page.xref, "Rotate", str(rotation))
    path = tmp_path / "page.pdf"
    document.save(path)

    reader = PdfDocument(str(path))
    (match,) = reader.find(0, Quote("bravo"), 5)
    reader.close()

    ((x0, y0, x1, y1),) = match.rects
    before = pymupdf.get_text_length("alpha ", fontsize=12)
    width = pymupdf.get_text_length("bravo", fontsize=12)
    assert x0 == pytest.approx(200 + before, abs=0.6)
    assert x1 == pytest.approx(200 + before + width, abs=0.6)
    assert y0 < 492 < y1
    assert y1 - y0 < 20


@pytest.mark.req("Z-4")
def test_boxes_are_inherited_and_may_be_references(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=612, height=792)
    page.insert_text((200, 300), "alpha bravo charlie", fontsize=12)
    box = document.get_new_xref()
    document.update_object(box, "[100 0 612 792]")
    parent = int(document.xref_get_key(page.xref, "Parent")[1].split()[0])
    document.xref_set_key(parent, "MediaBox", "[0 0 612 792]")
    document.xref_set_key(parent, "CropBox", f"{box} 0 R")
    document.xref_set_key(page.xref, "MediaBox", "null")
    path = tmp_path / "page.pdf"
    document.save(path)

    reader = PdfDocument(str(path))
    (match,) = reader.find(0, Quote("alpha"), 5)
    reader.close()
    assert match.rects[0][0] == pytest.approx(200, abs=0.6)
    assert match.rects[0][1] < 492 < match.rects[0][3]
