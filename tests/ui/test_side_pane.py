"""The chats at the side: found by their titles, renamed in place, folded away where there is no room."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QMenu, QWidget

from tests.ui.desk import Desk, at_the_desk, until

CTRL = Qt.KeyboardModifier.ControlModifier
QUESTIONS = ("What do residual pathways do?", "Wetland carbon models?", "Why do pathways matter?")


async def three_chats(desk: Desk) -> None:
    await desk.open()
    for question in QUESTIONS:
        desk.press(Qt.Key.Key_N, CTRL)
        await desk.ask(question)
    await until(lambda: set(desk.titles) == set(QUESTIONS), "three chats")


@pytest.mark.req("U-1", "U-5")
@at_the_desk
async def test_a_chat_is_found_by_words_of_its_title_and_opened_with_the_keyboard(desk: Desk) -> None:
    await three_chats(desk)
    desk.press(Qt.Key.Key_K, CTRL)
    field = desk.find(QLineEdit, "sessionSearch")
    assert field.hasFocus()
    desk.press_text(field, "PATHWAYS resid")
    assert desk.titles == [QUESTIONS[0]]
    desk.press(Qt.Key.Key_Return, widget=field)
    await until(lambda: desk.find(QLabel, "chatTitle").text() == QUESTIONS[0])
    await until(lambda: len(desk.statuses) == 2)
    await desk.drawn()
    assert QUESTIONS[0] in desk.page
    desk.press(Qt.Key.Key_K, CTRL)
    desk.press_text(field, "xyz")
    assert desk.titles == []
    assert desk.find(QLabel, "sessionSearchTold").isVisible()
    desk.press(Qt.Key.Key_Escape, widget=field)
    assert len(desk.titles) == 3
    assert not desk.find(QLabel, "sessionSearchTold").isVisible()
    assert desk.composer.hasFocus()


@pytest.mark.req("U-1", "T-2")
@at_the_desk
async def test_a_chat_is_renamed_in_its_place_and_keeps_the_name_after_a_restart(desk: Desk) -> None:
    await three_chats(desk)
    order = desk.titles
    desk.press(Qt.Key.Key_F2)
    field = desk.find(QLineEdit, "sessionTitleField")
    assert field.text() == QUESTIONS[2]
    field.clear()
    desk.press_text(field, "Pathways <b>& more</b>")
    desk.press(Qt.Key.Key_Return, widget=field)
    await until(lambda: "Pathways <b>& more</b>" in desk.titles)
    # A name is no answer: the chat stays where it was.
    assert [title for title in desk.titles if title in order] == [title for title in order if title != QUESTIONS[2]]
    assert desk.titles.index("Pathways <b>& more</b>") == order.index(QUESTIONS[2])
    assert desk.find(QLabel, "chatTitle").text() == "Pathways <b>& more</b>"
    assert desk.app.window.windowTitle() == "Pathways <b>& more</b> – BibGenie"
    await desk.close()
    await desk.open()
    await until(lambda: "Pathways <b>& more</b>" in desk.titles)


@pytest.mark.req("U-1")
@at_the_desk
async def test_a_name_being_written_is_not_taken_away_by_a_list_that_changes_meanwhile(desk: Desk) -> None:
    await three_chats(desk)
    desk.press(Qt.Key.Key_F2)
    field = desk.find(QLineEdit, "sessionTitleField")
    field.clear()
    desk.press_text(field, "Half a na")
    desk.app.window.session_list.show_sessions(())
    assert field.isVisible()
    assert field.text() == "Half a na"
    desk.press(Qt.Key.Key_Escape, widget=field)
    await until(lambda: desk.titles == [])


@pytest.mark.req("U-1")
@at_the_desk
async def test_an_empty_name_changes_nothing(desk: Desk) -> None:
    await three_chats(desk)
    before = desk.titles
    desk.press(Qt.Key.Key_F2)
    field = desk.find(QLineEdit, "sessionTitleField")
    field.setText("   ")
    desk.press(Qt.Key.Key_Return, widget=field)
    assert desk.titles == before


@pytest.mark.req("U-1", "U-5")
@at_the_desk
async def test_a_chats_menu_opens_and_renames(desk: Desk) -> None:
    await three_chats(desk)
    rows = desk.app.window.session_list
    index = next(
        rows.model().index(row, 0)
        for row in range(rows.model().rowCount())
        if rows.model().index(row, 0).data() == QUESTIONS[0]
    )
    menu: QMenu = rows.context_menu(index)
    opening, renaming = menu.actions()[:2]
    opening.trigger()
    await until(lambda: desk.find(QLabel, "chatTitle").text() == QUESTIONS[0])
    renaming.trigger()
    assert desk.find(QLineEdit, "sessionTitleField").text() == QUESTIONS[0]


@pytest.mark.req("U-1")
@at_the_desk
async def test_the_side_folds_away_in_a_narrow_window_and_comes_when_it_is_wanted(desk: Desk) -> None:
    app = await desk.open()
    side = desk.find(QWidget, "sidePane")
    assert side.isVisible()
    app.window.resize(600, 500)
    assert not side.isVisible()
    desk.press(Qt.Key.Key_K, CTRL)
    assert side.isVisible()
    assert desk.find(QLineEdit, "sessionSearch").hasFocus()
    desk.find(QAction, "chatsAction").trigger()
    assert not side.isVisible()
    app.window.resize(1000, 700)
    assert side.isVisible()


@pytest.mark.req("U-5")
@at_the_desk
async def test_f2_renames_the_chat_that_the_keys_have_reached(desk: Desk) -> None:
    await three_chats(desk)
    desk.sessions.setFocus()
    desk.press(Qt.Key.Key_Down, widget=desk.sessions)
    reached = desk.sessions.currentIndex().data()
    assert reached != desk.find(QLabel, "chatTitle").text()
    desk.press(Qt.Key.Key_F2, widget=desk.sessions)
    field = desk.find(QLineEdit, "sessionTitleField")
    assert field.text() == reached
    # Pressed again it changes nothing.
    field.setText("Another")
    desk.press(Qt.Key.Key_F2, widget=field)
    assert field.text() == "Another"
    desk.press(Qt.Key.Key_Return, widget=field)
    await until(lambda: "Another" in desk.titles)


@pytest.mark.req("U-5")
@at_the_desk
async def test_folding_the_side_away_leaves_the_focus_in_the_composer(desk: Desk) -> None:
    await desk.open()
    await desk.ask(QUESTIONS[0])
    await until(lambda: desk.titles)
    side = desk.find(QWidget, "sidePane")
    for place in ("sessionSearch", "sessionList", "newSessionButton", "sessionTitleField"):
        if place == "sessionTitleField":
            desk.press(Qt.Key.Key_F2)
        focus = desk.find(QWidget, place)
        focus.setFocus()
        desk.press(Qt.Key.Key_B, CTRL, widget=focus)
        assert not side.isVisible()
        assert desk.composer.hasFocus(), place
        desk.press(Qt.Key.Key_B, CTRL)
        assert side.isVisible()


def compose(field: QWidget) -> None:
    QApplication.sendEvent(field, QInputMethodEvent("にほん", []))


@pytest.mark.req("U-5")
@at_the_desk
async def test_keys_of_an_input_method_neither_leave_the_search_nor_open_a_chat(desk: Desk) -> None:
    await three_chats(desk)
    shown = desk.find(QLabel, "chatTitle").text()
    desk.press(Qt.Key.Key_K, CTRL)
    field = desk.find(QLineEdit, "sessionSearch")
    compose(field)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Tab):
        QTest.keyClick(field, key)
        assert field.hasFocus(), key
    commit = QInputMethodEvent()
    commit.setCommitString("日本")
    QApplication.sendEvent(field, commit)
    assert field.text() == "日本"
    assert desk.find(QLabel, "chatTitle").text() == shown
    desk.press(Qt.Key.Key_Escape, widget=field)
    assert desk.composer.hasFocus()


@pytest.mark.req("U-5")
@at_the_desk
async def test_enter_that_ends_a_composition_does_not_end_renaming(desk: Desk) -> None:
    await three_chats(desk)
    desk.press(Qt.Key.Key_F2)
    field = desk.find(QLineEdit, "sessionTitleField")
    field.clear()
    compose(field)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Tab):
        QTest.keyClick(field, key)
        assert field.hasFocus(), key
    commit = QInputMethodEvent()
    commit.setCommitString("日本")
    QApplication.sendEvent(field, commit)
    QTest.keyClick(field, Qt.Key.Key_Return)
    await until(lambda: "日本" in desk.titles)


@pytest.mark.req("S-1")
@at_the_desk
async def test_a_title_stands_in_the_window_as_it_is(desk: Desk) -> None:
    app = await desk.open()
    desk.composer.setPlainText("in\u202etxt [*] <b>?")
    desk.press(Qt.Key.Key_Return)
    await until(lambda: len(desk.statuses) == 2 and not desk.answering)
    assert desk.find(QLabel, "chatTitle").accessibleName() == "intxt [*] <b>?"
    # Qt takes [*] for the mark of a changed document; doubled it is shown.
    assert app.window.windowTitle() == "intxt [*][*] <b>? – BibGenie"
