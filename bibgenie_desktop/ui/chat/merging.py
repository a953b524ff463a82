"""A stored branch that was read, and what a window shows beside it that is not stored, or not in it yet. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from .message import Message


def with_unstored(branch: Sequence[Message], shown: Sequence[Message], seen: int) -> list[Message]:
    """The messages of a branch that was asked for when a conversation had seen so much stored, and in their places
    those of the messages shown until now that are only there."""
    if not any(each.fresh and (not each.node_id or each.stored_as > seen) for each in shown):
        return list(branch)
    followers: dict[str, list[Message]] = {message.node_id: [] for message in branch}
    first: list[Message] = []
    last: list[Message] = []
    place: list[Message] | None = first
    for message in shown:
        if message.node_id in followers:
            place = followers[message.node_id]
        elif message.status in ("sending", "streaming"):
            last.append(message)
        elif message.fresh and message.stored_as > seen:
            # Stored after the branch was read.
            last.append(message)
            place = last
        elif message.fresh and not message.node_id:
            if place is not None:
                place.append(message)
        else:
            place = None
    merged = first
    for message in branch:
        merged.append(message)
        merged += followers[message.node_id]
    merged += last
    return [each for row, each in enumerate(merged) if each.node_id or not _is_made_up_for(merged, row)]


def _is_made_up_for(messages: Sequence[Message], row: int) -> bool:
    """Whether an answer that is only here is followed by a stored one to the same question, which stands for it."""
    following = (each for each in messages[row + 1 :] if each.node_id and each.role != "checkpoint")
    answer = next(following, None)
    is_kept = messages[row].status in ("sending", "streaming") or messages[row].role != "assistant"
    return not is_kept and answer is not None and answer.role == "assistant"
