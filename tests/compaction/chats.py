"""Branches of chats for the tests of compaction: nodes that count, and checkpoints on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bibgenie_desktop.sessions.checkpoints import SECTIONS, Checkpoint
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.parts import Part, TextPart
from bibgenie_desktop.sessions.usage import Usage

DAY = "2026-11-30T18:50:48.123Z"


def user(identity: str, text: str = "", *, parent: str | None = None) -> Node:
    return Node(identity, parent, "user", (TextPart(text or f"question {identity}"),), DAY)


def answer(
    identity: str, text: str = "", *, usage: Usage | None = None, model: str = "scripted", parts: Sequence[Part] = ()
) -> Node:
    made = tuple(parts) or (TextPart(text or f"answer {identity}"),)
    return Node(identity, None, "assistant", made, DAY, model, usage, "stop")


def mark(identity: str) -> Node:
    """The node of a checkpoint."""
    return Node(identity, None, "checkpoint", (), DAY)


def dialogue(turns: int, *, size: int = 0, first: int = 1) -> list[Node]:
    """u1 a1 u2 a2 …, each with as many characters as `size` beside its name."""
    nodes: list[Node] = []
    for number in range(first, first + turns):
        filling = " word" * (size // 5)
        nodes.append(user(f"u{number}", f"question u{number}{filling}"))
        nodes.append(answer(f"a{number}", f"answer a{number}{filling}"))
    return nodes


def checkpoint(node_id: str, first_kept: str | None, **changes: Any) -> Checkpoint:
    made: dict[str, Any] = {
        "node_id": node_id,
        "kind": "summarised",
        "first_kept_message_id": first_kept,
        "summary": summary(f"what {node_id} stands for"),
        "generation": 1,
        "trigger": "manual",
        "model": "scripted",
        "prompt_version": "summary-1",
        "covered_from_id": "u1",
        "covered_to_id": "a1",
        "tokens_before": 1_000,
        "tokens_after": 100,
        "validation": {},
        "duration_ms": 0,
        "cost": None,
        "created_at": DAY,
    }
    return Checkpoint(**(made | changes))


def summary(text: str = "Something was said.") -> str:
    """A summary with all its sections; `text` is the body of each."""
    return "\n\n".join(f"## {heading}\n\n{text}" for heading in SECTIONS)


def real_usage(input_tokens: int, output_tokens: int = 10, **changes: Any) -> Usage:
    made: dict[str, Any] = {"input_tokens": input_tokens, "output_tokens": output_tokens, "real": True}
    return Usage(**(made | changes))
