"""Writing library.sqlite: passages and their full-text index, and the refresh from a snapshot (Z-6).

Rows are written in batches with ids counted here, which is safe inside the one write transaction: indexing must not
cost more than reading the documents does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Table, delete, func, select, text

from ..sessions.library import AttachmentRecord, LibraryRecord, LibrarySnapshot, PageText, plain
from ..sessions.locators import ItemRef
from .encoding import encode_json
from .library_rows import annotation_values, attachment_values, item_text, item_values, note_values, unread
from .library_schema import annotation, attachment, collection, item, library, note, page, passage, source

PASSAGE_CHARACTERS = 1_000
"""A passage is a run of whole paragraphs of about this length."""

_FORGET = text(
    """
    INSERT INTO passage_fts(passage_fts, rowid, text)
    SELECT 'delete', id, text FROM passage_text
    WHERE id IN (SELECT id FROM passage WHERE kind = :kind AND owner_id = :owner)
    """
)
_LEARN = text(
    "INSERT INTO passage_fts(rowid, text) SELECT id, text FROM passage_text WHERE id BETWEEN :first AND :last"
)


def passages_of(text_of_page: str) -> list[tuple[int, int]]:
    """(start, length) of the passages of a page: whole paragraphs, gathered until about PASSAGE_CHARACTERS.

    A paragraph longer than twice that is cut at a space.
    """
    stretches: list[tuple[int, int]] = []
    start: int | None = None
    end = 0
    for begin, stop in _paragraphs(text_of_page):
        if start is not None and stop - start > PASSAGE_CHARACTERS:
            stretches.append((start, end - start))
            start = None
        if start is None:
            start = begin
        end = stop
    if start is not None:
        stretches.append((start, end - start))
    return stretches


def _paragraphs(text_of_page: str) -> Iterable[tuple[int, int]]:
    position = 0
    for block in text_of_page.split("\n\n"):
        begin, stop = position, position + len(block)
        position = stop + 2
        while stop - begin > 2 * PASSAGE_CHARACTERS:
            cut = text_of_page.rfind(" ", begin + 1, begin + PASSAGE_CHARACTERS)
            cut = cut if cut > 0 else begin + PASSAGE_CHARACTERS
            yield begin, cut
            begin = cut
        if text_of_page[begin:stop].strip():
            yield begin, stop


def _hash(passage_text: str) -> str:
    """The same words in two attachments hash alike, however they are spaced and cased."""
    return hashlib.blake2b(
        " ".join(passage_text.casefold().split()).encode("utf-8", "replace"), digest_size=12
    ).hexdigest()


def insert_pages(connection: Connection, source_id: int, attachment_id: int, pages: Sequence[PageText]) -> None:
    """Store an attachment's pages with their passages; there must be none of it yet."""
    if not pages:
        return
    first = _next_id(connection, page)
    # SQLite's substr, which cuts out the passages, ends a text at its first NUL.
    numbered = [
        (page_id, replace(each, text=each.text.replace("\0", " "))) for page_id, each in enumerate(pages, first)
    ]
    connection.execute(
        page.insert(),
        [
            {
                "id": page_id,
                "attachment_id": attachment_id,
                "page_index": each.index,
                "label": each.label,
                "href": each.href,
                "anchors": encode_json(each.anchors),
                "text": each.text,
            }
            for page_id, each in numbered
        ],
    )
    _insert_passages(
        connection,
        [
            _passage(source_id, "page", attachment_id, each.text[start : start + length], page_id=page_id, start=start)
            for page_id, each in numbered
            for start, length in passages_of(each.text)
        ],
    )


def drop_pages(connection: Connection, attachment_id: int) -> None:
    """Remove an attachment's pages and passages."""
    _drop_passages(connection, "page", attachment_id)
    connection.execute(delete(page).where(page.c.attachment_id == attachment_id))


def _passage(
    source_id: int, kind: str, owner_id: int, passage_text: str, *, page_id: int | None = None, start: int = 0
) -> dict[str, Any]:
    return {
        "source_id": source_id,
        "kind": kind,
        "owner_id": owner_id,
        "page_id": page_id,
        "start": start,
        "length": len(passage_text),
        "text": passage_text if page_id is None else None,
        "text_hash": _hash(passage_text),
    }


def _insert_passages(connection: Connection, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    first = _next_id(connection, passage)
    connection.execute(passage.insert(), [{"id": row_id, **row} for row_id, row in enumerate(rows, first)])
    connection.execute(_LEARN, {"first": first, "last": first + len(rows) - 1})


def _drop_passages(connection: Connection, kind: str, owner_id: int) -> None:
    connection.execute(_FORGET, {"kind": kind, "owner": owner_id})
    connection.execute(delete(passage).where(passage.c.kind == kind, passage.c.owner_id == owner_id))


def _next_id(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one()) + 1


class Refresh:
    """One refresh: compares each record of a snapshot with its row and writes the differences."""

    def __init__(self, connection: Connection, snapshot: LibrarySnapshot, fingerprint: str) -> None:
        self._connection = connection
        self._snapshot = snapshot
        self._fingerprint = fingerprint
        self._source_id = 0
        self._next: dict[str, int] = {}

    def run(self) -> int:
        """Write what differs; returns the source's row id."""
        self._source_id = self._source()
        snapshot = self._snapshot
        self._libraries(snapshot.libraries)
        self._table(item, [(r.ref, item_values(r), item_text(r)) for r in snapshot.items], "item")
        self._table(note, [(r.ref, note_values(r), plain(r.html)) for r in snapshot.notes], "note")
        self._table(
            annotation,
            [(r.ref, annotation_values(r), "\n".join(filter(None, (r.text, r.comment)))) for r in snapshot.annotations],
            "annotation",
        )
        self._table(
            collection, [(r.ref, {"name": r.name, "parent_key": r.parent_key}, "") for r in snapshot.collections]
        )
        self._attachments(snapshot.attachments)
        return self._source_id

    def _source(self) -> int:
        values = {"fingerprint": self._fingerprint, "as_of": self._snapshot.as_of}
        identity = self._snapshot.identity
        row = self._connection.execute(select(source.c.id).where(source.c.identity == identity)).one_or_none()
        if row is not None:
            self._connection.execute(source.update().where(source.c.id == row.id).values(**values))
            return int(row.id)
        source_id = _next_id(self._connection, source)
        self._connection.execute(source.insert().values(id=source_id, identity=identity, **values))
        return source_id

    def _libraries(self, libraries: Iterable[LibraryRecord]) -> None:
        self._connection.execute(delete(library).where(library.c.source_id == self._source_id))
        for record in libraries:
            self._connection.execute(
                library.insert().values(source_id=self._source_id, group_id=record.ref.group_id, name=record.name)
            )

    def _table(self, table: Table, rows: list[tuple[ItemRef, dict[str, Any], str]], kind: str = "") -> None:
        known = self._known(table)
        passages: list[dict[str, Any]] = []
        for ref, values, passage_text in rows:
            row = known.pop((ref.library.group_id, ref.key), None)
            if row is not None and all(row[name] == value for name, value in values.items()):
                continue
            if row is None:
                row_id = self._insert(table, ref, values)
            else:
                row_id = row["id"]
                self._connection.execute(table.update().where(table.c.id == row_id).values(**values))
            if kind:
                _drop_passages(self._connection, kind, row_id)
                if passage_text.strip():
                    passages.append(_passage(self._source_id, kind, row_id, passage_text))
        for row in known.values():
            if kind:
                _drop_passages(self._connection, kind, row["id"])
            self._connection.execute(delete(table).where(table.c.id == row["id"]))
        _insert_passages(self._connection, passages)

    def _attachments(self, records: Iterable[AttachmentRecord]) -> None:
        known = self._known(attachment)
        for record in records:
            row = known.pop((record.ref.library.group_id, record.ref.key), None)
            values = attachment_values(record)
            if row is None:
                fresh = {"kind": "", "page_count": 0, "file_stamp": ""} | unread(record)
                self._insert(attachment, record.ref, values | fresh)
                continue
            moved = row["path"] != record.path or (record.path is None and row["reason"] != record.problem)
            if moved:
                drop_pages(self._connection, row["id"])
                values |= unread(record) | {"file_stamp": ""}
            if any(row[name] != value for name, value in values.items()):
                self._connection.execute(attachment.update().where(attachment.c.id == row["id"]).values(**values))
        for row in known.values():
            drop_pages(self._connection, row["id"])
            self._connection.execute(delete(attachment).where(attachment.c.id == row["id"]))

    def _known(self, table: Table) -> dict[tuple[int, str], Mapping[str, Any]]:
        rows = self._connection.execute(select(table).where(table.c.source_id == self._source_id)).mappings()
        return {(row["group_id"], row["key"]): dict(row) for row in rows}

    def _insert(self, table: Table, ref: ItemRef, values: dict[str, Any]) -> int:
        scope = {"source_id": self._source_id, "group_id": ref.library.group_id, "key": ref.key}
        row_id = self._next.get(table.name) or _next_id(self._connection, table)
        self._next[table.name] = row_id + 1
        self._connection.execute(table.insert().values(id=row_id, **scope, **values))
        return row_id
