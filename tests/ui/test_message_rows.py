"""What a message shows, and what a person can do in it: steps, citations, selection, actions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QAccessible,
    QAction,
    QContextMenuEvent,
    QEnterEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QMouseEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.events import ToolFinished
from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.sessions.citations import CitationState
from bibgenie_desktop.sessions.parts import ToolState
from bibgenie_desktop.ui.chat.conversation import Conversation
from bibgenie_desktop.ui.chat.ink_label import InkLabel
from bibgenie_desktop.ui.chat.markdown_body import MarkdownBody
from bibgenie_desktop.ui.chat.message import Message
from bibgenie_desktop.ui.chat.plain import LONGEST_LINE
from bibgenie_desktop.ui.chat.rows import Row
from bibgenie_desktop.ui.chat.step_line import StepLine
from bibgenie_desktop.ui.chat.text_box import TextBox
from bibgenie_desktop.ui.chat.view import MessageList
from bibgenie_desktop.ui.theme import LIGHT
from tests.ui.chat_corpus import conversation as research_chat
from tests.ui.message_page import LINK, MessagePage, Recorder, boxes, open_page, plain, text_of

pytestmark = pytest.mark.gui

ACTIONS = ("copyAction", "retryAction", "editAction", "forkAction", "saveNoteAction")


@pytest.fixture
def page(qtbot: QtBot) -> Iterator[MessagePage]:
    with open_page(qtbot) as opened:
        yield opened


def steps(page: MessagePage) -> list[StepLine]:
    found = [line for row in page.rows.values() for line in row.findChildren(StepLine) if line.isVisible()]
    return sorted(found, key=lambda line: line.mapTo(page.view, QPoint()).y())


# What is shown


@pytest.mark.req("U-1")
def test_a_heading_tells_who_when_and_with_what(page: MessagePage) -> None:
    page.begin_answer("Which biases?")
    page.cite("verified")
    page.rest()
    lines = page.text.split("\n")
    assert lines[0].startswith("You · ")
    assert lines[1] == "Which biases?"
    assert lines[2] == "BibGenie · offline assistant"
    page.cite("wrong")
    page.cite("verified")
    page.conversation.finish("stored")
    page.rest()
    assert "BibGenie · offline assistant · citations: 2 verified, 1 wrong" in page.text


def test_a_question_on_its_way_says_so(page: MessagePage) -> None:
    page.conversation.ask("Why?", "2026-01-02T08:00:00+00:00")
    page.rest()
    assert page.text == "You · sending…\nWhy?"


def test_a_checkpoint_is_a_quiet_line_across_the_page(page: MessagePage) -> None:
    chat = Conversation("s1", "compacted")
    chat.messages = [Message("user"), Message("checkpoint"), Message("user")]
    page.show(chat)
    page.check()
    divider = page.rows[1]
    assert type(divider).__name__ == "CheckpointDivider"
    assert divider.accessibleName() == "Earlier context compacted"
    assert not boxes(divider)


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
def test_a_tool_call_is_one_line_that_tells_how_it_went(
    page: MessagePage, state: ToolState, summary: str, line: str
) -> None:
    page.begin_answer()
    page.conversation.start_tool("c1", "Read\nABCD2345")
    if state != "pending":
        page.conversation.finish_tool(ToolFinished("s1", "c1", state, summary, 0))
    page.rest()
    (step,) = steps(page)
    assert step.text() == line
    assert step.accessibleName() == line
    image = step.grab().toImage()
    inks = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert (LIGHT.accent in inks) == (state in ("error", "denied"))


@pytest.mark.req("A-1")
def test_thinking_is_told_apart_from_the_answer_and_folded(page: MessagePage) -> None:
    page.begin_answer()
    page.conversation.add_text("secret thought ", "reasoning")
    page.rest()
    assert [step.text() for step in steps(page)] == ["Thinking…"]
    page.conversation.add_text("and more", "reasoning")
    page.conversation.add_text("So it is.")
    page.rest()
    assert [step.text() for step in steps(page)] == ["Thought"]
    assert "thought and" not in page.text
    page.click(steps(page)[0])
    assert "secret thought and more\nSo it is." in page.text


@pytest.mark.req("A-5")
def test_a_failure_stands_under_the_message_as_one_sentence_in_the_colour_of_alarm(page: MessagePage) -> None:
    page.begin_answer()
    page.conversation.add_text("Half an")
    page.conversation.finish("failed", "The model's answer broke off; what came is kept.")
    page.rest()
    page.check()
    assert page.text.endswith("Half an\nThe model's answer broke off; what came is kept.")
    note = page.rows[1].findChild(InkLabel, "messageNote")
    assert isinstance(note, InkLabel)
    assert note.ink == LIGHT.accent


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
    page: MessagePage, state: CitationState, mark: str, tip: str
) -> None:
    reasons = {
        "unverified": "this page was not read in this chat",
        "wrong": "the quoted words do not stand at this page",
    }
    page.begin_answer()
    page.conversation.add_text("Effort varies ")
    page.cite(state, reason=reasons.get(state, ""), quote="observer effort")
    page.conversation.add_text(", they say.")
    page.rest()
    assert f"Effort varies Hale 2010, p. 152 {mark}, they say." in page.text
    chip = next(each for each in page.fragments if "Hale" in each.text())
    assert page.box_with("Hale").resolved(chip.charFormat().anchorHref()) == LINK
    assert chip.charFormat().fontStrikeOut() == (state == "wrong")
    assert tip in chip.charFormat().toolTip()
    assert "Opens in Zotero: zotero://" in chip.charFormat().toolTip()


@pytest.mark.req("Z-3")
def test_a_citation_of_nothing_is_struck_through_and_leads_nowhere(page: MessagePage) -> None:
    page.begin_answer()
    page.cite("wrong", link="", reason="the library has no item ABCD2345")
    page.rest()
    chip = next(each for each in page.fragments if "Hale" in each.text())
    assert chip.charFormat().fontStrikeOut()
    page.click(page.box_with("Hale").viewport(), page.place_of("Hale"))
    assert page.opened == []


@pytest.mark.req("U-5")
def test_each_block_has_the_direction_of_its_own_text(page: MessagePage) -> None:
    page.begin_answer()
    page.conversation.add_text("First line\nשורה שנייה\nسطر ثالث Latin\n- 中文一行")
    page.rest()
    directions = {}
    block = page.box_with("First").document().begin()
    while block.isValid():
        directions[block.text()] = block.textDirection()
        block = block.next()
    left, right = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
    assert directions == {"First line": left, "שורה שנייה": right, "سطر ثالث Latin": right, "- 中文一行": left}


@pytest.mark.req("U-5")
def test_screen_readers_find_names_and_text(page: MessagePage) -> None:
    page.show(research_chat(30))
    page.focus()
    page.press(Qt.Key.Key_Up)
    assert page.view.accessibleName() == "Conversation"
    assert page.view.accessibleDescription() == "Message 30 of 30"
    for row in page.rows.values():
        assert row.accessibleName().startswith(("You", "BibGenie"))
    assert all(step.accessibleDescription().startswith("Folded") for step in steps(page))
    ground = QAccessible.queryAccessibleInterface(page.view.viewport())
    named = [ground.child(number).text(QAccessible.Text.Name) for number in range(ground.childCount())]
    assert all(row.accessibleName() in named for row in page.rows.values())
    box = QAccessible.queryAccessibleInterface(page.boxes[-1])
    assert box.role() == QAccessible.Role.StaticText
    assert box.textInterface().characterCount() == page.boxes[-1].document().characterCount() - 1


# Hostile text


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "hostile",
    [
        "<b>bold</b> <img src='FILE'> <script>alert(1)</script>",
        "[click](javascript:alert(1)) ![x](FILE)",
        "[click](FILE) <a href='https://example.org'>x</a>",
        "<style>* { display: none }</style><h1>x</h1>",
        "zotero://select/library/items/ABCD2345 https://example.org FILE",
        "&lt;b&gt; &#60;b&#62; &amp;amp;",
        "</p></span></a><a href='file:///x'>y",
        "‮evil‬ \u202egpj.exe",
    ],
)
def test_hostile_text_stays_text_in_questions_answers_steps_and_notes(
    page: MessagePage, tmp_path: Path, hostile: str
) -> None:
    picture = tmp_path / "picture.png"
    assert QImage(300, 300, QImage.Format.Format_RGB32).save(str(picture))
    hostile = hostile.replace("FILE", picture.as_uri())
    page.conversation.ask(hostile, "")
    page.conversation.started("s1", hostile, "n1", hostile)
    page.conversation.start_tool("c1", hostile)
    page.conversation.add_text(hostile)
    page.conversation.finish("failed", hostile)
    page.rest()
    page.check()
    shown = "\n".join(text_of(row) for row in page.view.page.rows.values())
    # In the question, the heading (as the model's name), the step, the answer and the note.
    assert shown.count(hostile) == 5
    assert not any(fragment.charFormat().isAnchor() for fragment in page.fragments)
    assert not any(fragment.charFormat().isImageFormat() for fragment in page.fragments)
    for label in page.view.findChildren(QLabel):
        assert label.textFormat() == Qt.TextFormat.PlainText
    assert page.view.page.index.total < 900


@pytest.mark.req("S-1")
def test_characters_that_qt_keeps_for_itself_do_not_reach_it(page: MessagePage) -> None:
    page.begin_answer("a\ufdd0b\ufdd1c\ufffcd\x00e\u2028f\u2029g")
    page.rest()
    assert "a\ufffdb\ufffdc\ufffdd\ufffde\nf\ng" in page.text


@pytest.mark.req("S-1")
def test_a_tooltip_shows_markup_as_text(page: MessagePage) -> None:
    page.begin_answer()
    page.cite("verified", quote="<img src='file:///etc/passwd'>")
    page.rest()
    tip = next(each for each in page.fragments if "Hale" in each.text()).charFormat().toolTip()
    assert "&lt;img" in tip
    assert "<img" not in tip


@pytest.mark.req("U-4", "S-1")
def test_an_endless_line_is_broken_for_display_and_loses_no_character(page: MessagePage) -> None:
    page.show(Conversation())
    page.begin_answer()
    page.conversation.add_text("x" * 3_000)
    page.rest()
    page.conversation.add_text("x" * 8_000)
    page.rest()
    box = page.box_with("x")
    longest, count = 0, 0
    block = box.document().begin()
    while block.isValid():
        longest, count = max(longest, block.length() - 1), count + block.text().count("x")
        block = block.next()
    assert longest == LONGEST_LINE
    assert count == 11_000


# Steps


@pytest.mark.req("A-1", "U-5")
@pytest.mark.parametrize("how", ["click", "space", "enter"])
def test_a_step_is_shown_in_full_and_folded_again_where_it_stands(page: MessagePage, how: str) -> None:
    page.show(research_chat(20))
    page.begin_answer()
    page.conversation.start_tool("c1", "Read pages")
    page.conversation.finish_tool(ToolFinished("s1", "c1", "error", "The file is gone. " * 30, 0))
    page.conversation.add_text("It varies.")
    page.conversation.finish("stored", node_id="n9")
    page.rest()
    (*_, step) = steps(page)

    def press() -> None:
        if how == "click":
            page.click(step)
        else:
            step.setFocus()
            QTest.keyClick(step, Qt.Key.Key_Space if how == "space" else Qt.Key.Key_Return)

    place, before = step.mapTo(page.view, QPoint()), page.text
    press()
    page.check()
    assert step.mapTo(page.view, QPoint()) == place
    assert page.box_with("The file is gone. " * 29)
    assert step.accessibleDescription() == "Shown in full; press to fold."
    press()
    page.check()
    assert page.text == before
    press()
    page.press(Qt.Key.Key_Home)
    page.press(Qt.Key.Key_End)
    # It is the message that is unfolded, not the row that showed it.
    assert page.box_with("The file is gone. " * 29)


# Links


@pytest.mark.req("S-1", "Z-2")
def test_a_click_on_a_citation_opens_it_and_a_click_beside_it_does_not(page: MessagePage) -> None:
    page.begin_answer()
    page.conversation.add_text("Effort varies ")
    page.cite("verified")
    page.rest()
    answers: list[str] = []
    hovered: list[str] = []
    page.view.link_answered.connect(answers.append)
    page.view.link_hovered.connect(hovered.append)
    ground = page.box_with("Hale").viewport()
    QTest.mouseMove(ground, page.place_of("Effort"))
    QTest.mouseMove(ground, page.place_of("Hale"))
    assert page.opened == []
    assert hovered[-1:] == [f"Opens in Zotero: {LINK}"]
    page.click(ground, page.place_of("Effort"))
    assert page.opened == []
    page.click(ground, page.place_of("Hale"))
    assert page.opened == [LINK]
    assert answers == [f"Opens in Zotero: {LINK}"]


@pytest.mark.req("U-5", "Z-2")
def test_citations_and_steps_of_the_current_message_are_reached_with_the_tab_key(page: MessagePage) -> None:
    give_actions(page)
    page.begin_answer()
    page.conversation.start_tool("c1", "Read pages")
    page.conversation.finish_tool(ToolFinished("s1", "c1", "done", "2 pages", 0))
    page.conversation.add_text("Effort varies ")
    page.cite("verified")
    page.conversation.finish("stored", "", "n2", "stop")
    page.rest()
    page.focus()
    page.press(Qt.Key.Key_Tab)
    assert isinstance(QApplication.focusWidget(), StepLine)
    page.press(Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is page.box_with("Hale")
    page.press(Qt.Key.Key_Return)
    assert page.opened == [LINK]
    page.press(Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is page.child("copyActionButton")
    assert not page.box_with("Hale").textCursor().hasSelection()
    page.press(Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    page.press(Qt.Key.Key_Escape)
    assert page.view.hasFocus()


@pytest.mark.req("Z-2")
def test_the_menu_of_a_citation_copies_its_link(page: MessagePage) -> None:
    actions = {action.text(): action for action in page.view.context_menu(LINK).actions()}
    actions["Copy link"].trigger()
    assert QGuiApplication.clipboard().text() == LINK
    actions["Open in Zotero"].trigger()
    assert page.opened == [LINK]
    assert "Copy link" not in [action.text() for action in page.view.context_menu("").actions()]


# A window without a screen can neither be raised nor hold the keyboard, and says so of each menu that pops up.
popping_up = pytest.mark.qt_log_ignore(r"This plugin does not support (raise\(\)|grabbing the keyboard)")


class Passages:
    """Opens passages and asks about pages, on the page's door for links."""

    def __init__(self, page: MessagePage) -> None:
        self.opened: list[str] = []
        self.asked: list[str] = []
        page.router.open_passages_with(self._open)
        page.router.ask_with(self.asked.append)

    def _open(self, link: str) -> str:
        self.opened.append(link)
        return "Looking…"


@pytest.fixture
def passages(page: MessagePage) -> Passages:
    return Passages(page)


@pytest.fixture
def markdown_page(qtbot: QtBot) -> Iterator[MessagePage]:
    with open_page(qtbot, MarkdownBody(lambda formula: None, lambda name: None)) as opened:
        yield opened


def cite(page: MessagePage, text: str = "Effort varies ", **named: str) -> TextBox:
    page.begin_answer()
    page.conversation.add_text(text)
    page.cite("verified", **named)
    page.conversation.finish("stored")
    page.rest()
    return page.box_with("Hale")


def menu(page: MessagePage) -> QMenu:
    """The menu that is open."""
    [found] = [each for each in page.view.findChildren(QMenu, "messageMenu") if each.isVisible()]
    return found


def choose(page: MessagePage, text: str) -> None:
    """Choose an action of the open menu with the keyboard, and see the menu close."""
    open_menu = menu(page)
    open_menu.setActiveAction(next(each for each in open_menu.actions() if each.text() == text))
    QTest.keyClick(open_menu, Qt.Key.Key_Return)
    assert not open_menu.isVisible()


@pytest.mark.req("Z-2")
def test_a_click_opens_the_passage_and_a_click_with_ctrl_opens_it_in_zotero(
    page: MessagePage, passages: Passages
) -> None:
    hovered: list[str] = []
    page.view.link_hovered.connect(hovered.append)
    ground = cite(page).viewport()
    QTest.mouseMove(ground, page.place_of("Effort"))
    QTest.mouseMove(ground, page.place_of("Hale"))
    assert hovered[-1:] == ["Opens page 12 of the file in your viewer · Ctrl+click: in Zotero"]
    page.click(ground, page.place_of("Hale"))
    assert (passages.opened, page.opened) == ([LINK], [])
    page.click(ground, page.place_of("Hale"), Qt.KeyboardModifier.ControlModifier)
    assert (passages.opened, page.opened) == ([LINK], [LINK])
    page.click(ground, page.place_of("Hale"))
    assert (passages.opened, page.opened) == ([LINK, LINK], [LINK])


@pytest.mark.req("Z-2", "U-5")
def test_the_keyboard_opens_a_passage_with_enter_and_in_zotero_with_ctrl_enter(
    page: MessagePage, passages: Passages
) -> None:
    cite(page)
    page.focus()
    page.press(Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is page.box_with("Hale")
    page.press(Qt.Key.Key_Return)
    assert (passages.opened, page.opened) == ([LINK], [])
    page.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert (passages.opened, page.opened) == ([LINK], [LINK])


@pytest.mark.req("Z-2", "U-5")
def test_enter_that_is_held_opens_a_passage_once(page: MessagePage, passages: Passages) -> None:
    box = cite(page)
    page.focus()
    page.press(Qt.Key.Key_Tab)
    for held in (False, True, True):
        kind, key, none = QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(box, QKeyEvent(kind, key, none, "\r", held))
    assert passages.opened == [LINK]


@popping_up
@pytest.mark.req("Z-2", "U-5")
@pytest.mark.parametrize(
    ("key", "modifier"),
    [
        (Qt.Key.Key_Menu, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier),
    ],
)
def test_the_menu_of_the_link_that_has_the_focus_is_opened_with_the_keyboard(
    page: MessagePage, passages: Passages, key: Qt.Key, modifier: Qt.KeyboardModifier
) -> None:
    box = cite(page, quote="observer effort varies")
    page.focus()
    page.press(Qt.Key.Key_Tab)
    page.press(key, modifier)
    texts = [action.text() for action in menu(page).actions() if not action.isSeparator()]
    assert texts == [
        *("Open at the page", "Open in Zotero", "Copy link", "Copy citation", "Copy quoted passage"),
        *("Copy", "Select all"),
    ]
    assert box.viewport().rect().translated(box.viewport().mapToGlobal(QPoint())).contains(menu(page).pos())
    choose(page, "Open at the page")
    assert (passages.opened, page.opened) == ([LINK], [])
    for text, copied in (
        ("Copy link", LINK),
        ("Copy citation", "Hale 2010, p. 152"),
        ("Copy quoted passage", "observer effort varies"),
    ):
        page.press(key, modifier)
        choose(page, text)
        assert QGuiApplication.clipboard().text() == copied
    page.press(key, modifier)
    choose(page, "Open in Zotero")
    assert (passages.opened, page.opened) == ([LINK], [LINK])


@popping_up
@pytest.mark.req("Z-2")
def test_the_menu_of_a_citation_is_opened_where_it_is_clicked(page: MessagePage, passages: Passages) -> None:
    box = cite(page)
    for word, is_link in (("Hale", True), ("Effort", False)):
        place = page.place_of(word)
        reason = QContextMenuEvent.Reason.Mouse
        QApplication.sendEvent(box.viewport(), QContextMenuEvent(reason, place, box.viewport().mapToGlobal(place)))
        assert ("Copy citation" in [action.text() for action in menu(page).actions()]) == is_link
        menu(page).close()
    assert (passages.opened, page.opened) == ([], [])


@pytest.mark.req("Z-2", "Z-3")
def test_a_citation_of_nothing_has_a_menu_that_says_so(page: MessagePage, passages: Passages) -> None:
    nothing = Segment("citation", "Hale 2010", "", "wrong", "the library has no item ABCD2345")
    actions = {action.text(): action for action in page.view.context_menu("", nothing).actions()}
    assert not actions["Open"].isEnabled()
    assert actions["Open"].toolTip() == "This citation leads nowhere."
    assert not actions["Copy link"].isEnabled()
    assert "Copy quoted passage" not in actions
    actions["Copy citation"].trigger()
    assert QGuiApplication.clipboard().text() == "Hale 2010"


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    ("link", "text", "why"),
    [
        ("https://zotero.org@evil.example/", "Open in browser…", "hides its host"),
        ("zotero://report/library", "Open", "no such link"),
        ("javascript:alert(1)", "Open", "could do harm"),
    ],
)
def test_what_is_refused_is_disabled_in_the_menu_with_the_reason(
    page: MessagePage, passages: Passages, link: str, text: str, why: str
) -> None:
    menu = page.view.context_menu(link)
    actions = {action.text(): action for action in menu.actions()}
    assert not actions[text].isEnabled()
    assert why in actions[text].toolTip()
    assert menu.toolTipsVisible()
    actions["Copy link"].trigger()
    assert QGuiApplication.clipboard().text() == link
    assert page.opened == passages.opened == passages.asked == []


@popping_up
@pytest.mark.req("S-1", "U-5")
def test_a_web_page_in_an_answer_is_only_asked_about(markdown_page: MessagePage) -> None:
    page = markdown_page
    passages = Passages(page)
    address = "https://example.org/paper?q=1"
    hovered: list[str] = []
    page.view.link_hovered.connect(hovered.append)
    box = cite(page, f"See [the paper]({address}), ")
    QTest.mouseMove(box.viewport(), page.place_of("See"))
    QTest.mouseMove(box.viewport(), page.place_of("paper"))
    assert hovered[-1:] == [f"Opens example.org in your browser: {address}"]
    page.click(box.viewport(), page.place_of("paper"))
    page.click(box.viewport(), page.place_of("paper"), Qt.KeyboardModifier.ControlModifier)
    assert passages.asked == [address] * 2
    page.focus()
    page.press(Qt.Key.Key_Tab)
    page.press(Qt.Key.Key_Return)
    assert passages.asked == [address] * 3
    page.press(Qt.Key.Key_Menu)
    assert [action.text() for action in menu(page).actions()][:2] == ["Open in browser…", "Copy link"]
    choose(page, "Open in browser…")
    assert passages.asked == [address] * 4
    page.press(Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    choose(page, "Copy link")
    assert QGuiApplication.clipboard().text() == address
    assert page.opened == passages.opened == []


@popping_up
@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "link",
    [
        *("javascript:alert(1)", "JaVaScRiPt:alert(1)", "file:///etc/passwd", "data:text/html,x", "vbscript:x"),
        *(
            "\\\\\\\\host\\\\x",
            "//host/x",
            "https://zotero.org@evil.example/",
            "javascript%3Aalert(1)",
            "bibgenie:cite/0",
        ),
        *(
            "bibgenie:copy/0",
            "bibgenie:cite/x",
            "bibgenie:cite/",
            "math:x",
            "https://exam%00ple.org",
            "&#106;avascript:x",
        ),
    ],
)
def test_a_hostile_link_in_an_answer_opens_nothing(markdown_page: MessagePage, link: str) -> None:
    page = markdown_page
    passages = Passages(page)
    box = cite(page, f"See [the paper]({link}), ", link="")
    page.click(box.viewport(), page.place_of("paper"))
    page.focus()
    for _ in range(2):
        page.press(Qt.Key.Key_Tab)
        if QApplication.focusWidget() is box:
            page.press(Qt.Key.Key_Return)
            page.press(Qt.Key.Key_Menu)
            menu(page).close()
    assert page.opened == passages.opened == passages.asked == []


# Selection


def drag(page: MessagePage, start: tuple[QWidget, QPoint], end: tuple[QWidget, QPoint]) -> None:
    """Press the mouse button at one place, move, and let go at another."""
    begun = start[0]
    QTest.mousePress(begun, Qt.MouseButton.LeftButton, pos=start[1])
    place = end[0].mapToGlobal(end[1])
    inside = QPointF(begun.mapFromGlobal(place))
    for point in (QPointF(start[1]), inside):
        move(begun, point)
    QTest.mouseRelease(begun, Qt.MouseButton.LeftButton, pos=inside.toPoint())


def move(widget: QWidget, point: QPointF) -> None:
    """Move the pointer with the button held."""
    button, where = Qt.MouseButton.LeftButton, widget.mapToGlobal(point)
    event = QMouseEvent(QEvent.Type.MouseMove, point, where, button, button, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(widget, event)


def answer_in_parts(page: MessagePage) -> None:
    page.begin_answer()
    page.conversation.add_text("The first part of it.")
    page.conversation.start_tool("c1", "Read pages")
    page.conversation.finish_tool(ToolFinished("s1", "c1", "done", "2 pages", 0))
    page.conversation.add_text("The middle of it.")
    page.conversation.start_tool("c2", "Read pages")
    page.conversation.finish_tool(ToolFinished("s1", "c2", "done", "2 pages", 0))
    page.conversation.add_text("The last part ")
    page.cite("verified")
    page.conversation.add_text(" of it.")
    page.conversation.finish("stored", node_id="n9")
    page.rest()


@pytest.mark.req("U-1")
@pytest.mark.parametrize("upwards", [False, True])
def test_text_is_selected_across_the_parts_of_a_message_and_copied_as_it_is_read(
    page: MessagePage, upwards: bool
) -> None:
    answer_in_parts(page)
    ends = [(page.box_with(word).viewport(), page.place_of(word)) for word in ("first", "last")]
    drag(page, *(reversed(ends) if upwards else ends))
    page.view.copy_selection()
    copied = QGuiApplication.clipboard().text()
    first, middle, last = copied.split("\n\n")
    assert "The first part of it.".endswith(first)
    assert first
    assert middle == "The middle of it."
    assert last
    assert "The last part".startswith(last)
    assert not QGuiApplication.clipboard().mimeData().hasHtml()


@pytest.mark.req("U-5")
def test_a_whole_message_is_selected_and_copied_by_keys(page: MessagePage) -> None:
    answer_in_parts(page)
    page.focus()
    page.press(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    page.press(Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == (
        "The first part of it.\n\nThe middle of it.\n\nThe last part Hale 2010, p. 152 ✓ of it."
    )


@pytest.mark.req("U-1")
def test_a_selection_that_is_drawn_beyond_the_edge_takes_the_page_along(page: MessagePage) -> None:
    page.begin_answer()
    page.conversation.add_text("\n".join(f"line {number} of many" for number in range(150)))
    page.conversation.finish("stored", node_id="n9")
    page.rest()
    page.press(Qt.Key.Key_Home)
    ground = page.box_with("line 3 ").viewport()
    start = page.place_of("line 3 ")
    QTest.mousePress(ground, Qt.MouseButton.LeftButton, pos=start)
    below = page.view.viewport().mapToGlobal(QPointF(100, page.height + 60))
    move(ground, QPointF(ground.mapFromGlobal(below)))
    for _ in range(100):
        page.tick()
    page.check()
    assert page.value == page.end
    QTest.mouseRelease(ground, Qt.MouseButton.LeftButton, pos=ground.mapFromGlobal(below.toPoint()))
    page.view.copy_selection()
    copied = QGuiApplication.clipboard().text()
    assert "line 4 of many" in copied
    assert "line 140 of many" in copied
    page.press(Qt.Key.Key_Home)
    page.rest()
    assert page.value == 0


def test_only_one_message_has_a_selection(page: MessagePage) -> None:
    answer_in_parts(page)
    page.view.select_current()
    question = page.box_with("Why?")
    drag(page, (question.viewport(), QPoint(1, 5)), (question.viewport(), QPoint(300, 5)))
    page.view.copy_selection()
    assert QGuiApplication.clipboard().text() == "Why?"
    assert not page.box_with("middle").textCursor().hasSelection()


def test_a_selection_outlives_the_way_there_and_back(page: MessagePage) -> None:
    page.show(research_chat(200))
    answer_in_parts(page)
    page.view.select_current()
    page.press(Qt.Key.Key_Home)
    page.rest()
    page.check()
    page.press(Qt.Key.Key_PageDown)
    page.view.copy_selection()
    assert "The middle of it." in QGuiApplication.clipboard().text()
    page.press(Qt.Key.Key_End)
    page.check()
    assert page.box_with("middle").textCursor().hasSelection()


# The current message and its actions


def give_actions(page: MessagePage) -> dict[str, QAction]:
    actions = {}
    for name in ACTIONS:
        actions[name] = QAction(name.removesuffix("Action"), page.view)
        actions[name].setObjectName(name)
    page.view.set_actions(list(actions.values()))
    return actions


@pytest.mark.req("U-5")
def test_actions_stand_under_the_current_message_while_the_list_has_the_focus(page: MessagePage) -> None:
    give_actions(page)
    page.show(research_chat(30))
    bar = page.child("messageActions")
    assert not bar.isVisible()
    page.focus()
    assert bar.isVisible()
    for _ in range(12):
        number = page.view.current_row
        row = page.view.page.rows[number]
        assert row.geometry().contains(bar.geometry())
        assert bar.y() > row.y() + row.height() - 30
        page.press(Qt.Key.Key_Up)
    page.leave()
    assert not bar.isVisible()


@pytest.mark.req("U-5")
def test_the_message_under_the_pointer_is_the_current_one(page: MessagePage) -> None:
    actions = give_actions(page)
    page.show(research_chat(30))
    bar, changed, done = page.child("messageActions"), list[int](), list[int]()
    page.view.current_changed.connect(changed.append)
    actions["copyAction"].triggered.connect(lambda *_: done.append(page.view.current_row))
    for number, row in page.rows.items():
        if row.y() + row.height() > page.height:
            continue
        QApplication.sendEvent(row, enter(row))
        assert page.view.current_row == number
        assert bar.isVisible()
        assert row.geometry().contains(bar.geometry())
        page.click(page.child("copyActionButton"))
    assert changed == sorted(changed)
    assert done == changed
    page.leave()
    assert bar.isVisible()
    QApplication.sendEvent(page.view, QEvent(QEvent.Type.Leave))
    assert not bar.isVisible()


def enter(row: Row) -> QEvent:
    return QEnterEvent(QPointF(5, 5), QPointF(5, 5), QPointF(row.mapToGlobal(QPoint(5, 5))))


@pytest.mark.req("U-5")
def test_the_ring_is_drawn_round_the_current_message_for_the_keyboard_only(page: MessagePage) -> None:
    page.show(research_chat(30))

    def ringed() -> list[int]:
        return [number for number, row in page.rows.items() if LIGHT.accent in edge(row)]

    assert ringed() == []
    page.focus()
    page.press(Qt.Key.Key_End)
    assert ringed() == [29]
    page.press(Qt.Key.Key_Up)
    page.press(Qt.Key.Key_Up)
    assert ringed() == [page.view.current_row]
    page.press(Qt.Key.Key_End)
    while not any(page.rows[29].isAncestorOf(step) for step in steps(page)):
        page.wheel(-3)
    page.press(Qt.Key.Key_Tab)
    assert isinstance(QApplication.focusWidget(), StepLine)
    assert ringed() == []
    page.press(Qt.Key.Key_Escape)
    assert ringed() == [29]
    page.leave()
    assert ringed() == []


def edge(row: Row) -> set[str]:
    image = row.grab().toImage()
    return {image.pixelColor(1, y).name() for y in range(image.height())}


@pytest.mark.req("U-5")
def test_a_disabled_action_stays_and_says_why(page: MessagePage) -> None:
    actions = give_actions(page)
    actions["retryAction"].setEnabled(False)
    actions["retryAction"].setToolTip("Fork here instead.")
    page.begin_answer()
    page.focus()
    button = page.child("retryActionButton")
    assert button.isVisible()
    assert not button.isEnabled()
    assert button.toolTip() == "Fork here instead."


def test_actions_can_be_changed(page: MessagePage) -> None:
    give_actions(page)
    give_actions(page)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert page.child("copyActionButton")


# Find in page


@pytest.mark.req("U-1", "U-4")
def test_a_word_is_found_from_place_to_place_through_the_whole_chat(page: MessagePage) -> None:
    chat = research_chat(400)
    for number in (3, 150, 151, 390):
        chat.messages[number].add_text(f" Needle{number} and one more NEEDLE{number}")
    page.show(chat)
    page.press(Qt.Key.Key_Home)
    found = []
    for _ in range(9):
        assert page.view.find_text("needle")
        page.check()
        box = next(box for box in page.boxes if box.textCursor().hasSelection())
        place = box.mapTo(page.view.viewport(), box.cursorRect().topLeft())
        assert page.view.viewport().rect().contains(place)
        found.append((page.view.current_row, box.textCursor().selectedText()))
    words = [(number, word) for number in (3, 150, 151, 390) for word in ("Needle", "NEEDLE")]
    assert found == [*words, words[0]]
    assert page.view.find_text("needle", backwards=True)
    assert page.view.current_row == 390
    assert page.view.find_text("needle390", backwards=True)
    assert not page.view.find_text("stands nowhere")
    assert not page.view.find_text("")


def test_what_stands_only_in_the_source_is_not_found(page: MessagePage) -> None:
    page.begin_answer()
    page.conversation.start_tool("c1", "hidden in a step")
    page.conversation.add_text("shown")
    page.rest()
    assert not page.view.find_text("hidden in a step")
    assert page.view.find_text("shown")


def test_a_row_is_brought_into_sight(page: MessagePage) -> None:
    page.show(research_chat(300))
    for number in (0, 17, 250, 299, 100):
        page.view.go_to_row(number)
        page.check()
        assert number in page.rows
        assert page.view.current_row == number
        assert page.tops[number] == 0 or page.value == page.end
    assert plain(boxes(page.rows[100])[0])


@pytest.mark.req("U-1", "Z-2")
def test_a_citation_is_found_by_its_label_as_it_is_typed(page: MessagePage) -> None:
    """Its spaces do not break on the page, those that are typed do."""
    page.begin_answer()
    page.conversation.add_text("As in ")
    page.cite("verified")
    page.conversation.add_text(" and there.")
    page.rest()
    assert page.view.find_text("hale 2010, p. 152")
    assert page.view.find_text("Hale 2010")


@pytest.mark.req("U-5")
def test_on_another_screen_the_text_is_drawn_anew_for_its_pixels(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures of formulas are made for one screen's pixels."""
    answers = Recorder()
    with open_page(qtbot, answers) as page:
        page.begin_answer()
        page.conversation.add_text("one")
        page.rest()
        answers.rendered.clear()
        monkeypatch.setattr(MessageList, "devicePixelRatioF", lambda view: 2.0)
        QApplication.sendEvent(page.view, QEvent(QEvent.Type.DevicePixelRatioChange))
        assert answers.rendered == ["one"]
