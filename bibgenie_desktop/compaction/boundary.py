"""Where the tail begins (C-6, C-7, D-2, D-4): legal cuts of a branch, computed from properties, and the choice of one.

A turn is a question and what answers it; checkpoints are looked through. Two questions in a row are two turns: the
first got no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..sessions.checkpoints import Checkpoint, Trigger
from ..sessions.nodes import Node
from ..sessions.parts import ToolCallPart
from .capacity import Capacity


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
    """The places of a branch where verbatim text may begin, ascending."""
    first = boundary(path, checkpoints)
    return [
        place
        for place, node in enumerate(path)
        if place >= first and starts_turn(node) and not has_pending_call(path[:place])
    ]


def boundary(path: Sequence[Node], checkpoints: Mapping[str, Checkpoint]) -> int:
    """Where what no checkpoint covers begins: a cut never falls behind it (C-6)."""
    for place in range(len(path) - 1, -1, -1):
        if path[place].role != "checkpoint":
            continue
        known = checkpoints.get(path[place].id)
        kept = known.first_kept_message_id if known is not None else None
        return next((at for at in range(place) if path[at].id == kept), place + 1)
    return 0


def starts_turn(node: Node) -> bool:
    """Whether a turn begins with this node: by what it is, not by where it stands."""
    return node.role == "user"


def has_pending_call(nodes: Sequence[Node]) -> bool:
    """Whether a tool call has no result yet."""
    return any(isinstance(part, ToolCallPart) and part.state == "pending" for node in nodes for part in node.parts)


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
    if has_pending_call(path):
        return NoCut("pending")
    first = boundary(path, checkpoints)
    is_first = not any(node.role == "checkpoint" for node in path)
    if path and path[-1].role == "checkpoint" and trigger != "preflight":
        return NoCut("nothing_new")
    cuts = legal_cuts(path, checkpoints)
    pending = _pending_question(path) if trigger == "preflight" and not has_draft else None
    if trigger == "preflight":
        return _for_sending(path, cuts, tokens_of, capacity, first, pending, draft_tokens, room)
    newest = _newest_complete(path, cuts)
    if newest is None:
        return NoCut("too_short" if is_first else "no_gain")
    place = min(_within(path, cuts, tokens_of, capacity.tail_budget, default=newest), newest)
    if trigger == "manual" and is_first:
        # A person who asks for it gets one: at least the oldest turn is summarised (C-7).
        later = [cut for cut in cuts if cut > first]
        if not later:
            return NoCut("too_short")
        place = max(place, later[0])
    cut = _cut(path, place, first)
    if trigger == "automatic" and not cut.moves:
        return NoCut("no_gain")
    return cut


def _for_sending(
    path: Sequence[Node],
    cuts: Sequence[int],
    tokens_of: Callable[[Node], int],
    capacity: Capacity,
    first: int,
    pending: int | None,
    draft_tokens: int,
    room: int,
) -> Cut | NoCut:
    """The tail that stays beside what is about to be sent: by its budget, or less where that does not fit (D-2)."""
    waiting = draft_tokens + (tokens_of(path[pending]) if pending is not None else 0)
    if waiting > room:
        return NoCut("one_turn_too_large", path[pending].id if pending is not None else "", waiting)
    end = len(path) if pending is None else pending
    before = [cut for cut in cuts if cut < end]
    budget = min(capacity.tail_budget, room - waiting)
    tail = path[:end]
    fallback = pending if pending is not None else None
    place: int | None = fallback
    if before:
        newest = _newest_complete(tail, before)
        default = newest if newest is not None and _size(tail, newest, tokens_of) <= room - waiting else None
        within = _within(tail, before, tokens_of, budget, default=-1)
        place = within if within >= 0 else default if default is not None else fallback
    if place is not None and place <= first:
        return NoCut("no_gain")
    if place is None and first >= len(path):
        return NoCut("no_gain")
    return _cut(path, place, first)


def _cut(path: Sequence[Node], place: int | None, first: int) -> Cut:
    end = len(path) if place is None else place
    covered = tuple(at for at in range(first, end) if path[at].role != "checkpoint")
    return Cut(place, covered, bool(covered))


def _within(
    path: Sequence[Node], cuts: Sequence[int], tokens_of: Callable[[Node], int], budget: int, *, default: int
) -> int:
    """The earliest cut whose tail is within a budget: a turn too large for it is not carried along (C-6)."""
    found, size, at = default, 0, len(path)
    for cut in reversed(cuts):
        size += sum(tokens_of(node) for node in path[cut:at] if node.role != "checkpoint")
        at = cut
        if size > budget:
            break
        found = cut
    return found


def _size(path: Sequence[Node], place: int, tokens_of: Callable[[Node], int]) -> int:
    return sum(tokens_of(node) for node in path[place:] if node.role != "checkpoint")


def _newest_complete(path: Sequence[Node], cuts: Sequence[int]) -> int | None:
    """Where the newest turn that has an answer begins; the newest of all where none has."""
    for cut in reversed(cuts):
        if any(node.role == "assistant" for node in path[cut:]):
            return cut
    return cuts[-1] if cuts else None


def _pending_question(path: Sequence[Node]) -> int | None:
    """Where the question is that the branch ends with, seen through checkpoints."""
    for place in range(len(path) - 1, -1, -1):
        if path[place].role != "checkpoint":
            return place if path[place].role == "user" else None
    return None
