"""The library of one source: works, attachments and pages, from the index and, where it lags, from the files."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass

from ...documents.port import DocumentInfo, DocumentProblem, DocumentReader
from ...sessions.library import AnnotationRecord, ItemRecord, NoteRecord, PageText, plain
from ...sessions.locators import ItemRef
from ...store.library import LibraryStore
from ...store.library_rows import AttachmentRow


class NotInLibrary(Exception):
    """The library holds no such thing. `str()` is one plain sentence, also told to the model."""


@dataclass(frozen=True, slots=True)
class Children:
    """What belongs to a work, or to an attachment that stands alone."""

    attachments: list[AttachmentRow]
    notes: list[NoteRecord]
    annotations: list[AnnotationRecord]


class Library:
    """One source's rows of the index, and the reader for what is not indexed yet."""

    def __init__(self, store: LibraryStore, source_id: int, reader: DocumentReader) -> None:
        self.store = store
        self.source_id = source_id
        self._reader = reader

    async def not_searched(self) -> dict[str, int]:
        """How many files a search cannot look into: those without text, and those that are not indexed yet."""
        counts = await self.store.counts(self.source_id)
        return {"files_without_text": sum(counts.problems.values()), "files_not_indexed_yet": counts.waiting}

    async def work(self, ref: ItemRef | None) -> ItemRecord | None:
        """The work with this key; None where there is none."""
        return None if ref is None else await self.store.item(self.source_id, ref)

    async def attachment(self, ref: ItemRef) -> AttachmentRow | None:
        """The attachment with this key; None where there is none."""
        return await self.store.attachment(self.source_id, ref)

    async def note(self, ref: ItemRef) -> NoteRecord | None:
        """The note with this key; None where there is none."""
        return await self.store.note(self.source_id, ref)

    async def annotation(self, ref: ItemRef) -> AnnotationRecord | None:
        """The annotation with this key; None where there is none."""
        return await self.store.annotation(self.source_id, ref)

    async def children(self, ref: ItemRef) -> Children:
        """What belongs to this work or attachment."""
        return Children(*await self.store.children(self.source_id, ref))

    async def name(self, parent: ItemRef | None, fallback: str) -> tuple[str, str]:
        """Short reference and title of the work `parent`; `fallback` twice where there is none."""
        work = await self.work(parent)
        return (work.short_ref, plain(work.title) or work.item_type) if work else (fallback, fallback)

    async def readable(self, ref: ItemRef) -> AttachmentRow:
        """The attachment to read for a key: itself, or the first readable one of a work. Raises NotInLibrary."""
        own = await self.attachment(ref)
        if own is None:
            children = await self.children(ref)
            if not children.attachments:
                known = await self.work(ref)
                raise NotInLibrary(
                    f"The work {ref.key} has no file to read." if known else f"The library has no item {ref.key}."
                )
            order = {"indexed": 0, "waiting": 1}
            own = min(children.attachments, key=lambda row: order.get(row.state, 2))
        if own.state not in ("indexed", "waiting"):
            # What a reader says of a file is a sentence; what the library says, some words.
            why = f". {own.reason}" if own.record.path else f": {own.reason}."
            raise NotInLibrary(f"The attachment {own.record.ref.key} cannot be read{why}")
        return own

    async def pages(self, row: AttachmentRow, first: int, last: int) -> list[PageText]:
        """The text of pages (or sections) `first` to `last`, from 0. Raises DocumentProblem."""
        if row.state == "indexed":
            return await self.store.pages(row.id, first, last)
        if row.record.path is None:
            raise DocumentProblem("missing", row.reason)
        return [
            page
            async for page in self._reader.read(row.record.path, first=first, last=last)
            if not isinstance(page, DocumentInfo)
        ]

    async def indices_labelled(self, row: AttachmentRow, label: str) -> list[int]:
        """The indices of the pages that carry this printed label. Raises DocumentProblem."""
        if row.state == "indexed":
            return await self.store.pages_labelled(row.id, label)
        return [page.index for page in await self.pages(row, 0, 1_000_000) if page.label == label]

    async def page_count(self, row: AttachmentRow) -> int:
        """How many pages (sections) the attachment has. Raises DocumentProblem."""
        if row.state == "indexed":
            return row.page_count
        if row.record.path is None:
            raise DocumentProblem("missing", row.reason)
        async with aclosing(self._reader.read(row.record.path, first=0, last=0)) as reading:
            async for read in reading:
                if isinstance(read, DocumentInfo):
                    return read.page_count
        return 0
