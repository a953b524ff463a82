"""What a person has selected stays selected, and is copied whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor, QTextDocument
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.values import BranchRow, Segment
from bibgenie_desktop.ui.chat.conversation import Conversation
from bibgenie_desktop.ui.chat.document_text import Reading, plain_text
from bibgenie_desktop.ui.find_bar import FindBar
from tests.ui.message_page import Blocks, MessagePage, open_page

pytestmark = pytest.mark.gui

CTRL = Qt.KeyboardModifier.ControlModifier


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


def long_answer(page: MessagePage, count: int = 400) -> None:
    page.begin_answer()
    page.conversation.add_text("".join(f"paragraph {number} {'word ' * 20}\n\n" for number in range(count)))
    page.conversation.finish("stored", node_id="n5")
    page.rest()


@pytest.mark.req("U-1", "U-4")
@pytest.mark.parametrize("patient", [True, False])
def test_all_of_a_long_answer_is_copied_though_little_of_it_is_drawn(qtbot: QtBot, patient: bool) -> None:
    with open_page(qtbot, Blocks()) as page:
        long_answer(page)
        page.focus()
        page.press(Qt.Key.Key_A, CTRL)
        page.press(Qt.Key.Key_C, CTRL)
        if patient:
            page.rest()
        numbers = [int(line.split()[1]) for line in clipboard().split("\n") if line.startswith("paragraph")]
        assert numbers == list(range(400))


@pytest.mark.req("U-1")
def test_a_copy_that_is_not_worked_out_yet_does_not_replace_a_later_one(qtbot: QtBot) -> None:
    with open_page(qtbot, Blocks()) as page:
        long_answer(page)
        page.focus()
        page.press(Qt.Key.Key_A, CTRL)
        page.press(Qt.Key.Key_C, CTRL)
        QGuiApplication.clipboard().setText("later")
        page.rest()
        assert clipboard() == "later"


@pytest.mark.req("U-1")
def test_a_selection_outlives_scrolling_far_away_and_growth(qtbot: QtBot) -> None:
    with open_page(qtbot, Blocks()) as page:
        long_answer(page)
        assert page.view.find_text("paragraph 3 ")
        page.press(Qt.Key.Key_End)
        page.rest()
        page.view.copy_selection()
        assert clipboard() == "paragraph 3 "
        page.begin_answer()
        page.conversation.add_text("first words and\n\nthe last")
        page.rest()
        assert page.view.find_text("the last", afresh=True)
        for _ in range(5):
            page.conversation.add_text(" words\n\nnew")
            page.rest()
        page.conversation.finish("stored", node_id="n9")
        page.rest()
        page.view.copy_selection()
        assert clipboard() == "the last"


@pytest.mark.req("U-1")
def test_a_selection_goes_along_when_the_text_grows_beyond_one_piece(qtbot: QtBot) -> None:
    with open_page(qtbot, Blocks()) as page:
        page.begin_answer()
        page.conversation.add_text("".join(f"paragraph {number} {'word ' * 20}\n\n" for number in range(100)))
        page.rest()
        assert page.view.find_text("paragraph 99 ")
        assert len(page.boxes) == 1
        page.conversation.add_text("".join(f"paragraph {number} {'word ' * 20}\n\n" for number in range(100, 160)))
        page.rest()
        page.check()
        page.press(Qt.Key.Key_Home)
        page.scroll_to(page.end // 2)
        texts = [box.toPlainText() for box in page.boxes]
        assert any("paragraph 99 " in text and "paragraph 98 " not in text for text in texts)
        page.view.copy_selection()
        assert clipboard() == "paragraph 99 "


@pytest.mark.req("U-1")
def test_nothing_stays_selected_when_a_word_is_not_found_and_bodies_to_come_are_waited_for(qtbot: QtBot) -> None:
    with open_page(qtbot) as page:
        chat = Conversation("s1", "chat")
        chat.load([BranchRow("n1", "user", "", None, None, 9), BranchRow("n2", "assistant", "", None, None, 9)])
        chat.add_body("n2", [Segment("text", "alpha beta")])
        page.show(chat)
        view = page.view
        bar = FindBar(
            lambda text, backwards, afresh: view.find_text(text, backwards=backwards, afresh=afresh),
            lambda: view.all_here,
            view.window(),
        )
        view.drawn_anew.connect(bar.look_again)
        bar.open_bar()
        told = bar.findChild(QLabel, "findTold")
        assert told is not None
        field = bar.findChild(QLineEdit, "findField")
        assert field is not None
        field.setText("alpha")
        bar.step()
        view.copy_selection()
        assert clipboard() == "alpha"
        field.setText("gamma")
        bar.step()
        assert told.accessibleName() == "Searching older messages…"
        assert view.context_menu("").actions()[0].isEnabled() is False
        chat.add_body("n1", [Segment("text", "gamma?")])
        page.rest()
        assert told.accessibleName() == ""
        view.copy_selection()
        assert clipboard() == "gamma"
        field.setText("delta")
        bar.step()
        assert told.accessibleName() == "Not found in this chat"
        bar.hide()
        assert told.accessibleName() == ""


@pytest.mark.req("U-1")
@given(
    st.text("ab \U0001f600\u00a0\u2060", max_size=30),
    st.data(),
)
def test_a_place_in_a_text_is_found_again_by_what_is_read_before_it(text: str, data: st.DataObject) -> None:
    document = QTextDocument()
    document.setHtml("<p>one</p><p>" + text.replace(" ", "&nbsp;") + "</p><p>two</p>")
    everything = QTextCursor(document)
    everything.select(QTextCursor.SelectionType.Document)
    reading = Reading(document)
    assert reading.text == plain_text(everything)
    last = data.draw(st.integers(1, len(reading.text)))
    first = data.draw(st.integers(0, last - 1))
    found = reading.found_in(Reading(document), first, last)
    assert found is not None
    cursor = QTextCursor(document)
    cursor.setPosition(found[0])
    cursor.setPosition(found[1], QTextCursor.MoveMode.KeepAnchor)
    # A line end at the end of a selection is not read.
    assert plain_text(cursor) == reading.text[first:last].removesuffix("\n")
