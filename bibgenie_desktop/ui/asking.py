"""Questions on their way to the engine, or waiting for one that answers: each is taken or comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from ..protocol.commands import SendMessage
from .chat.conversation import Conversation
from .outgoing import Outgoing


class Asked(NamedTuple):
    """A question of a chat; `is_draft`: it stood in the chat's draft."""

    conversation: Conversation
    is_draft: bool


class Asking:
    """Keeps what the engine has neither taken nor refused. A question replaces the stored draft only where the window
    `knows_draft` of that chat: what others wrote there may be on its way to it."""

    def __init__(self, outgoing: Outgoing, knows_draft: Callable[[str], bool]) -> None:
        self._outgoing = outgoing
        self._knows_draft = knows_draft
        self._asked: dict[int, Asked] = {}
        self._waiting: dict[int, SendMessage] = {}

    @property
    def waits(self) -> bool:
        """Whether there are questions that no engine was asked."""
        return bool(self._waiting)

    def ask(self, conversation: Conversation, text: str, *, is_draft: bool, ready: bool) -> None:
        """Send a question; where no engine answers that is `ready` for it, it waits for `resume`."""
        command = SendMessage(text, conversation.session_id, is_draft, request=self._outgoing.number())
        self._asked[command.request] = Asked(conversation, is_draft)
        if ready:
            self._send(command)
        else:
            self._waiting[command.request] = command

    def resume(self) -> None:
        """An engine answers."""
        waiting, self._waiting = self._waiting, {}
        for command in waiting.values():
            self._send(command)

    def ended(self, request: int) -> Asked | None:
        """The engine took or refused a question; None if the number is no question's."""
        return self._asked.pop(request, None)

    def take_back(self, conversation: Conversation | None = None) -> list[Conversation]:
        """Those that no engine was asked, of one chat or of all, are asked no more; the last one first: each is to be
        put above what stands in the draft."""
        requests = [each for each in reversed(self._waiting) if conversation in (None, self._asked[each].conversation)]
        for request in requests:
            del self._waiting[request]
        return [self._asked.pop(request).conversation for request in requests]

    def lost(self) -> list[Conversation]:
        """The engine is gone: none was taken. The last one first."""
        asked, self._asked = self._asked, {}
        self._waiting.clear()
        return [each.conversation for each in reversed(asked.values())]

    def _send(self, command: SendMessage) -> None:
        is_draft = command.is_draft and self._knows_draft(command.session_id)
        self._outgoing.send(replace(command, is_draft=is_draft))
