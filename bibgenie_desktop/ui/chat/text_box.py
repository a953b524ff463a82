"""One piece of a message's text on the page. It loads nothing and opens nothing by itself (S-1)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFont,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from ...protocol.values import Segment
from ..markdown.renderer import INDENT
from ..theme import Colours, palette
from .body import Look, RenderBody
from .chips import chips_of_block
from .document_text import CITATION_LINK, COPY_LINK, Reading, plain_text
from .growing_text import GrowingText
from .life_sign import DOT, Beat, draw_dot

_END = QTextCursor.MoveOperation.End
_KEEP = QTextCursor.MoveMode.KeepAnchor


class TextBox(QTextBrowser):
    """Text as wide as it is told and as high as it is; it never scrolls, and leaves keys and the wheel to the page.

    Signals:
        link_clicked(link), link_hovered(link): "" for none.
        link_ctrl_clicked(link): clicked with Ctrl held, on a Mac with Cmd.
        menu_wanted(link, citation, place): the context menu, `place` on the screen; `citation` is the Segment whose
            link it is, or None.
        pressed: a mouse button went down.
        dragged(place): the pointer moves with the button held, `place` on the screen.
        released: the button was let go.
    """

    link_clicked = Signal(str)
    link_ctrl_clicked = Signal(str)
    link_hovered = Signal(str)
    menu_wanted = Signal(str, object, object)
    pressed = Signal()
    dragged = Signal(object)
    released = Signal()

    def __init__(self, parent: QWidget) -> None:
        self._colours: Colours | None = None
        self._ink = ""
        super().__init__(parent)
        self.setObjectName("messageText")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Qt would lay out anew whenever the box is shown or resized, if lines were as wide as the box.
        self.setLineWrapMode(QTextBrowser.LineWrapMode.FixedPixelWidth)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.viewport().setAutoFillBackground(False)
        # A box that grows at its end is not drawn again from its beginning.
        for part in (self, self.viewport()):
            part.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        document = self.document()
        document.setDocumentMargin(0)
        option = document.defaultTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        # The direction follows from each block's own text.
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        document.setDefaultTextOption(option)
        document.setIndentWidth(INDENT)
        self.content = GrowingText(document, self._keeping)
        """What it shows."""
        self._laid_width = 0
        self._chips: list[tuple[int, QRectF]] = []
        self._chips_from: int | None = 0
        self._with_ctrl = False
        self._beat: Beat | None = None
        self._dot = QRect()
        # What the Tab key chose: Qt draws it with a frame, and tells nobody.
        self._link_in_focus = (-1, -1)
        self.anchorClicked.connect(lambda url: self._follow(_link(url)))
        self.highlighted.connect(lambda url: self.link_hovered.emit(self.resolved(_link(url))))

    # Content

    def dress(self, renderer: RenderBody, look: Look, font: QFont) -> None:
        """Render this way from now on."""
        self._colours, self._ink = look.colours, look.ink
        self._keep_palette()
        self.content.dress(renderer, look, font)

    def resolved(self, link: str) -> str:
        """Where a link of the document leads: a citation's to what is cited, one of the app's own nowhere."""
        if citation := self._citation(link):
            return citation.link
        return "" if link.startswith("bibgenie:") else link

    def _citation(self, link: str) -> Segment | None:
        number = link.removeprefix(CITATION_LINK)
        return None if number == link else self.content.citation(int(number))

    def _follow(self, link: str) -> None:
        if match := COPY_LINK.fullmatch(link):
            codes, number = self.content.codes, int(match[1])
            if number < len(codes):
                QGuiApplication.clipboard().setText(codes[number])
        elif where := self.resolved(link):
            (self.link_ctrl_clicked if self._with_ctrl else self.link_clicked).emit(where)

    # Geometry

    def set_width(self, width: int) -> None:
        """Lay out at this width from now on: to be said before the text, which would be laid out twice else."""
        if width != self._laid_width:
            self._laid_width = width
            self.setLineWrapColumnOrWidth(width)
            self.content.changed_from = 0

    def height_at(self, width: int) -> int:
        """The height of the text at a width. The box itself takes it on with `arrange`."""
        self.set_width(width)
        return math.ceil(self.document().documentLayout().documentSize().height())

    def arrange(self, place: QRect) -> None:
        """Take a place in the row, and draw what looks different now."""
        if self.geometry() != place:
            self.setGeometry(place)
        begin, self.content.changed_from = self.content.changed_from, None
        if begin is not None:
            self._chips_from = begin if self._chips_from is None else min(begin, self._chips_from)
            if self._beat is not None:
                # The dot may stand in a paragraph that is as it was.
                self.viewport().update(self._dot)
            block = self.document().findBlock(begin)
            # With the space above it, and what a chip stands out of its line.
            y = 0 if not begin else self.document().documentLayout().blockBoundingRect(block.previous()).bottom() - 4
            self.viewport().update(QRect(0, math.floor(y), place.width(), place.height()))

    def position_at(self, y: int) -> int:
        """The place in the text that stands at a height."""
        return self._text_at(QPointF(0, y))

    def y_of(self, position: int) -> int:
        """The height at which the line begins that holds a place in the text."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(min(max(position, 0), self.document().characterCount() - 1))
        return self.cursorRect(cursor).top()

    def set_going_on(self, beat: Beat | None) -> None:
        """Show where the text ends that it goes on there, in the time given; None where it does not."""
        if beat is not self._beat:
            self._beat = beat
            self.viewport().update()

    def _end_of_text(self) -> QRect:
        """Room for a dot beside the last character."""
        end = QTextCursor(self.document())
        end.movePosition(_END)
        line = self.cursorRect(end)
        leftwards = end.block().textDirection() == Qt.LayoutDirection.RightToLeft
        x = max(0, line.left() - DOT - 5) if leftwards else min(line.left() + 4, self._laid_width - DOT - 2)
        return QRect(x, line.top(), DOT + 2, line.height())

    # Selection

    @property
    def has_selection(self) -> bool:
        """Whether text is selected, or the focus is on a link."""
        return self.textCursor().hasSelection()

    @property
    def selected(self) -> str:
        """The selected text as it is read, formulas in LaTeX."""
        return plain_text(self.textCursor())

    def select(self, start: int, end: int) -> None:
        """Select from one place to another; the same place twice selects nothing."""
        cursor = self.textCursor()
        if (cursor.anchor(), cursor.position()) != (start, end):
            cursor.setPosition(start)
            cursor.setPosition(end, _KEEP)
            self.setTextCursor(cursor)

    @contextmanager
    def _keeping(self, begin: int) -> Iterator[None]:
        """What is selected stays so while the text from `begin` on is written anew, if it is still there."""
        cursor = self.textCursor()
        ends = (cursor.anchor(), cursor.position())
        if not cursor.hasSelection() or max(ends) < begin:
            yield
            return
        before = Reading(self.document(), begin)
        first, last = before.count(min(ends)), before.count(max(ends))
        yield
        found = before.found_in(Reading(self.document(), begin), first, last)
        if min(ends) < begin:
            found = (min(ends), found[1] if found else begin)
        start, end = found or (0, 0)
        if self._link_in_focus == ends:
            self.select(start, start)
            if found and self.focusNextPrevChild(True) and self._ends == found:
                return
        self.select(*((start, end) if ends[0] < ends[1] else (end, start)))

    @property
    def _ends(self) -> tuple[int, int]:
        return self.textCursor().anchor(), self.textCursor().position()

    def focusNextPrevChild(self, next: bool) -> bool:
        """Go to the next link, and remember it."""
        moved = super().focusNextPrevChild(next)
        if self.hasFocus():
            self._link_in_focus = self._ends
        return moved

    def select_reading(self, text: str) -> None:
        """Select the first place that reads so, if there is one."""
        reading = Reading(self.document())
        if (place := reading.text.find(text)) >= 0:
            self.select(*reading.span(place, place + len(text)))

    def select_from_begin(self, place: QPointF) -> None:
        """Select up to what stands at a place."""
        self.select(0, self._text_at(place))

    def select_to_end(self, place: QPointF) -> None:
        """Select from what stands at a place to the end."""
        self.select(self._text_at(place), self.last)

    def extend_to(self, place: QPointF) -> None:
        """Let the selection reach to what stands at a place."""
        self.select(self.textCursor().anchor(), self._text_at(place))

    def _text_at(self, place: QPointF) -> int:
        return self.document().documentLayout().hitTest(place, Qt.HitTestAccuracy.FuzzyHit)

    @property
    def last(self) -> int:
        """The place behind the last character."""
        return self.document().characterCount() - 1

    def find_text(self, text: str, *, backwards: bool, again: bool) -> bool:
        """Select the first place that reads so, or the last; with `again` the next from what is selected."""
        flags = QTextDocument.FindFlag.FindBackward if backwards else QTextDocument.FindFlag(0)
        if again:
            found = self.document().find(text, self.textCursor(), flags)
        else:
            found = self.document().find(text, self.last if backwards else 0, flags)
        if not found.isNull():
            self.setTextCursor(found)
        return not found.isNull()

    def createMimeDataFromSelection(self) -> QMimeData:
        """The text alone: no colours of ours in someone's document."""
        data = QMimeData()
        data.setText(self.selected)
        return data

    # Events

    def changeEvent(self, event: QEvent) -> None:
        """Keep the colours: a palette is forgotten whenever a style sheet is set."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._keep_palette()

    def _keep_palette(self) -> None:
        own, text = self.palette(), QPalette.ColorRole.Text
        if self._colours is not None and own.color(text).name() != self._ink:
            own = palette(self._colours)
            own.setColor(text, QColor(self._ink))
            self.setPalette(own)

    def loadResource(self, type: int, name: QUrl | str) -> Any:
        """The picture of a formula; an empty one, whatever else is asked for."""
        scheme, _, formula = (name.toString() if isinstance(name, QUrl) else name).partition(":")
        renderer = self.content.renderer
        if scheme == "math" and renderer is not None and (picture := renderer.image(formula)) is not None:
            return picture
        # With no answer Qt would open the name as a file itself.
        image = QImage(QSize(1, 1), QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        return image

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Sideways where lines are wider than the page; else the page scrolls. Nothing is enlarged, as Qt would."""
        turn = event.angleDelta()
        if abs(turn.x()) > abs(turn.y()) and self.horizontalScrollBar().maximum() > 0:
            super().wheelEvent(event)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens the link that has the focus, once; the menu's keys want its menu; all others are the page's."""
        shift_f10 = event.key() == Qt.Key.Key_F10 and event.modifiers() == Qt.KeyboardModifier.ShiftModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            self._with_ctrl = _has_ctrl(event)
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Menu or shift_f10:
            self._want_menu_at_focus()
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Go to the first link, or backwards to the last: it is what the Tab key came for."""
        super().focusInEvent(event)
        forwards = event.reason() == Qt.FocusReason.TabFocusReason
        if forwards or event.reason() == Qt.FocusReason.BacktabFocusReason:
            self.moveCursor(QTextCursor.MoveOperation.Start if forwards else _END)
            self.focusNextPrevChild(forwards)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Tell that a selection may begin here."""
        self.pressed.emit()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Select, here and beyond."""
        super().mouseMoveEvent(event)
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.dragged.emit(event.globalPosition().toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open the link under the pointer, if it was pressed here; the page has nothing to do with it."""
        self.released.emit()
        self._with_ctrl = _has_ctrl(event)
        super().mouseReleaseEvent(event)
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Want a menu."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self._want_menu_at_focus()
        else:
            self._want_menu(self.anchorAt(event.pos()), event.globalPos())

    def _want_menu_at_focus(self) -> None:
        # The link that has the focus is what is selected.
        end = QTextCursor(self.document())
        end.setPosition(self.textCursor().selectionEnd())
        link = end.charFormat().anchorHref() if self.textCursor().hasSelection() else ""
        self._want_menu(link, self.viewport().mapToGlobal(self.cursorRect(end).bottomLeft()))

    def _want_menu(self, link: str, place: QPoint) -> None:
        self.menu_wanted.emit(self.resolved(link), self._citation(link), place)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the chips, and the text on them."""
        seen = QRectF(event.rect()).translated(self.horizontalScrollBar().value(), 0)
        if self._colours is not None and (chips := [chip for _, chip in self.chips() if chip.intersects(seen)]):
            painter = QPainter(self.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.translate(-self.horizontalScrollBar().value(), 0)
            painter.setPen(QPen(QColor(self._colours.line), 1))
            painter.setBrush(QColor(self._colours.chip))
            for chip in chips:
                painter.drawRoundedRect(chip, 4, 4)
            painter.end()
        super().paintEvent(event)
        if self._beat is not None and self._colours is not None:
            self._dot = self._end_of_text()
            painter = QPainter(self.viewport())
            strength = self._beat.strength(self.viewport(), self._dot)
            draw_dot(painter, QRectF(self._dot).center(), self._colours.muted, strength)
            painter.end()

    def chips(self) -> list[tuple[int, QRectF]]:
        """Where the chips stand: each with the place in the text where its block begins."""
        begin, self._chips_from = self._chips_from, None
        if begin is not None:
            self._chips = [each for each in self._chips if each[0] < begin]
            block: QTextBlock = self.document().findBlock(begin)
            while block.isValid():
                self._chips += [(block.position(), chip) for chip in chips_of_block(block)]
                block = block.next()
        return self._chips


def _has_ctrl(event: QKeyEvent | QMouseEvent) -> bool:
    return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)


def _link(url: QUrl) -> str:
    return url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
