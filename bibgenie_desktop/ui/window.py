"""The main window: the chats at the left, the open chat in the middle, the composer under it."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QPlainTextEdit, QSplitter

from ..protocol.events import LibraryProgress, ModelState
from .about import AboutDialog
from .actions import fill_menus, make_actions
from .branch_panel import BranchPanel
from .chat.body import RenderBody
from .chat.conversation import Conversation
from .chat.view import MessageList
from .chat_pane import ChatPane
from .compaction_actions import CompactionActions
from .composer_panel import ComposerPanel
from .controller import Controller
from .empty_page import EmptyPage
from .find_bar import FindBar
from .icons import fold_icon, fork_icon
from .labels import plain_line
from .link_dialog import LinkQuestions
from .links import LinkRouter
from .message_actions import MessageActions
from .session_actions import SessionActions
from .shortcuts import ShortcutsDialog
from .side_pane import SidePane
from .status_line import StatusLine
from .theme import Theme, figures, palette, style_sheet
from .times import Clock
from .timing import MakeTimer

NARROW_FIGURES = 104
"""Of the window's width under which the chats at the side fold away; more than both need."""
SPARE_LINES = 8
"""Of the smallest window's height, for a sentence above the composer and a question of some lines."""


class MainWindow(QMainWindow):
    """`mainWindow`.

    Signals:
        closing: the person wants to leave. The window stays until whoever built it has let go of everything.
    """

    closing = Signal()

    def __init__(
        self,
        controller: Controller,
        theme: Theme,
        router: LinkRouter,
        clock: Clock,
        make_timer: MakeTimer,
        answers: RenderBody,
    ) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setAccessibleName("BibGenie")
        self._controller = controller
        self._theme = theme
        self._may_close = False
        self._recalling = False
        self._narrow = figures(self.font(), NARROW_FIGURES)

        self._side = SidePane(theme, clock)
        self.session_list = self._side.sessions
        self.message_list = MessageList(theme, router, clock, make_timer, answers)
        self._find_bar = FindBar(self._find_text, lambda: self.message_list.all_here)
        self._empty = EmptyPage()
        self._panel = ComposerPanel()
        self.composer = self._panel.composer
        self._branches = BranchPanel(theme, clock, make_timer)
        self._status = StatusLine(make_timer)
        self._actions = make_actions(self)
        self._panel.set_compact_action(self._actions.compact)
        self._panel.banner.set_look(make_timer)
        self._chat = ChatPane(
            self._actions.branch_map,
            self._find_bar,
            self._branches,
            self.message_list,
            self._empty,
            self._panel,
            self._status,
        )
        self._lay_out()
        fill_menus(self, self._actions)
        MessageActions(self._actions, self.message_list, controller, self)
        self._questions = LinkQuestions(router, self)
        self._connect()
        self._connect_actions()
        self._session_actions = SessionActions(
            self, controller, self._actions, self._side, self.message_list, self._find_bar, self._branches
        )
        self._compaction_actions = CompactionActions(
            self, controller, self._actions, self._panel, self.message_list, answers, theme, clock
        )
        self._session_actions.exchange.answered.connect(self.show_answer)
        self._restyle()
        self._show_conversation(controller.conversation)
        self._show_busy(False)
        # Once for all: a size that follows what is shown would move the window about.
        self.setMinimumSize(self.minimumSizeHint() + QSize(0, self.fontMetrics().lineSpacing() * SPARE_LINES))
        self.composer.setFocus()

    def sizeHint(self) -> QSize:
        """Room for the list and a full column."""
        return QSize(1180, 800)

    def let_close(self) -> None:
        """From now on closing the window closes it."""
        self._may_close = True

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask for the end instead of closing."""
        if self._may_close:
            super().closeEvent(event)
        else:
            event.ignore()
            self.closing.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the composer have a third of the height, and the chats at the side only what is wide enough."""
        super().resizeEvent(event)
        self._panel.limit_height(self.height() // 3)
        before = event.oldSize().width()
        if before < 0 or (before < self._narrow) != (self.width() < self._narrow):
            self._actions.chats.setChecked(self.width() >= self._narrow)

    def show_answer(self, sentence: str) -> None:
        """Say in the status line what became of what the person did, for a while."""
        self._status.show_answer(sentence)

    # Making

    def _lay_out(self) -> None:
        splitter = QSplitter()
        splitter.setObjectName("mainSplitter")
        splitter.setHandleWidth(1)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self._side)
        splitter.addWidget(self._chat)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([252, 928])
        self.setCentralWidget(splitter)
        order = (
            self._side.search,
            self._side.new_button,
            self.session_list,
            self._side.history,
            *self._side.keeping_bar.buttons,
            self._branches.map,
            self.message_list,
            self.composer,
            self._panel.banner.button,
            self._panel.model_picker,
            self._panel.meter,
            self._panel.compact_button,
            self._panel.send_button,
            self._panel.stop_button,
        )
        for before, after in pairwise(order):
            self.setTabOrder(before, after)

    def _connect(self) -> None:
        controller, panel = self._controller, self._panel
        self._side.new_button.clicked.connect(self._new_chat)
        self._side.left.connect(self.composer.setFocus)
        self.session_list.chosen.connect(self._open)
        self.session_list.renamed.connect(controller.rename)
        panel.submitted.connect(self._submit)
        panel.stopped.connect(controller.stop)
        panel.model_picker.chosen.connect(controller.choose_model)
        panel.notice.restart_wanted.connect(controller.start_again)
        panel.notice.continue_wanted.connect(lambda: controller.branching.continue_damaged(controller.conversation))
        panel.notice.export_wanted.connect(self._actions.export_branch.trigger)
        panel.queue.edit_wanted.connect(lambda number: self._take_out(number, edit=True))
        panel.queue.remove_wanted.connect(lambda number: self._take_out(number, edit=False))
        panel.notice.dismissed.connect(self._dismiss)
        self.composer.textChanged.connect(self._draft_edited)
        self.composer.recall_wanted.connect(self._recall)
        self._empty.chosen.connect(self._take_example)
        self._find_bar.opened.connect(controller.look_at_all)
        self.message_list.drawn_anew.connect(self._find_bar.look_again)
        self._find_bar.closed.connect(self.message_list.setFocus)
        messages = self.message_list
        messages.link_hovered.connect(self._status.show_link)
        messages.link_answered.connect(self.show_answer)
        self._questions.answered.connect(self.show_answer)
        messages.bodies_wanted.connect(controller.look_at)
        rows = messages.model()
        for signal in (rows.rowsInserted, rows.rowsRemoved, rows.modelReset):
            signal.connect(self._show_emptiness)
        controller.conversation_changed.connect(self._show_conversation)
        controller.draft_changed.connect(self._show_draft)
        controller.busy_changed.connect(self._show_busy)
        controller.notice_changed.connect(panel.notice.say)
        controller.queue_changed.connect(panel.show_queue)
        controller.answer_wanted.connect(self.message_list.go_to_end)
        controller.writing_wanted.connect(self.composer.setFocus)
        controller.sessions_changed.connect(self.session_list.show_sessions)
        controller.library_changed.connect(self._show_progress)
        controller.models_changed.connect(panel.model_picker.show_models)
        controller.model_loading.connect(self._show_loading)
        self._theme.changed.connect(self._restyle)

    def _connect_actions(self) -> None:
        actions, controller, messages = self._actions, self._controller, self.message_list
        for action, does in (
            (actions.new, self._new_chat),
            (actions.rename, self._rename),
            (actions.quit, self.close),
            (actions.undo, lambda: self._edit("undo")),
            (actions.redo, lambda: self._edit("redo")),
            (actions.cut, lambda: self._edit("cut")),
            (actions.copy_text, lambda: self._edit("copy")),
            (actions.paste, lambda: self._edit("paste")),
            (actions.select_all, lambda: self._edit("selectAll")),
            (actions.find, self._find_bar.open_bar),
            (actions.find_next, self._find_bar.step),
            (actions.find_previous, lambda: self._find_bar.step(backwards=True)),
            (actions.send, self._submit),
            (actions.stop, controller.stop),
            (actions.copy, self._copy_message),
            (actions.recall, self._recall),
            (actions.newest, messages.go_to_end),
            (actions.search, self._search_chats),
            (actions.compose, self.composer.setFocus),
            (actions.shortcuts, lambda: ShortcutsDialog(self).open()),
            (actions.about, lambda: AboutDialog(self).open()),
        ):
            action.triggered.connect(lambda _=False, do=does: do())
        actions.chats.toggled.connect(self._show_side)
        self.session_list.selectionModel().currentChanged.connect(self._show_renaming)

    # What the person does

    def _submit(self) -> None:
        self._controller.submit(self.composer.toPlainText())
        if self._controller.conversation.sending:
            # Who asks wants to see the answer, wherever they were reading.
            self.message_list.go_to_end()
        self.composer.setFocus()

    def _new_chat(self) -> None:
        self._controller.new_chat()
        self.composer.setFocus()

    def _open(self, session_id: str) -> None:
        self._controller.open_session(session_id)
        self.composer.setFocus()

    def _rename(self) -> None:
        session_id = self._controller.conversation.session_id
        if self.session_list.hasFocus() or not session_id:
            session_id = self.session_list.highlighted
        if session_id:
            self._actions.chats.setChecked(True)
            self._side.search.clear()
            self.session_list.rename(session_id)

    def _take_example(self, question: str) -> None:
        self.composer.append_text(question)
        self.composer.setFocus()

    def _recall(self) -> None:
        # As if it were typed: what was written and deleted before comes back when it is undone.
        self._recalling = True
        self._controller.recall()
        self._recalling = False

    def _take_out(self, number: int, *, edit: bool) -> None:
        self._controller.take_out_of_queue(number, edit=edit)
        self.composer.setFocus()

    def _dismiss(self) -> None:
        self._controller.say("")
        self.composer.setFocus()

    def _draft_edited(self) -> None:
        self._controller.draft_edited(self.composer.toPlainText())
        self._show_recalling()

    def _search_chats(self) -> None:
        self._actions.chats.setChecked(True)
        self._side.begin_search()

    def _find_text(self, text: str, backwards: bool, afresh: bool) -> bool:
        return self.message_list.find_text(text, backwards=backwards, afresh=afresh)

    def _edit(self, what: str) -> None:
        """Do with the text that has the focus what the menu says."""
        focus = QApplication.focusWidget()
        if isinstance(focus, QPlainTextEdit | QLineEdit):
            getattr(focus, what)()
        elif what == "copy":
            self.message_list.copy_selection()
        elif what == "selectAll":
            self.message_list.select_current()

    def _copy_message(self) -> None:
        row = self.message_list.current_row
        if row >= 0:
            QGuiApplication.clipboard().setText(self.message_list.model().message(row).source)
            self.show_answer(self.tr("The message is copied."))

    # What is shown

    def _show_conversation(self, conversation: Conversation) -> None:
        if conversation is not self.message_list.model().conversation:
            self.message_list.show_conversation(conversation)
            self._find_bar.hide()
        untitled = self.tr("Untitled chat") if conversation.session_id else self.tr("New chat")
        title = plain_line(conversation.title) or untitled
        self._chat.title.say(title)
        # Qt reads [*] as a place for a mark, unless it is doubled.
        self.setWindowTitle(f"{title.replace('[*]', '[*][*]')} – BibGenie")
        self.session_list.mark(conversation.session_id)
        self._show_renaming()
        self._show_emptiness()

    def _show_draft(self, text: str) -> None:
        if self._recalling:
            self.composer.replace_text(text)
        else:
            self._panel.show_draft(text)
        self._show_recalling()

    def _show_side(self, shown: bool) -> None:
        focus = QApplication.focusWidget()
        if not shown and focus is not None and self._side.isAncestorOf(focus):
            self.composer.setFocus()
        self._side.setVisible(shown)

    def _show_renaming(self) -> None:
        self._actions.rename.setEnabled(bool(self._controller.conversation.session_id or self.session_list.highlighted))

    def _show_recalling(self) -> None:
        # It would take the place of what stands there.
        asked = bool(self.message_list.model().conversation.messages)
        self._actions.recall.setEnabled(asked and self.composer.document().isEmpty())

    def _show_emptiness(self) -> None:
        conversation = self.message_list.model().conversation
        empty = conversation.loaded and not conversation.messages
        self._chat.show_empty(empty)
        for action in (self._actions.find, self._actions.newest):
            action.setEnabled(bool(conversation.messages))
        self._show_recalling()

    def _show_busy(self, busy: bool) -> None:
        self._panel.show_busy(busy)
        self._actions.stop.setEnabled(busy or self._controller.conversation.compacting)

    def _show_progress(self, progress: LibraryProgress) -> None:
        self._status.show_library(progress)
        self._empty.show_examples(demo=progress.is_demo)

    def _show_loading(self, state: ModelState) -> None:
        self._panel.model_picker.show_state(state)
        if state.sentence:
            self._controller.say(state.sentence)

    def _restyle(self) -> None:
        colours = self._theme.colours
        self.setPalette(palette(colours))
        self.setStyleSheet(style_sheet(colours))
        self._side.set_colours(colours)
        self._branches.set_colours(colours)
        self._actions.branch_map.setIcon(fork_icon(colours.muted))
        self._actions.compact.setIcon(fold_icon(colours.muted))
        self._panel.set_colours(colours)
        self._compaction_actions.set_colours(colours)
        self._find_bar.set_colour(colours.muted)
