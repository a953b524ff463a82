"""The few signs on buttons, drawn as shapes: no font has to hold them, and they take the theme's colours."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

SIZE = 18
_SCALE = 4
"""Drawn larger than shown, for screens with many pixels."""


def icon_size(font: QFont) -> QSize:
    """How large a sign is shown beside text in this font."""
    side = max(SIZE, QFontMetrics(font).height())
    return QSize(side, side)


def arrow_icon(colour: str) -> QIcon:
    """An arrowhead: send."""
    path = QPainterPath()
    path.addPolygon(QPolygonF([QPointF(4, 3.5), QPointF(15, 9), QPointF(4, 14.5), QPointF(6.5, 9)]))
    path.closeSubpath()
    return _icon(path, colour)


def square_icon(colour: str) -> QIcon:
    """A square: stop."""
    path = QPainterPath()
    path.addRoundedRect(QRectF(5, 5, 8, 8), 1.5, 1.5)
    return _icon(path, colour)


def plus_icon(colour: str) -> QIcon:
    """A plus: new."""
    return _lines(colour, [QPointF(9, 4), QPointF(9, 14)], [QPointF(4, 9), QPointF(14, 9)])


def chevron_icon(colour: str, *, up: bool = False) -> QIcon:
    """A chevron: the next, or the one before."""
    tip, ends = (6.5, 11.5) if up else (11.5, 6.5)
    return _lines(colour, [QPointF(4.5, ends), QPointF(9, tip), QPointF(13.5, ends)])


def cross_icon(colour: str) -> QIcon:
    """A cross: close."""
    return _lines(colour, [QPointF(5, 5), QPointF(13, 13)], [QPointF(13, 5), QPointF(5, 13)])


def fold_icon(colour: str) -> QIcon:
    """Two chevrons towards a line: compact."""
    return _lines(
        colour,
        [QPointF(3.5, 9), QPointF(14.5, 9)],
        [QPointF(6, 2.5), QPointF(9, 5.5), QPointF(12, 2.5)],
        [QPointF(6, 15.5), QPointF(9, 12.5), QPointF(12, 15.5)],
    )


def fork_icon(colour: str) -> QIcon:
    """A line that parts in two: branches."""
    return _lines(
        colour,
        [QPointF(9, 15), QPointF(9, 9.5), QPointF(4.5, 6.5), QPointF(4.5, 3)],
        [QPointF(9, 9.5), QPointF(13.5, 6.5), QPointF(13.5, 3)],
    )


def _lines(colour: str, *lines: list[QPointF]) -> QIcon:
    pixmap, painter = _canvas()
    painter.setPen(QPen(QColor(colour), 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    for line in lines:
        painter.drawPolyline(QPolygonF(line))
    painter.end()
    return QIcon(pixmap)


def _icon(path: QPainterPath, colour: str) -> QIcon:
    pixmap, painter = _canvas()
    painter.fillPath(path, QColor(colour))
    painter.end()
    return QIcon(pixmap)


def _canvas() -> tuple[QPixmap, QPainter]:
    pixmap = QPixmap(QSize(SIZE, SIZE) * _SCALE)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(_SCALE, _SCALE)
    return pixmap, painter
