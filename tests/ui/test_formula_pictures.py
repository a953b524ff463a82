"""Formulas on the page: asked of the engine once and in time, drawn as the text is, or shown as their source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QTextDocument

from bibgenie_desktop.documents.compact_svg import compact
from bibgenie_desktop.documents.formulas import draw_formula
from bibgenie_desktop.protocol.commands import LONGEST_FORMULA, Command, DrawFormulas, FormulaText
from bibgenie_desktop.protocol.events import FormulaDrawn
from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.ui.chat.body import Look
from bibgenie_desktop.ui.chat.formula_pictures import (
    FORMULAS_AT_ONCE,
    HIGHEST,
    MOST_WAITING,
    SVG_BYTES,
    WIDEST,
    FormulaPictures,
    FormulaStyle,
)
from bibgenie_desktop.ui.chat.formula_svg import LONGEST_SVG
from bibgenie_desktop.ui.chat.markdown_body import MarkdownBody
from bibgenie_desktop.ui.markdown.mathematics import Formula
from bibgenie_desktop.ui.theme import DARK, LIGHT, reading_font
from tests.ui.timers import ManualTimers

pytestmark = [pytest.mark.gui, pytest.mark.req("U-4", "U-5"), pytest.mark.usefixtures("qapp")]

STYLE = FormulaStyle("#22252a", 20, 19, 9, 1.0)
X = Formula("x", False)
FRACTION = Formula(r"\frac{a}{b}", True)
PAGE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9">'


class Desk:
    """Pictures over an engine that the test plays: `sent` are the commands, `answer` answers them truly."""

    def __init__(self, *, ready: bool = True) -> None:
        self.timers = ManualTimers()
        self.sent: list[DrawFormulas] = []
        self.style = STYLE
        self.told = 0
        self.pictures = FormulaPictures(self._send, lambda: self.style, self.timers)
        self.pictures.drawn.connect(self._tell)
        if ready:
            self.pictures.engine_ready()

    def _send(self, command: Command) -> None:
        assert isinstance(command, DrawFormulas)
        self.sent.append(command)

    def _tell(self) -> None:
        self.told += 1

    def want(self, *formulas: Formula) -> None:
        self.pictures.want(formulas)
        self.timers.pass_time()

    @property
    def asked(self) -> list[list[str]]:
        """The formulas of each command."""
        return [[formula.latex for formula in command.formulas] for command in self.sent]

    def take(
        self, formula: Formula | FormulaText, svg: str, width: int = 500, above: int = 500, below: int = 100
    ) -> None:
        """The engine tells of a formula, in pieces of 5,000 characters."""
        pieces = [svg[start : start + 5_000] for start in range(0, max(1, len(svg)), 5_000)]
        for number, piece in enumerate(pieces, 1):
            more = number < len(pieces)
            self.pictures.take(FormulaDrawn(formula.latex, formula.display, piece, width, above, below, more))

    def answer(self, formulas: Sequence[FormulaText] | None = None) -> None:
        """What the engine says to the last command, or of these formulas."""
        for formula in self.sent[-1].formulas if formulas is None else formulas:
            drawn = draw_formula(formula.latex, display=formula.display, seconds=60)
            if drawn is None:
                self.take(formula, "", 0, 0, 0)
            else:
                extents = (round(1000 * each) for each in (drawn.width, drawn.above, drawn.below))
                self.take(formula, compact(drawn.svg), *extents)

    def draw(self, *formulas: Formula) -> None:
        """Have formulas drawn."""
        self.want(*formulas)
        self.answer()
        self.timers.pass_time()

    def image(self, formula: Formula) -> QImage:
        image = self.pictures.image(formula.name)
        assert image is not None
        return image


def ink_of(image: QImage) -> QColor:
    """The colour of the pixel that has most of it."""
    every = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return max(every, key=QColor.alpha)


def test_a_formula_is_asked_for_once_and_drawn_when_it_is_told() -> None:
    desk = Desk()
    assert desk.pictures.picture(FRACTION) is None
    assert desk.pictures.image(FRACTION.name) is None
    desk.timers.pass_time()
    desk.want(FRACTION)
    assert [command.formulas for command in desk.sent] == [(FormulaText(r"\frac{a}{b}", True),)]
    assert desk.told == 0

    desk.answer()
    desk.timers.pass_time()
    assert desk.told == 1
    size = desk.pictures.picture(FRACTION)
    assert size is not None
    image = desk.image(FRACTION)
    assert (image.width(), image.height()) == (size.width, size.height)
    assert ink_of(image).alpha() > 200
    desk.want(FRACTION)
    assert len(desk.sent) == 1


def test_a_formula_in_a_line_and_one_of_its_own_are_two() -> None:
    desk = Desk()
    desk.draw(Formula(r"\sum_i x", True), Formula(r"\sum_i x", False))
    display, inline = (desk.pictures.picture(Formula(r"\sum_i x", display)) for display in (True, False))
    assert display is not None
    assert inline is not None
    assert display.height > inline.height


@pytest.mark.req("S-1")
def test_a_formula_that_cannot_be_drawn_stays_its_source_and_is_asked_for_once() -> None:
    desk = Desk()
    unknown = Formula(r"\ce{H2O}", False)
    desk.draw(unknown)
    assert desk.told == 0
    for _ in range(2):
        assert desk.pictures.picture(unknown) is None
        desk.want(unknown)
    assert desk.asked == [[r"\ce{H2O}"]]


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    ("svg", "extents"),
    [
        (f'{PAGE}<image href="file:///etc/passwd"/></svg>', (500, 500, 100)),
        (f"{PAGE}<script>alert(1)</script></svg>", (500, 500, 100)),
        (f'{PAGE}<path d="M0 0"', (500, 500, 100)),
        (f"{PAGE}{'<path d=' + chr(34) * 2 + ' />' * (LONGEST_SVG // 10)}</svg>", (500, 500, 100)),
        (f"{PAGE}<g></svg>", (500, 500, 100)),
        (f"{PAGE}</svg>", (0, 500, 100)),
        (f"{PAGE}</svg>", (-5, 500, 100)),
        (f"{PAGE}</svg>", (1000 * WIDEST + 1, 500, 100)),
        (f"{PAGE}</svg>", (500, 1000 * HIGHEST, 1)),
        (f"{PAGE}</svg>", (500, -100, 100)),
        (f"{PAGE}</svg>", (500, 10**12, 1 - 10**12)),
    ],
)
def test_a_hostile_svg_is_not_drawn(svg: str, extents: tuple[int, int, int]) -> None:
    desk = Desk()
    desk.want(X)
    desk.take(X, svg, *extents)
    desk.timers.pass_time()
    assert desk.pictures.picture(X) is None
    assert desk.pictures.image(X.name) is None
    assert desk.told == 0


def test_what_nobody_asked_for_is_not_kept() -> None:
    desk = Desk()
    desk.take(X, f"{PAGE}</svg>", 500, 500, 100)
    assert desk.pictures.image(X.name) is None


def test_what_the_engine_would_refuse_is_not_sent() -> None:
    desk = Desk()
    long = Formula("x" * (LONGEST_FORMULA + 1), False)
    desk.want(long)
    assert desk.sent == []
    assert desk.pictures.picture(long) is None


def test_light_and_dark_are_drawn_from_the_same_svg() -> None:
    desk = Desk()
    desk.style = FormulaStyle(LIGHT.text, 20, 19, 9, 1.0)
    desk.draw(FRACTION)
    light = ink_of(desk.image(FRACTION))
    desk.style = FormulaStyle(DARK.text, 20, 19, 9, 1.0)
    dark = ink_of(desk.image(FRACTION))
    assert light.lightness() < 60
    assert dark.lightness() > 200
    assert len(desk.sent) == 1


@pytest.mark.parametrize("ratio", [1.25, 1.5, 2.0, 3.0])
def test_a_picture_has_a_pixel_for_each_of_the_screen(ratio: float) -> None:
    desk = Desk()
    desk.style = FormulaStyle("#000000", 17, 16, 8, ratio)
    desk.draw(FRACTION)
    size, image = desk.pictures.picture(FRACTION), desk.image(FRACTION)
    assert size is not None
    assert (image.width(), image.height()) == (round(size.width * ratio), round(size.height * ratio))
    assert (size.width, size.height) == (round(size.width), round(size.height))
    assert image.devicePixelRatio() == pytest.approx(ratio)


@pytest.mark.parametrize("beside", ["", r"\int_0^1 x"])
@pytest.mark.parametrize("latex", ["x", "x_i", r"\frac{1}{2}", r"\begin{pmatrix}1\\2\\3\end{pmatrix}"])
@pytest.mark.parametrize("line_height", [10, 24, 40])
def test_the_baseline_stands_on_that_of_the_line(latex: str, beside: str, line_height: int) -> None:
    """Whatever else is in the line, and however high lines are. Both have an H in a colour of its own."""
    desk = Desk()
    font = QFont("sans", 10)
    desk.style = replace(FormulaStyle.of(font, LIGHT, 1.0), ink="#ff0000")
    body = MarkdownBody(desk.pictures.picture, desk.pictures.image)
    look = Look(LIGHT, LIGHT.text, round(desk.style.size), str)
    formula = Formula(latex + r"\color{blue}{\mathrm{H}}", False)
    desk.draw(formula, *([Formula(beside, False)] if beside else []))
    text = f"HHH ${formula.latex}$" + (f" ${beside}$" if beside else "")
    html = body.render([Segment("text", text)], look, first_citation=0, first_code=0).html
    html, count = re.subn(r"line-height:\d+px", f"line-height:{line_height}px", html)
    assert count == 1

    page = drawn_page(html, reading_font(font), desk.pictures)
    colours = {(x, y): page.pixelColor(x, y) for x in range(page.width()) for y in range(page.height())}
    blue = [y for (_, y), each in colours.items() if each.red() < 128 < each.blue()]
    black = [y for (_, y), each in colours.items() if each.red() < 128 and each.blue() < 128]
    assert max(blue) == pytest.approx(max(black), abs=1)


def drawn_page(html: str, font: QFont, pictures: FormulaPictures) -> QImage:
    """What Qt makes of HTML, black on white, with these pictures."""

    class Document(QTextDocument):
        def loadResource(self, type: int, name: QUrl | str) -> Any:
            return pictures.image((name.toString() if isinstance(name, QUrl) else name).removeprefix("math:"))

    document = Document()
    document.setDefaultFont(font)
    document.setHtml(html)
    page = QImage(400, 200, QImage.Format.Format_RGB32)
    page.fill("#ffffff")
    painter = QPainter(page)
    document.drawContents(painter)
    painter.end()
    return page


def test_what_is_wanted_at_once_is_asked_for_at_once_and_told_at_once() -> None:
    desk = Desk()
    desk.pictures.picture(X)
    desk.pictures.picture(FRACTION)
    desk.want(Formula("y", False), X)
    assert desk.asked == [["y", "x", r"\frac{a}{b}"]]
    desk.answer()
    desk.timers.pass_time()
    assert desk.told == 1


def test_one_command_at_a_time_and_what_came_into_sight_last_goes_first() -> None:
    desk = Desk()
    desk.want(*(Formula(f"x_{number}", False) for number in range(FORMULAS_AT_ONCE + 2)))
    desk.want(X, Formula(f"x_{FORMULAS_AT_ONCE + 1}", False))
    assert len(desk.sent) == 1
    desk.answer(desk.sent[0].formulas[:-1])
    desk.timers.pass_time()
    assert len(desk.sent) == 1
    desk.answer(desk.sent[0].formulas[-1:])
    desk.timers.pass_time()
    assert desk.asked[0] == [f"x_{number}" for number in range(FORMULAS_AT_ONCE)]
    assert desk.asked[1:] == [["x", f"x_{FORMULAS_AT_ONCE + 1}", f"x_{FORMULAS_AT_ONCE}"]]


@pytest.mark.req("S-1")
def test_what_the_engine_skipped_is_asked_for_again_until_it_was_tried() -> None:
    desk = Desk()
    formulas = [Formula(f"x_{number}", False) for number in range(FORMULAS_AT_ONCE + 1)]
    desk.want(*formulas)
    tried, skipped = desk.sent[0].formulas[:2], desk.sent[0].formulas[2:]
    desk.want(X)
    desk.answer(tried)
    for each in skipped:
        desk.pictures.take(FormulaDrawn(each.latex, each.display, "", 0, 0, 0, skipped=True))
        assert desk.pictures.image(Formula(each.latex, False).name) is None
    desk.timers.pass_time()
    latex = [each.latex for each in skipped]
    assert len(desk.sent) == 2
    assert set(desk.asked[1]) == {"x", *latex, formulas[-1].latex}
    desk.answer()
    desk.timers.pass_time()
    for formula in (X, *formulas):
        assert desk.pictures.picture(formula) is not None
    desk.timers.pass_time()
    assert len(desk.sent) == 2


@pytest.mark.req("S-1")
def test_in_sight_goes_before_skipped_and_skipped_before_what_waited_behind_it() -> None:
    desk = Desk()
    formulas = [Formula(f"x_{number}", False) for number in range(3 * FORMULAS_AT_ONCE)]
    desk.want(*formulas)
    desk.want(X)
    for number, formula in enumerate(desk.sent[0].formulas):
        desk.pictures.take(FormulaDrawn(formula.latex, False, "", 0, 0, 0, skipped=number > 0))
    desk.timers.pass_time()
    names = [formula.latex for formula in formulas]
    assert desk.asked[1] == ["x", *names[1:FORMULAS_AT_ONCE]]


def test_what_was_asked_and_skipped_is_not_lost_with_its_engine() -> None:
    desk = Desk()
    desk.want(X, FRACTION)
    desk.pictures.engine_ended()
    desk.pictures.take(FormulaDrawn("x", False, "", 0, 0, 0, skipped=True))
    desk.pictures.engine_ready()
    desk.timers.pass_time()
    assert [sorted(each) for each in desk.asked[1:]] == [sorted(["x", FRACTION.latex])]


def test_only_so_many_wait() -> None:
    desk = Desk(ready=False)
    formulas = [Formula(f"x_{number}", False) for number in range(MOST_WAITING + 1)]
    desk.want(*formulas)
    desk.want(X)
    desk.pictures.engine_ready()
    asked: set[str] = set()
    desk.timers.pass_time()
    while len(asked) < MOST_WAITING:
        new = {formula.latex for formula in desk.sent[-1].formulas} - asked
        assert new
        asked |= new
        for formula in desk.sent[-1].formulas:
            desk.take(formula, "", 0, 0, 0)
        desk.timers.pass_time()
    assert asked == {"x", *(formula.latex for formula in formulas[: MOST_WAITING - 1])}


def test_nothing_is_asked_before_the_engine_answers() -> None:
    desk = Desk(ready=False)
    desk.want(X)
    assert desk.sent == []
    desk.pictures.engine_ready()
    desk.timers.pass_time()
    assert desk.asked == [["x"]]


def test_a_new_engine_is_asked_for_what_the_old_one_did_not_answer() -> None:
    desk = Desk()
    y, z, large = Formula("y", False), Formula("z", False), Formula("x" + "+x" * 40, True)
    desk.want(X, large, y)
    desk.answer(desk.sent[0].formulas[:1])
    drawn = draw_formula(large.latex, display=True, seconds=60)
    assert drawn is not None
    desk.pictures.take(FormulaDrawn(large.latex, True, drawn.svg[:5_000], 9000, 900, 100, True))
    desk.pictures.engine_ended()
    desk.want(z)
    assert len(desk.sent) == 1
    desk.pictures.engine_ready()
    desk.timers.pass_time()
    assert desk.asked[1:] == [[large.latex, "y", "z"]]
    desk.answer()
    desk.timers.pass_time()
    for formula in (X, y, z, large):
        assert desk.pictures.picture(formula) is not None
    assert len(desk.sent) == 2


def test_a_formula_that_was_let_go_for_others_is_asked_for_again() -> None:
    desk = Desk()
    desk.draw(X)
    filler = f'{PAGE}<path d="{"M0 0" * 45_000}" /></svg>'
    for number in range(SVG_BYTES // len(filler) + 1):
        formula = Formula(f"y_{number}", False)
        desk.want(formula)
        desk.pictures.take(FormulaDrawn(formula.latex, False, filler, 500, 500, 100))
    assert desk.pictures.picture(Formula("y_9", False)) is not None
    assert desk.pictures.picture(X) is None
    desk.timers.pass_time()
    assert desk.asked[-1] == ["x"]


@pytest.mark.req("S-1")
def test_in_an_answer_the_source_is_shown_until_the_picture_is_there() -> None:
    desk = Desk()
    body = MarkdownBody(desk.pictures.picture, desk.pictures.image)
    look = Look(LIGHT, LIGHT.text, 20, str)

    def html() -> str:
        segments = [Segment("text", r"The letter $x$ and $\ce{H2O}$.")]
        return body.render(segments, look, first_citation=0, first_code=0).html

    assert "<img" not in html()
    desk.timers.pass_time()
    desk.answer()
    [name] = re.findall(r'<img src="math:([0-9a-f]+)"', html())
    assert name == X.name
    assert body.image(name) is not None
    assert r"$\ce{H2O}$" in html()
    desk.timers.pass_time()
    assert len(desk.sent) == 1


def test_the_style_is_that_of_answers() -> None:
    style = FormulaStyle.of(QFont("sans", 10), DARK, 2.0)
    assert style.ink == DARK.text
    assert style.ratio == 2.0
    assert 0 < style.x_height < style.ascent < 2 * style.size
