"""Retry, edit, switch, fork and the queue with the real engine: what the window shows is what is stored."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from bibgenie_desktop.ui.chat.message import Message
from tests.servers.llm import LlmServer
from tests.ui.desk import Desk, at_the_desk, until

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


def messages(desk: Desk) -> list[Message]:
    return desk.messages.model().conversation.messages


def texts(desk: Desk) -> list[str]:
    return [message.source for message in messages(desk)]


def versions(desk: Desk) -> list[tuple[int, int]]:
    return [(message.version, message.versions) for message in messages(desk)]


async def rests(desk: Desk) -> None:
    await until(lambda: not desk.messages.model().conversation.busy, "the answer ended")
    await desk.drawn()


async def shows(desk: Desk, expected: list[tuple[int, int]]) -> None:
    await until(lambda: versions(desk) == expected, f"versions {expected}")
    await desk.drawn()


@pytest.mark.req("T-4")
@at_the_desk
async def test_an_answer_is_made_anew_its_question_edited_and_all_versions_stay_reachable(desk: Desk) -> None:
    scripts = [[{"text": f"Answer {number}."}, {"finish": "stop"}] for number in range(1, 5)]
    async with LlmServer(scripts) as server:
        await desk.open("--model", "openai/scripted", "--api-base", server.base_url)
        await desk.ask("Why?")
        assert texts(desk) == ["Why?", "Answer 1."]
        desk.press(Qt.Key.Key_R, CTRL)
        await shows(desk, [(1, 1), (2, 2)])
        assert texts(desk) == ["Why?", "Answer 2."]
        desk.press(Qt.Key.Key_Left, ALT)
        await shows(desk, [(1, 1), (1, 2)])
        await until(lambda: texts(desk) == ["Why?", "Answer 1."])
        desk.press(Qt.Key.Key_E, CTRL)
        box = QApplication.focusWidget()
        assert box is not None
        QTest.keyClicks(box, " And how?")
        desk.press(Qt.Key.Key_Return, widget=box)
        await shows(desk, [(2, 2), (1, 1)])
        assert texts(desk) == ["Why? And how?", "Answer 3."]
        desk.messages.set_current_row(0)
        desk.press(Qt.Key.Key_Left, ALT)
        await shows(desk, [(1, 2), (1, 2)])
        await until(lambda: texts(desk) == ["Why?", "Answer 1."])
        assert len(desk.titles) == 1


@pytest.mark.req("T-3")
@at_the_desk
async def test_a_fork_is_a_new_chat_that_goes_on_from_its_answer(desk: Desk) -> None:
    await desk.open()
    await desk.ask("What do residual pathways do?")
    await desk.ask("And what does a wetland hold?")
    desk.messages.set_current_row(1)
    first = texts(desk)[:2]
    desk.find(QAction, "forkAction").trigger()
    await until(lambda: len(messages(desk)) == 2, "the fork opened")
    await desk.drawn()
    assert texts(desk) == first
    assert "This is a fork of" in desk.notice
    assert desk.composer.hasFocus()
    await until(lambda: len(desk.titles) == 2)
    await desk.ask("Something else?")
    assert len(messages(desk)) == 4


@pytest.mark.req("U-2")
@at_the_desk
async def test_a_question_sent_while_an_answer_streams_waits_and_is_answered_then(desk: Desk) -> None:
    scripts: list[list[dict[str, object]]] = [
        [{"text": "One."}, {"wait": True}, {"finish": "stop"}],
        [{"text": "Two."}, {"finish": "stop"}],
    ]
    async with LlmServer(scripts) as server:
        await desk.open("--model", "openai/scripted", "--api-base", server.base_url)
        desk.type("First?")
        desk.press(Qt.Key.Key_Return)
        await until(lambda: desk.answering, "the first answer streams")
        desk.type("Second?")
        desk.press(Qt.Key.Key_Return)
        assert desk.find(QWidget, "queueBar").isVisible()
        assert desk.find(QLabel, "queuedQuestion").accessibleName() == "Second?"
        server.release()
        await until(lambda: len(messages(desk)) == 4, "the second question asked")
        await rests(desk)
        assert texts(desk) == ["First?", "One.", "Second?", "Two."]
        assert not desk.find(QWidget, "queueBar").isVisible()
