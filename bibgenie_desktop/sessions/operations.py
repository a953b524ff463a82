"""Operations that change something outside, such as a note in Zotero: their states, and when an approval holds (L-5).

Pure rules. An approval is bound to one operation and to the target's version as it was shown; it lasts ten minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias, get_args

from .branch import NotAllowed

OperationState: TypeAlias = Literal[
    "proposed", "approved", "denied", "expired", "attempted", "confirmed", "failed", "unknown"
]
STATES: frozenset[str] = frozenset(get_args(OperationState))
APPROVAL_LIFETIME = timedelta(minutes=10)

_FOLLOWING: Mapping[OperationState, frozenset[OperationState]] = {
    "proposed": frozenset({"approved", "denied", "expired"}),
    "approved": frozenset({"attempted", "expired"}),
    # What was attempted when the process ended is unknown until it is looked at again.
    "attempted": frozenset({"confirmed", "failed", "unknown"}),
    "unknown": frozenset({"confirmed", "failed"}),
}
UNFINISHED: frozenset[OperationState] = frozenset(_FOLLOWING)
"""States in which something is still to come."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A change that was proposed. `request` is what will be done, as it was shown; `target` what it is done to.

    `target_version` is the version of the target that was shown, None where it does not exist yet. `node_id` is the
    answer that proposed it, None as long as that is not stored. Times are ISO 8601.
    """

    id: str
    session_id: str
    node_id: str | None
    kind: str
    state: OperationState
    target: str
    target_version: str | None
    request: Mapping[str, Any]
    result: Mapping[str, Any] | None
    created_at: str
    updated_at: str


def check_step(operation: Operation, state: OperationState) -> None:
    """Raises NotAllowed where the operation cannot come into this state from its own."""
    if state not in _FOLLOWING.get(operation.state, frozenset()):
        raise NotAllowed(f"A change that is {operation.state} cannot become {state}; nothing was done.")


def check_approval(operation: Operation, target_version: str | None, now: datetime) -> None:
    """Raises NotAllowed where an approval, just given or given before, does not hold for the target as it is now."""
    if has_expired(operation, now):
        raise NotAllowed("This change was proposed too long ago; nothing was written: ask for it again.")
    if operation.target_version != target_version:
        raise NotAllowed("What would be changed is another version by now; nothing was written: ask for it again.")


def has_expired(operation: Operation, now: datetime) -> bool:
    """Whether an operation waits, for its approval or since it, for longer than an approval lasts.

    A time that cannot be read, or that lies as far in the future after the clock was set back, is as good as expired.
    """
    if operation.state not in ("proposed", "approved"):
        return False
    try:
        age = now - datetime.fromisoformat(operation.updated_at)
    except (TypeError, ValueError):
        return True
    return abs(age) > APPROVAL_LIFETIME
