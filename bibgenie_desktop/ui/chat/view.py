"""The chat's messages on the page: one read-only document that loads nothing and opens nothing by itself (S-1).

It is drawn in slices and at most 30 times a second, keeps the reader's place, and follows the end only while the
reader is there.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QMimeData, QPointF, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QGuiApplication,
    QImage,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextBlock,
    QTextLine,
    QTextOption,
)
from PySide6.QtWidgets import QMenu, QTextBrowser, QWidget

from ..links import LinkRouter
from ..theme import Theme, column_width
from ..times import Clock, short
from ..timing import Coalesced, MakeTimer
from .conversation import Conversation
from .model import TranscriptModel
from .writer import BUBBLE, BUBBLE_INDENT, BUBBLE_PADDING, CHIP, MESSAGE, THIN, TranscriptWriter

REPAINT_MILLISECONDS = 34
"""Below 30 repaints a second."""
SLICE = 12
"""Messages that are written in one go: more would be felt."""
END_PIXELS = 4
"""So near to the end the reader counts as being there."""


class MessageView(QTextBrowser):
    """`messageList`.

    Signals:
        link_hovered(sentence): where the link under the pointer or the focus leads; "" for none.
        link_answered(sentence): what became of a link that was clicked.
    """

    link_hovered = Signal(str)
    link_answered = Signal(str)

    def __init__(
        self, theme: Theme, router: LinkRouter, clock: Clock, make_timer: MakeTimer, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("messageList")
        self.setAccessibleName(self.tr("Conversation"))
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self.document().setDefaultTextOption(option)
        self.document().setDocumentMargin(BUBBLE_PADDING)
        margins = self.document().rootFrame().frameFormat()
        margins.setTopMargin(26)
        margins.setBottomMargin(22)
        self.document().rootFrame().setFrameFormat(margins)
        self._theme = theme
        self._router = router
        self._clock = clock
        self._model = TranscriptModel(self)
        self._writer = self._make_writer()
        self._stale_from: int | None = None
        self._grown = False
        self._at_end = True
        self._place: int | None = None
        self._drawing = Coalesced(self._draw, REPAINT_MILLISECONDS, make_timer, at_once=True)
        self._model.modelReset.connect(self._all_stale)
        self._model.rowsInserted.connect(lambda _, first: self._stale(first))
        self._model.rowsRemoved.connect(lambda _, first: self._stale(first))
        self._model.dataChanged.connect(lambda first: self._changed(first.row()))
        self._model.streamed.connect(self._streamed)
        self.anchorClicked.connect(lambda url: self.link_answered.emit(router.open(_link(url))))
        self.highlighted.connect(lambda url: self.link_hovered.emit(self._leads_to(_link(url))))
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._scrolled)
        bar.rangeChanged.connect(self._follow)
        theme.changed.connect(self._restyle)

    def model(self) -> TranscriptModel:
        """The messages as a model."""
        return self._model

    def show_conversation(self, conversation: Conversation) -> None:
        """Show another chat, at its end."""
        self._at_end, self._place = True, None
        self._model.show(conversation)
        self._drawing.now()

    @property
    def drawn(self) -> bool:
        """Whether all messages are on the page as they are now."""
        return self._stale_from is None and not self._grown and self._writer.rows == self._model.rowCount()

    # Drawing

    def _make_writer(self) -> TranscriptWriter:
        return TranscriptWriter(
            self.document(),
            self._theme.colours,
            self.font(),
            when=lambda stamp: short(stamp, self._clock()),
            leads_to=self._leads_to,
        )

    def _all_stale(self) -> None:
        self._stale(0)

    def _stale(self, row: int) -> None:
        self._stale_from = row if self._stale_from is None else min(row, self._stale_from)
        self._drawing.ask()

    def _changed(self, row: int) -> None:
        if row == self._writer.rows - 1:
            self._streamed(row)
        else:
            self._stale(row)

    def _streamed(self, row: int) -> None:
        self._grown = True
        self._drawing.ask()

    def _draw(self) -> None:
        if not self._at_end and self._place is None:
            self._place = self.verticalScrollBar().value()
        self._amend()
        if self._stale_from is not None:
            self._writer.truncate(self._stale_from)
            self._stale_from = None
        last = min(self._model.rowCount(), self._writer.rows + SLICE)
        while self._writer.rows < last and self._model.message(self._writer.rows).ready:
            self._writer.write(self._model.message(self._writer.rows))
        if last < self._model.rowCount() and self._writer.rows == last:
            self._drawing.ask()
        if self._place is None:
            self._follow()
        elif self.drawn:
            # What was written anew was away for a moment, and the page too short for the place.
            self._at_end = False
            self.verticalScrollBar().setValue(self._place)
            self._place = None

    def _amend(self) -> None:
        """Bring the last written message up to date, if it will stay."""
        last = self._writer.rows - 1
        stays = self._stale_from is None or self._stale_from > last
        if self._grown and last >= 0 and stays and not self._writer.amend(self._model.message(last)):
            self._stale_from = last
        self._grown = False

    def _restyle(self) -> None:
        if not self._at_end:
            self._place = self.verticalScrollBar().value()
        self._writer.truncate(0)
        self._writer = self._make_writer()
        self._all_stale()

    # The reader's place

    def _scrolled(self, value: int) -> None:
        if self._place is None:
            self._at_end = value >= self.verticalScrollBar().maximum() - END_PIXELS

    def _follow(self) -> None:
        bar = self.verticalScrollBar()
        if self._at_end and self._place is None and bar.value() != bar.maximum():
            bar.setValue(bar.maximum())

    # Links

    def _leads_to(self, link: str) -> str:
        return self._router.route(link).sentence if link else ""

    def loadResource(self, type: int, name: QUrl | str) -> Any:
        """An empty image, whatever is asked for."""
        # Nothing is ever loaded. With no answer Qt would open the name as a file itself.
        image = QImage(QSize(1, 1), QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        return image

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the menu of the place under the pointer."""
        menu = self.context_menu(self.anchorAt(event.pos()))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def context_menu(self, link: str) -> QMenu:
        """The menu for a place on the page, at a link or not."""
        menu = QMenu(self)
        menu.setObjectName("messageMenu")
        if link:
            route = self._router.route(link)
            opening = QAction(self.tr("Open in Zotero"), menu)
            opening.setEnabled(route.url is not None)
            opening.setToolTip(route.sentence)
            opening.triggered.connect(lambda: self.link_answered.emit(self._router.open(link)))
            copying = QAction(self.tr("Copy link"), menu)
            copying.triggered.connect(lambda: QGuiApplication.clipboard().setText(link))
            menu.addActions([opening, copying])
            menu.addSeparator()
        copy = QAction(self.tr("Copy"), menu)
        copy.setShortcut(QKeySequence.StandardKey.Copy)
        copy.setEnabled(self.textCursor().hasSelection())
        copy.triggered.connect(self.copy)
        everything = QAction(self.tr("Select all"), menu)
        everything.setShortcut(QKeySequence.StandardKey.SelectAll)
        everything.triggered.connect(self.selectAll)
        menu.addActions([copy, everything])
        return menu

    def createMimeDataFromSelection(self) -> QMimeData:
        """What is copied."""
        # Text alone, as it is read: no colours of ours in someone's document.
        data = QMimeData()
        data.setText(self.textCursor().selection().toPlainText().replace(THIN, "").replace("\u00a0", " "))
        return data

    # The page

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the column in the middle."""
        # The column stands in the middle and is no wider than text is read well.
        widest = column_width(self.font()) + 2 * BUBBLE_PADDING
        bar = self.verticalScrollBar().width() if self.verticalScrollBar().isVisible() else 0
        margin = max(10, (self.width() - widest) // 2)
        self.setViewportMargins(margin, 0, max(0, margin - bar), 0)
        super().resizeEvent(event)
        self._follow()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw bubbles and chips, and the text on them."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(0, -self.verticalScrollBar().value())
        blocks = self._visible_blocks()
        for bubble in self._bubbles(blocks):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._theme.colours.bubble))
            painter.drawRoundedRect(bubble, 10, 10)
        painter.setPen(QPen(QColor(self._theme.colours.line), 1))
        painter.setBrush(QColor(self._theme.colours.chip))
        for chip in (chip for block in blocks for chip in _chips(block)):
            painter.drawRoundedRect(chip, 4, 4)
        painter.end()
        super().paintEvent(event)

    def _visible_blocks(self) -> list[QTextBlock]:
        top = self.verticalScrollBar().value()
        layout = self.document().documentLayout()
        position = layout.hitTest(QPointF(BUBBLE_PADDING, top), Qt.HitTestAccuracy.FuzzyHit)
        block = self.document().findBlock(max(0, position))
        if block.previous().isValid():
            block = block.previous()
        blocks = []
        while block.isValid() and layout.blockBoundingRect(block).top() <= top + self.viewport().height():
            blocks.append(block)
            block = block.next()
        return blocks

    def _bubbles(self, blocks: list[QTextBlock]) -> list[QRectF]:
        """The boxes around questions, in the document's coordinates; cut where a question is out of sight."""
        left = BUBBLE_PADDING + BUBBLE_INDENT
        right = self.document().textWidth() - BUBBLE_PADDING
        boxes: list[tuple[int, QRectF]] = []
        for block in blocks:
            if not block.blockFormat().property(BUBBLE):
                continue
            row = block.blockFormat().property(MESSAGE)
            # Of the text alone: the block's own box holds the space above it too.
            rect = block.layout().boundingRect().translated(block.layout().position())
            box = QRectF(left, rect.top(), right - left, rect.height())
            if boxes and boxes[-1][0] == row:
                box = box.united(boxes.pop()[1])
            boxes.append((row, box))
        return [box.adjusted(0, -10, 0, 10) for _, box in boxes]


def _link(url: QUrl) -> str:
    return url.toString(QUrl.ComponentFormattingOption.FullyEncoded)


def _chips(block: QTextBlock) -> list[QRectF]:
    """The boxes around a block's citations, one for each line they stand in."""
    boxes: dict[tuple[int, int], QRectF] = {}
    layout = block.layout()
    origin = layout.position()
    for fragment in _fragments(block):
        number = fragment.charFormat().property(CHIP)
        if number is None:
            continue
        metrics = QFontMetricsF(fragment.charFormat().font())
        begin = fragment.position() - block.position()
        for index in range(layout.lineCount()):
            line = layout.lineAt(index)
            first, last = line.textStart(), line.textStart() + line.textLength()
            start, end = max(begin, first), min(begin + fragment.length(), last)
            if start >= end:
                continue
            left, right = sorted((_x(line, start), _x(line, end)))
            baseline = line.y() + line.ascent()
            box = QRectF(left - 1, baseline - metrics.ascent() - 1, right - left + 2, metrics.height() + 2)
            box.translate(origin)
            known = boxes.get((number, index))
            boxes[number, index] = box if known is None else known.united(box)
    return list(boxes.values())


def _x(line: QTextLine, position: int) -> float:
    # Qt gives the place back with it, moved to where a cursor may stand; the stubs do not say so.
    x: Any = line.cursorToX(position)
    return float(x[0])


def _fragments(block: QTextBlock) -> list[Any]:
    iterator = block.begin()
    fragments = []
    while not iterator.atEnd():
        fragments.append(iterator.fragment())
        iterator += 1
    return fragments
