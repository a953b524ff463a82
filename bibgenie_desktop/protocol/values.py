"""The rows and pieces that events carry."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..sessions.citations import CitationState
from ..sessions.nodes import Role
from ..sessions.parts import ToolState
from .message import Message

SegmentKind: TypeAlias = Literal["text", "citation", "tool", "reasoning"]


class SessionRow(Message):
    """One line of the session list. `tokens` is the newest answer's occupancy, 0 where none is known.

    `forked_from_id` is the chat that a fork was made from, "" for none; that one may be deleted.
    """

    id: str
    title: str
    turns: int
    tokens: int
    leaf_id: str | None
    branch_revision: int
    model: str | None
    updated_at: str
    forked_from_id: str = ""
    is_pinned: bool = False
    is_archived: bool = False


class ModelRow(Message):
    """A model that can be chosen. `detail` says in a few words where its name comes from and where questions go."""

    name: str
    detail: str


class BranchRow(Message):
    """One node of the active branch, without its body. `characters` lets a view estimate its height.

    It is the `version`-th, from 1, of `versions` that were written in this place (checkpoints are looked through);
    `previous_id` and `next_id` are those beside it, "" for none. Of a checkpoint, `kind` says how it came to be, and
    `first_kept_id` is where verbatim text begins again, "" for: with what follows it.
    """

    node_id: str
    role: Role
    created_at: str
    model: str | None
    stop_reason: str | None
    characters: int
    version: int = 1
    versions: int = 1
    previous_id: str = ""
    next_id: str = ""
    kind: str = ""
    first_kept_id: str = ""
    tokens_before: int = 0
    tokens_after: int = 0


class TreeRow(Message):
    """One node of a session's whole tree. `excerpt` is its beginning in one line; `is_active`: it is on the branch."""

    node_id: str
    parent_id: str
    role: Role
    created_at: str
    stop_reason: str | None
    excerpt: str
    is_active: bool


class HistoryHit(Message):
    """A message that was found: in which chat, and the words around the first place, which is `match`.

    `is_active` tells whether it lies on that chat's active branch.
    """

    session_id: str
    title: str
    node_id: str
    role: Role
    created_at: str
    before: str
    match: str
    after: str
    is_active: bool
    is_archived: bool


class Segment(Message):
    """A piece of a body to draw.

    `text`: Markdown as the model wrote it. `citation`: `text` is the label, `link` the `zotero://` address, `state`
    the citation's state, `detail` why it is not verified or the quoted passage. `tool`: `text` says what was done,
    `state` how it went, `detail` the count, `duration_ms` the time it took. `reasoning`: the model's thinking.
    """

    kind: SegmentKind
    text: str
    link: str = ""
    state: CitationState | ToolState | Literal[""] = ""
    detail: str = ""
    duration_ms: int = 0
