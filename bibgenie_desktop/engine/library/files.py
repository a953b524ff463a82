"""The file that a citation points to (Z-2, S-1).

A link only names a key. Where the attachment of that key lies is what the library source said when it was read; it is
looked at once more, and only files that the system opens in a viewer of documents are told.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping
from pathlib import PurePath

from ...protocol.events import FileFound, FileKind
from ...sessions.locators import MalformedLocator
from ...store.library_rows import AttachmentRow
from ...zotero.links import OpenLink, parse_link
from .index import LibraryIndex
from .library import Library

LONGEST_LINK = 24_500
"""Characters, some more than those of our longest link: one to a CFI of 2,000 characters, each percent-encoded."""
LONGEST_PATH = 6_000
"""Bytes: with the link, and with all its characters escaped, far below the pipe's 64 KiB."""

_KINDS: Mapping[str, FileKind] = {".pdf": "pdf", ".epub": "epub"}
"""By the name's ending, which decides what the system starts: a program may call itself application/pdf."""


class NoFile(Exception):
    """No file can be opened for a link. `code` is for programs, `str()` one plain sentence for the user."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


async def find_file(index: LibraryIndex, link: str, request: int = 0) -> FileFound:
    """The file and page that the `zotero://` link of a citation names; waits for the first reading of the library.

    Raises NoFile (`bad_link`, `no_library`, `no_attachment`, `not_in_library`, `missing`, `unsupported`),
    StoreUnavailable.
    """
    place = place_of(link)
    if index.library is None:
        await index.metadata_ready()
    library = index.library
    if library is None:
        raise NoFile("no_library", index.progress.sentence)
    row = await library.attachment(place.attachment)
    if row is None:
        if await library.work(place.attachment) or await library.note(place.attachment):
            raise NoFile("no_attachment", "This citation names a work or note, not a file: open it in Zotero.")
        raise NoFile("not_in_library", "The library has no such file (any more): open the link in Zotero.")
    kind = await asyncio.to_thread(_checked_kind, row)
    return FileFound(
        link, str(row.record.path), await _page(library, place, row) if kind == "pdf" else 0, kind, request
    )


def place_of(link: str) -> OpenLink:
    """The attachment that a citation's link names, and the place in it.

    Links are printable ASCII of at most LONGEST_LINK characters, as `build_link` makes them. Raises NoFile
    (`bad_link`, `no_attachment`).
    """
    try:
        if len(link) > LONGEST_LINK or not (link.isascii() and link.isprintable()) or {'"', "\\"} & set(link):
            raise MalformedLocator("no link of ours")
        parsed = parse_link(link)
    except MalformedLocator as error:
        raise NoFile("bad_link", "This link is no citation's and was not followed.") from error
    if isinstance(parsed, OpenLink):
        return parsed
    if len(parsed.items) != 1:
        raise NoFile("no_attachment", "This link names no file: open it in Zotero.")
    return OpenLink(parsed.items[0])


def _checked_kind(row: AttachmentRow) -> FileKind:
    """The kind of the attachment's file, which is there now. Looks at the directory entry only."""
    path = row.record.path
    if path is None:
        raise NoFile("missing", f"The file of this citation cannot be opened: {row.record.problem or row.reason}.")
    kind = _KINDS.get(PurePath(path).suffix.lower())
    if kind is None or len(os.fsencode(path)) > LONGEST_PATH:
        raise NoFile("unsupported", "The file of this citation is no PDF or EPUB by its name: open it in Zotero.")
    try:
        there = stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        there = False
    if not there:
        raise NoFile(
            "missing",
            "The file of this citation is no longer where it was when the library was read: open it in Zotero, which "
            "may have to download it.",
        )
    return kind


async def _page(library: Library, place: OpenLink, row: AttachmentRow) -> int:
    """The physical page from 1: the link's, else the annotation's; 0 where none is named, or none the file has."""
    index = place.page_index
    if index is None and place.annotation is not None:
        annotation = await library.annotation(place.annotation)
        if annotation is not None and annotation.attachment == row.record.ref:
            index = annotation.page_index
    if index is None or (row.page_count and index >= row.page_count):
        return 0
    return index + 1
