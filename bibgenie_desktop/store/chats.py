"""A whole chat as it leaves the history and enters it: its nodes with all that hangs on them (T-8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..sessions.checkpoints import Checkpoint
from ..sessions.nodes import Node, Session


@dataclass(frozen=True, slots=True)
class DamagedNode:
    """A stored message that cannot be read: its columns as they are, and in a few words why."""

    id: str
    parent_id: str | None
    columns: Mapping[str, Any]
    reason: str


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """Something that a person wrote down about a chat, or about one of its messages."""

    id: str
    node_id: str | None
    kind: str
    origin: str
    value: Any
    supersedes_id: str | None
    created_at: str


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes of an attachment; `id` is their SHA-256."""

    id: str
    mime: str
    data: bytes
    created_at: str


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat with its messages in the order in which they were stored.

    `branch` are the ids of the active branch, root first, as far as they hang together; `visited` is the revision at
    which each message was last the chat's leaf, where it ever was. `damage` says in a few words what is wrong with
    the branch, "" for a sound one.
    """

    session: Session
    nodes: tuple[Node | DamagedNode, ...]
    branch: tuple[str, ...]
    visited: Mapping[str, int]
    checkpoints: Mapping[str, Checkpoint]
    ledger: tuple[LedgerEntry, ...] = ()
    blobs: tuple[Blob, ...] = ()
    damage: str = ""
