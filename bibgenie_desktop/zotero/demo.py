"""The demo library: a directory with `library.json` and `storage/KEY/filename` beside it (Z-1)."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

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
from ..sessions.locators import PERSONAL, ItemRef, MalformedLocator
from .dates import year_of
from .files import AttachmentFiles
from .port import ZoteroUnavailable

LIBRARY_NAME = "library.json"
FORMAT = 1

_Record = TypeVar("_Record")
_Object = Mapping[str, Any]


class DemoSource:
    """A LibrarySource over the demo library in `directory`. Every call reads the directory as it is then."""

    kind = "demo"
    title = "the demo library"

    def __init__(self, directory: Path) -> None:
        self._directory = directory.absolute()
        self._file = self._directory / LIBRARY_NAME

    @property
    def identity(self) -> str:
        """As library.json gives it. Raises ZoteroUnavailable."""
        return self._reading(lambda library: _text(library, "identity"))

    def fingerprint(self) -> str:
        """A digest of the place, of library.json and of the files' names and sizes. Raises ZoteroUnavailable."""
        digest = hashlib.sha256(os.fsencode(self._directory))
        try:
            digest.update(self._file.read_bytes())
            for file in sorted((self._directory / "storage").glob("*/*")):
                name = os.fsencode(file.relative_to(self._directory))
                digest.update(b"\0%s\0%d" % (name, file.stat().st_size))
        except OSError as error:
            raise self._unreadable(error) from error
        return digest.hexdigest()

    def snapshot(self) -> LibrarySnapshot:
        """The demo library. Raises ZoteroUnavailable, naming what in which file is wrong."""
        return self._reading(lambda library: _snapshot(library, AttachmentFiles(self._directory)))

    def _reading(self, read: Callable[[_Object], _Record]) -> _Record:
        try:
            library = _checked(
                json.loads(self._file.read_bytes()),
                "the library",
                "format identity as_of name items attachments notes annotations collections",
            )
            if library["format"] != FORMAT:
                raise _Malformed(f"its format is {library['format']!r}, not {FORMAT}")
            return read(library)
        except OSError as error:
            raise self._unreadable(error) from error
        except (ValueError, RecursionError) as error:
            what = "it is nested too deeply" if isinstance(error, RecursionError) else error
            raise ZoteroUnavailable(
                f"The demo library is damaged: in {self._file}, {what}; install BibGenie Desktop again, "
                "or name your own library with --zotero sqlite:PATH."
            ) from error

    def _unreadable(self, error: OSError) -> ZoteroUnavailable:
        return ZoteroUnavailable(
            f"The demo library cannot be read: {error.filename or self._file} ({error.strerror or error}); "
            "install BibGenie Desktop again, or name your own library with --zotero sqlite:PATH."
        )


class _Malformed(ValueError):
    """What is wrong in library.json, to follow "in FILE,"."""


def _snapshot(library: _Object, files: AttachmentFiles) -> LibrarySnapshot:
    as_of = _text(library, "as_of")
    datetime.fromisoformat(as_of)
    collections = _records(library, "collections", "key name parent", _collection)
    items = _records(library, "items", "key itemType title creators date fields tags collections", _item)
    attachments = _records(
        library,
        "attachments",
        "key parent title filename contentType linkMode",
        lambda entry: _attachment(entry, files),
    )
    notes = _records(library, "notes", "key parent title html tags", _note)
    annotations = _records(
        library,
        "annotations",
        "key attachment type text comment color pageLabel pageIndex sortIndex position tags",
        _annotation,
    )
    snapshot = LibrarySnapshot(
        identity=_text(library, "identity"),
        as_of=as_of,
        libraries=(LibraryRecord(PERSONAL, _text(library, "name"), editable=False),),
        items=items,
        attachments=attachments,
        notes=notes,
        annotations=annotations,
        collections=collections,
    )
    _check_references(snapshot)
    return snapshot


def _check_references(snapshot: LibrarySnapshot) -> None:
    """Every key is given once, and whatever is named is there."""
    items = [item.ref for item in snapshot.items]
    attachments = [attachment.ref for attachment in snapshot.attachments]
    notes = [note.ref for note in snapshot.notes]
    annotations = [annotation.ref for annotation in snapshot.annotations]
    shelves = [collection.ref for collection in snapshot.collections]
    for ref, times in Counter([*items, *attachments, *notes, *annotations, *shelves]).items():
        if times > 1:
            raise _Malformed(f"the key {ref.key} is given {times} times")
    parents = [(attachment.ref, attachment.parent) for attachment in snapshot.attachments]
    parents += [(note.ref, note.parent) for note in snapshot.notes]
    for child, parent in parents:
        if parent is not None and parent not in items:
            raise _Malformed(f"{child.key} has the parent {parent.key}, which is no item")
    collections = {"", *(ref.key for ref in shelves)}
    for annotation in snapshot.annotations:
        if annotation.attachment not in attachments:
            raise _Malformed(f"{annotation.ref.key} annotates {annotation.attachment.key}, which is no attachment")
    for item in snapshot.items:
        for key in item.collections:
            if key not in collections:
                raise _Malformed(f"{item.ref.key} is in the collection {key}, which is none")
    for collection in snapshot.collections:
        if collection.parent_key not in collections:
            raise _Malformed(f"the collection {collection.ref.key} is in {collection.parent_key}, which is none")


def _records(library: _Object, name: str, members: str, read: Callable[[_Object], _Record]) -> tuple[_Record, ...]:
    entries = library[name]
    if not isinstance(entries, list):
        raise _Malformed(f"{name} is not a list")
    return tuple(_each(entries, name, members, read))


def _each(entries: list[Any], name: str, members: str, read: Callable[[_Object], _Record]) -> Iterator[_Record]:
    for number, entry in enumerate(entries):
        where = f"{name}[{number}]"
        checked = _checked(entry, where, members)
        try:
            yield read(checked)
        except (_Malformed, MalformedLocator) as error:
            raise _Malformed(f"in {where}, {error}") from error


def _item(entry: _Object) -> ItemRecord:
    fields = entry["fields"]
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        raise _Malformed("fields is not an object of texts")
    date = _text(entry, "date")
    return ItemRecord(
        ref=_ref(entry, "key"),
        item_type=_text(entry, "itemType"),
        title=_text(entry, "title"),
        creators=_records(
            entry,
            "creators",
            "role last first",
            lambda name: Creator(_text(name, "role"), _text(name, "last"), _text(name, "first")),
        ),
        year=year_of(date),
        fields={**fields, "date": date} if date else dict(fields),
        collections=_texts(entry, "collections"),
        tags=_texts(entry, "tags"),
    )


def _attachment(entry: _Object, files: AttachmentFiles) -> AttachmentRecord:
    ref = _ref(entry, "key")
    if entry["linkMode"] != "imported_file":
        raise _Malformed("linkMode is not imported_file")
    file = files.locate(ref, "imported_file", f"storage:{_text(entry, 'filename')}")
    return AttachmentRecord(
        ref=ref,
        parent=None if entry["parent"] is None else _ref(entry, "parent"),
        title=_text(entry, "title"),
        filename=file.filename,
        content_type=_text(entry, "contentType"),
        link_mode="imported_file",
        path=file.path,
        problem=file.problem,
    )


def _note(entry: _Object) -> NoteRecord:
    return NoteRecord(
        ref=_ref(entry, "key"),
        parent=None if entry["parent"] is None else _ref(entry, "parent"),
        html=_text(entry, "html"),
        title=_text(entry, "title"),
        tags=_texts(entry, "tags"),
    )


def _annotation(entry: _Object) -> AnnotationRecord:
    kind = _text(entry, "type")
    if kind not in get_args(AnnotationType):
        raise _Malformed(f"type is {kind!r}, which is no type of annotation")
    page_index = entry["pageIndex"]
    if page_index is not None and (type(page_index) is not int or page_index < 0):
        raise _Malformed("pageIndex is neither null nor a number from 0")
    return AnnotationRecord(
        ref=_ref(entry, "key"),
        attachment=_ref(entry, "attachment"),
        type=cast(AnnotationType, kind),
        text=_text(entry, "text"),
        comment=_text(entry, "comment"),
        color=_text(entry, "color"),
        page_label=_text(entry, "pageLabel"),
        page_index=page_index,
        sort_index=_text(entry, "sortIndex"),
        position=_text(entry, "position"),
        tags=_texts(entry, "tags"),
    )


def _collection(entry: _Object) -> CollectionRecord:
    return CollectionRecord(_ref(entry, "key"), _text(entry, "name"), _text(entry, "parent"))


def _checked(value: object, where: str, members: str) -> _Object:
    if not isinstance(value, dict):
        raise _Malformed(f"{where} is not an object")
    expected = set(members.split())
    if missing := expected - value.keys():
        raise _Malformed(f"{where} lacks {', '.join(sorted(missing))}")
    if unknown := value.keys() - expected:
        raise _Malformed(f"{where} has {', '.join(sorted(unknown))}, which it may not")
    return value


def _text(entry: _Object, name: str) -> str:
    value = entry[name]
    if not isinstance(value, str):
        raise _Malformed(f"{name} is not a text")
    return value


def _texts(entry: _Object, name: str) -> tuple[str, ...]:
    value = entry[name]
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise _Malformed(f"{name} is not a list of texts")
    return tuple(value)


def _ref(entry: _Object, name: str) -> ItemRef:
    return ItemRef(PERSONAL, _text(entry, name))
