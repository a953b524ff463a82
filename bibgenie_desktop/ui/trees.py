"""The whole tree of a chat as the engine tells it: asked for while somebody looks at it, and again once it changed."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from ..protocol.commands import FetchTree
from ..protocol.events import CommandFailed, Event, Tree
from ..protocol.values import TreeRow
from .outgoing import Outgoing
from .timing import Coalesced, MakeTimer

CHANGE_MILLISECONDS = 120
"""Between a change of a branch and the question what the tree is now: changes come in pairs."""


class TreeFetching(QObject):
    """Fetches the tree of one chat, whole before it is told.

    Signals:
        told(session_id, rows): the tree is this: a tuple of TreeRow, parents first.
        failed(session_id, sentence): it could not be read.
    """

    told = Signal(str, tuple)
    failed = Signal(str, str)

    def __init__(self, outgoing: Outgoing, make_timer: MakeTimer, parent: QObject) -> None:
        super().__init__(parent)
        self._outgoing = outgoing
        self._session_id = ""
        self._ready = False
        self._request = 0
        self._stale = False
        self._arriving: list[TreeRow] = []
        self._asking = Coalesced(self._ask, CHANGE_MILLISECONDS, make_timer)

    @property
    def watched(self) -> str:
        """The chat whose tree is wanted, "" for none."""
        return self._session_id

    def watch(self, session_id: str) -> None:
        """Want the tree of this chat, now and whenever it changed; "" wants none."""
        if session_id != self._session_id:
            self._session_id = session_id
            self._request = 0
            self._asking.drop()
            self._ask()

    def changed(self, session_id: str) -> None:
        """The branch of a chat is another one."""
        if session_id and session_id == self._session_id:
            self._asking.ask()

    def engine_ready(self) -> None:
        """An engine answers."""
        self._ready = True
        self._ask()

    def lost(self) -> None:
        """The engine is gone, and its answers with it."""
        self._ready = False
        self._request = 0

    def _ask(self) -> None:
        self._stale = bool(self._request)
        if self._ready and self._session_id and not self._request:
            self._arriving = []
            self._request = self._outgoing.ask(FetchTree(self._session_id), self._take)

    def _take(self, event: Event) -> None:
        ended = not (isinstance(event, Tree) and event.more)
        if ended:
            self._outgoing.forget(event.request)
        if event.request != self._request:
            return
        if isinstance(event, Tree):
            self._arriving += event.rows
        if ended:
            self._request = 0
            if isinstance(event, Tree):
                self.told.emit(self._session_id, tuple(self._arriving))
            elif isinstance(event, CommandFailed):
                self.failed.emit(self._session_id, event.sentence)
            if self._stale:
                self._ask()
