"""What a question costs with the offline assistant over the demo library.

    python -m benchmarks.bench_ask [--rounds N]

The answer: CPU of one answer in this process, the library being indexed (goal: at most 300 ms). The command: wall and
CPU of all of `bibgenie_desktop ask`, from its second run on, against `python -c 'import sqlalchemy, pymupdf'` in the
same minute (goal: a ratio of the medians of at most 2.5). Goals: issue "First", speed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bibgenie_desktop.cli.options import parse_options
from bibgenie_desktop.cli.wiring import Setting, open_engine
from bibgenie_desktop.protocol.commands import SendMessage
from bibgenie_desktop.protocol.events import Event, TurnFinished

CHECKOUT = Path(__file__).parents[1]
QUESTION = "What does front matter numbering do to page citations?"


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds by the clock, and of CPU."""

    wall: float
    cpu: float


def median(costs: list[Cost]) -> Cost:
    return Cost(statistics.median(cost.wall for cost in costs), statistics.median(cost.cpu for cost in costs))


async def answers(profile: Path, rounds: int) -> list[Cost]:
    """One cost for each answer; each begins a chat of its own."""
    costs: list[Cost] = []
    events: list[Event] = []
    options = parse_options(["--profile", str(profile), "--zotero", "demo", "--model", "offline"])
    async with open_engine(Setting.of(options), events.append) as engine:
        engine.start()
        await engine.library_settled()
        for _ in range(rounds):
            wall, cpu = time.perf_counter(), time.process_time()
            await engine.handle(SendMessage(QUESTION))
            await engine.turns_settled()
            costs.append(Cost(time.perf_counter() - wall, time.process_time() - cpu))
    assert sum(isinstance(event, TurnFinished) for event in events) == rounds
    return costs


def run(arguments: list[str]) -> Cost:
    """A process of Python from its start to its end."""

    def children() -> float:
        times = os.times()
        return times.children_user + times.children_system

    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    wall, cpu = time.perf_counter(), children()
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    return Cost(time.perf_counter() - wall, children() - cpu)


def commands(profile: Path, rounds: int) -> tuple[Cost, Cost]:
    """Medians of the command and of the imports, which take turns."""
    ask = ["-P", "-m", "bibgenie_desktop", "ask", QUESTION, "--zotero", "demo", "--profile", str(profile)]
    imports = ["-c", "import sqlalchemy, pymupdf"]
    run(ask)
    run(imports)
    costs = [(run(ask), run(imports)) for _ in range(rounds)]
    return median([cost for cost, _ in costs]), median([cost for _, cost in costs])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        first, *others = asyncio.run(answers(Path(folder, "answers"), rounds + 1))
        ask, imports = commands(Path(folder, "commands"), rounds)
    answer = median(others)
    print(f"{'':28}{'wall':>10}{'CPU':>10}")
    print(f"{'the first answer':28}{first.wall * 1000:7.0f} ms{first.cpu * 1000:7.0f} ms   (goal: 300 ms of CPU)")
    print(f"{'an answer, median':28}{answer.wall * 1000:7.0f} ms{answer.cpu * 1000:7.0f} ms   (goal: 300 ms of CPU)")
    print(f"{'the command, median':28}{ask.wall * 1000:7.0f} ms{ask.cpu * 1000:7.0f} ms")
    print(f"{'its imports alone, median':28}{imports.wall * 1000:7.0f} ms{imports.cpu * 1000:7.0f} ms")
    print(f"{'ratio':28}{ask.wall / imports.wall:10.2f}{ask.cpu / imports.cpu:10.2f}   (goal: 2.5)")


if __name__ == "__main__":
    main()
