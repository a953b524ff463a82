"""A chat's active branch as Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..sessions.markdown import escaped
from ..sessions.nodes import Node, Session
from ..sessions.parts import FilePart, ImagePart, TextPart, ToolCallPart, ZoteroPart, parts_to_json
from .markdown import text_markdown
from .views import one_line

JSON_FORMAT = 1
"""Stands in the file; grows when an older program could no longer read it."""


def export_markdown(session: Session, path: Sequence[Node]) -> str:
    """The chat as a person reads it; citations are links, tool calls one line each, reasoning is left out.

    Questions and answers stand as they were written, which is Markdown.
    """
    blocks = [f"# {_literal(session.title)}"]
    for node in path:
        if node.role == "user":
            blocks.append(f"## You · {_minute(node.created_at)}")
        elif node.role == "assistant":
            blocks.append(f"## {_literal(node.model or 'Assistant')} · {_minute(node.created_at)}")
        else:
            continue
        blocks += _blocks(node)
        if node.stop_reason not in (None, "stop"):
            blocks.append(f"*The answer ended early: {node.stop_reason}.*")
    return "\n\n".join(blocks) + "\n"


def export_json(session: Session, path: Sequence[Node]) -> str:
    """The chat with every part as it is stored (docs/data.md), root first."""
    data = {
        "format": JSON_FORMAT,
        "session": {
            "id": session.id,
            "title": session.title,
            "leaf_id": session.leaf_id,
            "branch_revision": session.branch_revision,
            "model": session.model,
            "created_at": session.created_at,
            "updated_at": session.updated_at,
        },
        "nodes": [_node(node) for node in path],
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _node(node: Node) -> dict[str, Any]:
    return {
        "id": node.id,
        "parent_id": node.parent_id,
        "role": node.role,
        "parts": parts_to_json(node.parts),
        "model": node.model,
        "usage": None if node.usage is None else node.usage.to_json(),
        "stop_reason": node.stop_reason,
        "created_at": node.created_at,
    }


def _blocks(node: Node) -> list[str]:
    blocks: list[str] = []
    for part in node.parts:
        match part:
            case TextPart():
                blocks.append(text_markdown(part).strip())
            case ToolCallPart():
                blocks.append(f"*{_literal(part.name)}: {_literal(part.summary) or part.state}*")
            case ZoteroPart(title=title, citation=citation):
                blocks.append(f"*Attached: {_literal(citation or title)}*")
            case ImagePart(name=name, mime=mime) | FilePart(name=name, mime=mime):
                blocks.append(f"*Attached: {_literal(name or mime)}*")
            case _:
                continue
    return blocks


def _literal(text: str) -> str:
    """What is no Markdown, in one line and as it is."""
    return escaped(one_line(text))


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")
