"""What people do to a window at bad moments, with the real engine: nothing they wrote is lost, and they are told."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget

from bibgenie_desktop.ui.history_list import HistoryList
from tests.servers.llm import LlmServer
from tests.store.whole import faults
from tests.ui.desk import Desk, at_the_desk, until

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
KILLED = pytest.mark.expect_log("ERROR bibgenie_desktop.transport.supervision: the engine ended: exit code -9")
Steps = list[dict[str, Any]]


def answer(text: str) -> Steps:
    return [{"text": text}, {"finish": "stop"}]


def slow(text: str) -> Steps:
    return [{"text": f"{text} "}, {"wait": True}, {"text": "whole."}, {"finish": "stop"}]


def texts(desk: Desk) -> list[str]:
    return [message.source for message in desk.messages.model().conversation.messages]


def do(desk: Desk, name: str) -> None:
    """Choose in a menu."""
    desk.find(QAction, name).trigger()


def ask(desk: Desk, question: str) -> None:
    desk.type(question)
    desk.press(Qt.Key.Key_Return)


def write_in_place(desk: Desk, text: str) -> QWidget:
    """Begin to edit the question and write behind it; returns where."""
    desk.press(Qt.Key.Key_E, CTRL)
    box = QApplication.focusWidget()
    assert box is not None
    QTest.keyClicks(box, text)
    return box


async def reads(desk: Desk, expected: list[str]) -> None:
    await until(lambda: texts(desk) == expected, f"the chat reads {expected}")


async def rests(desk: Desk) -> None:
    await until(lambda: not desk.messages.model().conversation.busy, "the answer ended")


@KILLED
@pytest.mark.req("U-2", "U-3", "T-6")
@at_the_desk
async def test_questions_that_wait_when_the_engine_is_killed_stand_in_the_draft_once(desk: Desk) -> None:
    async with LlmServer([slow("Begun"), answer("Other.")]) as server:
        await desk.open("--model", "openai/scripted", "--api-base", server.base_url)
        ask(desk, "First?")
        await until(lambda: "Begun" in desk.page, "the answer streams")
        for question in ("Second?", "Third?", "Fourth?"):
            ask(desk, question)
        desk.type("typed")
        desk.kill_engine()
        await until(lambda: not desk.app.ready, "it is gone")
        expected = "Second?\n\nThird?\n\nFourth?\n\ntyped"
        await until(lambda: desk.composer.toPlainText() == expected, "what waited is in the draft")
        await until(lambda: bool(desk.app.ready), "a new engine")
        await until(lambda: texts(desk)[:1] == ["First?"])
        await desk.close()
        await desk.open("--model", "openai/scripted", "--api-base", server.base_url)
        await until(lambda: desk.titles == ["First?"])
        await desk.choose("First?")
        await until(lambda: desk.composer.toPlainText() == expected, "the draft is what it was")
        await desk.close()
        assert faults(desk.profile / "sessions.sqlite") == []


@pytest.mark.req("T-3", "T-7")
@at_the_desk
async def test_a_fork_goes_on_when_its_origin_is_deleted(desk: Desk) -> None:
    await desk.open()
    await desk.ask("What do residual pathways do?")
    first = texts(desk)
    origin = desk.messages.model().conversation.session_id
    do(desk, "forkAction")
    await until(lambda: desk.messages.model().conversation.session_id != origin, "the fork opened")
    await until(lambda: len(desk.titles) == 2 and texts(desk) == first, "it is shown")
    desk.app.window._controller.keeping.ask_to_delete(origin)
    desk.click(desk.find(QPushButton, "keepingDeleteButton"))
    await until(lambda: len(desk.titles) == 1, "the origin is gone")
    await desk.ask("And wetland carbon models?")
    assert texts(desk)[:2] == first
    await desk.close()
    await desk.open()
    await until(lambda: len(desk.titles) == 1)
    await desk.choose(desk.titles[0])
    await until(lambda: len(texts(desk)) == 4 and texts(desk)[:2] == first, "all of it is stored")


@pytest.mark.req("T-7")
@at_the_desk
async def test_a_chat_is_not_deleted_while_its_answer_streams_and_a_deleted_one_stays_so(desk: Desk) -> None:
    async with LlmServer([slow("Begun")]) as server:
        await desk.open("--model", "openai/scripted", "--api-base", server.base_url)
        ask(desk, "First?")
        await until(lambda: "Begun" in desk.page, "the answer streams")
        do(desk, "deleteSessionAction")
        assert "stop it before you delete" in desk.notice
        assert not desk.find(QPushButton, "keepingDeleteButton").isVisible()
        server.release()
        await rests(desk)
        await until(lambda: desk.titles == ["First?"])
        do(desk, "deleteSessionAction")
        desk.click(desk.find(QPushButton, "keepingDeleteButton"))
        await until(desk.find(QPushButton, "keepingUndoButton").isVisible, "the way back")
        await desk.close()
        await desk.open("--model", "openai/scripted", "--api-base", server.base_url)
        await until(lambda: not desk.app._controller._listing._request and bool(desk.app.ready))
        assert desk.titles == []
        do(desk, "undoDeleteAction")
        assert desk.titles == []


@pytest.mark.req("T-4", "T-6")
@at_the_desk
async def test_while_one_window_retries_the_other_is_refused_its_edit_and_keeps_it(desk: Desk) -> None:
    async with LlmServer([answer("One."), slow("Two"), answer("Three.")]) as server:
        options = ("--model", "openai/scripted", "--api-base", server.base_url)
        first = await desk.open(*options)
        await desk.ask("Why?")
        second = await desk.open(*options)
        await until(lambda: desk.titles == ["Why?"])
        await desk.choose("Why?")
        desk.look_at(first)
        do(desk, "retryAction")
        await until(lambda: "Two" in desk.page, "the other answer streams")
        desk.look_at(second)
        await until(desk.app.window.isActiveWindow, "the second window is in front")
        box = write_in_place(desk, " And how?")
        desk.press(Qt.Key.Key_Return, widget=box)
        edits = desk.messages.model().conversation.edits
        await until(lambda: (edit := edits.of(edits.node_id)) is not None and edit.sentence, "it is refused")
        server.release()
        desk.look_at(first)
        await rests(desk)
        desk.look_at(second)
        await until(lambda: texts(desk)[-1:] == ["Two whole."], "the second window shows the new version")
        edit = edits.of(edits.node_id)
        assert edit is not None
        assert edit.text == "Why? And how?"
        desk.press(Qt.Key.Key_Return, widget=write_in_place(desk, ""))
        await reads(desk, ["Why? And how?", "Three."])
        desk.look_at(first)
        await reads(desk, ["Why? And how?", "Three."])
        await first.close()
        await second.close()


@pytest.mark.req("T-4")
@at_the_desk
async def test_versions_are_switched_while_an_answer_streams_in_another_chat(desk: Desk) -> None:
    async with LlmServer([answer("One."), answer("Two."), slow("Begun")]) as server:
        await desk.open("--model", "openai/scripted", "--api-base", server.base_url)
        await desk.ask("Why?")
        desk.press(Qt.Key.Key_R, CTRL)
        await reads(desk, ["Why?", "Two."])
        await rests(desk)
        desk.press(Qt.Key.Key_N, CTRL)
        ask(desk, "Other?")
        await until(lambda: "Begun" in desk.page, "the answer streams")
        await until(lambda: "Why?" in desk.titles)
        await desk.choose("Why?")
        desk.press(Qt.Key.Key_Left, ALT)
        await reads(desk, ["Why?", "One."])
        server.release()
        await desk.choose("Other?")
        await reads(desk, ["Other?", "Begun whole."])


@pytest.mark.req("T-8", "T-4")
@at_the_desk
async def test_a_message_of_another_branch_is_not_gone_to_while_an_answer_streams_there(desk: Desk) -> None:
    async with LlmServer([answer("Heron."), answer("Egret."), slow("Begun")]) as server:
        await desk.open("--model", "openai/scripted", "--api-base", server.base_url)
        await desk.ask("Why?")
        desk.press(Qt.Key.Key_R, CTRL)
        await reads(desk, ["Why?", "Egret."])
        await rests(desk)
        ask(desk, "More?")
        await until(lambda: "Begun" in desk.page, "the answer streams")
        do(desk, "searchSessionsAction")
        desk.press_text(desk.find(QLineEdit, "sessionSearch"), "heron")
        hits = desk.find(HistoryList, "historyList")
        await until(lambda: hits.isVisible() and hits.model().rowCount(), "found")
        rows = hits.model()
        row = next(number for number in range(rows.rowCount()) if rows.flags(rows.index(number, 0)).value & 1)
        QTest.mouseClick(hits.viewport(), Qt.MouseButton.LeftButton, pos=hits.visualRect(rows.index(row, 0)).center())
        await until(lambda: desk.notice or "still streams" in desk.status, "the sentence")
        server.release()
        await reads(desk, ["Why?", "Egret.", "More?", "Begun whole."])


@pytest.mark.req("T-4", "U-3")
@at_the_desk
async def test_what_is_written_in_the_place_of_a_question_is_the_draft_when_the_window_closes(desk: Desk) -> None:
    await desk.open()
    await desk.ask("What do residual pathways do?")
    desk.type("typed")
    write_in_place(desk, " And why?")
    await desk.close()
    await desk.open()
    await until(lambda: len(desk.titles) == 1)
    await desk.choose(desk.titles[0])
    await until(lambda: desk.composer.toPlainText() == "What do residual pathways do? And why?\n\ntyped")
    assert desk.find(QLabel, "chatTitle").text()
