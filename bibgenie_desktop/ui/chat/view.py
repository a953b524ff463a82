"""The messages of the open chat on the page: `messageList`, a list of any length of which only what is seen exists."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QFocusEvent,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QMenu, QWidget

from ...protocol.values import Segment
from ..links import LinkRouter
from ..theme import Theme, palette
from ..times import Clock
from ..timing import MakeTimer
from . import reading_keys
from .body import RenderBody
from .conversation import Conversation
from .copying import Copying
from .current_message import CurrentMessage, suits_all
from .edit_panel import EditBox
from .following import Following
from .jump_button import JumpButton
from .life_sign import Beat
from .message import Message
from .message_menu import add_message_actions, add_text_actions
from .model import TranscriptModel
from .page_layout import PageLayout
from .page_links import PageLinks
from .page_look import PageLook
from .page_scroll_bar import PageScrollBar
from .page_search import PageSearch
from .redrawing import Redrawing
from .row_pool import RowPool
from .rows import Row
from .selecting import Selecting
from .wanting import Wanting

REST_MILLISECONDS = 15
"""Of quiet before the rows near to what is seen are laid out."""


class MessageList(QAbstractScrollArea):
    """`messageList`. Answers are rendered by `answers`; links go through `router`; timers are made by `make_timer`.

    Signals:
        link_hovered(sentence): where the link under the pointer or the focus leads; "" for none.
        link_answered(sentence): what became of a link that was clicked, or why what was pressed is not done now.
        bodies_wanted(first, last): the bodies of these rows are wanted, and some are not here.
        formulas_wanted(formulas): pictures of these are wanted: see `formulas_drawn`.
        current_changed(row): the row that the actions are about.
        version_wanted(node_id): another version of a message is wanted in its place.
        edit_wanted(send): the question that is written in its place is to be sent, or left.
        checkpoint_wanted(node_id): what a checkpoint is, is to be shown.
        drawn_anew: messages that changed, such as those whose bodies came, are shown as they are now.
    """

    link_hovered = Signal(str)
    link_answered = Signal(str)
    bodies_wanted = Signal(int, int)
    formulas_wanted = Signal(tuple)
    current_changed = Signal(int)
    version_wanted = Signal(str)
    edit_wanted = Signal(bool)
    checkpoint_wanted = Signal(str)
    drawn_anew = Signal()

    def __init__(
        self,
        theme: Theme,
        router: LinkRouter,
        clock: Clock,
        make_timer: MakeTimer,
        answers: RenderBody,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("messageList")
        self.setAccessibleName(self.tr("Conversation"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._thumb = PageScrollBar(self)
        self.setVerticalScrollBar(self._thumb)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        # Drawn by ourselves, and wholly: so the picture can be moved, and no style sheet has a say in it.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._theme = theme
        self._links = PageLinks(router, self.link_hovered.emit, self.link_answered.emit)
        self._look = PageLook(self, theme, clock, answers, self._links.leads_to, Beat(make_timer))
        self._model = TranscriptModel(self)
        self._jump = JumpButton(self.viewport())
        self._pool = RowPool(self.viewport(), self._adopt)
        self._layout = PageLayout(self, self._model, self._pool, self._look.page())
        self._current = CurrentMessage(self, self._layout)
        self._selecting = Selecting(self.viewport(), self._layout, make_timer)
        self._copying = Copying(make_timer)
        self._search = PageSearch(self._model, self._layout, self._selecting)
        self._redrawing = Redrawing(self._layout, make_timer, self._drawn)
        self._wanting = Wanting(
            self._model, self._layout, make_timer, self.bodies_wanted.emit, self.formulas_wanted.emit
        )
        self._following = Following(
            self._model, self._layout, self._current, self._search, self._redrawing, self._wanting, self._settled
        )
        self._resting = make_timer(self._lay_out_ahead)
        self._jump.clicked.connect(self.go_to_end)
        theme.changed.connect(self._restyle)
        self._restyle()

    def model(self) -> TranscriptModel:
        """The messages as a model."""
        return self._model

    @property
    def page(self) -> PageLayout:
        """Where the rows are."""
        return self._layout

    def show_conversation(self, conversation: Conversation) -> None:
        """Show another chat, at its end."""
        self._layout.at_end = True
        self._current.number = -1
        self._model.show(conversation)

    @property
    def drawn(self) -> bool:
        """Whether all that is in sight is on the page as it is now."""
        are_here = all(self._model.message(number).ready for number in self._layout.seen())
        return are_here and not self._redrawing.is_seen_stale

    # What is on the page

    def _drawn(self) -> None:
        self._settled()
        self.drawn_anew.emit()

    def _settled(self) -> None:
        """The rows are where they belong: so must be what goes with them."""
        if self._redrawing.draw_come_into_sight():
            return
        self._jump.put_on(self.viewport().rect())
        is_writing = isinstance(QApplication.focusWidget(), EditBox)
        self._jump.setVisible(not self._layout.at_end and self._layout.is_more_below and not is_writing)
        self._current.show(self.current_row)
        self._wanting.look()
        if self._layout.wants_more:
            self._resting.start(REST_MILLISECONDS)

    def formulas_drawn(self) -> None:
        """There are pictures of formulas that there were not when they were wanted."""
        self._wanting.formulas_drawn()
        self._settled()

    def _lay_out_ahead(self) -> None:
        self._layout.lay_out_ahead()
        self._settled()

    # The look

    def _restyle(self) -> None:
        self.setPalette(palette(self._theme.colours))
        self._thumb.paper = QColor(self._theme.colours.paper)
        self._current.set_colours(self._theme.colours)
        self._jump.set_colours(self._theme.colours)
        self._turn_page()

    def _turn_page(self) -> None:
        self._layout.turn_page(self._look.page())
        self._settled()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the paper."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), QColor(self._theme.colours.paper))
        painter.end()

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave nothing half done."""
        super().hideEvent(event)
        self._copying.finish()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out for the new size; the reader's place stays."""
        super().resizeEvent(event)
        self._turn_page()

    def changeEvent(self, event: QEvent) -> None:
        """Take on another font or direction."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.LayoutDirectionChange):
            self._turn_page()

    def event(self, event: QEvent) -> bool:
        """Take on another screen: pictures of formulas are made for the pixels of one. Keep Escape from being a
        shortcut while it leads back to the page."""
        override = event.type() == QEvent.Type.ShortcutOverride and not self.hasFocus()
        if override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._turn_page()
        return super().event(event)

    # Where the reader goes

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """The scroll bar was moved."""
        if not self._layout.settling:
            self._layout.scroll_to(self.verticalScrollBar().value())
            self._settled()

    def scroll_by(self, pixels: int) -> None:
        """Scroll down, or up by a negative number."""
        self._layout.scroll_to(self._layout.value + pixels)
        self._settled()

    def go_to_end(self) -> None:
        """Go to the newest message and follow what comes."""
        self._layout.go_to_end()
        self._settled()

    def go_to_row(self, number: int) -> None:
        """Go to a message, and make it the current one."""
        self._layout.go_to_row(number)
        self.set_current_row(number)
        self._settled()

    def find_text(self, text: str, *, backwards: bool = False, afresh: bool = False, row: int = -1) -> bool:
        """Find in page: select the next place that reads so and bring it into sight; tells whether there is one.

        With `afresh` the first one from what is in sight on, or from `row` on: the text that is looked for has changed.
        """
        if afresh:
            self._search.reset(row)
        number = self._search.find(text, backwards=backwards)
        if number >= 0:
            self.set_current_row(number)
        self._settled()
        return number >= 0

    @property
    def all_here(self) -> bool:
        """Whether all messages of the chat can be searched: none is still to come."""
        return self._search.all_here

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow keys go from message to message and through long ones; the others go through the page."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_selection()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_current()
        elif event.key() == Qt.Key.Key_Escape and not self.hasFocus():
            self.setFocus()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.hasFocus() and self._is_at_checkpoint:
            self.checkpoint_wanted.emit(self._model.message(self.current_row).node_id)
        elif not reading_keys.press(event, self, self._layout):
            event.ignore()

    @property
    def _is_at_checkpoint(self) -> bool:
        return self.current_row >= 0 and self._model.message(self.current_row).role == "checkpoint"

    def hinder(self, why: str) -> None:
        """Let no other version of a message be shown now, for this reason; "" for none."""
        if why != self._look.hindrance:
            self._look.hindrance = why
            focus = QApplication.focusWidget()
            had_focus = focus is not None and self.isAncestorOf(focus)
            for row in self._layout.rows.values():
                row.show_hindrance()
            if had_focus and focus is not None and not focus.isEnabled():
                self.setFocus()

    # The current message

    @property
    def current_row(self) -> int:
        """The row that actions are about: the one chosen, or else the last; -1 where there is none."""
        return self._current.number if self._current.number >= 0 else self._model.rowCount() - 1

    def set_current_row(self, number: int) -> None:
        """Choose the row that actions are about."""
        if number != self._current.number and 0 <= number < self._model.rowCount():
            self._current.number = number
            self._current.show(number)
            self._current.announce()
            self.current_changed.emit(number)

    @property
    def chosen(self) -> Message | None:
        """The message that was chosen by the pointer or by keys, if one was."""
        return self._model.message(self._current.number) if self._current.number >= 0 else None

    def set_actions(self, actions: Sequence[QAction], suits: Callable[[str, Message], bool] = suits_all) -> None:
        """Offer these actions under the current message, and in its menu. `suits` tells whether the one of a name has
        to do with such a message at all."""
        self._current.set_actions(actions, self._theme.colours, suits)
        self._current.show(self.current_row)

    def show_actions(self) -> None:
        """What is allowed on the current message may be something else now."""
        self._current.show(self.current_row)

    # The question that is written in its place

    def write_in(self, number: int) -> None:
        """Bring a question that is being edited into sight, and go there to write."""
        self.set_current_row(number)
        self._redrawing.draw()
        if number not in self._layout.seen() or self._layout.top_of(number) < 0:
            self._layout.go_to_row(number)
        self._layout.show_whole(number)
        self._settled()
        self._layout.row(number).begin_writing()

    def _edit_wanted(self, row: Row, send: bool) -> None:
        self.set_current_row(row.number)
        self.edit_wanted.emit(send)

    def _offer_taken(self, row: Row, name: str) -> None:
        self.set_current_row(row.number)
        if reason := self._current.trigger(name):
            self.link_answered.emit(reason)

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer went away."""
        super().leaveEvent(event)
        self._current.hovered = False
        self._current.show(self.current_row)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show which message is the current one."""
        super().focusInEvent(event)
        self._current.show(self.current_row)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show it as it is without the focus."""
        super().focusOutEvent(event)
        self._current.show(self.current_row)

    # What the person does in rows

    def _adopt(self, row: Row) -> None:
        """Listen to a row that was made."""
        row.resized.connect(self._row_resized)
        row.entered.connect(self._row_entered)
        row.pressed.connect(self._selecting.begin)
        row.dragged.connect(self._selecting.drag)
        row.released.connect(self._selecting.end)
        row.link_clicked.connect(self._links.open)
        row.link_ctrl_clicked.connect(self._links.open_in_zotero)
        row.link_hovered.connect(self._links.hover)
        row.menu_wanted.connect(self._pop_menu_up)
        row.version_wanted.connect(self.version_wanted)
        row.edit_wanted.connect(self._edit_wanted)
        row.offer_taken.connect(self._offer_taken)
        row.checkpoint_wanted.connect(self.checkpoint_wanted)

    def _row_resized(self, row: Row) -> None:
        self._layout.hold(row.number)
        self._layout.refresh([row.number])
        if row.message is not None and row.message.edit is not None:
            self._layout.show_whole(row.number)
        self._settled()

    def _row_entered(self, row: Row, place: QPointF) -> None:
        if self._current.is_entered(place):
            self.set_current_row(row.number)
            self._current.show(self.current_row)

    def copy_selection(self) -> None:
        """Copy the text that is selected, as it is read."""
        self._copying.copy(self._selecting.parts)

    def select_current(self) -> None:
        """Select all text of the current message."""
        if row := self._layout.rows.get(self.current_row):
            self._selecting.select_all(row)

    def _pop_menu_up(self, link: str, citation: Segment | None, place: QPoint) -> None:
        menu = self.context_menu(link, citation)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def context_menu(self, link: str, citation: Segment | None = None) -> QMenu:
        """The menu for a place on the page, at a link or not."""
        menu = QMenu(self)
        self._links.add_actions(menu, link, citation)
        add_text_actions(menu, self.copy_selection if self._selecting.parts else None, self.select_current)
        if self.current_row >= 0:
            add_message_actions(menu, self._current.actions_on(self._model.message(self.current_row)))
        return menu
