"""Where the citations of a text stand on the page: the boxes that are drawn under them."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QTextBlock, QTextLine

from ..markdown.inline import THIN
from .document_text import CITATION_LINK, fragments


def chips_of_block(block: QTextBlock) -> list[QRectF]:
    """The boxes of a block's citations, one for each line they stand in, in the document's coordinates."""
    # Most blocks hold none: told without looking at their parts.
    if THIN not in block.text():
        return []
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
                left, right = sorted((_x(line, first), _x(line, last)))
                top = line.y() + line.ascent() - metrics.ascent() - 1
                box = QRectF(left, top, right - left, metrics.height() + 2).translated(origin)
                known = boxes.get((address, index))
                boxes[address, index] = box if known is None else known.united(box)
    return list(boxes.values())


def _x(line: QTextLine, position: int) -> float:
    # Qt gives the place back with it, moved to where a cursor may stand; the stubs do not say so.
    x: Any = line.cursorToX(position)
    return float(x[0])
