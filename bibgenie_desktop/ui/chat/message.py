"""One message of a chat as the window knows it: its body, as far as it is here, and how it stands. No Qt."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ...protocol.events import ToolFinished
from ...protocol.values import BranchRow, Segment
from ...sessions.nodes import Role
from .edits import Edit

Status: TypeAlias = Literal["sending", "streaming", "stored", "failed", "interrupted"]
"""`sending`: the engine has not confirmed it. `interrupted`: the engine ended while it streamed; it is not stored."""

Offer: TypeAlias = Literal["continue", "retry", "answer"]
"""What is offered under a message that asks for it: to go on with it, to try again, to answer it at all."""

GOES_ON: frozenset[str] = frozenset({"interrupted", "cancelled", "error", "length"})
"""Stop reasons of an answer that can be gone on with."""


class Message:
    """One message: a node of the branch, or one that is about to become a node.

    `note` is a sentence to show under it; `ready` tells whether its body is here, `expected` how many characters it
    has until then; `fresh`, whether it was made while this window watched.

    `offers` is what stands under it to be pressed, `edit` what is being written in its place. `stored_as` counts what
    this window saw stored.
    """

    # A long chat makes ten thousand of these in one turn of the event loop: no dictionary, no list before it is used.
    __slots__ = (
        "__weakref__",
        "_calls",
        "_length",
        "_place",
        "_segments",
        "_tail",
        "_tail_kind",
        "created_at",
        "edit",
        "expected",
        "fresh",
        "model",
        "node_id",
        "note",
        "offers",
        "ready",
        "role",
        "status",
        "stop_reason",
        "stored_as",
    )

    def __init__(
        self,
        role: Role,
        status: Status = "stored",
        *,
        node_id: str = "",
        created_at: str = "",
        model: str = "",
        ready: bool = True,
        fresh: bool = False,
        expected: int = 0,
        stop_reason: str = "",
    ) -> None:
        self.role = role
        self.status: Status = status
        self.node_id = node_id
        self.created_at = created_at
        self.model = model
        self.ready = ready
        self.fresh = fresh
        self.expected = expected
        self.stop_reason = stop_reason
        self.note = ""
        self.offers: tuple[Offer, ...] = ()
        self.edit: Edit | None = None
        self.stored_as = 0
        self._place: BranchRow | None = None
        self._length = 0
        self._segments: tuple[Segment, ...] = ()
        # What grows is collected here: joining it at every delta would cost the square of its length.
        self._tail: list[str] | None = None
        self._tail_kind: Literal["text", "reasoning"] = "text"
        self._calls: dict[str, int] | None = None

    @classmethod
    def of_row(cls, row: BranchRow) -> Message:
        """A stored message whose body is not here."""
        made = cls(
            row.role,
            node_id=row.node_id,
            created_at=row.created_at,
            model=row.model or "",
            ready=False,
            expected=row.characters,
            stop_reason=row.stop_reason or "",
        )
        made._place = row
        return made

    def take_place(self, row: BranchRow) -> bool:
        """Stand among the versions that the branch tells now; returns whether that is news."""
        before = (self.version, self.versions, self.previous_id, self.next_id, self.stop_reason)
        self._place = row
        self.stop_reason = row.stop_reason or self.stop_reason
        return before != (self.version, self.versions, self.previous_id, self.next_id, self.stop_reason)

    @property
    def version(self) -> int:
        """Which of the versions in its place it is, from 1."""
        return self._place.version if self._place is not None else 1

    @property
    def versions(self) -> int:
        """How many there are."""
        return self._place.versions if self._place is not None else 1

    @property
    def previous_id(self) -> str:
        """The version before it, "" for none."""
        return self._place.previous_id if self._place is not None else ""

    @property
    def next_id(self) -> str:
        """The version after it, "" for none."""
        return self._place.next_id if self._place is not None else ""

    @property
    def kind(self) -> str:
        """How a checkpoint came to be."""
        return self._place.kind if self._place is not None else ""

    @property
    def first_kept_id(self) -> str:
        """Where verbatim text begins again after a checkpoint, "" for: with what follows it."""
        return self._place.first_kept_id if self._place is not None else ""

    @property
    def tokens_before(self) -> int:
        """How much the context held before a checkpoint, 0 where unknown."""
        return self._place.tokens_before if self._place is not None else 0

    @property
    def tokens_after(self) -> int:
        """How much it holds since, 0 where unknown."""
        return self._place.tokens_after if self._place is not None else 0

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The body, in order."""
        if not self._tail:
            return self._segments
        if len(self._tail) > 1:
            self._tail = ["".join(self._tail)]
        return (*self._segments, Segment(self._tail_kind, self._tail[0]))

    @property
    def source(self) -> str:
        """The text, with citations as their labels in brackets."""
        return "".join(_source(segment) for segment in self.segments)

    @property
    def characters(self) -> int:
        """How long the body is, as far as it is known."""
        return self._length if self.ready else self.expected

    def add_text(self, text: str, kind: Literal["text", "reasoning"] = "text") -> None:
        """More text at the end."""
        if kind != self._tail_kind:
            self._close_tail()
            self._tail_kind = kind
        if text:
            if self._tail is None:
                self._tail = []
            self._tail.append(text)
            self._length += len(text)

    def add(self, segment: Segment) -> None:
        """One more piece at the end."""
        if segment.kind == "text" or segment.kind == "reasoning":
            self.add_text(segment.text, segment.kind)
        else:
            self._close_tail()
            self._segments += (segment,)
            self._length += len(segment.text)

    def start_tool(self, call_id: str, title: str) -> None:
        """A tool runs."""
        self.add(Segment("tool", title, state="pending"))
        self._calls = {**(self._calls or {}), call_id: len(self._segments) - 1}

    def finish_tool(self, event: ToolFinished) -> None:
        """A tool that was started has ended."""
        place = (self._calls or {}).get(event.call_id)
        if place is not None:
            title = self._segments[place].text
            ended = Segment("tool", title, "", event.state, event.summary, event.duration_ms)
            self._segments = (*self._segments[:place], ended, *self._segments[place + 1 :])

    def _close_tail(self) -> None:
        if self._tail:
            self._segments += (Segment(self._tail_kind, "".join(self._tail)),)
            self._tail = None


def _source(segment: Segment) -> str:
    match segment.kind:
        case "text":
            return segment.text
        case "citation":
            return f"[{segment.text}]"
        case _:
            return ""
