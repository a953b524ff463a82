"""Records of the library as rows of library.sqlite, and back."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Row, Table

from ..sessions.library import (
    AnnotationRecord,
    AttachmentRecord,
    Creator,
    ItemRecord,
    NoteRecord,
    PageText,
    plain,
)
from ..sessions.locators import ItemRef, LibraryRef
from .encoding import encode_json
from .library_schema import annotation, attachment, item, note


@dataclass(frozen=True, slots=True)
class AttachmentRow:
    """An attachment as the index knows it; `state` is `waiting`, `indexed` or a problem's code."""

    id: int
    record: AttachmentRecord
    state: str
    reason: str
    kind: str
    page_count: int
    file_stamp: str


def unread(record: AttachmentRecord) -> dict[str, str]:
    """The state of an attachment before its file is read: `waiting`, `missing`, or `no_file` for what never had one."""
    if record.link_mode in ("linked_url", "embedded_image"):
        return {"state": "no_file", "reason": record.problem}
    if record.path is None:
        return {"state": "missing", "reason": record.problem}
    return {"state": "waiting", "reason": ""}


def item_values(record: ItemRecord) -> dict[str, Any]:
    """The columns of a work."""
    return {
        "item_type": record.item_type,
        "title": record.title,
        "short_ref": record.short_ref,
        "year": record.year,
        "creators": encode_json([asdict(creator) for creator in record.creators]),
        "fields": encode_json(dict(record.fields)),
        "collections": encode_json(record.collections),
        "tags": encode_json(record.tags),
    }


def item_text(record: ItemRecord) -> str:
    """The searchable text of a work's metadata."""
    names = ", ".join(f"{creator.first} {creator.last}".strip() for creator in record.creators)
    container = next(
        (record.fields[f] for f in ("publicationTitle", "bookTitle", "publisher") if f in record.fields), ""
    )
    lines = (
        plain(record.title),
        " ".join(filter(None, (names, record.year))),
        container,
        plain(record.fields.get("abstractNote", "")),
        ", ".join(record.tags),
    )
    return "\n\n".join(line for line in lines if line)


def note_values(record: NoteRecord) -> dict[str, Any]:
    """The columns of a note."""
    return {
        "parent_key": None if record.parent is None else record.parent.key,
        "title": record.title,
        "text": plain(record.html),
        "tags": encode_json(record.tags),
    }


def annotation_values(record: AnnotationRecord) -> dict[str, Any]:
    """The columns of an annotation."""
    return {
        "attachment_key": record.attachment.key,
        "type": record.type,
        "text": record.text,
        "comment": record.comment,
        "color": record.color,
        "page_label": record.page_label,
        "page_index": record.page_index,
        "sort_index": record.sort_index,
        "position": record.position,
        "author": record.author,
        "external": record.external,
        "tags": encode_json(record.tags),
    }


def attachment_values(record: AttachmentRecord) -> dict[str, Any]:
    """The columns of an attachment that come from the library."""
    return {
        "parent_key": None if record.parent is None else record.parent.key,
        "title": record.title,
        "filename": record.filename,
        "content_type": record.content_type,
        "link_mode": record.link_mode,
        "tags": encode_json(record.tags),
        "path": record.path,
    }


def ref_of(row: Row[Any]) -> ItemRef:
    """The row's library and key."""
    return ItemRef(LibraryRef(row.group_id), row.key)


def _parent(row: Row[Any], key: str | None) -> ItemRef | None:
    return None if key is None else ItemRef(LibraryRef(row.group_id), key)


def item_record(row: Row[Any]) -> ItemRecord:
    """A work from its row."""
    return ItemRecord(
        ref_of(row),
        row.item_type,
        row.title,
        tuple(Creator(**creator) for creator in json.loads(row.creators)),
        row.year,
        json.loads(row.fields),
        tuple(json.loads(row.collections)),
        tuple(json.loads(row.tags)),
    )


def attachment_row(row: Row[Any]) -> AttachmentRow:
    """An attachment from its row."""
    record = AttachmentRecord(
        ref_of(row),
        _parent(row, row.parent_key),
        row.title,
        row.filename,
        row.content_type,
        row.link_mode,
        row.path,
        row.reason if row.path is None else "",
        tuple(json.loads(row.tags)),
    )
    return AttachmentRow(row.id, record, row.state, row.reason, row.kind, row.page_count, row.file_stamp)


def note_record(row: Row[Any]) -> NoteRecord:
    """A note from its row; `html` holds its plain text."""
    return NoteRecord(ref_of(row), _parent(row, row.parent_key), row.text, row.title, tuple(json.loads(row.tags)))


def annotation_record(row: Row[Any]) -> AnnotationRecord:
    """An annotation from its row."""
    return AnnotationRecord(
        ref_of(row),
        ItemRef(LibraryRef(row.group_id), row.attachment_key),
        row.type,
        row.text,
        row.comment,
        row.color,
        row.page_label,
        row.page_index,
        row.sort_index,
        row.position,
        row.author,
        bool(row.external),
        tuple(json.loads(row.tags)),
    )


READERS: dict[str, tuple[Table, Any]] = {
    "item": (item, item_record),
    "attachment": (attachment, attachment_row),
    "note": (note, note_record),
    "annotation": (annotation, annotation_record),
}


def page_text(row: Row[Any]) -> PageText:
    """A page from its row."""
    anchors = tuple((offset, cfi) for offset, cfi in json.loads(row.anchors))
    return PageText(row.page_index, row.label, row.text, row.href, anchors)


def anchor(anchors: str | None, start: int) -> str:
    """The CFI of the block in which a passage begins."""
    before = [cfi for offset, cfi in json.loads(anchors or "[]") if offset <= start]
    return before[-1] if before else ""
