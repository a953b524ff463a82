"""The message list as a page: only what is seen exists, and the reader's place stays whatever happens around it."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.values import BranchRow, Segment
from bibgenie_desktop.ui.chat.conversation import Conversation
from bibgenie_desktop.ui.chat.jump_button import JumpButton
from bibgenie_desktop.ui.chat.message import Message
from bibgenie_desktop.ui.chat.page_layout import END_PIXELS
from bibgenie_desktop.ui.chat.row_pool import KEPT, RowPool
from bibgenie_desktop.ui.chat.rows import Row
from bibgenie_desktop.ui.chat.text_box import TextBox
from bibgenie_desktop.ui.theme import DARK, LIGHT
from tests.ui.chat_corpus import conversation as research_chat
from tests.ui.message_page import MessagePage, Recorder, boxes, open_page, text_of

pytestmark = pytest.mark.gui

ALL_ROWS = 40
"""More rows than ever exist at once on a page of 500 pixels: six screens of the smallest rows, and those kept."""


@pytest.fixture
def page(qtbot: QtBot) -> Iterator[MessagePage]:
    with open_page(qtbot) as opened:
        yield opened


def chat_of(*texts: str, role: Any = "user") -> Conversation:
    chat = Conversation("s1", "A chat")
    for number, text in enumerate(texts):
        message = Message(role, node_id=f"n{number}", created_at="2026-01-02T08:00:00+00:00")
        message.add_text(text)
        chat.messages.append(message)
    chat.loaded = True
    return chat


def rows_made(page: MessagePage) -> int:
    return len(page.view.viewport().findChildren(Row))


# Opening


@pytest.mark.req("U-4")
def test_of_ten_thousand_messages_only_those_in_sight_exist(page: MessagePage) -> None:
    page.show(research_chat(10_000))
    page.check()
    assert page.value == page.end > 500_000
    assert 9_999 in page.rows
    assert rows_made(page) <= len(page.rows) + 1
    page.rest()
    page.check()
    assert rows_made(page) <= ALL_ROWS


def test_an_empty_chat_is_an_empty_page(page: MessagePage) -> None:
    assert not page.rows
    assert page.end == 0
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageDown):
        page.press(key)
    page.wheel(1)
    assert page.view.current_row == -1
    assert not page.view.find_text("x")


def test_a_chat_shorter_than_the_page_begins_at_its_top(page: MessagePage) -> None:
    page.show(chat_of("one", "two"))
    page.check()
    assert page.tops[0] == 0
    assert page.end == 0
    assert page.view.page.at_end


def test_another_chat_is_shown_at_its_end_wherever_the_reader_was(page: MessagePage) -> None:
    page.show(research_chat(60))
    page.scroll_to(100)
    page.show(research_chat(80))
    page.check()
    assert page.value == page.end
    assert max(page.rows) == 79


# The reader's place

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("wheel"), st.integers(-6, 6).filter(bool)),
        st.tuples(st.just("jump"), st.integers(0, 1_000)),
        st.tuples(st.just("rest"), st.just(0)),
        st.tuples(st.just("key"), st.sampled_from(["Key_PageUp", "Key_PageDown", "Key_Up", "Key_Down"])),
        st.tuples(st.just("end"), st.just(0)),
        st.tuples(st.just("stream"), st.integers(1, 400)),
    ),
    max_size=12,
)


@pytest.mark.req("U-4")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_whatever_the_reader_does_rows_fill_the_page_and_move_as_one(page: MessagePage, steps: list[Any]) -> None:
    """A row that is in sight before and after a step moves exactly as far as the others, and resting moves none."""
    page.show(research_chat(120))
    page.begin_answer()
    page.check()
    for kind, amount in steps:
        before, was_at_end = page.tops, page.view.page.at_end
        if kind == "wheel":
            page.wheel(amount)
        elif kind == "jump":
            page.scroll_to(page.end * amount // 1_000)
        elif kind == "rest":
            page.rest()
        elif kind == "key":
            page.press(getattr(Qt.Key, amount))
        elif kind == "end":
            page.press(Qt.Key.Key_End)
        else:
            page.conversation.add_text("more words " * amount)
            page.tick()
        page.check()
        moved = {page.tops[number] - before[number] for number in before.keys() & page.tops.keys()}
        assert len(moved) <= 1
        if kind == "rest" or (kind == "stream" and not was_at_end):
            assert moved <= {0}
        if was_at_end and kind in ("rest", "stream"):
            assert page.view.page.at_end


@pytest.mark.req("U-4")
def test_a_turn_of_the_wheel_moves_the_page_by_its_lines_also_where_no_row_was_seen_yet(page: MessagePage) -> None:
    page.show(research_chat(400))
    rng = random.Random(4)
    for _ in range(60):
        if rng.random() < 0.1:
            page.scroll_to(rng.randrange(page.end))
        notches = rng.choice((-2, -1, 1, 2))
        before = page.tops
        room = page.value if notches < 0 else page.end - page.value
        page.wheel(notches)
        page.check()
        common = before.keys() & page.tops.keys()
        assert common
        moved = {before[number] - page.tops[number] for number in common}
        assert moved == {notches * 3 * page.view.page.measures.line} or room < 400


@pytest.mark.req("U-4")
def test_the_wheel_over_a_text_turns_the_page(page: MessagePage) -> None:
    page.show(research_chat(40))
    before = page.value
    page.wheel(-1, over=page.boxes[-1].viewport())
    assert page.value == before - 3 * page.view.page.measures.line
    text, size = page.boxes[-1], page.boxes[-1].document().defaultFont()
    page.wheel(-1, over=text.viewport(), modifier=Qt.KeyboardModifier.ControlModifier)
    assert text.document().defaultFont() == size
    assert text.font() == page.view.font()
    page.check()


@pytest.mark.req("U-4")
def test_there_and_back_is_the_same_place(page: MessagePage) -> None:
    page.show(research_chat(2_000))
    page.scroll_to(page.end // 3)
    page.rest()
    here, tops = page.value, page.tops
    for _ in range(30):
        page.wheel(-2)
    for _ in range(30):
        page.wheel(2)
    assert page.tops == tops
    page.scroll_to(10)
    page.scroll_to(page.end)
    # Heights that became known since count: the page is another one, but the rows are the same.
    page.scroll_to(page.view.page.index.top(min(tops)) - tops[min(tops)])
    assert page.tops == tops
    assert abs(page.value - here) < 20_000


@pytest.mark.req("U-4")
def test_what_is_laid_out_ahead_of_the_reader_moves_nothing(page: MessagePage) -> None:
    page.show(chat_of(*["word " * (number % 90) for number in range(500)]))
    page.scroll_to(page.end // 2)
    before = page.tops
    assert len(page.view.page.rows) == len(page.rows)
    page.rest()
    assert page.tops == before
    near = page.view.page.near()
    assert near.start < min(page.rows)
    assert near.stop - 1 > max(page.rows)
    assert set(near) <= page.view.page.rows.keys()


@pytest.mark.req("U-4")
def test_what_was_laid_out_ahead_is_not_rendered_again_when_it_comes_into_sight(qtbot: QtBot) -> None:
    answers = Recorder()
    with open_page(qtbot, answers) as page:
        page.show(research_chat(100))
        page.scroll_to(page.end // 2)
        page.rest()
        answers.rendered.clear()
        page.wheel(1)
        page.wheel(1)
        assert answers.rendered == []


@pytest.mark.req("U-4")
def test_the_top_of_the_page_is_reached_whatever_the_estimates_were(page: MessagePage) -> None:
    page.show(chat_of(*["\n" * 60 + "x"] * 30, *["word " * 400] * 30))
    while page.value:
        before = page.tops
        page.wheel(-3)
        page.check()
        assert page.tops != before
    assert page.tops[0] == 0


@pytest.mark.req("U-4")
@pytest.mark.parametrize("mirrored", [False, True])
def test_the_line_at_the_top_stays_while_the_page_gets_narrower_and_wider(page: MessagePage, mirrored: bool) -> None:
    if mirrored:
        page.view.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    text = " ".join(f"word{number}" for number in range(1_500))
    page.show(chat_of(*[f"question {number} {text}" for number in range(9)]))
    page.scroll_to(page.end // 2 + 37)
    page.rest()

    def word_at_top() -> tuple[int, str, int]:
        number = min(page.rows)
        box = boxes(page.rows[number])[0]
        y = -box.mapTo(page.view.viewport(), box.rect().topLeft()).y()
        position = box.position_at(y)
        return number, box.toPlainText()[position : position + 30], y - box.y_of(position)

    before, tops = word_at_top(), page.tops
    for width in (700, 520, 460, 610, 800):
        page.view.resize(width, 500)
        page.check()
        number, text, below = word_at_top()
        assert number == before[0]
        # The line that holds the word may begin with an earlier one now.
        shown = boxes(page.rows[number])[0].toPlainText()
        assert 0 <= shown.index(before[1]) - shown.index(text) < 100
        assert below == before[2]
    assert word_at_top() == before
    assert page.tops == tops


@pytest.mark.req("U-4")
def test_who_is_at_the_end_is_at_the_end_at_any_size(page: MessagePage) -> None:
    page.show(research_chat(60))
    for size in ((500, 300), (900, 700), (640, 90), (800, 500)):
        page.view.resize(*size)
        page.check()
        assert page.value == page.end


# The end


@pytest.mark.req("U-4")
def test_the_readers_place_stays_while_the_answer_grows_and_when_it_ends(page: MessagePage) -> None:
    page.show(research_chat(40))
    page.begin_answer()
    page.conversation.add_text("line\n" * 100)
    page.rest()
    for place in (page.end // 2, page.end - 300):
        page.scroll_to(place)
        page.rest()
        tops = page.tops
        for _ in range(5):
            page.conversation.add_text("more\n" * 10)
            page.rest()
            assert page.tops == {number: tops.get(number, page.tops[number]) for number in page.tops}
    page.conversation.finish("stored", "It was cut off.")
    page.rest()
    page.conversation.ask("And then?", "")
    page.rest()
    assert page.tops == tops


@pytest.mark.req("U-4")
def test_a_reader_at_the_end_follows_and_one_who_left_it_does_not(page: MessagePage) -> None:
    page.show(research_chat(40))
    page.begin_answer()
    for _ in range(20):
        page.conversation.add_text("more\n" * 5)
        page.tick()
        assert page.value == page.end
    page.wheel(-1)
    left = page.value
    page.conversation.add_text("more\n" * 50)
    page.rest()
    assert page.value == left < page.end
    page.scroll_to(page.end - END_PIXELS)
    page.conversation.add_text("more\n" * 50)
    page.rest()
    assert page.value >= page.end - END_PIXELS


@pytest.mark.req("U-4")
def test_the_end_is_left_by_single_pixels(page: MessagePage) -> None:
    """Who is nearly at the end counts as being there, but is not drawn back to it."""
    page.show(research_chat(40))
    for step in range(1, 12):
        page.scroll_to(page.value - 1)
        # As when a message out of sight changes.
        page.view.page.settle()
        assert page.end - page.value == step
        assert page.view.page.at_end == (step <= END_PIXELS)


@pytest.mark.req("U-4", "U-5")
def test_a_button_leads_back_to_the_newest_message(page: MessagePage) -> None:
    page.show(research_chat(40))
    button = page.child("jumpToNewestButton")
    assert not button.isVisible()
    page.wheel(-5)
    assert button.isVisible()
    assert isinstance(button, JumpButton)
    assert button.text() == "Jump to newest"
    assert page.view.viewport().rect().contains(button.geometry())
    page.click(button)
    assert page.value == page.end
    assert not button.isVisible()
    page.begin_answer()
    page.conversation.add_text("more\n" * 50)
    page.rest()
    assert page.value == page.end


@pytest.mark.req("U-4")
def test_rows_taken_away_at_the_end_leave_the_rest_where_it_is(page: MessagePage) -> None:
    chat = research_chat(40)
    page.show(chat)
    chat.ask("Too large?", "2026-01-02T08:00:00+00:00")
    page.wheel(-10)
    tops = page.tops
    chat.take_back()
    page.check()
    assert page.tops == {number: tops[number] for number in page.tops}
    page.press(Qt.Key.Key_End)
    assert max(page.rows) == 39


def test_the_same_chat_loaded_again_leaves_the_reader_where_he_is(page: MessagePage) -> None:
    chat = research_chat(100)
    page.show(chat)
    page.scroll_to(page.end // 2)
    page.rest()
    tops, text = page.tops, page.text
    chat.load([BranchRow(f"n{number}", "user", "", None, None, 10) for number in range(120)])
    page.rest()
    page.check()
    assert min(page.tops) == min(tops)
    assert page.tops[min(tops)] == tops[min(tops)]
    assert page.text.split("\n")[:3] == text.split("\n")[:3]


# Rows live and die


@pytest.mark.req("U-4")
def test_rows_are_used_again_however_far_the_reader_goes(page: MessagePage) -> None:
    page.show(research_chat(3_000))
    page.rest()
    rng = random.Random(6)
    for step in range(120):
        page.scroll_to(rng.randrange(page.end)) if step % 4 else page.press(Qt.Key.Key_PageUp)
        if step % 10 == 0:
            page.rest()
        page.check()
        assert rows_made(page) <= ALL_ROWS
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert rows_made(page) <= ALL_ROWS
    assert len(page.view.viewport().findChildren(TextBox)) <= 2 * ALL_ROWS


def test_rows_that_nobody_needs_are_kept_to_a_number_and_the_rest_die(page: MessagePage) -> None:
    pool = RowPool(page.view.viewport(), lambda row: None)
    before = rows_made(page)
    taken = [pool.take("message") for _ in range(3 * KEPT)]
    assert rows_made(page) == before + 3 * KEPT
    for row in taken:
        pool.give_back(row)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert rows_made(page) == before + KEPT
    assert {id(pool.take("message")) for _ in range(KEPT)} <= {id(row) for row in taken}


def test_a_row_that_is_used_again_shows_nothing_of_the_message_before(page: MessagePage) -> None:
    chat = Conversation("s1", "mixed")
    for number in range(200):
        role: Any = ("user", "assistant", "checkpoint")[number % 3]
        message = Message(role, node_id=f"n{number}", model=f"model{number}")
        if number % 4 == 0:
            message.add(Segment("tool", f"step{number}", state="done", detail=f"detail{number}"))
        message.add_text(f"text{number}")
        message.note = f"note{number}" if number % 5 == 0 else ""
        chat.messages.append(message)
    page.show(chat)
    rng = random.Random(8)
    for _ in range(60):
        page.scroll_to(rng.randrange(page.end))
        page.check()
        for number, row in page.rows.items():
            text = text_of(row)
            digits = {word for word in text.replace("·", " ").split() if word[-1:].isdigit()}
            assert all(word.lstrip("abcdefghijklmnopqrstuvwxyz") == str(number) for word in digits), text


def test_nothing_of_a_page_outlives_it(qtbot: QtBot) -> None:
    with open_page(qtbot) as page:
        page.show(research_chat(100))
        page.rest()
        for _ in range(20):
            page.wheel(-8)
        kept: list[weakref.ref[QWidget]] = [weakref.ref(row) for row in page.view.page.rows.values()]
        kept += [weakref.ref(box) for row in page.view.page.rows.values() for box in boxes(row)]
        kept.append(weakref.ref(page.view))
    del page
    gc.collect()
    assert len([each for each in kept if each() is not None]) == 0


# Bodies that are not here yet


def stored(count: int, characters: int = 300) -> tuple[Conversation, list[BranchRow]]:
    return Conversation("s1", "stored"), [
        BranchRow(f"n{number}", "user" if number % 2 == 0 else "assistant", "", None, None, characters)
        for number in range(count)
    ]


@pytest.mark.req("U-4")
def test_bodies_are_asked_for_where_the_reader_is_and_once(page: MessagePage) -> None:
    chat, rows = stored(10_000)
    wanted: list[tuple[int, int]] = []
    page.view.bodies_wanted.connect(lambda first, last: wanted.append((first, last)))
    page.show(chat)
    chat.load(rows)
    assert wanted == []
    page.rest()
    assert len(wanted) == 1
    assert wanted[0][1] == 9_999
    assert 9_999 - wanted[0][0] < ALL_ROWS
    for step in range(10):
        page.scroll_to(page.end * step // 10)
    assert len(wanted) == 1
    page.rest()
    assert len(wanted) == 2
    assert wanted[1][0] <= min(page.rows) <= max(page.rows) <= wanted[1][1]
    page.wheel(1)
    page.wheel(-1)
    page.rest()
    assert len({row for first, last in wanted for row in range(first, last + 1)}) == sum(
        last - first + 1 for first, last in wanted
    )


@pytest.mark.req("U-4")
def test_a_body_that_comes_moves_nothing_above_the_end_and_nothing_in_sight(page: MessagePage) -> None:
    chat, rows = stored(300)
    page.show(chat)
    chat.load(rows)
    page.rest()
    page.scroll_to(page.end // 2)
    page.rest()
    anchor = min(page.rows)
    place = page.tops[anchor]
    for number in (*range(anchor), anchor + 1):
        chat.add_body(f"n{number}", [Segment("text", f"body {number} " * (number % 90))])
    page.rest()
    page.check()
    assert page.tops[anchor] == place
    page.press(Qt.Key.Key_End)
    for number in range(300):
        chat.add_body(f"n{number}", [Segment("text", f"body {number} " * 50)])
        page.tick()
        assert page.value == page.end
    page.rest()
    assert page.view.drawn
    assert "body 299" in page.text


# Long messages


@pytest.mark.req("U-4", "S-1")
@pytest.mark.parametrize("line_end", ["\n", ""], ids=["lines", "one line"])
def test_a_message_of_two_megabytes_is_drawn_where_the_reader_is(qtbot: QtBot, line_end: str) -> None:
    answers = Recorder()
    with open_page(qtbot, answers) as page:
        words = [f"word{number}" for number in range(220_000)]
        text = " ".join(f"{word}{line_end if number % 12 == 11 else ''}" for number, word in enumerate(words))
        chat = chat_of("short", text, "last", role="assistant")
        assert len(text) > 2_000_000
        page.show(chat)
        page.rest()
        assert sum(map(len, answers.rendered)) < 60_000
        page.check()
        assert "word219999" in page.text
        for part in (0.5, 0.25, 0.0, 0.9):
            answers.rendered.clear()
            page.scroll_to(round(page.end * part))
            page.rest()
            page.check()
            assert sum(map(len, answers.rendered)) < 80_000
            shown = [int(word[4:]) for word in page.text.split() if word.startswith("word") and word[4:].isdigit()]
            assert not shown or abs(shown[0] / 220_000 - part) < 0.12
        before = page.tops
        for _ in range(40):
            page.wheel(3)
            page.check()
        for _ in range(40):
            page.wheel(-3)
        assert page.tops == before


@pytest.mark.req("U-5")
def test_arrow_keys_read_through_long_messages_and_go_on_to_the_next(page: MessagePage) -> None:
    page.show(chat_of("short", "line\n" * 80, "another", "line\n" * 80, "last"))
    page.focus()
    page.press(Qt.Key.Key_Home)
    assert page.view.current_row == 0
    assert page.value == 0
    visited, shown = [0], set()
    for _ in range(200):
        page.press(Qt.Key.Key_Down)
        page.check()
        visited.append(page.view.current_row)
        number = page.view.current_row
        top = page.tops.get(number)
        assert top is not None
        assert top < page.height
        shown.add(page.value)
    assert sorted(visited) == visited
    assert set(visited) == {0, 1, 2, 3, 4}
    assert page.value == page.end
    assert max(after - before for before, after in zip(sorted(shown), sorted(shown)[1:], strict=False)) < page.height
    for _ in range(200):
        page.press(Qt.Key.Key_Up)
    assert page.view.current_row == 0
    assert page.value == 0


@pytest.mark.req("U-5")
def test_keys_go_through_the_page(page: MessagePage) -> None:
    page.show(research_chat(100))
    page.focus()
    line = page.view.page.measures.line
    before = page.value
    page.press(Qt.Key.Key_PageUp)
    page.check()
    assert page.view.page.value < before
    top = page.tops
    page.press(Qt.Key.Key_PageDown)
    page.press(Qt.Key.Key_PageUp)
    assert page.tops == top
    tops = page.tops
    page.press(Qt.Key.Key_PageUp)
    common = tops.keys() & page.tops.keys()
    assert {page.tops[number] - tops[number] for number in common} == {page.height - line}
    page.press(Qt.Key.Key_Home)
    assert page.value == 0
    assert page.view.current_row == 0
    page.press(Qt.Key.Key_End)
    assert page.value == page.end
    assert page.view.current_row == 99


# The look


@pytest.mark.req("U-5")
def test_another_theme_draws_again_what_is_seen_and_nothing_else(qtbot: QtBot) -> None:
    answers = Recorder()
    with open_page(qtbot, answers) as page:
        page.show(research_chat(1_000))
        page.scroll_to(page.end // 2)
        page.rest()
        before, tops = page.text, page.tops
        hints = QGuiApplication.styleHints()
        for scheme, colours in ((Qt.ColorScheme.Dark, DARK), (Qt.ColorScheme.Light, LIGHT)):
            answers.rendered.clear()
            hints.colorSchemeChanged.emit(scheme)
            assert len(answers.rendered) <= len(page.rows)
            assert page.text == before
            assert page.tops == tops
            inks = {fragment.charFormat().foreground().color().name() for fragment in page.fragments}
            assert inks <= {colours.text, colours.muted, colours.verified, colours.doubtful, colours.accent, "#000000"}
            assert colours.text in inks
            assert page.view.viewport().grab().toImage().pixelColor(2, 2).name() == colours.paper
            assert page.shows_what_it_would_draw()
            page.check()


@pytest.mark.req("U-5")
@pytest.mark.parametrize("width", [420, 800, 2_000])
def test_the_column_stands_in_the_middle_and_is_never_wider_than_text_is_read_well(
    page: MessagePage, width: int
) -> None:
    page.show(chat_of("word " * 100, "word " * 100, role="assistant"))
    page.view.resize(width, 500)
    row = page.rows[0]
    right = page.view.viewport().width() - row.geometry().right() - 1
    assert abs(row.x() - right) <= 1
    assert row.width() <= 820
    assert page.view.horizontalScrollBar().maximum() == 0
    assert not page.view.grab().isNull()


@pytest.mark.req("U-5")
def test_a_question_stands_at_the_other_side_where_people_read_from_the_right(page: MessagePage) -> None:
    page.show(chat_of("שאלה"))
    left = boxes(page.rows[0])[0].x()
    page.view.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    page.check()
    assert boxes(page.rows[0])[0].x() < left


@pytest.mark.req("U-5")
def test_another_font_lays_the_page_out_anew_at_the_same_place(page: MessagePage) -> None:
    page.show(research_chat(60))
    page.scroll_to(page.end // 2)
    page.rest()
    first, height = min(page.rows), page.rows[min(page.rows)].height()
    font = page.view.font()
    font.setPointSizeF(font.pointSizeF() * 1.5)
    page.view.setFont(font)
    page.check()
    assert min(page.rows) == first
    assert page.rows[first].height() > height
