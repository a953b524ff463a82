"""The row of a message: heading, steps and text in their order, and a note."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from .body import Piece, StepPiece, TextPiece, pieces
from .conversation import Message
from .cuts import PIECE, Cuts
from .ink_label import InkLabel
from .measures import BUBBLE_PADDING, FOOT, GAP, INDENT, PADDING, TOP
from .row_selection import RowSelection
from .rows import Page, Place, Row
from .step_line import StepLine
from .text_box import TextBox
from .wording import heading

_KEPT = 2
"""Parts of a long message are kept this many times the height of what is seen, above and below it."""


class MessageRow(Row):
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
        self._pieces: list[Piece] = []
        self._heights: list[int] = []
        self._parts: dict[int, TextBox | StepLine] = {}
        self._spare_boxes: list[TextBox] = []
        self._spare_lines: list[StepLine] = []
        self._cuts: dict[int, Cuts] = {}
        self._drawn_whole = True
        self._laid_height = self._note_top = self._note_height = 0
        self._selection = RowSelection(self, self._boxes)

    # Content

    def bind(self, number: int, message: Message, page: Page) -> None:
        """Show a message, or show it as it is now."""
        if message is not self.message:
            self._release_all()
        before = self.page
        super().bind(number, message, page)
        if page is not before:
            self._take_on(page)
        self.indent = INDENT if message.role == "user" else 0
        self._heading.setText(heading(message, page.when))
        self.setAccessibleName(self._heading.text())
        new = pieces(message, page.unfolded(message), self._cuts) if message.ready else []
        for index, part in list(self._parts.items()):
            if index >= len(new) or not self._is_for(part, new[index]):
                self._release(index)
        known = len(self._pieces) if before is not None and page.measures == before.measures else 0
        # A piece that grows keeps its height until it is laid out again.
        self._heights = [
            self._heights[index]
            if index < known and (index in self._parts or piece == self._pieces[index])
            else page.measures.piece_height(piece)
            for index, piece in enumerate(new)
        ]
        self._pieces = new
        self._drawn_whole = sum(len(piece.run) for piece in new if isinstance(piece, TextPiece)) <= PIECE
        for index, part in self._parts.items():
            self._write(index, part)
        self._show_note(message, page)
        self._look_for_missing()

    def let_go(self) -> None:
        """Show nothing."""
        self._release_all()
        super().let_go()

    def _take_on(self, page: Page) -> None:
        for label in (self._heading, self._note):
            label.setFont(page.measures.quiet)
        self._heading.set_ink(page.colours.muted)
        self.update()

    def _show_note(self, message: Message, page: Page) -> None:
        if not message.note and self._note.isHidden():
            return
        self._note.setText(message.note)
        self._note.setVisible(bool(message.note))
        self._note.set_ink(page.colours.muted if message.status == "stored" else page.colours.accent)

    @staticmethod
    def _is_for(part: TextBox | StepLine, piece: Piece) -> bool:
        return isinstance(part, TextBox) == isinstance(piece, TextPiece)

    def _write(self, index: int, part: TextBox | StepLine) -> None:
        page, message, piece = self.page, self.message, self._pieces[index]
        assert page is not None
        assert message is not None
        if isinstance(part, StepLine) and isinstance(piece, StepPiece):
            part.setFont(page.measures.quiet)
            part.show_step(piece, page.colours)
        elif isinstance(part, TextBox) and isinstance(piece, TextPiece):
            renderer = page.answers if piece.voice == "answer" else page.plain
            font = page.measures.quiet if piece.voice == "quiet" else page.measures.reading
            part.set_width(page.measures.text_width(question=self._is_question))
            part.dress(renderer, page.look(piece.voice), font)
            if message.status == "streaming" and index == len(self._pieces) - 1:
                part.content.grow(piece.run)
            else:
                part.content.show(piece.run)

    # Parts

    def _part(self, index: int) -> TextBox | StepLine:
        """The widget of a piece, made or taken again where there is none."""
        if index in self._parts:
            return self._parts[index]
        part: TextBox | StepLine
        if isinstance(self._pieces[index], TextPiece):
            part = self._spare_boxes.pop() if self._spare_boxes else self._make_box()
        else:
            part = self._spare_lines.pop() if self._spare_lines else self._make_line()
        self._parts[index] = part
        self._write(index, part)
        self._look_for_missing()
        return part

    def _make_box(self) -> TextBox:
        box = TextBox(self)
        box.link_clicked.connect(self.link_clicked)
        box.link_ctrl_clicked.connect(self.link_ctrl_clicked)
        box.link_hovered.connect(self.link_hovered)
        box.menu_wanted.connect(self.menu_wanted)
        box.pressed.connect(self._begin_selection)
        box.dragged.connect(self._drag)
        box.released.connect(self.released)
        return box

    def _make_line(self) -> StepLine:
        line = StepLine(self)
        line.clicked.connect(self._fold)
        return line

    def _release(self, index: int) -> None:
        part = self._parts.pop(index)
        part.hide()
        part.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        if isinstance(part, TextBox):
            part.content.clear()
            self._spare_boxes.append(part)
        else:
            self._spare_lines.append(part)

    def _release_all(self) -> None:
        for index in list(self._parts):
            self._release(index)
        self._pieces, self._heights, self._cuts = [], [], {}

    def _fold(self) -> None:
        line = self.sender()
        index = next(index for index, part in self._parts.items() if part is line)
        piece = self._pieces[index]
        assert isinstance(piece, StepPiece)
        assert self.page is not None
        assert self.message is not None
        self.page.unfolded(self.message).symmetric_difference_update({piece.number})
        self.bind(self.number, self.message, self.page)
        self.resized.emit(self)

    @property
    def stops(self) -> list[QWidget]:
        """Where the Tab key goes in it, in order."""
        parts = [part for _, part in sorted(self._parts.items())]
        return [part for part in parts if isinstance(part, StepLine) or part.content.has_links]

    # Geometry

    @property
    def _is_question(self) -> bool:
        return self.message is not None and self.message.role == "user"

    def lay_out(self, top: int, bottom: int) -> int:
        """Lay out what is seen of the row between two heights in it; returns the height of the whole. Nothing of it
        is moved or drawn yet."""
        assert self.page is not None
        assert self.message is not None
        measures = self.page.measures
        width = measures.text_width(question=self._is_question)
        y = self._first_top()
        far = _KEPT * max(0, bottom - top)
        for index in range(len(self._pieces)):
            y += self._gap(index)
            height = self._heights[index]
            if self._drawn_whole or (y + height >= top and y <= bottom):
                part = self._part(index)
                height = part.height_at(width) if isinstance(part, TextBox) else measures.quiet_line
                self._heights[index] = height
            elif index in self._parts and (y + height < top - far or y > bottom + far):
                self._release(index)
            y += height
        if not self.message.ready:
            y += GAP + measures.expected_height(self.message)
        if self.message.note:
            self._note_top, self._note_height = y + GAP, self._note.heightForWidth(width)
            y = self._note_top + self._note_height
        self._laid_height = y + FOOT + (BUBBLE_PADDING if self._is_question else 0)
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
        self._heading.setGeometry(x, self._first_top() - measures.quiet_line, width, measures.quiet_line)
        for index, top in self._tops():
            part = self._parts.get(index)
            if part is None:
                continue
            place = QRect(x, top, width, self._heights[index])
            if isinstance(part, TextBox):
                part.arrange(place)
            else:
                part.setGeometry(place)
            if part.isHidden():
                part.show()
        if self.message is not None and self.message.note:
            self._note.setGeometry(x, self._note_top, width, self._note_height)

    def _first_top(self) -> int:
        """Where the heading ends."""
        assert self.page is not None
        return TOP + (BUBBLE_PADDING if self._is_question else 0) + self.page.measures.quiet_line

    def _gap(self, index: int) -> int:
        """The space above a piece: none where a long text was cut."""
        if not index:
            return GAP // 2
        return 0 if all(isinstance(piece, TextPiece) for piece in self._pieces[index - 1 : index + 1]) else GAP

    def _tops(self) -> Iterator[tuple[int, int]]:
        """Each piece's number and where it begins."""
        y = self._first_top()
        for index, height in enumerate(self._heights):
            y += self._gap(index)
            yield index, y
            y += height

    @property
    def complete(self) -> bool:
        """Whether all of it is drawn, so that its height is exact."""
        return len(self._parts) == len(self._pieces)

    def place_at(self, y: int) -> Place:
        """The place at a height in the row."""
        found = Place(-1, -1, y)
        for index, top in self._tops():
            if top > y:
                break
            found = Place(index, -1, y - top)
        part = self._parts.get(found.piece)
        if isinstance(part, TextBox):
            position = part.position_at(found.below)
            return Place(found.piece, position, found.below - part.y_of(position))
        return found

    def y_of(self, place: Place) -> int:
        """The height at which a place is now."""
        for index, top in self._tops():
            if index == place.piece:
                part = self._parts.get(index)
                inside = part.y_of(place.position) if isinstance(part, TextBox) and place.position >= 0 else 0
                return top + inside + place.below
        return max(0, place.below)

    # Selection

    def _begin_selection(self) -> None:
        box = self.sender()
        assert isinstance(box, TextBox)
        self._selection.begin(box)
        self.pressed.emit(self)

    def _drag(self, place: QPoint) -> None:
        self._selection.reach_beyond(place)
        self.dragged.emit(place)

    def select_towards(self, place: QPoint) -> None:
        """Let the selection that is being drawn reach to a place on the screen."""
        self._selection.reach(place)

    def _boxes(self) -> list[TextBox]:
        return [part for _, part in sorted(self._parts.items()) if isinstance(part, TextBox)]

    @property
    def engaged(self) -> bool:
        """Whether the reader has a selection or the focus in it: then it must not be let go."""
        return super().engaged or bool(self._selection)

    @property
    def selected(self) -> str:
        """The text that is selected in it."""
        return self._selection.text

    def clear_selection(self) -> None:
        """Select nothing."""
        self._selection.clear()

    def select_all(self) -> None:
        """Select all text."""
        self._selection.take_all()

    def _look_for_missing(self) -> None:
        self.missing = tuple(formula for box in self._boxes() for formula in box.content.missing)

    def forget_missing(self) -> None:
        """There may be pictures now: where there were none, draw anew when the row is bound again."""
        for box in self._boxes():
            if box.content.missing:
                box.content.clear()

    def find_text(self, text: str, *, backwards: bool, again: bool) -> int | None:
        """Select the first place that reads so, or the last; with `again` the next from what is selected. Returns the
        height at which it stands, None where there is none."""
        assert self.page is not None
        width = self.page.measures.text_width(question=self._is_question)
        selected = [index for index, part in self._parts.items() if isinstance(part, TextBox) and part.selected]
        start = (max(selected) if backwards else min(selected)) if again and selected else None
        order = range(len(self._pieces))
        for index in reversed(order) if backwards else order:
            piece = self._pieces[index]
            passed = start is not None and (index > start if backwards else index < start)
            if passed or not isinstance(piece, TextPiece) or text.casefold() not in piece.run.words.casefold():
                continue
            box = self._part(index)
            assert isinstance(box, TextBox)
            if box.find_text(text, backwards=backwards, again=index == start):
                self._heights[index] = box.height_at(width)
                self._selection.begin(box)
                top = next(top for number, top in self._tops() if number == index)
                return top + box.y_of(box.textCursor().selectionStart())
        return None

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
        if not self._is_question and not self._ringed:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._is_question:
            mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self.page.colours.bubble))
            left, right = (0, -INDENT) if mirrored else (INDENT, 0)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(left, TOP, right, -FOOT), 10, 10)
        self._draw_ring(painter)
        painter.end()
