"""A chat as JSON with everything that is stored of it: docs/data.md names every key."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ...sessions.nodes import Node
from ...sessions.parts import parts_to_json
from ...store.chats import Blob, Chat, DamagedNode

FORMAT = 2
"""Stands in the file; grows when an older program could no longer read it."""
PROGRAM = "BibGenie"


def chat_json(chat: Chat) -> str:
    """The chat with every part as it is stored, one message a line."""
    session = chat.session
    head = {
        "id": session.id,
        "title": session.title,
        "leaf_id": session.leaf_id,
        "branch_revision": session.branch_revision,
        "model": session.model,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
    }
    lines = {
        "nodes": [_node(node, chat) for node in chat.nodes],
        "checkpoints": [asdict(checkpoint) for checkpoint in chat.checkpoints.values()],
        "ledger": [asdict(entry) for entry in chat.ledger],
        "blobs": [_blob(blob) for blob in chat.blobs],
    }
    text = [f'{{"format": {FORMAT}', f'"program": "{PROGRAM}"', f'"session": {_json(head)}']
    if chat.damage:
        text.append(f'"damage": {_json(chat.damage)}')
    text += [f'"{name}": {_array(values)}' for name, values in lines.items()]
    return ",\n".join(text) + "}\n"


def _node(node: Node | DamagedNode, chat: Chat) -> dict[str, Any]:
    if isinstance(node, DamagedNode):
        columns = {"unreadable": dict(node.columns), "reason": node.reason}
        return {"id": node.id, "parent_id": node.parent_id, **columns}
    return {
        "id": node.id,
        "parent_id": node.parent_id,
        "role": node.role,
        "parts": parts_to_json(node.parts),
        "model": node.model,
        "usage": None if node.usage is None else node.usage.to_json(),
        "stop_reason": node.stop_reason,
        "created_at": node.created_at,
        "visited": chat.visited.get(node.id, 0),
    }


def _blob(blob: Blob) -> dict[str, Any]:
    data = b64encode(blob.data).decode("ascii")
    return {"id": blob.id, "mime": blob.mime, "data": data, "created_at": blob.created_at}


def _array(values: Iterable[object]) -> str:
    lines = ",\n".join(map(_json, values))
    return f"[\n{lines}\n]" if lines else "[]"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
