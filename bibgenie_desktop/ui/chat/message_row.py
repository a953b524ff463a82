"""The row of a message: heading, steps and text in their order, and a note."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from ..theme import mixed
from .body import StepPiece, TextPiece
from .edit_panel import EditPanel
from .ink_label import InkLabel
from .life_sign import LifeSign
from .measures import BUBBLE_PADDING, FOOT, GAP, INDENT, PADDING, QUESTION_FOOT, TOP
from .message import Message
from .offer_line import OfferLine
from .rows import FADED, Page
from .text_box import TextBox
from .text_row import TextRow
from .version_switch import VersionSwitch
from .wording import covered_words, first_kept_words, heading, note, version_words, waiting_words

_DESCRIBED = 300
"""Characters of a message that a screen reader reads out for it."""


class MessageRow(TextRow):
    """A question in its bubble, or an answer.

    Of a long message only what is seen is drawn; the rest is an estimate, as the rows of the page are.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        # A row that grows at its end is not drawn again from its beginning.
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self._heading = InkLabel("messageHeading", self)
        self._note = InkLabel("messageNote", self)
        self._note.setWordWrap(True)
        self._note.hide()
        self._versions: VersionSwitch | None = None
        self._offers: OfferLine | None = None
        self._panel: EditPanel | None = None
        self._sign: LifeSign | None = None
        self._waits = False
        self._sign_top = 0
        self._laid_height = self._note_top = self._note_height = 0
        self._offers_top = self._panel_height = 0

    # Content

    def bind(self, number: int, message: Message, page: Page) -> None:
        """Show a message, or show it as it is now."""
        if message is not self.message:
            self._release_all()
        before = self.page
        super().bind(number, message, page)
        if page is not before:
            self._take_on(page)
        question = message.role == "user"
        self.indent, self.foot = (INDENT, QUESTION_FOOT) if question else (0, FOOT)
        self._heading.setText(heading(message, page.when))
        several = version_words(message) if message.versions > 1 else ""
        covered = covered_words() if page.standing == "covered" else ""
        self.setAccessibleName(" · ".join(filter(None, (self._heading.text(), several, covered))))
        self._describe(message)
        self._show_edit(message, page)
        self._show_pieces(message, page, before)
        self._show_life(message, page)
        self._show_note(message, page)
        self._show_versions(message, page)
        self._show_offers(message, page)
        self._look_for_missing()

    def _describe(self, message: Message) -> None:
        """How the message begins, for who cannot see it."""
        begin = ""
        for segment in message.segments:
            if len(begin) >= _DESCRIBED:
                break
            if segment.kind in ("text", "citation"):
                begin += segment.text[:_DESCRIBED]
        begin = " ".join(begin[:_DESCRIBED].split())
        if begin != self.accessibleDescription():
            self.setAccessibleDescription(begin)

    def let_go(self) -> None:
        """Show nothing."""
        self._release_all()
        for part in (self._versions, self._offers):
            if part is not None:
                part.hide()
        if self._panel is not None:
            self._panel.let_go()
        super().let_go()

    def _take_on(self, page: Page) -> None:
        for label in (self._heading, self._note):
            label.setFont(page.measures.quiet)
        self._heading.set_ink(page.colours.muted)
        self.update()

    def _show_note(self, message: Message, page: Page) -> None:
        words = "" if message.edit is not None else note(message)
        if words != self._note.text():
            self._note.setText(words)
        self._note.setVisible(bool(words))
        self._note.set_ink(page.colours.muted if message.status == "stored" else page.colours.accent)

    def _show_versions(self, message: Message, page: Page) -> None:
        if message.versions > 1 and self._versions is None:
            self._versions = VersionSwitch(self)
            self._versions.wanted.connect(self.version_wanted)
        if self._versions is not None:
            self._versions.setVisible(message.versions > 1)
            self._versions.set_look(page.measures.quiet, page.colours)
            self._versions.show_versions(message, page.hindrance())

    def show_hindrance(self) -> None:
        """Other versions can be shown now, or cannot any more."""
        if self.message is not None and self.page is not None:
            self._show_versions(self.message, self.page)

    def _show_offers(self, message: Message, page: Page) -> None:
        offers = () if message.edit is not None else message.offers
        if offers and self._offers is None:
            self._offers = OfferLine(self)
            self._offers.taken.connect(lambda name: self.offer_taken.emit(self, name))
        if self._offers is not None:
            self._offers.setVisible(bool(offers))
            self._offers.set_look(page.measures.quiet, page.colours)
            self._offers.show_offers(offers)

    def _show_edit(self, message: Message, page: Page) -> None:
        if message.edit is not None:
            if self._panel is None:
                self._panel = EditPanel(self)
                self._panel.resized.connect(lambda: self.resized.emit(self))
                self._panel.finished.connect(lambda send: self.edit_wanted.emit(self, send))
            self._panel.show_edit(message.edit, page.measures.reading, page.measures.quiet, page.colours)
        elif self._panel is not None:
            self._panel.let_go()

    def begin_writing(self) -> None:
        """Put the keyboard's focus where its text is written, if it is."""
        if self._panel is not None and self.message is not None and self.message.edit is not None:
            self._panel.box.setFocus()

    def _show_life(self, message: Message, page: Page) -> None:
        """Show that the answer is still coming: where its text goes on, or on a line below its steps. A step that runs
        shows it itself."""
        coming = message.status == "streaming"
        goes_on = coming and bool(self._pieces) and isinstance(self._pieces[-1], TextPiece)
        for index, part in self._parts.items():
            if isinstance(part, TextBox):
                part.set_going_on(page.beat if goes_on and index == len(self._pieces) - 1 else None)
        running = any(isinstance(piece, StepPiece) and piece.running for piece in self._pieces)
        self._waits = coming and not goes_on and not running
        if self._waits:
            if self._sign is None:
                self._sign = LifeSign(self)
            self._sign.setFont(page.measures.quiet)
            self._sign.set_look(page.beat, page.colours, waiting_words())
        elif self._sign is not None:
            self._sign.hide()

    @property
    def stops(self) -> list[QWidget]:
        """Where the Tab key goes in it, in order."""
        stops = self._text_stops
        message = self.message
        if message is None:
            return stops
        versions = self._versions.stops if self._versions is not None and message.versions > 1 else []
        panel = self._panel.stops if self._panel is not None and message.edit is not None else []
        offers = self._offers.stops if self._offers is not None and message.offers and not panel else []
        return [*versions, *stops, *panel, *offers]

    # Geometry

    @property
    def top(self) -> int:
        """Pixels above what it says: the first that is kept word for word has the line there that says so."""
        is_first = self.page is not None and self.page.standing == "first"
        return super().top + (self._line_height if is_first else 0)

    @property
    def _line_height(self) -> int:
        return self.page.measures.quiet_line + TOP if self.page is not None else 0

    def lay_out(self, top: int, bottom: int) -> int:
        """Lay out what is seen of the row between two heights in it; returns the height of the whole. Nothing of it
        is moved or drawn yet."""
        assert self.page is not None
        assert self.message is not None
        measures = self.page.measures
        width = measures.text_width(question=self._is_question)
        y = self._lay_out_pieces(self._first_top(), top, bottom)
        if self.message.edit is not None and self._panel is not None:
            self._panel_height = self._panel.height_at(width, self.page.most_writing)
            y += GAP // 2 + self._panel_height
        elif not self.message.ready:
            y += GAP + measures.expected_height(self.message)
        if self._note.text():
            self._note_top, self._note_height = y + GAP, self._note.heightForWidth(width)
            y = self._note_top + self._note_height
        if self._has_offers:
            self._offers_top = y + (GAP // 2 if self._note.text() else GAP)
            y = self._offers_top + measures.quiet_line
        if self._waits:
            self._sign_top = y + (GAP if self._pieces else GAP // 2)
            y = self._sign_top + measures.quiet_line
        self._laid_height = y + self.foot + (BUBBLE_PADDING if self._is_question else 0)
        return self._laid_height

    def arrange(self) -> None:
        """Take on the layout."""
        assert self.page is not None
        measures = self.page.measures
        width = measures.text_width(question=self._is_question)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        x = PADDING + (INDENT if self._is_question and not mirrored else 0)
        if (self.width(), self.height()) != (measures.column, self._laid_height):
            self.resize(measures.column, self._laid_height)
        line = QRect(x, self._first_top() - measures.quiet_line, width, measures.quiet_line)
        self._arrange_heading(line, mirrored=mirrored)
        if self._panel is not None and self.message is not None and self.message.edit is not None:
            self._panel.arrange(QRect(x, self._first_top() + GAP // 2, width, self._panel_height))
            if self._panel.isHidden():
                self._panel.show()
        self._arrange_pieces(x, width)
        if self._note.text():
            self._note.setGeometry(x, self._note_top, width, self._note_height)
        if self._has_offers and self._offers is not None:
            self._offers.arrange(QRect(x, self._offers_top, width, measures.quiet_line))
        if self._waits and self._sign is not None:
            self._sign.setGeometry(x, self._sign_top, width, measures.quiet_line)
            self._sign.show()

    def _arrange_heading(self, line: QRect, *, mirrored: bool) -> None:
        """The versions stand behind the words, which give way where room is scarce."""
        if self.message is None or self.message.versions < 2 or self._versions is None:
            self._heading.setGeometry(line)
            return
        own = self._versions.width_at(line.height())
        words = min(self._heading.fontMetrics().horizontalAdvance(self._heading.text()) + GAP, line.width() - own)
        switch = QRect(line.left() + words, line.top(), own, line.height())
        heading = QRect(line.left(), line.top(), words, line.height())
        if mirrored:
            heading.moveRight(line.right())
            switch.moveRight(line.right() - words)
        self._heading.setGeometry(heading)
        self._versions.arrange(switch)

    @property
    def _has_offers(self) -> bool:
        return self.message is not None and bool(self.message.offers) and self.message.edit is None

    def place_for_actions(self, width: int) -> QRect:
        """Where actions of a width stand in the row: beside the heading of a question, under an answer."""
        if not self._is_question:
            return super().place_for_actions(width)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        assert self.page is not None
        top, height = self._first_top() - self.page.measures.quiet_line, self.page.measures.quiet_line
        right = self.width() - PADDING
        return QRect(PADDING if mirrored else right - width, top, width, height)

    # Drawing

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw anew what goes around the row."""
        super().resizeEvent(event)
        if self._is_question or self._ringed:
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bubble and the ring."""
        if self.page is None:
            return
        is_first = self.page.standing == "first"
        if not self._is_question and not self._ringed and not is_first:
            return
        painter = QPainter(self)
        if is_first:
            self._draw_line(painter)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._is_question:
            mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
            painter.setPen(Qt.PenStyle.NoPen)
            bubble, is_covered = self.page.colours.bubble, self.page.standing == "covered"
            painter.setBrush(QColor(mixed(bubble, self.page.colours.paper, FADED) if is_covered else bubble))
            left, right = (0, -INDENT) if mirrored else (INDENT, 0)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(left, self.top, right, -self.foot), 10, 10)
        self._draw_ring(painter)
        painter.end()

    def _draw_line(self, painter: QPainter) -> None:
        """The line above the first message that is kept word for word."""
        assert self.page is not None
        words, colours = first_kept_words(), self.page.colours
        painter.setFont(self.page.measures.quiet)
        metrics = painter.fontMetrics()
        room = QRect(PADDING, self.top - self._line_height, self.width() - 2 * PADDING, self._line_height - TOP)
        text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room.width())
        width = metrics.horizontalAdvance(text)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        painter.setPen(QColor(colours.muted))
        painter.drawText(room, Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter, text)
        painter.setPen(QColor(colours.line))
        left, right = (
            (room.left(), room.right() - width - GAP) if mirrored else (room.left() + width + GAP, room.right())
        )
        painter.drawLine(left, room.center().y(), right, room.center().y())
