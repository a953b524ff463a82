"""The engine draws formulas for the window: each as it is ready, in pieces that fit the pipe, beside all else."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bibgenie_desktop.documents.formula_workers import FormulaWorkers
from bibgenie_desktop.engine.formulas import LONGEST_SVG, PIECE_CHARACTERS, FormulaDrawing
from bibgenie_desktop.protocol.codec import to_json
from bibgenie_desktop.protocol.commands import (
    LONGEST_FORMULA,
    MOST_FORMULAS,
    DrawFormulas,
    FormulaText,
    Hello,
    SendMessage,
)
from bibgenie_desktop.protocol.events import CommandDone, CommandFailed, Event, FormulaDrawn, TurnFinished, Welcome
from bibgenie_desktop.transport.served import MESSAGE_LIMIT
from tests.documents.workers import WORKER, Starter
from tests.engine.running import running
from tests.engine.scripted import Gate, ScriptedModel, answers
from tests.engine.shelf import Shelf

pytestmark = pytest.mark.req("U-4")

AGES = 1e6
LARGE = (
    r"\begin{aligned} "
    + r" \\ ".join(
        [r"\nabla \cdot \mathbf{E} &= \frac{\rho}{\varepsilon_0} + \sum_{i=1}^{n} u_i - \int_{\Omega} f\,dx"] * 3
    )
    + r" \end{aligned}"
)


def asking(*formulas: str, request: int = 0) -> DrawFormulas:
    return DrawFormulas(tuple(FormulaText(latex, True) for latex in formulas), request)


@pytest.fixture(autouse=True)
def on_the_slowest_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is skipped there, unless a test says so by its clock."""
    monkeypatch.setattr("bibgenie_desktop.engine.formulas.SECONDS", AGES)


def told_to(drawer: FormulaWorkers) -> tuple[FormulaDrawing, list[Event]]:
    events: list[Event] = []
    return FormulaDrawing(drawer, events.append), events


def each_takes(seconds: float) -> Callable[[], float]:
    """A clock by which every formula takes so long."""
    reads = itertools.count()
    return lambda: next(reads) * seconds


def drawn(events: Sequence[Event]) -> list[FormulaDrawn]:
    return [event for event in events if isinstance(event, FormulaDrawn)]


async def test_each_formula_is_told_when_it_is_ready_and_then_the_command_is_done(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        before = len(room.events)
        formulas = (FormulaText("x", False), FormulaText(r"\frac{a}{b}", True), FormulaText("x", True))
        await room.engine.handle(DrawFormulas(formulas, 7))
        *told, done = room.events[before:]
    assert done == CommandDone(7)
    assert [(each.latex, each.display) for each in drawn(told)] == [("x", False), (r"\frac{a}{b}", True), ("x", True)]
    for each in drawn(told):
        assert ElementTree.fromstring(each.svg).tag == "{http://www.w3.org/2000/svg}svg"
        assert each.request == 7
        assert not each.more
    letter, fraction, _ = drawn(told)
    assert 300 < letter.width < 900
    assert 300 < letter.above < 700
    assert fraction.above + fraction.below > 2 * letter.above


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "latex",
    [
        r"\ce{H2O}",
        r"\newcommand{\a}{b}\a",
        "}{",
        r"\frac{1}{" * 60 + "x" + "}" * 60,
        "\x00" * LONGEST_FORMULA,
    ],
)
async def test_a_formula_that_cannot_be_drawn_is_told_by_no_svg(latex: str) -> None:
    drawing, events = told_to(FormulaWorkers(Starter(), seconds=0.5))
    await drawing.draw(asking(latex, "x", request=3))
    await drawing.close()
    failed, letter, done = events
    assert failed == FormulaDrawn(latex, True, "", 0, 0, 0, request=3)
    assert drawn([letter])[0].svg
    assert done == CommandDone(3)
    assert sizes(events) < MESSAGE_LIMIT


def sizes(events: Sequence[Event]) -> int:
    """Bytes of the largest event on the pipe."""
    return max(len(json.dumps(to_json(event), ensure_ascii=False).encode()) + 1 for event in events)


@pytest.mark.req("S-1")
@pytest.mark.parametrize("svg", ["x" * (LONGEST_SVG + 1), "<svg>\u00e4</svg>", "<svg>\n</svg>", "<svg>\x00</svg>", ""])
async def test_what_a_worker_sends_that_the_pipe_does_not_hold_is_not_passed_on(svg: str) -> None:
    formula = json.dumps({"formula": {"svg": svg, "width": 1.0, "above": 1.0, "below": 0.0}})
    script = f"print('{{\"ready\": true}}', flush=True)\nfor line in open(0):\n    print({formula!r}, flush=True)"
    starter = Starter((sys.executable, "-c", script))
    drawing, events = told_to(FormulaWorkers(starter))
    await drawing.draw(asking("x"))
    await drawing.close()
    assert [each.svg for each in drawn(events)] == [""]


async def test_a_large_formula_comes_in_pieces_that_fit_the_pipe() -> None:
    drawing, events = told_to(FormulaWorkers(Starter(), seconds=1e6))
    await drawing.draw(asking(LARGE))
    await drawing.close()
    pieces = drawn(events)
    assert len(pieces) > 1
    assert [piece.more for piece in pieces] == [True] * (len(pieces) - 1) + [False]
    assert len({(piece.latex, piece.width, piece.above, piece.below) for piece in pieces}) == 1
    whole = "".join(piece.svg for piece in pieces)
    assert ElementTree.fromstring(whole).tag == "{http://www.w3.org/2000/svg}svg"
    assert len(whole) <= LONGEST_SVG
    assert sizes(events) < MESSAGE_LIMIT


@pytest.mark.parametrize("character", ['"', "\x01", "\N{CJK UNIFIED IDEOGRAPH-4E2D}", "\N{MATHEMATICAL BOLD SMALL A}"])
def test_the_largest_piece_fits_the_pipe_whatever_is_in_it(character: str) -> None:
    piece = '"' * PIECE_CHARACTERS
    event = FormulaDrawn(character * LONGEST_FORMULA, True, piece, 10**6, 10**6, 10**6, True, request=2**31)
    assert sizes([event]) < MESSAGE_LIMIT


async def test_a_command_that_asks_for_too_much_is_refused() -> None:
    starter = Starter()
    drawing, events = told_to(FormulaWorkers(starter))
    await drawing.draw(asking(*["x"] * (MOST_FORMULAS + 1), request=4))
    await drawing.draw(asking("x" * (LONGEST_FORMULA + 1), request=5))
    await drawing.close()
    assert [(type(each), each.request) for each in events] == [(CommandFailed, 4), (CommandFailed, 5)]
    assert not starter.started


async def test_without_a_worker_a_formula_is_not_drawn_now_but_when_it_is_asked_for_again() -> None:
    starter = Starter(("/nowhere/no-such-python",))
    drawing, events = told_to(FormulaWorkers(starter))
    await drawing.draw(asking("x"))
    starter.argv = WORKER
    await drawing.draw(asking("x"))
    await drawing.close()
    assert [bool(each.svg) for each in drawn(events)] == [False, True]


@pytest.mark.req("S-1")
async def test_a_command_that_takes_too_long_skips_the_rest_which_can_be_asked_for_again() -> None:
    events: list[Event] = []
    drawing = FormulaDrawing(FormulaWorkers(Starter()), events.append, each_takes(0.3 * AGES))
    formulas = [f"x_{number}" for number in range(8)]
    await drawing.draw(asking(*formulas, request=1))
    assert [(each.latex, bool(each.svg), each.skipped) for each in drawn(events)] == [
        (latex, number < 4, number >= 4) for number, latex in enumerate(formulas)
    ]
    assert events[-1] == CommandDone(1)
    events.clear()
    await drawing.draw(asking(*formulas[4:], request=2))
    await drawing.close()
    assert [(each.latex, bool(each.svg), each.skipped) for each in drawn(events)] == [
        (latex, True, False) for latex in formulas[4:]
    ]


@pytest.mark.req("S-1")
async def test_whatever_one_takes_each_command_tries_its_first() -> None:
    """So that whoever asks again for what was skipped comes to an end."""
    events: list[Event] = []
    drawing = FormulaDrawing(FormulaWorkers(Starter()), events.append, each_takes(10 * AGES))
    left = [f"x_{number}" for number in range(4)]
    while left:
        events.clear()
        await drawing.draw(asking(*left))
        assert [each.latex for each in drawn(events) if each.svg] == left[:1]
        left = [each.latex for each in drawn(events) if each.skipped]
    await drawing.close()


@pytest.mark.req("S-1")
async def test_the_newest_command_goes_before_those_that_wait() -> None:
    """Each waits for the formula that is being drawn, and for no other."""
    told: list[int] = []
    begun: list[asyncio.Task[None]] = []
    told_before: list[int] = []

    def emit(event: Event) -> None:
        told.append(event.request)
        if len(begun) < 3 and told.count(len(begun)) == 1:
            begin()

    def begin() -> None:
        number = len(begun) + 1
        told_before.append(len(told))
        formulas = [f"x_{{{number} {each}}}" for each in range(4)]
        begun.append(asyncio.create_task(drawing.draw(asking(*formulas, request=number))))

    drawing = FormulaDrawing(FormulaWorkers(Starter()), emit)
    begin()
    while not (len(begun) == 3 and all(task.done() for task in begun)):
        await asyncio.wait(begun)
    await drawing.close()
    assert sorted(told) == [1] * 5 + [2] * 5 + [3] * 5
    for number, before in enumerate(told_before, 1):
        begins, ends = told.index(number), len(told) - told[::-1].index(number)
        assert begins - before <= 1
        assert min(told[begins:ends]) == number


@pytest.mark.req("S-1")
async def test_a_command_that_is_given_up_holds_nobody_up() -> None:
    told: list[int] = []
    drawing = FormulaDrawing(FormulaWorkers(Starter()), lambda event: told.append(event.request))
    older, newer, newest = (
        asyncio.create_task(drawing.draw(asking("x", "y", "z", request=number))) for number in (1, 2, 3)
    )
    await asyncio.sleep(0)
    newer.cancel()
    newest.cancel()
    await asyncio.wait([older, newer, newest])
    await drawing.draw(asking("x", request=4))
    await drawing.close()
    assert told == [1, 1, 1, 1, 4, 4]


async def test_other_commands_are_answered_meanwhile(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        drawing = asyncio.create_task(room.engine.handle(asking("x", "y")))
        await asyncio.sleep(0)
        await room.engine.handle(Hello(request=2))
        assert room.told(Welcome)
        assert not drawing.done()
        await drawing
    assert len(room.told(FormulaDrawn)) == 2


async def test_formulas_are_drawn_while_an_answer_streams(shelf: Shelf, tmp_path: Path) -> None:
    """The library is not indexed meanwhile, but the formulas of the answer itself are wanted."""
    gate = Gate()
    async with running(shelf, tmp_path, ScriptedModel([gate, *answers("$x$")])) as room:
        await room.engine.handle(SendMessage("Which letter?"))
        await gate.reached.wait()
        await room.engine.handle(asking("x"))
        assert room.last(FormulaDrawn).svg
        assert not room.told(TurnFinished)
        gate.opened.set()
        await room.engine.turns_settled()


async def test_an_engine_that_closes_does_not_wait_for_formulas(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        drawing = asyncio.create_task(room.engine.handle(asking(*(f"x_{number}" for number in range(MOST_FORMULAS)))))
        await room.until(FormulaDrawn)
        await room.engine.close()
        await drawing
    assert len(room.told(FormulaDrawn)) == MOST_FORMULAS
    assert not room.last(FormulaDrawn).svg
