"""Questions of a chat that are written anew in their places on the page (T-4). No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Hindrance: TypeAlias = Literal["", "answering", "compacting", "damaged", "empty", "unchanged"]
"""Why a question cannot be sent now, "" where it can."""


@dataclass(slots=True, eq=False)
class Edit:
    """What is written in the place of the question `asked`.

    `cursor` is the place in it where the person writes; `sending`, whether it is on its way to the engine; `sentence`
    says why the engine did not take it. `blocked` is what the chat itself has against it.
    """

    asked: str
    text: str
    cursor: int
    sending: bool = False
    sentence: str = ""
    blocked: Hindrance = ""

    @property
    def hindrance(self) -> Hindrance:
        """Why it cannot be sent now."""
        if self.blocked:
            return self.blocked
        if not self.text.strip():
            return "empty"
        return "unchanged" if self.text.strip() == self.asked.strip() else ""


class Edits:
    """The edits of one chat. They outlive what shows them: rows are let go, chats left and branches read again.

    `node_id` is the question that is being edited, "" for none. What was written and left stays until it is sent.
    """

    def __init__(self) -> None:
        self.node_id = ""
        self._edits: dict[str, Edit] = {}

    def begin(self, node_id: str, asked: str) -> Edit:
        """Edit a question, where it was left. Another one that is being edited is left."""
        self.leave()
        self.node_id = node_id
        return self._edits.setdefault(node_id, Edit(asked, asked, len(asked)))

    def leave(self) -> None:
        """Edit no question; what was written is kept, if it says something else than the question."""
        left = self.of(self.node_id)
        if left is not None and left.hindrance == "unchanged":
            del self._edits[self.node_id]
        self.node_id = ""

    def of(self, node_id: str) -> Edit | None:
        """The edit that is in progress in the place of a question."""
        return self._edits.get(node_id) if node_id and node_id == self.node_id else None

    @property
    def unsent(self) -> list[str]:
        """What was written in the places of questions and not sent."""
        return [edit.text for edit in self._edits.values() if edit.text.strip() not in ("", edit.asked.strip())]

    def sent(self, node_id: str) -> None:
        """The question was taken as it is written now."""
        self._edits.pop(node_id, None)
        if self.node_id == node_id:
            self.node_id = ""
