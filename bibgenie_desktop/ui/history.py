"""Search over the history: what was written in all chats, asked for after a pause in typing (T-8)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from PySide6.QtCore import QObject, Signal

from ..protocol.commands import SearchHistory
from ..protocol.events import CommandFailed, Event, HistoryFound
from ..protocol.values import HistoryHit
from .outgoing import Outgoing
from .timing import MakeTimer

PAUSE_MILLISECONDS = 250
"""Of quiet before the history is searched."""
FEWEST_CHARACTERS = 2
"""Of what is looked for; one is enough in scripts whose characters are words."""
_WORD_CHARACTERS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")

State: TypeAlias = Literal["idle", "searching", "found", "failed"]


@dataclass(frozen=True, slots=True)
class HistorySearched:
    """How far a search is. `sentence` says why it failed; while one is `searching`, `hits` are those before it."""

    state: State = "idle"
    text: str = ""
    hits: tuple[HistoryHit, ...] = ()
    is_cut: bool = False
    sentence: str = ""


class HistorySearch(QObject):
    """Asks the engine, for one text at a time; what comes for an older one is nobody's.

    Signals:
        changed(HistorySearched): how far it is.
    """

    changed = Signal(object)

    def __init__(self, outgoing: Outgoing, make_timer: MakeTimer, parent: QObject) -> None:
        super().__init__(parent)
        self._outgoing = outgoing
        self._pause = make_timer(self._ask)
        self._ready = False
        self._request = 0
        self._arriving: list[HistoryHit] = []
        self._now = HistorySearched()

    @property
    def now(self) -> HistorySearched:
        """How far it is."""
        return self._now

    def look_for(self, text: str) -> None:
        """Search for this, after a pause; too short a text ends the search."""
        text = " ".join(text.split())
        if text == self._now.text:
            return
        self._request = 0
        self._pause.stop()
        if not is_long_enough(text):
            self._tell(HistorySearched())
            return
        self._tell(HistorySearched("searching", text, self._now.hits, self._now.is_cut))
        self._pause.start(PAUSE_MILLISECONDS)

    def again(self) -> None:
        """What was found may be out of date, as a chat was deleted: search once more."""
        if self._now.state != "idle":
            self._request = 0
            self._pause.start(0)

    def engine_ready(self) -> None:
        """An engine answers: what was to be searched while none did is searched now."""
        self._ready = True
        if self._now.state in ("searching", "failed"):
            self._pause.start(0)

    def lost(self) -> None:
        """The engine is gone, and its answers with it."""
        self._ready = False
        self._request = 0
        if self._now.state == "searching":
            self._pause.stop()
            self._fail(self.tr("The engine ended: the messages are searched once it answers again."))

    def _ask(self) -> None:
        if self._ready:
            self._arriving = []
            self._request = self._outgoing.ask(SearchHistory(self._now.text), self._take)

    def _take(self, event: Event) -> None:
        ended = isinstance(event, CommandFailed) or not (isinstance(event, HistoryFound) and event.more)
        if ended:
            self._outgoing.forget(event.request)
        if event.request != self._request:
            return
        match event:
            case HistoryFound(hits=hits, is_cut=is_cut):
                self._arriving += hits
                if ended:
                    self._tell(HistorySearched("found", self._now.text, tuple(self._arriving), is_cut))
            case CommandFailed(sentence=sentence):
                self._fail(sentence)

    def _fail(self, sentence: str) -> None:
        self._tell(HistorySearched("failed", self._now.text, sentence=sentence))

    def _tell(self, now: HistorySearched) -> None:
        self._now = now
        self.changed.emit(now)


def is_long_enough(text: str) -> bool:
    """Whether there is enough to look for."""
    return len(text) >= FEWEST_CHARACTERS or bool(_WORD_CHARACTERS.search(text))
