"""Compacting in the real app: the real engine, the offline assistant, keys and clicks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QPushButton, QTextEdit, QToolButton, QWidget

from bibgenie_desktop.sessions.checkpoints import SECTIONS
from tests.servers.llm import LlmServer
from tests.ui.desk import Desk, at_the_desk, until

pytestmark = [pytest.mark.gui, pytest.mark.req("C-2", "C-7", "U-2")]

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.mark.req("C-17", "D-12")
@at_the_desk
async def test_a_chat_is_compacted_shown_kept_and_inspected(desk: Desk) -> None:
    await desk.open()
    await desk.library_indexed()
    await desk.ask("What do residual pathways do?")
    desk.press(Qt.Key.Key_K, CTRL, SHIFT)
    await until(lambda: desk.notice, "one turn is not enough, which is said")
    assert "checkpoint" not in " ".join(desk.statuses)
    await desk.ask("And what is the evidence?")
    meter = desk.find(QToolButton, "contextMeter")
    await until(lambda: meter.text().endswith("%"), "how full it is")
    desk.press(Qt.Key.Key_K, CTRL, SHIFT)
    await until(lambda: desk.statuses[-1] == "checkpoint stored", "a checkpoint")
    await until(lambda: not desk.find(QWidget, "compactionBanner").isVisible(), "the end")
    assert desk.messages.model().conversation.boundary == 2
    desk.find(QAction, "checkpointAction").trigger()
    await until(lambda: SECTIONS[-1] in desk.find(QTextEdit, "checkpointSummary").toPlainText(), "the summary")
    assert "residual pathways" in desk.find(QTextEdit, "checkpointReplaced").toPlainText()
    desk.find(QWidget, "checkpointInspector").close()
    await desk.ask("And now?")
    assert desk.statuses[-3:] == ["checkpoint stored", "user stored", "assistant stored"]
    await desk.close()
    # After a restart it stands where it stood.
    await desk.open()
    await until(lambda: desk.titles)
    await desk.choose(desk.titles[0])
    assert desk.statuses[4] == "checkpoint stored"
    assert desk.messages.model().conversation.boundary == 2


@pytest.mark.req("C-3")
@at_the_desk
async def test_a_question_that_is_sent_right_behind_the_command_is_answered_once(desk: Desk) -> None:
    await desk.open()
    await desk.library_indexed()
    await desk.ask("What do residual pathways do?")
    await desk.ask("And what is the evidence?")
    desk.type("/compact the evidence")
    desk.press(Qt.Key.Key_Return)
    desk.type("And now?")
    desk.press(Qt.Key.Key_Return)
    await until(lambda: desk.statuses[-1] == "assistant stored" and len(desk.statuses) == 7, "an answer")
    kinds = [status.split()[0] for status in desk.statuses]
    assert kinds == ["user", "assistant", "user", "assistant", "checkpoint", "user", "assistant"]
    sources = [message.source for message in desk.messages.model().conversation.messages if message.role == "user"]
    assert sources[-1] == "And now?"
    assert not any("/compact" in source for source in sources)
    assert desk.composer.toPlainText() == ""


def answer(text: str) -> list[dict[str, str]]:
    return [{"text": text}, {"finish": "stop"}]


@pytest.mark.req("C-9", "U-3")
@pytest.mark.parametrize(
    "end",
    ["cancelled", pytest.param("engine killed", marks=pytest.mark.expect_log("the engine ended")), "restarted"],
)
@at_the_desk
async def test_while_a_summary_is_written_the_person_writes_on_and_loses_nothing(desk: Desk, end: str) -> None:
    answers = [answer("The first answer."), answer("The second answer.")]
    script: list[Sequence[Mapping[str, Any]]] = [*answers, [{"stall": True}]]
    async with LlmServer(script) as server:
        model = ("--model", "openai/scripted", "--api-base", server.base_url)
        await desk.open(*model)
        await desk.library_indexed()
        await desk.ask("What do residual pathways do?")
        await desk.ask("And what is the evidence?")
        banner = desk.find(QWidget, "compactionBanner")
        desk.click(desk.find(QWidget, "compactButton"))
        await until(lambda: len(server.requests) == 3, "the summary is asked for")
        assert banner.isVisible()
        desk.type("Frozen?")
        desk.press(Qt.Key.Key_Return)
        desk.type("typed on")
        assert desk.find(QLabel, "queueTold").text() == "Waits until the context is compacted"
        before = desk.statuses
        if end == "cancelled":
            desk.press(Qt.Key.Key_Escape)
            assert desk.find(QPushButton, "compactionCancelButton").text() == "Cancelling…"
        elif end == "engine killed":
            desk.kill_engine()
        else:
            await desk.close()
            await desk.open(*model)
            await until(lambda: desk.titles)
            await desk.choose(desk.titles[0])
        await until(lambda: desk.composer.toPlainText() == "Frozen?\n\ntyped on", "the text is back")
        if end == "cancelled":
            await until(lambda: not banner.isVisible(), "the end")
            assert "cancelled" in desk.notice
        elif end == "engine killed":
            await desk.app.ready
            await until(lambda: "Your question was not sent." in desk.notice, "what happened")
        assert desk.statuses == before
        assert len(server.requests) == 3
