"""Stored chats on their way into the window: each comes in pieces, with its draft."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..protocol.commands import OpenSession
from ..protocol.events import Branch
from ..protocol.values import BranchRow
from .chat.conversation import Conversation
from .outgoing import Outgoing


@dataclass(slots=True)
class Opening:
    """A branch that is being fetched for `conversation`; `draft_changes` and `seen` tell of the draft and of the chat
    when it was asked for."""

    conversation: Conversation
    session_id: str
    draft_changes: int
    seen: int
    rows: list[BranchRow] = field(default_factory=list)
    draft: str = ""
    damage: str = ""


class ChatOpening:
    """Asks for stored branches and puts their pieces together."""

    def __init__(self, outgoing: Outgoing) -> None:
        self._outgoing = outgoing
        self._openings: dict[int, Opening] = {}

    def ask(self, conversation: Conversation, draft_changes: int) -> None:
        """Fetch the stored branch; of the new chat, which has none, the draft. What was asked for before is older."""
        session_id = conversation.session_id
        self._openings = {number: each for number, each in self._openings.items() if each.session_id != session_id}
        number = self._outgoing.ask(OpenSession(session_id))
        self._openings[number] = Opening(conversation, session_id, draft_changes, conversation.seen)

    def is_on_its_way(self, session_id: str) -> bool:
        """Whether this chat is being fetched."""
        return any(each.session_id == session_id for each in self._openings.values())

    def take(self, event: Branch) -> Opening | None:
        """Take a piece; returns what is whole with it."""
        opening = self._openings.get(event.request)
        if opening is not None:
            opening.rows += event.rows
            opening.draft += event.draft
            opening.damage = event.damage
        return None if event.more else self._openings.pop(event.request, None)

    def failed(self, request: int) -> Opening | None:
        """The engine refused a command; returns the chat, if it was asked for one by that."""
        return self._openings.pop(request, None)

    def lost(self) -> None:
        """The engine is gone, and its answers with it."""
        self._openings.clear()
