"""The box for questions: nothing written in it is lost, and a paste of any length is taken as it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QAction, QTextOption
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.ui.composer import Composer
from bibgenie_desktop.ui.question_box import LONG_LINE
from tests.ui.desk import Desk, at_the_desk

pytestmark = pytest.mark.req("U-3", "U-1")

ANYWHERE = QTextOption.WrapMode.WrapAnywhere


@pytest.fixture
def composer(qtbot: QtBot) -> Iterator[Composer]:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(700, 500)
    made = Composer(window)
    made.resize(600, 100)
    window.show()
    yield made
    window.hide()


def paste(composer: Composer, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    composer.insertFromMimeData(data)


def test_a_text_that_takes_the_place_of_another_can_be_undone(composer: Composer) -> None:
    QTest.keyClicks(composer, "a careful draft")
    composer.replace_text("Last question?")
    assert composer.toPlainText() == "Last question?"
    composer.undo()
    assert composer.toPlainText() == "a careful draft"
    composer.redo()
    assert composer.toPlainText() == "Last question?"


def test_a_text_shown_for_another_chat_leaves_nothing_of_the_first_to_undo(composer: Composer) -> None:
    QTest.keyClicks(composer, "of the first chat")
    composer.show_text("of the second")
    composer.undo()
    assert composer.toPlainText() == "of the second"


@pytest.mark.req("U-4")
@pytest.mark.parametrize("text", ["y" * 400_000, "word " * 80_000, "字" * 50_000, f"a\n{'y' * 100_000}\nb"])
def test_a_paste_of_long_lines_is_taken_as_it_is(composer: Composer, text: str) -> None:
    # To break a line without words at words takes a time quadratic in its length: the mode tells that nobody tries.
    paste(composer, text)
    assert composer.wordWrapMode() == ANYWHERE
    QTest.keyClicks(composer, "x")
    assert composer.toPlainText() == f"{text}x"
    composer.undo()
    composer.undo()
    composer.redo()
    assert composer.wordWrapMode() == ANYWHERE
    composer.show_text("short")
    assert composer.wordWrapMode() != ANYWHERE


@pytest.mark.req("U-4")
def test_a_line_that_grows_long_bit_by_bit_is_noticed(composer: Composer) -> None:
    for _ in range(4):
        assert composer.wordWrapMode() != ANYWHERE
        paste(composer, "y" * (LONG_LINE // 3))
    assert composer.wordWrapMode() == ANYWHERE


@pytest.mark.req("U-4")
def test_many_short_lines_are_broken_at_words(composer: Composer) -> None:
    paste(composer, "word word word\n" * 2_000)
    assert composer.wordWrapMode() != ANYWHERE


@at_the_desk
async def test_the_last_question_comes_only_into_an_empty_box_and_goes_when_undone(desk: Desk) -> None:
    await desk.open()
    recall = desk.find(QAction, "recallAction")
    assert not recall.isEnabled()
    await desk.ask("First?")
    assert recall.isEnabled()
    desk.type("a careful draft")
    assert not recall.isEnabled()
    desk.find(QAction, "selectAllAction").trigger()
    desk.find(QAction, "cutAction").trigger()
    assert recall.isEnabled()
    recall.trigger()
    assert desk.composer.toPlainText() == "First?"
    assert not recall.isEnabled()
    desk.find(QAction, "undoAction").trigger()
    desk.find(QAction, "undoAction").trigger()
    assert desk.composer.toPlainText() == "a careful draft"


@at_the_desk
async def test_an_example_is_put_behind_what_is_written(desk: Desk) -> None:
    await desk.open()
    example = desk.find(QPushButton, "exampleQuestion1")
    question = example.accessibleName()
    desk.type("a careful draft")
    desk.click(example)
    assert desk.composer.toPlainText() == f"a careful draft\n\n{question}"
    assert desk.composer.hasFocus()
    desk.find(QAction, "undoAction").trigger()
    assert desk.composer.toPlainText() == "a careful draft"
    desk.composer.clear()
    desk.click(example)
    assert desk.composer.toPlainText() == question
    desk.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)


@pytest.mark.req("U-5")
@at_the_desk
async def test_what_enter_does_is_told_in_the_empty_box_and_then_gets_out_of_the_way(desk: Desk) -> None:
    await desk.open()
    told = desk.find(QLabel, "composerHint")
    desk.composer.setFocus()
    assert "Enter" in told.accessibleName()
    desk.type("x")
    assert told.accessibleName() == ""
