"""The few signs on buttons, drawn as shapes: no font has to hold them, and they take the theme's colours."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

SIZE = 18
_SCALE = 4
"""Drawn larger than shown, for screens with many pixels."""


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
    pixmap, painter = _canvas()
    painter.setPen(QPen(QColor(colour), 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.drawLine(QPointF(9, 4), QPointF(9, 14))
    painter.drawLine(QPointF(4, 9), QPointF(14, 9))
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
