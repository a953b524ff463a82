"""How full the context is (C-5, D-5): what the provider counted where that can be relied on, and what came later."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..sessions.checkpoints import Checkpoint
from ..sessions.nodes import Node
from ..sessions.usage import Usage
from .counted import Counted
from .projection import Projection, newest_checkpoint, visible

RELIABLE: frozenset[str] = frozenset({"stop", "length", "step_limit"})
"""Stop reasons of answers whose usage counts: those that ended by a fault do not, nor those sent without tools."""

_TOO_SMALL = 4
"""A provider that counts a quarter of the estimate has cut the request silently, as some servers do (I2)."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Tokens of the next request as every decision takes them. `anchor_id` is the answer whose usage is the base.

    `scale` is by how much an estimate of a part of this request is off, as far as the provider's counts tell.
    """

    tokens: int
    is_estimate: bool
    anchor_id: str | None = None
    scale: float = 1.0

    def scaled(self, estimated: int) -> int:
        """An estimate of a part of this branch, or of what it becomes, by the measure of `tokens`."""
        return math.ceil(estimated * self.scale)


def occupancy(
    path: Sequence[Node],
    checkpoints: Mapping[str, Checkpoint],
    projection: Projection,
    *,
    model: str,
    counted: Counted,
    factor: float = 1.0,
) -> Occupancy:
    """How full the context is for this projection of the branch, draft included.

    The newest answer after the newest checkpoint gives the base, if the provider really counted it, for this model and
    for a request that was built on this checkpoint: its prompt, and what of its output is sent again. `factor` is what
    estimates for this model are multiplied with.
    """
    shown = visible(path, checkpoints).nodes
    place = newest_checkpoint(path)
    after = {node.id for node in path[0 if place is None else place + 1 :]}
    sizes = projection.sizes
    later = 0
    for at in range(len(shown) - 1, -1, -1):
        node = shown[at]
        if node.id not in after:
            break
        usage = node.usage
        if usage is not None and _anchors(node, usage, model, projection.checkpoint_id):
            estimated = sizes.total - sizes.draft - later
            base = usage.input_tokens + max(0, usage.output_tokens - usage.reasoning_tokens)
            if base * _TOO_SMALL >= estimated:
                scale = base / estimated if estimated else 1.0
                # What came later may be of another kind than what was counted: no less than its own estimate.
                tokens = base + math.ceil((later + sizes.draft) * factor)
                return Occupancy(tokens, False, node.id, scale)
        later += counted.tokens(node)
    return Occupancy(math.ceil(projection.tokens * factor), True, None, factor)


def _anchors(node: Node, usage: Usage, model: str, checkpoint_id: str | None) -> bool:
    return (
        node.role == "assistant"
        and usage.real
        and usage.input_tokens > 0
        and node.stop_reason in RELIABLE
        and node.model == model
        and usage.checkpoint_id == checkpoint_id
    )
