"""All that has to do with compaction, connected: the action, the banner, the meter, the ways on, the inspector."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from .actions import Actions
from .chat.body import RenderBody
from .chat.conversation import Conversation
from .chat.remedies import Remedy
from .chat.view import MessageList
from .checkpoint_inspector import CheckpointInspector
from .checkpoints import ReadCheckpoint, read_checkpoint, read_refused
from .compacting import Running
from .composer_panel import ComposerPanel
from .context_popover import ContextPopover
from .controller import Controller
from .refused_summary import RefusedSummaryDialog
from .theme import Colours, Theme
from .times import Clock


class CompactionActions(QObject):
    """Connects the widgets of a window to what compacts. One inspector is open at a time."""

    def __init__(
        self,
        window: QWidget,
        controller: Controller,
        actions: Actions,
        panel: ComposerPanel,
        messages: MessageList,
        answers: RenderBody,
        theme: Theme,
        clock: Clock,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._controller = controller
        self._actions = actions
        self._panel = panel
        self._messages = messages
        self._answers = answers
        self._theme = theme
        self._clock = clock
        self._compact_tip = self.tr("Sum up earlier messages, so that there is room for more")
        self._inspector: CheckpointInspector | None = None
        self._inspected = ""
        self._refused: RefusedSummaryDialog | None = None
        self.popover = ContextPopover(panel.meter)
        """What the context is full of."""
        actions.compact.triggered.connect(lambda _=False: self._compact())
        actions.checkpoint.triggered.connect(lambda _=False: self._inspect_newest())
        actions.context.triggered.connect(lambda _=False: self._open_popover())
        panel.meter.opened.connect(self._open_popover)
        panel.banner.cancelled.connect(self._cancel)
        panel.banner.left.connect(panel.composer.setFocus)
        panel.notice.remedy_wanted.connect(self._do)
        self.popover.compact_wanted.connect(self._compact)
        messages.checkpoint_wanted.connect(self.inspect)
        controller.compaction_changed.connect(self._show_running)
        controller.remedies_changed.connect(panel.notice.offer)
        controller.context.told.connect(lambda _: self._show_context())
        controller.conversation_changed.connect(self._show_conversation)
        controller.welcomed.connect(self._read_again)
        for signal in (controller.busy_changed, controller.queue_changed, controller.notice_changed):
            signal.connect(self.show_state)
        self._show_context()

    def set_colours(self, colours: Colours) -> None:
        """Take on the theme's colours."""
        self.popover.set_colours(colours)

    def show_state(self) -> None:
        """Offer what can be done now, and let the rest say why not."""
        conversation = self._conversation
        hindrance = self.tr("Not while earlier context is compacted.") if conversation.compacting else ""
        why_not = self._why_not
        self._actions.compact.setEnabled(not why_not)
        self._actions.compact.setToolTip(why_not or self._compact_tip)
        self._actions.checkpoint.setEnabled(conversation.checkpoint is not None)
        self._actions.stop.setEnabled(conversation.busy or conversation.compacting)
        self._panel.model_picker.hinder(hindrance)
        self._panel.queue.set_frozen(conversation.frozen)
        self._messages.hinder(hindrance)
        if self._inspector is not None:
            self._inspector.hinder(why_not)

    @property
    def _conversation(self) -> Conversation:
        return self._controller.conversation

    @property
    def _why_not(self) -> str:
        controller = self._controller
        return controller.compacting.reason(self._conversation) or controller.context.why_not

    # What the person does

    def _compact(self, *, rebuild: bool = False, accept_run_id: str = "") -> None:
        self._controller.compacting.compact(self._conversation, rebuild=rebuild, accept_run_id=accept_run_id)

    def _cancel(self) -> None:
        self._controller.compacting.cancel(self._conversation)

    def _open_popover(self) -> None:
        self._show_context()
        self.popover.open_at(self._panel.meter.corner)

    def _do(self, remedy: Remedy) -> None:
        remedies = self._conversation.remedies
        if remedy == "read_refused" and remedies is not None:
            self._read_refused(remedies.run_id, remedies.sentence)
        else:
            self._controller.remedy(remedy)
            self._panel.composer.setFocus()

    # What is shown

    def _show_running(self, running: Running | None) -> None:
        focus = QApplication.focusWidget()
        self._panel.show_compaction(running)
        self.show_state()
        if focus is not None and not focus.isEnabled() and QApplication.focusWidget() is None:
            self._panel.composer.setFocus()

    def _show_context(self) -> None:
        state = self._controller.context.state
        self._panel.meter.show_state(state)
        self.popover.show_state(state, self._why_not)
        self.show_state()

    def _show_conversation(self, conversation: Conversation) -> None:
        if self._inspector is not None and conversation.row_of(self._inspected) < 0 and conversation.loaded:
            self._inspector.close()
        self.show_state()

    # The inspector

    def _inspect_newest(self) -> None:
        if (newest := self._conversation.checkpoint) is not None:
            self.inspect(newest.node_id)

    def inspect(self, node_id: str) -> None:
        """Show what a checkpoint of the chat is."""
        if self._inspector is None:
            self._inspector = CheckpointInspector(self._answers, self._theme, self._clock, self._window)
            self._inspector.finished.connect(lambda _: self._inspector_closed())
            self._inspector.rebuild_wanted.connect(lambda: self._compact(rebuild=True))
        self._inspected = node_id
        self._read()
        self._inspector.show()
        self._inspector.activateWindow()

    def _inspector_closed(self) -> None:
        self._inspector = None

    def _read(self) -> None:
        inspected = self._inspected
        if not self._controller.answers:
            if self._inspector is not None:
                self._inspector.say(self.tr("The engine does not answer yet."))
            return

        def took(read: ReadCheckpoint) -> None:
            if self._inspector is not None and self._inspected == inspected:
                self._inspector.show_checkpoint(read)
                self._inspector.hinder(self._why_not)

        def failed(sentence: str) -> None:
            if self._inspector is not None and self._inspected == inspected:
                self._inspector.say(sentence)

        read_checkpoint(self._controller.outgoing, self._conversation.session_id, inspected, took, failed)

    def _read_again(self) -> None:
        """An engine answers: what was asked of the one before never comes."""
        if self._inspector is not None:
            self._read()

    def _read_refused(self, run_id: str, why: str) -> None:
        dialog = self._refused = RefusedSummaryDialog(why, self._window)
        dialog.accept_wanted.connect(lambda: self._compact(accept_run_id=run_id))
        dialog.finished.connect(lambda _: self._refused_closed(dialog))

        def took(text: str) -> None:
            if self._refused is dialog:
                dialog.show_text(text)

        def failed(sentence: str) -> None:
            if self._refused is dialog:
                dialog.say(sentence)

        read_refused(self._controller.outgoing, self._conversation.session_id, run_id, took, failed)
        dialog.show()

    def _refused_closed(self, dialog: RefusedSummaryDialog) -> None:
        if self._refused is dialog:
            self._refused = None
