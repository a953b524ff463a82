"""Find in page, with the keys that people know."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QToolButton, QWidget

from bibgenie_desktop.ui.chat.text_box import TextBox
from tests.servers.llm import LlmServer
from tests.ui.desk import Desk, at_the_desk, until

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def selected(desk: Desk) -> list[str]:
    """What is selected in the messages."""
    return [box.textCursor().selectedText() for box in desk.messages.findChildren(TextBox) if box.selected]


@pytest.mark.req("U-1", "U-5")
@at_the_desk
async def test_a_word_is_found_and_found_again_and_the_bar_goes_with_escape(desk: Desk) -> None:
    answer = [{"text": "Alpha beta.\n\nGamma **Beta** delta."}, {"finish": "stop"}]
    async with LlmServer([answer]) as server:
        await desk.open("--model", "openai/scripted", "--api-base", server.base_url)
        await desk.ask("Why?")
        bar = desk.find(QWidget, "findBar")
        assert not bar.isVisible()
        desk.press(Qt.Key.Key_F, CTRL)
        field = desk.find(QLineEdit, "findField")
        assert bar.isVisible()
        assert field.hasFocus()
        desk.press_text(field, "beta")
        assert selected(desk) == ["beta"]
        desk.press(Qt.Key.Key_Return, widget=field)
        assert selected(desk) == ["Beta"]
        desk.press(Qt.Key.Key_Return, SHIFT, widget=field)
        assert selected(desk) == ["beta"]
        desk.click(desk.find(QToolButton, "findNextButton"))
        assert selected(desk) == ["Beta"]
        desk.press_text(field, "zzz")
        assert desk.find(QLabel, "findTold").accessibleName() == "Not found in this chat"
        # An answer that streams is not stopped by the key that closes the bar.
        desk.press(Qt.Key.Key_Escape, widget=field)
        assert not bar.isVisible()
        assert desk.messages.hasFocus()


@pytest.mark.req("U-1")
@at_the_desk
async def test_all_of_a_long_chat_is_searched_though_only_what_is_seen_was_loaded(desk: Desk) -> None:
    answers = [[{"text": f"Answer {number} says needle{number}."}, {"finish": "stop"}] for number in range(25)]
    async with LlmServer(answers) as server:
        options = ("--model", "openai/scripted", "--api-base", server.base_url)
        await desk.open(*options)
        for number in range(25):
            await desk.ask(f"Question {number}?" + "\nx" * 12)
        await desk.close()
        await desk.open(*options)
        await until(lambda: desk.titles)
        await desk.choose(desk.titles[0])
        messages = desk.messages.model().conversation.messages
        assert not messages[1].ready
        desk.press(Qt.Key.Key_F, CTRL)
        await until(lambda: all(message.ready for message in messages), "all bodies here")
        desk.press_text(desk.find(QLineEdit, "findField"), "needle0")
        assert selected(desk) == ["needle0"]
        assert desk.messages.current_row == 1
