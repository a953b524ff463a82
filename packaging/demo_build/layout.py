"""From blocks to pages: boxes of a known height, filled into pages one after the other.

A box is drawn from its top edge downwards. Lengths are in points; y grows upwards, as in a PDF.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .source import BadSource, Block, Span
from .typeset import LEADING, Line, set_justified, set_line, set_ragged

_RULE = "0.5 w 0.45 G {x0:.2f} {y:.2f} m {x1:.2f} {y:.2f} l S 0 G"
_CELL_GAP = 10.0


@dataclass(frozen=True, slots=True)
class PageForm:
    """A page's size, its margins, and the size and leading of its text."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    size: float
    leading: float

    @property
    def measure(self) -> float:
        """The width of a line."""
        return self.width - self.left - self.right

    @property
    def depth(self) -> float:
        """The height of the text on a page."""
        return self.height - self.top - self.bottom


@dataclass(frozen=True, slots=True)
class Box:
    """Something of a known height.

    `draw` gives the operators for a top edge at the y it is given. `before` is the space above, left out at the top
    of a page. `breakable` allows a page to end above the box. `heading` names it in the contents, at `level`: 1 for a
    chapter, 2 for a section, 3 for a figure or table. `link` is the heading that a click on the box leads to.
    """

    height: float
    draw: Callable[[float], str]
    before: float = 0.0
    breakable: bool = True
    heading: str = ""
    level: int = 0
    link: str = ""


@dataclass(slots=True)
class Page:
    """A page filled with boxes.

    `part` is the heading of level 1 it belongs to; `opening`, whether that begins here. `links` are headings and the
    y of the upper and lower edge of what leads to them.
    """

    operators: list[str] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    links: list[tuple[str, float, float]] = field(default_factory=list)
    part: str = ""
    opening: bool = False


def space(height: float) -> Box:
    """Empty space that is kept at the top of a page too."""
    return Box(height, lambda _: "")


def line_box(line: Line, form: PageForm, *, leading: float = 0.0, before: float = 0.0, right: bool = False) -> Box:
    """One line by itself, at the left or the right."""
    height = leading or form.leading
    x = form.left + (form.measure - line.width if right else 0.0)
    return Box(height, lambda top: line.operators(x, top - 0.75 * height), before)


def text_boxes(block: Block, form: PageForm, *, before: float, indent: float = 0.0, inset: float = 0.0) -> list[Box]:
    """A paragraph's lines; the first and the last two are never parted. `inset` narrows it at both sides."""
    lines = set_justified(block.spans, form.size, form.measure - 2 * inset, indent)
    return _line_boxes(lines, form, before, form.left + inset, indent)


def item_boxes(block: Block, form: PageForm, *, before: float) -> list[Box]:
    """A list item with its marker in the margin of its lines."""
    hang = 1.55 * form.size
    marker = set_line((Span(block.name),), form.size)
    first, *others = _line_boxes(
        set_justified(block.spans, form.size, form.measure - hang), form, before, form.left + hang, 0.0
    )

    def draw(top: float) -> str:
        return f"{marker.operators(form.left, top - 0.75 * form.leading)}\n{first.draw(top)}"

    return [Box(first.height, draw, first.before, first.breakable), *others]


def _line_boxes(lines: Sequence[Line], form: PageForm, before: float, left: float, indent: float) -> list[Box]:
    def draw(line: Line, x: float) -> Callable[[float], str]:
        return lambda top: line.operators(x, top - 0.75 * form.leading)

    return [
        Box(
            form.leading,
            draw(line, left + (0.0 if position else indent)),
            0.0 if position else before,
            position not in ((1, len(lines) - 1) if len(lines) > 1 else ()),
        )
        for position, line in enumerate(lines)
    ]


def heading_box(block: Block, form: PageForm, *, size: float, before: float, after: float, bold: bool = False) -> Box:
    """A heading, in one or more ragged lines, with its space below; no page ends under it."""
    spans = tuple(Span(span.text, "bold") for span in block.spans) if bold else block.spans
    lines = set_ragged(spans, size, form.measure)
    step = 1.25 * size

    def draw(top: float) -> str:
        return "\n".join(line.operators(form.left, top - 0.8 * step - step * row) for row, line in enumerate(lines))

    return Box(step * len(lines) + after, draw, before, True, block.text, block.level)


def table_box(block: Block, form: PageForm, *, size: float) -> Box:
    """A table with a rule above, under its head and below; columns are as wide as their longest cell if they may be."""
    columns = _column_widths(block, form.measure, size)
    rows = [[set_ragged(cell, size, width) for cell, width in zip(row, columns, strict=True)] for row in block.rows]
    step = LEADING * size
    heights = [step * max(len(cell) for cell in row) + 0.24 * size for row in rows]

    def draw(top: float) -> str:
        drawn = [_RULE.format(x0=form.left, x1=form.left + form.measure, y=top)]
        y = top - 0.2 * size
        for number, (row, height) in enumerate(zip(rows, heights, strict=True)):
            x = form.left
            for cell, width in zip(row, columns, strict=True):
                for position, line in enumerate(cell):
                    if line.words:
                        drawn.append(line.operators(x, y - 0.8 * step - position * step))
                x += width + _CELL_GAP
            y -= height
            if number in (0, len(rows) - 1):
                drawn.append(_RULE.format(x0=form.left, x1=form.left + form.measure, y=y - 0.05 * size))
                y -= 0.2 * size
        return "\n".join(drawn)

    return Box(sum(heights) + 0.8 * size, draw, 0.0, False)


def _column_widths(block: Block, measure: float, size: float) -> list[float]:
    """Natural widths, or, where they do not fit, with the room divided over the widest columns evenly."""
    natural = [
        max(set_line(cell, size).width if cell else 0.0 for cell in column) for column in zip(*block.rows, strict=True)
    ]
    room = measure - _CELL_GAP * (len(natural) - 1)
    if sum(natural) <= room:
        spare = (room - sum(natural)) / len(natural)
        return [width + spare for width in natural]
    low, high = 0.0, room
    for _ in range(40):  # the widest that any column may be, so that all together fill the measure
        middle = (low + high) / 2
        if sum(min(width, middle) for width in natural) > room:
            high = middle
        else:
            low = middle
    return [min(width, low) for width in natural]


def fill(boxes: Sequence[Box], form: PageForm, part: str = "") -> list[Page]:
    """Fill pages with boxes. Raises BadSource for what cannot be placed on any page."""
    pages: list[Page] = []
    start = 0
    while start < len(boxes):
        depth, end = 0.0, start
        while end < len(boxes):
            depth += boxes[end].height + (boxes[end].before if end > start else 0.0)
            if depth > form.depth + 0.01:
                break
            end += 1
        while start < end < len(boxes) and not _may_break(boxes, end):
            end -= 1
        if end == start:
            raise BadSource(f"a page of {part or 'the work'} cannot be broken anywhere")
        pages.append(_page(boxes[start:end], form, part))
        part = pages[-1].part
        start = end
    return pages


def _may_break(boxes: Sequence[Box], position: int) -> bool:
    """Whether a page may end above this box: not under a heading, nor a line after one."""
    return boxes[position].breakable and not any(box.level in (1, 2) for box in boxes[max(0, position - 2) : position])


def _page(boxes: Sequence[Box], form: PageForm, part: str) -> Page:
    page = Page(part=part)
    y = form.height - form.top
    for position, box in enumerate(boxes):
        y -= box.before if position else 0.0
        page.operators.append(box.draw(y))
        if box.heading:
            page.headings.append((box.level, box.heading))
            if box.level == 1:
                page.part, page.opening = box.heading, True
        if box.link:
            page.links.append((box.link, y, y - box.height))
        y -= box.height
    return page
