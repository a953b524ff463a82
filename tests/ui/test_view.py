"""The messages on the page: what is drawn, how often, and that the reader's place stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage, QMouseEvent, QTextDocument, QTextFragment
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.messages import AnswerCitation, BranchRow, Segment
from bibgenie_desktop.sessions.citations import CitationState
from bibgenie_desktop.ui.chat.conversation import Conversation
from bibgenie_desktop.ui.chat.view import SLICE, MessageView
from bibgenie_desktop.ui.chat.writer import LONGEST_BLOCK
from bibgenie_desktop.ui.links import LinkRouter
from bibgenie_desktop.ui.theme import DARK, LIGHT, Theme
from tests.ui.timers import ManualTimers

LINK = "zotero://open-pdf/library/items/ABCD2345?page=12"


@dataclass
class Page:
    """A view of its own, whose time passes when the test says so."""

    view: MessageView
    timers: ManualTimers
    conversation: Conversation
    opened: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.view.toPlainText().replace("\u202f", "").replace("\u00a0", " ")

    @property
    def fragments(self) -> list[QTextFragment]:
        found: list[QTextFragment] = []
        block = self.view.document().begin()
        while block.isValid():
            iterator: Any = block.begin()
            while not iterator.atEnd():
                found.append(iterator.fragment())
                iterator += 1
            block = block.next()
        return found

    def begin_answer(self) -> None:
        self.conversation.ask("Why?", "2026-01-01T00:00:00Z")
        self.conversation.started("s1", "Why?", "n1", "offline")

    def cite(self, state: CitationState, link: str = LINK, reason: str = "", quote: str = "") -> None:
        self.conversation.add_citation(AnswerCitation("s1", "Hale 2010, p. 152", link, state, reason, quote, None))

    def fill(self, lines: int) -> None:
        """Draw an answer that is much longer than the page."""
        self.begin_answer()
        self.conversation.add_text("\n".join(f"line {number}" for number in range(lines)))
        self.timers.pass_time()
        assert self.view.verticalScrollBar().maximum() > self.view.height()


@pytest.fixture
def page(qtbot: QtBot) -> Iterator[Page]:
    owner = QObject()
    timers = ManualTimers()
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url.toString())
        return True

    def noon() -> datetime:
        return datetime(2026, 1, 2, 12, tzinfo=UTC)

    view = MessageView(Theme(owner), LinkRouter(owner, open_url=open_url), noon, timers)
    qtbot.addWidget(view)
    view.resize(800, 500)
    view.show()
    conversation = Conversation()
    view.show_conversation(conversation)
    timers.pass_time()
    yield Page(view, timers, conversation, opened)
    QGuiApplication.clipboard().clear()
    owner.deleteLater()


@pytest.mark.req("U-4")
def test_a_flood_of_deltas_is_drawn_once_a_pause(page: Page) -> None:
    page.begin_answer()
    page.timers.pass_time()
    revisions: list[int] = []
    page.view.document().contentsChange.connect(lambda *change: revisions.append(change[2]))
    for number in range(2_000):
        page.conversation.add_text(f"word{number} ")
    assert len(revisions) == 1
    page.timers.pass_time()
    assert len(revisions) == 2
    assert page.text.endswith("word1999 ")
    assert page.text.count("word") == 2_000


@pytest.mark.req("A-1")
@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_an_answer_reads_the_same_however_it_was_cut_into_deltas(page: Page, size: int) -> None:
    text = "\n\nIn short:\n\n- one is “this”\n- two\n\n1. first\n\nThe end.\n"
    page.begin_answer()
    page.conversation.start_tool("c1", "Search the library for “this”")
    page.timers.pass_time()
    page.conversation.finish_tool("c1", "done", "2 passages")
    for start in range(0, len(text), size):
        page.conversation.add_text(text[start : start + size])
        page.timers.pass_time()
    streamed = page.text.split("\n")[1:]
    page.conversation.finish("stored")
    page.timers.pass_time()
    assert page.text.split("\n")[1:] == streamed
    assert page.text.split("\n", 3)[3] == "Search the library for “this” · 2 passages\n" + text.lstrip("\n")


@pytest.mark.req("U-4")
def test_the_readers_place_stays_while_the_answer_grows_and_when_it_ends(page: Page) -> None:
    page.fill(200)
    bar = page.view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    place = bar.value()
    for _ in range(5):
        page.conversation.add_text("\nmore")
        page.timers.pass_time()
    assert bar.value() == place
    page.conversation.finish("stored", "It was cut off.")
    page.timers.pass_time()
    assert bar.value() == place
    page.conversation.ask("And then?", "")
    page.timers.pass_time()
    assert bar.value() == place


@pytest.mark.req("U-4")
def test_a_reader_at_the_end_follows_the_answer(page: Page) -> None:
    page.fill(200)
    bar = page.view.verticalScrollBar()
    assert bar.value() == bar.maximum()
    before = bar.maximum()
    page.conversation.add_text("\nmore" * 20)
    page.timers.pass_time()
    assert bar.value() == bar.maximum() > before
    bar.setValue(0)
    bar.setValue(bar.maximum())
    page.conversation.finish("stored", "It was cut off.")
    page.timers.pass_time()
    assert bar.value() == bar.maximum()


@pytest.mark.req("U-5")
def test_another_theme_draws_the_same_text_in_its_colours_at_the_same_place(page: Page) -> None:
    page.fill(200)
    page.cite("verified")
    page.conversation.finish("stored")
    page.timers.pass_time()
    bar = page.view.verticalScrollBar()
    bar.setValue(300)
    before = page.text
    hints = QGuiApplication.styleHints()
    for scheme, colours in ((Qt.ColorScheme.Dark, DARK), (Qt.ColorScheme.Light, LIGHT)):
        hints.colorSchemeChanged.emit(scheme)
        page.timers.pass_time()
        assert page.text == before
        assert bar.value() == 300
        drawn = {fragment.charFormat().foreground().color().name() for fragment in page.fragments}
        assert drawn == {colours.text, colours.muted, colours.verified}


@pytest.mark.req("Z-3")
@pytest.mark.parametrize(
    ("state", "mark", "tip"),
    [
        ("verified", "✓", "Verified: “observer effort”"),
        ("unverified", "?", "Not verified: this page was not read in this chat."),
        ("wrong", "✗", "Wrong: the quoted words do not stand at this page."),
    ],
)
def test_a_citation_shows_its_state_and_tells_why_and_where_it_leads(
    page: Page, state: CitationState, mark: str, tip: str
) -> None:
    reasons = {
        "unverified": "this page was not read in this chat",
        "wrong": "the quoted words do not stand at this page",
    }
    page.begin_answer()
    page.conversation.add_text("Effort varies ")
    page.cite(state, reason=reasons.get(state, ""), quote="observer effort")
    page.conversation.add_text(", they say.")
    page.timers.pass_time()
    assert f"Effort varies Hale 2010, p. 152 {mark}, they say." in page.text
    chip = next(each for each in page.fragments if "Hale" in each.text())
    assert chip.charFormat().anchorHref() == LINK
    assert chip.charFormat().fontStrikeOut() == (state == "wrong")
    assert tip in chip.charFormat().toolTip()
    assert "Opens in Zotero: zotero://" in chip.charFormat().toolTip()
    page.conversation.finish("stored")
    page.timers.pass_time()
    assert f"citations: 1 {state}" in page.text


@pytest.mark.req("Z-3")
def test_a_citation_of_nothing_is_struck_through_and_leads_nowhere(page: Page) -> None:
    page.begin_answer()
    page.cite("wrong", link="", reason="the library has no item ABCD2345")
    page.timers.pass_time()
    chip = next(each for each in page.fragments if "Hale" in each.text())
    assert chip.charFormat().fontStrikeOut()
    assert not chip.charFormat().isAnchor()


@pytest.mark.req("A-1")
@pytest.mark.parametrize(
    ("state", "summary", "line"),
    [
        ("pending", "", "Read ABCD2345…"),
        ("done", "2 pages", "Read ABCD2345 · 2 pages"),
        ("done", "", "Read ABCD2345"),
        ("error", "The file is gone.", "Read ABCD2345 · The file is gone."),
        ("cancelled", "", "Read ABCD2345 · stopped"),
        ("denied", "", "Read ABCD2345 · not allowed"),
    ],
)
def test_a_tool_call_is_one_quiet_line_that_tells_how_it_went(page: Page, state: str, summary: str, line: str) -> None:
    page.begin_answer()
    page.conversation.start_tool("c1", "Read\nABCD2345")
    if state != "pending":
        page.conversation.finish_tool("c1", state, summary)  # type: ignore[arg-type]
    page.timers.pass_time()
    assert page.text.split("\n")[3] == line
    colour = page.fragments[-1].charFormat().foreground().color().name()
    assert colour == (LIGHT.accent if state in ("error", "denied") else LIGHT.muted)


@pytest.mark.req("A-1")
def test_thinking_is_told_apart_from_the_answer_and_not_in_full(page: Page) -> None:
    page.begin_answer()
    page.conversation.add_text("secret thought ", "reasoning")
    page.timers.pass_time()
    page.conversation.add_text("and more", "reasoning")
    page.conversation.add_text("So it is.")
    page.timers.pass_time()
    assert "thought" not in page.text
    assert page.text.split("\n")[3:] == ["Thinking, apart from the answer", "So it is."]


@pytest.mark.req("A-5")
def test_a_failure_stands_in_its_place_as_one_sentence(page: Page) -> None:
    page.begin_answer()
    page.conversation.add_text("Half an")
    page.conversation.finish("failed", "The model's answer broke off; what came is kept.")
    page.timers.pass_time()
    assert page.text.endswith("Half an\nThe model's answer broke off; what came is kept.")
    assert page.fragments[-1].charFormat().foreground().color().name() == LIGHT.accent


@pytest.mark.req("U-4")
def test_a_long_chat_is_drawn_in_slices_from_its_beginning_and_shown_at_its_end(page: Page) -> None:
    rows = [BranchRow(f"n{number}", "user", "", None, None, 3) for number in range(3 * SLICE)]
    chat = Conversation("s1", "long")
    page.view.show_conversation(chat)
    chat.load(rows)
    for number in reversed(range(len(rows))):
        chat.add_body(f"n{number}", [Segment("text", f"message {number}")], False)
    page.timers.pass_time()
    assert [line for line in page.text.split("\n") if line.startswith("message")] == [
        f"message {number}" for number in range(len(rows))
    ]
    assert page.view.drawn
    assert page.view.verticalScrollBar().value() == page.view.verticalScrollBar().maximum()


@pytest.mark.req("U-4", "S-1")
def test_an_endless_line_is_broken_for_display_and_loses_no_character(page: Page) -> None:
    text = "x" * 200_000
    page.begin_answer()
    page.conversation.add_text(text[:50_000])
    page.timers.pass_time()
    page.conversation.add_text(text[50_000:])
    page.timers.pass_time()
    block = page.view.document().begin()
    longest = 0
    while block.isValid():
        longest = max(longest, block.length() - 1)
        block = block.next()
    assert longest == LONGEST_BLOCK
    assert page.text.count("x") == len(text)


@pytest.mark.req("U-5")
def test_each_block_has_the_direction_of_its_own_text(page: Page) -> None:
    page.begin_answer()
    page.conversation.add_text("First line\nשורה שנייה\nسطر ثالث Latin\n- 中文一行")
    page.timers.pass_time()
    directions = {}
    block = page.view.document().begin()
    while block.isValid():
        directions[block.text()] = block.textDirection()
        block = block.next()
    left, right = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
    assert directions["First line"] == left
    assert directions["שורה שנייה"] == right
    assert directions["سطر ثالث Latin"] == right
    assert directions["- 中文一行"] == left


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "hostile",
    [
        "<b>bold</b> <img src='FILE'> <script>alert(1)</script>",
        "[click](javascript:alert(1)) ![x](FILE)",
        "[click](FILE) <a href='https://example.org'>x</a>",
        "<style>* { display: none }</style><h1>x</h1>",
        "zotero://select/library/items/ABCD2345 https://example.org FILE",
        "\u202egpj.exe\u202c",
    ],
)
def test_hostile_text_stays_text_in_answers_questions_tools_and_notes(page: Page, tmp_path: Path, hostile: str) -> None:
    picture = tmp_path / "picture.png"
    assert QImage(300, 300, QImage.Format.Format_RGB32).save(str(picture))
    hostile = hostile.replace("FILE", picture.as_uri())
    page.conversation.ask(hostile, "")
    page.conversation.started("s1", hostile, "n1", hostile)
    page.conversation.start_tool("c1", hostile)
    page.conversation.add_text(hostile)
    page.conversation.finish("failed", hostile)
    page.timers.pass_time()
    # The question, the model's name, the tool's line, the answer and the note.
    assert page.text.count(hostile) == 5
    assert not any(fragment.charFormat().isAnchor() for fragment in page.fragments)
    assert not any(fragment.charFormat().isImageFormat() for fragment in page.fragments)


@pytest.mark.req("S-1")
def test_characters_that_mean_something_to_qt_break_lines_at_most(page: Page) -> None:
    page.begin_answer()
    page.conversation.add_text("one\ufdd0two\ufdd1three\ufffcfour\u2028five\u2029six\r\nseven\x00eight")
    page.conversation.finish("stored")
    page.timers.pass_time()
    for word in "one two three four five six seven eight".split():
        assert word in page.text
    assert not any(fragment.charFormat().isImageFormat() for fragment in page.fragments)
    assert page.view.document().rootFrame().childFrames() == []


@pytest.mark.req("S-1")
def test_nothing_is_ever_loaded_whatever_is_asked_for(page: Page, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    assert QImage(300, 300, QImage.Format.Format_RGB32).save(str(picture))
    kinds = QTextDocument.ResourceType
    for kind in (kinds.ImageResource, kinds.HtmlResource, kinds.StyleSheetResource, kinds.MarkdownResource):
        loaded = page.view.loadResource(kind.value, QUrl.fromLocalFile(str(picture)))
        assert (loaded.width(), loaded.height()) == (1, 1)


@pytest.mark.req("S-1")
def test_a_tooltip_shows_markup_as_text(page: Page) -> None:
    page.begin_answer()
    page.cite("verified", quote="<img src='file:///etc/passwd'>")
    page.timers.pass_time()
    chip = next(each for each in page.fragments if "Hale" in each.text())
    assert "&lt;img" in chip.charFormat().toolTip()
    assert "<img" not in chip.charFormat().toolTip()


@pytest.mark.req("S-1", "Z-2")
def test_a_click_on_a_citation_opens_it_and_a_click_beside_it_does_not(page: Page) -> None:
    page.begin_answer()
    page.conversation.add_text("Effort varies ")
    page.cite("verified")
    page.timers.pass_time()
    answers: list[str] = []
    hovered: list[str] = []
    page.view.link_answered.connect(answers.append)
    page.view.link_hovered.connect(hovered.append)
    chip = place_of(page, "Hale")
    QTest.mouseMove(page.view.viewport(), chip)
    assert page.opened == []
    assert hovered[-1:] == [f"Opens in Zotero: {LINK}"]
    click(page, place_of(page, "Effort"))
    assert page.opened == []
    click(page, chip)
    assert page.opened == [LINK]
    assert answers == [f"Opens in Zotero: {LINK}"]
    assert page.text.count("Hale") == 1


@pytest.mark.req("U-5", "Z-2")
def test_a_citation_is_reached_and_opened_with_the_keyboard(page: Page) -> None:
    page.begin_answer()
    page.conversation.add_text("Effort varies ")
    page.cite("verified")
    page.conversation.finish("stored")
    page.timers.pass_time()
    page.view.activateWindow()
    page.view.setFocus()
    QTest.keyClick(page.view, Qt.Key.Key_Tab)
    QTest.keyClick(page.view, Qt.Key.Key_Return)
    assert page.opened == [LINK]


@pytest.mark.req("Z-2")
def test_the_menu_of_a_citation_copies_its_link(page: Page) -> None:
    menu = page.view.context_menu(LINK)
    actions = {action.text(): action for action in menu.actions()}
    actions["Copy link"].trigger()
    assert QGuiApplication.clipboard().text() == LINK
    actions["Open in Zotero"].trigger()
    assert page.opened == [LINK]
    refused = {action.text(): action for action in page.view.context_menu("https://example.org").actions()}
    assert not refused["Open in Zotero"].isEnabled()
    assert refused["Copy link"].isEnabled()
    assert "Copy link" not in [action.text() for action in page.view.context_menu("").actions()]


def test_what_is_copied_is_the_text_as_it_is_read(page: Page) -> None:
    page.begin_answer()
    page.conversation.add_text("Effort varies ")
    page.cite("verified")
    page.conversation.add_text(".")
    page.timers.pass_time()
    page.view.selectAll()
    page.view.copy()
    data = QGuiApplication.clipboard().mimeData()
    assert not data.hasHtml()
    assert data.text().endswith("Effort varies Hale 2010, p. 152 ✓.")


@pytest.mark.req("U-5")
@pytest.mark.parametrize("width", [420, 800, 2_000])
def test_the_column_stands_in_the_middle_and_is_never_wider_than_text_is_read_well(page: Page, width: int) -> None:
    page.begin_answer()
    page.conversation.add_text("word " * 100)
    page.cite("verified")
    page.timers.pass_time()
    page.view.resize(width, 500)
    left = page.view.viewport().x()
    right = width - left - page.view.viewport().width()
    assert abs(left - right) <= 2
    assert page.view.viewport().width() <= 820
    assert page.view.horizontalScrollBar().maximum() == 0
    assert not page.view.grab().isNull()


def place_of(page: Page, word: str) -> QPoint:
    """Where a word stands, in the viewport."""
    cursor = page.view.document().find(word)
    cursor.setPosition(cursor.selectionStart() + 2)
    return page.view.cursorRect(cursor).center()


def click(page: Page, place: QPoint) -> None:
    """Press and let go. (QTest would warn that a page does not take the clicks beside its links.)"""
    viewport = page.view.viewport()
    where = viewport.mapToGlobal(place)
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    for kind, held in ((QEvent.Type.MouseButtonPress, left), (QEvent.Type.MouseButtonRelease, none)):
        event = QMouseEvent(kind, QPointF(place), QPointF(where), left, held, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(viewport, event)
