"""A question is written anew in its place: what is written outlives what shows it, and is sent once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QToolButton
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.commands import EditMessage, SendMessage
from bibgenie_desktop.protocol.events import (
    AnswerText,
    BranchChanged,
    CommandFailed,
    SessionsChanged,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from bibgenie_desktop.ui.chat.conversation import Conversation
from bibgenie_desktop.ui.chat.edits import Edits
from tests.ui.branched import Branched, branched_window, stored, turns

pytestmark = [pytest.mark.gui, pytest.mark.req("T-4")]

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
RETURN, ESCAPE = Qt.Key.Key_Return, Qt.Key.Key_Escape


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[Branched]:
    with branched_window(qtbot) as branched:
        yield branched


def box(window: Branched, number: int) -> QPlainTextEdit:
    found = window.part(number, "editBox")
    assert isinstance(found, QPlainTextEdit)
    return found


def edit(window: Branched, number: int) -> QPlainTextEdit:
    """Edit a question with the key."""
    window.choose(number)
    window.press(Qt.Key.Key_E, CTRL)
    assert window.focus == "editBox"
    return box(window, number)


def send_button(window: Branched, number: int) -> QToolButton:
    found = window.part(number, "editSendButton")
    assert isinstance(found, QToolButton)
    return found


def test_a_question_is_edited_in_its_place_and_sent_with_enter_and_its_answer_follows(window: Branched) -> None:
    window.open_chat(turns(3))
    written = edit(window, 2)
    assert written.toPlainText() == "text of q2"
    assert "text of a1" in window.read(1)
    window.type(", and why?")
    window.press(RETURN, SHIFT)
    window.type("At length.")
    window.press(RETURN)
    asked = window.last(EditMessage)
    text = "text of q2, and why?\nAt length."
    assert (asked.session_id, asked.node_id, asked.text) == ("s1", "q2", text)
    assert box(window, 2).isReadOnly()
    window.press(RETURN)
    assert window.count(EditMessage) == 1
    window.take(BranchChanged("edit", "s1", "e2", 2, ("e2",)))
    window.take(TurnStarted("s1", "e2", "Title", "m", "edit", "a1", asked.request))
    assert window.node_ids == ["q1", "a1", "e2", ""]
    assert window.shown[2] == text
    window.take(AnswerText("s1", "Because."), TurnFinished("s1", "b2", "stop", 1, 1, True))
    edited = stored("e2", version=2, beside=("q2", ""))
    window.branch([*turns(1), edited, stored("b2", "assistant")])
    assert window.shown == ["text of q1", "text of a1", text, "Because."]
    assert "2/2" in window.read(2)
    # The former question is no longer being edited where it stands.
    window.take(BranchChanged("switch", "s1", "a3", 3, ()))
    window.branch([*turns(1), stored("q2", version=1, beside=("", "e2")), *turns(3)[3:]])
    assert "text of q2" in window.read(2)


def test_without_a_chosen_question_the_last_one_is_edited(window: Branched) -> None:
    window.open_chat(turns(2))
    window.window.composer.setFocus()
    window.press(Qt.Key.Key_E, CTRL)
    assert window.controller.conversation.edits.node_id == "q2"
    window.press(ESCAPE)
    window.choose(1)
    window.press(Qt.Key.Key_E, CTRL)
    assert window.controller.conversation.edits.node_id == "q2"


@pytest.mark.req("U-5")
def test_what_says_nothing_new_is_not_sent_and_says_why(window: Branched) -> None:
    window.open_chat(turns(1))
    written = edit(window, 0)
    assert not send_button(window, 0).isEnabled()
    assert send_button(window, 0).toolTip().startswith("Change the question first")
    window.press(RETURN)
    assert window.count(EditMessage) == 0
    assert "Change the question first" in window.read(0)
    written.selectAll()
    window.press(Qt.Key.Key_Delete)
    assert send_button(window, 0).toolTip() == "The question is empty: write one."
    window.type("Other")
    assert send_button(window, 0).isEnabled()
    assert "Change the question first" not in window.read(0)
    window.click(send_button(window, 0))
    assert window.last(EditMessage).text == "Other"


def test_escape_leaves_the_question_as_it_was_and_what_was_written_comes_back_with_the_next_edit(
    window: Branched,
) -> None:
    window.open_chat(turns(2))
    edit(window, 0)
    window.type(" or not?")
    window.press(ESCAPE)
    assert "text of q1" in window.read(0)
    assert "or not" not in window.read(0)
    assert window.focus == "messageList"
    assert window.count(EditMessage) == 0
    assert edit(window, 0).toPlainText() == "text of q1 or not?"
    window.click(window.part(0, "editCancelButton"))
    # Another question has its own.
    assert edit(window, 2).toPlainText() == "text of q2"


@pytest.mark.req("U-5")
def test_while_an_input_method_composes_enter_and_escape_are_its_own(window: Branched) -> None:
    window.open_chat(turns(1))
    written = edit(window, 0)
    window.type("x")
    QApplication.sendEvent(written, QInputMethodEvent("にほん", []))
    window.press(RETURN)
    window.press(ESCAPE)
    assert window.count(EditMessage) == 0
    assert window.controller.conversation.edits.node_id == "q1"
    commit = QInputMethodEvent()
    commit.setCommitString("日本")
    QApplication.sendEvent(written, commit)
    window.press(RETURN)
    assert window.last(EditMessage).text == "text of q1x日本"


def test_what_is_written_survives_scrolling_away_another_chat_and_a_branch_that_is_read_again(window: Branched) -> None:
    window.open_chat(turns(40))
    edit(window, 2)
    window.type(" precious")
    window.press(Qt.Key.Key_Left)
    window.window.composer.setFocus()
    view = window.window.message_list
    view.go_to_end()
    window.rest()
    assert 2 not in view.page.rows
    view.go_to_row(2)
    window.rest()
    assert box(window, 2).toPlainText() == "text of q2 precious"
    assert box(window, 2).textCursor().position() == len("text of q2 precious") - 1
    window.open_chat(turns(1), session="s2")
    window.open_chat(turns(40))
    view.go_to_row(2)
    window.rest()
    assert box(window, 2).toPlainText() == "text of q2 precious"
    box(window, 2).setFocus()
    window.take(SessionsChanged(("s1",)))
    window.branch([*turns(40), stored("q41")])
    assert window.focus == "editBox"
    window.type("!")
    assert box(window, 2).toPlainText() == "text of q2 preciou!s"
    # Also where the question has left the branch for a while.
    window.take(SessionsChanged(("s1",)))
    window.branch([*turns(1), stored("x2")])
    assert "precious" not in window.read(2)
    window.take(SessionsChanged(("s1",)))
    window.branch(turns(40))
    assert box(window, 2).toPlainText() == "text of q2 preciou!s"


def test_while_an_answer_streams_the_edit_goes_on_and_waits_with_being_sent(window: Branched) -> None:
    window.open_chat(turns(1))
    edit(window, 0)
    window.type(" too")
    window.ask("Next?")
    assert not send_button(window, 0).isEnabled()
    assert "still streams" in send_button(window, 0).toolTip()
    window.take(TurnStarted("s1", "q2", "Title", "m", request=window.last(SendMessage).request))
    box(window, 0).setFocus()
    window.take(AnswerText("s1", "Some"))
    window.type("!")
    window.take(AnswerText("s1", " more"))
    assert box(window, 0).toPlainText() == "text of q1 too!"
    assert window.focus == "editBox"
    window.press(RETURN)
    assert window.count(EditMessage) == 0
    assert "still streams" in window.read(0)
    window.take(TurnFinished("s1", "a2", "stop", 1, 1, True))
    assert send_button(window, 0).isEnabled()


@pytest.mark.parametrize("ends", ["refused", "crashed"])
def test_an_edit_that_is_not_taken_keeps_its_text_and_says_why_in_its_place(window: Branched, ends: str) -> None:
    window.open_chat(turns(2))
    edit(window, 0)
    window.type(" too")
    window.press(RETURN)
    if ends == "refused":
        window.take(CommandFailed("leased", "Another window answers.", window.last(EditMessage).request))
        assert "Another window answers." in window.read(0)
    else:
        window.controller.engine_ended("It ended.", True)
        window.rest()
        assert "send it again" in window.read(0)
    assert box(window, 0).toPlainText() == "text of q1 too"
    assert not box(window, 0).isReadOnly()
    assert window.node_ids == ["q1", "a1", "q2", "a2"]
    box(window, 0).setFocus()
    window.type("!")
    assert "Another window answers." not in window.read(0)


def test_an_edited_question_whose_answer_failed_stays_and_is_answered_now(window: Branched) -> None:
    window.open_chat(turns(1))
    edit(window, 0)
    window.type(" too")
    window.press(RETURN)
    window.take(TurnStarted("s1", "e1", "Title", "m", "edit", "", window.last(EditMessage).request))
    window.take(TurnFailed("s1", "key", "The key is refused."))
    window.branch([stored("e1", version=2, beside=("q1", ""))])
    assert window.node_ids == ["e1", ""]
    assert "The key is refused." in window.read(1)
    assert window.part(1, "answerOffer").isVisible()


@pytest.mark.req("U-5")
def test_the_box_grows_with_its_text_to_a_third_of_the_window_and_its_end_stays_in_sight(window: Branched) -> None:
    window.open_chat(turns(3))
    written = edit(window, 4)
    few = written.height()
    for number in range(60):
        window.press(RETURN, SHIFT)
        if number == 3:
            assert few < written.height()
            assert not written.verticalScrollBar().isVisible()
    assert written.height() <= window.window.height() // 3
    view = window.window.message_list
    row = window.row(4)
    assert row.y() + row.height() <= view.viewport().height()
    assert written.font().pointSizeF() == view.page.measures.reading.pointSizeF()


@pytest.mark.req("U-5")
def test_keys_in_the_box_are_not_the_pages(window: Branched) -> None:
    window.open_chat(turns(20))
    edit(window, 20)
    view = window.window.message_list
    value = view.page.value
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End):
        window.press(key)
    assert (view.current_row, view.page.value) == (20, value)
    window.press(Qt.Key.Key_Tab)
    window.type(" ")
    assert window.focus in ("editSendButton", "editCancelButton", "messageList")


def test_an_edit_is_left_when_another_begins_and_forgotten_when_it_says_nothing_new() -> None:
    edits = Edits()
    edits.begin("q1", "Why?").text = "Why not?"
    edits.begin("q2", "How?")
    assert (edits.of("q1"), edits.node_id) == (None, "q2")
    edits.leave()
    assert edits.begin("q1", "Why?").text == "Why not?"
    edits.sent("q1")
    assert edits.node_id == ""
    assert edits.begin("q1", "Why?").text == "Why?"


def test_a_conversation_tells_only_the_rows_that_a_beginning_changes() -> None:
    conversation = Conversation("s1", "Title")
    conversation.load(turns(3))
    conversation.await_answer("edit", "q2", "")
    conversation.edits.begin("q2", "old").text = "new"
    conversation.began(TurnStarted("s1", "e2", "Title", "m", "edit", "a1"))
    assert [message.node_id for message in conversation.messages] == ["q1", "a1", "e2", ""]
    assert conversation.messages[2].source == "new"
    assert conversation.answers_anew
