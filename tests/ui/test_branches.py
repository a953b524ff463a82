"""Retry, continue, fork and the way to other versions in the window, against an engine that is played."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.commands import (
    VERSION,
    ContinueAnswer,
    ContinueDamaged,
    Fork,
    OpenSession,
    Retry,
    SendMessage,
    StopTurn,
    SwitchTo,
)
from bibgenie_desktop.protocol.events import (
    AnswerText,
    BranchChanged,
    CommandDone,
    CommandFailed,
    SessionMade,
    SessionsChanged,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Welcome,
)
from bibgenie_desktop.ui.chat.model import MessageRole
from tests.ui.branched import Branched, branched_window, stored, turns
from tests.ui.message_page import text_of

pytestmark = [pytest.mark.gui, pytest.mark.req("T-4")]

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[Branched]:
    with branched_window(qtbot) as branched:
        yield branched


def began(window: Branched, request: int, question: str, parent: str, beginning: str) -> None:
    window.take(TurnStarted("s1", question, "Title", "m", beginning, parent, request))  # type: ignore[arg-type]


def test_the_last_answer_is_made_anew_under_its_question_and_its_versions_are_asked_for_at_the_end(
    window: Branched,
) -> None:
    window.open_chat(turns(2))
    window.press(Qt.Key.Key_R, CTRL)
    asked = window.last(Retry)
    assert (asked.session_id, asked.node_id) == ("s1", "a2")
    assert window.find(QToolButton, "stopButton").isVisible()
    # Once is enough, however often the key is pressed.
    window.press(Qt.Key.Key_R, CTRL)
    assert window.count(Retry) == 1
    window.take(BranchChanged("retry", "s1", "q2", 2, ()))
    began(window, asked.request, "q2", "a1", "retry")
    assert window.node_ids == ["q1", "a1", "q2", ""]
    window.take(AnswerText("s1", "Another answer"))
    opened = window.count(OpenSession)
    window.take(TurnFinished("s1", "a3", "stop", 1, 1, True))
    assert window.count(OpenSession) == opened + 1
    rows = [*turns(2)[:3], stored("a3", "assistant", version=2, beside=("a2", ""))]
    window.branch(rows)
    assert window.shown == ["text of q1", "text of a1", "text of q2", "Another answer"]
    assert "2/2" in window.read(3)
    assert window.part(3, "messageVersions").accessibleName() == "Version 2 of 2"
    model = window.window.message_list.model()
    told = [model.index(3).data(role) for role in (MessageRole.BRANCH_INDEX, MessageRole.BRANCH_COUNT)]
    assert told == [2, 2]


@pytest.mark.parametrize("ends", ["failed", "stopped"])
def test_where_nothing_comes_of_a_retry_the_former_answer_is_shown_again_with_the_reason_above_the_composer(
    window: Branched, ends: str
) -> None:
    window.open_chat(turns(1))
    window.press(Qt.Key.Key_R, CTRL)
    began(window, window.last(Retry).request, "q1", "", "retry")
    assert window.node_ids == ["q1", ""]
    if ends == "failed":
        window.take(TurnFailed("s1", "key", "The key is refused."))
    else:
        window.take(TurnFinished("s1", "", "cancelled", 0, 0, False, "You stopped the answer."))
    assert window.notice == ("The key is refused." if ends == "failed" else "You stopped the answer.")
    window.take(BranchChanged("give_up", "s1", "a1", 3, ()))
    before = len(window.sent)
    window.branch(turns(1))
    assert window.shown == ["text of q1", "text of a1"]
    # Its body was here all the time.
    assert len(window.sent) == before
    assert window.action("retryAction").isEnabled()


def test_a_retry_that_is_refused_leaves_the_page_alone_and_says_why(window: Branched) -> None:
    window.open_chat(turns(1))
    window.press(Qt.Key.Key_R, CTRL)
    window.take(CommandFailed("leased", "Another window answers in this chat.", window.last(Retry).request))
    assert window.notice == "Another window answers in this chat."
    assert window.node_ids == ["q1", "a1"]
    assert window.action("retryAction").isEnabled()
    assert not window.find(QToolButton, "stopButton").isVisible()


def test_a_retry_can_be_stopped_before_it_begins(window: Branched) -> None:
    window.open_chat(turns(1))
    window.press(Qt.Key.Key_R, CTRL)
    window.press(Qt.Key.Key_Escape)
    assert window.last(StopTurn).session_id == "s1"


@pytest.mark.req("U-5")
def test_what_is_not_allowed_on_a_message_says_why_and_does_nothing(window: Branched) -> None:
    window.open_chat([*turns(2), stored("q3"), stored("a3", "assistant", "interrupted")])
    actions = {name: window.action(f"{name}Action") for name in ("retry", "edit", "fork", "continue")}

    def reasons(row: int) -> dict[str, str]:
        window.choose(row)
        return {name: "" if each.isEnabled() else each.toolTip() for name, each in actions.items()}

    assert reasons(1) == {
        "retry": "Only the last answer can be retried; fork here instead.",
        "edit": "",
        "fork": "",
        "continue": "Only the last answer can be continued.",
    }
    assert reasons(0)["retry"] == "Only the last answer can be retried; edit this question instead."
    assert reasons(0)["fork"] == "A fork begins at an answer."
    assert reasons(5)["fork"] == "This answer is not complete: a fork begins at a complete one."
    assert (reasons(5)["retry"], reasons(5)["continue"]) == ("", "")
    window.choose(1)
    window.press(Qt.Key.Key_R, CTRL)
    assert window.count(Retry) == 0
    window.ask("More?")
    busy = "An answer still streams in this chat: wait for it or stop it."
    assert reasons(1) == dict.fromkeys(actions, busy) | {
        "retry": "Only the last answer can be retried; fork here instead.",
        "continue": "Only the last answer can be continued.",
    }


@pytest.mark.req("U-5")
def test_under_a_message_and_in_its_menu_stands_what_has_to_do_with_it_in_one_order(window: Branched) -> None:
    window.open_chat([*turns(1), stored("q2"), stored("a2", "assistant", "cancelled")])

    def under(row: int) -> list[str]:
        window.choose(row)
        bar = window.find(QWidget, "messageActions")
        return [each.text() for each in bar.findChildren(QToolButton) if each.isVisible()]

    assert under(0) == ["Copy", "Edit"]
    assert under(1) == ["Copy", "Retry", "Fork"]
    assert under(3) == ["Copy", "Retry", "Fork", "Continue"]
    menu = window.window.message_list.context_menu("")
    names = [each.objectName() for each in menu.actions() if each.objectName()]
    assert names == ["copyAction", "retryAction", "forkAction", "continueAction"]
    assert menu.toolTipsVisible()
    menu.deleteLater()
    chat = next(each.menu() for each in window.window.menuBar().actions() if each.text() == "&Chat")
    assert isinstance(chat, QMenu)
    keys = {each.objectName(): each.shortcut().toString() for each in chat.actions() if isinstance(each, QAction)}
    assert keys["retryAction"] == "Ctrl+R"
    assert keys["editAction"] == "Ctrl+E"
    assert (keys["previousBranchAction"], keys["nextBranchAction"]) == ("Alt+Left", "Alt+Right")
    assert {"forkAction", "continueAction"} <= keys.keys()


# Versions


def switched(window: Branched, node_id: str) -> None:
    """The engine goes where it was asked to."""
    command = window.last(SwitchTo)
    assert command.node_id == node_id
    window.take(BranchChanged("switch", "s1", "x", 2, ()), CommandDone(command.request))


@pytest.mark.parametrize("way", ["click", "key", "Enter"])
def test_another_version_of_a_message_is_shown_at_the_same_height_on_the_page(window: Branched, way: str) -> None:
    head = turns(6)
    window.texts = {"long": "\n".join(f"line {number}" for number in range(80)), "short": "one line"}
    long = stored("long", "assistant", version=2, beside=("short", ""))
    short = stored("short", "assistant", version=1, beside=("", "long"))
    window.open_chat([*head, stored("q7"), long, *[stored(f"z{n}") for n in range(20)]])
    view = window.window.message_list
    window.choose(13)
    view.scroll_by(-120)
    window.rest()
    top = window.row(13).y()
    assert top > 0
    button = window.part(13, "previousVersionButton")
    if way == "click":
        window.click(button)
    elif way == "key":
        window.press(Qt.Key.Key_Left, ALT)
    else:
        button.setFocus()
        window.press(Qt.Key.Key_Return)
    switched(window, "short")
    window.branch([*head, stored("q7"), short])
    assert window.shown[-1] == "one line"
    assert window.row(13).y() == top
    assert view.current_row == 13
    # The pointer, or the focus, is still where the way back is.
    if way == "Enter":
        assert window.focus == "nextVersionButton"
        window.press(Qt.Key.Key_Return)
    else:
        window.press(Qt.Key.Key_Right, ALT)
    switched(window, "long")
    window.branch([*head, stored("q7"), long, *[stored(f"z{n}") for n in range(20)]])
    assert window.row(13).y() == top
    assert window.read(13).endswith("line 79")


@pytest.mark.req("U-5")
def test_the_first_and_the_last_version_lead_no_further_and_say_so(window: Branched) -> None:
    window.open_chat([stored("q1", version=1, beside=("", "q2")), stored("a1", "assistant")])
    previous = window.part(0, "previousVersionButton")
    assert (previous.isEnabled(), previous.toolTip()) == (False, "This is the first version.")
    assert window.part(0, "nextVersionButton").isEnabled()
    window.choose(1)
    assert not window.action("nextBranchAction").isEnabled()
    assert window.action("nextBranchAction").toolTip() == "There is no other version of this message."
    window.choose(0)
    assert window.action("nextBranchAction").isEnabled()
    assert not window.action("previousBranchAction").isEnabled()


@pytest.mark.req("U-5")
def test_the_ways_to_other_versions_are_reached_with_the_tab_key(window: Branched) -> None:
    window.open_chat([stored("q1", version=2, beside=("q0", "q2")), stored("a1", "assistant")])
    window.choose(0)
    window.press(Qt.Key.Key_Tab)
    assert window.focus == "previousVersionButton"
    window.press(Qt.Key.Key_Tab)
    assert window.focus == "nextVersionButton"
    window.press(Qt.Key.Key_Space)
    assert window.last(SwitchTo).node_id == "q2"


@pytest.mark.req("U-5")
def test_from_right_to_left_the_former_version_lies_at_the_right(window: Branched) -> None:
    window.window.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    window.open_chat([stored("q1", version=2, beside=("q0", "q2")), stored("a1", "assistant")])
    switch = window.part(0, "messageVersions")
    assert window.part(0, "previousVersionButton").x() > window.part(0, "nextVersionButton").x()
    assert switch.geometry().right() <= window.part(0, "messageHeading").x()


def test_without_a_chosen_message_the_keys_go_through_the_last_that_has_versions(window: Branched) -> None:
    window.open_chat([stored("q1", version=2, beside=("q0", "")), stored("a1", "assistant")])
    window.window.composer.setFocus()
    window.press(Qt.Key.Key_Left, ALT)
    assert window.last(SwitchTo).node_id == "q0"


def test_a_switch_that_is_refused_says_why(window: Branched) -> None:
    window.open_chat([stored("q1", version=2, beside=("q0", "")), stored("a1", "assistant")])
    window.press(Qt.Key.Key_Left, ALT)
    window.take(CommandFailed("leased", "Another window answers in this chat.", window.last(SwitchTo).request))
    assert window.notice == "Another window answers in this chat."


@pytest.mark.req("T-6")
@pytest.mark.parametrize("by", ["SessionsChanged", "switch", "give_up", "recover", "retry", "edit", "continue"])
def test_a_branch_that_changed_elsewhere_is_read_again_and_the_readers_place_and_the_draft_stay(
    window: Branched, by: str
) -> None:
    window.open_chat(turns(20), draft="half a thought")
    window.choose(9)
    window.window.message_list.scroll_by(7)
    window.rest()
    top = window.row(10).y()
    changed = SessionsChanged(("s1",)) if by == "SessionsChanged" else BranchChanged(by, "s1", "x", 5, ())
    window.take(changed)
    window.branch(
        [*turns(20)[:-1], stored("other", "assistant", version=2, beside=("a20", ""))], draft="half a thought"
    )
    assert window.node_ids[-1] == "other"
    assert window.row(10).y() == top
    assert window.window.composer.toPlainText() == "half a thought"
    assert window.read(10) == text_of(window.row(10))
    assert "text of q6" in window.read(10)


@pytest.mark.req("T-5")
@pytest.mark.parametrize("asks", ["a question", "a retry", "a question, and another chat is shown"])
def test_a_branch_that_changed_before_what_was_asked_is_refused_is_read_once_that_is_known(
    window: Branched, asks: str
) -> None:
    window.open_chat(turns(2))
    if asks == "a retry":
        window.press(Qt.Key.Key_R, CTRL)
        request = window.last(Retry).request
    else:
        window.ask("Third?")
        request = window.last(SendMessage).request
    window.take(BranchChanged("switch", "s1", "a3", 5, ()))
    read = window.count(OpenSession)
    if asks == "a question, and another chat is shown":
        window.open_chat(turns(1), session="s2")
        read += 1
    window.take(CommandFailed("refused", "Not now.", request))
    if asks == "a question, and another chat is shown":
        window.controller.open_session("s1")
    assert window.count(OpenSession) == read + 1
    window.branch(turns(3))
    assert window.node_ids == ["q1", "a1", "q2", "a2", "q3", "a3"]
    assert window.notice == "Not now."


def test_a_reader_below_a_change_is_taken_to_where_it_is_and_one_whose_message_stays_stays_with_it(
    window: Branched,
) -> None:
    window.open_chat(turns(30))
    window.choose(50)
    window.take(BranchChanged("switch", "s1", "x", 2, ()))
    window.branch([*turns(10), *[stored(f"other{n}") for n in range(60)]])
    assert window.window.message_list.page.top_of(20) == 0
    window.window.message_list.go_to_row(40)
    window.rest()
    top = window.row(40).y()
    message = window.row(40).message
    window.take(BranchChanged("switch", "s1", "x", 3, ()))
    window.branch([*turns(10), stored("inserted"), *[stored(f"other{n}") for n in range(60)]])
    assert window.row(41).message is message
    assert window.row(41).y() == top


# What asks for more


@pytest.mark.req("T-6")
@pytest.mark.parametrize(
    ("reason", "sentence", "offers"),
    [
        ("interrupted", "This answer was interrupted when BibGenie ended. What came is kept.", {"continue", "retry"}),
        ("cancelled", "You stopped this answer. What came is kept.", {"continue", "retry"}),
        ("error", "This answer broke off with an error. What came is kept.", {"continue", "retry"}),
        ("length", "This answer reached the model's output limit and is cut off.", {"continue", "retry"}),
        ("content_filter", "The provider's filter ended this answer.", {"retry"}),
        ("stop", "", set()),
    ],
)
def test_an_answer_that_is_not_whole_says_so_in_words_and_offers_what_can_be_done(
    window: Branched, reason: str, sentence: str, offers: set[str]
) -> None:
    window.open_chat([*turns(1), stored("q2"), stored("a2", "assistant", reason)])
    assert sentence in window.read(3)
    shown = {
        name
        for name in ("continue", "retry")
        if (each := window.row(3).findChild(QWidget, f"{name}Offer")) and each.isVisible()
    }
    assert shown == offers


@pytest.mark.req("T-6")
def test_an_interrupted_answer_goes_on_where_it_ended(window: Branched) -> None:
    window.open_chat([stored("q1"), stored("a1", "assistant", "interrupted")])
    window.click(window.part(1, "continueOffer"))
    asked = window.last(ContinueAnswer)
    assert (asked.session_id, asked.node_id) == ("s1", "a1")
    began(window, asked.request, "q1", "", "continue")
    window.take(AnswerText("s1", "text of a1"), AnswerText("s1", " and more"))
    assert window.shown == ["text of q1", "text of a1 and more"]
    window.take(TurnFinished("s1", "a2", "stop", 1, 1, True))
    window.branch([stored("q1"), stored("a2", "assistant", version=2, beside=("a1", ""))])
    assert "2/2" in window.read(1)
    assert window.shown[-1] == "text of a1 and more"


@pytest.mark.req("T-6")
def test_a_question_without_an_answer_is_answered_now(window: Branched) -> None:
    window.open_chat([*turns(1), stored("q2")])
    assert "This question has no answer yet." in window.read(2)
    offer = window.part(2, "answerOffer")
    window.click(offer)
    assert window.last(Retry).node_id == "q2"
    began(window, window.last(Retry).request, "q2", "a1", "retry")
    assert window.node_ids == ["q1", "a1", "q2", ""]
    assert "no answer yet" not in window.read(2)


@pytest.mark.req("T-6")
def test_a_question_whose_answer_failed_is_answered_now_from_under_what_went_wrong(window: Branched) -> None:
    window.ask("Why?")
    window.take(TurnStarted("s1", "q1", "Why?", "m", request=window.last(SendMessage).request))
    window.take(TurnFailed("s1", "key", "The key is refused."))
    assert "The key is refused." in window.read(1)
    window.click(window.part(1, "answerOffer"))
    assert window.last(Retry).node_id == "q1"
    began(window, window.last(Retry).request, "q1", "", "retry")
    assert window.node_ids == ["q1", ""]
    window.take(AnswerText("s1", "Because."), TurnFinished("s1", "a1", "stop", 1, 1, True))
    window.branch([stored("q1"), stored("a1", "assistant")])
    assert window.shown == ["Why?", "Because."]


@pytest.mark.req("T-6")
def test_what_a_lost_engine_had_said_is_replaced_by_what_was_kept_of_it(window: Branched) -> None:
    window.ask("Why?")
    window.take(TurnStarted("s1", "q1", "Why?", "m", request=window.last(SendMessage).request))
    window.take(AnswerText("s1", "Because of the"))
    window.controller.engine_ended("It ended.", True)
    window.rest()
    assert window.shown == ["Why?", "Because of the"]
    window.texts["a1"] = "Because of"
    window.take(Welcome(VERSION, "0", "p", "l", "offline"))
    window.branch([stored("q1"), stored("a1", "assistant", "interrupted")])
    assert window.shown == ["Why?", "Because of"]
    assert "was interrupted when BibGenie ended" in window.read(1)


@pytest.mark.req("A-5")
def test_what_is_pressed_while_no_engine_answers_says_so(window: Branched) -> None:
    window.open_chat([stored("q1"), stored("a1", "assistant", "interrupted")])
    window.controller.engine_ended("It ended.", True)
    QTest.mouseClick(window.part(1, "continueOffer"), Qt.MouseButton.LeftButton)
    assert window.find(QLabel, "statusLine").accessibleName() == "The engine does not answer yet."
    assert window.count(ContinueAnswer) == 0


# Forks and damaged chats


@pytest.mark.req("T-3")
def test_a_fork_is_opened_says_quietly_what_it_is_and_waits_for_a_question(window: Branched) -> None:
    window.open_chat(turns(3), draft="half a thought")
    window.choose(1)
    window.action("forkAction").trigger()
    asked = window.last(Fork)
    assert (asked.session_id, asked.node_id) == ("s1", "a1")
    window.take(SessionMade("s2", "Title", asked.request))
    assert window.controller.conversation.session_id == "s2"
    window.branch(turns(1), session="s2")
    assert window.notice == "This is a fork of “Title”: that chat stays as it is."
    assert window.focus == "composer"
    assert window.window.composer.toPlainText() == ""
    window.type("N")
    assert window.notice == ""
    window.controller.open_session("s1")
    window.branch(turns(3), draft="half a thought")
    assert window.window.composer.toPlainText() == "half a thought"


@pytest.mark.req("T-3")
def test_a_fork_that_is_refused_says_why(window: Branched) -> None:
    window.open_chat(turns(1))
    window.action("forkAction").trigger()
    window.take(CommandFailed("not_allowed", "This answer is not complete.", window.last(Fork).request))
    assert window.notice == "This answer is not complete."
    assert window.controller.conversation.session_id == "s1"


DAMAGE = "A message of this chat cannot be read; what stands above it is safe."


@pytest.mark.req("T-5")
def test_a_damaged_chat_can_only_be_read_keeps_the_draft_and_goes_on_in_a_new_chat(window: Branched) -> None:
    window.open_chat([*turns(1), stored("q2")], damage=DAMAGE)
    assert window.notice == DAMAGE
    assert not window.find(QToolButton, "noticeCloseButton").isVisible()
    for name in ("retry", "edit"):
        assert not window.action(f"{name}Action").isEnabled()
        assert window.action(f"{name}Action").toolTip() == "This chat is damaged and can only be read."
    assert "no answer yet" not in window.read(2)
    window.ask("And now?")
    assert window.count(SendMessage) == 0
    assert window.notice == "This chat is damaged and can only be read; your question stays here."
    assert window.window.composer.toPlainText() == "And now?"
    window.click(window.find(QToolButton, "noticeCloseButton"))
    assert window.notice == DAMAGE
    window.choose(1)
    assert window.action("forkAction").isEnabled()
    window.click(window.find(QPushButton, "continueDamagedButton"))
    asked = window.last(ContinueDamaged)
    window.take(SessionMade("s2", "Title", asked.request))
    window.branch(turns(1), session="s2")
    assert window.notice == "This goes on where “Title” can still be read; that chat stays as it is."
    assert window.action("retryAction").isEnabled()
