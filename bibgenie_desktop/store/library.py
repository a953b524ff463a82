"""The library index in library.sqlite: metadata, page texts and passages, searched by FTS5 (Z-6).

Rows of two sources are never mixed: every reading names its source. The file is a cache: when it is damaged or of
another version it is deleted and built anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, Table, func, select, text

from ..sessions.library import (
    AnnotationRecord,
    CollectionRecord,
    ItemRecord,
    LibrarySnapshot,
    NoteRecord,
    PageText,
)
from ..sessions.locators import ItemRef
from .database import Database, StoreUnavailable
from .header import is_damage, read_header
from .library_rows import (
    READERS,
    AttachmentRow,
    anchor,
    annotation_record,
    attachment_row,
    item_record,
    note_record,
    page_text,
    ref_of,
)
from .library_schema import (
    FULL_TEXT,
    LIBRARY_VERSION,
    annotation,
    attachment,
    collection,
    item,
    metadata,
    note,
    page,
    source,
)
from .library_writing import Refresh, drop_pages, insert_pages
from .migrations import check_folder


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage found: what it belongs to, where it stands, and how well it matched (smaller is better).

    `page` is set for `kind` "page": the page's text fields are left empty there, `text` is the passage.
    """

    kind: str
    text: str
    text_hash: str
    rank: float
    owner_id: int
    page_index: int = 0
    page_label: str = ""
    href: str = ""
    cfi: str = ""


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """How much of a source is indexed."""

    items: int
    attachments: int
    waiting: int
    indexed: int
    pages: int
    problems: Mapping[str, int]


class LibraryStore:
    """The index. All methods raise StoreUnavailable when the file fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def open(cls, path: Path) -> LibraryStore:
        """Open the index, or make it anew where there is none that fits. Raises StoreUnavailable."""
        check_folder(path)
        if not _fits(path):
            _remove(path)
        database = Database(
            path,
            what="The library index",
            if_damaged="quit BibGenie and delete this file, and it is built anew",
            synchronous="NORMAL",
        )
        try:
            await database.write(_create)
        except BaseException:
            await database.close()
            raise
        return cls(database)

    async def close(self) -> None:
        """Wait for the last transaction and close the file."""
        await self._database.close()

    async def source_id(self, fingerprint: str) -> int | None:
        """Row id of the source that had this fingerprint when it was last read, else None."""

        def transaction(connection: Connection) -> int | None:
            return connection.execute(select(source.c.id).where(source.c.fingerprint == fingerprint)).scalar()

        return await self._database.read(transaction)

    async def apply(self, snapshot: LibrarySnapshot, fingerprint: str) -> int:
        """Make the index equal to the snapshot, in one transaction; returns the source's row id.

        Only what differs is written. Pages of an attachment stay as long as its path stays.
        """
        return await self._database.write(lambda connection: Refresh(connection, snapshot, fingerprint).run())

    async def attachments(self, source_id: int) -> list[AttachmentRow]:
        """All attachments of a source."""

        def transaction(connection: Connection) -> list[AttachmentRow]:
            rows = connection.execute(select(attachment).where(attachment.c.source_id == source_id))
            return [attachment_row(row) for row in rows]

        return await self._database.read(transaction)

    async def put_pages(
        self, attachment_id: int, pages: Sequence[PageText], *, kind: str, page_count: int, file_stamp: str
    ) -> None:
        """Replace an attachment's pages and passages; it is indexed now."""

        def transaction(connection: Connection) -> None:
            row = connection.execute(select(attachment).where(attachment.c.id == attachment_id)).one_or_none()
            if row is None:
                return  # it left the library while it was read
            drop_pages(connection, attachment_id)
            insert_pages(connection, row.source_id, attachment_id, pages)
            connection.execute(
                attachment.update()
                .where(attachment.c.id == attachment_id)
                .values(state="indexed", reason="", kind=kind, page_count=page_count, file_stamp=file_stamp)
            )

        await self._database.write(transaction)

    async def put_problem(
        self, attachment_id: int, code: str, reason: str, *, page_count: int = 0, file_stamp: str = ""
    ) -> None:
        """An attachment has no text to offer; `reason` is a sentence for the user."""

        def transaction(connection: Connection) -> None:
            drop_pages(connection, attachment_id)
            connection.execute(
                attachment.update()
                .where(attachment.c.id == attachment_id)
                .values(state=code, reason=reason, page_count=page_count, file_stamp=file_stamp)
            )

        await self._database.write(transaction)

    async def counts(self, source_id: int) -> IndexCounts:
        """How much of the source is indexed."""

        def transaction(connection: Connection) -> IndexCounts:
            states = {
                row.state: row.n
                for row in connection.execute(
                    select(attachment.c.state, func.count().label("n"))
                    .where(attachment.c.source_id == source_id)
                    .group_by(attachment.c.state)
                )
            }
            items = connection.execute(select(func.count()).where(item.c.source_id == source_id)).scalar_one()
            pages = connection.execute(
                select(func.count())
                .select_from(page.join(attachment, attachment.c.id == page.c.attachment_id))
                .where(attachment.c.source_id == source_id)
            ).scalar_one()
            return IndexCounts(
                items=items,
                attachments=sum(states.values()),
                waiting=states.get("waiting", 0),
                indexed=states.get("indexed", 0),
                pages=pages,
                problems={state: n for state, n in states.items() if state not in ("waiting", "indexed", "no_file")},
            )

        return await self._database.read(transaction)

    async def search(self, source_id: int, query: str, *, limit: int) -> list[PassageRow]:
        """Passages that match an FTS5 expression, best first; texts that occur twice are given once."""

        def transaction(connection: Connection) -> list[PassageRow]:
            # The full-text index gives its rows one by one, in their order: no more are made than are taken here.
            rows = connection.execute(_SEARCH, {"query": query, "source": source_id})
            found: dict[str, PassageRow] = {}
            for row in rows:
                if len(found) == limit:
                    break
                if row.text_hash not in found:
                    found[row.text_hash] = PassageRow(
                        row.kind,
                        row.text,
                        row.text_hash,
                        row.rank,
                        row.owner_id,
                        row.page_index or 0,
                        row.label or "",
                        row.href or "",
                        anchor(row.anchors, row.start),
                    )
            return list(found.values())

        return await self._database.read(transaction)

    async def occurs(self, source_id: int, queries: Sequence[str]) -> list[bool]:
        """For each FTS5 expression, whether any passage of the source matches it."""

        def transaction(connection: Connection) -> list[bool]:
            return [
                connection.execute(_OCCURS, {"query": query, "source": source_id}).first() is not None
                for query in queries
            ]

        return await self._database.read(transaction)

    async def item(self, source_id: int, ref: ItemRef) -> ItemRecord | None:
        """The work with this key, or None."""
        row = await self._one(item, source_id, ref)
        return None if row is None else item_record(row)

    async def attachment(self, source_id: int, ref: ItemRef) -> AttachmentRow | None:
        """The attachment with this key, or None."""
        row = await self._one(attachment, source_id, ref)
        return None if row is None else attachment_row(row)

    async def note(self, source_id: int, ref: ItemRef) -> NoteRecord | None:
        """The note with this key, or None; its `html` holds plain text."""
        row = await self._one(note, source_id, ref)
        return None if row is None else note_record(row)

    async def annotation(self, source_id: int, ref: ItemRef) -> AnnotationRecord | None:
        """The annotation with this key, or None."""
        row = await self._one(annotation, source_id, ref)
        return None if row is None else annotation_record(row)

    async def by_rows(self, kind: str, row_ids: Sequence[int]) -> dict[int, Any]:
        """Records of these rows: `kind` is item, attachment, note or annotation."""
        table, read = READERS[kind]

        def transaction(connection: Connection) -> dict[int, Any]:
            rows = connection.execute(select(table).where(table.c.id.in_(row_ids)))
            return {row.id: read(row) for row in rows}

        return await self._database.read(transaction)

    async def children(
        self, source_id: int, ref: ItemRef
    ) -> tuple[list[AttachmentRow], list[NoteRecord], list[AnnotationRecord]]:
        """A work's attachments and notes, and the annotations of those attachments (or of `ref` itself)."""

        def transaction(
            connection: Connection,
        ) -> tuple[list[AttachmentRow], list[NoteRecord], list[AnnotationRecord]]:
            attachments = [attachment_row(row) for row in _where(connection, attachment, "parent_key", source_id, ref)]
            notes = [note_record(row) for row in _where(connection, note, "parent_key", source_id, ref)]
            annotations = [
                annotation_record(row)
                for owner in (ref, *(a.record.ref for a in attachments))
                for row in _where(connection, annotation, "attachment_key", source_id, owner)
            ]
            return attachments, notes, sorted(annotations, key=lambda a: (a.attachment, a.sort_index, a.ref))

        return await self._database.read(transaction)

    async def collections(self, source_id: int) -> list[CollectionRecord]:
        """All collections of a source."""

        def transaction(connection: Connection) -> list[CollectionRecord]:
            rows = connection.execute(select(collection).where(collection.c.source_id == source_id))
            return [CollectionRecord(ref_of(row), row.name, row.parent_key) for row in rows]

        return await self._database.read(transaction)

    async def pages(self, attachment_id: int, first: int, last: int) -> list[PageText]:
        """The indexed pages `first` to `last`, both from 0."""

        def transaction(connection: Connection) -> list[PageText]:
            rows = connection.execute(
                select(page)
                .where(page.c.attachment_id == attachment_id, page.c.page_index.between(first, last))
                .order_by(page.c.page_index)
            )
            return [page_text(row) for row in rows]

        return await self._database.read(transaction)

    async def pages_labelled(self, attachment_id: int, label: str) -> list[int]:
        """The indices of all pages that carry this printed label; labels may repeat."""

        def transaction(connection: Connection) -> list[int]:
            rows = connection.execute(
                select(page.c.page_index)
                .where(page.c.attachment_id == attachment_id, page.c.label == label)
                .order_by(page.c.page_index)
            )
            return list(rows.scalars())

        return await self._database.read(transaction)

    async def _one(self, table: Table, source_id: int, ref: ItemRef) -> Row[Any] | None:
        return await self._database.read(
            lambda connection: next(iter(_where(connection, table, "key", source_id, ref)), None)
        )


_SEARCH = text(
    """
    SELECT passage.kind, passage.owner_id, passage.text_hash, passage.start, passage_text.text,
           page.page_index, page.label, page.href, page.anchors, found.rank
    FROM (SELECT rowid, rank FROM passage_fts WHERE passage_fts MATCH :query ORDER BY rank) AS found
    JOIN passage ON passage.id = found.rowid AND passage.source_id = :source
    JOIN passage_text ON passage_text.id = passage.id
    LEFT JOIN page ON page.id = passage.page_id
    ORDER BY found.rank
    """
)
_OCCURS = text(
    """
    SELECT 1 FROM passage_fts JOIN passage ON passage.id = passage_fts.rowid
    WHERE passage_fts MATCH :query AND passage.source_id = :source LIMIT 1
    """
)


def _where(connection: Connection, table: Table, column: str, source_id: int, ref: ItemRef) -> list[Row[Any]]:
    return list(
        connection.execute(
            select(table)
            .where(
                table.c.source_id == source_id,
                table.c.group_id == ref.library.group_id,
                table.c[column] == ref.key,
            )
            .order_by(table.c.id)
        )
    )


def _fits(path: Path) -> bool:
    """Whether an index of our version is at `path`, or can be made there. Raises StoreUnavailable."""
    if not path.exists() or path.stat().st_size == 0:
        return True
    try:
        header = read_header(path)
    except sqlite3.Error as error:
        return not is_damage(error)  # such as a lock: opening the file will tell
    if header.tables and "passage_fts" not in header.tables:
        raise StoreUnavailable(
            "foreign",
            f"The file {path} belongs to another program and was left as it is: choose another profile with --profile.",
        )
    return not header.tables or header.version == LIBRARY_VERSION


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        try:
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                "unwritable",
                f"The library index {path} must be rebuilt but cannot be removed: check the folder.",
            ) from error


def _create(connection: Connection) -> None:
    (version,) = connection.exec_driver_sql("PRAGMA user_version").one()
    if version == LIBRARY_VERSION:
        return
    metadata.create_all(connection)
    for statement in FULL_TEXT:
        connection.exec_driver_sql(statement)
    connection.exec_driver_sql(f"PRAGMA user_version = {LIBRARY_VERSION}")
