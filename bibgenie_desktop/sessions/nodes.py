"""Nodes, sessions and change-sets: the tree's values (T-1, T-2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from .parts import Part, TextPart
from .usage import Usage

Role: TypeAlias = Literal["user", "assistant", "checkpoint"]
StopReason: TypeAlias = Literal[
    "stop", "length", "content_filter", "step_limit", "context_full", "cancelled", "interrupted", "error"
]

Beginning: TypeAlias = Literal["ask", "retry", "edit", "continue"]
"""What an answer begins with."""

ROLES: frozenset[str] = frozenset(get_args(Role))
STOP_REASONS: frozenset[str] = frozenset(get_args(StopReason))
STABLE: frozenset[str] = frozenset({"stop", "length"})
"""Stop reasons of an answer that a fork may start from (T-1)."""


@dataclass(frozen=True, slots=True)
class Node:
    """One stored message. Nothing of it changes once it is stored (T-1).

    `created_at` is UTC in ISO 8601 with milliseconds. `model` and `stop_reason` are None on user nodes.
    """

    id: str
    parent_id: str | None
    role: Role
    parts: tuple[Part, ...]
    created_at: str
    model: str | None = None
    usage: Usage | None = None
    stop_reason: StopReason | None = None

    @property
    def text(self) -> str:
        """The text parts joined, citation tokens included."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class Session:
    """A chat: its active branch ends at `leaf_id`; `branch_revision` grows with durable changes only (T-2).

    `forked_from_id` is the session that a fork was made from, which may be deleted by now.
    """

    id: str
    title: str
    leaf_id: str | None
    branch_revision: int
    model: str | None
    created_at: str
    updated_at: str
    forked_from_id: str | None = None
    is_pinned: bool = False
    is_archived: bool = False


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What one operation changed, told to every window after the commit.

    `operation` is the operation's name, such as `append_user`. `added` are the ids of new nodes, parents first.
    `answer` is the number of the answer that begins with it, 0 where none does: no two of a session have the same.
    """

    operation: str
    session_id: str
    leaf_id: str | None
    branch_revision: int
    added: tuple[str, ...] = ()
    answer: int = field(default=0, compare=False)
