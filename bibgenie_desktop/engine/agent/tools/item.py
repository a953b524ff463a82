"""The tool that shows one work: metadata, files, notes, annotations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....compaction.messages import ToolSpec
from ....sessions.citations import token_for
from ....sessions.library import AnnotationRecord, ItemRecord, plain
from ....sessions.locators import AnnotationLocator, ItemLocator, ItemRef, Locator
from ....store.library_rows import AttachmentRow
from ...library.library import Library
from .tool import ToolFault, ToolResult, cut, key_argument, key_text

_FIELDS = (
    "publicationTitle",
    "bookTitle",
    "proceedingsTitle",
    "university",
    "publisher",
    "place",
    "date",
    "volume",
    "issue",
    "pages",
    "DOI",
    "ISBN",
    "url",
    "language",
)


class GetItem:
    """`get_item`: everything the library knows of one work, by its key or by a key of its files or notes."""

    spec = ToolSpec(
        "get_item",
        "Show one work of the library by its key: metadata, abstract, files with their page counts, notes and "
        "annotations. A key of a file, a note or an annotation shows the work it belongs to.",
        {
            "type": "object",
            "properties": {"key": {"type": "string", "description": "A key from a result, such as ABCD2345."}},
            "required": ["key"],
        },
    )

    def __init__(self, library: Library) -> None:
        self._library = library

    def title(self, arguments: Mapping[str, Any]) -> str:
        """`Look at item KEY`."""
        return f"Look at item {cut(str(arguments.get('key', '')), 40)}"

    async def run(self, arguments: Mapping[str, Any], *, budget: int) -> ToolResult:
        """Show the work. Raises ToolFault."""
        ref = key_argument(arguments)
        work = await self._work(ref)
        children = await self._library.children(work.ref if work else ref)
        if work is None and not children.attachments and not children.annotations:
            alone = await self._library.attachment(ref)
            note = await self._library.note(ref)
            if alone is None and note is None:
                raise ToolFault(f"The library has no item {key_text(ref)}: search for it first.")
            children.attachments.extend([alone] if alone else [])
            children.notes.extend([note] if note else [])
        data: dict[str, Any] = {} if work is None else _metadata(work, budget // 3)
        shown: list[Locator] = [] if work is None else [ItemLocator(work.ref)]
        data["files"] = [_file(row) for row in children.attachments]
        length = max(200, budget // (3 * (len(children.notes) + len(children.annotations) + 1)))
        data["notes"] = [
            {"cite": token_for(ItemLocator(note.ref)), "quoted_text": cut(note.html, length)} for note in children.notes
        ]
        data["annotations"] = [_annotation(record, length) for record in children.annotations]
        shown += [ItemLocator(note.ref) for note in children.notes]
        shown += [_annotation_place(record) for record in children.annotations]
        name = work.short_ref if work else key_text(ref)
        return ToolResult(data, tuple(shown), name)

    async def _work(self, ref: ItemRef) -> ItemRecord | None:
        work = await self._library.work(ref)
        if work is not None:
            return work
        attachment = await self._library.attachment(ref)
        if attachment is None:
            annotation = await self._library.annotation(ref)
            if annotation is not None:
                attachment = await self._library.attachment(annotation.attachment)
        if attachment is not None:
            return await self._library.work(attachment.record.parent)
        note = await self._library.note(ref)
        return await self._library.work(note.parent) if note else None


def _metadata(work: ItemRecord, length: int) -> dict[str, Any]:
    creators = [f"{creator.first} {creator.last}".strip() + f" ({creator.role})" for creator in work.creators]
    return {
        "cite": token_for(ItemLocator(work.ref)),
        "item": key_text(work.ref),
        "work": work.short_ref,
        "type": work.item_type,
        "year": work.year,
        "quoted_title": plain(work.title),
        "quoted_creators": creators,
        "quoted_fields": {name: plain(work.fields[name]) for name in _FIELDS if work.fields.get(name)},
        "quoted_abstract": cut(plain(work.fields.get("abstractNote", "")), length),
        "quoted_tags": list(work.tags),
    }


def _file(row: AttachmentRow) -> dict[str, Any]:
    shown = {"key": key_text(row.record.ref), "quoted_filename": row.record.filename or row.record.title}
    if row.state == "indexed":
        unit = "sections" if row.kind == "epub" else "pages"
        return shown | {"kind": row.kind, unit: row.page_count}
    if row.state == "waiting":
        return shown | {"state": "not indexed yet; its pages can be read"}
    return shown | {"state": row.state, "reason": row.reason}


def _annotation_place(record: AnnotationRecord) -> AnnotationLocator:
    return AnnotationLocator(record.ref, record.attachment, record.page_index, record.page_label)


def _annotation(record: AnnotationRecord, length: int) -> dict[str, Any]:
    place = _annotation_place(record)
    shown: dict[str, Any] = {"cite": token_for(place), "type": record.type, "file": key_text(record.attachment)}
    if record.page_index is not None:
        shown |= {"page_label": record.page_label, "page_index": record.page_index}
    if record.text:
        shown["quoted_text"] = cut(record.text, length)
    if record.comment:
        shown["quoted_comment"] = cut(record.comment, length)
    return shown
