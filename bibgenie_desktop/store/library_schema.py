"""The tables of library.sqlite: a cache of the library's metadata and text, rebuilt whenever it does not fit (Z-6)."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, MetaData, Table, Text, UniqueConstraint

LIBRARY_VERSION = 1
"""Stored as `PRAGMA user_version`. A file of another version is thrown away and built anew."""

metadata = MetaData()


def _scope() -> tuple[Column[int], Column[int], Column[str], UniqueConstraint]:
    """Source, library (0 or a group's id) and key: no key means anything without them."""
    return (
        Column("source_id", Integer, ForeignKey("source.id"), nullable=False),
        Column("group_id", Integer, nullable=False),
        Column("key", Text, nullable=False),
        UniqueConstraint("source_id", "group_id", "key"),
    )


source = Table(
    "source",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("identity", Text, unique=True, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("as_of", Text, nullable=False),
)

library = Table(
    "library",
    metadata,
    Column("source_id", Integer, ForeignKey("source.id"), primary_key=True),
    Column("group_id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
)

item = Table(
    "item",
    metadata,
    Column("id", Integer, primary_key=True),
    *_scope(),
    Column("item_type", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("short_ref", Text, nullable=False),
    Column("year", Text, nullable=False),
    Column("creators", Text, nullable=False),
    Column("fields", Text, nullable=False),
    Column("collections", Text, nullable=False),
    Column("tags", Text, nullable=False),
)

attachment = Table(
    "attachment",
    metadata,
    Column("id", Integer, primary_key=True),
    *_scope(),
    Column("parent_key", Text),
    Column("title", Text, nullable=False),
    Column("filename", Text, nullable=False),
    Column("content_type", Text, nullable=False),
    Column("link_mode", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("path", Text),
    # waiting | indexed | a ProblemCode of documents.port
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("page_count", Integer, nullable=False),
    # size and modification time of the file whose text the pages hold
    Column("file_stamp", Text, nullable=False),
)
Index("attachment_parent", attachment.c.source_id, attachment.c.group_id, attachment.c.parent_key)

note = Table(
    "note",
    metadata,
    Column("id", Integer, primary_key=True),
    *_scope(),
    Column("parent_key", Text),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("tags", Text, nullable=False),
)
Index("note_parent", note.c.source_id, note.c.group_id, note.c.parent_key)

annotation = Table(
    "annotation",
    metadata,
    Column("id", Integer, primary_key=True),
    *_scope(),
    Column("attachment_key", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("color", Text, nullable=False),
    Column("page_label", Text, nullable=False),
    Column("page_index", Integer),
    Column("sort_index", Text, nullable=False),
    Column("position", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("external", Boolean, nullable=False),
    Column("tags", Text, nullable=False),
)
Index("annotation_attachment", annotation.c.source_id, annotation.c.group_id, annotation.c.attachment_key)

collection = Table(
    "collection",
    metadata,
    Column("id", Integer, primary_key=True),
    *_scope(),
    Column("name", Text, nullable=False),
    Column("parent_key", Text, nullable=False),
)

page = Table(
    "page",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("attachment_id", Integer, ForeignKey("attachment.id"), nullable=False),
    Column("page_index", Integer, nullable=False),
    Column("label", Text, nullable=False),
    Column("href", Text, nullable=False),
    Column("anchors", Text, nullable=False),
    Column("text", Text, nullable=False),
    UniqueConstraint("attachment_id", "page_index"),
)

# A passage is a stretch of a page (then `page_id`, `start` and `length` say which and `text` is null), or the text
# of a work's metadata, a note or an annotation (then `owner_id` is its row and `text` holds it).
passage = Table(
    "passage",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source_id", Integer, ForeignKey("source.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("owner_id", Integer, nullable=False),
    Column("page_id", Integer, ForeignKey("page.id")),
    Column("start", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    Column("text", Text),
    Column("text_hash", Text, nullable=False),
)
Index("passage_owner", passage.c.kind, passage.c.owner_id)
Index("passage_page", passage.c.page_id)

# The full-text index reads its text through this view, so that a page's text is stored once.
FULL_TEXT = (
    """
    CREATE VIEW passage_text AS
    SELECT passage.id AS id, coalesce(passage.text, substr(page.text, passage.start + 1, passage.length)) AS text
    FROM passage LEFT JOIN page ON page.id = passage.page_id
    """,
    """
    CREATE VIRTUAL TABLE passage_fts USING fts5(
        text, content='passage_text', content_rowid='id', tokenize='unicode61 remove_diacritics 2'
    )
    """,
)
