"""What rows of the page have in common, and the plainest of them: a checkpoint's divider.

A row is bound to a message, let go, and bound to another: only those in sight exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QWidget

from ..theme import Colours, mixed
from .body import Look, RenderBody, Voice
from .copying import Part
from .flat_button import FlatButton
from .life_sign import Beat
from .measures import BEGINNING, FOOT, PADDING, TOP, Measures
from .message import Message
from .plain import PlainText
from .wording import checkpoint_words, translate

Kind: TypeAlias = Literal["message", "checkpoint"]
Standing: TypeAlias = Literal["kept", "first", "covered"]
"""What a model is sent of a message: the message itself, the first of which that is true after a summary, or that
summary."""

FADED = 0.55
"""How far the ink of what is covered is on its way to the quiet one."""
_VIEW_GAP = 4
_AROUND = 12
"""Pixels between the line across the page and the words in it."""


@dataclass(frozen=True, slots=True)
class Page:
    """What all rows of a page have in common. `unfolded` tells which segments of a message are shown in full;
    `most_writing` is how many pixels high a question may become while it is written in its place. `hindrance` says why
    no other version can be shown now, "" where it can; `standing` is what the rows with this page are."""

    measures: Measures
    colours: Colours
    answers: RenderBody
    plain: PlainText
    when: Callable[[str], str]
    leads_to: Callable[[str], str]
    unfolded: Callable[[Message], set[int]]
    beat: Beat
    ratio: float = 1.0
    most_writing: int = 300
    hindrance: Callable[[], str] = str
    standing: Standing = "kept"

    def look(self, voice: Voice) -> Look:
        """How text of a voice is drawn."""
        quiet = voice == "quiet"
        text, muted = self.colours.text, self.colours.muted
        ink = mixed(text, muted, FADED) if self.standing == "covered" else text
        return Look(
            self.colours,
            muted if quiet else ink,
            self.measures.quiet_pixels if quiet else self.measures.reading_pixels,
            self.leads_to,
            self.ratio,
        )


class Place(NamedTuple):
    """A place in a row that outlives another layout: a piece, a place in its text (-1 where it is not drawn), and how
    many pixels below that. Piece -1 is the row's beginning."""

    piece: int
    position: int
    below: int


def kind_of(message: Message) -> Kind:
    """Which row shows a message."""
    return "checkpoint" if message.role == "checkpoint" else "message"


class Row(QWidget):
    """A row of the page. `number` is its place in the chat, -1 while it shows no message.

    Signals:
        resized(row): its height changed by what the person did in it.
        entered(row, place): the pointer came in, `place` on the screen.
        pressed(row): a mouse button went down on its text.
        dragged(place): a selection is being drawn, `place` on the screen.
        released: it is drawn.
        link_clicked(link), link_ctrl_clicked(link), link_hovered(link): see TextBox.
        menu_wanted(link, citation, place): see TextBox.
        version_wanted(node_id): another version of the message is wanted.
        edit_wanted(row, send): what is written in its place is to be sent, or left.
        offer_taken(row, name): the action of a name is wanted, which stands under it.
        checkpoint_wanted(node_id): what a checkpoint is, is to be shown.
    """

    resized = Signal(object)
    entered = Signal(object, object)
    pressed = Signal(object)
    dragged = Signal(object)
    released = Signal()
    link_clicked = Signal(str)
    link_ctrl_clicked = Signal(str)
    link_hovered = Signal(str)
    menu_wanted = Signal(str, object, object)
    version_wanted = Signal(str)
    edit_wanted = Signal(object, bool)
    offer_taken = Signal(object, str)
    checkpoint_wanted = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.number = -1
        self.message: Message | None = None
        self.page: Page | None = None
        self._current = self._ringed = False

    def bind(self, number: int, message: Message, page: Page) -> None:
        """Show a message, or show it as it is now."""
        self.number, self.message, self.page = number, message, page
        self.setObjectName(f"message{number}")

    def let_go(self) -> None:
        """Show nothing."""
        self.number, self.message = -1, None
        self.mark(current=False, ringed=False)
        self.hide()
        self.setObjectName("")

    def lay_out(self, top: int, bottom: int) -> int:
        """Lay out what is seen of the row between two heights in it; returns the height of the whole. Nothing of it
        is moved or drawn yet."""
        raise NotImplementedError

    def arrange(self) -> None:
        """Take on the layout."""
        raise NotImplementedError

    @property
    def complete(self) -> bool:
        """Whether all of it is drawn, so that its height is exact."""
        return True

    def place_at(self, y: int) -> Place:
        """The place at a height in the row."""
        return Place(-1, -1, y)

    def y_of(self, place: Place) -> int:
        """The height at which a place is now."""
        return place.below

    def mark(self, *, current: bool, ringed: bool) -> None:
        """Whether the Tab key goes through it, and whether it has the keyboard's ring."""
        if (current, ringed) != (self._current, self._ringed):
            self._current, self._ringed = current, ringed
            self.update()
        policy = Qt.FocusPolicy.StrongFocus if current else Qt.FocusPolicy.ClickFocus
        for stop in self.stops:
            if stop.focusPolicy() != policy:
                stop.setFocusPolicy(policy)

    indent = 0
    """Pixels that what it says stands in from the column."""
    foot = FOOT
    """Pixels below what it says."""

    @property
    def top(self) -> int:
        """Pixels above what it says: the page begins with some more."""
        return TOP + (BEGINNING if self.number == 0 else 0)

    @property
    def _ring_top(self) -> int:
        return self.top - TOP + 1

    def place_for_actions(self, width: int) -> QRect:
        """Where actions of a width stand in the row: under what it says."""
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        inset = PADDING + self.indent
        x = self.width() - inset - width if mirrored else inset
        return QRect(x, self.height() - self.foot + 2, width, self.foot - 4)

    @property
    def stops(self) -> list[QWidget]:
        """Where the Tab key goes in it, in order."""
        return []

    @property
    def engaged(self) -> bool:
        """Whether the reader has a selection or the focus in it: then it must not be let go."""
        focus = QApplication.focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    @property
    def selection(self) -> list[Part]:
        """The text that is selected in it; what is not drawn is left to be worked out."""
        return []

    def begin_writing(self) -> None:
        """Put the keyboard's focus where its text is written, if it is."""

    def show_hindrance(self) -> None:
        """Other versions can be shown now, or cannot any more."""

    def clear_selection(self) -> None:
        """Select nothing."""

    def select_all(self) -> None:
        """Select all text."""

    def select_towards(self, place: QPoint) -> None:
        """Let the selection that is being drawn reach to a place on the screen."""

    missing: tuple[object, ...] = ()
    """The formulas in it that are shown as their source, for want of a picture."""

    def forget_missing(self) -> None:
        """There may be pictures now: where there were none, draw anew when the row is bound again."""

    def find_text(self, text: str, *, backwards: bool, again: bool) -> int | None:
        """Select the first place that reads so, or the last; with `again` the next from what is selected. Returns the
        height at which it stands, None where there is none."""
        return None

    def enterEvent(self, event: QEnterEvent) -> None:
        """Tell it."""
        self.entered.emit(self, event.globalPosition())
        super().enterEvent(event)

    def _draw_ring(self, painter: QPainter) -> None:
        if self._ringed and self.page is not None:
            painter.setPen(QPen(QColor(self.page.colours.accent), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, self._ring_top, -1, 4 - self.foot), 10, 10)


class CheckpointDivider(Row):
    """A quiet line across the page: what is older than where its summary ends, is sent as that."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._text = ""
        self._view = FlatButton("checkpointViewButton", self, strong=True)
        self._view.setText(translate("Chat", "view"))
        self._view.setToolTip(translate("Chat", "What the model sees of earlier messages"))
        self._view.clicked.connect(self._want)

    def bind(self, number: int, message: Message, page: Page) -> None:
        """Show a checkpoint."""
        super().bind(number, message, page)
        self._text = " · ".join(filter(None, (checkpoint_words(message), message.note)))
        self.setFont(page.measures.quiet)
        self.setAccessibleName(self._text)
        self._view.setFont(page.measures.quiet)
        self._view.colours = page.colours
        self._view.setAccessibleName(translate("Chat", "View the checkpoint"))
        self._view.setAccessibleDescription(self._text)
        self.update()

    def lay_out(self, top: int, bottom: int) -> int:
        """A line of the page."""
        assert self.page is not None
        return self.top - TOP + self.page.measures.divider

    def arrange(self) -> None:
        """Take the width of the page."""
        assert self.page is not None
        self.resize(self.page.measures.column, self.lay_out(0, 0))
        begin, words, view = self._places()
        height = self.page.measures.quiet_line + 4
        x = begin + words
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            x = self.width() - x - view
        self._view.setGeometry(x, self._room.center().y() - height // 2, view, height)

    @property
    def stops(self) -> list[QWidget]:
        """Where the Tab key goes in it, in order."""
        return [self._view]

    @property
    def _room(self) -> QRect:
        return QRect(0, self.top, self.width(), self.height() - self.top - TOP)

    def _places(self) -> tuple[int, int, int]:
        """Where the words begin, and how wide they and the button are."""
        view = self._view.fontMetrics().horizontalAdvance(self._view.text()) + 2 * _VIEW_GAP
        most = max(0, self.width() - 2 * _AROUND - view - 40)
        words = min(self.fontMetrics().horizontalAdvance(f"{self._text} ·"), most)
        return (self.width() - words - view) // 2, words, view

    def _want(self) -> None:
        if self.message is not None:
            self.checkpoint_wanted.emit(self.message.node_id)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the line and the words in it."""
        if self.page is None:
            return
        painter = QPainter(self)
        room = self._room
        begin, words, view = self._places()
        painter.setPen(QColor(self.page.colours.line))
        y = room.center().y()
        painter.drawLine(0, y, begin - _AROUND, y)
        painter.drawLine(begin + words + view + _AROUND, y, self.width(), y)
        painter.setPen(QColor(self.page.colours.muted))
        x = self.width() - begin - words if self.layoutDirection() == Qt.LayoutDirection.RightToLeft else begin
        text = self.fontMetrics().elidedText(f"{self._text} ·", Qt.TextElideMode.ElideRight, words)
        flags = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.drawText(QRect(x, room.top(), words, room.height()), flags, text)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_ring(painter)
        painter.end()
