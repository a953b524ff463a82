"""Library indexes for tests: small snapshots, and a look at what the file holds."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from bibgenie_desktop.sessions.language import search_terms
from bibgenie_desktop.sessions.library import (
    AnnotationRecord,
    AttachmentRecord,
    CollectionRecord,
    Creator,
    ItemRecord,
    LibraryRecord,
    LibrarySnapshot,
    NoteRecord,
    PageText,
)
from bibgenie_desktop.sessions.locators import PERSONAL, ItemRef, LibraryRef
from bibgenie_desktop.store.full_text import any_word
from bibgenie_desktop.store.library import LibraryStore, PassageRow

GROUP = LibraryRef(555)


def ref(name: str, library: LibraryRef = PERSONAL) -> ItemRef:
    """The object with this name, filled up to a key."""
    return ItemRef(library, name.upper().ljust(8, "2"))


def work(name: str, title: str, abstract: str = "", library: LibraryRef = PERSONAL, **more: Any) -> ItemRecord:
    """A book by Hale of 2010."""
    fields = {"abstractNote": abstract} if abstract else {}
    return ItemRecord(ref(name, library), "book", title, (Creator("author", "Hale", "Jo"),), "2010", fields, **more)


def file(name: str, path: str | None = "/files/a.pdf", parent: str = "", **more: Any) -> AttachmentRecord:
    """A PDF."""
    owner = ref(parent) if parent else None
    return AttachmentRecord(ref(name), owner, "Full text", "a.pdf", "application/pdf", "imported_file", path, **more)


def note(name: str, html: str, parent: str = "") -> NoteRecord:
    return NoteRecord(ref(name), ref(parent) if parent else None, html, "Note")


def mark(name: str, attachment: str, text: str, comment: str = "", **more: Any) -> AnnotationRecord:
    """A highlight."""
    return AnnotationRecord(ref(name), ref(attachment), "highlight", text, comment, **more)


def snapshot(
    *records: ItemRecord | AttachmentRecord | NoteRecord | AnnotationRecord | CollectionRecord,
    identity: str = "zotero:a",
    libraries: Sequence[LibraryRecord] = (LibraryRecord(PERSONAL, "My Library"),),
) -> LibrarySnapshot:
    """What a source holds."""

    def those(kind: type) -> Any:
        return tuple(record for record in records if isinstance(record, kind))

    return LibrarySnapshot(
        identity,
        "2026-11-30T18:50:48.123Z",
        tuple(libraries),
        those(ItemRecord),
        those(AttachmentRecord),
        those(NoteRecord),
        those(AnnotationRecord),
        those(CollectionRecord),
    )


def pages(*texts: str) -> list[PageText]:
    """Pages with roman labels."""
    labels = ["i", "ii", "iii", "iv", "v", "vi"]
    return [PageText(index, label, text) for index, (label, text) in enumerate(zip(labels, texts, strict=False))]


@asynccontextmanager
async def opened_index(path: Path) -> AsyncIterator[LibraryStore]:
    """The index at `path`, closed at the end."""
    store = await LibraryStore.open(path)
    try:
        yield store
    finally:
        await store.close()


async def put(store: LibraryStore, source_id: int, name: str, *texts: str) -> None:
    """Index the pages of an attachment."""
    row = await store.attachment(source_id, ref(name))
    assert row is not None
    await store.put_pages(row.id, pages(*texts), kind="pdf", page_count=len(texts), file_stamp="1:1")


async def search(store: LibraryStore, source_id: int, words: str, limit: int = 100) -> list[PassageRow]:
    """Passages that hold any of the words."""
    return await store.search(source_id, any_word(search_terms(words)), limit=limit)


async def texts(store: LibraryStore, source_id: int, words: str) -> set[str]:
    """The texts of those passages."""
    return {row.text for row in await search(store, source_id, words)}


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    """What a query finds in the file."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def check_full_text(path: Path) -> None:
    """The full-text index holds exactly the words of the passages, and no row points at one that is gone."""
    with closing(sqlite3.connect(path)) as connection:
        # With rank 1 the index is compared with the table it is made from. Raises sqlite3.DatabaseError.
        connection.execute("INSERT INTO passage_fts (passage_fts, rank) VALUES ('integrity-check', 1)")
        connection.rollback()
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        for kind in ("item", "note", "annotation", "attachment"):
            orphans = connection.execute(
                f"SELECT count(*) FROM passage WHERE kind = ? AND owner_id NOT IN (SELECT id FROM {kind})",
                ("page" if kind == "attachment" else kind,),
            )
            assert orphans.fetchone() == (0,), kind


class Changes:
    """The rows of a closed index that were written since: triggers of the database itself keep the list."""

    TABLES = ("item", "attachment", "note", "annotation", "collection", "page", "passage")

    def __init__(self, path: Path) -> None:
        self._path = path
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE written (change TEXT)")
            for table in self.TABLES:
                for event in ("insert", "update", "delete"):
                    connection.execute(
                        f"CREATE TRIGGER {event}_{table} AFTER {event} ON {table}"
                        f" BEGIN INSERT INTO written VALUES ('{event} {table}'); END"
                    )
            connection.commit()

    def list(self) -> list[str]:
        """`insert item`, `delete page` and so on, sorted."""
        return sorted(change for (change,) in rows(self._path, "SELECT change FROM written"))


def distinct(found: Iterable[PassageRow]) -> bool:
    """Whether no text occurs twice, however it is spaced and cased."""
    folded = [" ".join(row.text.casefold().split()) for row in found]
    return len(folded) == len(set(folded))
