"""Two windows on one profile: each sees what the other did, and only one answers in a chat at a time."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from tests.servers.llm import LlmServer
from tests.ui.desk import Desk, at_the_desk, until

KILLED = pytest.mark.expect_log("ERROR bibgenie_desktop.transport.supervision: the engine ended: exit code -9")
FIRST: list[dict[str, Any]] = [{"text": "First "}, {"wait": True}, {"text": "answer."}, {"finish": "stop"}]


@pytest.mark.req("T-6", "U-1")
@at_the_desk
async def test_a_chat_begun_in_one_window_appears_in_the_other_and_goes_on_there(desk: Desk) -> None:
    first = await desk.open()
    second = await desk.open()
    desk.look_at(first)
    await desk.ask("What do residual pathways do?")
    desk.look_at(second)
    await until(lambda: desk.titles == ["What do residual pathways do?"], "the chat is listed in the other window")
    await desk.choose("What do residual pathways do?")
    await desk.ask("And wetland carbon models?")
    desk.look_at(first)
    await until(lambda: len(desk.statuses) == 4, "the first window shows what came in the second")
    await desk.drawn()
    assert "And wetland carbon models?" in desk.page
    await first.close()
    await second.close()


@pytest.mark.req("T-6")
@at_the_desk
async def test_while_one_window_answers_in_a_chat_the_other_keeps_the_question_and_says_why(desk: Desk) -> None:
    async with LlmServer([FIRST, [{"text": "Second."}, {"finish": "stop"}]]) as server:
        options = ("--model", "openai/scripted", "--api-base", server.base_url)
        first = await desk.open(*options)
        second = await desk.open(*options)
        desk.look_at(first)
        desk.type("Why?")
        desk.press(Qt.Key.Key_Return)
        await until(lambda: "First" in desk.page)
        desk.look_at(second)
        await until(lambda: desk.titles == ["Why?"])
        await desk.choose("Why?")
        desk.type("And then?")
        desk.press(Qt.Key.Key_Return)
        await until(lambda: desk.notice, "the sentence")
        assert "another" in desk.notice.lower()
        assert desk.composer.toPlainText() == "And then?"
        server.release()
        desk.look_at(first)
        await until(lambda: not desk.answering)
        desk.look_at(second)
        await until(lambda: len(desk.statuses) == 2, "the other's answer is here")
        desk.press(Qt.Key.Key_Return)
        await until(lambda: len(desk.statuses) == 4 and not desk.answering)
        await desk.drawn()
        assert "Second." in desk.page
        await first.close()
        await second.close()


@pytest.mark.req("T-2", "U-1")
@at_the_desk
async def test_a_name_given_in_one_window_stands_in_the_other(desk: Desk) -> None:
    first = await desk.open()
    second = await desk.open()
    desk.look_at(first)
    await desk.ask("Why?")
    desk.look_at(second)
    await until(lambda: desk.titles == ["Why?"])
    await desk.choose("Why?")
    desk.look_at(first)
    session_id = desk.messages.model().conversation.session_id
    desk.app.window.session_list.renamed.emit(session_id, "Reasons")
    await until(lambda: desk.titles == ["Reasons"])
    desk.look_at(second)
    await until(lambda: desk.titles == ["Reasons"], "the other list")
    await until(lambda: desk.find(QLabel, "chatTitle").text() == "Reasons", "the other title")
    await first.close()
    await second.close()


@KILLED
@pytest.mark.req("T-6", "U-3")
@at_the_desk
async def test_a_window_that_loses_its_engine_does_not_overwrite_the_newer_draft_of_another(desk: Desk) -> None:
    first = await desk.open()
    await desk.ask("Why?")
    desk.type("old")
    await until(lambda: not first._controller._drafts.unsaved)
    second = await desk.open()
    await until(lambda: desk.titles == ["Why?"])
    await desk.choose("Why?")
    await until(lambda: desk.composer.toPlainText() == "old")
    desk.type(" and a long new paragraph")
    await second.close()
    desk.look_at(first)
    desk.kill_engine()
    await until(lambda: not first.ready)
    await until(lambda: desk.composer.toPlainText() == "old and a long new paragraph")
    await first.close()
    await desk.open()
    await until(lambda: desk.titles == ["Why?"])
    await desk.choose("Why?")
    await until(lambda: desk.composer.toPlainText() == "old and a long new paragraph")


@pytest.mark.req("T-6", "U-3")
@at_the_desk
async def test_what_two_windows_write_into_the_new_chat_is_all_kept_and_shown(desk: Desk) -> None:
    first = await desk.open()
    second = await desk.open()
    await until(lambda: not second._controller._opening.is_on_its_way(""), "the second window knows of no draft")
    desk.look_at(first)
    desk.type("thought one")
    await first.close()
    desk.look_at(second)
    desk.type("thought two")
    await until(lambda: desk.composer.toPlainText() == "thought one\n\nthought two")
    await second.close()
    await desk.open()
    await until(lambda: desk.composer.toPlainText() == "thought one\n\nthought two")
