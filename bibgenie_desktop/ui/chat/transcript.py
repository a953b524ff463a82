"""The messages of one chat in their order, stored ones and others. No Qt.

Changes are told to one listener, after they happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...protocol.values import BranchRow, Segment
from .listener import Listener
from .merging import with_unstored
from .message import Message


class Transcript:
    """What stands on the page of a chat, root first."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.last_of_several: Message | None = None
        """The last message of the stored branch of which there are several versions."""
        self.checkpoint: Message | None = None
        """The newest checkpoint of the branch."""
        self.boundary = 0
        """The first row that is sent word for word, a checkpoint's own where that keeps nothing older; 0 where all is:
        what stands above it is sent as a summary."""
        self._rows: dict[str, int] = {}
        """The rows of the messages of the stored branch."""
        self._left: dict[str, Message] = {}
        """Messages that left the branch: their bodies are here when they come back."""
        self._listener: Listener | None = None

    def listen(self, listener: Listener | None) -> None:
        """Tell changes to `listener` from now on; None ends it."""
        self._listener = listener

    def row_of(self, node_id: str) -> int:
        """The row of a node, -1 where it is not on the branch."""
        rows = range(len(self.messages) - 1, -1, -1)
        return next((row for row in rows if node_id and self.messages[row].node_id == node_id), -1)

    @property
    def last(self) -> Message | None:
        """The stored question or answer that the branch ends with, checkpoints aside."""
        found = (each for each in reversed(self.messages) if each.node_id and each.role != "checkpoint")
        return next(found, None)

    def question_of(self, answer: Message) -> Message | None:
        """The stored question that an answer of the branch is to; None where there is none."""
        is_above = False
        for message in reversed(self.messages):
            if is_above and message.node_id and message.role == "user":
                return message
            is_above = is_above or (message is answer and answer.role == "assistant")
        return None

    # What is stored

    def _arrange(self, rows: Iterable[BranchRow], seen: int) -> list[Message]:
        """Be the stored branch, which was asked for when so much was seen stored, and what is only here. Returns the
        messages of which other versions are known now. Nothing is told yet."""
        before = self.messages
        known = {**self._left, **{message.node_id: message for message in before if message.node_id}}
        branch, moved = [], []
        self.last_of_several = None
        for row in rows:
            message = known.pop(row.node_id, None)
            if message is None:
                message = Message.of_row(row)
            elif message.take_place(row):
                moved.append(message)
            if row.versions > 1:
                self.last_of_several = message
            branch.append(message)
        self.messages = with_unstored(branch, before, seen)
        if len(self.messages) == len(branch):
            self._rows = {message.node_id: row for row, message in enumerate(branch)}
        else:
            stored = {message.node_id for message in branch}
            self._rows = {each.node_id: row for row, each in enumerate(self.messages) if each.node_id in stored}
        self._left = known
        self._look_for_boundary()
        return moved

    def _look_for_boundary(self) -> None:
        checkpoints = (each for each in reversed(self.messages) if each.role == "checkpoint")
        self.checkpoint = newest = next(checkpoints, None)
        self.boundary = 0 if newest is None else self._rows.get(newest.first_kept_id, self._rows.get(newest.node_id, 0))

    def _tell_difference(self, before: Sequence[Message], moved: Sequence[Message]) -> None:
        """Tell which rows are others, and which of those before them look different, as they `moved`."""
        now = self.messages
        pairs = enumerate(zip(before, now, strict=False))
        first = next((row for row, (old, new) in pairs if old is not new), min(len(before), len(now)))
        if self._listener is None or first == len(before) == len(now):
            pass
        elif not before:
            self._listener.reset()
        elif first == len(before):
            self._listener.inserted(first, len(now) - 1)
        elif first == len(now):
            self._listener.removed(first, len(before) - 1)
        else:
            self._listener.replaced(first, len(before), len(now))
        for message in moved:
            if self._rows[message.node_id] < first:
                self._changed(self._rows[message.node_id])

    def add_body(self, node_id: str, segments: Sequence[Segment]) -> None:
        """Take a stored body."""
        message = self._waiting(node_id)
        if message is not None:
            for segment in segments:
                message.add(segment)
            message.ready = True
            self._changed(self._rows[node_id])

    def body_failed(self, node_id: str, sentence: str) -> None:
        """A stored body cannot be read."""
        message = self._waiting(node_id)
        if message is not None:
            message.ready, message.status, message.note = True, "failed", sentence
            self._changed(self._rows[node_id])

    def _waiting(self, node_id: str) -> Message | None:
        """The message of a node, if its body is not here."""
        message = self.messages[self._rows[node_id]] if node_id in self._rows else None
        return None if message is None or message.ready else message

    # What is told

    def _append(self, message: Message) -> None:
        self.messages.append(message)
        if self._listener:
            self._listener.inserted(len(self.messages) - 1, len(self.messages) - 1)

    def _changed(self, row: int = -1) -> None:
        if self._listener:
            self._listener.changed(row % len(self.messages))

    def _changed_message(self, message: Message) -> None:
        rows = range(len(self.messages) - 1, -1, -1)
        row = next((row for row in rows if self.messages[row] is message), -1)
        if row >= 0:
            self._changed(row)

    def _grown(self) -> None:
        if self._listener:
            self._listener.grown(len(self.messages) - 1)

    def _cut(self, first: int) -> None:
        """Rows from `first` on leave the branch."""
        gone, before = self.messages[first:], len(self.messages)
        if gone:
            self._left |= {message.node_id: message for message in gone if message.node_id}
            self._rows = {node_id: row for node_id, row in self._rows.items() if row < first}
            self.messages = self.messages[:first]
            if self.last_of_several is not None and self.last_of_several.node_id not in self._rows:
                self.last_of_several = None
            self._look_for_boundary()
            if self._listener:
                self._listener.removed(first, before - 1)
