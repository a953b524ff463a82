"""While an answer is still coming the page shows it, quietly, and costs nothing where nobody sees it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.events import ToolFinished
from bibgenie_desktop.ui.chat.life_sign import BEAT_MILLISECONDS
from tests.ui.chat_corpus import conversation as research_chat
from tests.ui.message_page import MessagePage, open_page

pytestmark = [pytest.mark.gui, pytest.mark.req("U-1", "U-4")]


@pytest.fixture
def page(qtbot: QtBot) -> Iterator[MessagePage]:
    with open_page(qtbot) as opened:
        yield opened


def beats(page: MessagePage) -> bool:
    """Whether, once all is painted, a sign is to be painted again."""
    page.rest()
    QApplication.processEvents()
    return BEAT_MILLISECONDS in [timer.running for timer in page.timers.made]


def waits(page: MessagePage) -> bool:
    return any(sign.isVisible() for sign in page.view.findChildren(QWidget, "messageLife"))


def test_an_answer_that_is_still_coming_beats_until_its_end(page: MessagePage) -> None:
    page.begin_answer()
    assert beats(page)
    assert waits(page)
    page.conversation.start_tool("c1", "Look at item ABCD2345")
    assert beats(page)
    assert not waits(page)
    page.conversation.finish_tool(ToolFinished("s1", "c1", "done", "", 0))
    assert beats(page)
    assert waits(page)
    page.conversation.add_text("It varies")
    assert beats(page)
    assert not waits(page)
    page.check()
    page.conversation.add_text("\n\nand goes on.")
    page.rest()
    assert page.shows_what_it_would_draw()
    page.conversation.finish("stored", node_id="n5")
    assert not beats(page)
    assert page.shows_what_it_would_draw()


def test_an_answer_out_of_sight_does_not_beat(page: MessagePage) -> None:
    page.show(research_chat(60))
    page.begin_answer()
    page.conversation.add_text("word " * 40)
    assert beats(page)
    page.scroll_to(0)
    assert not beats(page)
    page.scroll_to(page.end)
    assert beats(page)
    page.view.hide()
    assert not beats(page)


def test_nothing_beats_for_who_switched_the_blinking_off(page: MessagePage) -> None:
    hints = QApplication.styleHints()
    before = hints.cursorFlashTime()
    hints.setCursorFlashTime(0)
    try:
        page.begin_answer()
        assert not beats(page)
        assert waits(page)
    finally:
        hints.setCursorFlashTime(before)
