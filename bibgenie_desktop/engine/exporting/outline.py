"""In which order a chat's branches are written, and what each is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ...sessions.citations import TOKEN
from ...sessions.nodes import Node
from ...store.chats import Chat, DamagedNode
from ..views import one_line

AnyNode: TypeAlias = Node | DamagedNode

LONGEST_EXCERPT = 80


@dataclass(frozen=True, slots=True)
class Section:
    """Messages that follow each other. `label` says what they are, "" for the active branch."""

    label: str
    nodes: tuple[AnyNode, ...]


def sections(chat: Chat) -> list[Section]:
    """The active branch, then every other one from where it leaves those before it."""
    known = {node.id: node for node in chat.nodes}
    children: dict[str | None, list[str]] = {}
    for node in chat.nodes:
        children.setdefault(node.parent_id if node.parent_id in known else None, []).append(node.id)
    branch = [identity for identity in chat.branch if identity in known]
    found = [Section("", tuple(known[identity] for identity in branch))]
    seen = set(branch)
    # What a stack gives back first is what leaves the branch last; what is in no tree, in a damaged chat, comes last.
    waiting = [*reversed(known), *_beside(branch[::-1], children), *reversed(children.get(None, ()))]
    while waiting:
        start = waiting.pop()
        if start in seen:
            continue
        label = _label(start, known, children, seen)
        line: list[str] = []
        current: str | None = start
        while current is not None and current not in seen:
            seen.add(current)
            line.append(current)
            below = [child for child in children.get(current, ()) if child not in seen]
            current = max(below, key=lambda child: chat.visited.get(child, 0), default=None)
        found.append(Section(label, tuple(known[identity] for identity in line)))
        waiting += _beside(line[::-1], children)
    return found


def short(node: AnyNode) -> str:
    """The beginning of a message, in quotation marks."""
    text = one_line(TOKEN.sub("", node.text)) if isinstance(node, Node) else ""
    if not text:
        return "a message without text" if isinstance(node, Node) else "a message that cannot be read"
    return f"“{text if len(text) <= LONGEST_EXCERPT else text[: LONGEST_EXCERPT - 1].rstrip() + '…'}”"


def _beside(line: Iterable[str], children: Mapping[str | None, list[str]]) -> list[str]:
    return [child for identity in line for child in reversed(children.get(identity, ()))]


def _label(start: str, known: Mapping[str, AnyNode], children: Mapping[str | None, list[str]], seen: set[str]) -> str:
    node = known[start]
    while isinstance(node, Node) and node.role == "checkpoint" and children.get(node.id):
        node = known[children[node.id][0]]
        if node.id == start:
            break
    parent = _real_parent(known[start], known)
    role = node.role if isinstance(node, Node) else ""
    # Versions of a message hang on the same real one, seen through checkpoints.
    before = (other for other in known.values() if other.id in seen and isinstance(other, Node) and other.role == role)
    other = next((other for other in before if _real_parent(other, known) is parent), None)
    if other is not None and role == "user":
        return f"Another version of {short(other)}"
    if other is not None and parent is not None:
        return f"Another version of the answer to {short(parent)}"
    return "Another beginning" if parent is None else f"Another branch after {short(parent)}"


def _real_parent(node: AnyNode, known: Mapping[str, AnyNode]) -> AnyNode | None:
    seen: set[str] = set()
    parent = known.get(node.parent_id or "")
    while isinstance(parent, Node) and parent.role == "checkpoint" and parent.id not in seen:
        seen.add(parent.id)
        parent = known.get(parent.parent_id or "")
    return parent
