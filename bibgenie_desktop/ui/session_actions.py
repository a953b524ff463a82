"""What can be done with chats as a whole, connected: actions, the list and the bar at the side, the search, the map."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from ..protocol.values import HistoryHit, TreeRow
from .actions import Actions
from .branch_panel import BranchPanel
from .chat.view import MessageList
from .controller import Controller
from .exchange import Exchange
from .find_bar import FindBar
from .jumping import Jump
from .keeping import Offer
from .side_pane import SidePane


class SessionActions(QObject):
    """Connects the widgets of a window to what does the work. Which chat an action is about: the one that the keys have
    reached in the list while that has the focus, else the one that is shown."""

    def __init__(
        self,
        window: QWidget,
        controller: Controller,
        actions: Actions,
        side: SidePane,
        messages: MessageList,
        find_bar: FindBar,
        panel: BranchPanel,
    ) -> None:
        super().__init__(window)
        self._controller = controller
        self._actions = actions
        self._side = side
        self._messages = messages
        self._panel = panel
        self._focus_wanted = False
        """The map was opened, and takes the focus once there is one."""
        self.exchange = Exchange(controller, window)
        """Chats into files and back."""
        self.jump = Jump(controller, messages, find_bar, self)
        """The way to one message."""
        self._connect_keeping()
        self._connect_search()
        self._connect_map()
        side.sessions.selectionModel().currentChanged.connect(self.show_enabled)
        controller.conversation_changed.connect(self.show_enabled)
        controller.sessions_changed.connect(self.show_enabled)
        self.show_enabled()
        self._show_offer(controller.keeping.offer)

    @property
    def chosen(self) -> str:
        """The chat that the actions are about, "" for none."""
        shown, reached = self._controller.conversation.session_id, self._side.sessions.highlighted
        return reached if self._side.sessions.hasFocus() or not shown else shown

    def show_enabled(self) -> None:
        """Offer what can be done now, in the words that fit."""
        actions, session = self._actions, self._side.sessions.row(self.chosen)
        pinned, archived = session is not None and session.is_pinned, session is not None and session.is_archived
        actions.pin.setText(self.tr("Un&pin chat") if pinned else self.tr("&Pin chat"))
        actions.archive.setText(self.tr("Bring chat b&ack") if archived else self.tr("&Archive chat"))
        for action in (
            actions.pin,
            actions.archive,
            actions.delete,
            actions.export_branch,
            actions.export_tree,
        ):
            action.setEnabled(session is not None)
        actions.branch_map.setEnabled(bool(self._controller.conversation.session_id))

    # Deleting, pinning, archiving, files

    def _connect_keeping(self) -> None:
        actions, sessions, bar = self._actions, self._side.sessions, self._side.keeping_bar
        keeping = self._controller.keeping
        actions.pin.triggered.connect(self._pin)
        actions.archive.triggered.connect(self._archive)
        actions.delete.triggered.connect(lambda: self._ask_to_delete(self.chosen))
        actions.undo_delete.triggered.connect(keeping.undo)
        actions.export_branch.triggered.connect(lambda: self._export(self.chosen, False))
        actions.export_tree.triggered.connect(lambda: self._export(self.chosen, True))
        actions.bring_in.triggered.connect(self.exchange.ask_which)
        sessions.pin_wanted.connect(keeping.pin)
        sessions.archive_wanted.connect(keeping.archive)
        sessions.delete_wanted.connect(self._ask_to_delete)
        sessions.export_wanted.connect(self._export)
        bar.delete_wanted.connect(keeping.delete)
        bar.keep_wanted.connect(keeping.keep)
        bar.undo_wanted.connect(keeping.undo)
        keeping.offered.connect(self._show_offer)
        keeping.deleted.connect(lambda _: self._controller.history.again())

    def _pin(self) -> None:
        session = self._side.sessions.row(self.chosen)
        if session is not None:
            self._controller.keeping.pin(session.id, not session.is_pinned)

    def _archive(self) -> None:
        session = self._side.sessions.row(self.chosen)
        if session is not None:
            self._controller.keeping.archive(session.id, not session.is_archived)

    def _ask_to_delete(self, session_id: str) -> None:
        # The question stands at the side: it must be there.
        self._actions.chats.setChecked(True)
        self._controller.keeping.ask_to_delete(session_id)

    def _show_offer(self, offer: Offer | None) -> None:
        self._side.keeping_bar.show_offer(offer)
        self._actions.undo_delete.setEnabled(offer is not None and offer.kind == "undo")

    def _export(self, session_id: str, whole: bool) -> None:
        session = self._side.sessions.row(session_id)
        if session is not None:
            self.exchange.ask_where_to(session_id, session.title, whole=whole)

    # The search over the history

    def _connect_search(self) -> None:
        history = self._controller.history
        self._side.searched.connect(history.look_for)
        self._side.history.chosen.connect(self._go_to_hit)
        history.changed.connect(self._side.show_history)

    def _go_to_hit(self, hit: HistoryHit) -> None:
        self.jump.to(hit.session_id, hit.node_id, hit.match)

    # The branch map

    def _connect_map(self) -> None:
        controller, panel, action = self._controller, self._panel, self._actions.branch_map
        action.toggled.connect(self._show_map)
        panel.closed.connect(lambda: action.setChecked(False))
        panel.shown.connect(self._watch)
        panel.map.chosen.connect(self._go_to_node)
        controller.conversation_changed.connect(self._watch)
        controller.trees.told.connect(self._show_tree)
        controller.trees.failed.connect(lambda _, sentence: panel.say(sentence))

    def _show_map(self, shown: bool) -> None:
        had_focus = self._panel.map.hasFocus()
        self._panel.setVisible(shown)
        self._focus_wanted = shown
        if had_focus and not shown:
            self._messages.setFocus()

    def _watch(self) -> None:
        session_id = self._controller.conversation.session_id
        watched = session_id if self._panel.isVisible() else ""
        if watched and watched != self._controller.trees.watched:
            self._panel.say(self.tr("Reading the branches…"))
        elif not session_id:
            self._panel.show_tree("", ())
        self._controller.trees.watch(watched)

    def _show_tree(self, session_id: str, tree: tuple[TreeRow, ...]) -> None:
        self._panel.show_tree(session_id, tree)
        if self._focus_wanted:
            self._focus_wanted = False
            self._panel.map.setFocus()

    def _go_to_node(self, node_id: str) -> None:
        self.jump.to(self._controller.conversation.session_id, node_id)
