"""Storing a whole chat that comes from a file, under ids of its own (T-8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlalchemy import Connection, select

from ..sessions.branch import NotAllowed
from ..sessions.checkpoints import Checkpoint
from ..sessions.nodes import Node
from .chats import Chat, LedgerEntry
from .database import Database
from .encoding import Clock, encode_json, timestamp
from .schema import blob, checkpoint, ledger_entry, session, session_node
from .session_rows import NEVER, insert_nodes, note_use
from .titles import clean_title

UNNAMED = "Imported chat"
_AT_ONCE = 200
"""Messages that are made rows of at once: more are no faster, and take memory."""


class ImportStore:
    """Puts chats into sessions.sqlite. All methods raise StoreUnavailable when the file fails."""

    def __init__(self, database: Database, *, clock: Clock, new_id: Callable[[], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def add(self, chat: Chat) -> tuple[str, str]:
        """Store a sound chat as a new one, in one transaction, so that it can be searched at once: its id and title.

        Parents stand before children. Everything gets a new id, in the order in which it stands in `chat`, so that one
        file can be taken twice; a title that cannot be seen becomes UNNAMED. Raises ValueError for a damaged chat.
        """
        try:
            title = clean_title(chat.session.title)
        except NotAllowed:
            title = UNNAMED
        nodes = [node for node in chat.nodes if isinstance(node, Node)]
        if chat.damage or len(nodes) != len(chat.nodes):
            raise ValueError("a damaged chat is never stored")

        def transaction(connection: Connection) -> str:
            now = timestamp(self._clock())
            ids = _NewIds(self._new_id)
            session_id = self._new_id()
            connection.execute(
                session.insert().values(
                    id=session_id,
                    title=title,
                    leaf_id=None,
                    branch_revision=chat.session.branch_revision,
                    model=chat.session.model,
                    created_at=chat.session.created_at,
                    updated_at=now,
                )
            )
            for start in range(0, len(nodes), _AT_ONCE):
                added = nodes[start : start + _AT_ONCE]
                rows = [(_renamed(node, ids), chat.visited.get(node.id, NEVER)) for node in added]
                insert_nodes(connection, session_id, rows)
            if chat.session.leaf_id is not None:
                leaf = {"leaf_id": ids[chat.session.leaf_id]}
                connection.execute(session.update().where(session.c.id == session_id).values(leaf))
                mine = (session_node.c.session_id == session_id, session_node.c.node_id == leaf["leaf_id"])
                visited = {"visited": max(chat.session.branch_revision, *chat.visited.values(), NEVER)}
                connection.execute(session_node.update().where(*mine).values(visited))
            for stored in chat.checkpoints.values():
                connection.execute(checkpoint.insert().values(_checkpoint_row(stored, ids)))
            _add_ledger(connection, session_id, chat.ledger, ids)
            for each in chat.blobs:
                if connection.execute(select(blob.c.id).where(blob.c.id == each.id)).first() is None:
                    values = {"id": each.id, "mime": each.mime, "size": len(each.data), "data": each.data}
                    connection.execute(blob.insert().values(**values, created_at=each.created_at))
            note_use(connection, session_id, None, now)
            return session_id

        return await self._database.write(transaction), title


class _NewIds(dict[str, str]):
    """The new id of each old one, made when it is first asked for."""

    def __init__(self, new_id: Callable[[], str]) -> None:
        super().__init__()
        self._make = new_id

    def __missing__(self, old: str) -> str:
        self[old] = made = self._make()
        return made


def _renamed(node: Node, ids: Mapping[str, str]) -> Node:
    usage = node.usage
    if usage is not None and usage.checkpoint_id is not None:
        usage = replace(usage, checkpoint_id=ids[usage.checkpoint_id])
    return replace(node, id=ids[node.id], parent_id=_new(node.parent_id, ids), usage=usage)


def _new(old: str | None, ids: Mapping[str, str]) -> str | None:
    return None if old is None else ids[old]


def _checkpoint_row(stored: Checkpoint, ids: Mapping[str, str]) -> dict[str, object]:
    return {
        "node_id": ids[stored.node_id],
        "kind": stored.kind,
        "first_kept_message_id": _new(stored.first_kept_message_id, ids),
        "summary": stored.summary,
        "generation": stored.generation,
        "trigger": stored.trigger,
        "model": stored.model,
        "prompt_version": stored.prompt_version,
        "covered_from_id": _new(stored.covered_from_id, ids),
        "covered_to_id": _new(stored.covered_to_id, ids),
        "tokens_before": stored.tokens_before,
        "tokens_after": stored.tokens_after,
        "validation": None if stored.validation is None else encode_json(stored.validation),
        "duration_ms": stored.duration_ms,
        "cost": stored.cost,
        "created_at": stored.created_at,
    }


def _add_ledger(
    connection: Connection, session_id: str, entries: tuple[LedgerEntry, ...], ids: Mapping[str, str]
) -> None:
    for entry in entries:  # one that is superseded may come later: its id is known all the same
        connection.execute(
            ledger_entry.insert().values(
                id=ids[f"ledger {entry.id}"],
                session_id=session_id,
                node_id=_new(entry.node_id, ids),
                kind=entry.kind,
                origin=entry.origin,
                value=encode_json(entry.value),
                supersedes_id=None,
                created_at=entry.created_at,
            )
        )
    for entry in entries:
        if entry.supersedes_id is not None:
            mine = ledger_entry.c.id == ids[f"ledger {entry.id}"]
            superseded = {"supersedes_id": ids[f"ledger {entry.supersedes_id}"]}
            connection.execute(ledger_entry.update().where(mine).values(superseded))
