"""Compaction as the window knows it: what runs in which chat, what waits for it, and what came of it (U-2, C-3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from PySide6.QtCore import QObject

from ..protocol.commands import CancelCompaction, Compact
from ..protocol.events import (
    CommandFailed,
    CompactionEnded,
    CompactionPhase,
    CompactionProgress,
    CompactionStarted,
    Event,
    TurnFailed,
)
from ..sessions.checkpoints import Outcome
from .chat.conversation import Conversation
from .chat.remedies import OVERFLOW, Remedies, Remedy
from .drafts import Drafts
from .notices import Notices
from .open_chats import OpenChats
from .outgoing import Outgoing
from .queue import Queue
from .timing import MakeTimer

CompactionEvent: TypeAlias = CompactionStarted | CompactionProgress | CompactionEnded
"""What the engine tells of a compaction."""

TOLD_MILLISECONDS = 8_000
"""So long it is told that all went well."""
WELL: frozenset[Outcome] = frozenset({"applied", "noop"})
"""Outcomes after which what waits is sent."""
_COMMAND = re.compile(r"/compact(?:\s+(?P<focus>.*))?", re.DOTALL)


def focus_of(text: str) -> str | None:
    """What `/compact [focus]` names as most important, "" for nothing; None where the text is no such command."""
    found = _COMMAND.fullmatch(text.strip())
    return None if found is None else (found["focus"] or "").strip()


@dataclass(slots=True)
class Running:
    """A compaction of one chat. `request` is the command that asked for it here, 0 for none; `is_told`: the engine said
    that it runs."""

    phase: CompactionPhase = "preparing"
    piece: int = 1
    pieces: int = 1
    is_cancelling: bool = False
    request: int = 0
    is_told: bool = False


class Compactions:
    """What runs in which chat, told by events. Each operation ends once; without Qt."""

    def __init__(self) -> None:
        self._running: dict[str, Running] = {}

    def of(self, session_id: str) -> Running | None:
        """What runs in a chat."""
        return self._running.get(session_id)

    def asked(self, session_id: str, request: int) -> None:
        """The engine was asked for one by this command."""
        self._running[session_id] = Running(request=request)

    def take(self, event: CompactionStarted | CompactionProgress) -> None:
        """One runs, which may have been told before, or it has come further."""
        running = self._running.setdefault(event.session_id, Running())
        running.is_told = True
        if isinstance(event, CompactionProgress):
            running.phase, running.piece, running.pieces = event.phase, event.piece, event.pieces

    def ended(self, session_id: str) -> Running | None:
        """It has ended; None where that is known already."""
        return self._running.pop(session_id, None)

    def lost(self) -> list[str]:
        """Whoever compacted is gone; returns the chats in which something ran."""
        chats = list(self._running)
        self._running.clear()
        return chats


class Window(Protocol):
    """What shows chats."""

    @property
    def answers(self) -> bool:
        """Whether an engine answers."""

    def say_in(self, conversation: Conversation, sentence: str) -> None:
        """Say a sentence above the composer of a chat."""

    def tell_draft(self, session_id: str, text: str) -> None:
        """A draft is another one: it stands in the composer, if its chat is shown."""

    def tell_compaction(self, conversation: Conversation) -> None:
        """A compaction of a chat began, went on or ended: it is shown, if the chat is."""

    def state_changed(self, conversation: Conversation) -> None:
        """A chat is at work, or no more."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """What was asked for last in a chat, to be asked for again."""

    focus: str = ""
    rebuild: bool = False
    without_model: bool = False


class Compacting(QObject):
    """Asks for compactions, takes what the engine tells of them, and lets one question of each chat wait for the end.

    A question that waits stands in the queue of its chat, which keeps it as it keeps those that wait for an answer.
    """

    def __init__(
        self,
        outgoing: Outgoing,
        chats: OpenChats,
        drafts: Drafts,
        queue: Queue,
        notices: Notices,
        window: Window,
        make_timer: MakeTimer,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._outgoing = outgoing
        self._chats = chats
        self._drafts = drafts
        self._queue = queue
        self._notices = notices
        self._window = window
        self._compactions = Compactions()
        self._wishes: dict[str, _Wish] = {}
        self._untold: dict[str, CompactionEnded] = {}
        """What came to nothing in chats that were not shown then."""
        self._told = ""
        self._forgetting = make_timer(self._forget_told)

    def of(self, session_id: str) -> Running | None:
        """What runs in a chat."""
        return self._compactions.of(session_id) if session_id else None

    # What the person does

    def reason(self, conversation: Conversation) -> str:
        """Why a chat cannot be compacted now, "" where it can."""
        if conversation.compacting:
            return self.tr("Earlier context is being compacted already.")
        if conversation.damage:
            return self.tr("This chat is damaged and can only be read.")
        if conversation.busy:
            return self.tr("An answer still streams in this chat: wait for it or stop it.")
        if not conversation.session_id:
            return self.tr("There is nothing to compact yet.")
        return "" if self._window.answers else self.tr("The engine does not answer yet.")

    def compact(
        self,
        conversation: Conversation,
        *,
        focus: str = "",
        rebuild: bool = False,
        without_model: bool = False,
        accept_run_id: str = "",
    ) -> bool:
        """Compact a chat; tells whether that was asked for, and says why not where it was not."""
        if reason := self.reason(conversation):
            self._window.say_in(conversation, reason)
            return False
        session_id = conversation.session_id
        self._wishes[session_id] = _Wish(focus, rebuild, without_model)
        conversation.notice = conversation.told = ""
        conversation.remedies = None
        self._notices.tell()
        command = Compact(session_id, focus, rebuild, without_model, accept_run_id)
        # First: an answer may come at once.
        self._compactions.asked(session_id, 0)
        request = self._outgoing.ask(command, lambda event: self._answered(session_id, event))
        if (running := self._compactions.of(session_id)) is not None:
            running.request = request
            self._show(conversation)
        return True

    def cancel(self, conversation: Conversation) -> bool:
        """Cancel what runs in a chat, and wait for nothing; tells whether something ran that was not cancelled yet."""
        running = self.of(conversation.session_id)
        if running is None or running.is_cancelling:
            return False
        running.is_cancelling = True
        self._outgoing.ask(CancelCompaction(conversation.session_id), lambda _: None)
        self._window.tell_compaction(conversation)
        return True

    def freeze(self, conversation: Conversation, text: str) -> None:
        """Let a question wait, as it is, for the end of what runs in its chat; one at most."""
        if conversation.queue:
            sentence = self.tr("One question waits already: take it back to change it.")
            self._window.say_in(conversation, sentence)
        else:
            self._queue.add(conversation, text)
            self._window.tell_compaction(conversation)

    def do(self, conversation: Conversation, remedy: Remedy) -> None:
        """Do what is on offer, but for reading, which is nothing to do here."""
        session_id = conversation.session_id
        wish = self._wishes.get(session_id, _Wish())
        match remedy:
            case "try_again":
                self.compact(conversation, focus=wish.focus, rebuild=wish.rebuild, without_model=wish.without_model)
            case "without_model":
                self.compact(conversation, without_model=True)
            case "compact":
                self.compact(conversation)
            case "send_again":
                draft = self._drafts.text(session_id)
                if self.compact(conversation) and draft.strip():
                    self.freeze(conversation, draft)
            case "read_refused":
                pass

    # What the engine tells

    def take(self, event: CompactionEvent) -> None:
        """Take an event of a compaction."""
        conversation = self._held(event.session_id)
        if isinstance(event, CompactionEnded):
            self._ended(event, conversation)
            return
        self._compactions.take(event)
        if conversation is not None:
            self._show(conversation)

    def turn_failed(self, event: TurnFailed) -> None:
        """No answer came. Where the request was too large, the way on is offered (D-1, C-15)."""
        conversation = self._held(event.session_id)
        if conversation is None or event.code != OVERFLOW:
            return
        if question := conversation.refused_question:
            # The engine puts it into the draft; but as it was written here, it is not heard of as something new.
            self._window.tell_draft(event.session_id, self._drafts.put_above(event.session_id, question))
        conversation.remedies = Remedies(event.sentence, ("send_again" if question else "compact",))
        self._window.say_in(conversation, event.sentence)

    def shown(self, conversation: Conversation) -> None:
        """A chat is shown: what came to nothing in it meanwhile is told now."""
        if (event := self._untold.pop(conversation.session_id, None)) is not None:
            self._tell(conversation, event)

    def lost(self) -> None:
        """The engine is gone: nothing runs any more, and nothing that waited is sent."""
        for session_id in self._compactions.lost():
            conversation = self._held(session_id)
            if conversation is None:
                continue
            sentence = self.tr(
                "The engine ended while earlier context was compacted; the chat is shown as it is stored."
            )
            if conversation.frozen:
                sentence += " " + self.tr("Your question was not sent.")
            conversation.compact(False)
            self._queue.put_back(conversation)
            self._window.tell_compaction(conversation)
            self._window.say_in(conversation, sentence)
            self._chats.let_go_idle(conversation)

    def _held(self, session_id: str) -> Conversation | None:
        return next((each for each in self._chats.each if session_id and each.session_id == session_id), None)

    def _show(self, conversation: Conversation) -> None:
        conversation.compact(True)
        self._window.tell_compaction(conversation)

    def _answered(self, session_id: str, event: Event) -> None:
        """The command was refused: nothing began, unless another one did just before."""
        running = self._compactions.of(session_id)
        if not isinstance(event, CommandFailed) or running is None or running.is_told:
            return
        self._compactions.ended(session_id)
        conversation = self._held(session_id)
        if conversation is not None:
            conversation.remedies = Remedies(event.sentence, ("try_again",))
            self._settle(conversation, sends=False)
            self._window.say_in(conversation, event.sentence)

    def _ended(self, event: CompactionEnded, conversation: Conversation | None) -> None:
        running = self._compactions.ended(event.session_id)
        if running is None:
            return
        self._outgoing.forget(running.request)
        if conversation is not None:
            self._settle(conversation, sends=event.outcome in WELL)
        if conversation is self._chats.shown:
            self._tell(conversation, event)
        elif event.outcome not in WELL:
            self._untold[event.session_id] = event

    def _settle(self, conversation: Conversation, *, sends: bool) -> None:
        """Nothing runs in a chat any more: what waits is sent, or stands in the draft again."""
        conversation.compact(False)
        self._queue.compaction_ended(conversation, sends=sends)
        self._window.tell_compaction(conversation)
        self._window.state_changed(conversation)

    def _tell(self, conversation: Conversation, event: CompactionEnded) -> None:
        if event.outcome == "cancelled":
            # Nothing went wrong: it is what the person wanted.
            conversation.told = event.sentence
            self._notices.tell()
            return
        if event.outcome in WELL:
            conversation.told = self._told = event.sentence
            self._forgetting.start(TOLD_MILLISECONDS)
            self._notices.tell()
            return
        kinds: list[Remedy] = ["try_again"] if event.outcome != "skipped" else []
        if event.may_do_without_model:
            kinds.append("without_model")
        if event.run_id:
            kinds.append("read_refused")
        conversation.remedies = Remedies(event.sentence, tuple(kinds), event.run_id)
        self._window.say_in(conversation, event.sentence)

    def _forget_told(self) -> None:
        for conversation in self._chats.each:
            if conversation.told == self._told:
                conversation.told = ""
        self._notices.tell()
