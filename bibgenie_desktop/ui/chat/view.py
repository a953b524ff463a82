"""The messages of the open chat on the page: `messageList`, a list of any length of which only what is seen exists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QCursor,
    QFocusEvent,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QMenu, QWidget

from ...protocol.messages import Segment
from ..links import LinkRouter
from ..theme import Theme, palette
from ..times import Clock, short
from ..timing import Coalesced, MakeTimer
from . import reading_keys
from .body import RenderBody
from .conversation import Conversation
from .copying import Copying
from .current_message import CurrentMessage
from .edit_panel import EditBox
from .jump_button import JumpButton
from .life_sign import Beat
from .measures import Measures
from .message import Message
from .message_menu import add_link_actions, add_message_actions, add_text_actions
from .model import TranscriptModel
from .page_layout import PageLayout
from .page_scroll_bar import PageScrollBar
from .page_search import PageSearch
from .plain import PlainText
from .row_pool import RowPool
from .rows import Page, Row
from .selecting import Selecting

REPAINT_MILLISECONDS = 33
"""Between two repaints of an answer that is seen while it streams."""
UNSEEN_MILLISECONDS = 250
"""Between two looks at an answer that streams out of sight."""
BODIES_MILLISECONDS = 40
"""Of quiet before bodies are asked for: who drags the scroll bar wants those where it stops."""
REST_MILLISECONDS = 15
"""Of quiet before the rows near to what is seen are laid out."""
AROUND = 6
"""Lines that a question has around its text while it is written in its place."""


def _suits_all(_name: str, _message: Message) -> bool:
    return True


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
        drawn_anew: messages that changed, such as those whose bodies came, are shown as they are now.
    """

    link_hovered = Signal(str)
    link_answered = Signal(str)
    bodies_wanted = Signal(int, int)
    formulas_wanted = Signal(tuple)
    current_changed = Signal(int)
    version_wanted = Signal(str)
    edit_wanted = Signal(bool)
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
        self._router = router
        self._clock = clock
        self._answers = answers
        self._plain = PlainText()
        self._unfolded: WeakKeyDictionary[Message, set[int]] = WeakKeyDictionary()
        self._stale: set[int] = set()
        self._unseen: set[int] = set()
        self._asked: set[int] = set()
        self._formulas: set[object] = set()
        self._pointer = QPointF(QCursor.pos())
        self._actions: list[QAction] = []
        self._suits: Callable[[str, Message], bool] = _suits_all
        self._beat = Beat(make_timer)
        self._model = TranscriptModel(self)
        self._jump = JumpButton(self.viewport())
        self._pool = RowPool(self.viewport(), self._adopt)
        self._layout = PageLayout(self, self._model, self._pool, self._make_page())
        self._current = CurrentMessage(self, self._layout)
        self._selecting = Selecting(self.viewport(), self._layout, make_timer)
        self._copying = Copying(make_timer)
        self._search = PageSearch(self._model, self._layout, self._selecting)
        self._drawing = Coalesced(self._draw, REPAINT_MILLISECONDS, make_timer, at_once=True)
        self._looking = Coalesced(self._draw_unseen, UNSEEN_MILLISECONDS, make_timer)
        self._asking = make_timer(self._ask_for_bodies)
        self._resting = make_timer(self._lay_out_ahead)
        self._jump.clicked.connect(self.go_to_end)
        self._model.modelReset.connect(self._reset)
        self._model.rowsInserted.connect(self._appended)
        self._model.rowsRemoved.connect(self._truncated)
        self._model.replacing.connect(self._layout.replacing)
        self._model.replaced_from.connect(self._replaced)
        self._model.dataChanged.connect(lambda first: self._changed(first.row()))
        self._model.streamed.connect(self._streamed)
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
        seen = self._layout.seen()
        return not self._stale.intersection(seen) and all(self._model.message(number).ready for number in seen)

    # What happens to the messages

    def _reset(self) -> None:
        for numbers in (self._stale, self._unseen, self._asked):
            numbers.clear()
        self._current.number = min(self._current.number, self._model.rowCount() - 1)
        self._search.reset()
        self._layout.reset()
        self._settled()

    def _appended(self) -> None:
        self._layout.appended()
        if not self._layout.is_replacing:
            self._settled()

    def _truncated(self) -> None:
        count = self._model.rowCount()
        for numbers in (self._stale, self._unseen, self._asked):
            numbers.intersection_update(range(count))
        self._layout.truncated()
        if not self._layout.is_replacing:
            self._current.number = min(self._current.number, count - 1)
            self._settled()

    def _replaced(self, first: int) -> None:
        self._current.number = min(self._current.number, self._model.rowCount() - 1)
        self._search.reset()
        self._layout.replaced(first)
        self._settled()

    def _changed(self, number: int) -> None:
        self._stale.add(number)
        self._drawing.ask()

    def _streamed(self, number: int) -> None:
        if number in self._layout.seen():
            self._changed(number)
        else:
            self._unseen.add(number)
            self._looking.ask()

    def _draw(self) -> None:
        stale, self._stale = self._stale, set()
        self._layout.refresh(stale)
        self._settled()
        self.drawn_anew.emit()

    def _draw_unseen(self) -> None:
        self._stale |= self._unseen
        self._unseen.clear()
        self._draw()

    def _settled(self) -> None:
        """The rows are where they belong: so must be what goes with them."""
        if self._unseen.intersection(self._layout.seen()):
            # What came into sight is drawn as it is now.
            self._draw_unseen()
            return
        self._jump.put_on(self.viewport().rect())
        is_writing = isinstance(QApplication.focusWidget(), EditBox)
        self._jump.setVisible(not self._layout.at_end and self._layout.is_more_below and not is_writing)
        self._current.show(self.current_row)
        self._ask_for_formulas()
        if self._missing():
            self._asking.start(BODIES_MILLISECONDS)
        if self._layout.wants_more:
            self._resting.start(REST_MILLISECONDS)

    def _ask_for_formulas(self) -> None:
        wanted = {formula for row in self._layout.rows.values() for formula in row.missing} - self._formulas
        if wanted:
            self._formulas |= wanted
            self.formulas_wanted.emit(tuple(wanted))

    def formulas_drawn(self) -> None:
        """There are pictures of formulas that there were not when they were wanted."""
        numbers = [number for number, row in self._layout.rows.items() if row.missing]
        for number in numbers:
            self._layout.rows[number].forget_missing()
        self._layout.refresh(numbers)
        self._settled()

    def _lay_out_ahead(self) -> None:
        self._layout.lay_out_ahead()
        self._settled()

    def _missing(self) -> list[int]:
        near = self._layout.near()
        return [number for number in near if number not in self._asked and not self._model.message(number).ready]

    def _ask_for_bodies(self) -> None:
        if missing := self._missing():
            self._asked.update(missing)
            self.bodies_wanted.emit(missing[0], missing[-1])

    # The look

    def _make_page(self) -> Page:
        return Page(
            measures=Measures.of(self.font(), self.viewport().width()),
            colours=self._theme.colours,
            answers=self._answers,
            plain=self._plain,
            when=lambda stamp: short(stamp, self._clock()),
            leads_to=self._leads_to,
            unfolded=lambda message: self._unfolded.setdefault(message, set()),
            beat=self._beat,
            ratio=self.devicePixelRatioF(),
            most_writing=self._most_writing(),
        )

    def _most_writing(self) -> int:
        """A third of the window, or what leaves room for all else of a question in a low one."""
        return min(self.window().height() // 3, self.viewport().height() - self.fontMetrics().lineSpacing() * AROUND)

    def _restyle(self) -> None:
        self.setPalette(palette(self._theme.colours))
        self._thumb.paper = QColor(self._theme.colours.paper)
        self._current.set_colours(self._theme.colours)
        self._jump.set_colours(self._theme.colours)
        self._turn_page()

    def _turn_page(self) -> None:
        self._layout.turn_page(self._make_page())
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
        elif not reading_keys.press(event, self, self._layout):
            event.ignore()

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

    def set_actions(self, actions: Sequence[QAction], suits: Callable[[str, Message], bool] = _suits_all) -> None:
        """Offer these actions under the current message, and in its menu. `suits` tells whether the one of a name has
        to do with such a message at all."""
        self._actions = [*actions]
        self._suits = suits
        self._current.set_actions(actions, self._theme.colours, suits)
        self._current.show(self.current_row)

    def show_actions(self) -> None:
        """What is allowed on the current message may be something else now."""
        self._current.show(self.current_row)

    # The question that is written in its place

    def write_in(self, number: int) -> None:
        """Bring a question that is being edited into sight, and go there to write."""
        self.set_current_row(number)
        self._draw()
        if number not in self._layout.seen() or self._layout.top_of(number) < 0:
            self._layout.go_to_row(number)
        self._show_whole(number)
        self._layout.row(number).begin_writing()

    def _show_whole(self, number: int) -> None:
        """Scroll until the end of a row is in sight."""
        below = self._layout.top_of(number) + self._layout.index.height(number) - self._layout.height
        if below > 0:
            self.scroll_by(below)
        self._settled()

    def _edit_wanted(self, row: Row, send: bool) -> None:
        self.set_current_row(row.number)
        self.edit_wanted.emit(send)

    def _offer_taken(self, row: Row, name: str) -> None:
        self.set_current_row(row.number)
        wanted = next((each for each in self._actions if each.objectName() == name), None)
        if wanted is not None and wanted.isEnabled():
            wanted.trigger()
        elif wanted is not None:
            self.link_answered.emit(wanted.toolTip())

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
        row.link_clicked.connect(self._open_link)
        row.link_ctrl_clicked.connect(self._open_in_zotero)
        row.link_hovered.connect(self._hover_link)
        row.menu_wanted.connect(self._pop_menu_up)
        row.version_wanted.connect(self.version_wanted)
        row.edit_wanted.connect(self._edit_wanted)
        row.offer_taken.connect(self._offer_taken)

    def _row_resized(self, row: Row) -> None:
        self._layout.hold(row.number)
        self._layout.refresh([row.number])
        if row.message is not None and row.message.edit is not None:
            self._show_whole(row.number)
        self._settled()

    def _row_entered(self, row: Row, place: QPointF) -> None:
        # Rows that are moved under a pointer that rests are not chosen by it.
        if place != self._pointer:
            self._pointer = place
            self._current.hovered = True
            self.set_current_row(row.number)
            self._current.show(self.current_row)

    def _leads_to(self, link: str) -> str:
        return self._router.route(link).sentence if link else ""

    def _hover_link(self, link: str) -> None:
        self.link_hovered.emit(self._leads_to(link))

    def _open_link(self, link: str) -> None:
        self.link_answered.emit(self._router.open(link))

    def _open_in_zotero(self, link: str) -> None:
        self.link_answered.emit(self._router.open_in_zotero(link))

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
        if link or citation:
            add_link_actions(menu, self._router.route(link), link, citation, self._open_link, self._open_in_zotero)
        add_text_actions(menu, self.copy_selection if self._selecting.parts else None, self.select_current)
        if self.current_row >= 0:
            message = self._model.message(self.current_row)
            add_message_actions(menu, [each for each in self._actions if self._suits(each.objectName(), message)])
        return menu
