"""The two PDFs with text: their design, and the way from a source to filled pages.

A directive (`@name`) stands for what is no running text: the title page, the contents, a figure, a page's end.
Contents and lists name pages that come after them, so a work is composed twice; the second time all labels are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .layout import (
    Box,
    Page,
    PageForm,
    fill,
    heading_box,
    item_boxes,
    line_box,
    space,
    table_box,
    text_boxes,
)
from .source import BadSource, Block, Source, Span
from .typeset import LEADING, set_line, set_ragged

_RED = "0.70 0.16 0.13"
"""The accent, as the operands of PDF's colour operators."""


@dataclass(frozen=True, slots=True)
class Design:
    """How a work looks: `between` is the space between paragraphs, `title_page` whether the title has its own page."""

    form: PageForm
    between: float
    between_items: float
    title_page: bool
    chapter_size: float
    section_size: float
    small: float


MANUAL = Design(
    PageForm(width=432, height=648, left=62, right=62, top=74, bottom=78, size=9.5, leading=14),
    between=5.0,
    between_items=3.2,
    title_page=True,
    chapter_size=17,
    section_size=10.6,
    small=8.4,
)
ESSAY = Design(
    PageForm(width=595, height=842, left=102, right=102, top=92, bottom=96, size=10.2, leading=15),
    between=6.0,
    between_items=4.0,
    title_page=False,
    chapter_size=12.4,
    section_size=10.6,
    small=8.8,
)


@dataclass(frozen=True, slots=True)
class Composition:
    """A work in pages. `front` of them come before the body; `labels` are the printed numbers of all."""

    pages: tuple[Page, ...]
    front: int

    @property
    def labels(self) -> tuple[str, ...]:
        """Roman numerals for the front matter, then arabic ones from 1."""
        body = len(self.pages) - self.front
        return (*(roman(n + 1) for n in range(self.front)), *(str(n + 1) for n in range(body)))

    def label_of(self, heading: str) -> str:
        """The label of the page a heading or a caption stands on; "" where it stands nowhere."""
        for page, label in zip(self.pages, self.labels, strict=True):
            if heading in (text for _, text in page.headings):
                return label
        return ""


def roman(number: int) -> str:
    """A number below 40 in small roman numerals."""
    tens, ones = divmod(number, 10)
    return "x" * tens + ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")[ones]


def compose(source: Source, design: Design) -> Composition:
    """Set a work in pages. Raises BadSource."""
    first = _Composer(source, design, None).run()
    second = _Composer(source, design, first).run()
    if second.labels != first.labels:
        raise BadSource(f"{source.head['title']} has other pages once its contents are known")
    return second


class _Composer:
    """One pass over a source."""

    def __init__(self, source: Source, design: Design, known: Composition | None) -> None:
        self._source = source
        self._design = design
        self._form = design.form
        self._known = known
        self._boxes: list[Box] = []
        self._pages: list[Page] = []
        self._front = 0
        self._chapter = 0
        self._imprint = False
        self._abstract = False
        self._caption: list[Box] = []
        self._before: Block | None = None

    def run(self) -> Composition:
        for block in self._source.blocks:
            self._add(block)
            self._before = block
        self._end_page()
        return Composition(tuple(self._pages), self._front)

    def _end_page(self) -> None:
        if self._imprint:  # stands at the foot of its page
            text = sum(box.height + box.before for box in self._boxes)
            self._boxes.insert(0, space(self._form.depth - text))
        part = self._pages[-1].part if self._pages else ""
        self._pages.extend(fill(self._boxes, self._form, part))
        self._boxes = []
        self._imprint = False

    def _add(self, block: Block) -> None:
        form, design = self._form, self._design
        after_table = self._before is not None and self._before.kind == "table"
        between = 1.1 * form.leading if after_table else design.between
        match block.kind:
            case "paragraph" if self._imprint or self._abstract:
                small = replace(form, size=design.small + 0.6, leading=LEADING * (design.small + 0.6))
                self._boxes.extend(text_boxes(block, small, before=between, inset=24.0 if self._abstract else 0.0))
                self._abstract = False
            case "paragraph":
                self._boxes.extend(text_boxes(block, form, before=between))
            case "item":
                follows = self._before is not None and self._before.kind == "item"
                self._boxes.extend(item_boxes(block, form, before=design.between_items if follows else between))
            case "heading":
                self._heading(block)
            case "table":
                self._boxes.extend([*self._caption, table_box(block, form, size=design.small)])
                self._caption = []
            case "directive":
                self._directive(block)
            case _:
                raise BadSource(f"a PDF has no way to show a block of kind {block.kind}")

    def _heading(self, block: Block) -> None:
        design = self._design
        if block.level == 2:
            self._boxes.append(heading_box(block, self._form, size=design.section_size, before=13, after=3, bold=True))
            return
        if not design.title_page:
            self._boxes.append(heading_box(block, self._form, size=design.chapter_size, before=17, after=5, bold=True))
            return
        if self._front:
            self._chapter += 1
            number = set_line((Span(str(self._chapter)),), design.chapter_size)
            self._boxes.append(_coloured(line_box(number, self._form, leading=1.9 * design.chapter_size)))
        self._boxes.append(heading_box(block, self._form, size=design.chapter_size, before=0, after=24))

    def _directive(self, block: Block) -> None:
        form, design = self._form, self._design
        match block.name:
            case "front":
                pass
            case "abstract":
                self._abstract = True
            case "page":
                self._end_page()
            case "body":
                self._end_page()
                self._front = len(self._pages)
            case "title" | "subtitle" | "author" | "publisher":
                self._title_line(block)
            case "imprint":
                self._imprint = True
            case "heading":
                opening = Block("heading", block.spans, level=1)
                if self._boxes:
                    self._boxes.append(heading_box(replace(opening, level=2), form, size=13, before=26, after=8))
                else:
                    self._boxes.append(heading_box(opening, form, size=design.chapter_size, before=0, after=24))
            case "right":
                self._boxes.append(line_box(set_line(block.spans, form.size), form, before=8, right=True))
            case "contents":
                opening = Block("heading", block.spans, level=1)
                self._boxes.append(heading_box(opening, form, size=design.chapter_size, before=0, after=22))
                self._boxes.extend(self._contents())
            case "floats":
                self._boxes.extend(self._floats())
            case "caption":
                self._add_caption(block)
            case "figure":
                self._boxes.append(_pages_figure(form, self._known))
            case _:
                raise BadSource(f"no directive is called @{block.name}")

    def _title_line(self, block: Block) -> None:
        form = self._form
        if self._design.title_page:
            above, size, rule = {
                "title": (118.0, 31.0, False),
                "subtitle": (10.0, 14.0, True),
                "author": (5.0 if self._before and self._before.name == "author" else 34.0, 11.0, False),
                "publisher": (0.0, 9.0, False),
            }[block.name]
        else:
            above, size, rule = {
                "title": (6.0, 24.0, False),
                "subtitle": (6.0, 12.5, True),
                "author": (20.0, 10.5, False),
                "publisher": (3.0, 8.8, False),
            }[block.name]
        if block.name == "publisher" and self._design.title_page:
            above = form.depth - sum(box.height for box in self._boxes) - 1.3 * size
        spans = tuple(Span(span.text, "italic") for span in block.spans) if block.name == "subtitle" else block.spans
        self._boxes.extend([space(above), line_box(set_line(spans, size), form, leading=1.2 * size)])
        if rule:
            x = form.left
            self._boxes.append(
                Box(14, lambda top: f"1.2 w {_RED} RG {x:.2f} {top - 14:.2f} m {x + 36:.2f} {top - 14:.2f} l S 0 G")
            )
        if block.name == "publisher" and not self._design.title_page:
            self._boxes.append(space(20))

    def _add_caption(self, block: Block) -> None:
        """A figure's caption stands below it, a table's above; both are lines for the list of figures and tables."""
        form, size = self._form, self._design.small
        figure = self._before is not None and self._before.name == "figure"
        lines = set_ragged(block.spans, size, form.measure)
        step = LEADING * size
        name = block.text.split(". ")[0]

        def draw(top: float) -> str:
            return "\n".join(line.operators(form.left, top - 0.8 * step - step * row) for row, line in enumerate(lines))

        if figure:
            self._boxes.append(Box(step * len(lines) + form.leading, draw, 6, False, name, 3))
        else:
            self._caption = [Box(step * len(lines) + 5, draw, 1.1 * form.leading, True, name, 3)]

    def _contents(self) -> Iterator[Box]:
        chapter = 0
        front = True
        for block in self._source.blocks:
            front = front and block.name != "body"
            if block.kind == "heading" or (block.name == "heading" and front):
                top = block.kind == "directive" or block.level == 1
                chapter += top and not front
                number = f"{chapter}" if top and not front else ""
                yield self._entry(block.text, number, inset=0.0 if top and front else 18.0, top=top)

    def _floats(self) -> Iterator[Box]:
        for block in self._source.blocks:
            if block.name == "caption":
                name, text = block.text.split(". ")[:2]
                yield self._entry(f"{name}. {text.rstrip('.')}", "", inset=0.0, top=False, heading=name)

    def _entry(self, text: str, number: str, *, inset: float, top: bool, heading: str = "") -> Box:
        form = self._form
        size = form.size if top else form.size - 0.6
        page = set_line((Span((self._known and self._known.label_of(heading or text)) or "0"),), size)
        title = set_line((Span(text),), size)
        count = set_line((Span(number),), size) if number else None
        height = form.leading + 0.4

        def draw(y: float) -> str:
            base = y - 0.75 * height
            drawn = [title.operators(form.left + inset, base)]
            drawn.append(page.operators(form.left + form.measure - page.width, base))
            return "\n".join([count.operators(form.left, base), *drawn] if count else drawn)

        before = 7.0 if number else 0.0
        return Box(height, draw, before, link=heading or text)


def _coloured(box: Box) -> Box:
    """The box in the accent colour."""
    return replace(box, draw=lambda top: f"{_RED} rg {box.draw(top)} 0 g")


def _pages_figure(form: PageForm, known: Composition | None) -> Box:
    """All pages of the file in a row of outlines, the label above and the index below each; page 3 is grey."""
    labels = known.labels if known else ("i",)
    pitch = form.measure / len(labels)
    wide = 0.74 * pitch

    middles = [form.left + (index + 0.5) * pitch for index in range(len(labels))]

    def draw(top: float) -> str:
        drawn = ["0.5 w 0.25 G"]
        for middle, label in zip(middles, labels, strict=True):
            shade = 0.78 if label == "3" else 1.0
            drawn.append(f"{shade} g {middle - wide / 2:.2f} {top - 31:.2f} {wide:.2f} 17 re B")
        drawn.append("0 g 0 G")
        drawn.extend(_centred(label, middle, top - 9) for middle, label in zip(middles, labels, strict=True))
        drawn.extend(_centred(str(index), middle, top - 40) for index, middle in enumerate(middles))
        return "\n".join(drawn)

    return Box(44, draw, 10, True)


def _centred(text: str, x: float, y: float) -> str:
    line = set_line((Span(text),), 7)
    return line.operators(x - line.width / 2, y)
