"""The library's records, as every source delivers them and every room reads them (Z-1).

All text is as the library holds it and is hostile: titles may hold HTML, notes do. `plain()` makes it text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from .locators import ItemRef, LibraryRef

AnnotationType: TypeAlias = Literal["highlight", "underline", "note", "text", "image", "ink", "unknown"]

# Each pattern reads a text once, however it was made: a note may be a megabyte of `<script`.
_BREAK = re.compile(r"<(?:/p|/div|/h[1-6]|/li|/tr|/blockquote|br)\b[^<>]*>", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style|head)\b|(<!--)", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_SPACES = re.compile(r"[^\S\n]+")
_EMPTY_LINES = re.compile(r" ?\n\s*")


def plain(markup: str) -> str:
    """The text of a title or note without its HTML, one line a block."""
    text = _TAG.sub("", _BREAK.sub("\n", _seen(markup)))
    return _EMPTY_LINES.sub("\n", _SPACES.sub(" ", html.unescape(text))).strip()


def _line(markup: str) -> str:
    """The text of a title or name in one line."""
    return " ".join(plain(markup).split())


def _seen(markup: str) -> str:
    """`markup` without scripts, styles and comments; one that is never closed is kept."""
    kept: list[str] = []
    position = 0
    unclosed: set[str] = set()
    while opening := _UNSEEN.search(markup, position):
        kept.append(markup[position : opening.start()])
        name = (opening[1] or "").casefold()
        closing = None if name in unclosed else _closing(name).search(markup, opening.end())
        if closing is None:
            unclosed.add(name)
            kept.append(opening[0])
        else:
            kept.append(" ")
        position = (closing or opening).end()
    return "".join(kept) + markup[position:]


def _closing(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}\s*>", re.IGNORECASE) if name else re.compile("-->")


@dataclass(frozen=True, slots=True)
class LibraryRecord:
    """A library of the source: the personal one or a group's."""

    ref: LibraryRef
    name: str
    editable: bool = True


@dataclass(frozen=True, slots=True)
class Creator:
    """A creator in its role (`author`, `editor`, …). An institution has a last name only."""

    role: str
    last: str
    first: str = ""


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """A work. `year` is "" where the date names none; `fields` holds all other fields by Zotero's names."""

    ref: ItemRef
    item_type: str
    title: str
    creators: tuple[Creator, ...] = ()
    year: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    collections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    version: int = 0

    @property
    def short_ref(self) -> str:
        """Author and year, as `Hale 2010`, `Hale & Okafor 2010`, `Hale et al. 2010`; else a short title."""
        authors = [c for c in self.creators if c.role == "author"] or list(self.creators)
        names = list(filter(None, (_line(creator.last) or _line(creator.first) for creator in authors)))
        if not names:
            title = _line(self.title) or self.item_type or self.ref.key
            name = title if len(title) <= 40 else title[:39].rstrip() + "…"
        elif len(names) == 1:
            name = names[0]
        elif len(names) == 2:
            name = f"{names[0]} & {names[1]}"
        else:
            name = f"{names[0]} et al."
        return f"{name} {self.year}".strip()


@dataclass(frozen=True, slots=True)
class AttachmentRecord:
    """A file of a work. `path` is absolute, None where there is no file to read; `problem` then says why.

    `parent` is None for a file that stands alone. `link_mode` is Zotero's: imported_file, imported_url,
    linked_file, linked_url, embedded_image.
    """

    ref: ItemRef
    parent: ItemRef | None
    title: str
    filename: str
    content_type: str
    link_mode: str
    path: str | None = None
    problem: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A note of a work, or one that stands alone. `html` is Zotero's note HTML."""

    ref: ItemRef
    parent: ItemRef | None
    html: str
    title: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnnotationRecord:
    """An annotation of an attachment. `position` is Zotero's JSON text; `page_index` is None outside PDFs."""

    ref: ItemRef
    attachment: ItemRef
    type: AnnotationType
    text: str = ""
    comment: str = ""
    color: str = ""
    page_label: str = ""
    page_index: int | None = None
    sort_index: str = ""
    position: str = ""
    author: str = ""
    external: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """A collection; `parent_key` is "" at the top."""

    ref: ItemRef
    name: str
    parent_key: str = ""


@dataclass(frozen=True, slots=True)
class LibrarySnapshot:
    """Everything a source holds at one moment. Trashed objects, and children of trashed ones, are left out.

    `identity` names the source for good (two sources' keys and versions are never compared); `as_of` is UTC in
    ISO 8601: the moment whose state this is.
    """

    identity: str
    as_of: str
    libraries: tuple[LibraryRecord, ...]
    items: tuple[ItemRecord, ...]
    attachments: tuple[AttachmentRecord, ...]
    notes: tuple[NoteRecord, ...]
    annotations: tuple[AnnotationRecord, ...]
    collections: tuple[CollectionRecord, ...]


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of one page of a PDF or one section of an EPUB.

    `index` is the page index or the spine index, from 0. `label` is the page's label ("" if it has none), or the
    section's title. `href` is the section's file inside the book, "" for pages. `anchors` are (offset in `text`,
    CFI) pairs in rising order, for sections only. Paragraphs are separated by one empty line; hyphens at line
    ends are resolved.
    """

    index: int
    label: str
    text: str
    href: str = ""
    anchors: tuple[tuple[int, str], ...] = ()
