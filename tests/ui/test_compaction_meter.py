"""The meter tells how full the context is, asks seldom, and its bar tells of what (C-3, C-4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.commands import VERSION, Compact, FetchContext, SendMessage
from bibgenie_desktop.protocol.events import (
    BranchChanged,
    CommandFailed,
    ContextState,
    ModelChosen,
    ModelState,
    TurnFinished,
    TurnStarted,
    Welcome,
)
from bibgenie_desktop.ui.context_fetching import LONGEST_DRAFT
from bibgenie_desktop.ui.context_meter import Fill
from bibgenie_desktop.ui.context_popover import shares_of
from tests.ui.branched import turns
from tests.ui.compacted import ROOMY, Compacted, compacted_window

pytestmark = [pytest.mark.gui, pytest.mark.req("C-3", "C-4")]

popping_up = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[Compacted]:
    usual = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
    with compacted_window(qtbot) as compacted:
        yield compacted
    QLocale.setDefault(usual)


def meter(chat: Compacted) -> QToolButton:
    return chat.window.find(QToolButton, "contextMeter")


def text(chat: Compacted, name: str) -> str:
    return chat.window.find(QLabel, name).text().replace("\u200b", "")


def asked(chat: Compacted) -> list[FetchContext]:
    return [each for each in chat.window.sent if isinstance(each, FetchContext)]


def test_it_tells_the_tokens_in_per_cent_of_what_is_sent_at_most(chat: Compacted) -> None:
    assert meter(chat).text() == ""
    chat.tell_context()
    assert (meter(chat).text(), meter(chat).accessibleName()) == ("50 %", "Context: 50 % full")
    assert "40,000 of 80,000 tokens" in meter(chat).accessibleDescription()
    assert "estimated" in meter(chat).accessibleDescription()
    chat.window.take(BranchChanged("append_assistant", "s1", "a4", 2, ("a4",)))
    chat.tell_context(replace(ROOMY, tokens=84_000, is_estimate=False))
    assert meter(chat).text() == "105 %"
    assert "counted by the provider" in meter(chat).accessibleDescription()


@pytest.mark.parametrize(
    ("tokens", "percent", "is_due"),
    [(0, 0, False), (1, 1, False), (63_999, 80, False), (64_000, 80, True), (79_999, 99, True), (80_000, 100, True)],
)
def test_what_is_not_empty_is_not_shown_as_empty_nor_what_is_not_full_as_full(
    tokens: int, percent: int, is_due: bool
) -> None:
    assert Fill.of(replace(ROOMY, tokens=tokens)) == Fill(percent, is_due)


def test_it_is_asked_for_again_whenever_it_may_be_another(chat: Compacted) -> None:
    window = chat.window
    chat.tell_context()
    for event in (
        BranchChanged("switch", "s1", "a1", 2, ()),
        ModelChosen("another"),
        ModelState("another", "ready"),
    ):
        before = len(asked(chat))
        window.take(event)
        assert len(asked(chat)) == before + 1, event
        chat.tell_context()
    window.ask("And now?")
    window.take(TurnStarted("s1", "q4", "Title", "m", request=window.last(SendMessage).request))
    chat.tell_context()
    before = len(asked(chat))
    window.take(TurnFinished("s1", "a4", "stop", 1, 1, True))
    assert len(asked(chat)) == before + 1
    chat.tell_context()
    chat.start()
    chat.end("applied")
    window.rest()
    assert len(asked(chat)) == before + 2


@pytest.mark.req("U-4")
def test_typing_asks_once_in_a_while_with_the_draft_and_one_question_is_open_at_a_time(chat: Compacted) -> None:
    window = chat.window
    chat.tell_context()
    before = len(asked(chat))
    for letter in "many letters":
        window.controller.draft_edited(window.window.composer.toPlainText() + letter)
    assert len(asked(chat)) == before
    window.rest()
    assert len(asked(chat)) == before + 1
    window.type("more")
    assert len(asked(chat)) == before + 1
    chat.tell_context()
    assert len(asked(chat)) == before + 2
    last = asked(chat)[-1]
    assert (last.session_id, last.draft, last.draft_characters) == ("s1", "more", 4)


def test_of_a_long_draft_the_beginning_is_told_and_its_length(chat: Compacted) -> None:
    chat.tell_context()
    chat.window.window.composer.setPlainText("字" * (LONGEST_DRAFT + 5))
    chat.window.rest()
    last = asked(chat)[-1]
    assert (len(last.draft), last.draft_characters) == (LONGEST_DRAFT, LONGEST_DRAFT + 5)


def test_another_chat_is_not_shown_the_numbers_of_the_one_before(chat: Compacted) -> None:
    chat.tell_context()
    late = chat.window.last(FetchContext)
    chat.window.open_chat(turns(1), session="s2")
    assert meter(chat).text() == ""
    chat.window.take(replace(ROOMY, request=late.request))
    assert meter(chat).text() == ""
    chat.tell_context(replace(ROOMY, tokens=8_000), session="s2")
    assert meter(chat).text() == "10 %"


def test_where_it_cannot_be_told_and_after_the_engine_died_it_is_asked_again(chat: Compacted) -> None:
    window = chat.window
    window.rest()
    window.take(CommandFailed("damaged", "It cannot be read.", window.last(FetchContext).request))
    assert (meter(chat).text(), window.notice) == ("", "")
    window.take(BranchChanged("switch", "s1", "a1", 2, ()))
    before = len(asked(chat))
    window.controller.engine_ended("It ended.", True)
    window.take(Welcome(VERSION, "0", "p", "l", "offline"))
    assert len(asked(chat)) == before + 1
    chat.tell_context()
    assert meter(chat).text() == "50 %"


# The bar


def test_the_shares_are_the_window_in_the_measure_of_the_sum() -> None:
    shares = shares_of(ROOMY)
    assert shares == {
        "system": 4_000,
        "tools": 6_000,
        "summary": 0,
        "history": 30_000,
        "draft": 0,
        "free": 40_000,
        "reserve": 20_000,
    }
    assert sum(shares.values()) == ROOMY.window
    counted = shares_of(replace(ROOMY, tokens=20_000, is_estimate=False))
    assert (counted["history"], counted["free"], sum(counted.values())) == (15_000, 60_000, ROOMY.window)
    assert shares_of(replace(ROOMY, tokens=0, system=0, tools=0, history=0))["free"] == 80_000
    assert shares_of(replace(ROOMY, tokens=200_000))["free"] == 0


@popping_up
@pytest.mark.parametrize("way", ["click", "space", "enter", "down", "menu"])
def test_the_bar_opens_by_pointer_and_keys_and_closes_with_escape(chat: Compacted, way: str) -> None:
    window = chat.window
    chat.tell_context()
    match way:
        case "click":
            window.click(meter(chat))
        case "menu":
            window.action("contextAction").trigger()
        case _:
            meter(chat).setFocus()
            keys = {"space": Qt.Key.Key_Space, "enter": Qt.Key.Key_Return, "down": Qt.Key.Key_Down}
            window.press(keys[way])
    popover = window.find(QWidget, "contextPopover")
    assert popover.isVisible()
    assert text(chat, "contextHead") == "The context is 50 % full"
    assert text(chat, "contextSum") == "40,000 of 80,000 tokens, estimated"
    assert "64,000" in text(chat, "contextNotes")
    assert "50 % full" in popover.accessibleDescription()
    window.press(Qt.Key.Key_Escape)
    assert not popover.isVisible()


@popping_up
def test_what_is_not_known_what_was_refused_and_what_was_cached_is_said_in_words(chat: Compacted) -> None:
    chat.tell_context(replace(ROOMY, window_known=False, ceiling=70_000, cached=12_000, is_estimate=False))
    chat.window.click(meter(chat))
    notes = text(chat, "contextNotes")
    assert "How much some-model takes is not known: a window of 100,000 tokens is assumed." in notes
    assert "The provider refused 70,000 tokens before" in notes
    assert "12,000 tokens were last read from the provider's cache." in notes
    assert text(chat, "contextSum").endswith("counted by the provider")


@popping_up
def test_compact_now_compacts_and_says_why_where_it_cannot(chat: Compacted) -> None:
    window = chat.window
    chat.tell_context()
    window.click(meter(chat))
    button = window.find(QPushButton, "compactNowButton")
    assert button.hasFocus()
    window.press(Qt.Key.Key_Return)
    assert (window.count(Compact), window.find(QWidget, "contextPopover").isVisible()) == (1, False)
    window.click(meter(chat))
    assert not button.isEnabled()
    assert text(chat, "contextWhyNot") == "Earlier context is being compacted already."


@popping_up
def test_an_open_bar_follows_what_is_told(chat: Compacted) -> None:
    chat.tell_context()
    chat.window.click(meter(chat))
    chat.window.take(BranchChanged("switch", "s1", "a1", 2, ()))
    chat.tell_context(replace(ROOMY, tokens=60_000))
    assert text(chat, "contextHead") == "The context is 75 % full"


def test_what_the_engine_has_against_it_is_the_reason(chat: Compacted) -> None:
    chat.tell_context(replace(ROOMY, why_not="Another window is at work in this chat."))
    button = chat.window.find(QToolButton, "compactButton")
    assert (button.isEnabled(), button.toolTip()) == (False, "Another window is at work in this chat.")


def test_what_the_engine_had_against_it_before_something_happened_is_no_reason_any_more(chat: Compacted) -> None:
    """The answer to what is asked then may take a while."""
    chat.tell_context(replace(ROOMY, why_not="Not while an answer streams: wait for it or stop it."))
    button = chat.window.find(QToolButton, "compactButton")
    assert not button.isEnabled()
    chat.window.controller.take(BranchChanged("append_assistant", "s1", "a4", 2, ("a4",)))
    assert button.isEnabled()
    assert "Sum up earlier messages" in button.toolTip()


@pytest.mark.req("U-5")
def test_the_meter_and_the_button_give_way_in_a_narrow_window(chat: Compacted) -> None:
    chat.tell_context()
    button = chat.window.find(QToolButton, "compactButton")
    wide = (meter(chat).width(), button.width())
    chat.window.window.resize(chat.window.window.minimumSize())
    QApplication.processEvents()
    narrow = (meter(chat).width(), button.width())
    assert narrow[0] < wide[0]
    assert narrow[1] < wide[1]
    assert (button.accessibleName() or button.text(), meter(chat).accessibleName()) == ("Compact", "Context: 50 % full")


def test_a_state_without_a_limit_is_no_division_by_zero() -> None:
    empty = ContextState("s", "m", 0, False, 0, 0, 0, 5, True, 0, 0, 0, 0, 0)
    assert Fill.of(empty).percent == 500
    assert shares_of(empty)["free"] == 0
