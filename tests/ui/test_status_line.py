"""The status line: what was done is told for a while, links while they are pointed at, else the library."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QProgressBar, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.events import LibraryProgress, LibraryState
from bibgenie_desktop.ui.status_line import ANSWER_MILLISECONDS, StatusLine
from tests.ui.timers import ManualTimers

pytestmark = pytest.mark.req("U-6", "U-1")


class Line:
    """A status line and the time over it."""

    def __init__(self, qtbot: QtBot) -> None:
        self.timers = ManualTimers()
        self._window = QWidget()
        qtbot.addWidget(self._window)
        self.widget = StatusLine(self.timers, self._window)
        self._window.show()

    def library(self, state: LibraryState, done: int, sentence: str) -> None:
        self.widget.show_library(LibraryProgress(state, done, 24, sentence))

    @property
    def text(self) -> str:
        label = self.widget.findChild(QLabel, "statusLine")
        assert label is not None
        return label.accessibleName()

    @property
    def bar(self) -> QProgressBar:
        bar = self.widget.findChild(QProgressBar, "libraryProgress")
        assert bar is not None
        return bar


@pytest.fixture
def line(qtbot: QtBot) -> Line:
    return Line(qtbot)


def test_an_answer_gives_way_after_a_while(line: Line) -> None:
    line.library("ready", 24, "All indexed.")
    line.widget.show_answer("The message is copied.")
    assert line.text == "The message is copied."
    assert [timer.running for timer in line.timers.made] == [ANSWER_MILLISECONDS]
    line.timers.pass_time()
    assert line.text == "All indexed."


def test_an_answer_is_told_while_indexing_goes_on_but_not_beyond_its_end(line: Line) -> None:
    line.library("indexing", 1, "Indexing document 2 of 24…")
    line.widget.show_answer("The message is copied.")
    line.library("indexing", 2, "Indexing document 3 of 24…")
    assert line.text == "The message is copied."
    line.library("failed", 2, "The library cannot be read.")
    assert line.text == "The library cannot be read."


def test_a_link_is_told_while_it_is_pointed_at_and_the_answer_comes_back(line: Line) -> None:
    line.widget.show_answer("The message is copied.")
    line.widget.show_link("Opens in Zotero: zotero://select/1")
    assert line.text == "Opens in Zotero: zotero://select/1"
    line.widget.show_link("")
    assert line.text == "The message is copied."
    line.widget.show_link("a link")
    line.widget.show_answer("It is opened.")
    assert line.text == "It is opened."


def test_a_bar_shows_how_far_indexing_is_and_only_then(line: Line) -> None:
    assert not line.bar.isVisible()
    line.library("indexing", 6, "Indexing document 7 of 24…")
    assert line.bar.isVisible()
    assert (line.bar.value(), line.bar.maximum()) == (6, 24)
    line.library("ready", 24, "All indexed.")
    assert not line.bar.isVisible()
