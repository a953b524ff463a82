"""Chats that are deleted, brought back, pinned and put away: asked first, undone for a while, nothing typed is lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QPushButton

from bibgenie_desktop.protocol.commands import (
    UNDO_SECONDS,
    ArchiveSession,
    DeleteSession,
    ListSessions,
    OpenSession,
    PinSession,
    SaveDraft,
    SendMessage,
    UndoDelete,
)
from bibgenie_desktop.protocol.events import AnswerText, SessionsChanged, TurnFinished, TurnStarted
from tests.ui.played import Played, chat, played

pytestmark = [pytest.mark.gui, pytest.mark.req("T-7", "U-1")]


@pytest.fixture
def desk(qapp: QApplication) -> Iterator[Played]:
    with played() as window:
        yield window


def open_first(desk: Played) -> None:
    """Two chats, of which the first is shown."""
    desk.welcome(chat("a"), chat("b"))
    desk.click_chat("a")
    desk.branch("a", ["n1", "n2"])
    desk.bodies()


def test_deleting_asks_first_and_keeping_changes_nothing(desk: Played) -> None:
    open_first(desk)
    desk.window.session_list.setFocus()
    desk.press(Qt.Key.Key_Delete)
    assert desk.text("keepingText") == "Delete “Title a” for good?"
    assert desk.focus() == "keepingKeepButton"
    desk.press(Qt.Key.Key_Return)
    assert not desk.sees("keepingBar")
    assert desk.focus() == "sessionList"
    desk.press(Qt.Key.Key_Delete)
    desk.press(Qt.Key.Key_Escape)
    assert not desk.sees("keepingBar")
    assert not desk.all(DeleteSession)
    assert desk.lines == ["Today", "Title a", "Title b"]


def test_a_deleted_chat_is_gone_at_once_and_a_new_one_is_shown(desk: Played) -> None:
    open_first(desk)
    desk.action("deleteSessionAction").trigger()
    desk.click("keepingDeleteButton")
    assert desk.last(DeleteSession).session_id == "a"
    assert desk.lines == ["Today", "Title b"]
    assert desk.shown() == ""
    assert not desk.sees("keepingBar")
    desk.done(DeleteSession)
    desk.tell(chat("b"))
    assert desk.text("keepingText") == "Deleted “Title a”."
    assert desk.sees("keepingUndoButton")
    assert not desk.sees("keepingDeleteButton")
    assert desk.focus() == "sessionList"
    assert "Deleted" in desk.find(QPushButton, "keepingUndoButton").accessibleDescription()


def test_the_way_back_shows_the_chat_again_and_is_offered_for_a_while(desk: Played) -> None:
    open_first(desk)
    desk.action("deleteSessionAction").trigger()
    desk.click("keepingDeleteButton")
    desk.done(DeleteSession)
    timer = next(timer for timer in desk.timers.made if timer.running == UNDO_SECONDS * 1000)
    desk.tell(chat("b"))
    assert desk.action("undoDeleteAction").isEnabled()
    desk.find(QPushButton, "keepingUndoButton").setFocus()
    desk.press(Qt.Key.Key_Return)
    assert desk.last(UndoDelete).session_id == "a"
    assert timer.running is None
    assert not desk.sees("keepingBar")
    desk.done(UndoDelete)
    assert desk.shown() == "a"
    assert desk.last(OpenSession).session_id == "a"
    desk.tell(chat("a"), chat("b"))
    assert desk.lines == ["Today", "Title a", "Title b"]


def test_after_a_while_there_is_no_way_back(desk: Played) -> None:
    open_first(desk)
    desk.action("deleteSessionAction").trigger()
    desk.click("keepingDeleteButton")
    desk.done(DeleteSession)
    desk.tell(chat("b"))
    next(timer for timer in desk.timers.made if timer.running == UNDO_SECONDS * 1000).fire()
    assert not desk.sees("keepingBar")
    assert not desk.action("undoDeleteAction").isEnabled()
    assert desk.lines == ["Today", "Title b"]


def test_several_deleted_chats_come_back_one_after_the_other_the_last_first(desk: Played) -> None:
    desk.welcome(chat("a"), chat("b"), chat("c"))
    for name in "ab":
        desk.controller.keeping.ask_to_delete(name)
        desk.click("keepingDeleteButton")
        desk.done(DeleteSession)
    assert desk.text("keepingText") == "Deleted “Title b”."
    desk.tell(chat("c"))
    desk.action("undoDeleteAction").trigger()
    desk.done(UndoDelete)
    assert desk.text("keepingText") == "Deleted “Title a”."
    desk.tell(chat("b"), chat("c"))
    desk.action("undoDeleteAction").trigger()
    assert [command.session_id for command in desk.all(UndoDelete)] == ["b", "a"]
    # Neither was shown, so neither is shown now.
    desk.done(UndoDelete)
    assert desk.shown() == ""


def test_a_list_that_was_on_its_way_does_not_bring_a_deleted_chat_back(desk: Played) -> None:
    open_first(desk)
    desk.play(SessionsChanged(("b",)))
    desk.action("deleteSessionAction").trigger()
    desk.click("keepingDeleteButton")
    desk.tell(chat("a"), chat("b"))
    assert desk.lines == ["Today", "Title b"]


def test_what_the_engine_refuses_is_said_and_the_chat_is_shown_again(desk: Played) -> None:
    open_first(desk)
    desk.action("deleteSessionAction").trigger()
    desk.click("keepingDeleteButton")
    desk.refuse(DeleteSession, "Another window answers in this chat: it was not deleted.")
    desk.tell(chat("a"), chat("b"))
    assert desk.shown() == "a"
    assert desk.text("noticeText") == "Another window answers in this chat: it was not deleted."
    assert desk.lines == ["Today", "Title a", "Title b"]
    assert not desk.sees("keepingBar")


@pytest.mark.req("T-6", "U-2")
@pytest.mark.parametrize("begins", ["before", "after"])
def test_a_chat_at_work_that_is_not_deleted_goes_on_in_sight(desk: Played, begins: str) -> None:
    """The person was asked before the question was."""
    open_first(desk)
    desk.action("deleteSessionAction").trigger()
    desk.controller.submit("Why?")
    started = TurnStarted("a", "n3", "Title a", "m", request=desk.last(SendMessage).request)
    if begins == "before":
        desk.play(started)
    desk.click("keepingDeleteButton")
    desk.refuse(DeleteSession, "An answer still streams in this chat.")
    if begins == "after":
        desk.play(started)
    desk.play(AnswerText("a", "Because."), TurnFinished("a", "n4", "stop", 1, 1, True))
    conversation = desk.controller.conversation
    assert [message.node_id for message in conversation.messages] == ["n1", "n2", "n3", "n4"]
    assert conversation.messages[-1].source == "Because."


def test_a_way_back_that_came_too_late_is_said(desk: Played) -> None:
    open_first(desk)
    desk.action("deleteSessionAction").trigger()
    desk.click("keepingDeleteButton")
    desk.done(DeleteSession)
    desk.tell(chat("b"))
    desk.click("keepingUndoButton")
    desk.refuse(UndoDelete, "This chat is gone for good.")
    assert desk.text("noticeText") == "This chat is gone for good."
    desk.tell(chat("b"))
    assert desk.lines == ["Today", "Title b"]


def test_a_chat_in_which_an_answer_streams_is_not_asked_about(desk: Played) -> None:
    desk.welcome(chat("a"))
    desk.controller.submit("Why?")
    desk.play(TurnStarted("a", "n1", "Why?", "m", request=desk.last(SendMessage).request))
    desk.controller.keeping.ask_to_delete("a")
    assert not desk.sees("keepingBar")
    assert "stop it" in desk.text("noticeText")


def test_without_an_engine_nothing_is_deleted_and_the_person_is_told(desk: Played) -> None:
    open_first(desk)
    desk.action("deleteSessionAction").trigger()
    desk.controller.engine_ended("It ended.", True)
    desk.click("keepingDeleteButton")
    desk.action("pinAction").trigger()
    assert not desk.all(DeleteSession)
    assert not desk.all(PinSession)
    assert desk.shown() == "a"
    assert desk.lines == ["Today", "Title a", "Title b"]


@pytest.mark.req("T-6")
def test_after_a_crash_the_list_tells_what_was_deleted_and_nothing_is_offered(desk: Played) -> None:
    open_first(desk)
    desk.action("deleteSessionAction").trigger()
    desk.click("keepingDeleteButton")
    desk.done(DeleteSession)
    desk.controller.engine_ended("It ended.", True)
    assert not desk.sees("keepingBar")
    desk.welcome(chat("b"))
    assert desk.lines == ["Today", "Title b"]
    assert desk.text("noticeText") == ""


@pytest.mark.req("U-3")
def test_the_draft_of_a_deleted_chat_is_saved_as_its_own_before_it_goes(desk: Played) -> None:
    open_first(desk)
    desk.window.composer.setFocus()
    desk.type("half a thought")
    desk.action("deleteSessionAction").trigger()
    desk.click("keepingDeleteButton")
    kinds = [type(each).__name__ for each in desk.sent if isinstance(each, SaveDraft | DeleteSession)]
    assert kinds == ["SaveDraft", "DeleteSession"]
    assert desk.last(SaveDraft) == SaveDraft("half a thought", "a", request=desk.last(SaveDraft).request)
    assert desk.window.composer.toPlainText() == ""
    desk.done(DeleteSession)
    desk.tell(chat("b"))
    desk.click("keepingUndoButton")
    desk.done(UndoDelete)
    desk.branch("a", ["n1", "n2"], draft="half a thought")
    assert desk.window.composer.toPlainText() == "half a thought"


@pytest.mark.req("U-3", "T-6")
def test_what_was_typed_in_a_chat_that_another_window_deleted_stands_in_a_new_chat(desk: Played) -> None:
    open_first(desk)
    desk.controller.new_chat()
    desk.window.composer.setPlainText("older")
    desk.click_chat("a")
    desk.branch("a", ["n1", "n2"])
    desk.window.composer.setPlainText("half a thought")
    desk.play(SessionsChanged(("a",)))
    desk.refuse(OpenSession, "There is no such chat.")
    desk.tell(chat("b"))
    assert desk.shown() == ""
    assert desk.text("noticeText").startswith("This chat was deleted in another window.")
    assert desk.window.composer.toPlainText() == "half a thought\n\nolder"
    desk.timers.pass_time()
    assert [each.text for each in desk.all(SaveDraft) if not each.session_id][-1] == "half a thought\n\nolder"


@pytest.mark.req("U-3", "T-6")
def test_what_was_typed_and_not_kept_in_another_deleted_chat_is_not_lost_either(desk: Played) -> None:
    open_first(desk)
    desk.window.composer.setPlainText("half a thought")
    desk.click_chat("b")
    desk.branch("b", ["m1", "m2"])
    desk.play(SessionsChanged(("a",)))
    desk.tell(chat("b"))
    assert desk.shown() == "b"
    assert desk.text("noticeText") == ""
    desk.controller.new_chat()
    assert desk.window.composer.toPlainText() == "half a thought"


@pytest.mark.req("U-3", "T-6")
def test_a_question_that_was_being_edited_in_a_deleted_chat_is_not_lost(desk: Played) -> None:
    open_first(desk)
    desk.window.message_list.set_current_row(0)
    desk.action("editAction").trigger()
    desk.type(" And why?")
    desk.play(SessionsChanged(("a",)))
    desk.tell(chat("b"))
    assert desk.shown() == ""
    assert desk.window.composer.toPlainText() == "The body of n1. And why?"


def test_a_question_about_a_chat_that_another_window_deleted_goes_away(desk: Played) -> None:
    open_first(desk)
    desk.controller.keeping.ask_to_delete("b")
    desk.play(SessionsChanged(("b",)))
    desk.tell(chat("a"))
    assert not desk.sees("keepingBar")


def test_a_chat_is_pinned_and_archived_by_the_menu_of_the_window_and_the_words_say_what_would_happen(
    desk: Played,
) -> None:
    open_first(desk)
    pin, archive = desk.action("pinAction"), desk.action("archiveAction")
    assert (pin.text(), archive.text()) == ("&Pin chat", "&Archive chat")
    pin.trigger()
    assert (desk.last(PinSession).session_id, desk.last(PinSession).pinned) == ("a", True)
    before = len(desk.all(ListSessions))
    desk.done(PinSession)
    assert len(desk.all(ListSessions)) == before + 1
    desk.tell(chat("a", pinned=True), chat("b"))
    assert desk.lines == ["Pinned", "Title a", "Today", "Title b"]
    assert pin.text() == "Un&pin chat"
    archive.trigger()
    assert (desk.last(ArchiveSession).session_id, desk.last(ArchiveSession).archived) == ("a", True)
    desk.refuse(ArchiveSession, "The history is busy.")
    assert desk.text("noticeText") == "The history is busy."


def test_the_menu_of_a_chat_does_all_that_can_be_done_with_it(desk: Played) -> None:
    desk.welcome(chat("a", pinned=True), chat("b", archived=True))
    sessions = desk.window.session_list
    sessions.search("title")
    entries = {}
    for name in "ab":
        menu: QMenu = sessions.context_menu(desk.index(name))
        entries[name] = {action.text(): action for action in menu.actions() if action.text()}
    assert list(entries["a"]) == ["Open", "Rename", "Unpin", "Archive", "Export", "Delete…"]
    assert list(entries["b"]) == ["Open", "Rename", "Pin", "Bring back", "Export", "Delete…"]
    entries["a"]["Unpin"].trigger()
    entries["b"]["Bring back"].trigger()
    assert not desk.last(PinSession).pinned
    assert desk.last(ArchiveSession) == ArchiveSession("b", False, request=desk.last(ArchiveSession).request)
    entries["b"]["Delete…"].trigger()
    assert desk.text("keepingText") == "Delete “Title b” for good?"


def test_while_the_list_has_the_focus_the_actions_are_about_the_chat_that_the_keys_have_reached(desk: Played) -> None:
    open_first(desk)
    desk.window.session_list.setFocus()
    desk.press(Qt.Key.Key_Down)
    desk.action("pinAction").trigger()
    assert desk.last(PinSession).session_id == "b"
    desk.window.composer.setFocus()
    desk.action("pinAction").trigger()
    assert desk.last(PinSession).session_id == "a"


def test_without_a_chat_there_is_nothing_to_do(desk: Played) -> None:
    desk.welcome()
    for name in ("pinAction", "archiveAction", "deleteSessionAction", "exportAction", "undoDeleteAction"):
        assert not desk.action(name).isEnabled(), name


@pytest.mark.req("S-1")
def test_a_hostile_title_is_told_as_it_is_in_the_question(desk: Played) -> None:
    desk.welcome(chat("a", "<b>bold</b>\n\u202etxt" + "x" * 100))
    desk.controller.keeping.ask_to_delete("a")
    label = desk.find(QLabel, "keepingText")
    assert label.textFormat() == Qt.TextFormat.PlainText
    assert desk.text("keepingText").startswith("Delete “<b>bold</b> txtxxx")
    assert desk.text("keepingText").endswith("…” for good?")


@pytest.mark.req("U-5")
def test_the_question_is_seen_though_the_side_was_folded_away(desk: Played) -> None:
    open_first(desk)
    desk.action("chatsAction").trigger()
    assert not desk.sees("sidePane")
    desk.action("deleteSessionAction").trigger()
    assert desk.sees("keepingKeepButton")
    QTest.keyClick(desk.find(QPushButton, "keepingKeepButton"), Qt.Key.Key_Tab, Qt.KeyboardModifier.ShiftModifier)
    assert desk.focus() == "keepingDeleteButton"
