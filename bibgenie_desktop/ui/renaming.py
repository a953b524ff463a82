"""Titles that the person gave and the engine has not stored yet: none is lost with the engine."""

from __future__ import annotations

from collections.abc import Callable

from ..protocol.commands import RenameSession
from .outgoing import Outgoing


class Renaming:
    """Sends titles and keeps each until the engine has stored or refused it. What is given while no engine answers, or
    was on its way to one that is gone, is sent with `resume`. `changed` is called with the id of a chat whose title on
    its way is another one or none now."""

    def __init__(self, outgoing: Outgoing, changed: Callable[[str], None]) -> None:
        self._outgoing = outgoing
        self._changed = changed
        self._ready = False
        self.titles: dict[str, str] = {}
        """The titles on their way, by the chat's id."""
        self._requests: dict[int, str] = {}

    def want(self, session_id: str, title: str) -> None:
        """Give a chat another title."""
        self.titles[session_id] = title
        if self._ready:
            self._send(session_id)
        self._changed(session_id)

    def ended(self, request: int) -> bool:
        """The engine stored or refused what it was asked for; tells whether that was a title."""
        session_id = self._requests.pop(request, None)
        if session_id is None:
            return False
        # A newer title may be on its way behind this one.
        if session_id not in self._requests.values():
            del self.titles[session_id]
            self._changed(session_id)
        return True

    def lost(self) -> None:
        """The engine is gone, and its answers with it."""
        self._ready = False
        self._requests.clear()

    def resume(self) -> None:
        """An engine answers."""
        self._ready = True
        for session_id in self.titles:
            self._send(session_id)

    def _send(self, session_id: str) -> None:
        self._requests[self._outgoing.ask(RenameSession(session_id, self.titles[session_id]))] = session_id
