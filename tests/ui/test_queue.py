"""Questions sent while an answer streams wait in sight, are sent once, and come back where nothing is to be sent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.commands import SaveDraft, SendMessage
from bibgenie_desktop.protocol.events import (
    AnswerText,
    CommandDone,
    CommandFailed,
    SessionsChanged,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from bibgenie_desktop.protocol.values import BranchRow
from bibgenie_desktop.ui.queue import MOST_QUEUED
from tests.ui.branched import Branched, branched_window, stored, turns

pytestmark = [pytest.mark.gui, pytest.mark.req("U-2")]


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[Branched]:
    with branched_window(qtbot) as branched:
        branched.open_chat(turns(1))
        branched.ask("First?")
        begin(branched, "q2")
        yield branched


def begin(window: Branched, node_id: str) -> None:
    window.take(TurnStarted("s1", node_id, "Title", "m", request=window.last(SendMessage).request))


def waiting(window: Branched) -> list[str]:
    """What is shown to wait."""
    bar = window.find(QWidget, "queueBar")
    labels = [each for each in bar.findChildren(QLabel, "queuedQuestion") if each.isVisible()]
    return [label.accessibleName() for label in labels] if bar.isVisible() else []


def draft(window: Branched) -> str:
    return window.window.composer.toPlainText()


def finished(reason: str = "stop") -> TurnFinished:
    return TurnFinished("s1", "a2", reason, 1, 1, True)


def test_questions_wait_in_sight_and_are_sent_one_after_the_other_each_once(window: Branched) -> None:
    window.ask("Second?")
    window.ask("Third?")
    assert window.count(SendMessage) == 1
    assert (waiting(window), draft(window)) == (["Second?", "Third?"], "")
    window.type("typed")
    window.take(finished())
    asked = window.last(SendMessage)
    # What is in the draft is left alone.
    assert (asked.text, asked.session_id, asked.is_draft) == ("Second?", "s1", False)
    assert (waiting(window), draft(window)) == (["Third?"], "typed")
    begin(window, "q3")
    assert window.shown[-2] == "Second?"
    window.take(TurnFinished("s1", "a3", "stop", 1, 1, True))
    assert window.last(SendMessage).text == "Third?"
    assert waiting(window) == []
    begin(window, "q4")
    window.take(TurnFinished("s1", "a4", "stop", 1, 1, True))
    assert window.count(SendMessage) == 3
    assert draft(window) == "typed"


@pytest.mark.req("U-3")
@pytest.mark.parametrize("ends", ["failed", "stopped", "crashed", "refused"])
def test_where_the_answer_does_not_end_well_what_waits_stands_above_what_was_typed(window: Branched, ends: str) -> None:
    window.ask("Second?")
    window.ask("Third?")
    window.type("typed")
    match ends:
        case "failed":
            window.take(TurnFailed("s1", "key", "The key is refused."))
        case "stopped":
            window.take(finished("cancelled"))
        case "crashed":
            window.controller.engine_ended("It ended.", True)
        case _:
            window.take(finished())
            window.take(CommandFailed("key", "There is no key.", window.last(SendMessage).request))
    window.rest()
    assert draft(window) == "Second?\n\nThird?\n\ntyped"
    assert waiting(window) == []
    assert window.count(SendMessage) == (2 if ends == "refused" else 1)


def test_what_waits_is_changed_in_the_composer_or_removed(window: Branched) -> None:
    window.ask("Second?")
    window.ask("Third?")
    window.type("typed")
    window.click(window.find(QPushButton, "queueEditButton0"))
    assert (waiting(window), draft(window)) == (["Third?"], "Second?\n\ntyped")
    assert window.focus == "composer"
    window.click(window.find(QPushButton, "queueRemoveButton0"))
    assert (waiting(window), draft(window)) == ([], "Second?\n\ntyped")
    window.take(finished())
    assert window.count(SendMessage) == 1


def test_only_so_many_wait_and_the_next_one_stays_in_the_composer(window: Branched) -> None:
    for number in range(MOST_QUEUED):
        window.ask(f"{number}?")
    window.ask("Too many?")
    assert len(waiting(window)) == MOST_QUEUED
    assert draft(window) == "Too many?"
    assert "No more questions can wait" in window.notice


def test_what_waits_belongs_to_its_chat_and_is_sent_while_another_is_shown(window: Branched) -> None:
    window.ask("Second?")
    window.open_chat(turns(1), session="s2")
    assert waiting(window) == []
    assert window.find(QToolButton, "sendButton").isVisible()
    window.take(AnswerText("s1", "streams on"))
    window.controller.open_session("s1")
    window.rest()
    assert waiting(window) == ["Second?"]
    assert window.shown[-1] == "streams on"
    window.controller.open_session("s2")
    window.take(finished())
    asked = window.last(SendMessage)
    assert (asked.text, asked.session_id) == ("Second?", "s1")
    begin(window, "q3")
    window.take(AnswerText("s1", "to the second"))
    window.controller.open_session("s1")
    window.rest()
    assert window.shown[-2:] == ["Second?", "to the second"]


@pytest.mark.req("U-3")
def test_what_waits_is_kept_with_the_stored_draft_so_that_no_end_of_the_window_costs_it(window: Branched) -> None:
    window.ask("Second?")
    window.type("typed")
    window.rest()
    assert window.last(SaveDraft).text == "Second?\n\ntyped"
    window.take(finished())
    assert (window.last(SaveDraft).session_id, window.last(SaveDraft).text) == ("s1", "typed")
    begin(window, "q3")
    window.ask("Last?")
    assert window.last(SaveDraft).text == "typedLast?"
    window.controller.close()
    assert not window.controller.unsaved


@pytest.mark.req("U-3")
def test_a_question_that_waits_behind_the_first_of_a_new_chat_goes_with_it(qtbot: QtBot) -> None:
    with branched_window(qtbot) as window:
        window.ask("First?")
        window.ask("Second?")
        window.type("typed")
        assert waiting(window) == ["Second?"]
        begin(window, "q1")
        assert waiting(window) == ["Second?"]
        saved = [(each.session_id, each.text) for each in window.sent if isinstance(each, SaveDraft)]
        assert saved[-2:] == [("s1", "Second?\n\ntyped"), ("", "")]
        window.take(TurnFinished("s1", "a1", "stop", 1, 1, True))
        assert (window.last(SendMessage).text, window.last(SendMessage).session_id) == ("Second?", "s1")


@pytest.mark.req("U-3")
def test_what_waits_in_a_new_chat_that_was_left_is_kept_with_that_chat_and_no_other(qtbot: QtBot) -> None:
    with branched_window(qtbot) as window:
        window.ask("First?")
        window.ask("Second?")
        window.controller.new_chat()
        window.type("of another chat")
        begin(window, "q1")
        saved = {each.session_id: each.text for each in window.sent if isinstance(each, SaveDraft)}
        assert saved == {"": "of another chat", "s1": "Second?"}
        window.take(TurnFinished("s1", "a1", "stop", 1, 1, True))
        assert (window.last(SendMessage).text, window.last(SendMessage).session_id) == ("Second?", "s1")
        assert draft(window) == "of another chat"


@pytest.mark.req("U-2", "U-3")
@pytest.mark.parametrize("rows", [[], [stored("q1")]], ids=["before it is read", "after it was read"])
def test_a_new_chat_that_is_opened_from_the_list_before_its_answer_begins_shows_it_and_sends_what_waits(
    qtbot: QtBot, rows: list[BranchRow]
) -> None:
    """The list may tell of it first."""
    with branched_window(qtbot) as window:
        window.ask("First?")
        asked = window.last(SendMessage)
        window.ask("Second?")
        window.controller.open_session("s1")
        if rows:
            window.branch(rows)
        window.take(TurnStarted("s1", "q1", "Title", "m", request=asked.request))
        if not rows:
            window.branch([stored("q1")])
        window.take(AnswerText("s1", "to the first"))
        assert (window.node_ids, window.shown[-1], waiting(window)) == (["q1", ""], "to the first", ["Second?"])
        window.take(TurnFinished("s1", "a1", "stop", 1, 1, True))
        assert window.node_ids[:2] == ["q1", "a1"]
        sent = window.last(SendMessage)
        assert (sent.text, sent.session_id, waiting(window)) == ("Second?", "s1", [])


@pytest.mark.req("T-6", "U-3")
@pytest.mark.parametrize("begins", ["before the draft is told", "after that"])
def test_a_question_that_is_sent_while_the_stored_draft_is_on_its_way_replaces_nothing_of_it(
    qtbot: QtBot, begins: str
) -> None:
    """The window may never hear of the words in it: the engine may be killed meanwhile."""
    with branched_window(qtbot) as window:
        window.controller.open_session("s1")
        window.ask("Why?")
        assert (window.last(SendMessage).text, window.last(SendMessage).is_draft) == ("Why?", False)
        if begins == "before the draft is told":
            begin(window, "q2")
        window.branch(turns(1), draft="of another window")
        if begins == "after that":
            begin(window, "q2")
        assert draft(window) == "of another window"
        assert window.last(SaveDraft).text == "of another window"


@pytest.mark.req("U-3")
def test_what_was_saved_of_a_question_before_it_was_sent_goes_from_the_draft_that_is_read_meanwhile(
    qtbot: QtBot,
) -> None:
    with branched_window(qtbot) as window:
        window.open_chat(turns(1))
        window.type("Wh")
        window.rest()
        window.take(CommandDone(window.last(SaveDraft).request), SessionsChanged(("s1",)))
        window.type("y?")
        window.controller.submit("Why?")
        assert window.last(SendMessage).is_draft is False
        window.branch(turns(1), draft="Wh")
        assert draft(window) == ""
        assert window.last(SaveDraft).text == ""


@pytest.mark.req("T-6", "U-3")
def test_what_waits_in_a_new_chat_that_was_left_stays_in_the_stored_draft_when_another_question_is_sent(
    qtbot: QtBot,
) -> None:
    """At once, as the engine keeps of the new chat's draft that question alone until it takes it."""
    with branched_window(qtbot) as window:
        window.ask("First?")
        window.ask("Second?")
        window.controller.new_chat()
        window.type("Elsewhere?")
        window.controller.submit("Elsewhere?")
        [asked, saved] = window.sent[-2:]
        assert isinstance(asked, SendMessage)
        assert (asked.text, asked.is_draft) == ("Elsewhere?", True)
        assert isinstance(saved, SaveDraft)
        assert (saved.session_id, saved.text) == ("", "Second?")


@pytest.mark.req("U-3")
def test_a_first_question_that_is_refused_comes_back_above_those_that_wait(qtbot: QtBot) -> None:
    with branched_window(qtbot) as window:
        window.ask("First?")
        window.ask("Second?")
        window.type("typed")
        window.take(CommandFailed("key", "There is no key.", window.last(SendMessage).request))
        assert draft(window) == "First?\n\nSecond?\n\ntyped"
        assert waiting(window) == []


@pytest.mark.req("U-5")
def test_what_waits_is_named_and_reached_with_the_tab_key(window: Branched) -> None:
    window.ask("Second?")
    button = window.find(QPushButton, "queueRemoveButton0")
    assert button.accessibleName() == "Remove: Second?"
    button.setFocus()
    window.press(Qt.Key.Key_Space)
    assert waiting(window) == []
    assert window.focus == "composer"


@pytest.mark.req("U-3")
@pytest.mark.parametrize("first", [0, 1])
def test_what_waits_in_two_new_chats_is_all_kept_whichever_begins_first(qtbot: QtBot, first: int) -> None:
    with branched_window(qtbot) as window:
        asked: list[SendMessage] = []
        for name in ("one", "two"):
            window.controller.new_chat()
            window.ask(f"{name}?")
            asked.append(window.last(SendMessage))
            window.ask(f"{name} waits?")
        window.rest()
        assert window.last(SaveDraft).text == "one waits?\n\ntwo waits?"
        for number in (first, 1 - first):
            window.take(TurnStarted(f"n{number}", f"q{number}", "Title", "m", request=asked[number].request))
            window.rest()
            saved = {each.session_id: each.text for each in window.sent if isinstance(each, SaveDraft)}
            expected = {f"n{number}": f"{('one', 'two')[number]} waits?"}
            assert expected.items() <= saved.items()
            left = "" if number != first else f"{('one', 'two')[1 - first]} waits?"
            assert saved[""] == left
