"""From a question to the end of its answer: what is asked, what begins, what comes back into the draft (U-2, U-3)."""

from __future__ import annotations

from typing import Protocol, TypeAlias

from PySide6.QtCore import QObject

from ..protocol.events import (
    AnswerCitation,
    AnswerReasoning,
    AnswerText,
    CommandFailed,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from .asking import Asking
from .branching import Branching
from .chat.conversation import Conversation
from .chat.remedies import OVERFLOW, Remedies
from .drafts import Drafts
from .notices import Notices
from .open_chats import OpenChats
from .outgoing import Outgoing
from .queue import Queue
from .stored_chats import StoredChats
from .times import Clock
from .titles import Titles

TurnEvent: TypeAlias = (
    TurnStarted | AnswerText | AnswerReasoning | AnswerCitation | ToolStarted | ToolFinished | TurnFinished | TurnFailed
)
"""What the engine tells of a turn."""


class Window(Protocol):
    """What shows chats."""

    @property
    def answers(self) -> bool:
        """Whether an engine answers."""

    def tell_conversation(self, conversation: Conversation) -> None:
        """A chat is another one: it is shown anew, if it is shown."""

    def tell_draft(self, session_id: str, text: str) -> None:
        """A draft is another one: it stands in the composer, if its chat is shown."""

    def tell_queue(self, conversation: Conversation) -> None:
        """What waits is another, and the draft: both are shown, if their chat is."""

    def tell_busy(self) -> None:
        """The chat that is shown may be at work, or no more."""


class Turns(QObject):
    """Asks questions in `chats` and takes what the engine tells of the answers."""

    def __init__(
        self,
        outgoing: Outgoing,
        clock: Clock,
        chats: OpenChats,
        stored: StoredChats,
        drafts: Drafts,
        titles: Titles,
        branching: Branching,
        notices: Notices,
        window: Window,
    ) -> None:
        super().__init__()
        self._clock = clock
        self._chats = chats
        self._stored = stored
        self._drafts = drafts
        self._titles = titles
        self._branching = branching
        self._notices = notices
        self._window = window
        self._asking = Asking(outgoing, lambda session_id: not stored.is_on_its_way(session_id))
        self.queue = Queue(drafts, self._ask_queued, window.tell_queue)
        """Questions that wait for the end of an answer."""

    @property
    def waits(self) -> bool:
        """Whether there are questions that no engine was asked."""
        return self._asking.waits

    def ask(self, conversation: Conversation, text: str, *, is_draft: bool) -> None:
        """Ask a question in a chat; `is_draft`: it stood in the chat's draft."""
        conversation.notice = conversation.told = ""
        conversation.ask(text, self._clock().isoformat())
        self._asking.ask(conversation, text, is_draft=is_draft, ready=self._window.answers)
        if is_draft:
            self._drafts.flush()
        self._notices.tell()
        self._window.tell_busy()

    def _ask_queued(self, conversation: Conversation, text: str) -> None:
        self.ask(conversation, text, is_draft=False)

    def take_back(self, conversation: Conversation | None = None) -> bool:
        """Ask no more what no engine was asked yet, in one chat or in all; tells whether there was such a question."""
        waiting = self._asking.take_back(conversation)
        for each in waiting:
            self._return(each, "")
        return bool(waiting)

    # What the engine tells

    def resume(self) -> None:
        """An engine answers."""
        self._asking.resume()

    def take(self, event: TurnEvent) -> None:
        """Take an event: a question was taken, or something came of its answer."""
        if isinstance(event, TurnStarted):
            self._started(event)
        elif (conversation := self._chats.get(event.session_id)) is not None:
            conversation.take(event)
            if isinstance(event, TurnFinished | TurnFailed):
                self._ended(conversation, event)

    def _started(self, event: TurnStarted) -> None:
        asked = self._asking.ended(event.request)
        if asked is None:
            return
        conversation = asked.conversation
        is_new = not conversation.session_id
        if not is_new and asked.is_draft:
            self._drafts.taken(event.session_id)
        title = self._titles.of(event.session_id, event.title)
        conversation.started(event.session_id, title, event.node_id, event.model)
        if is_new:
            self.queue.began(conversation)
            self._drafts.began(event.session_id, moves=conversation is self._chats.shown)
        conversation = self._where_it_goes_on(conversation, event)
        self._chats.hold(conversation)
        self._branching.adopt(conversation)
        if conversation is self._chats.shown:
            self._window.tell_conversation(conversation)
        self._window.tell_busy()

    def _where_it_goes_on(self, asked: Conversation, event: TurnStarted) -> Conversation:
        """The chat in which an answer is shown: not the one that asked, where the stored one was opened before this
        was told, from the list say."""
        opened = self._chats.get(event.session_id)
        if opened is None or opened is asked:
            return asked
        opened.began(event)
        self.queue.move(asked, opened)
        return opened

    def began_anew(self, conversation: Conversation) -> None:
        """An answer that was asked for anew begins."""
        conversation.title = self._titles.of(conversation.session_id, conversation.title)
        self._chats.hold(conversation)
        self._window.tell_conversation(conversation)

    def refused(self, event: CommandFailed) -> bool:
        """The engine refused a command; tells whether it was a question."""
        asked = self._asking.ended(event.request)
        if asked is not None:
            if event.code == OVERFLOW:
                asked.conversation.remedies = Remedies(event.sentence, ("send_again",))
            self._return(asked.conversation, event.sentence)
        return asked is not None

    def lost(self) -> None:
        """The engine is gone: no answer goes on, and no question was taken that it did not tell of."""
        lost = self.tr(
            "The engine ended in the middle of this answer. Your question is stored; what was kept of the answer is "
            "shown once the engine answers again."
        )
        unsent = self.tr("The engine ended before it took this question: send it again.")
        for conversation in self._chats.each:
            conversation.refused(unsent)
            conversation.finish("interrupted", lost)
            self.queue.put_back(conversation)
        for conversation in self._asking.lost():
            self._return(conversation, "")

    def _ended(self, conversation: Conversation, event: TurnFinished | TurnFailed) -> None:
        self._stored.came_to_rest(conversation)
        self.queue.answer_ended(conversation, event)
        self._chats.let_go_idle(conversation)
        self._notices.tell()
        self._window.tell_busy()

    def _return(self, conversation: Conversation, sentence: str) -> None:
        """A question was not taken: it stands in the composer again, above what was written meanwhile."""
        session_id = conversation.session_id
        self.queue.put_back(conversation)
        self._window.tell_draft(session_id, self._drafts.put_above(session_id, conversation.take_back()))
        # A chat that never became one is not come back to: the person is told where they are.
        self._notices.say(conversation if session_id else self._chats.shown, sentence)
        self._stored.came_to_rest(conversation)
        self._window.tell_busy()
