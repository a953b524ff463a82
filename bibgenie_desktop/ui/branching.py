"""Retry, edit, continue, fork and the way to other versions: what is allowed on a message and why not, and the way to
the engine and back (T-3, T-4, T-6)."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from PySide6.QtCore import QObject

from ..protocol.commands import Command, ContinueAnswer, ContinueDamaged, EditMessage, Fork, Retry, SwitchTo
from ..protocol.events import CommandFailed, Event, SessionMade, TurnStarted
from ..sessions.nodes import STABLE, Beginning
from .chat.conversation import Conversation
from .chat.edits import Edits
from .chat.message import GOES_ON, Message
from .labels import plain_line
from .outgoing import Outgoing
from .times import Clock

Deed: TypeAlias = Literal["retry", "edit", "continue", "fork", "previous", "next"]
"""What can be done with a message."""

OTHER_BRANCH: frozenset[str] = frozenset({"retry", "continue", "edit", "switch", "give_up", "recover", "take_back"})
"""Operations after which a chat's active branch is another one."""


class Chats(Protocol):
    """Where chats are shown."""

    @property
    def answers(self) -> bool:
        """Whether an engine answers."""

    def say_in(self, conversation: Conversation, sentence: str) -> None:
        """Say a sentence above the composer of a chat."""

    def state_changed(self, conversation: Conversation) -> None:
        """A chat is at work, or no more."""

    def answer_began(self, conversation: Conversation) -> None:
        """An answer that was asked for anew begins."""

    def show_made(self, event: SessionMade, told: str = "") -> None:
        """Open a chat that was made; `told` is to be said in it quietly."""


class Branching(QObject):
    """What the person does with the branches of `chats`."""

    def __init__(self, outgoing: Outgoing, clock: Clock, chats: Chats, parent: QObject) -> None:
        super().__init__(parent)
        self._outgoing = outgoing
        self._clock = clock
        self._chats = chats
        self._edits: dict[str, Edits] = {}

    def edits_of(self, session_id: str) -> Edits:
        """What was written in the places of questions of a chat since the window was opened."""
        return self._edits.setdefault(session_id, Edits())

    def adopt(self, conversation: Conversation) -> None:
        """A new chat became a session."""
        self._edits.setdefault(conversation.session_id, conversation.edits)

    @property
    def being_written(self) -> list[tuple[str, str]]:
        """What is being written in the places of questions and is not on its way to the engine, which keeps that: each
        with its chat."""
        edits = ((session_id, each.of(each.node_id)) for session_id, each in self._edits.items())
        return [
            (session_id, edit.text)
            for session_id, edit in edits
            if edit is not None and not edit.sending and edit.text.strip() not in ("", edit.asked.strip())
        ]

    # What is allowed

    @staticmethod
    def suits(deed: Deed, message: Message) -> bool:
        """Whether something can be done with such a message at all, now or another time."""
        match deed:
            case "retry":
                return message.role == "assistant"
            case "continue":
                return "continue" in message.offers
            case "edit":
                return message.role == "user"
            case "fork":
                return message.role == "assistant"
            case "previous" | "next":
                return message.versions > 1

    def reason(self, deed: Deed, conversation: Conversation, message: Message | None) -> str:
        """Why something is not allowed on a message now, "" if it is."""
        if message is None:
            return self.tr("There is no message yet.")
        if deed != "fork" and conversation.damage:
            return self.tr("This chat is damaged and can only be read.")
        if own := self._own_reason(deed, conversation, message):
            return own
        if conversation.compacting:
            return self.tr("Not while earlier context is compacted.")
        if conversation.busy:
            return self.tr("An answer still streams in this chat: wait for it or stop it.")
        return "" if self._chats.answers else self.tr("The engine does not answer yet.")

    def _own_reason(self, deed: Deed, conversation: Conversation, message: Message) -> str:
        match deed:
            case "retry":
                return self._against_retrying(conversation, message)
            case "continue":
                if message is not conversation.last:
                    return self.tr("Only the last answer can be continued.")
                goes_on = message.role == "assistant" and message.stop_reason in GOES_ON
                return "" if goes_on else self.tr("This answer is complete: there is nothing to continue.")
            case "edit":
                if message.role != "user":
                    return self.tr("Only questions can be edited.")
                is_here = message.node_id and message.ready
                return "" if is_here else self.tr("This question is not stored yet.")
            case "fork":
                return self._against_forking(message)
            case "previous" | "next":
                if message.versions < 2:
                    return self.tr("There is no other version of this message.")
                if deed == "previous":
                    return "" if message.previous_id else self.tr("This is the first version.")
                return "" if message.next_id else self.tr("This is the last version.")

    def _against_retrying(self, conversation: Conversation, message: Message) -> str:
        last = conversation.last
        if last is None:
            return self.tr("Nothing is stored yet.")
        is_unstored = not message.node_id and message.role == "assistant"
        is_last = message is last or (is_unstored and message is conversation.messages[-1])
        question = conversation.question_of(last)
        if is_last or message is question or (message.role == "checkpoint" and message is conversation.messages[-1]):
            return ""
        if message.role == "user":
            return self.tr("Only the last answer can be retried; edit this question instead.")
        return self.tr("Only the last answer can be retried; fork here instead.")

    def _against_forking(self, message: Message) -> str:
        if message.role != "assistant":
            return self.tr("A fork begins at an answer.")
        if message.status == "streaming":
            return self.tr("This answer still streams: a fork begins at a complete one.")
        if not message.node_id or message.stop_reason not in STABLE:
            return self.tr("This answer is not complete: a fork begins at a complete one.")
        return ""

    # What the person does

    def retry(self, conversation: Conversation) -> None:
        """Answer the last question anew."""
        if (last := conversation.last) is not None:
            question = conversation.question_of(last)
            command = Retry(conversation.session_id, last.node_id)
            self._await(conversation, "retry", (question or last).node_id, command)

    def continue_answer(self, conversation: Conversation) -> None:
        """Go on with the last answer."""
        if (last := conversation.last) is not None:
            command = ContinueAnswer(conversation.session_id, last.node_id)
            self._await(conversation, "continue", last.node_id, command)

    def send_edit(self, conversation: Conversation) -> None:
        """Ask the question that is written in the place of another."""
        node_id = conversation.edits.node_id
        edit = conversation.edits.of(node_id)
        if edit is None or edit.sending or edit.hindrance:
            return
        if not self._chats.answers:
            conversation.tell_edit(self.tr("The engine does not answer yet: send it once it does."))
            return
        edit.sending, edit.sentence = True, ""
        self._await(conversation, "edit", node_id, EditMessage(conversation.session_id, node_id, edit.text))

    def fork(self, conversation: Conversation, message: Message) -> None:
        """Begin a new chat at an answer."""
        title = plain_line(conversation.title) or self.tr("Untitled chat")
        told = self.tr("This is a fork of “{title}”: that chat stays as it is.").format(title=title)
        self._make(conversation, Fork(conversation.session_id, message.node_id), told)

    def continue_damaged(self, conversation: Conversation) -> None:
        """Begin a new chat at what is sound of a damaged one."""
        title = plain_line(conversation.title) or self.tr("Untitled chat")
        told = self.tr("This goes on where “{title}” can still be read; that chat stays as it is.").format(title=title)
        self._make(conversation, ContinueDamaged(conversation.session_id), told)

    def switch(self, conversation: Conversation, node_id: str) -> None:
        """Show another version of a message, and what followed it."""

        def answered(event: Event) -> None:
            # The branch itself is read again as soon as it is told that it changed.
            if isinstance(event, CommandFailed):
                self._chats.say_in(conversation, event.sentence)

        if conversation.compacting:
            self._chats.say_in(conversation, self.tr("Not while earlier context is compacted."))
        elif node_id and not conversation.busy:
            self._outgoing.ask(SwitchTo(conversation.session_id, node_id), answered)

    # The way to the engine and back

    def _await(self, conversation: Conversation, beginning: Beginning, node_id: str, command: Command) -> None:
        number = 0

        def answered(event: Event) -> None:
            self._outgoing.forget(number)
            if isinstance(event, TurnStarted):
                conversation.began(event)
                self._chats.answer_began(conversation)
            elif isinstance(event, CommandFailed) and not conversation.refused(event.sentence):
                self._chats.say_in(conversation, event.sentence)
            self._chats.state_changed(conversation)

        conversation.notice = ""
        conversation.await_answer(beginning, node_id, self._clock().isoformat())
        self._chats.state_changed(conversation)
        number = self._outgoing.ask(command, answered)

    def _make(self, conversation: Conversation, command: Command, told: str) -> None:
        number = 0

        def answered(event: Event) -> None:
            self._outgoing.forget(number)
            if isinstance(event, SessionMade):
                self._chats.show_made(event, told)
            elif isinstance(event, CommandFailed):
                self._chats.say_in(conversation, event.sentence)

        number = self._outgoing.ask(command, answered)
