"""The branch from a leaf to its root, and what may be appended to it (T-1, T-5, C-16). Pure rules over values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from .checkpoints import Checkpoint
from .nodes import STOP_REASONS, Node, Role

LONGEST_REASON = 200
"""Characters: a damaged message may hold anything, and what it holds is quoted in the reason."""


class NotAllowed(Exception):
    """An operation that the tree refuses; `str()` is one plain sentence with the reason, `code` is for programs."""

    code = "refused"


class DamagedBranch(NotAllowed):
    """An operation on a branch that is damaged, and can only be read (T-5)."""

    code = "damaged"


@dataclass(frozen=True, slots=True)
class Path:
    """A branch as far as it can be read, root first.

    `damage` is None for a sound branch; else it says in a few words what is wrong and where: the branch is then
    read-only, and `nodes` is the readable part that hangs together with the leaf. `checkpoints` has what is stored of
    its checkpoints, by their nodes.
    """

    nodes: tuple[Node, ...]
    damage: str | None = None
    checkpoints: Mapping[str, Checkpoint] = field(default_factory=dict)


class HasParent(Protocol):
    """What a way to the root is made of."""

    @property
    def parent_id(self) -> str | None:
        """The node that this one hangs on, None for a root."""


Step = TypeVar("Step", bound=HasParent)


def path_to_root(leaf_id: str | None, nodes: Mapping[str, Node | Exception]) -> Path:
    """Walk from the leaf to the root over loaded nodes; `nodes` holds an exception for one that cannot be decoded.

    Ends in at most as many steps as there are nodes, whatever the parents say (a cycle is found, not followed).
    """
    chain, damage = walk_to_root(leaf_id, nodes)
    return Path(tuple(chain), damage)


def walk_to_root(leaf_id: str | None, nodes: Mapping[str, Step | Exception]) -> tuple[list[Step], str | None]:
    """What `path_to_root` does, over anything that has a parent: the branch, root first, and its damage."""
    chain: list[Step] = []
    seen: set[str] = set()
    damage: str | None = None
    current = leaf_id
    while current is not None:
        if current in seen:
            damage = f"the chain of messages closes on itself at {current}"
            break
        seen.add(current)
        node = nodes.get(current)
        if node is None:
            damage = f"message {current} is missing" if chain else f"the last message {current} is missing"
            break
        if isinstance(node, Exception):
            damage = f"message {current} cannot be read: {str(node)[:LONGEST_REASON]}"
            break
        chain.append(node)
        current = node.parent_id
    chain.reverse()
    return chain, damage


def check_append(role: Role, leaf: Node | None, stop_reason: str | None) -> None:
    """Refuse what ordinary persistence may not store. Raises NotAllowed.

    A checkpoint comes into being in the compaction transaction only (C-16); an answer hangs on a question.
    """
    if role == "checkpoint":
        raise NotAllowed("A checkpoint can only be stored by a compaction.")
    if role == "assistant":
        if leaf is None or leaf.role == "assistant":
            raise NotAllowed("An answer needs a question to hang on.")
        if stop_reason not in STOP_REASONS:
            raise NotAllowed(f"An answer cannot be stored with the stop reason {stop_reason!r}.")
    elif stop_reason is not None:
        raise NotAllowed("A question has no stop reason.")


def last_real(path: Sequence[Node], role: Role) -> Node | None:
    """The newest node of this role on the branch; checkpoints are looked through (T-4)."""
    return next((node for node in reversed(path) if node.role == role), None)


def turns(path: Sequence[Node]) -> int:
    """How many questions the branch holds."""
    return sum(node.role == "user" for node in path)
