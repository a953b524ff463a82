"""The sentence above the composer: read from its beginning however long it is, and put away by who read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QScrollArea, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.events import ModelState
from bibgenie_desktop.ui.notice import MOST_LINES, NoticeBar
from tests.ui.desk import Desk, at_the_desk

pytestmark = pytest.mark.req("U-5")

Kind = TypeVar("Kind", bound=QWidget)


@pytest.fixture
def bar(qtbot: QtBot) -> Iterator[NoticeBar]:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(600, 500)
    made = NoticeBar(window)
    made.resize(500, 100)
    window.show()
    yield made
    window.hide()


def part(bar: NoticeBar, kind: type[Kind], name: str) -> Kind:
    found = bar.findChild(kind, name)
    assert found is not None
    return found


def area(bar: NoticeBar) -> QScrollArea:
    return part(bar, QScrollArea, "noticeScroll")


@pytest.mark.parametrize("sentence", ["word " * 2_000, "W" * 10_000])
def test_a_long_sentence_is_shown_from_its_beginning_and_scrolls(bar: NoticeBar, sentence: str) -> None:
    bar.say("short")
    short = area(bar).height()
    bar.say(sentence)
    QApplication.processEvents()
    assert short < area(bar).height() <= bar.fontMetrics().lineSpacing() * MOST_LINES
    assert area(bar).verticalScrollBar().maximum() > 0
    assert area(bar).verticalScrollBar().value() == 0
    text = part(bar, QLabel, "noticeText")
    assert text.width() <= area(bar).width()
    assert text.accessibleName() == sentence


def test_that_the_engine_is_gone_is_not_put_away(bar: NoticeBar) -> None:
    bar.say("The engine ended.", "gone")
    assert part(bar, QPushButton, "noticeButton").isVisible()
    assert not part(bar, QToolButton, "noticeCloseButton").isVisible()
    bar.say("The key is refused.")
    assert part(bar, QToolButton, "noticeCloseButton").isVisible()


@pytest.mark.req("T-5")
def test_of_a_damaged_chat_it_offers_the_ways_on_and_is_not_put_away(bar: NoticeBar) -> None:
    wanted: list[str] = []
    bar.continue_wanted.connect(lambda: wanted.append("continue"))
    bar.export_wanted.connect(lambda: wanted.append("export"))
    bar.say("A message cannot be read.", "damage")
    assert not part(bar, QToolButton, "noticeCloseButton").isVisible()
    for name in ("continueDamagedButton", "exportDamagedButton"):
        QTest.mouseClick(part(bar, QPushButton, name), Qt.MouseButton.LeftButton)
    assert wanted == ["continue", "export"]
    bar.say("This is a fork.", "quiet")
    assert not part(bar, QPushButton, "continueDamagedButton").isVisible()
    assert part(bar, QToolButton, "noticeCloseButton").isVisible()


@at_the_desk
async def test_a_notice_about_the_model_is_put_away_and_writing_goes_on(desk: Desk) -> None:
    app = await desk.open()
    app.window._show_loading(ModelState("offline", "failed", "The model cannot be loaded."))
    assert desk.notice == "The model cannot be loaded."
    desk.click(desk.button("noticeCloseButton"))
    assert desk.notice == ""
    assert desk.composer.hasFocus()
