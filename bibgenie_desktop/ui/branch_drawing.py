"""The drawing of the branch map: lines between nodes, their signs, and beside them the beginnings of the messages."""

from __future__ import annotations

from bisect import bisect_left

from PySide6.QtCore import QCoreApplication, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractScrollArea

from ..sessions.nodes import STABLE
from .branch_layout import BranchLayout, Item
from .labels import isolated, plain_line
from .theme import Colours, Theme, figures, sized

translate = QCoreApplication.translate

MARGIN = 14
FEWEST_TEXT_FIGURES = 8
"""Of the room for text, under which there is none."""
LANES_BESIDE_TEXT = 6
"""Text begins behind so many lanes at most: what lies further lies under it, and is seen where one scrolls."""


class BranchDrawing:
    """Draws a layout for a view, and knows where its items are."""

    def __init__(self, theme: Theme, view: QAbstractScrollArea) -> None:
        self._theme = theme
        self._view = view
        self.layout = BranchLayout()

    @property
    def row_height(self) -> int:
        """In pixels."""
        return self._view.fontMetrics().height() + 10

    @property
    def lane_width(self) -> int:
        """In pixels."""
        return max(16, round(self._view.fontMetrics().height() * 1.1))

    def lane_left(self, lane: int) -> int:
        """Where a lane begins in the whole drawing, counted from the side where lines of text begin."""
        return MARGIN + lane * self.lane_width

    def size(self) -> QSize:
        """Of the whole drawing without text."""
        return QSize(self.lane_left(self.layout.lanes) + MARGIN, len(self.layout.rows) * self.row_height + MARGIN)

    def place(self, item: Item) -> QPointF:
        """The middle of an item in the viewport."""
        return QPointF(self._x(item.lane), self._y(item.row))

    def item_at(self, place: QPoint) -> Item | None:
        """The item at a place of the viewport: its sign, or the text of its row."""
        x, y = place.x(), place.y()
        number = (y + self._scrolled_down) // self.row_height
        if not 0 <= number < len(self.layout.rows):
            return None
        row = self.layout.rows[number]
        nearest = min(row, key=lambda item: abs(self._x(item.lane) - x))
        if abs(self._x(nearest.lane) - x) <= self.lane_width / 2:
            return nearest
        return self._told_in(number, None, None) if self._text_rect(number).contains(x, y) else None

    def draw(self, painter: QPainter, rect: QRect, current: Item | None, hovered: Item | None) -> None:
        """Draw what lies in `rect` of the viewport."""
        colours = self._theme.colours
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(rect, QColor(colours.paper))
        height, scrolled = self.row_height, self._scrolled_down
        first = max(0, (rect.top() + scrolled) // height)
        last = min(len(self.layout.rows), (rect.bottom() + scrolled) // height + 2)
        lanes = self._seen_lanes()
        for active in (False, True):
            for number in range(max(0, first - 1), last):
                self._draw_lines(painter, number, lanes, active, colours)
        for number in range(first, last):
            told = self._told_in(number, current, hovered)
            for item in _between(self.layout.rows[number], lanes):
                self._draw_sign(painter, item, item is hovered, item is current, colours)
            self._draw_text(painter, number, told, told is hovered or told is current, colours)

    # Lines

    def _draw_lines(self, painter: QPainter, number: int, lanes: range, active: bool, colours: Colours) -> None:
        """The ways from the items of a row to those of the next."""
        if number + 1 >= len(self.layout.rows):
            return
        top, bottom = self._y(number), self._y(number + 1)
        middle = (top + bottom) / 2
        pen = QPen(QColor(colours.accent if active else colours.muted), 2 if active else 1.4)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for child in _between(self.layout.rows[number + 1], lanes):
            parent = child.parent
            if parent is None or child.node.is_active != active:
                continue
            path = QPainterPath(QPointF(self._x(parent.lane), top))
            x = self._x(child.lane)
            if child.lane == parent.lane:
                path.lineTo(x, bottom)
            else:
                # From what is out of sight only the way that is seen.
                start = min(max(parent.lane, lanes.start - 1), lanes.stop)
                path = QPainterPath(QPointF(self._x(start), top if start == parent.lane else middle))
                turn = min(self.lane_width / 2, middle - top) * (1 if x > self._x(start) else -1)
                if start == parent.lane:
                    path.lineTo(self._x(start), middle - abs(turn))
                    path.quadTo(QPointF(self._x(start), middle), QPointF(self._x(start) + turn, middle))
                path.lineTo(x - turn, middle)
                path.quadTo(QPointF(x, middle), QPointF(x, middle + abs(turn)))
                path.lineTo(x, bottom)
            painter.drawPath(path)
        for parent in self.layout.forks[number]:
            self._draw_passing(painter, parent, lanes, middle, active)

    def _draw_passing(self, painter: QPainter, parent: Item, lanes: range, middle: float, active: bool) -> None:
        """The way to items that lie beyond what is seen, as far as it is seen."""
        beyond = any(child.lane >= lanes.stop and child.node.is_active == active for child in parent.children)
        if beyond and parent.lane < lanes.stop:
            start = max(parent.lane, lanes.start - 1)
            painter.drawLine(QPointF(self._x(start), middle), QPointF(self._x(lanes.stop), middle))

    # Signs

    def _draw_sign(self, painter: QPainter, item: Item, hovered: bool, current: bool, colours: Colours) -> None:
        place, node = self.place(item), item.node
        colour = QColor(colours.accent if node.is_active else colours.muted)
        radius = self.lane_width * (0.3 if hovered else 0.25)
        painter.setPen(QPen(colour, 1.6))
        painter.setBrush(QColor(colours.paper))
        if current or item is self.layout.leaf:
            ring = radius + 3.5
            painter.setPen(QPen(QColor(colours.text if current else colours.accent), 1.4))
            painter.drawEllipse(place, ring, ring)
            painter.setPen(QPen(colour, 1.6))
        if item.is_stretch:
            # A gap in the line, with the points that stand for what is left out.
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawRect(QRectF(place.x() - 3, place.y() - radius * 1.6, 6, radius * 3.2))
            painter.setBrush(colour)
            for step in (-1, 0, 1):
                painter.drawEllipse(QPointF(place.x(), place.y() + step * radius), 1.6, 1.6)
        elif node.role == "checkpoint":
            painter.setBrush(colour)
            across, down = QPointF(radius * 1.25, 0), QPointF(0, radius * 1.25)
            painter.drawPolygon(QPolygonF([place - down, place + across, place + down, place - across]))
        elif node.role == "user":
            painter.drawRoundedRect(QRectF(place.x() - radius, place.y() - radius, radius * 2, radius * 2), 2, 2)
        else:
            # An answer that did not come to its end is a ring.
            painter.setBrush(colour if node.stop_reason in STABLE else QColor(colours.paper))
            painter.drawEllipse(place, radius, radius)

    # Text

    def _draw_text(self, painter: QPainter, number: int, item: Item, marked: bool, colours: Colours) -> None:
        rect = self._text_rect(number)
        if rect.width() < figures(self._view.font(), FEWEST_TEXT_FIGURES):
            return
        font = sized(self._view.font(), 0.92)
        metrics = QFontMetrics(font)
        painter.fillRect(rect, QColor(colours.paper))
        if item.is_stretch:
            text = translate("Branches", "{count} messages").format(count=item.count)
        else:
            text = plain_line(item.node.excerpt)
        painter.setFont(font)
        painter.setPen(QColor(colours.text if marked or item.node.is_active else colours.muted))
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        side = Qt.AlignmentFlag.AlignRight if self._view.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
        painter.drawText(rect, side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter, isolated(shown))

    def _told_in(self, number: int, current: Item | None, hovered: Item | None) -> Item:
        """The item whose text stands in a row: the one that is looked at, else the first."""
        for item in (hovered, current):
            if item is not None and item.row == number:
                return item
        return self.layout.rows[number][0]

    def _text_rect(self, number: int) -> QRect:
        width = self._view.viewport().width()
        start = self.lane_left(min(self.layout.lanes, LANES_BESIDE_TEXT)) + 4
        top = round(self._y(number) - self.row_height / 2)
        left = MARGIN if self._view.isRightToLeft() else start
        # Who looks at what lies to the side sees no text over it.
        room = 0 if self._scrolled_along else max(0, width - start - MARGIN)
        return QRect(left, top, room, self.row_height)

    # Geometry

    @property
    def _scrolled_down(self) -> int:
        return self._view.verticalScrollBar().value() - MARGIN // 2

    @property
    def _scrolled_along(self) -> int:
        return self._view.horizontalScrollBar().value()

    def _x(self, lane: int) -> float:
        along = self.lane_left(lane) + self.lane_width / 2 - self._scrolled_along
        return self._view.viewport().width() - along if self._view.isRightToLeft() else along

    def _y(self, row: int) -> float:
        return row * self.row_height + self.row_height / 2 - self._scrolled_down

    def _seen_lanes(self) -> range:
        first = max(0, (self._scrolled_along - MARGIN) // self.lane_width)
        return range(first, first + self._view.viewport().width() // self.lane_width + 2)


def _between(row: list[Item], lanes: range) -> list[Item]:
    """The items of a row that stand in these lanes."""
    first = bisect_left(row, lanes.start, key=lambda item: item.lane)
    last = bisect_left(row, lanes.stop, key=lambda item: item.lane)
    return row[first:last]
