"""Searching the library index: all words first, then any word, each text once (Z-6, A-3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...sessions.language import Term, search_terms
from ...sessions.library import AnnotationRecord, ItemRecord, NoteRecord, plain
from ...sessions.locators import (
    AnnotationLocator,
    ItemLocator,
    ItemRef,
    Locator,
    PageLocator,
    SectionLocator,
)
from ...store.full_text import all_words, any_word, one_word
from ...store.library import PassageRow
from ...store.library_rows import AttachmentRow
from .library import Library

MOST_TERMS = 40
"""Words of a question that are searched for; a longer one is a pasted text."""

_ADVANTAGE = {"note": 1.4, "annotation": 1.4, "item": 1.0, "page": 1.0}
"""What a reader wrote or marked outranks body text that matches as well."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found. `item` is the work it belongs to, None where an attachment or note stands alone."""

    locator: Locator
    item: ItemRef | None
    short_ref: str
    title: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found: `every_word` tells whether each hit holds all words; `nowhere` are words in no passage."""

    hits: tuple[Hit, ...]
    terms: tuple[Term, ...]
    nowhere: tuple[str, ...]
    every_word: bool


async def search_library(library: Library, question: str, *, limit: int) -> SearchResult:
    """The `limit` best passages of the library for a question's words, the first MOST_TERMS of them."""
    store, source_id = library.store, library.source_id
    terms = search_terms(question)[:MOST_TERMS]
    if not terms:
        return SearchResult((), (), (), False)
    present = await store.occurs(source_id, [one_word(term) for term in terms])
    nowhere = tuple(term.word for term, occurs in zip(terms, present, strict=True) if not occurs)
    searchable = [term for term, occurs in zip(terms, present, strict=True) if occurs]
    if not searchable:
        return SearchResult((), tuple(terms), nowhere, False)
    best = _ranked(await store.search(source_id, all_words(searchable), limit=limit))
    every_word = bool(best) and not nowhere
    if len(best) < limit and len(searchable) > 1:
        known = {row.text_hash for row in best}
        more = await store.search(source_id, any_word(searchable), limit=limit)
        others = _ranked([row for row in more if row.text_hash not in known])[: limit - len(best)]
        every_word = every_word and not others
        best += others
    return SearchResult(tuple(await _hits(library, best)), tuple(terms), nowhere, every_word)


def _ranked(rows: Sequence[PassageRow]) -> list[PassageRow]:
    return sorted(rows, key=lambda row: row.rank * _ADVANTAGE[row.kind])


async def _hits(library: Library, rows: Sequence[PassageRow]) -> list[Hit]:
    """The rows with what they belong to."""
    owners = {
        kind: await library.store.by_rows(
            "attachment" if kind == "page" else kind, [row.owner_id for row in rows if row.kind == kind]
        )
        for kind in {row.kind for row in rows}
    }
    hits = [await _hit(library, row, owners[row.kind].get(row.owner_id)) for row in rows]
    return [hit for hit in hits if hit is not None]


async def _hit(library: Library, row: PassageRow, owner: object) -> Hit | None:
    match owner:
        case ItemRecord():
            return Hit(ItemLocator(owner.ref), owner.ref, owner.short_ref, plain(owner.title), "item", row.text)
        case NoteRecord():
            name, title = await library.name(owner.parent, plain(owner.title) or "Note")
            return Hit(ItemLocator(owner.ref), owner.parent, name, title, "note", row.text)
        case AnnotationRecord():
            attachment = await library.attachment(owner.attachment)
            parent = attachment.record.parent if attachment else None
            fallback = attachment.record.title or attachment.record.filename if attachment else "Annotation"
            name, title = await library.name(parent, fallback)
            place = AnnotationLocator(owner.ref, owner.attachment, owner.page_index, owner.page_label)
            return Hit(place, parent, name, title, "annotation", row.text)
        case AttachmentRow(record=record):
            name, title = await library.name(record.parent, record.title or record.filename)
            return Hit(_place(owner, row), record.parent, name, title, "page", row.text)
        case _:
            return None  # it left the library between two readings


def _place(owner: AttachmentRow, row: PassageRow) -> Locator:
    if owner.kind == "epub":
        return SectionLocator(owner.record.ref, row.page_index, row.href, row.cfi, row.page_label)
    return PageLocator(owner.record.ref, row.page_index, row.page_label)
