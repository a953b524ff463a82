"""The tool that shows one work: metadata, files, notes, annotations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....compaction.messages import ToolSpec
from ....sessions.citations import token_for
from ....sessions.library import AnnotationRecord, ItemRecord, NoteRecord, plain
from ....sessions.locators import AnnotationLocator, ItemLocator, ItemRef, Locator
from ....store.library_rows import AttachmentRow
from ...library.library import Library
from .tool import ToolFault, ToolResult, cut, fitted, fitting, key_argument, key_text, number_argument, weight

MOST_NAMES = 20
"""Creators, tags and fields that are shown of a work where there is room."""
MOST_FILES = 20
LEAST_TEXT = 40
"""Estimated tokens of a note or annotation that are shown however little room there is."""
ENTRY_ROOM = 60
"""Estimated tokens of a note or annotation beside its text."""
NOTE_ROOM = 60
"""Estimated tokens kept for the note."""

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
    """`get_item`: everything the library knows of one work, by its key or by a key of its files or notes.

    The result: of a work `cite`, `item`, `quoted_work` (author and year), `quoted_type`, `year`, `quoted_title`,
    `quoted_creators`, `quoted_fields`, `quoted_abstract`, `quoted_tags`; then `files` (`key`, `quoted_filename`, and
    `kind` with the count of `pages` or `sections`, or `state` and why it cannot be read), `notes` (`cite`,
    `quoted_text`), `annotations` (`cite`, `type`, `file`, `page_index`, `quoted_page_label`, `quoted_text`,
    `quoted_comment`), and `note` where something was left out.
    """

    spec = ToolSpec(
        "get_item",
        "Show one work of the library by its key: metadata, abstract, files with their page counts, notes and "
        "annotations. A key of a file, a note or an annotation shows the work it belongs to.",
        {
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "A key from a result, such as ABCD2345."},
                "start": {
                    "type": "integer",
                    "description": "Where to go on in many notes and annotations; the result says when.",
                },
                "offset": {
                    "type": "integer",
                    "description": "Where to go on in a long note, in characters; the result says when.",
                },
            },
            "required": ["key"],
        },
    )

    def __init__(self, library: Library) -> None:
        self._library = library

    @staticmethod
    def title(arguments: Mapping[str, Any]) -> str:
        """`Look at item KEY`."""
        return f"Look at item {cut(str(arguments.get('key', '')), 40)}"

    async def run(self, arguments: Mapping[str, Any], *, budget: int) -> ToolResult:
        """Show the work. Raises ToolFault."""
        ref = key_argument(arguments)
        start = number_argument(arguments, "start", default=0, least=0, most=1_000_000)
        offset = number_argument(arguments, "offset", default=0, least=0, most=10_000_000)
        owner, files, notes = await self._owner(ref)
        work = await self._library.work(owner)
        children = await self._library.children(owner)
        files, notes = files + children.attachments, notes + children.notes
        data: dict[str, Any] = {} if work is None else _metadata(work, budget // 4)
        data |= {"files": [_file(row) for row in files[:MOST_FILES]], "notes": [], "annotations": []}
        shown: list[Locator] = [] if work is None else [ItemLocator(work.ref)]
        left_out = [f"{len(files) - MOST_FILES} files are not shown."] if len(files) > MOST_FILES else []
        entries: list[NoteRecord | AnnotationRecord] = [*notes, *children.annotations]
        room = budget - weight(data) - NOTE_ROOM
        for number, entry in enumerate(entries[start:], start):
            if room < LEAST_TEXT and number > start:
                left_out.append(f"There are {len(entries)} notes and annotations: go on with start {number}.")
                break
            kind, locator, text, end = _entry(entry, max(LEAST_TEXT, room - ENTRY_ROOM), offset)
            data[kind].append(text)
            shown.append(locator)
            if end:
                left_out.append(f"A note is cut: go on with start {number}, offset {end}.")
                break
            room -= weight(text)
            offset = 0
        if left_out:
            data["note"] = " ".join(left_out)
        return ToolResult(data, tuple(shown), cut(work.short_ref, 100) if work else key_text(owner))

    async def _owner(self, ref: ItemRef) -> tuple[ItemRef, list[AttachmentRow], list[NoteRecord]]:
        """The key of the work to show; of a file or note that stands alone its own, and itself. Raises ToolFault."""
        if await self._library.work(ref):
            return ref, [], []
        note = await self._library.note(ref)
        if note is not None:
            return (note.parent, [], []) if note.parent else (ref, [], [note])
        annotation = await self._library.annotation(ref)
        attachment = await self._library.attachment(annotation.attachment if annotation else ref)
        if attachment is None:
            raise ToolFault(f"The library has no item {key_text(ref)}: search for it first.")
        if attachment.record.parent is None:
            return attachment.record.ref, [attachment], []
        return attachment.record.parent, [], []


def _metadata(work: ItemRecord, tokens: int) -> dict[str, Any]:
    """The work itself; the abstract is cut to `tokens`, and the rest is the briefer the less they are."""
    most, longest = max(3, min(MOST_NAMES, tokens // 50)), max(60, min(300, tokens // 5))
    creators = [f"{creator.first} {creator.last}".strip() + f" ({creator.role})" for creator in work.creators]
    fields = [name for name in _FIELDS if work.fields.get(name)]
    return {
        "cite": token_for(ItemLocator(work.ref)),
        "item": key_text(work.ref),
        "quoted_work": cut(work.short_ref, 100),
        "quoted_type": cut(work.item_type, 60),
        "year": work.year,
        "quoted_title": cut(plain(work.title), longest),
        "quoted_creators": [cut(name, 80) for name in creators[:most]],
        "quoted_fields": {name: cut(plain(work.fields[name]), longest) for name in fields[:most]},
        "quoted_abstract": fitted(plain(work.fields.get("abstractNote", "")), tokens),
        "quoted_tags": [cut(tag, 60) for tag in work.tags[:most]],
    }


def _entry(entry: NoteRecord | AnnotationRecord, tokens: int, offset: int) -> tuple[str, Locator, dict[str, Any], int]:
    """The list a note or annotation stands in, its locator, how it is shown, and where it was cut, 0 if nowhere."""
    if isinstance(entry, NoteRecord):
        note = ItemLocator(entry.ref)
        text = entry.html[offset:]
        end = fitting(text, tokens)
        is_cut = end < len(text)
        shown = {"cite": token_for(note), "quoted_text": f"{text[:end]} […]" if is_cut else text}
        return "notes", note, shown, offset + end if is_cut else 0
    place = AnnotationLocator(entry.ref, entry.attachment, entry.page_index, entry.page_label)
    annotation: dict[str, Any] = {"cite": token_for(place), "type": entry.type, "file": key_text(entry.attachment)}
    if entry.page_index is not None:
        annotation |= {"page_index": entry.page_index, "quoted_page_label": cut(entry.page_label, 100)}
    if entry.text:
        annotation["quoted_text"] = fitted(entry.text, tokens // 2)
    if entry.comment:
        annotation["quoted_comment"] = fitted(entry.comment, tokens // 2)
    return "annotations", place, annotation, 0


def _file(row: AttachmentRow) -> dict[str, Any]:
    shown = {"key": key_text(row.record.ref), "quoted_filename": cut(row.record.filename or row.record.title, 100)}
    if row.state == "indexed":
        unit = "sections" if row.kind == "epub" else "pages"
        return shown | {"kind": row.kind, unit: row.page_count}
    if row.state == "waiting":
        return shown | {"state": "not indexed yet; its pages can be read"}
    return shown | {"state": row.state, "reason": row.reason}
