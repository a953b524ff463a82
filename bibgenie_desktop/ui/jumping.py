"""The way to one message of one chat, on whatever branch it lies (T-8)."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject

from ..protocol.commands import SwitchTo
from ..protocol.events import CommandFailed, Event
from .chat.view import MessageList
from .controller import Controller
from .find_bar import FindBar


@dataclass(slots=True)
class _Aim:
    session_id: str
    node_id: str
    words: str
    switched: bool = False
    arrived: bool = False


class Jump(QObject):
    """Opens the chat, lets its branch lead through the message, goes there, and finds the words once they are here.
    Whoever goes elsewhere meanwhile is not brought back."""

    def __init__(self, controller: Controller, messages: MessageList, find_bar: FindBar, parent: QObject) -> None:
        super().__init__(parent)
        self._controller = controller
        self._messages = messages
        self._find_bar = find_bar
        self._aim: _Aim | None = None
        messages.model().modelReset.connect(self._look)
        messages.drawn_anew.connect(self._look)
        controller.conversation_changed.connect(self._look)

    def to(self, session_id: str, node_id: str, words: str = "") -> None:
        """Go to a message. `words` are looked for in it."""
        self._aim = _Aim(session_id, node_id, words)
        self._controller.open_session(session_id)
        self._look()

    def _look(self) -> None:
        aim, conversation = self._aim, self._messages.model().conversation
        if aim is None or self._controller.conversation.session_id != aim.session_id:
            self._aim = None
            return
        if conversation is not self._controller.conversation or not conversation.loaded:
            return
        row = next((row for row, each in enumerate(conversation.messages) if each.node_id == aim.node_id), -1)
        if row >= 0:
            self._arrive(aim, row)
        elif aim.arrived:
            self._aim = None
        elif not aim.switched:
            aim.switched = True
            self._controller.outgoing.ask(SwitchTo(aim.session_id, aim.node_id), lambda event: self._told(aim, event))

    def _arrive(self, aim: _Aim, row: int) -> None:
        if not aim.arrived:
            aim.arrived = True
            self._messages.go_to_row(row)
            self._messages.setFocus()
        if not aim.words:
            self._aim = None
        elif self._messages.model().message(row).ready:
            self._aim = None
            found = self._messages.find_text(aim.words, afresh=True, row=row)
            self._find_bar.show_search(aim.words, found=found)

    def _told(self, aim: _Aim, event: Event) -> None:
        if isinstance(event, CommandFailed):
            self._controller.say(event.sentence)
            if self._aim is aim:
                self._aim = None
