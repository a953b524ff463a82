"""What an operation on the session tree may aim at, and where it leads (T-3, T-4, T-5). Pure rules over values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from .branch import NotAllowed, walk_to_root
from .nodes import STABLE

CONTINUED: frozenset[str] = frozenset({"interrupted", "cancelled", "error", "length"})
"""Stop reasons of an answer that can be gone on with: its text ends before the answer did."""


class NodeHead(NamedTuple):
    """A node without its body: what the tree's rules look at. `stop_reason` is None where it was not asked for."""

    id: str
    parent_id: str | None
    role: str
    stop_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A branch without its bodies, root first, as far as it hangs together; `damage` as in `branch.Path`."""

    heads: tuple[NodeHead, ...]
    damage: str | None = None


@dataclass(frozen=True, slots=True)
class Versions:
    """A node is the `version`-th, from 1, of `versions` that were written in its place, the oldest first.

    `previous_id` and `next_id` are those beside it, "" for none.
    """

    version: int = 1
    versions: int = 1
    previous_id: str = ""
    next_id: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A node of a session whose row is damaged or missing; `reason` says in a few words why."""

    id: str
    parent_id: str | None
    reason: str


def line_to_root(leaf_id: str | None, heads: Mapping[str, NodeHead | Exception]) -> Line:
    """The way from a leaf to its root over heads; an exception stands for one that cannot be read."""
    chain, damage = walk_to_root(leaf_id, heads)
    return Line(tuple(chain), damage)


def checkpoint_damage(path: Iterable[NodeHead], first_kept: Mapping[str, str | None]) -> str | None:
    """What is wrong with a checkpoint of a branch, root first: it has no record, or does not keep an ancestor's tail.

    None for a branch whose checkpoints are sound. `first_kept` has the first kept message of each one that is stored.
    """
    before: set[str] = set()
    for head in path:
        if head.role == "checkpoint":
            if head.id not in first_kept:
                return f"checkpoint {head.id} has no record of what it stands for"
            kept = first_kept[head.id]
            if kept is not None and kept not in before:
                return f"checkpoint {head.id} keeps what follows {kept}, which is not before it"
        before.add(head.id)
    return None


def retried(path: Sequence[NodeHead], node_id: str) -> NodeHead:
    """Where the branch ends while an answer is written anew, and where that will hang (T-4). Raises NotAllowed.

    `node_id` is the last real answer, its question, or the last question where that has no answer yet. A checkpoint
    between the question and the answer stays, one behind the answer leaves with it.
    """
    place = _place(path, node_id)
    behind = [at for at in range(place + 1, len(path)) if path[at].role != "checkpoint"]
    if path[place].role == "user":
        if not behind:
            return path[-1]
        if len(behind) == 1 and path[behind[0]].role == "assistant":
            return path[behind[0] - 1]
    elif _is_last_answer(path, place) and place:
        return path[place - 1]
    raise NotAllowed("Only the last answer of a chat can be written anew: begin a fork there instead.")


def continued(path: Sequence[NodeHead], target: NodeHead) -> NodeHead:
    """Where an answer hangs that goes on with `target`, the last one of the branch (T-6). Raises NotAllowed."""
    place = _place(path, target.id)
    if not _is_last_answer(path, place) or not place:
        raise NotAllowed("Only the last answer of a chat can be gone on with: ask a new question instead.")
    if target.stop_reason not in CONTINUED:
        raise NotAllowed("This answer came to its end: ask a new question to go on, or write it anew.")
    return path[place - 1]


def edited(path: Sequence[NodeHead], node_id: str) -> str | None:
    """The parent of a question that is asked in another way, None at the root (T-4). Raises NotAllowed."""
    head = path[_place(path, node_id)]
    if head.role != "user":
        raise NotAllowed("Only a question can be edited.")
    return head.parent_id


def check_fork(target: NodeHead | None) -> None:
    """Refuse a node at which no chat may begin; None is one that the session does not have (T-4). Raises NotAllowed."""
    if target is None:
        raise NotAllowed("This message is not part of the chat.")
    if target.role != "assistant":
        raise NotAllowed("A fork begins at an answer: choose one.")
    if target.stop_reason not in STABLE:
        raise NotAllowed("A fork begins at a complete answer, and this one was not completed: write it anew first.")


def versions(path: Sequence[NodeHead], heads: Sequence[NodeHead]) -> dict[str, Versions]:
    """What else was written in the place of each node of a branch, by the node (T-4).

    `heads` are nodes of the session in the order in which they were stored: at least the branch, and all that hangs
    beside it, seen through checkpoints. Nodes of one role behind the same real node are versions of each other.
    """
    known = {head.id: head for head in heads}
    known |= {head.id: head for head in path}
    places: dict[tuple[str | None, str], list[str]] = {}
    for head in known.values():
        places.setdefault((_real_parent(head, known), head.role), []).append(head.id)
    found: dict[str, Versions] = {}
    for head in path:
        beside = [head.id] if head.role == "checkpoint" else places[_real_parent(head, known), head.role]
        at = beside.index(head.id)
        found[head.id] = Versions(
            at + 1,
            len(beside),
            beside[at - 1] if at else "",
            beside[at + 1] if at + 1 < len(beside) else "",
        )
    return found


def last_sound(
    leaf_id: str | None, heads: Mapping[str, NodeHead], broken: Set[str], first_kept: Mapping[str, str | None]
) -> str | None:
    """The complete answer at which a damaged chat can go on, None if it has none (T-5, D-8).

    Its whole way to the root is sound. It is the last such one above the leaf; where the way up breaks off before one
    is met, the newest of the session. `heads` are the session's nodes as they were stored, `broken` those of them that
    cannot be read, `first_kept` as in `checkpoint_damage`.
    """
    sound = _sound(heads, broken, first_kept)
    seen: set[str] = set()
    current = leaf_id
    while current is not None and current in heads and current not in seen:
        if current in sound and _is_stable(heads[current]):
            return current
        seen.add(current)
        current = heads[current].parent_id
    return next((each for each in reversed(list(heads)) if each in sound and _is_stable(heads[each])), None)


def _sound(heads: Mapping[str, NodeHead], broken: Set[str], first_kept: Mapping[str, str | None]) -> set[str]:
    """The nodes whose whole way to the root is sound."""
    sound: set[str] = set()
    seen: set[str] = set()
    for start in heads:
        way: list[NodeHead] = []
        current: str | None = start
        # What is met a second time before it is known to be sound is not, or leads back to itself.
        while current is not None and current not in seen and current in heads:
            seen.add(current)
            way.append(heads[current])
            current = heads[current].parent_id
        for head in reversed(way):
            hangs_well = head.parent_id is None or head.parent_id in sound
            if hangs_well and head.id not in broken and _keeps_ancestors(head, heads, first_kept):
                sound.add(head.id)
    return sound


def _keeps_ancestors(head: NodeHead, heads: Mapping[str, NodeHead], first_kept: Mapping[str, str | None]) -> bool:
    """Whether a node on a sound way to the root is no checkpoint, or a sound one."""
    if head.role != "checkpoint":
        return True
    if head.id not in first_kept:
        return False
    kept, current = first_kept[head.id], head.parent_id
    if kept is None:
        return True
    while current is not None and current != kept:
        current = heads[current].parent_id
    return current is not None


def _is_stable(head: NodeHead) -> bool:
    return head.role == "assistant" and head.stop_reason in STABLE


def _place(path: Sequence[NodeHead], node_id: str) -> int:
    for place in range(len(path) - 1, -1, -1):
        if path[place].id == node_id:
            return place
    raise NotAllowed("This message is not on the branch that the chat shows.")


def _is_last_answer(path: Sequence[NodeHead], place: int) -> bool:
    return path[place].role == "assistant" and all(head.role != "assistant" for head in path[place + 1 :])


def _real_parent(head: NodeHead, known: Mapping[str, NodeHead]) -> str | None:
    """The nearest ancestor that is no checkpoint, None for a root; in a damaged tree the last one that is known."""
    seen: set[str] = set()
    current = head.parent_id
    while current is not None and current in known and known[current].role == "checkpoint" and current not in seen:
        seen.add(current)
        current = known[current].parent_id
    return current
