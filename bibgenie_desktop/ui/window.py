"""The main window: the chats at the left, the open chat in the middle, the composer under it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ..protocol.messages import LibraryProgress
from .about import AboutDialog
from .chat.conversation import Conversation
from .chat.markdown_body import MarkdownBody
from .chat.view import MessageList
from .chat.wording import model_name
from .composer import Composer
from .controller import Controller
from .icons import SIZE, arrow_icon, plus_icon, square_icon
from .labels import ElidedLabel
from .links import LinkRouter
from .notice import NoticeBar
from .sessions import SessionList
from .theme import Theme, column_width, palette, sized, style_sheet
from .times import Clock
from .timing import MakeTimer

SMALLEST = QSize(560, 420)
OVERHANG = 24
"""Pixels that the composer is wider than the text above it, at either side."""


class MainWindow(QMainWindow):
    """`mainWindow`.

    Signals:
        closing: the person wants to leave. The window stays until whoever built it has let go of everything.
    """

    closing = Signal()

    def __init__(
        self, controller: Controller, theme: Theme, router: LinkRouter, clock: Clock, make_timer: MakeTimer
    ) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setAccessibleName("BibGenie")
        self.setMinimumSize(SMALLEST)
        self._controller = controller
        self._theme = theme
        self._may_close = False
        self._progress = self.tr("Starting…")
        self._model = ""
        self._hovered = ""

        self.session_list = SessionList(theme, clock)
        self.message_list = MessageList(
            theme, router, clock, make_timer, MarkdownBody(lambda formula: None, lambda name: None)
        )
        self.composer = Composer()
        self._new_button = QPushButton(self.tr("New chat"))
        self._new_button.setObjectName("newSessionButton")
        self._title = ElidedLabel("chatTitle")
        self._status = ElidedLabel("statusLine")
        self._hint = ElidedLabel("composerHint")
        self._hint.say(self.tr("Enter sends, Shift+Enter begins a new line"))
        self._empty = self._make_empty()
        self._send_button = self._make_button("sendButton", self.tr("Send"), self.tr("Send the question (Enter)"))
        self._stop_button = self._make_button("stopButton", self.tr("Stop"), self.tr("Stop the answer (Esc)"))
        self._notice = NoticeBar()
        self._panel = self._make_panel()
        self._lay_out()
        self._make_menus()
        self._connect()
        self._restyle()
        self._show_conversation(controller.conversation)
        self._show_busy(False)
        self._show_status()
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
        """Let the composer have a third of the height."""
        super().resizeEvent(event)
        self.composer.limit_height(self.height() // 3)

    # Making

    def _make_button(self, name: str, label: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setObjectName(name)
        button.setAccessibleName(label)
        button.setToolTip(tip)
        button.setFixedSize(30, 30)
        button.setIconSize(QSize(SIZE, SIZE))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _make_empty(self) -> QWidget:
        """What stands where no message does."""
        title = QLabel(self.tr("Ask your library"))
        title.setObjectName("emptyTitle")
        title.setFont(sized(title.font(), 1.5))
        text = QLabel(
            self.tr(
                "Answers quote your works and cite the printed page. Each citation is checked: "
                "✓ the words stand there, ? it could not be told, ✗ they do not."
            )
        )
        text.setObjectName("emptyText")
        text.setFont(sized(text.font(), 1.08))
        text.setWordWrap(True)
        text.setMaximumWidth(440)
        for label in (title, text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        middle = QVBoxLayout()
        middle.setSpacing(10)
        middle.addStretch(2)
        middle.addWidget(title)
        middle.addWidget(text)
        middle.addStretch(3)
        box = QWidget(self.message_list)
        row = QHBoxLayout(box)
        row.addStretch(1)
        row.addLayout(middle, 1000)
        row.addStretch(1)
        box.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        over = QVBoxLayout(self.message_list)
        over.addWidget(box)
        return box

    def _make_panel(self) -> QFrame:
        panel = QFrame()
        panel.setObjectName("composerPanel")
        buttons = QHBoxLayout()
        buttons.addWidget(self._hint, 1)
        buttons.addWidget(self._send_button)
        buttons.addWidget(self._stop_button)
        inner = QVBoxLayout()
        inner.setContentsMargins(10, 8, 10, 10)
        inner.setSpacing(4)
        inner.addWidget(self.composer)
        buttons.setContentsMargins(4, 0, 0, 0)
        inner.addLayout(buttons)
        column = QVBoxLayout(panel)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addWidget(self._notice)
        column.addLayout(inner)
        return panel

    def _lay_out(self) -> None:
        side = QWidget()
        side.setObjectName("sidePane")
        side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        left = QVBoxLayout(side)
        left.setContentsMargins(0, 10, 0, 8)
        left.setSpacing(6)
        self._new_button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        top = QHBoxLayout()
        top.setContentsMargins(8, 0, 8, 0)
        top.addWidget(self._new_button)
        left.addLayout(top)
        left.addWidget(self.session_list, 1)

        header = QWidget()
        header.setObjectName("chatHeader")
        header.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        title_row = QHBoxLayout(header)
        title_row.setContentsMargins(22, 11, 22, 11)
        title_row.addWidget(self._title, 1)
        self._title.setFont(sized(self._title.font(), 1.15))

        foot = QVBoxLayout()
        foot.setSpacing(6)
        foot.addWidget(self._panel)
        status_row = QHBoxLayout()
        status_row.setContentsMargins(14, 0, 14, 0)
        status_row.addWidget(self._status)
        foot.addLayout(status_row)
        column = QWidget()
        column.setMaximumWidth(column_width(self.font()) + 2 * OVERHANG)
        column.setLayout(foot)
        foot.setContentsMargins(0, 0, 0, 0)
        centred = QHBoxLayout()
        centred.setContentsMargins(14, 6, 14, 8)
        centred.addStretch(1)
        centred.addWidget(column, 1000)
        centred.addStretch(1)

        chat = QWidget()
        chat.setObjectName("chatPane")
        chat.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        middle = QVBoxLayout(chat)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(0)
        middle.addWidget(header)
        middle.addWidget(self.message_list, 1)
        middle.addLayout(centred)

        splitter = QSplitter()
        splitter.setObjectName("mainSplitter")
        splitter.setHandleWidth(1)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(side)
        splitter.addWidget(chat)
        splitter.setStretchFactor(1, 1)
        side.setMinimumWidth(180)
        chat.setMinimumWidth(360)
        splitter.setSizes([252, 928])
        self.setCentralWidget(splitter)
        for before, after in (
            (self._new_button, self.session_list),
            (self.session_list, self.message_list),
            (self.message_list, self.composer),
            (self.composer, self._send_button),
            (self._send_button, self._stop_button),
        ):
            self.setTabOrder(before, after)

    def _make_menus(self) -> None:
        bar = self.menuBar()
        chats = bar.addMenu(self.tr("&File"))
        self._new_action = self._make_action(self.tr("&New chat"), "newSessionAction")
        self._new_action.setShortcut(QKeySequence.StandardKey.New)
        quitting = self._make_action(self.tr("&Quit"), "quitAction")
        quitting.setShortcut(QKeySequence("Ctrl+Q"))
        quitting.setMenuRole(QAction.MenuRole.QuitRole)
        quitting.triggered.connect(self.close)
        chats.addActions([self._new_action, quitting])

        chat = bar.addMenu(self.tr("&Chat"))
        # Enter belongs to the composer; the menu only shows it.
        self._send_action = self._make_action(self.tr("&Send\tEnter"), "sendAction")
        self._stop_action = self._make_action(self.tr("S&top"), "stopAction")
        self._stop_action.setShortcut(QKeySequence(Qt.Key.Key_Escape))
        chat.addActions([self._send_action, self._stop_action])

        about = self._make_action(self.tr("&About BibGenie"), "aboutAction")
        about.setMenuRole(QAction.MenuRole.AboutRole)
        about.triggered.connect(self._show_about)
        bar.addMenu(self.tr("&Help")).addAction(about)

    def _make_action(self, text: str, name: str) -> QAction:
        action = QAction(text, self)
        action.setObjectName(name)
        return action

    def _connect(self) -> None:
        controller = self._controller
        self._new_action.triggered.connect(self._new_chat)
        self._new_button.clicked.connect(self._new_chat)
        self._send_action.triggered.connect(self._submit)
        self._send_button.clicked.connect(self._submit)
        self._stop_action.triggered.connect(controller.stop)
        self._stop_button.clicked.connect(controller.stop)
        self._notice.restart_wanted.connect(controller.start_again)
        self.composer.submitted.connect(self._submit)
        self.composer.textChanged.connect(lambda: controller.draft_edited(self.composer.toPlainText()))
        self.composer.focus_changed.connect(self._mark_focus)
        self.session_list.chosen.connect(self._open)
        self.message_list.link_hovered.connect(self._show_hovered)
        self.message_list.link_answered.connect(self._show_hovered)
        rows = self.message_list.model()
        for signal in (rows.rowsInserted, rows.rowsRemoved, rows.modelReset):
            signal.connect(self._show_emptiness)
        controller.conversation_changed.connect(self._show_conversation)
        controller.draft_changed.connect(self._show_draft)
        controller.busy_changed.connect(self._show_busy)
        controller.notice_changed.connect(self._notice.say)
        controller.sessions_changed.connect(self.session_list.show_sessions)
        controller.library_changed.connect(self._show_progress)
        controller.model_changed.connect(self._show_model)
        self._theme.changed.connect(self._restyle)

    # What the person does

    def _submit(self) -> None:
        self._controller.submit(self.composer.toPlainText())
        self.composer.setFocus()

    def _new_chat(self) -> None:
        self._controller.new_chat()
        self.composer.setFocus()

    def _open(self, session_id: str) -> None:
        self._controller.open_session(session_id)
        self.composer.setFocus()

    def _show_about(self) -> None:
        AboutDialog(self).open()

    # What is shown

    def _show_conversation(self, conversation: Conversation) -> None:
        if conversation is not self.message_list.model().conversation:
            self.message_list.show_conversation(conversation)
        title = conversation.title or self.tr("New chat")
        self._title.say(title)
        self.setWindowTitle(f"{' '.join(title.split())} – BibGenie")
        self.session_list.mark(conversation.session_id)
        self._show_emptiness()

    def _show_emptiness(self) -> None:
        conversation = self.message_list.model().conversation
        self._empty.setVisible(conversation.loaded and not conversation.messages)

    def _show_draft(self, text: str) -> None:
        if text != self.composer.toPlainText():
            blocked = self.composer.blockSignals(True)
            self.composer.setPlainText(text)
            self.composer.moveCursor(self.composer.textCursor().MoveOperation.End)
            self.composer.blockSignals(blocked)

    def _show_busy(self, busy: bool) -> None:
        had_focus = self._send_button.hasFocus() or self._stop_button.hasFocus()
        self._send_button.setVisible(not busy)
        self._stop_button.setVisible(busy)
        self._send_action.setEnabled(not busy)
        self._stop_action.setEnabled(busy)
        if had_focus:
            self.composer.setFocus()

    def _show_progress(self, progress: LibraryProgress) -> None:
        self._progress = progress.sentence
        self._show_status()

    def _show_model(self, model: str) -> None:
        self._model = model_name(model)
        self._show_status()

    def _show_hovered(self, sentence: str) -> None:
        self._hovered = sentence
        self._show_status()

    def _show_status(self) -> None:
        self._status.say(self._hovered or " · ".join(filter(None, (self._model, self._progress))))

    def _mark_focus(self, has_focus: bool) -> None:
        self._panel.setProperty("focused", has_focus)
        self._panel.style().polish(self._panel)

    def _restyle(self) -> None:
        colours = self._theme.colours
        self.setPalette(palette(colours))
        self.setStyleSheet(style_sheet(colours))
        self._new_button.setIcon(plus_icon(colours.accent))
        self._send_button.setIcon(arrow_icon(colours.on_accent))
        self._stop_button.setIcon(square_icon(colours.on_accent))
