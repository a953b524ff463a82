"""Questions that wait for the end of an answer: each is sent once, or comes back into the draft (U-2, U-3)."""

from __future__ import annotations

from collections.abc import Callable

from ..protocol.events import TurnFailed, TurnFinished
from ..sessions.nodes import STABLE
from .chat.conversation import Conversation
from .drafts import NEW_CHAT, Drafts

MOST_QUEUED = 3
"""Questions that wait in one chat."""


class Queue:
    """Keeps the questions that wait with their chats, and in the stored drafts: a crash costs none of them.

    `send` sends a question of a chat; `tell` is called with a chat whose draft or queue is another one.
    """

    def __init__(
        self, drafts: Drafts, send: Callable[[Conversation, str], None], tell: Callable[[Conversation], None]
    ) -> None:
        self._drafts = drafts
        self._send = send
        self._tell = tell
        self._unborn: list[Conversation] = []
        """Chats in which questions wait and which are no sessions yet: they share one stored draft."""

    def add(self, conversation: Conversation, text: str) -> bool:
        """Let what stands in the draft wait; tells whether there is room for it."""
        if len(conversation.queue) >= MOST_QUEUED:
            return False
        conversation.queue.append(text.strip())  # as it is stored once it is sent
        self._drafts.edited(conversation.session_id, "")
        self._changed(conversation)
        return True

    def take_out(self, conversation: Conversation, number: int, *, edit: bool) -> None:
        """Let a question wait no more; with `edit` it stands in the draft again, above what was written meanwhile."""
        if number < len(conversation.queue):
            text = conversation.queue.pop(number)
            if edit:
                self._drafts.put_above(conversation.session_id, text)
            self._changed(conversation)

    def put_back(self, conversation: Conversation) -> None:
        """Nothing is sent any more: all that waits stands in the draft again."""
        if conversation.queue:
            words = "\n\n".join(conversation.queue)
            conversation.queue.clear()
            self._drafts.put_above(conversation.session_id, words)
            self._changed(conversation)

    def answer_ended(self, conversation: Conversation, event: TurnFinished | TurnFailed) -> None:
        """Send the next one after an answer that ended well."""
        if not conversation.queue:
            return
        if isinstance(event, TurnFinished) and event.stop_reason in STABLE:
            text = conversation.queue.pop(0)
            self._send(conversation, text)
            self._changed(conversation)
        else:
            self.put_back(conversation)

    def compaction_ended(self, conversation: Conversation, *, sends: bool) -> None:
        """Send what waited for the end of a compaction, or put it back. What waits for an answer goes on waiting."""
        if not conversation.queue or conversation.busy:
            return
        if sends:
            text = conversation.queue.pop(0)
            self._send(conversation, text)
            self._changed(conversation)
        else:
            self.put_back(conversation)

    def keep(self, conversation: Conversation) -> None:
        """Have what waits kept with the draft of its chat."""
        if not conversation.session_id and conversation not in self._unborn:
            self._unborn.append(conversation)
        self._unborn = [each for each in self._unborn if each.queue and not each.session_id]
        keeping = [conversation] if conversation.session_id else self._unborn
        self._drafts.hold(conversation.session_id, "\n\n".join(text for each in keeping for text in each.queue))

    def began(self, conversation: Conversation) -> None:
        """A new chat became a session: what waits in it is that one's, what waits in other new chats is not."""
        self._unborn = [each for each in self._unborn if each is not conversation]
        self._drafts.hold(NEW_CHAT, "\n\n".join(text for each in self._unborn for text in each.queue))
        self.keep(conversation)

    def move(self, conversation: Conversation, to: Conversation) -> None:
        """What waits in a chat waits in another one, which is the same session."""
        if conversation.queue:
            to.queue += conversation.queue
            conversation.queue.clear()
            self._changed(to)

    def _changed(self, conversation: Conversation) -> None:
        self.keep(conversation)
        self._tell(conversation)
