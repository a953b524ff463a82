"""The bodies of messages: fetched for what is looked at, each once."""

from __future__ import annotations

from collections.abc import Iterable

from ..protocol.commands import FetchBodies
from ..protocol.events import NodeBody
from ..protocol.values import Segment
from .chat.conversation import Conversation
from .chat.message import Message
from .outgoing import Outgoing

BODIES_AT_ONCE = 50
"""Nodes whose bodies are asked for in one command."""


class BodyFetching:
    """Asks for bodies that are not here and puts them where they belong. What is wanted while no engine answers, or
    was not answered by one that is gone, is asked for with `resume`."""

    def __init__(self, outgoing: Outgoing) -> None:
        self._outgoing = outgoing
        self._ready = False
        self._waiting: dict[int, tuple[Conversation, tuple[str, ...]]] = {}
        self._later: list[tuple[Conversation, tuple[str, ...]]] = []
        self._pieces: dict[int, list[Segment]] = {}
        """Of the body that is coming: one whose end never comes is asked for again whole."""

    def want(self, conversation: Conversation, first: int, last: int) -> None:
        """Want the bodies of these rows, `last` included."""
        self._want(conversation, conversation.messages[first : last + 1])

    def want_all(self, conversation: Conversation) -> None:
        """Want the bodies of all rows: who searches a chat looks at all of it."""
        self._want(conversation, conversation.messages)

    def _want(self, conversation: Conversation, messages: Iterable[Message]) -> None:
        coming = {each for other, ids in self._waiting.values() if other is conversation for each in ids}
        missing = [each.node_id for each in messages if not each.ready and each.node_id not in coming]
        for start in range(0, len(missing), BODIES_AT_ONCE):
            self._fetch(conversation, tuple(missing[start : start + BODIES_AT_ONCE]))

    def _fetch(self, conversation: Conversation, node_ids: tuple[str, ...]) -> None:
        if self._ready:
            self._waiting[self._outgoing.ask(FetchBodies(node_ids))] = conversation, node_ids
        else:
            self._later.append((conversation, node_ids))

    def take(self, event: NodeBody) -> None:
        """Take a piece of a body."""
        if event.request in self._waiting:
            conversation, node_ids = self._waiting[event.request]
            self._pieces.setdefault(event.request, []).extend(event.segments)
            if not event.more:
                conversation.add_body(event.node_id, self._pieces.pop(event.request))
                if event.node_id == node_ids[-1]:
                    del self._waiting[event.request]

    def failed(self, request: int, sentence: str) -> bool:
        """The engine refused a command; tells whether it was one for bodies."""
        waiting = self._waiting.pop(request, None)
        if waiting is None:
            return False
        self._pieces.pop(request, None)
        # One body that cannot be read holds up no other.
        conversation, node_ids = waiting
        for node_id in node_ids:
            if len(node_ids) == 1:
                conversation.body_failed(node_id, sentence)
            else:
                self._fetch(conversation, (node_id,))
        return True

    def lost(self) -> None:
        """The engine is gone, and its answers with it."""
        self._ready = False
        self._later += self._waiting.values()
        self._waiting.clear()
        self._pieces.clear()

    def resume(self) -> None:
        """An engine answers."""
        self._ready = True
        later, self._later = self._later, []
        for conversation, node_ids in later:
            wanted = set(node_ids)
            self._want(conversation, [each for each in conversation.messages if each.node_id in wanted])
