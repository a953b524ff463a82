"""The drafts of a window on their way to the engine, which keeps them (U-3)."""

from __future__ import annotations

from typing import Protocol

from ..protocol.commands import SaveDraft
from ..protocol.events import CommandFailed, DraftAdded, Event
from .drafts import Drafts
from .notices import Notices
from .opening import ChatOpening
from .outgoing import Outgoing
from .timing import MakeTimer


class Window(Protocol):
    """What the drafts are written in."""

    @property
    def answers(self) -> bool:
        """Whether an engine answers."""

    def tell_draft(self, session_id: str, text: str) -> None:
        """A draft is another one: it stands in the composer, if its chat is shown."""


class DraftSaving:
    """Has drafts saved, says why one could not be, and takes what others add to them."""

    def __init__(
        self, outgoing: Outgoing, opening: ChatOpening, notices: Notices, window: Window, make_timer: MakeTimer
    ) -> None:
        self._outgoing = outgoing
        self._opening = opening
        self._notices = notices
        self._window = window
        self._closing = False
        self._adding: str | None = None
        """The chat to whose draft the event before this one added."""
        self.drafts = Drafts(self._save, make_timer)
        """What is to be saved."""

    def hear(self, event: Event) -> None:
        """Hear of every event: what others add to a draft comes in pieces, one right behind the other."""
        adding, self._adding = self._adding, None
        if isinstance(event, DraftAdded):
            self._adding = event.session_id
            goes_on = adding == event.session_id
            draft = self.drafts.added(event.session_id, event.text, goes_on=goes_on)
            self._window.tell_draft(event.session_id, draft)

    def close(self) -> None:
        """The window closes: save what is not saved, whoever answers."""
        self._closing = True
        self.drafts.flush()

    def _save(self, session_id: str, text: str) -> bool:
        # What others wrote into a draft that is being fetched is put above this one first.
        handed_on = self._closing or (self._window.answers and not self._opening.is_on_its_way(session_id))
        if handed_on:
            self._outgoing.ask(SaveDraft(text, session_id), lambda event: self._answered(session_id, text, event))
        return handed_on

    def _answered(self, session_id: str, text: str, event: Event) -> None:
        if isinstance(event, CommandFailed):
            self.drafts.refused(session_id, text)
            self._notices.draft = event.sentence
        else:
            self.drafts.saved(session_id, text)
            self._notices.draft = ""
        self._notices.tell()
