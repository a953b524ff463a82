"""`/compact [focus]` in the composer is an action, and never a question (G4)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.commands import Compact, SaveDraft, SendMessage
from bibgenie_desktop.ui.compacting import focus_of
from tests.ui.compacted import Compacted, compacted_window

pytestmark = [pytest.mark.gui, pytest.mark.req("C-3")]


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[Compacted]:
    with compacted_window(qtbot) as compacted:
        yield compacted


@pytest.mark.parametrize(
    ("text", "focus"),
    [
        ("/compact", ""),
        ("  /compact  ", ""),
        ("/compact the methods", "the methods"),
        ("/compact\nthe methods\n\nand n", "the methods\n\nand n"),
        ("/compact 方法", "方法"),
        ("/compacted?", None),
        ("/Compact", None),
        ("/fork", None),
        ("/", None),
        ("What does /compact do?", None),
        ("//compact", None),
        ("", None),
    ],
)
def test_only_the_command_itself_is_one(text: str, focus: str | None) -> None:
    assert focus_of(text) == focus


@pytest.mark.parametrize(("text", "focus"), [("/compact", ""), ("/compact the methods", "the methods")])
def test_it_compacts_empties_the_box_and_sends_nothing(chat: Compacted, text: str, focus: str) -> None:
    chat.window.ask(text)
    assert (chat.window.last(Compact).focus, chat.window.count(Compact)) == (focus, 1)
    assert (chat.draft, chat.banner != "", chat.waiting) == ("", True, [])
    chat.end("applied", request=chat.window.last(Compact).request)
    chat.window.rest()
    assert chat.window.count(SendMessage) == 0
    assert chat.window.last(SaveDraft).text == ""


def test_any_other_text_that_begins_with_a_slash_is_just_text(chat: Compacted) -> None:
    chat.window.ask("/fork this, what does it mean?")
    assert chat.window.last(SendMessage).text == "/fork this, what does it mean?"
    assert chat.window.count(Compact) == 0


@pytest.mark.parametrize("state", ["compacting", "answering", "no chat"])
def test_where_it_cannot_be_done_it_says_why_stays_in_the_box_and_waits_for_nothing(
    chat: Compacted, state: str
) -> None:
    window = chat.window
    if state == "compacting":
        chat.start()
    elif state == "answering":
        window.ask("First?")
    else:
        window.controller.new_chat()
    window.ask("/compact the methods")
    assert (chat.draft, chat.waiting, window.count(Compact)) == ("/compact the methods", [], 0)
    assert (
        window.notice
        == {
            "compacting": "Earlier context is being compacted already.",
            "answering": "An answer still streams in this chat: wait for it or stop it.",
            "no chat": "There is nothing to compact yet.",
        }[state]
    )
    assert [each.text for each in window.sent if isinstance(each, SendMessage)] == (
        ["First?"] if state == "answering" else []
    )
