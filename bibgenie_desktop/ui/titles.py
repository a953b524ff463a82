"""The titles of the chats in the list and over the page: stored ones, and those that the person gave just now."""

from __future__ import annotations

from collections.abc import Callable

from ..protocol.events import SessionRenamed
from .chat.conversation import Conversation
from .listing import SessionListing
from .open_chats import OpenChats
from .outgoing import Outgoing
from .renaming import Renaming


class Titles:
    """Has titles stored, and gives chats theirs. `changed` is called with a chat that is shown, if it has another."""

    def __init__(
        self, outgoing: Outgoing, listing: SessionListing, chats: OpenChats, changed: Callable[[Conversation], None]
    ) -> None:
        self._listing = listing
        self._chats = chats
        self._changed = changed
        self._renaming = Renaming(outgoing, self._retitle)

    @property
    def waits(self) -> bool:
        """Whether there are titles that no engine has stored."""
        return bool(self._renaming.titles)

    def give(self, session_id: str, title: str) -> None:
        """Give a chat another title."""
        self._renaming.want(session_id, title)

    def of(self, session_id: str, stored: str) -> str:
        """The title of a chat of which the engine told the `stored` one."""
        return self._renaming.titles.get(session_id, stored)

    def take(self, event: SessionRenamed) -> None:
        """The engine stored a title, for this window or for another."""
        self._listing.renamed(event)
        if not self.ended(event.request):
            self._give_known(event.session_id)

    def ended(self, request: int) -> bool:
        """The engine stored or refused what it was asked for; tells whether that was a title."""
        return self._renaming.ended(request)

    def resume(self) -> None:
        """An engine answers."""
        self._renaming.resume()

    def lost(self) -> None:
        """The engine is gone, and its answers with it."""
        self._renaming.lost()

    def _retitle(self, session_id: str) -> None:
        """A title is on its way to the engine, or has arrived."""
        self._listing.retitle(self._renaming.titles)
        self._give_known(session_id)

    def _give_known(self, session_id: str) -> None:
        """The title of a chat is another one by now."""
        title = self._listing.title_of(session_id)
        for conversation in self._chats.each:
            if conversation.session_id == session_id and title:
                conversation.title = title
        if session_id and session_id == self._chats.shown.session_id:
            self._changed(self._chats.shown)
