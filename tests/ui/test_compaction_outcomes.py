"""What came of a compaction is one sentence, with the ways on that there are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.commands import Compact, FetchRefusedText, Retry, SendMessage
from bibgenie_desktop.protocol.events import (
    BranchChanged,
    CheckpointText,
    CommandFailed,
    DraftAdded,
    TurnFailed,
    TurnStarted,
)
from bibgenie_desktop.sessions.checkpoints import Outcome
from tests.ui.branched import turns
from tests.ui.compacted import Compacted, compacted_window

pytestmark = [pytest.mark.gui, pytest.mark.req("C-14", "C-7")]

SENTENCE = "The summary was not usable: two sections are missing. The chat is as it was."


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[Compacted]:
    with compacted_window(qtbot) as compacted:
        yield compacted


@pytest.mark.parametrize("outcome", ["applied", "noop"])
def test_a_good_end_is_told_quietly_and_the_sentence_goes_by_itself(chat: Compacted, outcome: Outcome) -> None:
    request = chat.begin_by_hand()
    chat.end(outcome, "There is nothing new to compact.", request=request)
    assert (chat.window.notice, chat.remedies) == ("There is nothing new to compact.", [])
    assert chat.window.find(QWidget, "noticeBar").property("quiet") is True
    chat.window.rest()
    assert chat.window.notice == ""


@pytest.mark.parametrize(
    ("outcome", "run_id", "without_model", "offered"),
    [
        ("failed", "", False, ["Try again"]),
        ("failed", "", True, ["Try again", "Compact without a model"]),
        ("failed", "run1", True, ["Try again", "Compact without a model", "Read the refused summary"]),
        ("stale", "", False, ["Try again"]),
        ("skipped", "", False, []),
    ],
)
def test_another_end_stays_in_sight_with_what_can_be_done(
    chat: Compacted, outcome: Outcome, run_id: str, without_model: bool, offered: list[str]
) -> None:
    chat.start()
    chat.end(outcome, SENTENCE, run_id=run_id, without_model=without_model)
    chat.window.rest()
    assert (chat.window.notice, chat.remedies) == (SENTENCE, offered)
    assert chat.window.find(QWidget, "noticeBar").property("quiet") is not True
    if offered:
        chat.window.type("Who goes on writing has not answered it.")
        assert chat.remedies == offered
    chat.window.click(chat.window.find(QWidget, "noticeCloseButton"))
    assert (chat.window.notice, chat.remedies) == ("", [])


def test_what_the_person_cancelled_is_told_quietly_and_nothing_is_offered(chat: Compacted) -> None:
    chat.start()
    chat.end("cancelled", "Compacting was cancelled; the chat is as it was.")
    chat.window.rest()
    assert (chat.window.notice, chat.remedies) == ("Compacting was cancelled; the chat is as it was.", [])
    assert chat.window.find(QWidget, "noticeBar").property("quiet") is True
    chat.window.type("On with it.")
    assert chat.window.notice == ""


@pytest.mark.parametrize("outcome", ["failed", "stale"])
def test_what_made_no_room_for_a_question_offers_the_ways_on_with_what_became_of_it(
    chat: Compacted, outcome: Outcome
) -> None:
    window = chat.window
    window.ask("Large?")
    request = window.last(SendMessage).request
    chat.start("preflight", request=request)
    chat.end(outcome, SENTENCE, without_model=outcome == "failed", request=request)
    told = f"{SENTENCE.rstrip('.')}; nothing was sent and your question is kept as the draft."
    window.take(CommandFailed(f"compaction_{outcome}", told, request))
    offered = ["Try again", "Compact without a model"] if outcome == "failed" else ["Try again"]
    assert (chat.draft, window.notice, chat.remedies) == ("Large?", told, offered)


def test_to_try_again_asks_for_the_same_once_more(chat: Compacted) -> None:
    chat.window.ask("/compact the methods")
    asked = chat.window.last(Compact)
    chat.end("failed", SENTENCE, without_model=True, request=asked.request)
    chat.press_remedy("compactAgainButton")
    again = chat.window.last(Compact)
    assert (again.focus, again.without_model, chat.window.count(Compact)) == ("the methods", False, 2)
    assert (chat.window.notice, chat.banner != "", chat.window.focus) == ("", True, "composer")


@pytest.mark.req("D-12")
def test_to_do_without_a_model_is_offered_and_never_done_unasked(chat: Compacted) -> None:
    chat.start()
    chat.end("failed", SENTENCE, without_model=True)
    chat.window.rest()
    assert chat.window.count(Compact) == 0
    button = chat.window.find(QPushButton, "compactWithoutModelButton")
    button.setFocus()
    chat.window.press(Qt.Key.Key_Return)
    assert (chat.window.last(Compact).without_model, chat.window.count(Compact)) == (True, 1)


@pytest.mark.req("D-6")
def test_a_refused_summary_is_read_and_used_all_the_same(chat: Compacted) -> None:
    window = chat.window
    chat.start()
    chat.end("failed", SENTENCE, run_id="run1")
    chat.press_remedy("readRefusedButton")
    asked = window.last(FetchRefusedText)
    assert (asked.session_id, asked.run_id) == ("s1", "run1")
    use = window.find(QPushButton, "useRefusedButton")
    assert not use.isEnabled()
    hostile = '## Research Goal\n<img src="file:///etc/passwd"><b>x</b> ![y](http://evil.example/z.png)'
    window.take(CheckpointText("s1", "", "refused", hostile[:20], True, asked.request))
    window.take(CheckpointText("s1", "", "refused", hostile[20:], False, asked.request))
    view = window.find(QTextEdit, "refusedSummary")
    assert view.toPlainText() == hostile
    assert window.find(QLabel, "refusedWhy").text().replace("\u200b", "") == SENTENCE
    window.click(use)
    accepted = window.last(Compact)
    assert (accepted.accept_run_id, accepted.session_id, chat.banner != "") == ("run1", "s1", True)
    chat.end("applied", "It is used.", request=accepted.request)
    assert window.notice == "It is used."


@pytest.mark.req("D-6")
def test_a_refused_summary_that_is_gone_says_so(chat: Compacted) -> None:
    window = chat.window
    chat.start()
    chat.end("failed", SENTENCE, run_id="run1")
    chat.press_remedy("readRefusedButton")
    window.take(CommandFailed("refused", "That summary is gone.", window.last(FetchRefusedText).request))
    assert window.find(QLabel, "refusedWhy").text() == "That summary is gone."
    assert not window.find(QPushButton, "useRefusedButton").isEnabled()


@pytest.mark.req("D-1", "C-15")
@pytest.mark.parametrize("outcome", ["applied", "failed"])
def test_after_a_refusal_as_too_large_one_click_compacts_and_sends_again(chat: Compacted, outcome: Outcome) -> None:
    window = chat.window
    window.ask("Too large?")
    window.take(TurnStarted("s1", "q4", "Title", "m", request=window.last(SendMessage).request))
    window.take(DraftAdded("s1", "Too large?"), BranchChanged("take_back", "s1", "a3", 3, ()))
    window.take(TurnFailed("s1", "context_overflow", "It was too large. Your question is in the box again."))
    window.branch(turns(3), draft="Too large?")
    assert window.node_ids == ["q1", "a1", "q2", "a2", "q3", "a3"]
    assert (chat.draft, chat.remedies) == ("Too large?", ["Compact and send again"])
    assert (window.count(SendMessage), window.count(Compact)) == (1, 0)
    chat.press_remedy("compactAndSendButton")
    assert chat.waiting == ["Waits until the context is compacted", "Too large?"]
    assert (chat.draft, window.notice, window.count(Compact)) == ("", "", 1)
    chat.end(outcome, SENTENCE, request=window.last(Compact).request)
    if outcome == "applied":
        assert (window.last(SendMessage).text, window.count(SendMessage), chat.draft) == ("Too large?", 2, "")
    else:
        assert (window.count(SendMessage), chat.draft, window.notice) == (1, "Too large?", SENTENCE)


@pytest.mark.req("D-1", "C-15")
def test_a_question_that_was_not_taken_as_too_large_offers_the_same(chat: Compacted) -> None:
    window = chat.window
    window.ask("Too large?")
    window.take(CommandFailed("context_overflow", "It was too large.", window.last(SendMessage).request))
    assert (chat.draft, window.notice, chat.remedies) == ("Too large?", "It was too large.", ["Compact and send again"])


@pytest.mark.req("D-1", "C-15")
def test_where_no_question_was_taken_back_it_is_only_compacted(chat: Compacted) -> None:
    window = chat.window
    window.choose(5)
    window.action("retryAction").trigger()
    request = window.last(Retry).request
    window.take(TurnStarted("s1", "q3", "Title", "m", "retry", "a2", request=request))
    window.take(BranchChanged("give_up", "s1", "a3", 3, ()), TurnFailed("s1", "context_overflow", "It was too large."))
    window.branch(turns(3))
    assert (chat.draft, window.notice, chat.remedies) == ("", "It was too large.", ["Compact earlier context"])
    chat.press_remedy("compactFirstButton")
    assert (window.count(Compact), chat.waiting, chat.banner != "") == (1, [], True)


@pytest.mark.req("C-13")
def test_what_does_not_fit_even_so_offers_no_compaction(chat: Compacted) -> None:
    window = chat.window
    window.ask("Too large?")
    window.take(CommandFailed("too_large", "It is too large even so.", window.last(SendMessage).request))
    assert (chat.draft, window.notice, chat.remedies) == ("Too large?", "It is too large even so.", [])


def test_another_sentence_has_none_of_its_ways_on(chat: Compacted) -> None:
    chat.start()
    chat.end("failed", SENTENCE, without_model=True)
    chat.window.controller.say("Something else went wrong.")
    assert (chat.window.notice, chat.remedies) == ("Something else went wrong.", [])


@pytest.mark.req("U-5")
def test_the_ways_on_stand_one_under_the_other_where_there_is_no_room(chat: Compacted) -> None:
    chat.start()
    chat.end("failed", SENTENCE, run_id="run1", without_model=True)
    names = ("compactAgainButton", "compactWithoutModelButton", "readRefusedButton")
    buttons = [chat.window.find(QPushButton, name) for name in names]
    chat.window.window.resize(chat.window.window.minimumSize())
    QApplication.processEvents()
    bar = chat.window.find(QWidget, "noticeBar")
    places = [QRect(button.mapTo(bar, QPoint(0, 0)), button.size()) for button in buttons]
    assert all(bar.rect().contains(place) for place in places)
    assert not any(one.intersects(other) for one in places for other in places if one is not other)
