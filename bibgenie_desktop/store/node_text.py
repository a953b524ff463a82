"""The words of each message, kept for the search over the history in the transaction that stores it (T-8)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, text

from ..sessions.citations import TOKEN
from ..sessions.nodes import Node
from ..sessions.parts import FilePart, ImagePart, Part, TextPart, ToolCallPart, UndecodablePart, ZoteroPart
from ..sessions.text import well_formed
from .encoding import decode_json, decode_parts
from .schema import node_text
from .search_text import folded


def searched(parts: tuple[Part, ...]) -> str:
    """What of a message is searched, as a reader may be shown it: what was written and attached, looked for and found.

    Citation tokens are their short reference, where the message has one. Of a tool's arguments and result, which are
    JSON, it is the texts in them.
    """
    pieces: list[str] = []
    references = _references(parts)
    for part in parts:
        match part:
            case TextPart(text=written):
                pieces.append(_with_references(written, references))
            case ToolCallPart(arguments=arguments, result=result):
                pieces += [_with_references(words, references) for words in (*_texts(arguments), *_texts(result))]
            case ZoteroPart(title=title, citation=citation):
                pieces += [title, citation]
            case ImagePart(name=name) | FilePart(name=name):
                pieces.append(name)
            case _:
                continue
    return "\n".join(filter(None, pieces))


def _references(parts: tuple[Part, ...]) -> dict[str, str]:
    cited = (part.citations for part in parts if isinstance(part, TextPart))
    return {citation.token: citation.short_ref for citations in cited for citation in citations}


def _with_references(written: str, references: dict[str, str]) -> str:
    return TOKEN.sub(lambda token: references.get(token[0], ""), written) if "[[cite:" in written else written


def _texts(stored: str) -> list[str]:
    """The texts in a JSON text, in order, without the names of what they are; text that is no JSON is itself one."""
    try:
        waiting = [decode_json(stored)]
    except ValueError:
        return [stored]
    found: list[str] = []
    while waiting:
        match waiting.pop():
            case str(text):
                found.append(text)
            case list(items):
                waiting += reversed(items)
            case dict(entries):
                waiting += reversed([value for name, value in entries.items() if name != "kind"])
            case _:
                continue
    return found


def index_node(connection: Connection, added: Node) -> None:
    """Within the transaction that stores a node: let it be found."""
    _index(connection, added.id, added.parts)


def index_nodes(connection: Connection, added: Sequence[Node]) -> None:
    """Within the transaction that stores them: let them be found."""
    last = connection.exec_driver_sql("SELECT coalesce(max(id), 0) FROM node_text").scalar_one()
    found = ((each.id, well_formed(folded(searched(each.parts)))) for each in added)
    if rows := [{"node_id": identity, "text": words} for identity, words in found if words]:
        connection.execute(node_text.insert(), rows)
        connection.exec_driver_sql(
            "INSERT INTO node_fts(rowid, text) SELECT id, text FROM node_text WHERE id > ?", (last,)
        )


def fill_node_text(connection: Connection) -> None:
    """Let all stored nodes be found, none of which can be yet; one that cannot be read is left out.

    They are read in pieces, so that a history of any size is brought forward in little memory.
    """
    last = 0
    while rows := connection.execute(_NEXT, {"last": last}).all():
        found = [{"node_id": row.id, "text": words} for row in rows if (words := _words(row.id, row.parts))]
        if found:
            connection.execute(node_text.insert(), found)
        last = rows[-1].place
    connection.exec_driver_sql("INSERT INTO node_fts(node_fts) VALUES ('rebuild')")


def _words(node_id: object, stored: object) -> str:
    """What is searched of a stored node; nothing of one of another version, or whose id is no text."""
    if not isinstance(node_id, str) or well_formed(node_id) != node_id:
        return ""
    try:
        return well_formed(folded(searched(decode_parts(stored))))
    except UndecodablePart:
        return ""


def _index(connection: Connection, node_id: str, parts: tuple[Part, ...]) -> None:
    words = well_formed(folded(searched(parts)))
    if words:
        stored = connection.execute(_INTO_TEXT, {"node_id": node_id, "text": words})
        connection.execute(_INTO_INDEX, {"id": stored.lastrowid, "text": words})


def forget_nodes(connection: Connection, table: str) -> None:
    """Take the nodes whose ids stand in a temporary table out of the search; `table` is its name."""
    connection.exec_driver_sql(
        "INSERT INTO node_fts(node_fts, rowid, text) "
        f"SELECT 'delete', id, text FROM node_text WHERE node_id IN (SELECT id FROM {table})"
    )
    connection.exec_driver_sql(f"DELETE FROM node_text WHERE node_id IN (SELECT id FROM {table})")


_INTO_TEXT = text("INSERT INTO node_text (node_id, text) VALUES (:node_id, :text)")
_INTO_INDEX = text("INSERT INTO node_fts(rowid, text) VALUES (:id, :text)")
_NEXT = text("SELECT rowid AS place, id, parts FROM node WHERE rowid > :last ORDER BY rowid LIMIT 100")
