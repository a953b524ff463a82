"""The tool that searches the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....compaction.messages import ToolSpec
from ....sessions.citations import token_for
from ....sessions.locators import AnnotationLocator, Locator, PageLocator, SectionLocator
from ...library.library import Library
from ...library.search import Hit, search_library
from .tool import ToolResult, cut, key_text, number_argument, text_argument

MOST_PASSAGES = 20


class SearchLibrary:
    """`search_library`: passages for the words of a query."""

    spec = ToolSpec(
        "search_library",
        "Search the user's Zotero library: full text of documents, notes, annotations, titles and abstracts. Give the "
        "words to look for. Each passage comes with a citation token to copy into the answer, and the result names "
        "the words that occur nowhere.",
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

    def title(self, arguments: Mapping[str, Any]) -> str:
        """`Search the library for “…”`."""
        return f"Search the library for “{cut(str(arguments.get('query', '')), 80)}”"

    async def run(self, arguments: Mapping[str, Any], *, budget: int) -> ToolResult:
        """Search. Raises ToolFault."""
        query = text_argument(arguments, "query")
        limit = number_argument(arguments, "limit", default=10, least=1, most=MOST_PASSAGES)
        found = await search_library(self._library, query, limit=limit)
        passages: list[dict[str, Any]] = []
        shown: list[Locator] = []
        room = budget
        for hit in found.hits:
            passage = _passage(hit, max(400, budget // 4))
            room -= len(passage["quoted_text"]) + 300
            if room < 0 and passages:
                break
            passages.append(passage)
            shown.append(hit.locator)
        data: dict[str, Any] = {
            "words": [term.word for term in found.terms],
            "every_passage_holds_every_word": found.every_word,
            "passages": passages,
            "words_found_nowhere": list(found.nowhere),
        }
        if len(passages) < len(found.hits):
            data["left_out"] = f"{len(found.hits) - len(passages)} passages did not fit: ask with a smaller limit."
        count = len(passages)
        return ToolResult(data, tuple(shown), "1 passage" if count == 1 else f"{count} passages")


def _passage(hit: Hit, length: int) -> dict[str, Any]:
    passage: dict[str, Any] = {
        "cite": token_for(hit.locator),
        "work": hit.short_ref,
        "item": key_text(hit.item) if hit.item else "",
        "kind": hit.kind,
    }
    match hit.locator:
        case PageLocator(page_index=index, page_label=label):
            passage |= {"page_label": label, "page_index": index}
        case AnnotationLocator(page_index=index, page_label=label) if index is not None:
            passage |= {"page_label": label, "page_index": index}
        case SectionLocator(section_title=title):
            passage |= {"quoted_section": title}
        case _:
            pass
    return passage | {"quoted_title": cut(hit.title, 200), "quoted_text": cut(hit.text, length)}
