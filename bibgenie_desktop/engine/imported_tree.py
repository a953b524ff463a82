"""Whether the messages of a file make a tree that the history may hold, and in which order to store them (T-1, T-5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..sessions.branch import NotAllowed, check_append
from ..sessions.nodes import Node
from ..store.chats import Chat


def check_tree(chat: Chat) -> str:
    """What is wrong with a chat that was read, in a few words; "" for one that can be stored."""
    nodes: dict[str, Node] = {}
    for node in chat.nodes:
        assert isinstance(node, Node)
        if node.id in nodes:
            return f"two messages have the id {node.id!r}"
        nodes[node.id] = node
    leaf = chat.session.leaf_id
    if leaf is None and nodes:
        return "it does not say which message is the last"
    if leaf is not None and leaf not in nodes:
        return "its last message is not in it"
    return _wrong_links(nodes) or _wrong_checkpoints(chat, nodes) or _wrong_ledger(chat, nodes)


def parents_first(chat: Chat) -> Chat:
    """The chat of a sound tree with its messages in an order in which they can be stored, else as they stand."""
    stored: dict[str, Node] = {}
    nodes = {node.id: node for node in chat.nodes if isinstance(node, Node)}
    for node in nodes.values():
        way: list[Node] = []
        current: Node | None = node
        while current is not None and current.id not in stored:
            way.append(current)
            current = nodes.get(current.parent_id or "")
        stored |= {each.id: each for each in reversed(way)}
    return replace(chat, nodes=tuple(stored.values()))


def _wrong_links(nodes: Mapping[str, Node]) -> str:
    sound: set[str] = set()
    for node in nodes.values():
        parent = None if node.parent_id is None else nodes.get(node.parent_id)
        if node.parent_id is not None and parent is None:
            return f"the message before {node.id!r} is missing"
        way: list[str] = []
        seen: set[str] = set()
        current: str | None = node.id
        while current is not None and current not in sound and current in nodes:
            if current in seen:
                return f"its messages close on themselves at {current!r}"
            seen.add(current)
            way.append(current)
            current = nodes[current].parent_id
        sound.update(way)
    for node in nodes.values():
        if node.role == "checkpoint":
            continue
        try:
            check_append(node.role, nodes.get(node.parent_id or ""), node.stop_reason)
        except NotAllowed:
            return f"the message {node.id!r} stands where none of its kind can"
    return ""


def _wrong_checkpoints(chat: Chat, nodes: Mapping[str, Node]) -> str:
    for node in nodes.values():
        if node.role == "checkpoint" and node.id not in chat.checkpoints:
            return f"nothing is said of the checkpoint {node.id!r}"
    spans = _spans(nodes) if chat.checkpoints else {}
    for identity, stored in chat.checkpoints.items():
        if identity not in nodes or nodes[identity].role != "checkpoint":
            return f"{identity!r} is no checkpoint of it"
        begin, _ = spans[identity]
        for named in (stored.first_kept_message_id, stored.covered_from_id, stored.covered_to_id):
            first, last = (-1, begin) if named is None else spans.get(named, (begin, begin))
            if not first < begin <= last:
                return f"the checkpoint {identity!r} stands for messages that are not before it"
    return ""


def _spans(nodes: Mapping[str, Node]) -> dict[str, tuple[int, int]]:
    """The place of each message in a walk through the tree, and that of the last one below it."""
    children: dict[str | None, list[str]] = {}
    for node in nodes.values():
        children.setdefault(node.parent_id, []).append(node.id)
    begins: dict[str, int] = {}
    spans: dict[str, tuple[int, int]] = {}
    waiting = list(children.get(None, ()))
    while waiting:
        current = waiting[-1]
        if current in begins:
            spans[waiting.pop()] = (begins[current], len(begins) - 1)
        else:
            begins[current] = len(begins)
            waiting += children.get(current, ())
    return spans


def _wrong_ledger(chat: Chat, nodes: Mapping[str, Node]) -> str:
    entries = {entry.id for entry in chat.ledger}
    if len(entries) != len(chat.ledger):
        return "two notes have the same id"
    for entry in chat.ledger:
        if entry.node_id is not None and entry.node_id not in nodes:
            return f"the note {entry.id!r} is about a message that is not in it"
        if entry.supersedes_id is not None and entry.supersedes_id not in entries:
            return f"the note {entry.id!r} replaces one that is not in it"
    return ""
