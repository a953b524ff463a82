"""How an answer ended, as it is told: by its stop reason, its fault, or for want of any word (A-1, A-5)."""

from __future__ import annotations

from ...protocol.events import TurnFailed, TurnFinished
from .turn import Answer, Failure

_STOPPED = {
    "length": "The answer reached the model's output limit and is cut off.",
    "content_filter": "The provider's filter ended the answer.",
    "step_limit": "The answer was ended after too many tool calls; ask again to go on.",
    "context_full": "The context was full, so no further tool was run; ask again in a new chat.",
    "cancelled": "You stopped the answer; what was there is kept.",
}
_NOTHING = {
    "length": "The model reached its output limit before it answered; {kept}: raise that limit.",
    "content_filter": "The provider's filter held the whole answer back; {kept}: ask it differently.",
    "context_full": "The context was full before the model answered; {kept}: ask it in a new chat.",
}
"""Sentences for an answer that ended with nothing in it."""
_NO_WORD = "The model answered nothing; {kept}: ask again."
BESIDE = "The chat went on elsewhere while this answer came; the answer is stored beside the branch that went on."
"""Told of an answer that was stored and is not on the active branch."""


def ending(session_id: str, node_id: str, answer: Answer, *, is_back: bool = False) -> TurnFinished | TurnFailed:
    """The event that ends a turn; `node_id` is the stored answer, "" where there was nothing to store.

    `is_back`: the branch leads to a former answer again.
    """
    failure = answer.failure
    if failure is None and not node_id and answer.stop_reason != "cancelled":
        kept = "the former answer is back" if is_back else "your question is kept"
        failure = Failure("empty", _NOTHING.get(answer.stop_reason, _NO_WORD).format(kept=kept))
    if failure is not None:
        return TurnFailed(session_id, failure.code, failure.sentence, node_id)
    usage = answer.usage
    return TurnFinished(
        session_id,
        node_id,
        answer.stop_reason,
        usage.input_tokens if usage else 0,
        usage.output_tokens if usage else 0,
        bool(usage and usage.real),
        " ".join(filter(None, (_STOPPED.get(answer.stop_reason, ""), *answer.notes))),
    )
