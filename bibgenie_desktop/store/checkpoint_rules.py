"""What a checkpoint must be to be stored on a branch (C-6, C-9, D-2, D-4). Pure rules over the branch's heads.

Nodes never change, so that what these rules say of a branch holds for as long as it ends where it did: they are asked
before the transaction that stores the checkpoint, which then holds the file for a moment only.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..sessions.branch import NotAllowed
from ..sessions.checkpoints import KINDS, TRIGGERS, NewCheckpoint
from ..sessions.tree import NodeHead


def newest_checkpoint(heads: Sequence[NodeHead]) -> int | None:
    """Where on a branch its newest checkpoint is."""
    return next((at for at in range(len(heads) - 1, -1, -1) if heads[at].role == "checkpoint"), None)


def uncovered_from(heads: Sequence[NodeHead], checkpoint_at: int | None, first_kept: str | None) -> int:
    """Where what no checkpoint covers begins, for a newest checkpoint at that place which keeps that node."""
    if checkpoint_at is None:
        return 0
    return next((at for at in range(checkpoint_at) if heads[at].id == first_kept), checkpoint_at + 1)


def check_checkpoint(heads: Sequence[NodeHead], uncovered: int, new: NewCheckpoint) -> None:
    """Refuse a checkpoint that does not belong at the end of this branch, root first. Raises NotAllowed.

    `uncovered` is what `uncovered_from` says. The boundary is a question of the branch and never moves back; what is
    newly covered is all that lies between the last boundary and this one, so that each node of a path is in the tail or
    in the range of a checkpoint (P6).
    """
    if new.kind not in KINDS or new.trigger not in TRIGGERS:
        raise NotAllowed("This checkpoint is of an unknown kind: nothing was stored.")
    if not heads or heads[-1].id != new.hangs_on:
        raise NotAllowed("This checkpoint does not hang at the end of the chat's branch: nothing was stored.")
    end = _boundary(heads, uncovered, new)
    if end < uncovered:
        raise NotAllowed("The boundary of this checkpoint lies before the last one's: nothing was stored.")
    newly = [head.id for head in heads[uncovered:end] if head.role != "checkpoint"]
    covered = (new.covered_from_id, new.covered_to_id)
    if newly and covered != (newly[0], newly[-1]):
        raise NotAllowed("This checkpoint does not stand for what lies before its boundary: nothing was stored.")
    if not newly and covered != (None, None) and not _is_range(heads[:end], *covered):
        raise NotAllowed("This checkpoint stands for messages of another branch: nothing was stored.")


def _boundary(heads: Sequence[NodeHead], uncovered: int, new: NewCheckpoint) -> int:
    """The place at which verbatim text begins."""
    kept = new.first_kept_message_id
    if kept is None:
        # Where the newest checkpoint stands at the end and keeps nothing, there is no turn to keep.
        if new.trigger != "preflight" and uncovered < len(heads):
            raise NotAllowed("A checkpoint keeps at least the newest turn: nothing was stored.")
        return len(heads)
    place = next((at for at, head in enumerate(heads) if head.id == kept), None)
    if place is None:
        raise NotAllowed("The boundary of this checkpoint is not on the chat's branch: nothing was stored.")
    if heads[place].role != "user":
        raise NotAllowed("The boundary of this checkpoint is no question: nothing was stored.")
    return place


def _is_range(heads: Sequence[NodeHead], first: str | None, last: str | None) -> bool:
    places = {head.id: at for at, head in enumerate(heads)}
    return first in places and last in places and places[first] <= places[last]
