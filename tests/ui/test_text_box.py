"""Text that grows: what is closed is not rendered again, and in the end it is what rendering it whole gives."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QRect, QUrl
from PySide6.QtGui import QFont, QGuiApplication, QImage, QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication, QWidget

from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.ui.chat.body import Look, RenderBody
from bibgenie_desktop.ui.chat.text_box import TextBox
from bibgenie_desktop.ui.chat.text_run import Run
from bibgenie_desktop.ui.theme import LIGHT
from tests.ui.message_page import Blocks, Recorder

pytestmark = [pytest.mark.gui, pytest.mark.req("U-4")]

LOOK = Look(LIGHT, LIGHT.text, 17, str)
BLOCKS = (
    "a paragraph of words",
    "# title",
    "- one\n- two\n- three",
    "1 one\n1 two",
    "| a | b\n| c | d",
    "> quoted",
    "`code\n  more",
)
CITED = Segment("citation", "Hale 2010, p. 152", "zotero://select/library/items/ABCD2345", "verified", "effort")


@pytest.fixture
def ground(qapp: QApplication) -> Iterator[QWidget]:
    widget = QWidget()
    widget.resize(800, 600)
    widget.show()
    yield widget
    widget.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def make_box(ground: QWidget, renderer: RenderBody, width: int = 400) -> TextBox:
    box = TextBox(ground)
    box.dress(renderer, LOOK, QFont())
    box.height_at(width)
    return box


def lay(box: TextBox, width: int) -> int:
    """Give a box its place; returns its height."""
    height = box.height_at(width)
    box.arrange(QRect(0, 0, width, height))
    return height


def shape(box: TextBox) -> list[object]:
    """All that decides how a document looks: each block's text, place, formats and list."""
    found: list[object] = []
    document: QTextDocument = box.document()
    block = document.begin()
    while block.isValid():
        form, listed = block.blockFormat(), block.textList()
        place = document.documentLayout().blockBoundingRect(block)
        found.append(
            (
                block.text(),
                place.top(),
                place.height(),
                form.leftMargin(),
                form.headingLevel(),
                form.nonBreakableLines(),
                (listed.format().style(), listed.itemNumber(block)) if listed else None,
                block.charFormat().fontWeight(),
                QTextCursor(block).currentTable() is not None,
            )
        )
        block = block.next()
    return found


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=9), st.lists(st.integers(1, 25), min_size=1, max_size=60))
def test_text_that_grew_looks_like_text_that_was_there(ground: QWidget, blocks: list[str], sizes: list[int]) -> None:
    text = "\n\n".join(blocks)
    grown, whole = make_box(ground, Blocks()), make_box(ground, Blocks())
    place = 0
    for size in sizes:
        grown.content.grow(Run([Segment("text", text[: place + size])]))
        place += size
        whole.content.show(Run([Segment("text", text[:place])]))
        heights = lay(grown, 400), lay(whole, 400)
        if text[:place].endswith(("\n", "|", "-")):
            continue
        assert shape(grown) == shape(whole)
        assert heights[0] == heights[1]
    grown.content.show(Run([Segment("text", text)]))
    whole.content.show(Run([Segment("text", text)]))
    assert shape(grown) == shape(whole)
    assert lay(grown, 400) == lay(whole, 400)
    for box in (grown, whole):
        box.deleteLater()


def test_what_is_closed_is_rendered_once(ground: QWidget) -> None:
    renderer = Blocks()
    box = make_box(ground, renderer)
    text = "\n\n".join(f"paragraph {number} of words" for number in range(30))
    for end in range(0, len(text) + 5, 5):
        box.content.grow(Run([Segment("text", text[:end])]))
    assert max(map(len, renderer.rendered)) < 60
    renderer.rendered.clear()
    changes: list[int] = []
    box.document().contentsChange.connect(lambda *change: changes.append(change[2]))
    box.content.show(Run([Segment("text", text)]))
    # The whole is rendered once to be sure; as it is what stands there, nothing is drawn again.
    assert renderer.rendered == [text]
    assert changes == []


def test_a_change_further_up_is_drawn_too(ground: QWidget) -> None:
    """The end of the answer heals what could not be known while it streamed."""

    class Referring(Blocks):
        def read(self, text: str) -> str:
            return text.replace("[1]", "(one)") if "[1]: one" in text else text

    box = make_box(ground, Referring())
    text = "see [1] there\n\nmiddle\n\n[1]: one"
    for end in range(len(text) + 1):
        box.content.grow(Run([Segment("text", text[:end])]))
    assert "see [1] there" in box.toPlainText()
    box.content.show(Run([Segment("text", text)]))
    assert "see (one) there" in box.toPlainText()


def test_a_selection_in_closed_blocks_outlives_the_growth(ground: QWidget) -> None:
    box = make_box(ground, Blocks())
    box.content.grow(Run([Segment("text", "first paragraph\n\nsecond")]))
    box.select(0, 5)
    for tail in ("second par", "second paragraph\n\nthird", "second paragraph\n\nthird one"):
        box.content.grow(Run([Segment("text", f"first paragraph\n\n{tail}")]))
    assert box.selected == "first"


def test_a_text_that_is_another_one_is_drawn_whole(ground: QWidget) -> None:
    box = make_box(ground, Blocks())
    box.content.grow(Run([Segment("text", "one\n\ntwo\n\nthree")]))
    box.content.grow(Run([Segment("text", "eins\n\nzwei")]))
    assert box.toPlainText() == "eins\nzwei"
    box.content.grow(Run([Segment("text", "eins\n\nzw")]))
    assert box.toPlainText() == "eins\nzw"
    box.content.grow(Run([]))
    assert box.toPlainText() == ""


@pytest.mark.req("Z-3")
def test_chips_stand_where_their_citations_do_while_text_grows(ground: QWidget) -> None:
    segments: list[Segment] = []
    box = make_box(ground, Recorder())
    box.show()
    for number in range(6):
        segments += [
            Segment("text", f"Effort varies {number} " + "word " * (number * 5)),
            CITED,
            Segment("text", ".\n"),
        ]
        box.content.grow(Run(segments))
        height = lay(box, 400)
        grown = [chip.getRect() for _, chip in box.chips()]
        assert len(grown) >= number + 1
        assert all(0 <= chip.top() < height for _, chip in box.chips())
        whole = make_box(ground, Recorder())
        whole.content.show(Run(segments))
        lay(whole, 400)
        assert [chip.getRect() for _, chip in whole.chips()] == grown
    image = box.grab().toImage()
    for _, chip in box.chips():
        # Between the edge of the chip and its text.
        assert image.pixelColor(round(chip.left()) + 2, round(chip.center().y())).name() == LIGHT.chip


def test_a_code_block_is_copied_by_its_link_also_one_that_was_closed_before(ground: QWidget) -> None:
    box = make_box(ground, Blocks())
    text = "`first\n  code\n\nwords\n\n`second code\n\nwords"
    for end in range(len(text) + 1):
        box.content.grow(Run([Segment("text", text[:end])]))
    assert box.content.codes == ("first\n  code", "second code")
    for number, code in enumerate(box.content.codes):
        box.anchorClicked.emit(QUrl(f"bibgenie:copy/{number}"))
        assert QGuiApplication.clipboard().text() == code
    box.anchorClicked.emit(QUrl("bibgenie:copy/7"))
    QGuiApplication.clipboard().clear()


@pytest.mark.req("Z-2", "S-1")
def test_a_citations_link_leads_where_the_citation_does_however_the_text_came(ground: QWidget) -> None:
    cited = [Segment("citation", f"Work {number}", f"zotero://select/{number}", "verified") for number in range(5)]
    segments = [part for each in cited for part in (Segment("text", "words\n\n"), each)]
    box, clicked = make_box(ground, Recorder()), list[str]()
    box.link_clicked.connect(clicked.append)
    for count in range(len(segments) + 1):
        box.content.grow(Run(segments[:count]))
    links = list(dict.fromkeys(re.findall(r'href="([^"]+)"', box.toHtml())))
    assert links == [f"bibgenie:cite/{number}" for number in range(5)]
    for link in links:
        box.anchorClicked.emit(QUrl(link))
    assert clicked == [each.link for each in cited]
    assert box.resolved("bibgenie:cite/9") == box.resolved("bibgenie:other") == ""
    assert box.resolved("https://example.org") == "https://example.org"


@pytest.mark.req("S-1")
def test_the_picture_of_a_formula_is_the_renderers(ground: QWidget) -> None:
    picture = QImage(7, 5, QImage.Format.Format_RGB32)

    class Pictured(Blocks):
        def image(self, name: str) -> QImage | None:
            return picture if name == "abc" else None

    box = make_box(ground, Pictured())
    kind = QTextDocument.ResourceType.ImageResource.value
    assert box.loadResource(kind, QUrl("math:abc")) == picture
    assert box.loadResource(kind, QUrl("math:other")).width() == 1


@pytest.mark.req("S-1")
def test_nothing_is_ever_loaded_whatever_is_asked_for(ground: QWidget, tmp_path: object) -> None:
    kinds = QTextDocument.ResourceType
    for kind in (kinds.ImageResource, kinds.HtmlResource, kinds.StyleSheetResource, kinds.MarkdownResource):
        loaded = make_box(ground, Blocks()).loadResource(kind.value, QUrl.fromLocalFile(__file__))
        assert isinstance(loaded, QImage)
        assert (loaded.width(), loaded.height()) == (1, 1)


@pytest.mark.req("S-1")
def test_an_image_in_what_a_renderer_wrote_is_not_loaded(ground: QWidget, tmp_path: object) -> None:
    picture = f"{tmp_path}/picture.png"
    assert QImage(300, 300, QImage.Format.Format_RGB32).save(picture)

    class Careless(Blocks):
        def _block(self, block: str, code: int) -> str:
            return f'<p><img src="{QUrl.fromLocalFile(picture).toString()}"></p>'

    box = make_box(ground, Careless())
    box.content.show(Run([Segment("text", "x")]))
    assert lay(box, 400) < 60
