"""Which chats the window holds: the one that is shown, and those that are at work. No Qt."""

from __future__ import annotations

from collections.abc import Collection

from .chat.conversation import Conversation


class OpenChats:
    """Holds chats by their session ids. A chat that is held is the same one when the person comes back to it."""

    def __init__(self) -> None:
        self.shown = Conversation()
        """The chat that is shown: held too, once it is a session."""
        self._held: dict[str, Conversation] = {}

    def get(self, session_id: str) -> Conversation | None:
        """The chat that is held for a session."""
        return self._held.get(session_id)

    def values(self) -> Collection[Conversation]:
        """The chats that are held."""
        return self._held.values()

    @property
    def each(self) -> list[Conversation]:
        """The chat that is shown and those that are held, each once."""
        return list({id(each): each for each in (self.shown, *self._held.values())}.values())

    def is_busy(self, session_id: str) -> bool:
        """Whether an answer streams in a chat, or is to come."""
        return any(conversation.busy for conversation in self.each if conversation.session_id == session_id)

    def show(self, conversation: Conversation) -> None:
        """Show another chat. The one before is held on only while it is at work."""
        left, self.shown = self.shown, conversation
        if left.session_id and not left.at_work:
            self.let_go(left.session_id)
        if conversation.session_id:
            self.hold(conversation)

    def hold(self, conversation: Conversation) -> None:
        """Hold a chat."""
        self._held[conversation.session_id] = conversation

    def let_go(self, session_id: str) -> None:
        """Hold a chat no more."""
        self._held.pop(session_id, None)

    def let_go_idle(self, conversation: Conversation) -> None:
        """Hold a chat no more that is neither shown nor at work."""
        if conversation is not self.shown and not conversation.at_work:
            self.let_go(conversation.session_id)
