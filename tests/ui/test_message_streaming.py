"""An answer that streams: drawn at most 30 times a second, only where it grows, and less often out of sight."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QPaintEvent, QRegion
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.events import ToolFinished
from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.ui.chat.body import Look, Rendered
from bibgenie_desktop.ui.chat.redrawing import REPAINT_MILLISECONDS, UNSEEN_MILLISECONDS
from bibgenie_desktop.ui.chat.step_line import StepLine
from tests.ui.chat_corpus import conversation as research_chat
from tests.ui.message_page import Blocks, MessagePage, Recorder, boxes, open_page, text_of

pytestmark = [pytest.mark.gui, pytest.mark.req("U-4", "A-1")]


@pytest.fixture
def answers() -> Recorder:
    return Recorder()


@pytest.fixture
def page(qtbot: QtBot, answers: Recorder) -> Iterator[MessagePage]:
    with open_page(qtbot, answers) as opened:
        yield opened


class Painted(QObject):
    """What is painted: each widget with the region of it."""

    def __init__(self) -> None:
        super().__init__()
        self.regions: dict[QWidget, QRegion] = {}

    def eventFilter(self, thing: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent) and isinstance(thing, QWidget):
            self.regions[thing] = self.regions.get(thing, QRegion()).united(event.region())
        return False


def paint() -> None:
    QApplication.processEvents()


@contextmanager
def painting() -> Iterator[Painted]:
    """Paint what waits for it, then listen to what is painted for what is done inside."""
    application = QApplication.instance()
    assert application is not None
    paint()
    painted = Painted()
    application.installEventFilter(painted)
    yield painted
    paint()
    application.removeEventFilter(painted)


def area(region: QRegion) -> int:
    # The stubs do not say that a region gives its rectangles.
    rectangles: Any = region
    return sum(rectangle.width() * rectangle.height() for rectangle in rectangles)


def test_a_flood_of_deltas_is_drawn_once_a_pause(page: MessagePage, answers: Recorder) -> None:
    page.begin_answer()
    page.rest()
    answers.rendered.clear()
    for number in range(1_000):
        page.conversation.add_text(f"word{number} ")
    assert len(answers.rendered) == 1
    assert REPAINT_MILLISECONDS in [timer.running for timer in page.timers.made]
    page.rest()
    assert len(answers.rendered) == 2
    assert page.text.endswith("word999 ")


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_an_answer_reads_the_same_however_it_was_cut_into_deltas(page: MessagePage, size: int) -> None:
    text = "\n\nIn short:\n\n- one is “this”\n- two\n\n1. first\n\nThe end.\n"
    page.begin_answer()
    page.conversation.start_tool("c1", "Search the library for “this”")
    page.rest()
    page.conversation.finish_tool(ToolFinished("s1", "c1", "done", "2 passages", 0))
    for start in range(0, len(text), size):
        page.conversation.add_text(text[start : start + size])
        page.rest()
        page.check()
    streamed = text_of(page.rows[1]).split("\n")[1:]
    page.conversation.finish("stored")
    page.rest()
    page.check()
    assert text_of(page.rows[1]).split("\n")[1:] == streamed
    assert "\n".join(streamed) == "Search the library for “this” · 2 passages\n" + text.strip("\n")


def test_only_the_growing_message_is_rendered_and_only_its_end(page: MessagePage, answers: Recorder) -> None:
    page.show(research_chat(50))
    page.begin_answer()
    for number in range(200):
        page.conversation.add_text(f"line {number} of the answer\n")
        if number == 100:
            page.tick()
            answers.rendered.clear()
        page.tick()
    assert max(map(len, answers.rendered)) < 120
    assert all("of the answer" in text for text in answers.rendered)


def test_an_answer_that_grows_is_painted_where_it_grows(page: MessagePage) -> None:
    page.begin_answer()
    page.conversation.add_text("line\n" * 10 + "the end")
    page.rest()
    for more in (" grows", "\nby a line\nand another"):
        before = boxes(page.rows[1])[0].height()
        with painting() as painted:
            page.conversation.add_text(more)
            page.tick()
        box = boxes(page.rows[1])[0]
        region = painted.regions[box.viewport()].boundingRect()
        assert region.top() >= before - 2 * page.view.page.measures.line
        assert region.bottom() >= box.height() - 1
        assert page.rows[0] not in painted.regions


@pytest.mark.parametrize("end", ["the end", "\n".join(f"- item {number}" for number in range(9))])
def test_who_follows_sees_the_picture_move_and_only_what_may_have_changed_painted(qtbot: QtBot, end: str) -> None:
    with open_page(qtbot, Blocks()) as page:
        page.show(research_chat(30))
        page.begin_answer()
        page.conversation.add_text("line\n\n" * 30 + end)
        page.rest()
        before = page.end
        with painting() as painted:
            page.conversation.add_text(f"\n{end[:2]}by a line " + "and on " * 20)
            page.tick()
        ground = page.view.viewport()
        assert page.value == page.end > before
        assert 0 < area(painted.regions[ground]) < area(QRegion(ground.rect())) / 4
        assert page.shows_what_it_would_draw()


def test_a_turn_of_the_wheel_moves_the_picture_and_paints_only_what_is_new(page: MessagePage) -> None:
    page.show(research_chat(50))
    page.wheel(-4)
    page.rest()
    with painting() as painted:
        page.wheel(-1)
    ground = page.view.viewport()
    assert 0 < area(painted.regions[ground]) < area(QRegion(ground.rect())) / 3
    assert page.shows_what_it_would_draw()


@pytest.mark.parametrize("seed", range(8))
def test_moving_the_picture_leaves_no_traces(qtbot: QtBot, seed: int) -> None:
    chance = random.Random(seed)
    with open_page(qtbot, Blocks()) as page:
        page.show(research_chat(60, seed=seed))
        page.begin_answer()
        for _ in range(25):
            match chance.choice(("wheel", "wheel", "rest", "jump", "grow", "grow", "end", "paint", "fold", "size")):
                case "wheel":
                    page.wheel(chance.choice((-3, -1, 1, 2)))
                case "rest":
                    page.rest()
                case "jump":
                    page.scroll_to(chance.randrange(page.end))
                case "grow":
                    page.conversation.add_text(chance.choice(("word " * 9, "\n\n", "- item\n", "| a | b\n")))
                    page.tick()
                case "end":
                    page.press(Qt.Key.Key_End)
                case "fold":
                    lines = page.view.findChildren(StepLine)
                    if visible := [line for line in lines if line.isVisible()]:
                        page.click(visible[0])
                case "size":
                    page.view.resize(chance.randrange(500, 800), 500)
                case _:
                    QApplication.processEvents()
        assert page.shows_what_it_would_draw()


def test_an_answer_out_of_sight_is_looked_at_four_times_a_second(page: MessagePage, answers: Recorder) -> None:
    page.show(research_chat(200))
    page.begin_answer()
    page.rest()
    page.scroll_to(page.end // 2)
    page.rest()
    tops, end = page.tops, page.end
    answers.rendered.clear()
    for _ in range(50):
        page.conversation.add_text("more words\n" * 20)
    waiting = [timer.running for timer in page.timers.made if timer.running is not None]
    assert waiting == [UNSEEN_MILLISECONDS]
    assert answers.rendered == []
    page.tick()
    assert answers.rendered == []
    assert page.end > end
    assert page.tops == tops
    page.scroll_to(page.end)
    page.check()
    assert page.text.endswith("more words")


def test_an_answer_that_comes_into_sight_is_up_to_date(page: MessagePage) -> None:
    page.show(research_chat(20))
    page.begin_answer()
    page.rest()
    page.wheel(-6)
    page.rest()
    assert 21 in page.view.page.rows
    assert 21 not in page.rows
    page.conversation.add_text("new\n" * 30)
    page.wheel(20)
    page.check()
    assert "new" in text_of(page.rows[21])


def test_steps_change_in_place_while_text_follows(page: MessagePage, answers: Recorder) -> None:
    page.begin_answer()
    page.conversation.add_text("Let me look.")
    page.conversation.start_tool("c1", "Read pages")
    page.rest()
    answers.rendered.clear()
    page.conversation.finish_tool(ToolFinished("s1", "c1", "done", "2 pages", 0))
    page.conversation.add_text("It varies.")
    page.rest()
    page.check()
    assert text_of(page.rows[1]).split("\n")[1:] == ["Let me look.", "Read pages · 2 pages", "It varies."]
    assert answers.rendered == ["It varies."]


def test_an_answer_longer_than_a_piece_goes_on_in_the_next(qtbot: QtBot) -> None:
    with open_page(qtbot, Blocks()) as page:
        page.begin_answer()
        text = "".join(f"paragraph {number} {'word ' * 60}\n\n" for number in range(130))
        for start in range(0, len(text), 700):
            page.conversation.add_text(text[start : start + 700])
            page.tick()
            page.check()
            assert page.value == page.end
        page.conversation.finish("stored", node_id="n5")
        page.rest()
        page.check()
        assert "paragraph 129" in page.text
        page.press(Qt.Key.Key_Home)
        seen: list[int] = []
        while page.value < page.end:
            seen += [int(line.split()[1]) for line in page.text.split("\n") if line.startswith("paragraph")]
            page.wheel(2)
            page.check()
        assert set(seen) | {127, 128, 129} == set(range(130))


def test_a_formula_is_shown_as_its_source_until_there_is_a_picture(qtbot: QtBot) -> None:
    class Pictured(Blocks):
        drawn = False

        def render(self, segments: Sequence[Segment], look: Look, *, first_citation: int, first_code: int) -> Rendered:
            rendered = super().render(segments, look, first_citation=first_citation, first_code=first_code)
            if self.drawn or "$x$" not in rendered.html:
                return Rendered(rendered.html.replace("$x$", "(drawn)"), rendered.codes)
            return Rendered(rendered.html, rendered.codes, ("x",))

    answers = Pictured()
    with open_page(qtbot, answers) as page:
        wanted: list[tuple[str, ...]] = []
        page.view.formulas_wanted.connect(wanted.append)
        page.begin_answer()
        page.conversation.add_text("see $x$ here\n\nand there")
        page.rest()
        page.conversation.add_text(" and $x$ again")
        page.rest()
        assert "see $x$ here" in page.text
        assert wanted == [("x",)]
        answers.drawn = True
        page.view.formulas_drawn()
        page.check()
        assert "see (drawn) here" in page.text
        page.conversation.add_text(" and $x$ again")
        page.conversation.finish("stored", node_id="n5")
        page.rest()
        assert "$x$" not in page.text
        assert wanted == [("x",)]
