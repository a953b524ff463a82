"""The tool that searches the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....compaction.messages import ToolSpec
from ....sessions.citations import token_for
from ....sessions.locators import AnnotationLocator, Locator, PageLocator, SectionLocator
from ...library.library import Library
from ...library.search import Hit, search_library
from .tool import ToolResult, cut, fitted, key_text, number_argument, text_argument, weight

MOST_PASSAGES = 20
LEAST_TEXT = 60
"""Estimated tokens of a passage that are shown however little room there is."""
NOTE_ROOM = 40
"""Estimated tokens kept for the note."""


class SearchLibrary:
    """`search_library`: passages for the words of a query.

    The result: `words` (those searched for), `every_passage_holds_every_word`, `passages`, `words_found_nowhere`, and
    `note` where passages were left out. A passage has `cite`, `quoted_work` (author and year), `item` (the work's key,
    "" for what stands alone), `kind` (page, item, note or annotation), `quoted_title` and `quoted_text`; a page also
    `page_index` and `quoted_page_label` ("" where the file names none), a section of an EPUB `quoted_section`.
    """

    spec = ToolSpec(
        "search_library",
        "Search the user's Zotero library: full text of documents, notes, annotations, titles and abstracts. Give the "
        "words to look for. Each passage comes with a citation token to copy into the answer, and the result names "
        "the words that occur nowhere in the text that could be searched, and how many files could not.",
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words to look for, in the documents' language."},
                "limit": {"type": "integer", "description": f"How many passages, 1 to {MOST_PASSAGES}; default 10."},
            },
            "required": ["query"],
        },
    )

    def __init__(self, library: Library) -> None:
        self._library = library

    @staticmethod
    def title(arguments: Mapping[str, Any]) -> str:
        """`Search the library for “…”`."""
        return f"Search the library for “{cut(str(arguments.get('query', '')), 80)}”"

    async def run(self, arguments: Mapping[str, Any], *, budget: int) -> ToolResult:
        """Search. Raises ToolFault."""
        query = text_argument(arguments, "query")
        limit = number_argument(arguments, "limit", default=10, least=1, most=MOST_PASSAGES)
        found = await search_library(self._library, query, limit=limit)
        data: dict[str, Any] = {
            "words": [cut(term.word, 60) for term in found.terms],
            "every_passage_holds_every_word": found.every_word,
            "passages": [],
            "words_found_nowhere": [cut(word, 60) for word in found.nowhere],
            "not_searched": await self._library.not_searched(),
        }
        room = budget - weight(data) - NOTE_ROOM
        shown: list[Locator] = []
        for hit in found.hits:
            passage = _passage(hit, max(LEAST_TEXT, budget // 5))
            room -= weight(passage)
            if room < 0 and shown:
                left_out = len(found.hits) - len(shown)
                data["note"] = f"{left_out} more passages did not fit: read their pages, or search for fewer words."
                break
            data["passages"].append(passage)
            shown.append(hit.locator)
        count = len(shown)
        return ToolResult(data, tuple(shown), "1 passage" if count == 1 else f"{count} passages")


def _passage(hit: Hit, tokens: int) -> dict[str, Any]:
    passage: dict[str, Any] = {
        "cite": token_for(hit.locator),
        "quoted_work": cut(hit.short_ref, 100),
        "item": key_text(hit.item) if hit.item else "",
        "kind": hit.kind,
    }
    match hit.locator:
        case PageLocator(page_index=index, page_label=label):
            passage |= {"quoted_page_label": cut(label, 100), "page_index": index}
        case AnnotationLocator(page_index=index, page_label=label) if index is not None:
            passage |= {"quoted_page_label": cut(label, 100), "page_index": index}
        case SectionLocator(section_title=title):
            passage |= {"quoted_section": cut(title, 100)}
        case _:
            pass
    return passage | {"quoted_title": cut(hit.title, 200), "quoted_text": fitted(hit.text, tokens)}
