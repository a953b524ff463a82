"""A question sent while earlier context is compacted waits, frozen; it is sent once, or stands in the box again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.commands import VERSION, Compact, SaveDraft, SendMessage
from bibgenie_desktop.protocol.events import CommandFailed, TurnFinished, TurnStarted, Welcome
from bibgenie_desktop.sessions.checkpoints import Outcome
from tests.ui.branched import branched_window, turns
from tests.ui.compacted import Compacted, compacted_window

pytestmark = [pytest.mark.gui, pytest.mark.req("U-2")]

WAITS = "Waits until the context is compacted"
NOTHING_SENT: tuple[Outcome, ...] = ("failed", "cancelled", "stale", "skipped")


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[Compacted]:
    with compacted_window(qtbot) as compacted:
        yield compacted


def sent(chat: Compacted) -> list[str]:
    return [each.text for each in chat.window.sent if isinstance(each, SendMessage)]


def commit(chat: Compacted, text: str) -> None:
    """An input method ends with this."""
    committed = QInputMethodEvent("", [])
    committed.setCommitString(text)
    QApplication.sendEvent(chat.window.window.composer, committed)


def begin(chat: Compacted, node_id: str = "q4", session: str = "s1") -> None:
    """The engine takes the question that was sent last."""
    chat.window.take(TurnStarted(session, node_id, "Title", "m", request=chat.window.last(SendMessage).request))


@pytest.mark.parametrize("outcome", ["applied", "noop"])
def test_it_waits_in_sight_and_is_sent_by_itself_once_after_an_end_that_is_well(
    chat: Compacted, outcome: Outcome
) -> None:
    chat.start()
    chat.window.ask("And now?")
    assert (sent(chat), chat.waiting, chat.draft) == ([], [WAITS, "And now?"], "")
    chat.window.type("typed meanwhile")
    chat.end(outcome)
    assert (sent(chat), chat.waiting, chat.draft) == (["And now?"], [], "typed meanwhile")
    asked = chat.window.last(SendMessage)
    assert (asked.session_id, asked.is_draft) == ("s1", False)
    assert chat.window.shown[-1] == "And now?"
    chat.end(outcome)
    begin(chat)
    chat.window.take(TurnFinished("s1", "a4", "stop", 1, 1, True))
    chat.start()
    chat.end(outcome)
    chat.window.rest()
    assert (sent(chat), chat.draft) == (["And now?"], "typed meanwhile")


@pytest.mark.req("U-3")
@pytest.mark.parametrize("outcome", NOTHING_SENT)
def test_after_any_other_end_nothing_is_sent_and_it_stands_above_what_was_typed(
    chat: Compacted, outcome: Outcome
) -> None:
    chat.start()
    chat.window.ask("And now?")
    chat.window.type("typed meanwhile")
    chat.end(outcome, "Why nothing came of it.")
    chat.window.rest()
    assert (sent(chat), chat.waiting, chat.draft) == ([], [], "And now?\n\ntyped meanwhile")
    assert chat.window.notice == "Why nothing came of it."
    # Who is typing goes on where they are.
    chat.window.type(" and on")
    assert chat.draft == "And now?\n\ntyped meanwhile and on"
    assert chat.window.last(SaveDraft).text == "And now?\n\ntyped meanwhile and on"


@pytest.mark.req("U-3")
def test_what_is_being_composed_is_not_disturbed_by_what_comes_back(chat: Compacted) -> None:
    chat.start()
    commit(chat, "观察者的努力随季节变化吗？")
    chat.window.press(Qt.Key.Key_Return)
    assert chat.waiting == [WAITS, "观察者的努力随季节变化吗？"]
    composer = chat.window.window.composer
    QApplication.sendEvent(composer, QInputMethodEvent("nihao", []))
    chat.end("cancelled", "Compacting was cancelled.")
    commit(chat, "你好")
    chat.window.rest()
    assert sorted(chat.draft.split("\n\n")) == sorted(["观察者的努力随季节变化吗？", "你好"])
    assert sent(chat) == []


def test_enter_belongs_to_the_input_method_while_it_composes(chat: Compacted) -> None:
    chat.start()
    composer = chat.window.window.composer
    QApplication.sendEvent(composer, QInputMethodEvent("nihao", []))
    chat.window.press(Qt.Key.Key_Return)
    assert chat.waiting == []


def test_what_enter_does_is_told_where_it_is_about_to_be_pressed(chat: Compacted) -> None:
    hint = chat.window.find(QLabel, "composerHint")
    before = hint.accessibleName()
    chat.start()
    assert hint.accessibleName() == "Enter lets it wait until the context is compacted"
    chat.end("noop")
    assert hint.accessibleName() == before == "Enter sends, Shift+Enter begins a new line"


def test_it_is_taken_back_to_be_changed_and_cannot_be_changed_in_its_place(chat: Compacted) -> None:
    window = chat.window
    chat.start()
    window.ask("And now?")
    window.type("typed meanwhile")
    buttons = [each for each in window.find(QWidget, "queueBar").findChildren(QPushButton) if each.isVisible()]
    assert [each.text() for each in buttons] == ["Take back"]
    assert buttons[0].accessibleName() == "Take back: And now?"
    window.click(buttons[0])
    assert (chat.waiting, chat.draft, window.focus) == ([], "And now?\n\ntyped meanwhile", "composer")
    chat.end("applied")
    assert sent(chat) == []
    assert chat.draft == "And now?\n\ntyped meanwhile"


def test_one_question_waits_at_most_and_the_next_stays_in_the_box(chat: Compacted) -> None:
    chat.start()
    chat.window.ask("First?")
    chat.window.ask("Second?")
    assert (chat.waiting, chat.draft) == ([WAITS, "First?"], "Second?")
    assert chat.window.notice == "One question waits already: take it back to change it."
    chat.end("applied")
    assert (sent(chat), chat.draft) == (["First?"], "Second?")


def test_a_question_that_was_sent_before_the_end_of_one_that_was_asked_for_waits_too(chat: Compacted) -> None:
    """From the moment on in which the person asked for it, whatever the engine told by then."""
    chat.window.click(chat.window.find(QWidget, "compactButton"))
    chat.window.ask("And now?")
    assert (sent(chat), chat.waiting) == ([], [WAITS, "And now?"])
    chat.window.take(CommandFailed("leased", "Another window is at work.", 0))
    chat.window.take(CommandFailed("leased", "Another window is at work.", chat.window.last(Compact).request))
    assert (sent(chat), chat.waiting, chat.draft) == ([], [], "And now?")


def test_it_belongs_to_its_chat_and_is_sent_while_another_is_shown(chat: Compacted) -> None:
    window = chat.window
    chat.start()
    window.ask("Of the first?")
    window.open_chat(turns(1), session="s2")
    assert chat.waiting == []
    window.ask("Of the second?")
    begin(chat, "q2", "s2")
    assert sent(chat) == ["Of the second?"]
    window.controller.open_session("s1")
    assert (chat.waiting, chat.banner != "") == ([WAITS, "Of the first?"], True)
    window.controller.open_session("s2")
    chat.end("applied")
    asked = window.last(SendMessage)
    assert (asked.text, asked.session_id, len(sent(chat))) == ("Of the first?", "s1", 2)
    begin(chat)
    window.controller.open_session("s1")
    window.rest()
    assert window.controller.conversation.answering
    assert "Of the first?" in window.shown


@pytest.mark.req("U-3")
def test_where_its_chat_is_not_shown_it_stands_in_that_chats_box_when_nothing_is_sent(chat: Compacted) -> None:
    window = chat.window
    chat.start()
    window.ask("Of the first?")
    window.open_chat(turns(1), session="s2")
    chat.end("stale", "The chat changed meanwhile.")
    assert (chat.draft, window.notice) == ("", "")
    window.open_chat(turns(3), draft="Of the first?")
    assert (sent(chat), chat.draft, window.notice) == ([], "Of the first?", "The chat changed meanwhile.")


@pytest.mark.req("U-3")
def test_it_is_kept_with_the_stored_draft_so_that_no_end_of_the_window_costs_it(chat: Compacted, qtbot: QtBot) -> None:
    window = chat.window
    chat.start()
    window.ask("And now?")
    window.type("typed")
    window.rest()
    stored = window.last(SaveDraft)
    assert (stored.session_id, stored.text) == ("s1", "And now?\n\ntyped")
    window.controller.close()
    assert not window.controller.unsaved
    assert sent(chat) == []
    with branched_window(qtbot) as anew:
        anew.open_chat(turns(3), draft=stored.text)
        assert anew.window.composer.toPlainText() == "And now?\n\ntyped"
        assert anew.count(SendMessage) == 0


@pytest.mark.req("U-3")
@pytest.mark.parametrize("shown", [True, False])
def test_an_engine_that_dies_costs_nothing_and_sends_nothing(chat: Compacted, shown: bool) -> None:
    window = chat.window
    chat.start()
    window.ask("And now?")
    window.type("typed")
    if not shown:
        window.open_chat(turns(1), session="s2")
    window.controller.engine_ended("It ended.", True)
    window.take(Welcome(VERSION, "0", "p", "l", "offline"))
    if not shown:
        window.branch(turns(1), session="s2")
        window.controller.open_session("s1")
    window.branch(turns(3), draft="And now?\n\ntyped")
    window.rest()
    assert (sent(chat), chat.waiting, chat.draft, chat.banner) == ([], [], "And now?\n\ntyped", "")
    if shown:
        assert "Your question was not sent." in window.notice


def test_questions_that_wait_for_an_answer_go_on_waiting_for_it_whatever_is_compacted(chat: Compacted) -> None:
    """The engine itself lets a question wait that was on its way already."""
    window = chat.window
    window.ask("First?")
    chat.start()
    window.ask("Second?")
    assert chat.waiting == ["Will be sent after this answer", "Second?"]
    chat.end("applied")
    assert (sent(chat), chat.waiting) == (["First?"], ["Will be sent after this answer", "Second?"])
    begin(chat)
    window.take(TurnFinished("s1", "a4", "stop", 1, 1, True))
    assert sent(chat) == ["First?", "Second?"]


def test_a_question_that_waits_is_sent_after_the_compaction_that_follows_an_answer_was_cancelled_by_none(
    chat: Compacted,
) -> None:
    """Sending, the end of the answer and that of the compaction come one after the other: one question, sent once."""
    window = chat.window
    window.ask("First?")
    begin(chat)
    window.ask("Second?")
    window.controller.take(TurnFinished("s1", "a4", "stop", 1, 1, True))
    chat.start()
    chat.end("applied")
    window.rest()
    assert sent(chat) == ["First?", "Second?"]
