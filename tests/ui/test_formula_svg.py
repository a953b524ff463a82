"""SVG from the engine: formulas are drawn by QtSvg, in the colour asked for; anything else is not even read (S-1)."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage

from bibgenie_desktop.documents.compact_svg import compact
from bibgenie_desktop.documents.formulas import draw_formula
from bibgenie_desktop.documents.port import DrawnFormula
from bibgenie_desktop.ui.chat.formula_svg import DEEPEST, LONGEST_SVG, MOST_PIXELS, is_safe, picture_of
from tests.documents.test_formulas import FORMULAS

pytestmark = [pytest.mark.gui, pytest.mark.req("S-1", "U-5"), pytest.mark.usefixtures("qapp")]

EM = 32
RED = QColor("#ff0000")
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10" viewBox="0 0 10 10">'


def drawn(latex: str, *, display: bool = True) -> DrawnFormula:
    formula = draw_formula(latex, display=display, seconds=60)
    assert formula is not None
    return formula


def picture(svg: str, width: float, height: float, ink: str = "#000000", ratio: float = 1.0) -> QImage:
    found = picture_of(svg, ink=ink, size=(width, height), place=QRectF(0, 0, width, height), ratio=ratio)
    assert found is not None
    return found


def formula_picture(formula: DrawnFormula, ink: str = "#000000") -> QImage:
    return picture(formula.svg, formula.width * EM, (formula.above + formula.below) * EM, ink)


def pixels(image: QImage) -> list[QColor]:
    return [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]


@pytest.mark.parametrize(
    "latex", ["x", r"\frac{a}{b}", r"\sqrt{x}", r"\int_0^1", r"\overline{x}", r"\begin{vmatrix}a\end{vmatrix}"]
)
@pytest.mark.parametrize("ink", ["#ff0000", "#e4e5e7"])
def test_a_formula_is_not_blank_and_has_the_colour_of_the_text(latex: str, ink: str) -> None:
    wanted = QColor(ink)
    inked = [each for each in pixels(formula_picture(drawn(latex), ink)) if each.alpha() > 200]
    assert len(inked) > 20
    for each in inked:
        for part in ("red", "green", "blue"):
            assert abs(getattr(each, part)() - getattr(wanted, part)()) < 60


def test_the_baseline_is_where_the_formula_says() -> None:
    """An x stands on it: below there is no ink."""
    formula = drawn("x", display=False)
    image = formula_picture(formula)
    rows = [y for y in range(image.height()) for x in range(image.width()) if image.pixelColor(x, y).alpha() > 100]
    assert max(rows) == pytest.approx(formula.above * EM, abs=2)


@pytest.mark.parametrize("latex", FORMULAS)
def test_every_formula_is_safe_and_looks_the_same_when_compacted(latex: str) -> None:
    formula = drawn(latex)
    short = compact(formula.svg)
    assert is_safe(formula.svg)
    assert is_safe(short)
    width, height = formula.width * EM, (formula.above + formula.below) * EM
    before, after = (pixels(picture(svg, width, height)) for svg in (formula.svg, short))
    assert max(abs(one.alpha() - other.alpha()) for one, other in zip(before, after, strict=True)) < 80


def test_a_screen_of_more_pixels_gets_a_picture_of_more_pixels() -> None:
    formula = drawn("x")
    once, twice = (picture(formula.svg, 20, 30, ratio=ratio) for ratio in (1.0, 2.0))
    assert (once.width(), once.height(), once.devicePixelRatio()) == (20, 30, 1)
    assert (twice.width(), twice.height(), twice.devicePixelRatio()) == (40, 60, 2)
    assert twice.deviceIndependentSize() == once.deviceIndependentSize()


def test_a_huge_picture_is_drawn_with_fewer_pixels() -> None:
    image = picture(drawn("x").svg, 6000, 3000, ratio=2.0)
    assert image.width() * image.height() == pytest.approx(MOST_PIXELS, rel=0.01)
    assert image.deviceIndependentSize().width() == pytest.approx(6000, rel=0.01)


def test_the_picture_is_drawn_at_its_place() -> None:
    image = picture_of(
        f'{HEAD}<rect x="0" y="0" width="10" height="10" fill="black" /></svg>',
        ink="#ff0000",
        size=(20, 20),
        place=QRectF(5, 10, 5, 5),
        ratio=2.0,
    )
    assert image is not None
    inked = [(x, y) for x in range(40) for y in range(40) if image.pixelColor(x, y) == RED]
    assert (min(inked), max(inked)) == ((10, 20), (19, 29))


@pytest.mark.parametrize(
    "svg",
    [
        "",
        "x",
        "<svg",
        "</svg>",
        f"{HEAD}",
        f"{HEAD}</svg>x",
        f"x{HEAD}</svg>",
        f"{HEAD}</svg>{HEAD}</svg>",
        f"{HEAD}{HEAD}</svg></svg>",
        f"{HEAD}text</svg>",
        f"{HEAD}<script>alert(1)</script></svg>",
        f'{HEAD}<image href="file:///etc/passwd"/></svg>',
        f'{HEAD}<image xlink:href="http://127.0.0.1/x.png"/></svg>',
        f'{HEAD}<use href="#a"/></svg>',
        f"{HEAD}<style>*{{fill:url(x)}}</style></svg>",
        f'{HEAD}<animate attributeName="x"/></svg>',
        f"{HEAD}<foreignObject/></svg>",
        f"{HEAD}<text>x</text></svg>",
        f'{HEAD}<a href="http://a.b"><path d="M0 0"/></a></svg>',
        f'{HEAD}<path d="M0 0" onclick="x()"/></svg>',
        f'{HEAD}<path d="M0 0" style="fill:red"/></svg>',
        f'{HEAD}<path d="M0 0" fill="url(#a)"/></svg>',
        f'{HEAD}<path d="M0 0" fill="javascript:alert(1)"/></svg>',
        f'{HEAD}<path d="M0 0" stroke-dasharray="0.001"/></svg>',
        f'{HEAD}<path d="M0 0" transform="scale(9999)"/></svg>',
        f'{HEAD}<path d="M0 0 L 1e9 0"/></svg>',
        f'{HEAD}<path d="M0 0L1000000 0"/></svg>',
        f'{HEAD}<path d="M0 0L-{"9" * 400} 0"/></svg>',
        f'{HEAD}<path d="nan"/></svg>',
        f"{HEAD}<path d='M0 0'/></svg>",
        f'{HEAD}<path d="M0 0&#10;"/></svg>',
        f"{HEAD}<!-- x --></svg>",
        f"{HEAD}<![CDATA[x]]></svg>",
        f'<?xml version="1.0"?>{HEAD}</svg>',
        f'<!DOCTYPE svg [<!ENTITY a "aaaa">]>{HEAD}&a;</svg>',
        f"{HEAD}{'<g>' * (DEEPEST + 1)}{'</g>' * (DEEPEST + 1)}</svg>",
        HEAD + '<path d="" />' * (LONGEST_SVG // 10) + "</svg>",
        '<svg xmlns="http://evil.example"></svg>',
        '<svg width="1e9" height="1"></svg>',
        '<svg width="9999999" height="1"></svg>',
    ],
)
def test_what_is_not_a_drawing_of_lines_is_refused(svg: str) -> None:
    assert not is_safe(svg)


@pytest.mark.parametrize(
    "svg",
    [
        f"{HEAD}</svg>",
        f'{HEAD}<g fill="red"><path d="M1.5-.5l.1-2q1 2 3 4z" fill="#00ff00" /></g></svg>',
        f'{HEAD}<rect x="-1.5" y="0" width="3" height="4" stroke="black" stroke-width="0.5" fill="none"/></svg>',
        f'{HEAD}<line x1="0" x2="1" y1="0" y2="1" /><polygon points="0 0 10 3.5 0 7" /></svg>',
        f"{HEAD}{'<g>' * DEEPEST}{'</g>' * DEEPEST}</svg>",
        f"{HEAD}{'<g></g>' * 100}</svg>",
    ],
)
def test_drawings_of_lines_are_read(svg: str) -> None:
    assert is_safe(svg)
    assert picture(svg, 10, 10).width() == 10


@pytest.mark.parametrize("part", ['<path d="', '<g fill="', "<g", "</g>", "<path ", '<path d="" ', "-", "0", " "])
def test_a_hostile_svg_is_refused_in_no_time(part: str) -> None:
    """No way of reading is tried again: with one that is, this test would not end."""
    assert not is_safe(HEAD + part * ((LONGEST_SVG - len(HEAD)) // len(part)))
