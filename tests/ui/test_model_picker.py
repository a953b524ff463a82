"""Choosing the model: from the menu, by its name, and what is told while and where it cannot be loaded."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLineEdit, QMenu, QPushButton, QToolButton

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
