"""Composed pages as a PDF file: fonts, running heads, printed numbers, labels, outline, links."""

from __future__ import annotations

import pymupdf

from .book import Composition, Design
from .source import Source, Span
from .typeset import FONT_NAMES, font_file, set_line

_UNNUMBERED = 2
"""Pages at the head of a front matter that are counted and carry no number: title page and imprint."""


def write_pdf(source: Source, design: Design, composition: Composition, date: str) -> bytes:
    """The file, the same bytes for the same source.

    `date` is in the form of PDF's dates. A work with a front matter gets a tree of page labels; others get none.
    """
    document = pymupdf.open()
    fonts = ""
    for index in range(len(composition.pages)):
        sheet = document.new_page(width=design.form.width, height=design.form.height)
        if not fonts:
            for face, name in FONT_NAMES.items():
                fonts += f"/{name} {sheet.insert_font(fontname=name, fontbuffer=font_file(face))} 0 R "
        document.xref_set_key(sheet.xref, "Resources", f"<</Font<<{fonts}>>>>")
        stream = document.get_new_xref()
        document.update_object(stream, "<<>>")
        document.update_stream(stream, _operators(source, design, composition, index).encode("ascii"))
        sheet.set_contents(stream)
    _add_links(document, design, composition)
    document.set_toc(
        [
            [level, heading, index + 1]
            for index, page in enumerate(composition.pages)
            for level, heading in page.headings
            if level in (1, 2)
        ]
    )
    if composition.front:
        document.set_page_labels(
            [
                {"startpage": 0, "style": "r", "prefix": "", "firstpagenum": 1},
                {"startpage": composition.front, "style": "D", "prefix": "", "firstpagenum": 1},
            ]
        )
    head = source.head
    document.set_metadata(
        {
            "title": f"{head['title']}: {head['subtitle']}",
            "author": head["authors"],
            "subject": head["subject"],
            "keywords": head["keywords"],
            "creator": "BibGenie Desktop, packaging/build_demo.py",
            "creationDate": date,
            "modDate": date,
        }
    )
    document.set_language("en-GB")
    document.subset_fonts()
    return bytes(document.tobytes(garbage=4, deflate=True, deflate_fonts=True, no_new_id=True))


def _operators(source: Source, design: Design, composition: Composition, index: int) -> str:
    """A page's content: running head, text, printed number, in the order in which they are read."""
    page = composition.pages[index]
    form = design.form
    drawn: list[str] = []
    bare = index < _UNNUMBERED if composition.front else index == 0
    if not (bare or (composition.front and page.opening)):
        left_hand = index >= composition.front and (index - composition.front) % 2 == 1
        words = source.head["running"] if left_hand or not (composition.front and page.part) else page.part
        head = set_line((Span(words, "italic"),), design.small)
        drawn.append(head.operators((form.width - head.width) / 2, form.height - 0.62 * form.top))
    drawn.extend(page.operators)
    if not (composition.front and bare):
        number = set_line((Span(composition.labels[index]),), design.small + 0.6)
        drawn.append(number.operators((form.width - number.width) / 2, 0.56 * form.bottom))
    return "\n".join(drawn)


def _add_links(document: pymupdf.Document, design: Design, composition: Composition) -> None:
    form = design.form
    places: dict[str, int] = {}
    for index, page in enumerate(composition.pages):
        for _, heading in page.headings:
            places.setdefault(heading, index)
    for index, page in enumerate(composition.pages):
        for heading, upper, lower in page.links:
            document[index].insert_link(
                {
                    "kind": pymupdf.LINK_GOTO,
                    "from": pymupdf.Rect(form.left, form.height - upper, form.width - form.right, form.height - lower),
                    "page": places[heading],
                    "to": pymupdf.Point(0, 0),
                }
            )
