"""A checkpoint is a line across the page; what it stands for is a shade lighter, what is kept word for word is not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.commands import FetchCheckpoint, OpenSession, Retry, SendMessage
from bibgenie_desktop.protocol.events import Branch, BranchChanged, TurnStarted
from bibgenie_desktop.protocol.values import BranchRow
from bibgenie_desktop.ui.chat.wording import token_count
from bibgenie_desktop.ui.theme import LIGHT
from tests.ui.branched import stored, turns
from tests.ui.compacted import Compacted, compacted_window, divider
from tests.ui.message_page import boxes

pytestmark = [pytest.mark.gui, pytest.mark.req("C-2", "C-17")]


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[Compacted]:
    with compacted_window(qtbot) as compacted:
        yield compacted


def standings(chat: Compacted) -> dict[str, str]:
    """What the rows that exist are drawn as, by their nodes."""
    rows = chat.window.window.message_list.page.rows
    return {
        row.message.node_id: row.page.standing
        for _, row in sorted(rows.items())
        if row.message is not None and row.page is not None and row.message.role != "checkpoint"
    }


def ink(chat: Compacted, number: int) -> str:
    """The colour of the text of a row."""
    [box] = boxes(chat.window.row(number))
    return box.palette().color(box.palette().ColorRole.Text).name()


def reopen(chat: Compacted, rows: list[BranchRow]) -> None:
    chat.window.controller.new_chat()
    chat.window.open_chat(rows)


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (0, "0"),
        (812, "812"),
        (999, "999"),
        (1_000, "1k"),
        (6_000, "6k"),
        (6_130, "6.1k"),
        (9_949, "9.9k"),
        (9_960, "10k"),
        (41_200, "41k"),
        (999_400, "999k"),
        (999_700, "1M"),
        (1_234_000, "1.2M"),
    ],
)
def test_tokens_are_told_as_short_as_can_be(tokens: int, words: str) -> None:
    usual = QLocale()
    QLocale.setDefault(QLocale.Language.English)
    try:
        assert token_count(tokens) == words
    finally:
        QLocale.setDefault(usual)


def test_a_divider_tells_how_much_was_freed_and_is_no_message(chat: Compacted) -> None:
    chat.commit([*turns(3), divider()])
    row = chat.window.row(6)
    assert row.accessibleName() == "Earlier context compacted · 41k → 6k"
    assert not boxes(row)
    assert [child.objectName() for child in row.findChildren(QWidget)] == ["checkpointViewButton"]


@pytest.mark.req("D-12")
def test_a_checkpoint_without_a_model_says_so(chat: Compacted) -> None:
    row = BranchRow("c1", "checkpoint", "", None, None, 9, kind="deterministic", first_kept_id="q3", tokens_after=1)
    chat.commit([*turns(3), row])
    assert chat.window.row(6).accessibleName() == "Earlier context compacted · without a model"


@pytest.mark.parametrize("how", ["click", "tab and enter", "enter", "menu"])
def test_its_button_and_enter_open_the_inspector(chat: Compacted, how: str) -> None:
    window = chat.window
    chat.commit([*turns(3), divider()])
    match how:
        case "click":
            window.click(window.part(6, "checkpointViewButton"))
        case "tab and enter":
            window.choose(6)
            window.press(Qt.Key.Key_Tab)
            assert window.focus == "checkpointViewButton"
            window.press(Qt.Key.Key_Return)
        case "enter":
            window.choose(6)
            window.press(Qt.Key.Key_Return)
        case _:
            window.action("checkpointAction").trigger()
    asked = window.last(FetchCheckpoint)
    assert (asked.session_id, asked.node_id, window.count(FetchCheckpoint)) == ("s1", "c1", 1)
    assert window.find(QWidget, "checkpointInspector").isVisible()


def test_enter_on_a_message_opens_nothing(chat: Compacted) -> None:
    chat.commit([*turns(3), divider()])
    chat.window.choose(5)
    chat.window.press(Qt.Key.Key_Return)
    assert chat.window.count(FetchCheckpoint) == 0
    chat.window.controller.new_chat()
    assert not chat.window.action("checkpointAction").isEnabled()


def test_what_it_stands_for_is_lighter_and_the_rest_begins_at_a_line(chat: Compacted) -> None:
    before = ink(chat, 0)
    height = chat.window.row(4).height()
    chat.commit([*turns(3), divider()])
    assert standings(chat) == {
        "q1": "covered",
        "a1": "covered",
        "q2": "covered",
        "a2": "covered",
        "q3": "first",
        "a3": "kept",
    }
    assert ink(chat, 5) == before == LIGHT.text
    assert ink(chat, 0) == ink(chat, 1) != before
    assert QColor(ink(chat, 0)).lightness() > QColor(before).lightness()
    assert chat.window.row(4).height() > height
    assert "part of the summary" in chat.window.row(0).accessibleName()
    assert "part of the summary" not in chat.window.row(4).accessibleName()


def test_nothing_is_lighter_where_nothing_was_compacted(chat: Compacted) -> None:
    assert set(standings(chat).values()) == {"kept"}


@pytest.mark.req("D-2")
def test_where_nothing_older_is_kept_the_divider_itself_is_the_line(chat: Compacted) -> None:
    reopen(chat, [*turns(1), divider(kept=""), stored("q2"), stored("a2", "assistant")])
    assert standings(chat) == {"q1": "covered", "a1": "covered", "q2": "kept", "a2": "kept"}


@pytest.mark.req("C-12")
def test_only_the_newest_of_several_counts(chat: Compacted) -> None:
    rows = turns(3)
    reopen(chat, [*rows[:4], divider("c1", "q2"), *rows[4:], divider("c2", "q3")])
    assert standings(chat) == {
        "q1": "covered",
        "a1": "covered",
        "q2": "covered",
        "a2": "covered",
        "q3": "first",
        "a3": "kept",
    }


@pytest.mark.req("T-4")
def test_a_branch_without_the_checkpoint_is_shown_without_it(chat: Compacted) -> None:
    chat.commit([*turns(3), divider()])
    window = chat.window
    window.take(Branch("s1", "Title", 3, tuple(turns(3)), request=0))
    window.choose(6)
    window.action("retryAction").trigger()
    window.take(TurnStarted("s1", "q3", "Title", "m", "retry", "a2", request=window.last(Retry).request))
    assert set(standings(chat).values()) == {"kept"}
    assert "c1" not in window.node_ids


@pytest.mark.req("C-13")
def test_a_checkpoint_that_makes_room_for_a_question_is_shown_above_it(chat: Compacted) -> None:
    window = chat.window
    window.ask("Large?")
    request = window.last(SendMessage).request
    chat.start("preflight", request=request)
    chat.commit([*turns(3), divider()])
    assert window.node_ids[-2:] == ["c1", ""]
    chat.end("applied", request=request)
    window.take(TurnStarted("s1", "q4", "Title", "m", request=request))
    assert window.node_ids[-3:] == ["c1", "q4", ""]
    assert window.controller.conversation.answering


def test_a_chat_that_was_compacted_while_another_was_shown_is_read_when_it_is_shown_again(chat: Compacted) -> None:
    window = chat.window
    chat.start()
    window.open_chat(turns(1), session="s2")
    window.take(BranchChanged("compact", "s1", "c1", 2, ("c1",)))
    window.controller.open_session("s1")
    assert window.last(OpenSession).session_id == "s1"
    window.branch([*turns(3), divider()])
    assert window.node_ids[-1] == "c1"


@pytest.mark.req("U-1")
def test_the_reader_stays_where_they_are_when_a_checkpoint_comes(chat: Compacted) -> None:
    window = chat.window
    window.texts = {f"{role}{n}": "word " * 300 for role in "qa" for n in range(1, 9)}
    reopen(chat, turns(8))
    window.choose(4)
    page = window.window.message_list.page
    before = page.top_of(4)
    window.take()
    rows = [*turns(8), divider(kept="q8")]
    chat.commit(rows)
    assert page.top_of(4) == before


@pytest.mark.req("U-5")
def test_the_line_and_the_words_are_drawn(chat: Compacted) -> None:
    chat.commit([*turns(3), divider()])
    row = chat.window.row(4)
    image = row.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    band = range(0, 30)
    inks = {image.pixelColor(x, y).name() for y in band for x in range(image.width())}
    assert LIGHT.line in inks
