"""The pictures of formulas: asked of the engine once, kept as SVG, and drawn in the colour and size of the text."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QRectF, Signal
from PySide6.QtGui import QFont, QFontInfo, QFontMetrics, QImage

from ...protocol.commands import LONGEST_FORMULA, Command, DrawFormulas, FormulaText
from ...protocol.events import Event, FormulaDrawn
from ..markdown.mathematics import Formula, FormulaImage, middle_box
from ..theme import Colours, reading_font
from ..timing import Coalesced, MakeTimer
from .formula_svg import LONGEST_SVG, is_safe, picture_of

TELL_MILLISECONDS = 100
"""Pictures that arrive within so long are shown together."""
FORMULAS_AT_ONCE = 8
"""In one command: what comes into sight meanwhile waits for so many at most."""
MOST_WAITING = 1_000
"""Formulas; the ones wanted longest ago are given up, until they are wanted again."""
SVG_BYTES = 16 * 2**20
PICTURE_BYTES = 32 * 2**20
WIDEST, HIGHEST = 300, 80
"""Sizes of the text around a formula."""

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class FormulaStyle:
    """How formulas are drawn: the text's colour as `#rrggbb`, its size, `ascent` and `x_height` in pixels, and how many
    pixels of the screen make one of these."""

    ink: str
    size: float
    ascent: float
    x_height: float
    ratio: float

    @classmethod
    def of(cls, font: QFont, colours: Colours, ratio: float) -> FormulaStyle:
        """The style for answers on a page whose font is `font`."""
        return _style(font.toString(), colours, ratio)


# Asked for at each formula of each answer that is drawn, and measuring a font takes as long as the rest of it.
@lru_cache(maxsize=8)
def _style(description: str, colours: Colours, ratio: float) -> FormulaStyle:
    font = QFont()
    font.fromString(description)
    reading = reading_font(font)
    metrics = QFontMetrics(reading)
    return FormulaStyle(colours.text, QFontInfo(reading).pixelSize(), metrics.ascent(), metrics.xHeight(), ratio)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A formula as SVG; its extents in thousandths of the text's size."""

    svg: str
    width: int
    above: int
    below: int

    def measured(self, style: FormulaStyle) -> tuple[FormulaImage, QRectF]:
        """The picture's size, in whole pixels as Qt makes it, and where in it the formula is drawn.

        No picture is lower than what the text's ascent asks for: Qt puts the middle of a picture to the middle of the
        line, and that is where `middle_box` has it only where a picture makes the line as high as it is.
        """
        width, above, below = (extent / 1000 * style.size for extent in (self.width, self.above, self.below))
        highest = max(above, style.ascent)
        height, top = middle_box(highest, below, style.x_height)
        whole = FormulaImage(math.ceil(width), math.ceil(height))
        place = QRectF(0, top + highest - above + (whole.height - height) / 2, width, above + below)
        return whole, place


class _Kept(Generic[Key, Value]):
    """What was used last, up to a number of bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def get(self, key: Key) -> Value | None:
        """The value, which is used now; None where it is not here."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Keep a value of this many bytes, and let others go for it."""
        self._bytes += size - self._values.pop(key, (value, 0))[1]
        self._values[key] = value, size
        while self._bytes > self._most and len(self._values) > 1:
            self._bytes -= self._values.popitem(last=False)[1][1]


class FormulaPictures(QObject):
    """Pictures of formulas for MarkdownBody, which shows the source of those that are not there (yet).

    Commands go to `send` once the engine answers: see `engine_ready`. `style` tells how formulas are drawn now.

    Signals:
        drawn: there are pictures that there were not before.
    """

    drawn = Signal()

    def __init__(
        self,
        send: Callable[[Command], None],
        style: Callable[[], FormulaStyle],
        make_timer: MakeTimer,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._send = send
        self._style = style
        self._ready = False
        self._waiting: dict[str, Formula] = {}  # what is asked for stays in it until it was tried
        self._asked: dict[str, tuple[Formula, list[str]]] = {}
        self._known: _Kept[str, _Drawn | None] = _Kept(SVG_BYTES)
        self._pictures: _Kept[tuple[str, FormulaStyle], QImage] = _Kept(PICTURE_BYTES)
        self._asking = make_timer(self._ask)
        self._telling = Coalesced(self.drawn.emit, TELL_MILLISECONDS, make_timer)

    # What the page asks

    def picture(self, formula: Formula) -> FormulaImage | None:
        """The size of a formula's picture; None where there is none, and then it is wanted."""
        known = self._known.get(formula.name)
        if known is None:
            self.want((formula,))
            return None
        return known.measured(self._style())[0]

    def image(self, name: str) -> QImage | None:
        """The picture of the formula with this name."""
        known = self._known.get(name)
        return self._draw(name, known) if known is not None else None

    def want(self, formulas: Iterable[Formula]) -> None:
        """Ask for these soon, before others that wait, unless it is known that they have no picture."""
        wanted = {}
        for formula in formulas:
            name = formula.name
            if name in self._known or name in self._asked:
                continue
            if len(formula.latex) > LONGEST_FORMULA:
                self._keep(name, None)
            else:
                wanted[name] = formula
        if wanted:
            waiting = [*wanted.items(), *((name, each) for name, each in self._waiting.items() if name not in wanted)]
            self._waiting = dict(waiting[:MOST_WAITING])
            self._ask_soon()

    # What the engine tells

    def engine_ready(self) -> None:
        """The engine answers. What another one was asked for and did not answer is asked again."""
        self._ready = True
        self._waiting = {name: formula for name, (formula, _) in self._asked.items()} | self._waiting
        self._asked.clear()
        self._ask_soon()

    def engine_ended(self) -> None:
        """The engine is gone: ask nothing before `engine_ready`."""
        self._ready = False

    def take(self, event: Event) -> None:
        """Take a piece of a formula; other events are not for us."""
        if not isinstance(event, FormulaDrawn):
            return
        name = Formula(event.latex, event.display).name
        if name not in self._asked:
            return
        if event.skipped:  # those before it took too long; it waits where it waited
            del self._asked[name]
            self._ask_soon()
            return
        pieces = self._asked[name][1]
        pieces.append(event.svg)
        if event.more and sum(map(len, pieces)) <= LONGEST_SVG:
            return
        del self._asked[name]
        self._waiting.pop(name, None)
        drawn = _Drawn("".join(pieces), event.width, event.above, event.below)
        if not event.more and _is_sound(drawn) and self._draw(name, drawn) is not None:
            self._keep(name, drawn)
            self._telling.ask()
        else:
            self._keep(name, None)
        self._ask_soon()

    def _ask_soon(self) -> None:
        # One command at a time: what is wanted meanwhile is asked for before what is left.
        if self._ready and self._waiting and not self._asked:
            self._asking.start(0)

    def _ask(self) -> None:
        if not self._ready or self._asked:
            return
        formulas = list(self._waiting.items())[:FORMULAS_AT_ONCE]
        for name, formula in formulas:
            self._asked[name] = formula, []
        if formulas:
            self._send(DrawFormulas(tuple(FormulaText(formula.latex, formula.display) for _, formula in formulas)))

    def _keep(self, name: str, drawn: _Drawn | None) -> None:
        self._known.put(name, drawn, 200 + (len(drawn.svg) if drawn else 0))

    def _draw(self, name: str, drawn: _Drawn) -> QImage | None:
        style = self._style()
        picture = self._pictures.get((name, style))
        if picture is None:
            size, place = drawn.measured(style)
            picture = picture_of(
                drawn.svg, ink=style.ink, size=(size.width, size.height), place=place, ratio=style.ratio
            )
            if picture is not None:
                self._pictures.put((name, style), picture, picture.sizeInBytes())
        return picture


def _is_sound(drawn: _Drawn) -> bool:
    fits = 0 < drawn.width <= 1000 * WIDEST and 0 < drawn.above + drawn.below <= 1000 * HIGHEST
    return fits and abs(drawn.above) <= 1000 * HIGHEST and is_safe(drawn.svg)
