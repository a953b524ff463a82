"""Zotero's tables read into the library's records: one query a table, none an item (Z-1, Z-4)."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping

from ..sessions.library import (
    AnnotationRecord,
    AnnotationType,
    AttachmentRecord,
    CollectionRecord,
    Creator,
    ItemRecord,
    LibraryRecord,
    LibrarySnapshot,
    NoteRecord,
)
from ..sessions.locators import ItemRef, LibraryRef, is_key
from .dates import written_date, year_of
from .files import AttachmentFiles

_LINK_MODES = {0: "imported_file", 1: "imported_url", 2: "linked_file", 3: "linked_url", 4: "embedded_image"}
_ANNOTATION_TYPES: Mapping[object, AnnotationType] = {
    1: "highlight",
    2: "note",
    3: "image",
    4: "ink",
    5: "underline",
    6: "text",
}
_NOT_WORKS = {"attachment", "note", "annotation"}
_LARGEST_PAGE_INDEX = 2**31 - 1


def page_index_of(position: str) -> int | None:
    """The page index, from 0, that an annotation's position names; None outside PDFs and where it is malformed."""
    try:
        parsed = json.loads(position)
    except (ValueError, RecursionError):
        return None
    index = parsed.get("pageIndex") if isinstance(parsed, dict) else None
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index <= _LARGEST_PAGE_INDEX:
        return index
    return None


class DatabaseReader:
    """Reads one open copy of a `zotero.sqlite`.

    Raises sqlite3.Error where the tables are not laid out as Zotero 7 to 10 lay them out.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def schema(self) -> int | None:
        """The number of the database's layout, or None where it names none."""
        rows = self._rows("SELECT version FROM version WHERE schema = 'userdata'")
        return next((version for (version,) in rows if isinstance(version, int)), None)

    def user_id(self) -> int | None:
        """The id of the Zotero account that this database belongs to, or None where there is none."""
        rows = self._rows("SELECT CAST(value AS INTEGER) FROM settings WHERE setting = 'account' AND key = 'userID'")
        return next((user for (user,) in rows if user), None)

    def snapshot(self, identity: str, as_of: str, files: AttachmentFiles) -> LibrarySnapshot:
        """All libraries but feeds, with what is neither in the trash nor below something that is.

        Objects whose keys are not Zotero keys cannot be cited and are left out. `version` of an item is the
        library's local version where the database counts one (Zotero 10), else the synced one.
        """
        libraries = dict(self._libraries())
        objects = {
            item: ItemRef(libraries[library].ref, key)
            for item, library, key in self._rows("SELECT itemID, libraryID, key FROM items")
            if library in libraries and isinstance(key, str) and is_key(key)
        }
        for hidden in self._hidden():
            objects.pop(hidden, None)
        fields = self._fields()
        tags = self._tags()
        collections = dict(self._collections(libraries))
        return LibrarySnapshot(
            identity=identity,
            as_of=as_of,
            libraries=tuple(libraries.values()),
            items=tuple(self._items(objects, fields, tags, collections)),
            attachments=tuple(self._attachments(objects, fields, tags, files)),
            notes=tuple(self._notes(objects, tags)),
            annotations=tuple(self._annotations(objects, tags)),
            collections=tuple(collections.values()),
        )

    def _rows(self, query: str) -> sqlite3.Cursor:
        return self._connection.execute(query)

    def _libraries(self) -> Iterator[tuple[int, LibraryRecord]]:
        query = """
            SELECT libraryID, type, editable, groupID, name FROM libraries LEFT JOIN groups USING (libraryID)
            WHERE type = 'user' OR type = 'group' AND groupID > 0 ORDER BY type = 'group', libraryID
        """
        for library, kind, editable, group, name in self._rows(query):
            if kind == "user":
                yield library, LibraryRecord(LibraryRef(), "My Library", bool(editable))
            else:
                yield library, LibraryRecord(LibraryRef(group), _text(name), bool(editable))

    def _hidden(self) -> set[int]:
        """The trash and all below it: a child of something in the trash has no row there of its own."""
        parents = dict(
            self._rows("""
                SELECT itemID, parentItemID FROM itemAttachments WHERE parentItemID IS NOT NULL
                UNION ALL SELECT itemID, parentItemID FROM itemNotes WHERE parentItemID IS NOT NULL
                UNION ALL SELECT itemID, parentItemID FROM itemAnnotations
            """).fetchall()
        )
        return _with_children({item for (item,) in self._rows("SELECT itemID FROM deletedItems")}, parents)

    def _fields(self) -> dict[int, dict[int, str]]:
        fields: dict[int, dict[int, str]] = defaultdict(dict)
        query = """
            SELECT itemID, fieldID, value FROM itemData JOIN itemDataValues USING (valueID) ORDER BY itemID, fieldID
        """
        for item, field, value in self._rows(query):
            fields[item][field] = _text(value)
        return fields

    def _tags(self) -> dict[int, tuple[str, ...]]:
        tags: dict[int, list[str]] = defaultdict(list)
        for item, name in self._rows("SELECT itemID, name FROM itemTags JOIN tags USING (tagID)"):
            tags[item].append(_text(name))
        return {item: tuple(sorted(names)) for item, names in tags.items()}

    def _creators(self) -> dict[int, list[Creator]]:
        creators: dict[int, list[Creator]] = defaultdict(list)
        query = """
            SELECT itemID, creatorType, lastName, firstName FROM itemCreators
            JOIN creators USING (creatorID) JOIN creatorTypes USING (creatorTypeID) ORDER BY itemID, orderIndex
        """
        for item, role, last, first in self._rows(query):
            creators[item].append(Creator(_text(role), _text(last), _text(first)))
        return creators

    def _collections(self, libraries: Mapping[int, LibraryRecord]) -> Iterator[tuple[int, CollectionRecord]]:
        rows = self._rows("""
            SELECT collectionID, libraryID, key, collectionName, parentCollectionID FROM collections
            ORDER BY collectionID
        """).fetchall()
        parents = {collection: parent for collection, *_, parent in rows if parent is not None}
        trash = {collection for (collection,) in self._rows("SELECT collectionID FROM deletedCollections")}
        hidden = _with_children(trash, parents)
        keys = {row[0]: row[2] for row in rows}
        for collection, library, key, name, parent in rows:
            if library in libraries and isinstance(key, str) and is_key(key) and collection not in hidden:
                ref = ItemRef(libraries[library].ref, key)
                yield collection, CollectionRecord(ref, _text(name), _text(keys.get(parent)))

    def _items(
        self,
        objects: Mapping[int, ItemRef],
        fields: Mapping[int, Mapping[int, str]],
        tags: Mapping[int, tuple[str, ...]],
        collections: Mapping[int, CollectionRecord],
    ) -> Iterator[ItemRecord]:
        names = {field: _text(name) for field, name in self._rows("SELECT fieldID, fieldName FROM fieldsCombined")}
        titles, dates = self._stand_ins("title"), self._stand_ins("date")
        creators = self._creators()
        shelves: dict[int, list[str]] = defaultdict(list)
        for item, collection in self._rows(
            "SELECT itemID, collectionID FROM collectionItems ORDER BY itemID, collectionID"
        ):
            if collection in collections:
                shelves[item].append(collections[collection].ref.key)
        version = "clientVersion" if "clientVersion" in self._columns("items") else "version"
        query = f"""
            SELECT itemID, itemTypeID, typeName, {version} FROM items JOIN itemTypesCombined USING (itemTypeID)
            ORDER BY itemID
        """
        for item, item_type, type_name, number in self._rows(query):
            if item not in objects or type_name in _NOT_WORKS:
                continue
            values = {names[field]: value for field, value in fields.get(item, {}).items() if field in names}
            title = values.pop(titles.get(item_type, "title"), "")
            date = values.get(dates.get(item_type, "date"), "")
            yield ItemRecord(
                ref=objects[item],
                item_type=_text(type_name),
                title=title,
                creators=tuple(creators.get(item, ())),
                year=year_of(date),
                fields={name: written_date(value) if _is_date(name) else value for name, value in values.items()},
                collections=tuple(shelves.get(item, ())),
                tags=tags.get(item, ()),
                version=number if isinstance(number, int) else 0,
            )

    def _attachments(
        self,
        objects: Mapping[int, ItemRef],
        fields: Mapping[int, Mapping[int, str]],
        tags: Mapping[int, tuple[str, ...]],
        files: AttachmentFiles,
    ) -> Iterator[AttachmentRecord]:
        title_field = next(
            (field for (field,) in self._rows("SELECT fieldID FROM fields WHERE fieldName = 'title'")), 0
        )
        query = "SELECT itemID, parentItemID, linkMode, contentType, path FROM itemAttachments ORDER BY itemID"
        for item, parent, mode, content_type, path in self._rows(query):
            if item not in objects:
                continue
            link_mode = _LINK_MODES.get(mode, "unknown")
            file = files.locate(objects[item], link_mode, _text(path))
            yield AttachmentRecord(
                ref=objects[item],
                parent=objects.get(parent),
                title=fields.get(item, {}).get(title_field) or file.filename,
                filename=file.filename,
                content_type=_text(content_type),
                link_mode=link_mode,
                path=file.path,
                problem=file.problem,
                tags=tags.get(item, ()),
            )

    def _notes(self, objects: Mapping[int, ItemRef], tags: Mapping[int, tuple[str, ...]]) -> Iterator[NoteRecord]:
        for item, parent, note, title in self._rows(
            "SELECT itemID, parentItemID, note, title FROM itemNotes ORDER BY itemID"
        ):
            if item in objects:
                yield NoteRecord(objects[item], objects.get(parent), _text(note), _text(title), tags.get(item, ()))

    def _annotations(
        self, objects: Mapping[int, ItemRef], tags: Mapping[int, tuple[str, ...]]
    ) -> Iterator[AnnotationRecord]:
        # In a group the author is whoever made the item; `authorName` is for annotations that came with a file.
        query = """
            SELECT itemID, parentItemID, type, text, comment, color, pageLabel, sortIndex, position, isExternal,
                   COALESCE(NULLIF(authorName, ''), name)
            FROM itemAnnotations LEFT JOIN groupItems USING (itemID) LEFT JOIN users ON userID = createdByUserID
            ORDER BY parentItemID, sortIndex, itemID
        """
        for item, parent, kind, text, comment, color, label, order, position, external, author in self._rows(query):
            if item not in objects or parent not in objects:
                continue
            yield AnnotationRecord(
                ref=objects[item],
                attachment=objects[parent],
                type=_ANNOTATION_TYPES.get(kind, "unknown"),
                text=_text(text),
                comment=_text(comment),
                color=_text(color),
                page_label=_text(label),
                page_index=page_index_of(_text(position)),
                sort_index=_text(order),
                position=_text(position),
                author=_text(author),
                external=bool(external),
                tags=tags.get(item, ()),
            )

    def _stand_ins(self, base: str) -> dict[int, str]:
        """By item type, the field that stands for `base`: a case has a caseName instead of a title."""
        query = """
            SELECT itemTypeID, own.fieldName FROM baseFieldMappingsCombined AS mapping
            JOIN fieldsCombined AS own ON own.fieldID = mapping.fieldID
            JOIN fieldsCombined AS base ON base.fieldID = mapping.baseFieldID WHERE base.fieldName = ?
        """
        return {item_type: _text(name) for item_type, name in self._connection.execute(query, (base,))}

    def _columns(self, table: str) -> set[str]:
        return {column for _, column, *_ in self._rows(f"PRAGMA table_info({table})")}


def _with_children(roots: set[int], parents: Mapping[int, int]) -> set[int]:
    found = set(roots)
    while below := {child for child, parent in parents.items() if parent in found and child not in found}:
        found |= below
    return found


def _is_date(field: str) -> bool:
    """Whether the field holds a date (date, dateDecided, issueDate, …)."""
    return field.startswith("date") or field.endswith("Date")


def _text(value: object) -> str:
    """A column's value as text: Zotero stores numbers that stand alone in a field as numbers."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)
