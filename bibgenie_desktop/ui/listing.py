"""The list of chats as the engine tells it: asked for once at a time, and once more where it changed meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ..protocol.commands import ListSessions
from ..protocol.events import SessionList, SessionRenamed
from ..protocol.values import SessionRow
from .outgoing import Outgoing


class SessionListing:
    """Keeps the list. `show` is called with each new one, in which the titles on their way stand already, and chats
    that the person deleted do not. `vanished` is called with those that others deleted."""

    def __init__(
        self,
        outgoing: Outgoing,
        show: Callable[[tuple[SessionRow, ...]], None],
        vanished: Callable[[frozenset[str]], None] = lambda _: None,
    ) -> None:
        self._outgoing = outgoing
        self._show = show
        self._vanished = vanished
        self._sessions: tuple[SessionRow, ...] = ()
        self._titles: Mapping[str, str] = {}
        self._deleted: frozenset[str] = frozenset()
        self._arriving: list[SessionRow] = []
        self._request = 0
        self._stale = False

    def row(self, session_id: str) -> SessionRow | None:
        """What is known of a chat; None if it is not in the list."""
        return next((row for row in self._sessions if row.id == session_id), None)

    def title_of(self, session_id: str) -> str:
        """The title of a chat, "" if it is neither in the list nor on its way."""
        stored = self.row(session_id)
        return self._titles.get(session_id, stored.title if stored else "")

    def retitle(self, titles: Mapping[str, str]) -> None:
        """These titles are on their way to the engine, by the chat's id."""
        self._titles = dict(titles)
        self._tell()

    def leave_out(self, session_ids: frozenset[str]) -> None:
        """These chats are deleted, or being deleted: they are shown no more. One that is none of them any more is shown
        once the engine lists it."""
        returning = self._deleted - session_ids
        self._sessions = tuple(row for row in self._sessions if row.id not in returning)
        self._deleted = session_ids
        self._tell()

    def ask(self) -> None:
        """Want the list as it is now."""
        self._stale = bool(self._request)
        if not self._request:
            self._arriving = []
            self._request = self._outgoing.ask(ListSessions())

    def take(self, event: SessionList) -> None:
        """Take a piece of the list."""
        if event.request != self._request:
            return
        self._arriving += event.sessions
        if not event.more:
            self._request = 0
            before = {row.id for row in self._sessions} - self._deleted
            self._sessions = tuple(self._arriving)
            gone = before.difference(row.id for row in self._sessions)
            self._tell()
            if gone:
                self._vanished(frozenset(gone))
            if self._stale:
                self.ask()

    def renamed(self, event: SessionRenamed) -> None:
        """A chat has another title."""
        self._sessions = tuple(
            replace(row, title=event.title) if row.id == event.session_id else row for row in self._sessions
        )
        self._tell()

    def failed(self, request: int) -> None:
        """The engine refused; if it was the list, that may be asked for again."""
        if request == self._request:
            self._request = 0

    def lost(self) -> None:
        """The engine is gone, and its answers with it."""
        self._request = 0

    def _tell(self) -> None:
        titles, deleted = self._titles, self._deleted
        self._show(
            tuple(
                replace(row, title=titles[row.id]) if row.id in titles else row
                for row in self._sessions
                if row.id not in deleted
            )
        )
