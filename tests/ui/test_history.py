"""Search over the history: titles at once, messages after a pause, and the way to each, on whatever branch it lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QColor, QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from bibgenie_desktop.protocol.commands import FetchBodies, OpenSession, SearchHistory, SwitchTo
from bibgenie_desktop.protocol.events import BranchChanged, CommandFailed, HistoryFound
from bibgenie_desktop.protocol.values import HistoryHit
from bibgenie_desktop.ui.chat.text_box import TextBox
from bibgenie_desktop.ui.history import PAUSE_MILLISECONDS, is_long_enough
from bibgenie_desktop.ui.history_list import HistoryList, HitRole, excerpt_layout
from bibgenie_desktop.ui.times import short
from tests.ui.played import NOON, Played, chat, played

pytestmark = [pytest.mark.gui, pytest.mark.req("T-8", "U-1")]

HIT = HistoryHit(
    "a", "Title a", "n2", "assistant", NOON.isoformat(), "before the ", "effort", " of it", True, False
)  # fmt: skip


@pytest.fixture
def desk(qapp: QApplication) -> Iterator[Played]:
    with played() as window:
        window.welcome(chat("a"), chat("b", "Effort and rest"))
        yield window


def search(desk: Played, text: str, *hits: HistoryHit, is_cut: bool = False) -> None:
    """Type, wait, and let the engine find this."""
    desk.action("searchSessionsAction").trigger()
    desk.find(QLineEdit, "sessionSearch").clear()
    desk.type(text)
    desk.timers.pass_time()
    desk.play(HistoryFound(hits, is_cut, request=desk.last(SearchHistory).request))


def found(desk: Played) -> list[str]:
    """The hits as a screen reader tells them."""
    model = desk.find(HistoryList, "historyList").model()
    return [
        str(model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole))
        for row in range(model.rowCount(QModelIndex()))
    ]


def selected(desk: Played) -> list[str]:
    """What is selected in the messages."""
    return [box.textCursor().selectedText() for box in desk.window.message_list.findChildren(TextBox) if box.selected]


def test_titles_are_found_while_typing_and_messages_after_a_pause_with_who_and_when(desk: Played) -> None:
    desk.action("searchSessionsAction").trigger()
    desk.type("effo")
    assert desk.lines == ["Today", "Effort and rest"]
    assert not desk.all(SearchHistory)
    assert desk.text("historyHeading") == "In messages"
    assert desk.text("historyTold") == "Searching…"
    [timer] = [timer for timer in desk.timers.made if timer.running == PAUSE_MILLISECONDS]
    desk.type("rt")
    timer.fire()
    assert [command.text for command in desk.all(SearchHistory)] == ["effort"]
    other = replace(HIT, role="user", is_active=False, is_archived=True, title="")
    request = desk.last(SearchHistory).request
    desk.play(HistoryFound((HIT,), more=True, request=request))
    assert found(desk) == []
    desk.play(HistoryFound((other,), request=request))
    when = short(HIT.created_at, NOON)  # in the way of the language that is in force
    assert found(desk) == [
        f"Title a, Answer · {when}: before the effort of it",
        f"Untitled chat, You · {when} · other version · archived: before the effort of it",
    ]
    assert desk.text("historyTold") == ""
    assert not desk.find(HistoryList, "historyList").grab().isNull()


@pytest.mark.parametrize(
    ("text", "enough"),
    [("", False), ("e", False), ("ef", True), ("界", True), ("カ", True), ("한", True), (" ", False)],
)
def test_two_characters_are_enough_and_one_where_a_character_is_a_word(text: str, enough: bool) -> None:
    assert is_long_enough(text.strip()) == enough


def test_an_older_answer_never_takes_the_place_of_a_newer_one(desk: Played) -> None:
    search(desk, "effort", HIT)
    desk.type("s")
    desk.timers.pass_time()
    slow = desk.last(SearchHistory).request
    desk.type("!")
    # While the next search runs, what was found before stays in sight.
    assert len(found(desk)) == 1
    desk.timers.pass_time()
    newer = desk.last(SearchHistory).request
    assert newer != slow
    desk.play(HistoryFound((), request=newer))
    assert desk.text("historyTold") == "No message has this."
    desk.play(HistoryFound((HIT,), request=slow))
    assert found(desk) == []


def test_an_older_search_that_failed_is_not_told(desk: Played) -> None:
    search(desk, "effort", HIT)
    desk.type("s")
    desk.timers.pass_time()
    slow = desk.last(SearchHistory).request
    desk.type("!")
    desk.timers.pass_time()
    desk.play(CommandFailed("busy", "The history is busy.", slow))
    assert desk.text("noticeText") == desk.text("historyTold") == ""
    assert len(found(desk)) == 1


def test_an_answer_to_a_search_that_was_left_is_nobodys(desk: Played) -> None:
    desk.action("searchSessionsAction").trigger()
    desk.type("effort")
    desk.timers.pass_time()
    desk.press(Qt.Key.Key_Escape)
    desk.play(HistoryFound((HIT,), request=desk.last(SearchHistory).request))
    assert found(desk) == []
    assert not desk.sees("historyHeading")
    assert desk.lines == ["Today", "Title a", "Effort and rest"]


def test_nothing_found_and_more_found_and_a_failure_are_said_in_words(desk: Played) -> None:
    search(desk, "zymurgy")
    assert desk.text("sessionSearchTold") == "No chat has this in its title."
    assert desk.text("historyTold") == "No message has this."
    field = desk.find(QLineEdit, "sessionSearch")
    assert field.accessibleDescription() == "No message has this."
    search(desk, "effort", HIT, is_cut=True)
    assert field.accessibleDescription() == "1 message found"
    assert desk.text("historyTold").startswith("There are more")
    desk.type("s")
    desk.timers.pass_time()
    desk.play(
        CommandFailed("damaged", "The history cannot be searched: run the doctor.", desk.last(SearchHistory).request)
    )
    assert desk.text("historyTold") == "The history cannot be searched: run the doctor."
    assert found(desk) == []
    assert desk.text("noticeText") == ""


def test_a_search_that_no_engine_answers_is_done_once_one_does(desk: Played) -> None:
    desk.action("searchSessionsAction").trigger()
    desk.type("effort")
    desk.timers.pass_time()
    desk.controller.engine_ended("It ended.", True)
    assert "once it answers again" in desk.text("historyTold")
    desk.welcome(chat("a"))
    desk.timers.pass_time()
    assert len(desk.all(SearchHistory)) == 2
    desk.play(HistoryFound((HIT,), request=desk.last(SearchHistory).request))
    assert len(found(desk)) == 1


@pytest.mark.req("U-5")
def test_the_keys_lead_from_the_field_through_titles_and_messages_and_back(desk: Played) -> None:
    search(desk, "effort", HIT, replace(HIT, node_id="n4"))
    assert desk.focus() == "sessionSearch"
    desk.press(Qt.Key.Key_Down)
    assert (desk.focus(), desk.window.session_list.highlighted) == ("sessionList", "b")
    assert desk.shown() == ""
    desk.press(Qt.Key.Key_Down)
    hits = desk.find(HistoryList, "historyList")
    assert (desk.focus(), hits.currentIndex().row()) == ("historyList", 0)
    desk.press(Qt.Key.Key_Down)
    assert hits.currentIndex().row() == 1
    desk.press(Qt.Key.Key_Up)
    desk.press(Qt.Key.Key_Up)
    assert desk.focus() == "sessionList"
    desk.press(Qt.Key.Key_Escape)
    assert desk.focus() == "sessionSearch"
    desk.press(Qt.Key.Key_Escape)
    assert desk.focus() == "composer"
    search(desk, "of it", HIT)
    desk.press(Qt.Key.Key_Down)
    assert desk.focus() == "historyList"
    desk.press(Qt.Key.Key_Up)
    assert desk.focus() == "sessionSearch"
    # Enter goes to the best hit where no title is found.
    desk.press(Qt.Key.Key_Return)
    assert desk.shown() == "a"


def test_a_hit_opens_its_chat_at_the_message_with_the_words_found(desk: Played) -> None:
    search(desk, "effort", replace(HIT, node_id="n2"))
    hits = desk.find(HistoryList, "historyList")
    QTest.mouseClick(hits.viewport(), Qt.MouseButton.LeftButton, pos=hits.visualRect(hits.model().index(0, 0)).center())
    assert desk.last(OpenSession).session_id == "a"
    desk.branch("a", [f"n{number}" for number in range(1, 61)])
    desk.bodies("An effort of {node}. " + "More words. " * 40)
    messages = desk.window.message_list
    assert messages.current_row == 1
    assert 1 in messages.page.seen()
    assert not desk.all(SwitchTo)
    assert desk.sees("findBar")
    assert desk.find(QLineEdit, "findField").text() == "effort"
    assert selected(desk) == ["effort"]
    [row] = [row for row in messages.page.rows.values() if any(box.selected for box in row.findChildren(TextBox))]
    assert row.number == 1
    assert desk.focus() == "messageList"
    # Who goes on from there looks through the whole chat.
    asked = len(desk.all(FetchBodies))
    assert not all(message.ready for message in messages.model().conversation.messages)
    desk.action("findNextAction").trigger()
    assert len(desk.all(FetchBodies)) > asked


def test_a_hit_on_another_branch_switches_first(desk: Played) -> None:
    search(desk, "effort", replace(HIT, node_id="m2", is_active=False))
    desk.press(Qt.Key.Key_Down)
    desk.press(Qt.Key.Key_Down)
    desk.press(Qt.Key.Key_Return)
    desk.branch("a", ["n1", "n2"])
    assert (desk.last(SwitchTo).session_id, desk.last(SwitchTo).node_id) == ("a", "m2")
    desk.play(BranchChanged("switch", "a", "m4", 2, ()))
    desk.done(SwitchTo)
    desk.branch("a", ["n1", "m2", "m3", "m4"])
    desk.bodies("The effort of {node}.")
    assert desk.window.message_list.current_row == 1
    assert selected(desk) == ["effort"]
    assert len(desk.all(SwitchTo)) == 1


def test_a_switch_that_is_refused_is_said(desk: Played) -> None:
    search(desk, "effort", replace(HIT, node_id="m2", is_active=False))
    desk.find(HistoryList, "historyList").open_first()
    desk.branch("a", ["n1", "n2"])
    desk.refuse(SwitchTo, "An answer streams in this chat.")
    assert desk.text("noticeText") == "An answer streams in this chat."
    desk.branch("a", ["n1", "n2"])
    assert len(desk.all(SwitchTo)) == 1


def test_who_goes_elsewhere_meanwhile_is_not_brought_back(desk: Played) -> None:
    search(desk, "effort", replace(HIT, node_id="m2", is_active=False))
    desk.find(HistoryList, "historyList").open_first()
    asked = desk.last(OpenSession).request
    desk.find(QLineEdit, "sessionSearch").clear()
    desk.click_chat("b")
    desk.branch("b", ["k1", "k2"])
    desk.click_chat("a")
    assert desk.last(OpenSession).request != asked
    desk.branch("a", ["n1", "n2"])
    desk.bodies()
    assert not desk.all(SwitchTo)
    assert not desk.sees("findBar")


@pytest.mark.req("S-1", "U-5")
def test_an_excerpt_is_plain_text_in_its_own_direction_with_the_words_found_in_bold(qapp: QApplication) -> None:
    hostile = replace(HIT, before="<b>x</b>\u202e\n😀 ", match="<i>effort</i>", after="\u2066 & more")
    layout = excerpt_layout(hostile, QFont(), 400, QColor("red"))
    assert layout.text() == "<b>x</b> 😀 <i>effort</i> & more"
    [bold] = layout.formats()
    units = layout.text().encode("utf-16-le")
    assert units[2 * bold.start : 2 * (bold.start + bold.length)].decode("utf-16-le") == "<i>effort</i>"
    assert bold.format.fontWeight() == QFont.Weight.Bold
    assert layout.textOption().textDirection() == Qt.LayoutDirection.LayoutDirectionAuto


def test_the_place_is_seen_however_long_the_words_before_it_are(qapp: QApplication) -> None:
    layout = excerpt_layout(replace(HIT, before="word " * 60), QFont(), 200, QColor("red"))
    [bold] = layout.formats()
    assert layout.lineForTextPosition(bold.start).lineNumber() == 0
    assert layout.lineCount() <= 2


@pytest.mark.req("U-5")
def test_a_long_search_fits_the_smallest_window(desk: Played) -> None:
    desk.window.resize(desk.window.minimumSize())
    search(desk, "e" * 3, *(replace(HIT, node_id=f"n{number}") for number in range(200)))
    search(desk, "effort", *(replace(HIT, node_id=f"n{number}") for number in range(200)), is_cut=True)
    side = desk.find(QWidget, "sidePane")
    names = ("sessionSearch", "newSessionButton", "sessionList", "historyHeading", "historyTold", "historyList")
    places = [desk.find(QWidget, name) for name in names]
    edges = [(each.mapTo(side, each.rect().topLeft()).y(), each.height()) for each in places]
    for (top, height), (below, _) in pairwise(edges):
        assert top + height <= below, edges
    assert edges[-1][0] + edges[-1][1] <= side.height()
    assert places[-1].height() >= 30
    assert desk.find(HistoryList, "historyList").model().index(199, 0).data(HitRole.HIT).node_id == "n199"
