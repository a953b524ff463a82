"""Zotero data directories for tests: copies of the real ones, and emptied ones filled row by row.

`tests/data/zotero9` and `zotero10` were written by Zotero 9.0.6 and 10.0.1 around an invented library. They are never
opened where they lie, since SQLite would leave its files beside them.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bibgenie_desktop.zotero.database import DatabaseSource

DATA = Path(__file__).parent.parent / "data"
VERSIONS = (9, 10)
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

_FILLED = (
    "itemAnnotations itemAttachments itemNotes itemData itemDataValues itemCreators creators itemTags tags "
    "collectionItems collections deletedItems deletedCollections groupItems items groups itemRelations syncCache"
).split()


def now() -> datetime:
    """A clock that stands still."""
    return NOW


def copied(version: int, target: Path) -> Path:
    """A private copy of the data directory that Zotero `version` made, as `target`."""
    shutil.copytree(DATA / f"zotero{version}", target)
    return target


def source(path: Path, **options: Any) -> DatabaseSource:
    """A source over `path` with the clock that stands still."""
    return DatabaseSource(path, clock=now, **options)


def everything_in(directory: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every entry below `directory` with its size, its time of change and its bytes."""
    found = {}
    for path in sorted(directory.rglob("*")):
        status = path.stat()
        content = path.read_bytes() if path.is_file() else b""
        found[path.relative_to(directory).as_posix()] = (status.st_size, status.st_mtime_ns, content)
    return found


class EmptiedDatabase:
    """The database of a real Zotero without its objects, to be filled with `with EmptiedDatabase(…) as database:`.

    Library 1 is the personal one. All methods return the id of the row they made.
    """

    def __init__(self, directory: Path, version: int = 10) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.path = directory / "zotero.sqlite"
        shutil.copyfile(DATA / f"zotero{version}" / "zotero.sqlite", self.path)
        self._connection = sqlite3.connect(self.path, isolation_level=None)
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute("BEGIN")
        for table in _FILLED:
            self.run(f"DELETE FROM {table}")
        self.run("DELETE FROM libraries WHERE libraryID > 1")
        self._types = dict(self.run("SELECT typeName, itemTypeID FROM itemTypesCombined"))
        self._fields = dict(self.run("SELECT fieldName, fieldID FROM fieldsCombined"))
        self._roles = dict(self.run("SELECT creatorType, creatorTypeID FROM creatorTypes"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.execute("COMMIT" if error is None else "ROLLBACK")
        self._connection.close()

    def run(self, statement: str, values: Iterable[object] = ()) -> list[Any]:
        """Run any statement; its rows."""
        return self._connection.execute(statement, tuple(values)).fetchall()

    def insert(self, table: str, **values: object) -> int:
        """Insert one row."""
        columns, marks = ", ".join(values), ", ".join("?" * len(values))
        statement = f"INSERT INTO {table} ({columns}) VALUES ({marks})"
        row = self._connection.execute(statement, tuple(values.values())).lastrowid
        assert row is not None
        return row

    def group(self, group_id: int, name: str) -> int:
        """A group's library."""
        library = self.insert("libraries", type="group", editable=1, filesEditable=1)
        self.insert("groups", groupID=group_id, libraryID=library, name=name, description="", version=1)
        return library

    def item(
        self,
        key: str,
        item_type: str,
        *,
        library: int = 1,
        fields: Mapping[str, object] | None = None,
        tags: Iterable[str] = (),
    ) -> int:
        """Any object's row in `items`, with its fields and tags."""
        item = self.insert("items", itemTypeID=self._types[item_type], libraryID=library, key=key)
        for field, value in (fields or {}).items():
            self.run("INSERT OR IGNORE INTO itemDataValues (value) VALUES (?)", (value,))
            self.run(
                "INSERT INTO itemData SELECT ?, ?, valueID FROM itemDataValues WHERE value = ?",
                (item, self._fields[field], value),
            )
        for tag in tags:
            self.run("INSERT OR IGNORE INTO tags (name) VALUES (?)", (tag,))
            self.run("INSERT INTO itemTags SELECT ?, tagID, 0 FROM tags WHERE name = ?", (item, tag))
        return item

    def work(
        self,
        key: str,
        title: str = "",
        *,
        item_type: str = "journalArticle",
        library: int = 1,
        date: str = "",
        creators: Iterable[tuple[str, str, str]] = (),
        **fields: object,
    ) -> int:
        """A work with creators of the form (role, last, first)."""
        given = {name: value for name, value in {"title": title, "date": date, **fields}.items() if value != ""}
        item = self.item(key, item_type, library=library, fields=given)
        for order, (role, last, first) in enumerate(creators):
            self.run(
                "INSERT OR IGNORE INTO creators (lastName, firstName, fieldMode) VALUES (?, ?, ?)",
                (last, first, int(not first)),
            )
            self.run(
                "INSERT INTO itemCreators SELECT ?, creatorID, ?, ? FROM creators WHERE lastName = ? AND firstName = ?",
                (item, self._roles[role], order, last, first),
            )
        return item

    def attachment(
        self,
        key: str,
        path: str | None,
        *,
        parent: int | None = None,
        mode: int = 0,
        content_type: str = "application/pdf",
        library: int = 1,
        title: str = "",
    ) -> int:
        """An attachment; its file is not made."""
        item = self.item(key, "attachment", library=library, fields={"title": title} if title else {})
        self.insert(
            "itemAttachments", itemID=item, parentItemID=parent, linkMode=mode, contentType=content_type, path=path
        )
        return item

    def note(self, key: str, html: str, *, parent: int | None = None, title: str = "") -> int:
        """A note."""
        item = self.item(key, "note")
        self.insert("itemNotes", itemID=item, parentItemID=parent, note=html, title=title)
        return item

    def annotation(self, key: str, attachment: int, position: str = "", **values: object) -> int:
        """An annotation, a highlight if no type is given."""
        row = {"type": 1, "sortIndex": "00000|000000|00000", "isExternal": 0, "position": position, **values}
        item = self.item(key, "annotation")
        self.insert("itemAnnotations", itemID=item, parentItemID=attachment, **row)
        return item

    def collection(self, key: str, name: str, *, parent: int | None = None, items: Iterable[int] = ()) -> int:
        """A collection with its items."""
        collection = self.insert("collections", collectionName=name, parentCollectionID=parent, libraryID=1, key=key)
        for item in items:
            self.insert("collectionItems", collectionID=collection, itemID=item)
        return collection

    def trash(self, item: int) -> None:
        """Move an object to the trash, as Zotero does: one row, none for its children."""
        self.insert("deletedItems", itemID=item)
