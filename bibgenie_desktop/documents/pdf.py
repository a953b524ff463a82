"""PDFs through PyMuPDF (Z-4). Only a worker process imports this: MuPDF holds the interpreter's lock while it works,
does not bear threads, and some files end the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Literal, TypeAlias

import pymupdf
from pymupdf import mupdf

from ..sessions.library import PageText
from .page_labels import PageLabels, read_page_labels
from .port import QuoteMatch
from .problems import problem
from .quotes import Quote
from .reading import limited, paragraphs

Rect: TypeAlias = tuple[float, float, float, float]

_UNREADABLE = (mupdf.FzErrorBase, RuntimeError, ValueError, IndexError)
"""What PyMuPDF raises for content that MuPDF gives up on; IndexError where a repair on the way lost pages."""


class PdfDocument:
    """An open PDF. Raises DocumentProblem: encrypted, damaged."""

    kind: Literal["pdf"] = "pdf"

    def __init__(self, path: str) -> None:
        pymupdf.TOOLS.mupdf_display_errors(False)
        pymupdf.TOOLS.mupdf_display_warnings(False)
        try:
            self._document = pymupdf.open(path, filetype="pdf")
        except _UNREADABLE as error:
            raise problem("damaged") from error
        try:
            self.page_count, self._labels = self._opened()
        except BaseException:
            self.close()
            raise
        self.unread_pages = 0

    def _opened(self) -> tuple[int, PageLabels]:
        if self._document.needs_pass:
            raise problem("encrypted")
        try:
            count: int = self._document.page_count
        except _UNREADABLE as error:
            raise problem("damaged") from error
        if count < 1:
            raise problem("damaged")
        self._pdf = mupdf.PdfDocument(self._document.this)
        try:
            return count, read_page_labels(self._pdf, count)
        except _UNREADABLE:
            return count, PageLabels()  # a broken label tree costs the labels, not the text

    def page(self, index: int) -> PageText:
        """The reading text of one page; "" for a page that MuPDF cannot read, which is counted in `unread_pages`."""
        return PageText(index, self._labels.label(index), limited(paragraphs(self._blocks(index))))

    def find(self, index: int, quote: Quote, limit: int) -> Iterator[QuoteMatch]:
        """Up to `limit` places of `quote` on one page."""
        try:
            page = self._document[index]
            words = page.get_text("words")
            spans = quote.find_in([word[4] for word in words], limit)
            to_user_space = _UserSpace(self._pdf, index) if spans else None
        except _UNREADABLE:
            self.unread_pages += 1
            return
        for span in spans:
            assert to_user_space is not None
            lines = [
                (" ".join(word[4] for word in line), to_user_space.rect(_around(line)))
                for line in _lines(words[span.first : span.last + 1])
            ]
            text = paragraphs(["\n".join(text for text, _ in lines)])
            yield QuoteMatch(index, self._labels.label(index), tuple(rect for _, rect in lines), text)

    def close(self) -> None:
        """Close the file and give MuPDF's caches back."""
        self._document.close()
        pymupdf.TOOLS.store_shrink(100)

    def _blocks(self, index: int) -> list[str]:
        try:
            return [block[4] for block in self._document[index].get_text("blocks")]
        except _UNREADABLE:
            self.unread_pages += 1
            return []


class _UserSpace:
    """From PyMuPDF's text coordinates of a page to PDF user space.

    PyMuPDF counts from the top left corner of the visible box (CropBox within MediaBox), y downwards, multiplied by
    UserUnit, before rotation; its own matrices are wrong on some rotated pages (zotero-facts 3.5).
    """

    def __init__(self, pdf: Any, index: int) -> None:
        page = mupdf.pdf_lookup_page_obj(pdf, index)
        media = _box(page, "MediaBox") or (0.0, 0.0, 612.0, 792.0)
        crop = _box(page, "CropBox") or media
        visible = (max(media[0], crop[0]), max(media[1], crop[1]), min(media[2], crop[2]), min(media[3], crop[3]))
        if visible[0] >= visible[2] or visible[1] >= visible[3]:
            visible = media
        self._left, self._top = visible[0], visible[3]
        unit: float = mupdf.pdf_to_real_default(mupdf.pdf_dict_gets(page, "UserUnit"), 1.0)
        self._unit = unit if unit > 0 else 1.0

    def rect(self, rect: Rect) -> Rect:
        x0, y0, x1, y1 = (edge / self._unit for edge in rect)
        left, top = self._left, self._top
        return round(x0 + left, 3), round(top - y1, 3), round(x1 + left, 3), round(top - y0, 3)


def _box(page: Any, key: str) -> Rect | None:
    box = mupdf.pdf_dict_gets_inheritable(page, key)
    if mupdf.pdf_array_len(box) != 4:
        return None
    x0, y0, x1, y1 = (mupdf.pdf_array_get_real(box, at) for at in range(4))
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _lines(words: list[Any]) -> Iterator[list[Any]]:
    """Words as PyMuPDF gives them, (x0, y0, x1, y1, word, block, line, number), grouped by line."""
    for _, line in groupby(words, key=lambda word: word[5:7]):
        yield list(line)


def _around(words: list[Any]) -> Rect:
    return (
        min(word[0] for word in words),
        min(word[1] for word in words),
        max(word[2] for word in words),
        max(word[3] for word in words),
    )
