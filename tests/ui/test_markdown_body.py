"""Markdown on the page: growing or whole, an answer looks the same, and its links and chips are where they belong."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.ui.chat.body import Look
from bibgenie_desktop.ui.chat.ink_label import InkLabel
from bibgenie_desktop.ui.chat.markdown_body import MarkdownBody
from bibgenie_desktop.ui.chat.text_box import TextBox
from bibgenie_desktop.ui.chat.text_run import Run
from bibgenie_desktop.ui.theme import DARK, LIGHT, style_sheet
from tests.ui.chat_corpus import answer
from tests.ui.message_page import LINK, MessagePage, open_page
from tests.ui.test_text_box import lay, shape

pytestmark = [pytest.mark.gui, pytest.mark.req("U-4")]

LOOK = Look(LIGHT, LIGHT.text, 17, str)


def body() -> MarkdownBody:
    return MarkdownBody(lambda formula: None, lambda name: None)


@pytest.fixture
def page(qtbot: QtBot) -> Iterator[MessagePage]:
    with open_page(qtbot, body()) as opened:
        yield opened


@pytest.fixture
def ground(qapp: QApplication) -> Iterator[QWidget]:
    widget = QWidget()
    widget.resize(800, 600)
    widget.show()
    yield widget
    widget.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def box_on(ground: QWidget) -> TextBox:
    box = TextBox(ground)
    box.dress(body(), LOOK, QFont())
    lay(box, 500)
    return box


@pytest.mark.parametrize("seed", range(12))
def test_an_answer_that_streamed_looks_like_one_that_was_stored(ground: QWidget, seed: int) -> None:
    chance = random.Random(seed)
    segments = [segment for segment in answer(chance) if segment.kind in ("text", "citation")]
    grown, whole = box_on(ground), box_on(ground)
    given: list[Segment] = []
    for segment in segments:
        place = 0
        while segment.kind == "text" and place < len(segment.text):
            place += chance.randrange(1, 60)
            grown.content.grow(Run([*given, Segment("text", segment.text[:place])]))
        given.append(segment)
        grown.content.grow(Run(given))
        if segment.text == "\n\n":
            whole.content.show(Run(given))
            assert shape(grown) == shape(whole)
            assert lay(grown, 500) == lay(whole, 500)
            assert [chip for _, chip in grown.chips()] == [chip for _, chip in whole.chips()]
    cited = sum(segment.kind == "citation" for segment in segments)
    assert len({chip.getRect() for _, chip in grown.chips()}) >= cited
    before = grown.toHtml()
    grown.content.show(Run(segments))
    assert grown.toHtml() == before


@pytest.mark.parametrize(
    "text",
    [
        "- one\n- two\n- three\n\n- four makes all of them loose\n- five",
        "words\n\nTitle that was text\n===\n\nmore\n\nAnother\n---\nend",
        "```python\ndef f(x):\n    return x + 1\n```\nbehind",
        "first\n\n| a | b |\n|---|---|\n| one | two |\n| three | four |\n\nbehind",
        "see [1] and **bold *both* bold** and `code`\n\nnext\n\n[1]: https://example.org",
        "1. one\n2. two\n   - in\n   - side\n3. three\n\n> quote\n> on\n\nend",
    ],
)
def test_each_step_of_growth_paints_all_that_looks_different(page: MessagePage, text: str) -> None:
    page.begin_answer()
    for end in range(1, len(text) + 1):
        page.conversation.add_text(text[end - 1])
        page.tick()
        assert page.shows_what_it_would_draw(), text[:end]
    page.conversation.finish("stored", node_id="n5")
    page.rest()
    assert page.shows_what_it_would_draw()


@pytest.mark.req("U-5")
def test_an_answer_can_be_read_in_both_themes_also_under_a_style_sheet(page: MessagePage) -> None:
    page.begin_answer()
    page.conversation.add_text("word **word** `word` word\n\n- word word\n\n| a | b |\n|---|---|\n| c | d |")
    page.conversation.finish("stored", node_id="n5")
    page.rest()
    for scheme, colours in ((Qt.ColorScheme.Dark, DARK), (Qt.ColorScheme.Light, LIGHT)):
        QGuiApplication.styleHints().colorSchemeChanged.emit(scheme)
        page.view.window().setStyleSheet(style_sheet(colours))
        box = page.box_with("word")
        image = box.grab().toImage()
        greys = [image.pixelColor(x, y).lightness() for x in range(300) for y in range(0, box.height(), 2)]
        text = QColor(colours.text).lightness()
        assert (max(greys) if colours is DARK else 255 - min(greys)) > (text if colours is DARK else 255 - text) - 25
        assert box.palette().color(QPalette.ColorRole.Text).name() == colours.text
        assert {label.ink for label in page.view.findChildren(InkLabel, "messageHeading")} == {colours.muted}
        assert page.shows_what_it_would_draw()


@pytest.mark.req("A-1", "Z-2")
def test_links_of_an_answer_lead_where_they_should(page: MessagePage) -> None:
    page.begin_answer()
    page.conversation.add_text("# Effort\n\n| Work | Says |\n|---|---|\n| one ")
    page.cite("verified")
    page.conversation.add_text(" | it **varies** |\n\n```python\nx = 1\n```\n\nthe end ")
    page.cite("wrong", link="")
    page.rest()
    page.check()
    page.click(page.box_with("Hale").viewport(), page.place_of("Hale"))
    assert page.opened == [LINK]
    page.click(page.box_with("Copy").viewport(), page.place_of("Copy"))
    assert QGuiApplication.clipboard().text() == "x = 1"
    page.conversation.finish("stored", node_id="n5")
    page.rest()
    page.check()
    page.click(page.box_with("Copy").viewport(), page.place_of("Copy"))
    assert page.opened == [LINK]
    QTest.mouseMove(page.box_with("Hale").viewport(), page.place_of("Effort"))


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "hostile",
    [
        "![x](file:///etc/passwd) [y](javascript:alert(1))",
        "[z](bibgenie:copy/0) [z](bibgenie:cite/0) <a href='bibgenie:copy/0'>a</a>",
        "> " * 40 + "deep",
        "```\nnever closed " + "x" * 9_000,
        "|" * 3_000 + "\n" + "|-" * 3_000,
        "\u202e" + "[" * 4_000,
    ],
)
def test_hostile_markdown_opens_nothing_and_keeps_the_page_whole(page: MessagePage, hostile: str) -> None:
    page.begin_answer()
    for start in range(0, len(hostile), 1_000):
        page.conversation.add_text(hostile[start : start + 1_000])
        page.tick()
    page.conversation.finish("stored", node_id="n5")
    page.rest()
    page.check()
    addresses = {fragment.charFormat().anchorHref() for fragment in page.fragments} - {"", "bibgenie:copy/0"}
    assert addresses == set()
    page.press(Qt.Key.Key_Home)
    page.check()
