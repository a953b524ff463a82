"""Where the tail begins (C-6, C-7, D-2, D-4): legal cuts of a branch, computed from properties, and the choice of one.

A turn is a question and what answers it; checkpoints are looked through. Two questions in a row are two turns: the
first got no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..sessions.checkpoints import Checkpoint, Trigger
from ..sessions.nodes import Node
from ..sessions.parts import FilePart, ImagePart, Part, TextPart, ToolCallPart, ZoteroPart
from .capacity import Capacity

_ATTACHED = (FilePart, ImagePart, ZoteroPart)


@dataclass(frozen=True, slots=True)
class Cut:
    """A boundary: verbatim text begins at `index` of the branch, None: with what follows the branch (D-2).

    `covered` are the places of the nodes that are newly covered, in order. `moves`: it lies behind the last boundary.
    """

    index: int | None
    covered: tuple[int, ...]
    moves: bool


@dataclass(frozen=True, slots=True)
class NoCut:
    """No boundary can be chosen. `node_id` and `tokens` are those of what is too large, "" for the draft."""

    code: str
    node_id: str = ""
    tokens: int = 0


def legal_cuts(path: Sequence[Node], checkpoints: Mapping[str, Checkpoint]) -> list[int]:
    """The places of a branch where verbatim text may begin, ascending: where a turn begins, not behind the last
    boundary, and with no tool call before it that still waits for its result."""
    settled = settled_until(path)
    return [
        place
        for place in range(boundary(path, checkpoints), len(path))
        if place <= settled and starts_turn(path[place])
    ]


def boundary(path: Sequence[Node], checkpoints: Mapping[str, Checkpoint]) -> int:
    """Where what no checkpoint covers begins: a cut never falls behind it (C-6).

    Only what lies before a checkpoint can be kept by it: with anything else, verbatim text begins behind it.
    """
    for place in range(len(path) - 1, -1, -1):
        if path[place].role == "checkpoint":
            known = checkpoints.get(path[place].id)
            kept = known.first_kept_message_id if known is not None else None
            return next((at for at in range(place) if path[at].id == kept), place + 1)
    return 0


def starts_turn(node: Node) -> bool:
    """Whether a turn begins with this node: it holds what a person typed or attached."""
    return node.role == "user" and any(_is_typed(part) for part in node.parts)


def _is_typed(part: Part) -> bool:
    return bool(part.text.strip()) if isinstance(part, TextPart) else isinstance(part, _ATTACHED)


def settled_until(path: Sequence[Node]) -> int:
    """How many of the first nodes hold no tool call that waits for its result."""
    return next((place for place, node in enumerate(path) if has_pending_call(node)), len(path))


def has_pending_call(node: Node) -> bool:
    """Whether a tool call of this node has no result yet."""
    return any(isinstance(part, ToolCallPart) and part.state == "pending" for part in node.parts)


def choose(
    path: Sequence[Node],
    checkpoints: Mapping[str, Checkpoint],
    tokens_of: Callable[[Node], int],
    capacity: Capacity,
    trigger: Trigger,
    *,
    has_draft: bool = False,
    draft_tokens: int = 0,
    room: int = 0,
) -> Cut | NoCut:
    """Where the tail begins from now on, or why nowhere.

    `tokens_of` measures a node, in the measure of `capacity`. For a preflight, `room` is what tail and draft may take
    together; where the branch ends with a question that waits for its answer, that question counts as the draft and
    always stays.
    """
    if settled_until(path) < len(path):
        return NoCut("pending")
    first = boundary(path, checkpoints)
    cuts = legal_cuts(path, checkpoints)
    tail = _Tail(path, cuts, tokens_of)
    if trigger == "preflight":
        return _for_sending(tail, first, capacity, has_draft, draft_tokens, room)
    if path and path[-1].role == "checkpoint":
        return NoCut("nothing_new")
    is_first = not any(node.role == "checkpoint" for node in path)
    newest = tail.newest_complete(len(path))
    if newest is None:
        return NoCut("too_short" if is_first else "no_gain")
    within = tail.within(capacity.tail_budget, len(path))
    place = newest if within is None else min(within, newest)
    if trigger == "manual" and is_first:
        # Who asks for it gets it: at least the oldest turn is summarised (C-7).
        second = next((cut for cut in cuts if first < cut <= newest), None)
        if second is None:
            return NoCut("too_short")
        place = max(place, second)
    cut = _cut(path, place, first)
    return cut if cut.moves or trigger == "manual" else NoCut("no_gain")


def _for_sending(
    tail: _Tail, first: int, capacity: Capacity, has_draft: bool, draft_tokens: int, room: int
) -> Cut | NoCut:
    """The tail that stays beside what is about to be sent: by its budget, or less where that does not fit (D-2)."""
    path = tail.path
    question = None if has_draft else _unanswered(path)
    waiting = draft_tokens + (0 if question is None else tail.tokens_of(path[question]))
    if waiting > room:
        return NoCut("one_turn_too_large", "" if question is None else path[question].id, waiting)
    end = len(path) if question is None else question
    within = tail.within(min(capacity.tail_budget, room - waiting), end)
    place = question if within is None else within
    newest = tail.newest_complete(end)
    if newest is not None and tail.size(newest, end) <= room - waiting:
        place = newest if within is None else min(within, newest)
    cut = _cut(path, place, first)
    return cut if cut.moves else NoCut("no_gain")


@dataclass(frozen=True, slots=True)
class _Tail:
    """What may be kept word for word: a branch with its legal cuts. An `end` is a place that it is looked at up to."""

    path: Sequence[Node]
    cuts: Sequence[int]
    tokens_of: Callable[[Node], int]

    def size(self, place: int, end: int) -> int:
        """Tokens from a place on; a checkpoint is none of the tail."""
        return sum(self.tokens_of(node) for node in self.path[place:end] if node.role != "checkpoint")

    def within(self, budget: int, end: int) -> int | None:
        """The earliest cut whose tail is within a budget: a turn too large for it is not carried along (C-6)."""
        found, size, behind = None, 0, end
        for cut in self._newest_first(end):
            size += self.size(cut, behind)
            behind = cut
            if size > budget:
                break
            found = cut
        return found

    def newest_complete(self, end: int) -> int | None:
        """Where the newest turn begins that has an answer; the newest of all where none has."""
        newest_first = self._newest_first(end)
        behind = end
        for cut in newest_first:
            if any(node.role == "assistant" for node in self.path[cut:behind]):
                return cut
            behind = cut
        return newest_first[0] if newest_first else None

    def _newest_first(self, end: int) -> list[int]:
        return [cut for cut in reversed(self.cuts) if cut < end]


def _cut(path: Sequence[Node], place: int | None, first: int) -> Cut:
    end = len(path) if place is None else place
    covered = tuple(at for at in range(first, end) if path[at].role != "checkpoint")
    return Cut(place, covered, bool(covered))


def _unanswered(path: Sequence[Node]) -> int | None:
    """Where the question is that the branch ends with, seen through checkpoints."""
    place = next((at for at in range(len(path) - 1, -1, -1) if path[at].role != "checkpoint"), None)
    return place if place is not None and path[place].role == "user" else None
