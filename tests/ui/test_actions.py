"""Everything that can be done is in a menu with its key, and the list of keys is what the menus say."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QDialog, QLabel, QMenu

from tests.ui.desk import Desk, at_the_desk, until

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def menu_actions(desk: Desk) -> list[QAction]:
    """What can be chosen in the menus and in those inside them."""
    found: list[QAction] = []
    waiting = desk.app.window.menuBar().actions()
    while waiting:
        action = waiting.pop(0)
        menu = action.menu()
        if isinstance(menu, QMenu):
            waiting += menu.actions()
        elif not action.isSeparator():
            found.append(action)
    return found


@pytest.mark.req("U-5")
@at_the_desk
async def test_every_action_of_the_window_is_in_a_menu_and_no_two_share_a_key(desk: Desk) -> None:
    app = await desk.open()
    listed = menu_actions(desk)
    own = [
        action
        for action in app.window.findChildren(QAction, options=Qt.FindChildOption.FindDirectChildrenOnly)
        if action.objectName().endswith("Action")
    ]
    assert own
    assert set(own) <= set(listed)
    keys = [key.toString() for action in listed for key in action.shortcuts()]
    assert len(keys) == len(set(keys))
    assert all(action.text().replace("&", "") for action in listed)


@pytest.mark.req("U-5")
@at_the_desk
async def test_the_keys_of_the_drawing_do_what_it_says(desk: Desk) -> None:
    await desk.open()
    keys = {key.toString(): action.objectName() for action in menu_actions(desk) for key in action.shortcuts()}
    assert {
        "Ctrl+N": "newSessionAction",
        "Ctrl+K": "searchSessionsAction",
        "Ctrl+L": "composeAction",
        "Ctrl+F": "findAction",
        "Esc": "stopAction",
        "Ctrl+/": "shortcutsAction",
    }.items() <= keys.items()
    desk.messages.setFocus()
    desk.press(Qt.Key.Key_L, CTRL, widget=desk.app.window)
    assert desk.composer.hasFocus()


@pytest.mark.req("U-5")
@at_the_desk
async def test_the_list_of_keys_names_each_that_a_menu_has(desk: Desk) -> None:
    await desk.open()
    desk.press(Qt.Key.Key_Slash, CTRL)
    dialog = desk.find(QDialog, "shortcutsDialog")
    told = {label.text() for label in dialog.findChildren(QLabel)}
    for action in menu_actions(desk):
        if action.shortcuts():
            assert action.text().replace("&", "") in told
            keys = [key.toString(QKeySequence.SequenceFormat.NativeText) for key in action.shortcuts()]
            assert ", ".join(keys) in told
    dialog.close()


@pytest.mark.req("U-1", "U-5")
@at_the_desk
async def test_a_message_is_copied_as_it_was_written_with_its_citations(desk: Desk) -> None:
    await desk.open()
    await desk.library_indexed()
    copy = desk.find(QAction, "copyAction")
    assert not copy.isEnabled()
    await desk.ask("What do residual pathways do?")
    assert copy.isEnabled()
    desk.press(Qt.Key.Key_C, CTRL, SHIFT)
    copied = QGuiApplication.clipboard().text()
    assert copied == desk.messages.model().message(1).source
    assert "[Smith et al. 2020, p. 118]" in copied
    assert "copied" in desk.status
    desk.messages.set_current_row(0)
    copy.trigger()
    assert QGuiApplication.clipboard().text() == "What do residual pathways do?"


@pytest.mark.req("U-1")
@at_the_desk
async def test_the_edit_menu_works_on_whatever_has_the_focus(desk: Desk) -> None:
    await desk.open()
    desk.type("one two")
    desk.find(QAction, "selectAllAction").trigger()
    desk.find(QAction, "cutAction").trigger()
    assert desk.composer.toPlainText() == ""
    desk.find(QAction, "pasteAction").trigger()
    desk.find(QAction, "pasteAction").trigger()
    assert desk.composer.toPlainText() == "one twoone two"
    desk.find(QAction, "undoAction").trigger()
    assert desk.composer.toPlainText() == "one two"
    desk.press(Qt.Key.Key_Return)
    await until(lambda: len(desk.statuses) == 2 and not desk.answering)
    await desk.drawn()
    desk.messages.set_current_row(0)
    desk.messages.setFocus()
    desk.find(QAction, "selectAllAction").trigger()
    desk.find(QAction, "copyTextAction").trigger()
    assert QGuiApplication.clipboard().text() == "one two"


@pytest.mark.req("U-1")
@at_the_desk
async def test_the_up_key_in_the_empty_box_brings_the_last_question_back(desk: Desk) -> None:
    await desk.open()
    await desk.ask("First?")
    await desk.ask("Second\nquestion?")
    desk.press(Qt.Key.Key_Up)
    assert desk.composer.toPlainText() == "Second\nquestion?"
    # In a box with text the key moves the cursor, as ever.
    desk.composer.setPlainText("x")
    desk.press(Qt.Key.Key_Up)
    assert desk.composer.toPlainText() == "x"


@pytest.mark.req("U-5")
@at_the_desk
async def test_no_two_entries_of_a_menu_share_a_letter(desk: Desk) -> None:
    await desk.open()
    bar = desk.app.window.menuBar()
    menus = [[action.text() for action in bar.actions()]]
    menus += [
        [action.text() for action in menu.actions() if not action.isSeparator()]
        for item in bar.actions()
        if isinstance(menu := item.menu(), QMenu)
    ]
    for texts in menus:
        letters = [text[text.index("&") + 1].lower() for text in texts]
        assert len(letters) == len(set(letters)), texts
