"""Which chats are kept, and where in the list: deleting with a question and a way back, pinning, archiving (T-7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from PySide6.QtCore import QObject, Signal

from ..protocol.commands import UNDO_SECONDS, ArchiveSession, Command, DeleteSession, PinSession, UndoDelete
from ..protocol.events import CommandFailed, Event
from .listing import SessionListing
from .outgoing import Outgoing
from .timing import MakeTimer, Timer


class Chats(Protocol):
    """The chats that the window holds."""

    def is_compacting(self, session_id: str) -> bool:
        """Whether earlier context of a chat is compacted."""

    def is_busy(self, session_id: str) -> bool:
        """Whether an answer streams in a chat, or is to come."""

    def leave(self, session_id: str) -> bool:
        """Let go of a chat that is being deleted, its draft saved; tells whether it was the one that is shown."""

    def open_session(self, session_id: str) -> None:
        """Show a stored chat."""

    def say(self, sentence: str) -> None:
        """Say a sentence above the composer."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What the person can answer now: `ask`, whether a chat is to be deleted; `undo`, whether it is to come back."""

    kind: Literal["ask", "undo"]
    session_id: str
    title: str


@dataclass(slots=True, eq=False)
class _Deleted:
    title: str
    was_shown: bool
    timer: Timer | None = None


class Keeping(QObject):
    """Asks the engine, and knows what can be undone. Nothing is kept for later while no engine answers: the person is
    told so.

    Signals:
        offered(Offer): what can be answered now, None for nothing.
        deleted(session_id): a chat is gone.
    """

    offered = Signal(object)
    deleted = Signal(str)

    def __init__(
        self, outgoing: Outgoing, listing: SessionListing, chats: Chats, make_timer: MakeTimer, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._outgoing = outgoing
        self._listing = listing
        self._chats = chats
        self._make_timer = make_timer
        self._ready = False
        self._asked = ""
        self._deleting: dict[str, _Deleted] = {}
        self._undoable: dict[str, _Deleted] = {}
        self._gone: set[str] = set()
        """Deleted without a way back, or on the way back: not to be listed."""

    @property
    def offer(self) -> Offer | None:
        """What can be answered now. A question goes before what can be undone, of which the last goes first."""
        if self._asked:
            return Offer("ask", self._asked, self._listing.title_of(self._asked))
        if self._undoable:
            session_id, deleted = list(self._undoable.items())[-1]
            return Offer("undo", session_id, deleted.title)
        return None

    # What the person does

    def ask_to_delete(self, session_id: str) -> None:
        """Ask whether a chat is to be deleted, where it can be."""
        if self._chats.is_busy(session_id):
            self._chats.say(self.tr("An answer still streams in this chat: stop it before you delete the chat."))
        elif self._chats.is_compacting(session_id):
            self._chats.say(
                self.tr("Earlier context is compacted in this chat: cancel that before you delete the chat.")
            )
        elif self._listing.row(session_id) is not None:
            self._asked = session_id
            self._tell()

    def keep(self) -> None:
        """The chat that was asked about is not to be deleted."""
        self._asked = ""
        self._tell()

    def delete(self) -> None:
        """Delete the chat that was asked about."""
        session_id, self._asked = self._asked, ""
        if session_id and self._can_ask():
            title = self._listing.title_of(session_id)
            self._deleting[session_id] = _Deleted(title, self._chats.leave(session_id))
            self._leave_out()
            self._outgoing.ask(DeleteSession(session_id), lambda event: self._delete_answered(session_id, event))
        self._tell()

    def undo(self) -> None:
        """Bring the chat back that was deleted last."""
        if self._undoable and self._can_ask():
            session_id, deleted = self._undoable.popitem()
            self._stop(deleted)
            self._gone.add(session_id)
            self._tell()
            self._outgoing.ask(
                UndoDelete(session_id), lambda event: self._undo_answered(session_id, deleted.was_shown, event)
            )

    def pin(self, session_id: str, pinned: bool) -> None:
        """Keep a chat at the top of the list, or no more."""
        self._change(PinSession(session_id, pinned))

    def archive(self, session_id: str, archived: bool) -> None:
        """Put a chat away, or back."""
        self._change(ArchiveSession(session_id, archived))

    # What happens to the engine and in other windows

    def engine_ready(self) -> None:
        """An engine answers."""
        self._ready = True

    def lost(self) -> None:
        """The engine is gone: whether a chat is deleted, the next one tells, and it brings none back."""
        self._ready = False
        for deleted in self._undoable.values():
            self._stop(deleted)
        for ended in (self._deleting, self._undoable, self._gone):
            ended.clear()
        self._leave_out()
        self._tell()

    def vanished(self, session_ids: frozenset[str]) -> None:
        """Others deleted these chats."""
        if self._asked in session_ids:
            self.keep()

    # What the engine answers

    def _delete_answered(self, session_id: str, event: Event) -> None:
        deleted = self._deleting.pop(session_id)
        if isinstance(event, CommandFailed):
            self._leave_out()
            if deleted.was_shown:
                self._chats.open_session(session_id)
            self._chats.say(event.sentence)
        else:
            deleted.timer = self._make_timer(lambda: self._forget(session_id))
            deleted.timer.start(UNDO_SECONDS * 1000)
            self._undoable[session_id] = deleted
            self.deleted.emit(session_id)
        self._listing.ask()
        self._tell()

    def _undo_answered(self, session_id: str, was_shown: bool, event: Event) -> None:
        if isinstance(event, CommandFailed):
            self._chats.say(event.sentence)
        else:
            if was_shown:
                self._chats.open_session(session_id)
            self._gone.discard(session_id)
            self._leave_out()
        self._listing.ask()

    def _change(self, command: Command) -> None:
        if self._can_ask():
            self._outgoing.ask(command, self._changed)

    def _changed(self, event: Event) -> None:
        if isinstance(event, CommandFailed):
            self._chats.say(event.sentence)
        self._listing.ask()

    def _can_ask(self) -> bool:
        if not self._ready:
            self._chats.say(self.tr("The engine does not answer at the moment: nothing was changed. Try again later."))
        return self._ready

    def _forget(self, session_id: str) -> None:
        """It is too late to bring this chat back."""
        deleted = self._undoable.pop(session_id, None)
        if deleted is not None:
            self._gone.add(session_id)
            self._tell()

    def _stop(self, deleted: _Deleted) -> None:
        if deleted.timer is not None:
            deleted.timer.stop()

    def _leave_out(self) -> None:
        self._listing.leave_out(frozenset({*self._deleting, *self._undoable, *self._gone}))

    def _tell(self) -> None:
        self.offered.emit(self.offer)
