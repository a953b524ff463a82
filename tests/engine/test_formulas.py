"""The engine draws formulas for the window: each as it is ready, in pieces that fit the pipe, beside all else."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bibgenie_desktop.documents.formula_workers import FormulaWorkers
from bibgenie_desktop.engine.formulas import LONGEST_SVG, PIECE_CHARACTERS, FormulaDrawing
from bibgenie_desktop.protocol.codec import to_json
from bibgenie_desktop.protocol.messages import (
    LONGEST_FORMULA,
    MOST_FORMULAS,
    CommandDone,
    CommandFailed,
    DrawFormulas,
    Event,
    FormulaDrawn,
    FormulaText,
    Hello,
    SendMessage,
    TurnFinished,
    Welcome,
)
from bibgenie_desktop.transport.served import MESSAGE_LIMIT
from tests.documents.workers import WORKER, Starter
from tests.engine.running import running
from tests.engine.scripted import Gate, ScriptedModel, answers
from tests.engine.shelf import Shelf

pytestmark = pytest.mark.req("U-4")

LARGE = (
    r"\begin{aligned} "
    + r" \\ ".join(
        [r"\nabla \cdot \mathbf{E} &= \frac{\rho}{\varepsilon_0} + \sum_{i=1}^{n} u_i - \int_{\Omega} f\,dx"] * 3
    )
    + r" \end{aligned}"
)


def asking(*formulas: str, request: int = 0) -> DrawFormulas:
    return DrawFormulas(tuple(FormulaText(latex, True) for latex in formulas), request)


def told_to(drawer: FormulaWorkers) -> tuple[FormulaDrawing, list[Event]]:
    events: list[Event] = []
    return FormulaDrawing(drawer, events.append), events


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
    assert failed == FormulaDrawn(latex, True, "", 0, 0, 0, False, 3)
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
    event = FormulaDrawn(character * LONGEST_FORMULA, True, '"' * PIECE_CHARACTERS, 10**6, 10**6, 10**6, True, 2**31)
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
