"""The list of chats: grouped by day, titles as they are, headings out of reach."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from PySide6.QtCore import QLocale, QObject, Qt
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.values import SessionRow
from bibgenie_desktop.ui.session_lines import SessionRole
from bibgenie_desktop.ui.sessions import SessionList
from bibgenie_desktop.ui.theme import Theme
from bibgenie_desktop.ui.times import age, local, short

pytestmark = [pytest.mark.req("U-1"), pytest.mark.gui]

NOON = datetime(2026, 3, 20, 12).astimezone()


def row(name: str, updated_at: str, turns: int = 2) -> SessionRow:
    return SessionRow(name, f"Title {name}", turns, 0, None, 1, None, updated_at)


def stamp(day: int, hour: int = 12) -> str:
    return datetime(2026, 3, day, hour).astimezone().astimezone(UTC).isoformat()


@pytest.fixture
def sessions(qtbot: QtBot) -> Iterator[SessionList]:
    owner = QObject()
    made = SessionList(Theme(owner), lambda: NOON)
    qtbot.addWidget(made)
    made.resize(240, 600)
    made.show()
    yield made
    owner.deleteLater()


def lines(sessions: SessionList) -> list[str]:
    return [str(sessions.model().index(place, 0).data()) for place in range(sessions.model().rowCount())]


def test_chats_are_grouped_by_the_day_they_were_last_used(sessions: SessionList, qtmodeltester: ModelTester) -> None:
    rows = [row("a", stamp(20, 9)), row("b", stamp(19)), row("c", stamp(14, 9)), row("d", stamp(13)), row("e", "once")]
    sessions.show_sessions(rows)
    assert lines(sessions) == [
        "Today",
        "Title a",
        "Last seven days",
        "Title b",
        "Title c",
        "Earlier",
        "Title d",
        "Title e",
    ]
    qtmodeltester.check(sessions.model())  # type: ignore[no-untyped-call]
    assert not sessions.grab().isNull()


def test_a_line_tells_how_many_questions_it_holds_also_to_a_screen_reader(sessions: SessionList) -> None:
    sessions.show_sessions([row("a", stamp(20), 1), row("b", stamp(20), 3)])
    first, second = (sessions.model().index(place, 0) for place in (1, 2))
    assert first.data(SessionRole.DETAIL).startswith("1 question · ")
    assert second.data(SessionRole.DETAIL).startswith("3 questions · ")
    assert first.data(Qt.ItemDataRole.AccessibleTextRole).startswith("Title a, 1 question · ")


def test_a_heading_cannot_be_chosen_and_a_chat_is_chosen_once(sessions: SessionList) -> None:
    sessions.show_sessions([row("a", stamp(20)), row("b", stamp(20))])
    chosen: list[str] = []
    sessions.chosen.connect(chosen.append)
    for place in (0, 2):
        where = sessions.visualRect(sessions.model().index(place, 0)).center()
        QTest.mouseClick(sessions.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert chosen == ["b"]
    sessions.mark("b")
    QTest.mouseClick(sessions.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert chosen == ["b"]


def test_the_open_chat_stays_marked_when_the_list_is_told_anew(sessions: SessionList) -> None:
    sessions.show_sessions([row("a", stamp(20)), row("b", stamp(19))])
    sessions.mark("a")
    sessions.show_sessions([row("c", stamp(20)), row("a", stamp(19)), row("b", stamp(19))])
    assert sessions.currentIndex().data() == "Title a"
    sessions.mark("")
    assert not sessions.selectionModel().hasSelection()
    sessions.show_sessions([])
    assert lines(sessions) == []


@pytest.mark.req("S-1")
def test_a_hostile_title_is_text_in_one_line(sessions: SessionList) -> None:
    hostile = SessionRow("a", "<img src=x>\n<b>bold</b>\u2028[x](javascript:1)", 1, 0, None, 1, None, stamp(20))
    sessions.show_sessions([hostile])
    assert lines(sessions)[1] == "<img src=x> <b>bold</b> [x](javascript:1)"


@pytest.mark.req("S-1")
@pytest.mark.parametrize("title", ["", "\n\n", "\u202e\u2067"])
def test_a_chat_without_a_title_can_be_seen_and_is_renamed_from_nothing(sessions: SessionList, title: str) -> None:
    sessions.show_sessions([SessionRow("a", title, 1, 0, None, 1, None, stamp(20))])
    index = sessions.model().index(1, 0)
    assert index.data() == "Untitled chat"
    assert index.data(Qt.ItemDataRole.EditRole) == ""
    assert index.data(Qt.ItemDataRole.AccessibleTextRole).startswith("Untitled chat, ")


@pytest.mark.req("S-1")
def test_a_title_does_not_turn_the_list_round(sessions: SessionList) -> None:
    sessions.show_sessions([SessionRow("a", "in\u202etxt.exe\u2069", 1, 0, None, 1, None, stamp(20))])
    assert lines(sessions)[1] == "intxt.exe"


@pytest.mark.req("U-4")
def test_thousands_of_chats_are_listed(sessions: SessionList) -> None:
    sessions.show_sessions([row(str(number), stamp(20)) for number in range(5_000)])
    assert sessions.model().rowCount() == 5_001


def test_times_are_told_by_the_hour_today_by_the_day_this_week_and_by_the_date_before(
    english: None,
) -> None:
    assert local("no time") is None
    assert short("no time", NOON) == ""
    assert age(datetime(2026, 3, 21, 1).astimezone(), NOON) == "today"
    told = [short(stamp(20, 9), NOON), short(stamp(19), NOON), short(stamp(2), NOON)]
    assert told == ["09:00", "Thu", "2 Mar"]
    assert short(datetime(2025, 3, 2, 12).astimezone().isoformat(), NOON) == "2 Mar 2025"


@pytest.fixture
def english() -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    yield
    QLocale.setDefault(before)


@pytest.mark.req("U-5")
def test_larger_letters_make_higher_lines(sessions: SessionList, qtbot: QtBot) -> None:
    sessions.show_sessions([row("a", stamp(20)), row("b", stamp(20))])
    before = sessions.visualRect(sessions.model().index(1, 0)).height()
    font = sessions.font()
    font.setPointSizeF(font.pointSizeF() * 2)
    sessions.setFont(font)
    qtbot.waitUntil(lambda: sessions.visualRect(sessions.model().index(1, 0)).height() > before * 1.4)
