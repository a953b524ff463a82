"""The words of each message, kept for the search over the history in the transaction that stores it (T-8)."""

from __future__ import annotations

from sqlalchemy import Connection, select, text

from ..sessions.nodes import Node
from ..sessions.parts import FilePart, ImagePart, Part, TextPart, ToolCallPart, UndecodablePart, ZoteroPart
from ..sessions.text import well_formed
from .encoding import decode_parts
from .schema import node, node_text
from .search_text import folded


def searched(parts: tuple[Part, ...]) -> str:
    """What of a message is searched: what was written, what was attached, and what was looked for and found."""
    pieces: list[str] = []
    for part in parts:
        match part:
            case TextPart():
                pieces += [part.text, *(citation.short_ref for citation in part.citations)]
            case ToolCallPart():
                pieces += [part.arguments, part.result]
            case ZoteroPart():
                pieces += [part.title, part.citation]
            case ImagePart() | FilePart():
                pieces.append(part.name)
            case _:
                continue
    return "\n".join(filter(None, pieces))


def index_node(connection: Connection, added: Node) -> None:
    """Within the transaction that stores a node: let it be found."""
    _index(connection, added.id, added.parts)


def fill_node_text(connection: Connection) -> None:
    """Let all stored nodes be found that are not yet; one that cannot be read is left out."""
    known = select(node_text.c.node_id)
    for row in connection.execute(select(node.c.id, node.c.parts).where(node.c.id.not_in(known))).all():
        try:
            _index(connection, row.id, decode_parts(row.parts))
        except UndecodablePart:
            continue


def _index(connection: Connection, node_id: str, parts: tuple[Part, ...]) -> None:
    words = well_formed(folded(searched(parts)))
    if words:
        stored = connection.execute(node_text.insert().values(node_id=node_id, text=words))
        [identity] = stored.inserted_primary_key or [None]
        connection.execute(_INTO_INDEX, {"id": identity, "text": words})


def forget_nodes(connection: Connection, table: str) -> None:
    """Take the nodes whose ids stand in a temporary table out of the search; `table` is its name."""
    connection.exec_driver_sql(
        "INSERT INTO node_fts(node_fts, rowid, text) "
        f"SELECT 'delete', id, text FROM node_text WHERE node_id IN (SELECT id FROM {table})"
    )
    connection.exec_driver_sql(f"DELETE FROM node_text WHERE node_id IN (SELECT id FROM {table})")


_INTO_INDEX = text("INSERT INTO node_fts(rowid, text) VALUES (:id, :text)")
