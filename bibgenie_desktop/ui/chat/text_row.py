"""The text of a message's row: steps and text in pieces, of which only what is seen is drawn; the rest is an estimate,
as the rows of the page are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QWidget

from .body import Piece, RenderBody, StepPiece, TextPiece, pieces
from .copying import Part
from .cuts import PIECE, Cuts
from .document_text import plain_text
from .measures import BUBBLE_PADDING, GAP
from .message import Message
from .row_selection import RowSelection
from .rows import Page, Place, Row
from .step_line import StepLine
from .text_box import TextBox
from .wording import voice_name

_KEPT = 2
"""Parts of a long message are kept this many times the height of what is seen, above and below it."""


class TextRow(Row):
    """A row with the text of a message, below its heading."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._pieces: list[Piece] = []
        self._heights: list[int] = []
        self._parts: dict[int, TextBox | StepLine] = {}
        self._spare_boxes: list[TextBox] = []
        self._spare_lines: list[StepLine] = []
        self._cuts: dict[int, Cuts] = {}
        self._drawn_whole = True
        self._selection = RowSelection(self, self._boxes)

    def _show_pieces(self, message: Message, page: Page, before: Page | None) -> None:
        """Show the text as it is now; `before` is the page it was shown on until now."""
        shown = message.ready and message.edit is None
        new = pieces(message, page.unfolded(message), self._cuts) if shown else []
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
        cut = len(self._pieces) - 1
        box = self._parts.get(cut)
        # A text that grew too long for one piece goes on in the next, and with it what was selected there.
        moved = box.selected if isinstance(box, TextBox) and len(new) > cut + 1 else ""
        self._pieces = new
        self._drawn_whole = sum(len(piece.run) for piece in new if isinstance(piece, TextPiece)) <= PIECE
        for index, part in self._parts.items():
            self._write(index, part)
        if moved and isinstance(box, TextBox) and not box.has_selection and isinstance(new[cut + 1], TextPiece):
            following = self._part(cut + 1)
            assert isinstance(following, TextBox)
            following.select_reading(moved)
        if self._selection.whole:
            self._selection.take_all()

    @staticmethod
    def _is_for(part: TextBox | StepLine, piece: Piece) -> bool:
        return isinstance(part, TextBox) == isinstance(piece, TextPiece)

    def _write(self, index: int, part: TextBox | StepLine) -> None:
        page, message, piece = self.page, self.message, self._pieces[index]
        assert page is not None
        assert message is not None
        if isinstance(part, StepLine) and isinstance(piece, StepPiece):
            part.setFont(page.measures.quiet)
            part.show_step(piece, page.colours, page.beat)
        elif isinstance(part, TextBox) and isinstance(piece, TextPiece):
            part.setAccessibleName(voice_name(piece.voice))
            font = page.measures.quiet if piece.voice == "quiet" else page.measures.reading
            part.set_width(page.measures.text_width(question=self._is_question))
            part.dress(self._renderer(piece, page), page.look(piece.voice), font)
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
        if isinstance(part, TextBox) and index in self._selected:
            part.select(0, part.last)
        if isinstance(part, TextBox) and self._is_streaming and index == len(self._pieces) - 1:
            part.set_going_on(self.page.beat if self.page is not None else None)
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
            part.select(0, 0)
            part.set_going_on(None)
            part.content.clear()
            self._spare_boxes.append(part)
        else:
            self._spare_lines.append(part)

    def _release_all(self) -> None:
        for index in list(self._parts):
            self._release(index)
        self._pieces, self._heights, self._cuts = [], [], {}
        self._selection.clear()

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
    def _text_stops(self) -> list[QWidget]:
        """Where the Tab key goes in the text, in order."""
        parts = [part for _, part in sorted(self._parts.items())]
        return [part for part in parts if isinstance(part, StepLine) or part.content.has_links]

    # Geometry

    @property
    def _is_streaming(self) -> bool:
        return self.message is not None and self.message.status == "streaming"

    @property
    def _is_question(self) -> bool:
        return self.message is not None and self.message.role == "user"

    def _first_top(self) -> int:
        """Where the heading ends."""
        assert self.page is not None
        return self.top + (BUBBLE_PADDING if self._is_question else 0) + self.page.measures.quiet_line

    def _lay_out_pieces(self, y: int, top: int, bottom: int) -> int:
        """Lay out what is seen of the text, which begins at a height, between two others; returns where it ends."""
        assert self.page is not None
        measures = self.page.measures
        width = measures.text_width(question=self._is_question)
        far = _KEPT * max(0, bottom - top)
        for index in range(len(self._pieces)):
            y += self._gap(index)
            height = self._heights[index]
            if self._drawn_whole or (y + height >= top and y <= bottom):
                part = self._part(index)
                height = part.height_at(width) if isinstance(part, TextBox) else measures.quiet_line
                self._heights[index] = height
            elif (y + height < top - far or y > bottom + far) and self._is_idle(index):
                self._release(index)
            y += height
        return y

    def _arrange_pieces(self, x: int, width: int) -> None:
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

    def _is_idle(self, index: int) -> bool:
        """Whether a piece is drawn, and neither selected nor with the focus."""
        part = self._parts.get(index)
        return part is not None and not part.hasFocus() and not (isinstance(part, TextBox) and part.has_selection)

    @property
    def _selected(self) -> range:
        """The pieces from the first to the last one that is selected, at least in part."""
        if self._selection.whole:
            return range(len(self._pieces))
        found = [index for index, part in self._parts.items() if isinstance(part, TextBox) and part.has_selection]
        return range(min(found), max(found) + 1) if found else range(0)

    @property
    def selection(self) -> list[Part]:
        """The text that is selected in it; what is not drawn is left to be worked out."""
        found: list[Part] = []
        for index in self._selected:
            part, piece = self._parts.get(index), self._pieces[index]
            if isinstance(part, TextBox):
                found.append(part.selected)
            elif isinstance(piece, TextPiece):
                found.append(self._reading_of(piece))
        return found

    def _reading_of(self, piece: TextPiece) -> Callable[[], str]:
        """What works out how a piece that is not drawn would be read."""
        assert self.page is not None
        renderer, look = self._renderer(piece, self.page), self.page.look(piece.voice)

        def read() -> str:
            document = QTextDocument()
            document.setHtml(renderer.render(piece.run.segments, look, first_citation=0, first_code=0).html.rstrip())
            everything = QTextCursor(document)
            everything.select(QTextCursor.SelectionType.Document)
            return plain_text(everything)

        return read

    @staticmethod
    def _renderer(piece: TextPiece, page: Page) -> RenderBody:
        return page.answers if piece.voice == "answer" else page.plain

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
