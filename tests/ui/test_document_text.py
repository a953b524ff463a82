"""What is read in a document of rendered Markdown, and where its citations stand."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextCursor

from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.ui.chat.chips import chips_of_block
from bibgenie_desktop.ui.chat.document_text import plain_text
from bibgenie_desktop.ui.markdown.mathematics import FormulaImage
from tests.ui.rendering import blocks_of, citation, document_of, render, renderer, text_of

pytestmark = pytest.mark.usefixtures("qapp")


def test_what_is_copied_is_what_is_read_with_formulas_as_latex() -> None:
    rendered = renderer(lambda formula: FormulaImage(20, 10)).render("so $x_i$ $y$, and\n\n- `a`\n\n```\n\nb\n```")
    document = document_of(rendered)
    assert text_of(document) == "so $x_i$ $y$, and\na\nb"
    cursor = QTextCursor(document)
    cursor.setPosition(1)
    cursor.setPosition(4, QTextCursor.MoveMode.KeepAnchor)
    assert plain_text(cursor) == "o $x_i$"
    cursor.setPosition(2)
    assert plain_text(cursor) == ""


def test_what_is_copied_is_cut_between_whole_characters() -> None:
    """Places in Qt's documents count some characters twice."""
    document = document_of(render("\U0001f426 one \U0001d4d0 two **three**"))
    cursor = QTextCursor(document)
    cursor.setPosition(3)
    cursor.setPosition(len("\U0001f426 one \U0001d4d0 tw") + 2, QTextCursor.MoveMode.KeepAnchor)
    assert plain_text(cursor) == "one \U0001d4d0 tw"


@pytest.mark.req("Z-2")
def test_narrow_spaces_of_the_author_are_copied_those_of_a_chip_are_not() -> None:
    assert (
        text_of(document_of(render("62\u202f% of all ", citation("Hale"), " left"))) == "62\u202f% of all Hale ✓ left"
    )


@pytest.mark.req("Z-2")
def test_each_citation_has_a_box_around_its_text() -> None:
    document = document_of(render("one ", citation("Hale"), " and ", citation("Lund"), " two"))
    (block,) = blocks_of(document)
    left, right = sorted(chips_of_block(block), key=lambda box: box.left())
    assert left.right() < right.left()
    whole = document.documentLayout().blockBoundingRect(block)
    assert whole.contains(left.center())
    assert whole.contains(right.center())


@pytest.mark.req("Z-2")
def test_a_citation_over_two_lines_has_a_box_in_each() -> None:
    document = document_of(render("word " * 8, citation("a very long title " * 5)))
    (block,) = blocks_of(document)
    boxes = chips_of_block(block)
    assert len(boxes) == block.layout().lineCount() >= 2
    assert len({box.top() for box in boxes}) == len(boxes)


@pytest.mark.req("Z-2")
def test_a_citation_in_a_table_has_its_box_in_its_cell() -> None:
    document = document_of(render("before\n\n|a|b|\n|-|-|\n|cell|", citation("Hale"), "|"))
    block = next(each for each in blocks_of(document) if "Hale" in each.text())
    (box,) = chips_of_block(block)
    place = document.documentLayout().blockBoundingRect(block)
    assert place.top() > 40
    assert abs(box.center().y() - place.center().y()) < place.height() / 2
    assert box.left() >= place.left() - 1


def test_text_without_citations_has_no_boxes() -> None:
    document = document_of(render("one [two](https://example.org)"))
    assert [box for block in blocks_of(document) for box in chips_of_block(block)] == []


@pytest.mark.req("U-5", "Z-2")
@pytest.mark.parametrize(
    "parts",
    [
        ("يختلف الجهد ", citation("Haddad 2018, p. 7"), ". 观察者的努力随季节变化。"),
        ("effort ", citation("حداد 2018, p. 7"), " and יבוא"),
        ("שורה ", citation("כהן 2018, p. 7"), " effort"),
    ],
)
def test_a_citation_between_two_directions_has_one_box_around_all_of_it(parts: tuple[str | Segment, ...]) -> None:
    document = document_of(render(*parts))
    (block,) = blocks_of(document)
    (box,) = chips_of_block(block)
    alone = document_of(render(parts[1]))
    (whole,) = chips_of_block(blocks_of(alone)[0])
    assert box.width() == pytest.approx(whole.width(), abs=4)
