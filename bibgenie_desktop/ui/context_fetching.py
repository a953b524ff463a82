"""How full the context of the chat that is shown is: asked for whenever it may be another, and seldom (C-3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from PySide6.QtCore import QObject, Signal

from ..protocol.commands import FetchContext
from ..protocol.events import (
    BranchChanged,
    CompactionEnded,
    CompactionStarted,
    ContextState,
    Event,
    ModelChosen,
    ModelState,
    SessionsChanged,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from .outgoing import Outgoing
from .timing import Coalesced, MakeTimer

ASKING_MILLISECONDS = 300
"""Between two questions at least."""
LONGEST_DRAFT = 20_000
"""Characters of a draft that are told; of a longer one its length too."""

ContextEvent: TypeAlias = (
    BranchChanged
    | SessionsChanged
    | CompactionStarted
    | CompactionEnded
    | ModelChosen
    | ModelState
    | TurnStarted
    | TurnFinished
    | TurnFailed
)
"""What may change how full it is, or whether it can be compacted."""


class ContextFetching(QObject):
    """Fetches it for what `shown` tells: a chat, "" for the new one, and its draft. One question at a time is open.

    Signals:
        told(state): the ContextState; None where nothing is known of this chat yet.
    """

    told = Signal(object)

    def __init__(
        self, outgoing: Outgoing, shown: Callable[[], tuple[str, str]], make_timer: MakeTimer, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._outgoing = outgoing
        self._shown = shown
        self._ready = False
        self._request = 0
        self._is_stale = False
        self._asking = Coalesced(self._ask, ASKING_MILLISECONDS, make_timer)
        self._session_id: str | None = None
        self.state: ContextState | None = None
        """What was told last of the chat that is shown."""
        self.why_not = ""
        """Why the engine would not compact it, as long as nothing happened since it said so."""

    def want(self) -> None:
        """It may be another by now."""
        if self.why_not:
            self.why_not = ""
            self.told.emit(self.state)
        session_id, _ = self._shown()
        if session_id != self._session_id:
            self._session_id = session_id
            self._request = 0
            self._tell(None)
        self._asking.ask()

    def engine_ready(self) -> None:
        """An engine answers."""
        self._ready = True
        self.want()

    def lost(self) -> None:
        """The engine is gone, and its answers with it."""
        self._ready = False
        self._request = 0

    def _ask(self) -> None:
        self._is_stale = bool(self._request)
        if self._ready and not self._request:
            session_id, draft = self._shown()
            command = FetchContext(session_id, draft[:LONGEST_DRAFT], len(draft))
            self._request = self._outgoing.ask(command, self._take)

    def _take(self, event: Event) -> None:
        self._outgoing.forget(event.request)
        if event.request != self._request:
            return
        self._request = 0
        session_id, _ = self._shown()
        if isinstance(event, ContextState) and event.session_id == session_id:
            self._tell(event)
        if self._is_stale:
            self._asking.ask()

    def _tell(self, state: ContextState | None) -> None:
        self.state = state
        self.why_not = state.why_not if state is not None and not self._is_stale else ""
        self.told.emit(state)
