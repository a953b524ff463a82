"""A formula's SVG as a picture. What the engine sent is checked again: QtSvg is given outlines and boxes only (S-1)."""

from __future__ import annotations

import re

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

LONGEST_SVG = 200_000
"""Characters. The largest formulas of papers have 70,000, and take QtSvg 5 ms."""
DEEPEST = 16
"""Levels of groups."""
MOST_PIXELS = 4_000_000
"""Of one picture; a larger one is drawn with fewer pixels."""

_INK = '"black"'
_NUMBER = r"-?\d+(?:\.\d+)?"
_ATTRIBUTE = (
    rf'xmlns(?::xlink)?="http://www\.w3\.org/(?:2000/svg|1999/xlink)"'
    rf'|(?:width|height|x|y|x1|x2|y1|y2|cx|cy|r|rx|ry|stroke-width)="{_NUMBER}"'
    rf'|viewBox="{_NUMBER} {_NUMBER} {_NUMBER} {_NUMBER}"'
    r'|d="[MLHVQCZmlhvqcz0-9. -]*"'
    r'|points="[0-9., -]*"'
    r'|(?:fill|stroke)="(?:[a-z]{1,20}|#[0-9A-Fa-f]{3,6})"'
)
_SAFE = re.compile(
    rf"<svg(?: (?:{_ATTRIBUTE}))*+>"
    rf"(?:<(?:g|path|rect|ellipse|line|polyline|polygon)(?: (?:{_ATTRIBUTE}))*+ ?/?>|</(?:g|path)>)*+"
    r"</svg>"
)
_GROUP = re.compile(r"<(/?)g\b[^>]*?(/?)>")
_FAR_AWAY = re.compile(r"(?<![\d.#])\d{6}")


def is_safe(svg: str) -> bool:
    """Whether an SVG holds nothing but a reasonable amount of lines, outlines and boxes, in colours."""
    return (
        len(svg) <= LONGEST_SVG
        and _SAFE.fullmatch(svg) is not None
        and _FAR_AWAY.search(svg) is None
        and _depth(svg) <= DEEPEST
    )


def picture_of(svg: str, *, ink: str, size: tuple[float, float], place: QRectF, ratio: float) -> QImage | None:
    """The picture of a safe SVG in the colour `ink`, drawn at `place` on a transparent page of this `size`.

    All in pixels of which the screen has `ratio` times as many. None where QtSvg cannot read it.
    """
    renderer = QSvgRenderer(QByteArray(svg.replace(_INK, f'"{ink}"').encode()))
    if not renderer.isValid():
        return None
    width, height = size
    ratio = min(ratio, (MOST_PIXELS / (width * height)) ** 0.5)
    pixels = QSize(max(1, round(width * ratio)), max(1, round(height * ratio)))
    picture = QImage(pixels, QImage.Format.Format_ARGB32_Premultiplied)
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    renderer.render(painter, place)
    painter.end()
    return picture


def _depth(svg: str) -> int:
    depth = deepest = 0
    for closing, alone in _GROUP.findall(svg):
        if not alone:
            depth += -1 if closing else 1
            deepest = max(deepest, depth)
    return deepest
