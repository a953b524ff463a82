"""While earlier context is compacted the window says so, offers the way out, and lets the person go on writing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtWidgets import QToolButton, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.commands import (
    VERSION,
    CancelCompaction,
    ChooseModel,
    Compact,
    Retry,
    SendMessage,
    StopTurn,
    SwitchTo,
)
from bibgenie_desktop.protocol.events import CommandDone, CommandFailed, CompactionEnded, TurnStarted, Welcome
from tests.ui.branched import stored, turns
from tests.ui.compacted import Compacted, compacted_window

pytestmark = [pytest.mark.gui, pytest.mark.req("U-2")]

WHY = "Not while earlier context is compacted."
DEEDS = ("retryAction", "editAction", "forkAction", "previousBranchAction", "nextBranchAction")


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[Compacted]:
    with compacted_window(qtbot) as compacted:
        yield compacted


def test_the_banner_says_what_happens_how_far_it_is_and_goes_with_the_end(chat: Compacted) -> None:
    assert chat.banner == ""
    chat.start()
    assert chat.banner == "Compacting earlier context…"
    banner = chat.window.find(QWidget, "compactionBanner")
    height = banner.height()
    said = []
    for phase, piece, pieces in (
        ("preparing", 1, 1),
        ("summarising", 1, 1),
        ("summarising", 2, 5),
        ("checking", 1, 1),
        ("repairing", 1, 1),
        ("committing", 1, 1),
    ):
        chat.progress(phase, piece, pieces)  # type: ignore[arg-type]
        said.append(chat.banner.partition(" · ")[2])
        assert banner.height() == height
    assert said == ["", "", "piece 2 of 5", "checking", "writing it a second time", "storing"]
    chat.end("applied")
    assert chat.banner == ""


@pytest.mark.req("U-5")
def test_the_banner_is_told_to_a_screen_reader_once(chat: Compacted, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(
        QAccessible,
        "updateAccessibility",
        lambda event: told.append(event.message()) if hasattr(event, "message") else None,
    )
    chat.start()
    chat.progress("summarising", 2, 3)
    chat.start()
    assert told == ["Compacting earlier context…"]
    chat.window.click(chat.cancel)
    assert told == ["Compacting earlier context…", "Cancelling…"]
    assert chat.window.find(QWidget, "compactionBanner").accessibleName() == "Compacting earlier context…"


@pytest.mark.req("C-9")
@pytest.mark.parametrize("how", ["click", "enter", "escape", "escape on the page"])
def test_cancel_is_asked_for_at_once_and_once_and_nothing_waits_for_it(chat: Compacted, how: str) -> None:
    window = chat.window
    chat.start()
    chat.progress("summarising", 2, 3)
    match how:
        case "click":
            window.click(chat.cancel)
        case "enter":
            chat.cancel.setFocus()
            window.press(Qt.Key.Key_Return)
        case "escape":
            window.press(Qt.Key.Key_Escape)
        case _:
            window.window.message_list.setFocus()
            window.press(Qt.Key.Key_Escape)
    assert (window.last(CancelCompaction).session_id, window.count(CancelCompaction)) == ("s1", 1)
    assert (chat.cancel.text(), chat.cancel.isEnabled(), chat.banner) == (
        "Cancelling…",
        False,
        "Compacting earlier context…",
    )
    if how == "enter":
        assert window.focus == "composer"
    window.press(Qt.Key.Key_Escape)
    window.take(CommandDone(window.last(CancelCompaction).request))
    window.window.composer.setFocus()
    window.type("typed meanwhile")
    assert (chat.draft, window.count(CancelCompaction)) == ("typed meanwhile", 1)
    chat.end("cancelled", "Compacting was cancelled; the chat is as it was.")
    assert (chat.banner, window.notice) == ("", "Compacting was cancelled; the chat is as it was.")
    chat.start()
    assert (chat.cancel.text(), chat.cancel.isEnabled()) == ("Cancel", True)


@pytest.mark.req("T-4", "C-8")
def test_what_would_move_the_branch_is_disabled_and_says_why_until_the_end(qtbot: QtBot) -> None:
    with compacted_window(qtbot) as chat:
        window = chat.window
        rows = [*turns(2), stored("q3", version=2, beside=("b", "a")), stored("a3", "assistant")]
        window.controller.new_chat()
        window.open_chat(rows)
        window.choose(4)
        assert window.action("editAction").isEnabled()
        chat.start()
        actions = [window.action(name) for name in (*DEEDS, "compactAction")]
        assert not any(action.isEnabled() for action in actions)
        tips = {action.objectName(): action.toolTip() for action in actions}
        assert {tips.pop("compactAction")} == {"Earlier context is being compacted already."}
        # What can never be done with a question says that.
        assert set(tips.values()) - {"A fork begins at an answer."} == {WHY}
        versions = [window.part(4, name) for name in ("previousVersionButton", "nextVersionButton")]
        assert [(each.isEnabled(), each.toolTip()) for each in versions] == [(False, WHY)] * 2
        picker = window.find(QToolButton, "modelPicker")
        assert (picker.isEnabled(), WHY in picker.toolTip()) == (False, True)
        window.controller.branching.switch(window.controller.conversation, "b")
        window.controller.choose_model("another")
        window.action("compactAction").trigger()
        assert window.count(SwitchTo) + window.count(ChooseModel) + window.count(Compact) == 0
        window.window.composer.setFocus()
        window.type("typing is allowed")
        assert chat.draft == "typing is allowed"
        chat.end("applied")
        assert all(window.action(name).isEnabled() for name in ("editAction", "previousBranchAction", "compactAction"))
        assert all(each.isEnabled() for each in versions)
        assert (picker.isEnabled(), WHY in picker.toolTip()) == (True, False)


def test_a_question_that_is_written_in_its_place_is_not_sent_meanwhile(chat: Compacted) -> None:
    window = chat.window
    window.choose(4)
    window.action("editAction").trigger()
    window.type(" in another way")
    chat.start()
    window.rest()
    sending = window.part(4, "editSendButton")
    assert not sending.isEnabled()
    chat.end("applied")
    window.rest()
    assert sending.isEnabled()


@pytest.mark.req("C-3")
@pytest.mark.parametrize("way", ["button", "keys", "menu"])
def test_the_button_the_keys_and_the_menu_compact_and_the_banner_is_there_at_once(chat: Compacted, way: str) -> None:
    window = chat.window
    match way:
        case "button":
            window.click(window.find(QWidget, "compactButton"))
        case "keys":
            window.press(Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        case _:
            window.find(QAction, "compactAction").trigger()
    asked = window.last(Compact)
    assert (asked.session_id, asked.focus, asked.rebuild, asked.without_model) == ("s1", "", False, False)
    assert chat.banner == "Compacting earlier context…"
    assert not window.find(QWidget, "compactButton").isEnabled()
    chat.end("noop", "There is nothing to compact.", request=asked.request)
    assert (chat.banner, window.notice) == ("", "There is nothing to compact.")
    assert window.count(Compact) == 1


def test_one_that_is_refused_leaves_everything_as_it_was_and_says_why(chat: Compacted) -> None:
    window = chat.window
    window.click(window.find(QWidget, "compactButton"))
    window.take(CommandFailed("leased", "Another window is at work in this chat.", window.last(Compact).request))
    assert (chat.banner, window.notice) == ("", "Another window is at work in this chat.")
    assert chat.remedies == ["Try again"]
    assert window.find(QWidget, "compactButton").isEnabled()


def test_one_that_is_refused_as_another_began_just_before_shows_that_to_its_end(chat: Compacted) -> None:
    window = chat.window
    window.click(window.find(QWidget, "compactButton"))
    request = window.last(Compact).request
    window.ask("And now?")
    chat.start()
    window.take(CommandFailed("compacting", "Earlier context is being compacted.", request))
    assert (chat.banner, window.notice, len(chat.waiting)) == ("Compacting earlier context…", "", 2)
    chat.end("applied")
    assert (chat.banner, window.last(SendMessage).text, window.count(SendMessage)) == ("", "And now?", 1)


@pytest.mark.req("T-7")
def test_a_chat_is_not_deleted_while_it_is_compacted(chat: Compacted) -> None:
    window = chat.window
    chat.start()
    window.controller.keeping.ask_to_delete("s1")
    assert window.notice == "Earlier context is compacted in this chat: cancel that before you delete the chat."
    assert not window.find(QWidget, "keepingDeleteButton").isVisible()


def test_a_chat_without_a_question_cannot_be_compacted_and_says_why(chat: Compacted) -> None:
    window = chat.window
    window.controller.new_chat()
    window.rest()
    button = window.find(QToolButton, "compactButton")
    assert (button.isEnabled(), button.toolTip()) == (False, "There is nothing to compact yet.")


@pytest.mark.req("C-13")
def test_what_makes_room_for_a_question_is_shown_and_escape_cancels_it_and_not_the_answer(chat: Compacted) -> None:
    window = chat.window
    window.ask("Large?")
    request = window.last(SendMessage).request
    chat.start("preflight", request=request)
    assert chat.banner == "Compacting earlier context…"
    window.press(Qt.Key.Key_Escape)
    assert (window.count(CancelCompaction), window.count(StopTurn)) == (1, 0)
    sentence = "Compacting was cancelled."
    chat.window.controller.take(CompactionEnded("s1", "preflight", "cancelled", "", sentence, request=request))
    told = "Compacting was cancelled; nothing was sent and your question is kept as the draft."
    window.take(CommandFailed("compaction_cancelled", told, request))
    assert (chat.banner, chat.draft, window.notice) == ("", "Large?", told)
    assert chat.remedies == []


@pytest.mark.req("T-4")
def test_what_makes_room_for_a_retry_does_not_take_the_answers_place(chat: Compacted) -> None:
    window = chat.window
    window.choose(5)
    window.action("retryAction").trigger()
    request = window.last(Retry).request
    chat.start("preflight", request=request)
    chat.window.controller.take(CompactionEnded("s1", "preflight", "applied", "", "Done.", request=request))
    window.take(TurnStarted("s1", "q3", "Title", "m", "retry", "a2", request=request))
    assert window.controller.conversation.answering
    assert window.node_ids[-2:] == ["q3", ""]


@pytest.mark.req("C-9")
def test_a_chat_that_is_opened_while_it_is_compacted_shows_it_and_another_chat_does_not(chat: Compacted) -> None:
    window = chat.window
    chat.start()
    window.controller.new_chat()
    assert chat.banner == ""
    window.controller.open_session("s1")
    assert chat.banner == "Compacting earlier context…"
    # The engine tells it again to whoever opens the chat.
    chat.start()
    chat.progress("summarising", 2, 2)
    assert chat.banner == "Compacting earlier context… · piece 2 of 2"
    window.open_chat(turns(1), session="s2")
    assert chat.banner == ""
    assert window.find(QWidget, "compactButton").isEnabled()
    chat.end("applied")
    window.controller.open_session("s1")
    assert chat.banner == ""


def test_two_chats_are_compacted_each_with_its_own_end(chat: Compacted) -> None:
    window = chat.window
    chat.start()
    window.open_chat(turns(2), session="s2")
    chat.start(session="s2")
    chat.end("failed", "It failed in the first.", session="s1")
    assert (chat.banner, window.notice) == ("Compacting earlier context…", "")
    chat.end("noop", "Nothing in the second.", session="s2")
    assert (chat.banner, window.notice) == ("", "Nothing in the second.")
    window.controller.open_session("s1")
    assert window.notice == "It failed in the first."
    assert chat.remedies == ["Try again"]


def test_each_operation_ends_once(chat: Compacted) -> None:
    window = chat.window
    chat.start()
    chat.end("failed", "It failed.")
    window.controller.say("")
    chat.end("failed", "It failed.")
    assert window.notice == ""


@pytest.mark.req("C-9")
def test_an_engine_that_dies_ends_it(chat: Compacted) -> None:
    window = chat.window
    chat.start()
    window.controller.engine_ended("It ended.", True)
    assert chat.banner == ""
    window.take(Welcome(VERSION, "0", "p", "l", "offline"))
    assert window.notice == "The engine ended while earlier context was compacted; the chat is shown as it is stored."
    assert window.find(QWidget, "compactButton").isEnabled()
