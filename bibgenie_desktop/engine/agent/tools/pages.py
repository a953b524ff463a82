"""The tool that reads pages of a PDF, or sections of an EPUB, by index or by printed label (Z-4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ....compaction.messages import ToolSpec
from ....documents.port import DocumentProblem
from ....sessions.citations import token_for
from ....sessions.library import PageText
from ....sessions.locators import Locator, PageLocator, SectionLocator
from ....store.library_rows import AttachmentRow
from ...library.library import Library, NotInLibrary
from .tool import ToolFault, ToolResult, cut, fitting, key_argument, key_text, number_argument, weight

MOST_PAGES = 8
LEAST_TEXT = 100
"""Estimated tokens: with less room than that no further page is begun."""
NOTE_ROOM = 60
"""Estimated tokens kept for the note."""

_PHYSICAL = re.compile(r"[1-9][0-9]{0,6}")


class ReadPages:
    """`read_pages`: the text of up to eight pages or sections.

    The result: `quoted_work` (author and year), `quoted_title`, `item` (the work's key, "" where there is none),
    `file`, `page_count`, `pages`, and `note` with what must be known: that a label names several pages or none, that
    something was left out, and how to read on. A page has `cite`, `quoted_text`, and `page_index` with
    `quoted_page_label` ("" where the file names none), or `section_index` with `quoted_section`.
    """

    spec = ToolSpec(
        "read_pages",
        "Read the text of pages of a PDF, or sections of an EPUB. Say where to begin by page_index (counted from "
        "0, as results give it) or by page_label (the number printed on the page). Each page comes with its citation "
        "token; cite the page whose text you use.",
        {
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "The key of a file, or of a work to read its main file."},
                "page_index": {"type": "integer", "description": "First page or section, counted from 0."},
                "page_label": {
                    "type": "string",
                    "description": "First page by its printed number, such as xii or 217.",
                },
                "count": {"type": "integer", "description": f"How many pages, 1 to {MOST_PAGES}; default 1."},
                "offset": {
                    "type": "integer",
                    "description": "Where in the first page to begin, in characters; a note says when it is needed.",
                },
            },
            "required": ["key"],
        },
    )

    def __init__(self, library: Library) -> None:
        self._library = library

    @staticmethod
    def title(arguments: Mapping[str, Any]) -> str:
        """`Read KEY, page index 7`."""
        where = ""
        if arguments.get("page_label"):
            where = f", page {cut(str(arguments['page_label']), 20)}"
        elif arguments.get("page_index") is not None:
            where = f", page index {cut(str(arguments['page_index']), 20)}"
        return f"Read {cut(str(arguments.get('key', '')), 40)}{where}"

    async def run(self, arguments: Mapping[str, Any], *, budget: int) -> ToolResult:
        """Read. Raises ToolFault."""
        try:
            return await self._read(arguments, budget)
        except (NotInLibrary, DocumentProblem) as error:
            raise ToolFault(str(error)) from error

    async def _read(self, arguments: Mapping[str, Any], budget: int) -> ToolResult:
        row = await self._library.readable(key_argument(arguments))
        page_count = await self._library.page_count(row)
        first, note = await self._first(row, arguments, page_count)
        count = number_argument(arguments, "count", default=1, least=1, most=1_000_000)
        last = min(page_count, first + count) - 1
        pages = await self._library.pages(row, first, min(last, first + MOST_PAGES - 1))
        name, title = await self._library.name(row.record.parent, row.record.title or row.record.filename)
        data: dict[str, Any] = {
            "quoted_work": cut(name, 100),
            "quoted_title": cut(title, 200),
            "item": key_text(row.record.parent) if row.record.parent else "",
            "file": key_text(row.record.ref),
            "page_count": page_count,
        }
        offset = number_argument(arguments, "offset", default=0, least=0, most=1_000_000)
        if offset and offset >= len(pages[0].text):
            raise ToolFault(f"Page index {first} has {len(pages[0].text)} characters: there is no offset {offset}.")
        shown, delivered, left_out = _fill(row, pages, offset, last, budget - weight(data) - weight(note) - NOTE_ROOM)
        data["pages"] = shown
        if note or left_out:
            data["note"] = f"{note} {left_out}".strip()
        return ToolResult(data, tuple(delivered), "1 page" if len(shown) == 1 else f"{len(shown)} pages")

    async def _first(self, row: AttachmentRow, arguments: Mapping[str, Any], page_count: int) -> tuple[int, str]:
        """The index to begin at, and what the model must know about the choice."""
        label = _label(arguments)
        if label:
            indices = await self._library.indices_labelled(row, label)
            if len(indices) > 1:
                return indices[0], f"{len(indices)} pages are labelled {label}: indices {indices[:10]}; here the first."
            if indices:
                return indices[0], ""
            if _PHYSICAL.fullmatch(label) and int(label) <= page_count:
                return int(label) - 1, f"No page is labelled {label}; this is page {label} counted from the first."
            raise ToolFault(f"No page of this file is labelled {label!r}; it has {page_count} pages.")
        index = number_argument(arguments, "page_index", default=0, least=-1, most=10_000_000)
        if not 0 <= index < page_count:
            raise ToolFault(f"There is no page index {index}: this file has the indices 0 to {page_count - 1}.")
        return index, ""


def _label(arguments: Mapping[str, Any]) -> str:
    value = arguments.get("page_label")
    if value is None or isinstance(value, str):
        return cut((value or "").strip(), 100)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ToolFault("The argument page_label must be a text, such as xii.")


def _fill(
    row: AttachmentRow, pages: list[PageText], offset: int, last: int, room: int
) -> tuple[list[dict[str, Any]], list[Locator], str]:
    """The pages there is room for, the first from `offset`; and how to read on, "" at the end of what was asked."""
    shown: list[dict[str, Any]] = []
    delivered: list[Locator] = []
    for page in pages:
        if shown and room < LEAST_TEXT:
            return shown, delivered, f"Not all fits: go on at page_index {page.index}."
        text = page.text[offset:]
        locator = _place(row, page)
        entry = _shown(page, locator, text)
        room -= weight(entry | {"quoted_text": ""})
        end = fitting(text, max(room, LEAST_TEXT))
        delivered.append(locator)
        if end < len(text):
            shown.append(entry | {"quoted_text": f"{text[:end]} […]"})
            return shown, delivered, f"The page is cut: go on at page_index {page.index}, offset {offset + end}."
        shown.append(entry)
        room -= weight(text)
        offset = 0
    if pages and pages[-1].index < last:
        return shown, delivered, f"At most {MOST_PAGES} pages at once: go on at page_index {pages[-1].index + 1}."
    return shown, delivered, ""


def _place(row: AttachmentRow, page: PageText) -> Locator:
    if page.href:
        cfi = page.anchors[0][1] if page.anchors else ""
        return SectionLocator(row.record.ref, page.index, page.href, cfi, page.label)
    return PageLocator(row.record.ref, page.index, page.label)


def _shown(page: PageText, locator: Locator, text: str) -> dict[str, Any]:
    shown: dict[str, Any] = {"cite": token_for(locator)}
    if isinstance(locator, SectionLocator):
        shown |= {"section_index": page.index, "quoted_section": page.label}
    else:
        shown |= {"page_index": page.index, "quoted_page_label": page.label}
    return shown | {"quoted_text": text or "(no text on this page)"}
