"""The order of the list of chats: pinned ones first, forks under their origin, archived ones behind a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from bibgenie_desktop.ui.search_field import LineField
from bibgenie_desktop.ui.session_lines import DEEPEST, SessionListModel, SessionRole
from bibgenie_desktop.ui.sessions import SessionList
from bibgenie_desktop.ui.theme import Theme
from tests.ui.played import NOON, chat

pytestmark = [pytest.mark.req("U-1", "T-3"), pytest.mark.gui]


@pytest.fixture
def model(qapp: object) -> Iterator[SessionListModel]:
    made = SessionListModel(lambda: NOON)
    yield made
    made.deleteLater()


@pytest.fixture
def sessions(qtbot: QtBot) -> Iterator[SessionList]:
    owner = QObject()
    made = SessionList(Theme(owner), lambda: NOON)
    qtbot.addWidget(made)
    made.resize(240, 600)
    made.show()
    yield made
    owner.deleteLater()


def lines(model: SessionListModel) -> list[str]:
    """The lines, each indented by its depth."""
    indexes = [model.index(row) for row in range(model.rowCount())]
    return [f"{'  ' * (index.data(SessionRole.DEPTH) or 0)}{index.data()}" for index in indexes]


def test_pinned_chats_stand_at_the_top_whenever_they_were_used(
    model: SessionListModel, qtmodeltester: ModelTester
) -> None:
    model.show([chat("a"), chat("b", days=2, pinned=True), chat("c", days=3), chat("d", days=40, pinned=True)])
    assert lines(model) == ["Pinned", "Title b", "Title d", "Today", "Title a", "Last seven days", "Title c"]
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]


def test_forks_stand_under_their_origin_where_both_are_in_one_section(model: SessionListModel) -> None:
    model.show(
        [
            chat("f", fork_of="e"),
            chat("x"),
            chat("e", fork_of="o"),
            chat("g", fork_of="o"),
            chat("o"),
            chat("old", days=3),
            chat("h", days=3, fork_of="o"),
        ]
    )
    assert lines(model) == [
        "Today",
        "Title o",
        "  Title e",
        "    Title f",
        "  Title g",
        "Title x",
        "Last seven days",
        "Title old",
        "Title h",
    ]


def test_a_fork_says_whose_it_is_to_the_pointer_and_to_a_screen_reader(model: SessionListModel) -> None:
    model.show([chat("o", "Origin <b>", days=30), chat("f", fork_of="o"), chat("g", fork_of="gone")])
    told = {model.index(row).data(): model.index(row) for row in range(model.rowCount())}
    assert told["Title f"].data(Qt.ItemDataRole.ToolTipRole) == "<qt>Fork of “Origin &lt;b&gt;”</qt>"
    assert told["Title g"].data(Qt.ItemDataRole.ToolTipRole) == "<qt>Fork of a chat that was deleted</qt>"
    assert told["Origin <b>"].data(Qt.ItemDataRole.ToolTipRole) is None
    spoken = told["Title f"].data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("Title f, Fork of “Origin <b>”, 2 questions")
    assert told["Title f"].data(SessionRole.IS_FORK)


@pytest.mark.req("U-4")
@pytest.mark.parametrize("shape", ["chain", "star", "circle"])
def test_any_number_of_forks_is_listed_once_each_and_not_indented_for_ever(model: SessionListModel, shape: str) -> None:
    origins: dict[str, Callable[[int], str]] = {
        "chain": lambda number: f"{number - 1}" if number else "",
        "star": lambda number: "0" if number else "",
        "circle": lambda number: f"{(number + 1) % 2000}",
    }
    model.show([chat(f"{number}", fork_of=origins[shape](number)) for number in range(2000)])
    assert model.rowCount() == 2001
    depths = [model.index(row).data(SessionRole.DEPTH) or 0 for row in range(model.rowCount())]
    assert max(depths) == (1 if shape == "star" else DEEPEST)


def test_archived_chats_are_behind_a_line_that_unfolds_and_folds(sessions: SessionList) -> None:
    model = sessions.model()
    assert isinstance(model, SessionListModel)
    sessions.show_sessions([chat("a"), chat("z", archived=True, pinned=True), chat("y", archived=True, days=9)])
    assert lines(model) == ["Today", "Title a", "Archived (2)"]
    index = model.index(2)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Archived (2), folded"
    QTest.mouseClick(sessions.viewport(), Qt.MouseButton.LeftButton, pos=sessions.visualRect(index).center())
    assert lines(model) == ["Today", "Title a", "Archived (2)", "Title z", "Title y"]
    assert sessions.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole) == "Archived (2), unfolded"
    assert not sessions.grab().isNull()
    # The keys do it too.
    QTest.keyClick(sessions, Qt.Key.Key_Return)
    assert lines(model) == ["Today", "Title a", "Archived (2)"]


def test_who_searches_finds_archived_chats_too(sessions: SessionList) -> None:
    model = sessions.model()
    assert isinstance(model, SessionListModel)
    sessions.show_sessions([chat("a"), chat("z", "Forgotten", archived=True)])
    sessions.search("forg")
    assert lines(model) == ["Archived (1)", "Forgotten"]
    assert sessions.open_first()
    assert sessions.highlighted == "z"
    sessions.search("")
    assert lines(model) == ["Today", "Title a", "Archived (1)"]


def test_an_archived_chat_that_is_renamed_comes_into_sight(sessions: SessionList) -> None:
    sessions.show_sessions([chat("a"), chat("z", archived=True)])
    sessions.rename("z")
    assert sessions.state() == SessionList.State.EditingState
    field = sessions.findChild(LineField, "sessionTitleField")
    assert field is not None
    assert field.text() == "Title z"
