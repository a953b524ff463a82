"""Where the citations of a text stand on the page: the boxes that are drawn under them."""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QTextBlock, QTextLine

from ..markdown.inline import THIN
from .document_text import CITATION_LINK, fragments

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")


def chips_of_block(block: QTextBlock) -> list[QRectF]:
    """The boxes of a block's citations, one for each line they stand in, in the document's coordinates."""
    # Most blocks hold none: told without looking at their parts.
    if THIN not in block.text():
        return []
    mixed = _RIGHT_TO_LEFT.search(block.text()) is not None
    boxes: dict[tuple[str, int], QRectF] = {}
    layout = block.layout()
    # The layout's own position counts from the cell that the block may stand in.
    origin = block.document().documentLayout().blockBoundingRect(block).topLeft()
    for fragment in fragments(block):
        address = fragment.charFormat().anchorHref()
        if not address.startswith(CITATION_LINK):
            continue
        metrics = QFontMetricsF(fragment.charFormat().font())
        begin = fragment.position() - block.position()
        for index in range(layout.lineCount()):
            line = layout.lineAt(index)
            first = max(begin, line.textStart())
            last = min(begin + fragment.length(), line.textStart() + line.textLength())
            if first < last:
                left, right = _span(line, first, last) if mixed else sorted((_x(line, first), _x(line, last)))
                top = line.y() + line.ascent() - metrics.ascent() - 1
                box = QRectF(left, top, right - left, metrics.height() + 2).translated(origin)
                known = boxes.get((address, index))
                boxes[address, index] = box if known is None else known.united(box)
    return list(boxes.values())


def _span(line: QTextLine, first: int, last: int) -> tuple[float, float]:
    """From where to where characters stand, also where their order on the line is not that in the text."""
    edges = [
        _x(line, place, edge)
        for place in range(first, last)
        for edge in (QTextLine.Edge.Leading, QTextLine.Edge.Trailing)
    ]
    return min(edges), max(edges)


def _x(line: QTextLine, position: int, edge: QTextLine.Edge = QTextLine.Edge.Leading) -> float:
    # Qt gives the place back with it, moved to where a cursor may stand; the stubs do not say so.
    x: Any = line.cursorToX(position, edge)
    return float(x[0])
