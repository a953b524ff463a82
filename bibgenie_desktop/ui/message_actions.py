"""What the actions on the current message do, and which of them are allowed on it: the others say why not."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from .actions import Actions
from .branching import Branching, Deed
from .chat.conversation import Conversation
from .chat.message import Message
from .chat.view import MessageList
from .controller import Controller


class MessageActions(QObject):
    """Lets the actions of a window work on the messages that it shows."""

    def __init__(self, actions: Actions, messages: MessageList, controller: Controller, parent: QObject) -> None:
        super().__init__(parent)
        self._messages = messages
        self._controller = controller
        self._branching = controller.branching
        self._actions: dict[Deed, QAction] = {
            "retry": actions.retry,
            "edit": actions.edit,
            "fork": actions.fork,
            "continue": actions.go_on,
            "previous": actions.previous_version,
            "next": actions.next_version,
        }
        self._copy = actions.copy
        self._tips = {deed: action.toolTip() for deed, action in self._actions.items()}
        under = [actions.copy, actions.retry, actions.edit, actions.fork, actions.go_on]
        messages.set_actions(under, self._suits)
        for deed, action in self._actions.items():
            action.triggered.connect(partial(self._do, deed))
        messages.version_wanted.connect(self._switch)
        messages.edit_wanted.connect(self._end_edit)
        messages.current_changed.connect(self.show_state)
        model = messages.model()
        for signal in (model.rowsInserted, model.rowsRemoved, model.modelReset, model.dataChanged):
            signal.connect(self.show_state)
        controller.busy_changed.connect(self.show_state)
        controller.compaction_changed.connect(self.show_state)
        controller.conversation_changed.connect(self.show_state)
        controller.notice_changed.connect(self.show_state)
        self.show_state()

    def show_state(self) -> None:
        """Enable what is allowed now, and let the rest say why it is not."""
        conversation = self._conversation
        self._copy.setEnabled(self._current is not None)
        for deed, action in self._actions.items():
            reason = self._branching.reason(deed, conversation, self._target(deed))
            action.setEnabled(not reason)
            action.setToolTip(reason or self._tips[deed])
        self._messages.show_actions()

    @property
    def _conversation(self) -> Conversation:
        # The one on the page: that of the controller is told of afterwards.
        return self._messages.model().conversation

    @property
    def _current(self) -> Message | None:
        row = self._messages.current_row
        return self._messages.model().message(row) if row >= 0 else None

    def _target(self, deed: Deed) -> Message | None:
        """The message that something would be done with."""
        messages = self._conversation.messages
        chosen = self._messages.chosen
        match deed:
            case "edit" if chosen is None or chosen.role != "user":
                return next((each for each in reversed(messages) if each.role == "user" and each.node_id), None)
            case "previous" | "next" if chosen is None:
                return self._conversation.last_of_several or self._current
            case "continue" if chosen is None:
                return self._conversation.last
            case _:
                return self._current

    def _suits(self, name: str, message: Message) -> bool:
        """Whether the action of a name stands under such a message."""
        deed = next((deed for deed, action in self._actions.items() if action.objectName() == name), None)
        return deed is None or Branching.suits(deed, message)

    def _do(self, deed: Deed) -> None:
        target, conversation = self._target(deed), self._conversation
        if target is None or self._branching.reason(deed, conversation, target):
            return
        match deed:
            case "retry":
                self._branching.retry(conversation)
            case "continue":
                self._branching.continue_answer(conversation)
            case "fork":
                self._branching.fork(conversation, target)
            case "previous":
                self._switch(target.previous_id)
            case "next":
                self._switch(target.next_id)
            case "edit":
                row = conversation.row_of(target.node_id)
                if target.edit is None:
                    conversation.edit(row)
                self._messages.write_in(row)

    def _switch(self, node_id: str) -> None:
        self._branching.switch(self._conversation, node_id)

    def _end_edit(self, send: bool) -> None:
        if send:
            self._branching.send_edit(self._conversation)
        else:
            # First: a box that goes hands the focus to whatever comes next.
            self._messages.setFocus()
            self._conversation.leave_edit()
