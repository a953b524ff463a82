"""The tool that reads pages of a PDF, or sections of an EPUB, by index or by printed label (Z-4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....compaction.messages import ToolSpec
from ....documents.port import DocumentProblem
from ....sessions.citations import token_for
from ....sessions.library import PageText
from ....sessions.locators import Locator, PageLocator, SectionLocator
from ....store.library_rows import AttachmentRow
from ...library.library import Library, NotInLibrary
from .tool import ToolFault, ToolResult, cut, key_argument, key_text, number_argument

MOST_PAGES = 8


class ReadPages:
    """`read_pages`: the text of up to eight pages or sections."""

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
            },
            "required": ["key"],
        },
    )

    def __init__(self, library: Library) -> None:
        self._library = library

    def title(self, arguments: Mapping[str, Any]) -> str:
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
        count = number_argument(arguments, "count", default=1, least=1, most=MOST_PAGES)
        pages = await self._library.pages(row, first, min(page_count - 1, first + count - 1))
        name, title = await self._library.name(row.record.parent, row.record.title or row.record.filename)
        shown: list[dict[str, Any]] = []
        delivered: list[Locator] = []
        room = budget
        for page in pages:
            if room < 400 and shown:
                note = f"Only {len(shown)} of {len(pages)} pages fit: go on at page_index {page.index}."
                break
            text = cut(page.text, max(400, room))
            room -= len(text) + 200
            locator = _place(row, page)
            delivered.append(locator)
            shown.append(_shown(page, locator, text))
        data: dict[str, Any] = {
            "work": name,
            "quoted_title": title,
            "item": key_text(row.record.parent) if row.record.parent else "",
            "file": key_text(row.record.ref),
            "page_count": page_count,
            "pages": shown,
        }
        if note:
            data["note"] = note
        return ToolResult(data, tuple(delivered), "1 page" if len(shown) == 1 else f"{len(shown)} pages")

    async def _first(self, row: AttachmentRow, arguments: Mapping[str, Any], page_count: int) -> tuple[int, str]:
        """The index to begin at, and what the model must know about the choice."""
        label = arguments.get("page_label")
        if label not in (None, ""):
            indices = await self._library.indices_labelled(row, str(label).strip())
            if len(indices) > 1:
                return indices[
                    0
                ], f"{len(indices)} pages are labelled {label}: indices {indices[:10]}; the first is shown."
            if indices:
                return indices[0], ""
            if str(label).strip().isdigit() and 1 <= int(label) <= page_count:
                index = int(label) - 1
                return index, f"No page is labelled {label}; this is page {label} counted from the first."
            raise ToolFault(f"No page of this file is labelled {cut(str(label), 40)!r}; it has {page_count} pages.")
        index = number_argument(arguments, "page_index", default=0, least=-1, most=10_000_000)
        if not 0 <= index < page_count:
            raise ToolFault(f"There is no page index {index}: this file has the indices 0 to {page_count - 1}.")
        return index, ""


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
        shown |= {"page_label": page.label, "page_index": page.index}
    return shown | {"quoted_text": text or "(no text on this page)"}
