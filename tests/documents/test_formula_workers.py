"""A worker draws formulas; whatever a formula does to it, the next one is drawn."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bibgenie_desktop.documents.formula_workers import MOST_REMEMBERED, FormulaWorkers
from bibgenie_desktop.documents.port import DocumentProblem, DrawnFormula, FormulaDrawer
from bibgenie_desktop.transport.child import ChildProcess
from tests.documents.workers import WORKER, Starter

pytestmark = pytest.mark.req("S-1", "U-4")

BOMB = r"\frac{1}{" * 60 + "x" + "}" * 60
"""Its work doubles with each level."""
EVIL = (
    sys.executable,
    "-c",
    "import os, signal, time\n"
    "from bibgenie_desktop.documents import formulas, worker\n"
    "draw = formulas.draw_formula\n"
    "def evil(latex, **options):\n"
    "    if latex == 'die':\n"
    "        os._exit(3)\n"
    "    if latex == 'stall':\n"
    "        time.sleep(3600)\n"
    "    return draw(latex, **options)\n"
    "formulas.draw_formula = evil\n"
    "worker.main()\n",
)
"""A worker with two formulas that do to it what a fault in its libraries could."""
SHORT = 2.0
"""A limit that a test means to reach, and that everything else keeps with ease."""
AGES = 1e6

HARD = [
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}^T = \frac{1}{ad-bc}\begin{bmatrix} d & -b \\ -c & a \end{bmatrix}",
    r"f(x)=\begin{cases} x^2 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}",
    r"\begin{aligned} \nabla\cdot\mathbf{E} &= \rho \\ \nabla\times\mathbf{B} &= \mathbf{J} \end{aligned}",
    r"\text{Größe} = \frac{\text{ёлка}}{\text{Σύνολο}}",
    r"\sqrt[3]{\frac{\partial^2 u}{\partial x^2}} \leq \left\| \hat{\theta} - \theta^{*} \right\|_2",
    "x" + "+y" * 60,
]
REFUSED = [
    r"\ce{H2O}",
    r"\newcommand{\a}{b}\a",
    r"\frac{a}",
    r"\text{精度} = \frac{a}{b}",  # the font of formulas has no such letters
    r"\left( x",
    "x" * 2_001,
    "{" * 900 + "x" + "}" * 900,
    "\x00",
    "\ud800",
]


@asynccontextmanager
async def formula_workers(starter: Starter, **limits: float) -> AsyncIterator[FormulaWorkers]:
    """Workers that are closed at the end. Where no limit is given, none is reached on the slowest machine."""
    workers = FormulaWorkers(starter, **{"seconds": AGES, "patience": 60, "idle": AGES, **limits})
    try:
        yield workers
    finally:
        await workers.close()
        assert all(child.returncode is not None for child in starter.started)


async def drawn(workers: FormulaWorkers, latex: str, *, display: bool = True) -> DrawnFormula:
    formula = await workers.draw(latex, display=display)
    assert formula is not None, latex
    return formula


async def test_formulas_are_drawn_by_one_worker_that_is_started_for_the_first() -> None:
    starter = Starter()
    async with formula_workers(starter) as workers:
        drawer: FormulaDrawer = workers
        assert not starter.started
        for latex in HARD:
            formula = await drawer.draw(latex, display=True)
            assert formula is not None, latex
            assert formula.svg.startswith("<svg ")
            assert formula.svg.endswith("</svg>")
            assert formula.width > 0.5
            assert formula.above > 0.5
        inline = await drawn(workers, r"\sum_{i=1}^n x", display=False)
        assert inline.above < (await drawn(workers, r"\sum_{i=1}^n x")).above
    assert len(starter.started) == 1


async def test_what_cannot_be_drawn_is_nothing_and_costs_no_worker() -> None:
    starter = Starter()
    async with formula_workers(starter) as workers:
        for latex in REFUSED:
            assert await workers.draw(latex, display=True) is None, latex
        await drawn(workers, "x")
    assert len(starter.started) == 1


async def test_formulas_that_are_asked_for_at_once_are_all_drawn() -> None:
    starter = Starter()
    async with formula_workers(starter) as workers:
        formulas = await asyncio.gather(*(drawn(workers, f"x_{{{number}}}") for number in range(100)))
        assert len({formula.svg for formula in formulas}) == 100
    assert len(starter.started) == 1


async def test_a_formula_that_is_too_much_work_is_given_up_by_the_worker_itself() -> None:
    starter = Starter()
    async with formula_workers(starter, seconds=0.05) as workers:
        assert await workers.draw(BOMB, display=True) is None
        await drawn(workers, "x")
    assert len(starter.started) == 1


async def test_a_formula_that_stalls_the_worker_costs_it_and_is_not_tried_again() -> None:
    """Nothing in the worker ends it here: the limit within it is passed by."""
    starter = Starter()
    async with formula_workers(starter, patience=SHORT) as workers:
        assert await workers.draw(BOMB, display=True) is None
        assert starter.started[0].returncode is not None
        assert await workers.draw(BOMB, display=True) is None
        assert len(starter.started) == 1
        await drawn(workers, "x")
    assert len(starter.started) == 2


async def test_formulas_wait_only_for_those_before_them() -> None:
    starter = Starter(EVIL)
    async with formula_workers(starter, patience=SHORT) as workers:
        formulas = await asyncio.gather(*(workers.draw(latex, display=True) for latex in ("x", "stall", "y", "stall")))
        assert [formula is None for formula in formulas] == [False, True, False, True]


async def test_a_formula_that_ends_its_worker_gets_a_second_one_and_then_none() -> None:
    starter = Starter(EVIL)
    async with formula_workers(starter) as workers:
        await drawn(workers, "x")
        assert await workers.draw("die", display=True) is None
        assert [child.returncode for child in starter.started] == [3, 3]
        assert await workers.draw("die", display=True) is None
        await drawn(workers, "x")
        assert len(starter.started) == 3
        assert await workers.draw("die", display=False) is None  # another formula
    assert len(starter.started) == 4


async def test_only_so_many_formulas_are_remembered_as_deadly() -> None:
    starter = Starter((sys.executable, "-c", "print('{\"ready\": true}')"))
    async with formula_workers(starter) as workers:
        workers._left_alone = {(str(number), True): None for number in range(MOST_REMEMBERED)}
        assert await workers.draw("x", display=True) is None
        assert len(workers._left_alone) == MOST_REMEMBERED
        assert ("x", True) in workers._left_alone
        assert ("0", True) not in workers._left_alone


async def test_a_worker_that_died_while_it_waited_is_no_fault_of_the_next_formula() -> None:
    starter = Starter()
    async with formula_workers(starter) as workers:
        await drawn(workers, "x")
        starter.started[0].kill()  # its end may not be known yet
        await drawn(workers, "y")
    assert len(starter.started) == 2


async def test_a_worker_that_has_nothing_to_draw_is_ended_and_started_again() -> None:
    starter = Starter()
    async with formula_workers(starter, idle=0) as workers:
        for number in (1, 2):
            await drawn(workers, "x")
            child = starter.started[-1]
            async with asyncio.timeout(60):
                while await child.receive() is not None:
                    pass
            await child.close()
            assert len(starter.started) == number


async def test_a_cancelled_formula_leaves_usable_workers() -> None:
    starter = Starter(EVIL)
    async with formula_workers(starter) as workers:
        await drawn(workers, "x")
        stalled = asyncio.create_task(workers.draw("stall", display=True))
        waiting = asyncio.create_task(workers.draw("y", display=True))
        also_waiting = asyncio.create_task(workers.draw("z", display=True))
        await asyncio.sleep(0)
        stalled.cancel()
        waiting.cancel()
        results = await asyncio.gather(stalled, waiting, also_waiting, return_exceptions=True)
        assert [type(each) for each in results] == [asyncio.CancelledError, asyncio.CancelledError, DrawnFormula]
    assert len(starter.started) <= 2


@pytest.mark.parametrize("argv", [("/nowhere/no-such-python",), (sys.executable, "-c", "pass")])
async def test_workers_that_do_not_start_are_told_and_no_fault_of_the_formula(argv: tuple[str, ...]) -> None:
    starter = Starter(argv)
    async with formula_workers(starter) as workers:
        for _ in range(3):
            with pytest.raises(DocumentProblem) as raised:
                await workers.draw("x", display=True)
            assert raised.value.code == "no_worker"
        starter.argv = WORKER
        await drawn(workers, "x")


async def test_closing_ends_the_worker_whatever_it_does_and_tells_who_waits() -> None:
    starter = Starter(EVIL)
    async with formula_workers(starter) as workers:
        await drawn(workers, "x")
        tasks = [asyncio.create_task(workers.draw(latex, display=True)) for latex in ("stall", "y")]
        await asyncio.sleep(0)
        await workers.close()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(result) for result in results] == [DocumentProblem, DocumentProblem]
        with pytest.raises(DocumentProblem, match="is closing"):
            await workers.draw("x", display=True)


def test_the_supervising_side_never_imports_what_draws_formulas() -> None:
    source = (
        "import sys, bibgenie_desktop.documents.formula_workers, bibgenie_desktop.engine.formulas\n"
        "known = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted({'ziamath', 'ziafont', 'latex2mathml', 'pymupdf', 'lxml'} & known))"
    )
    finished = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert finished.stdout == "[]\n"


async def test_a_worker_passes_over_what_it_does_not_know_and_imports_ziamath_at_the_first_formula() -> None:
    telling = (
        "import json, sys\nfrom bibgenie_desktop.documents import worker\nwrite = worker._Lines.write\n"
        "def telling(lines, message):\n    write(lines, message | {'loaded': 'ziamath' in sys.modules})\n"
        "worker._Lines.write = telling\nworker.main()\n"
    )
    worker = await ChildProcess.start((sys.executable, "-c", telling))
    assert await worker.receive() == {"ready": True, "loaded": False}
    await worker.send({"op": "sing"})
    await worker.send({"op": "formula", "latex": "{", "display": True, "seconds": 60, "patience": 60})
    assert await worker.receive() == {"formula": None, "loaded": True}
    await worker.close()
    assert worker.error_tail == ""
