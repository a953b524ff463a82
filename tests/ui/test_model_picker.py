"""Choosing the model: from the menu, by its name, and what is told while and where it cannot be loaded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QActionGroup, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QMenu, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.events import ModelList, ModelState
from bibgenie_desktop.protocol.values import ModelRow
from bibgenie_desktop.ui.model_picker import ModelPicker
from tests.servers.llm import LlmServer
from tests.ui.desk import Desk, at_the_desk, until


def offered(desk: Desk) -> dict[str, bool]:
    """The models in the menu, and which is chosen."""
    return {
        action.text(): action.isChecked() for action in desk.find(QMenu, "modelMenu").actions() if action.isCheckable()
    }


def choose(desk: Desk, name: str) -> None:
    next(action for action in desk.find(QMenu, "modelMenu").actions() if action.text() == name).trigger()


@pytest.mark.req("A-2", "A-6")
@at_the_desk
async def test_the_next_question_is_answered_by_the_model_that_is_chosen(desk: Desk) -> None:
    async with LlmServer([[{"text": "From the model."}, {"finish": "stop"}]]) as server:
        await desk.open("--model", "openai/scripted", "--api-base", server.base_url)
        picker = desk.find(QToolButton, "modelPicker")
        await until(lambda: offered(desk).get("openai/scripted"), "the model is chosen")
        await until(lambda: picker.text() == "openai/scripted", "the model is loaded")
        await desk.ask("Why?")
        assert "From the model." in desk.page
        choose(desk, "offline assistant")
        await until(lambda: picker.text() == "offline assistant")
        assert offered(desk) == {"offline assistant": True, "openai/scripted": False}
        await desk.ask("What do residual pathways do?")
        assert "I am the offline assistant" in desk.page


@pytest.mark.req("A-2", "S-2")
@at_the_desk
async def test_another_model_is_chosen_by_its_name_and_a_missing_key_is_one_sentence(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    await desk.open()
    choose(desk, "Another model…")
    dialog = desk.find(QDialog, "modelDialog")
    field = desk.find(QLineEdit, "modelNameField")
    use = dialog.findChildren(QPushButton)[0]
    field.clear()
    assert not use.isEnabled()
    desk.press_text(field, " anthropic/some-model ")
    desk.press(Qt.Key.Key_Return, widget=field)
    await until(lambda: offered(desk).get("anthropic/some-model"), "the model is chosen")
    await until(lambda: "ANTHROPIC_API_KEY" in desk.notice, "the sentence")
    assert desk.find(QToolButton, "modelPicker").text() == "anthropic/some-model"


@pytest.mark.req("A-2")
@at_the_desk
async def test_a_name_that_is_none_is_refused_and_the_model_stays(desk: Desk) -> None:
    await desk.open()
    picker = desk.find(QToolButton, "modelPicker")
    await until(lambda: picker.text() == "offline assistant")
    picker.chosen.emit("bad\nname")  # type: ignore[attr-defined]
    await until(lambda: desk.notice)
    assert picker.text() == "offline assistant"


HOSTILE = '<b>bold</b><img src="file:///etc/hostname">'


@pytest.fixture
def picker(qtbot: QtBot) -> Iterator[ModelPicker]:
    window = QWidget()
    qtbot.addWidget(window)
    made = ModelPicker(window)
    window.show()
    yield made
    window.hide()


def listed(*names: str) -> ModelList:
    return ModelList(tuple(ModelRow(name, HOSTILE) for name in names), names[0])


def names_of(picker: ModelPicker) -> list[str]:
    return [action.text() for action in picker.menu().actions() if action.isCheckable()]


@pytest.mark.req("S-1")
def test_what_is_told_of_a_model_is_text(picker: ModelPicker) -> None:
    picker.show_models(listed("a/b"))
    picker.show_state(ModelState("a/b", "failed", HOSTILE))
    page = QTextDocument()
    for tip in (picker.toolTip(), picker.menu().actions()[0].toolTip()):
        page.setHtml(tip)
        assert HOSTILE in page.toPlainText().replace("\u200b", "")


@pytest.mark.req("U-4")
def test_a_list_that_comes_often_leaves_nothing_behind(picker: ModelPicker) -> None:
    for _ in range(20):
        picker.show_models(listed("a/b", "c/d"))
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert len(picker.findChildren(QActionGroup)) == 1


@pytest.mark.req("U-5")
@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_menu_that_is_open_changes_once_it_is_closed(picker: ModelPicker, qtbot: QtBot) -> None:
    picker.show_models(listed("a/b", "c/d"))
    chosen: list[str] = []
    picker.chosen.connect(chosen.append)
    picker.menu().popup(picker.mapToGlobal(picker.rect().center()))
    picker.show_models(listed("e/f"))
    assert names_of(picker) == ["a/b", "c/d"]
    picker.menu().setActiveAction(picker.menu().actions()[1])
    QTest.keyClick(picker.menu(), Qt.Key.Key_Return)
    assert chosen == ["c/d"]
    qtbot.waitUntil(lambda: names_of(picker) == ["e/f"])


def test_a_long_name_gives_way_where_there_is_no_room(picker: ModelPicker) -> None:
    picker.show_models(listed("provider/a-model-with-a-rather-long-name"))
    assert picker.minimumSizeHint().width() < picker.sizeHint().width()
    picker.resize(picker.minimumSizeHint())
    narrow = picker.grab().toImage()
    picker.show_models(listed("provider/a-model-with-a-rather-long-xxxx"))
    assert narrow == picker.grab().toImage()


@pytest.mark.req("U-4", "U-5")
@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize("by_key", [False, True])
def test_the_menu_opens_without_an_event_loop_of_its_own(picker: ModelPicker, qtbot: QtBot, by_key: bool) -> None:
    picker.show_models(listed("a/b", "c/d"))
    # In an event loop of its own this would come first, and close the menu.
    QTimer.singleShot(0, picker, picker.menu().close)
    if by_key:
        QTest.keyClick(picker, Qt.Key.Key_Space)
    else:
        QTest.mouseClick(picker, Qt.MouseButton.LeftButton)
    assert picker.menu().isVisible()
    qtbot.waitUntil(lambda: not picker.menu().isVisible())
