"""Which text is a formula."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetricsF

from bibgenie_desktop.ui.markdown.mathematics import LONGEST_FORMULA, Formula, FormulaImage, middle_box
from bibgenie_desktop.ui.markdown.renderer import formulas
from tests.ui.rendering import Html, citation, document_of, read, render, renderer, source

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.mark.parametrize(
    ("markdown", "latex", "display"),
    [
        ("so $x$ is", "x", False),
        ("so $x_i$-th", "x_i", False),
        (r"so \(x\) is", "x", False),
        (r"so $\{x\}$ is", r"\{x\}", False),
        (r"so $a \$ b$ is", r"a \$ b", False),
        (r"so $a \\ b$ is", r"a \\ b", False),
        ("so $5$ is", "5", False),
        ("so $2x + 3y$ is", "2x + 3y", False),
        (r"so $5 \text{ metres}$ is", r"5 \text{ metres}", False),
        ("so $a*b*c$ is", "a*b*c", False),
        ("so $$x$$ is", "x", True),
        (r"so \[\alpha\] is", r"\alpha", True),
        ("$$x = 1$$", "x = 1", True),
        ("$$\nx = 1\n$$", "x = 1", True),
        ("$$x\n+ 1$$", "x\n+ 1", True),
        ("Text:\n$$\na\n- b\n$$\nmore", "a\n- b", True),
        ("\\[\nx = 1\n\\]", "x = 1", True),
        ("$$\nx\n$$ (1)", "x", True),
        ("> $$\n> x\n> + y\n> $$", "x\n+ y", True),
        ("- $$\n  x\n  $$", "x", True),
        ("|a|b|\n|-|-|\n|$x$|y|", "x", False),
        ("# On $x$", "x", False),
        ("**$x$**", "x", False),
    ],
)
def test_a_formula_is_found(markdown: str, latex: str, display: bool) -> None:
    assert formulas(markdown) == (Formula(latex, display),)


@pytest.mark.parametrize(
    "markdown",
    [
        "it costs $5 and $10",
        "it costs $5, or 5$ each",
        "from $5 to 6$ euros",
        "US$5 and US$6",
        "$ x $",
        "$x",
        "$$x",
        "$$x$",
        "$$\nx\n\ny\n$$",
        "$$$$",
        r"\(x",
        r"\[x = 1",
        r"\$x\$",
        "`$x$`",
        "```\n$x$\n```",
        "    $$x$$",
        r"\[Sampling bias\]",
        r"in \[Ca2+\] levels",
        r"\[^1\]",
        "$x" + " y" * LONGEST_FORMULA + "$",
    ],
)
def test_what_is_no_formula_stays_text(markdown: str) -> None:
    assert formulas(markdown) == ()


def test_a_price_is_read_as_it_was_written() -> None:
    assert read(render("it costs $5 and $10")) == "it costs $5 and $10"


def test_each_formula_is_told_once_and_in_order() -> None:
    assert formulas("$b$ $a$ $b$\n\n$$b$$") == (Formula("b", False), Formula("a", False), Formula("b", True))


def test_a_formula_has_a_name_of_its_own() -> None:
    names = {each.name for each in (Formula("a", False), Formula("b", False), Formula("a", True))}
    assert len(names) == 3
    assert Formula("a", False).name == Formula("a", False).name


@pytest.mark.req("A-1")
@pytest.mark.parametrize("arriving", ["so $", "so $x", "so $x_", "so $$x", "$$\nx = ", "so \\[\\alpha"])
def test_a_formula_that_is_still_arriving_is_text(arriving: str) -> None:
    rendered = render(arriving)
    assert rendered.missing == ()
    assert "math:" not in rendered.html
    assert read(rendered).replace("\n", " ").replace("[", "\\[") == arriving.replace("\n", " ").strip()


def test_a_formula_without_a_picture_is_its_source() -> None:
    rendered = render("so $x_i < 1$ is\n\n$$\ny\n$$")
    assert read(rendered) == "so $x_i < 1$ is\n$$y$$"
    assert rendered.missing == (Formula("x_i < 1", False), Formula("y", True))


def test_a_formula_with_a_picture_is_the_picture_and_is_copied_as_latex() -> None:
    rendered = renderer(lambda formula: FormulaImage(20, 10)).render('so $x_i < "1"$, is')
    page = Html(rendered.html)
    formula = Formula('x_i < "1"', False)
    assert ("img", "src", f"math:{formula.name}") in page.attributes
    assert ("img", "alt", '$x_i < "1"$') in page.attributes
    assert rendered.missing == ()
    assert read(rendered) == 'so $x_i < "1"$, is'


def test_a_number_behind_a_formula_stays_with_it() -> None:
    assert read(render("$$\nx\n$$ (12)")) == "$$x$$\u2003(12)"


@pytest.mark.req("Z-2")
def test_a_citation_is_never_lost_in_a_formula() -> None:
    made = source("so $x ", citation(), "$ is")
    assert formulas(made.text) == ()
    assert "Hale 2010, p. 152 ✓" in read(render("so $x ", citation(), "$ is"))


@pytest.mark.parametrize(("above", "below"), [(10.0, 3.0), (20.0, 20.0), (4.0, 30.0), (40.0, 0.0)])
def test_a_picture_stands_on_the_line(above: float, below: float) -> None:
    """Where Qt puts the picture, the formula's baseline is the text's, and no part of it is cut off."""
    document = document_of(())
    x_height = QFontMetricsF(document.defaultFont()).xHeight()
    height, top = middle_box(above, below, x_height)
    document.setHtml(f'<p><img src="math:0" width="20" height="{height}" style="vertical-align:middle"></p>')
    assert document.size().height() >= height
    block = document.begin()
    layout = block.layout()
    line = layout.lineAt(0)
    assert top >= 0
    assert top + above + below <= height + 0.01
    # No letter stands in the line: it is as high above its baseline and as deep below as the picture, to a pixel.
    assert line.ascent() == pytest.approx(top + above, abs=1.0)
    assert line.descent() == pytest.approx(height - top - above, abs=1.0)
