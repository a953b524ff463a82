"""Chats deleted, searched, exported and mapped with the real engine behind the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton

from bibgenie_desktop.ui.branch_map import BranchMap
from bibgenie_desktop.ui.history_list import HistoryList
from tests.ui.desk import Desk, at_the_desk, until

FIRST, SECOND = "What do residual pathways do?", "Wetland carbon models?"


async def two_chats(desk: Desk) -> None:
    await desk.open()
    for question in (FIRST, SECOND):
        desk.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        await desk.ask(question)
    await until(lambda: desk.titles == [SECOND, FIRST], "two chats")


@pytest.mark.req("T-7", "U-3")
@at_the_desk
async def test_a_chat_is_deleted_and_brought_back_with_its_draft(desk: Desk) -> None:
    await two_chats(desk)
    desk.type("half a thought")
    desk.find(QAction, "deleteSessionAction").trigger()
    desk.click(desk.find(QPushButton, "keepingDeleteButton"))
    assert desk.titles == [FIRST]
    assert desk.composer.toPlainText() == ""
    undo = desk.find(QPushButton, "keepingUndoButton")
    await until(undo.isVisible, "the way back")
    desk.click(undo)
    await until(lambda: desk.titles == [SECOND, FIRST], "it is back")
    await until(lambda: desk.composer.toPlainText() == "half a thought", "its draft")
    await until(lambda: len(desk.statuses) == 2)


@pytest.mark.req("T-6", "T-7", "U-3")
@at_the_desk
async def test_a_chat_that_another_window_deletes_leaves_what_was_typed_in_it(desk: Desk) -> None:
    await two_chats(desk)
    first = desk.app
    second = await desk.open()
    await until(lambda: SECOND in desk.titles)
    await desk.choose(SECOND)
    desk.type("half a thought")
    desk.look_at(first)
    desk.find(QAction, "deleteSessionAction").trigger()
    desk.click(desk.find(QPushButton, "keepingDeleteButton"))
    desk.look_at(second)
    await until(lambda: desk.titles == [FIRST], "the other list")
    assert desk.notice.startswith("This chat was deleted in another window.")
    assert desk.composer.toPlainText() == "half a thought"
    assert desk.statuses == []
    await first.close()
    await second.close()


@pytest.mark.req("T-8", "U-1")
@at_the_desk
async def test_a_message_is_found_and_gone_to(desk: Desk) -> None:
    await two_chats(desk)
    desk.find(QAction, "searchSessionsAction").trigger()
    desk.press_text(desk.find(QLineEdit, "sessionSearch"), "residual pathways do")
    hits = desk.find(HistoryList, "historyList")
    await until(lambda: hits.model().rowCount() and hits.isVisible(), "found in messages")
    row = next(row for row in range(hits.model().rowCount()) if hits.model().index(row, 0).data() == FIRST)
    QTest.mouseClick(
        hits.viewport(), Qt.MouseButton.LeftButton, pos=hits.visualRect(hits.model().index(row, 0)).center()
    )
    await until(lambda: desk.find(QLabel, "chatTitle").text() == FIRST)
    await until(lambda: desk.find(QLineEdit, "findField").isVisible(), "the words are shown")


@pytest.mark.req("T-4", "U-1")
@at_the_desk
async def test_a_chat_is_exported_and_comes_back_and_its_map_shows_its_messages(desk: Desk, tmp_path: Path) -> None:
    await two_chats(desk)
    exchange = desk.app.window._session_actions.exchange
    session_id = desk.messages.model().conversation.session_id
    file = tmp_path / "chat.json"
    exchange.export(session_id, str(file), "json", whole=True)
    await until(lambda: "is written to chat.json" in desk.status, "exported")
    exchange.bring_in(str(file))
    await until(lambda: len(desk.titles) == 3, "imported")
    await until(lambda: desk.messages.model().conversation.session_id != session_id)
    await until(lambda: len(desk.statuses) == 2)
    desk.find(QAction, "branchMapAction").trigger()
    view = desk.find(BranchMap, "branchMap")
    await until(view.isVisible, "the map")
    assert [len(row) for row in view.layout_shown.rows] == [1, 1]
    desk.find(QAction, "pinAction").trigger()
    await until(lambda: desk.find(QAction, "pinAction").text() == "Un&pin chat", "pinned")
