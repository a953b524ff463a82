"""What the message list costs: opening chats of 100 to 10,000 messages, streaming, the wheel, jumping, resizing.

    python -m benchmarks.bench_message_list [--answers MODULE:NAME] [--rounds 3]

Each figure is CPU time of the window's thread, painting included, on the offscreen platform unless QT_QPA_PLATFORM
says otherwise; each round runs in a process of its own. `one document` is what it is compared with: the same chat as
one QTextBrowser. `--answers` names what makes another renderer of answers than the app's, as
`bibgenie_desktop.ui.chat.plain:PlainText`. Ends with 1 if a limit is broken.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bibgenie_desktop.ui.chat.body import RenderBody

COUNTS = (100, 200, 2_000, 10_000)
DELTAS, FLUSHES, STREAMED = 2_000, 749, 9_000
"""An answer of so many characters in so many deltas, 80 a second, drawn 30 times a second."""
STEPS = 200
LIMITS = {
    "10,000 messages open, as a multiple of 100 or 200": 5.0,
    "10,000 messages open, more MB than 100": 60.0,
    "refresh median, ms": 2.5,
    "refresh 95 %, ms": 8.0,
    "refresh worst, ms": 15.0,
    "wheel step 95 %, ms": 16.0,
}


def markdown() -> RenderBody:
    """Answers as the app renders them; formulas stay their source."""
    from bibgenie_desktop.ui.chat.markdown_body import MarkdownBody

    return MarkdownBody(lambda formula: None, lambda name: None)


class Bench:
    """A message list of 900 × 800 in a window, and a clock for what happens in it."""

    def __init__(self, answers: str) -> None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        from PySide6.QtCore import QObject, Qt
        from PySide6.QtWidgets import QApplication, QWidget

        from bibgenie_desktop.ui.chat.conversation import Conversation
        from bibgenie_desktop.ui.chat.view import MessageList
        from bibgenie_desktop.ui.links import LinkRouter
        from bibgenie_desktop.ui.theme import Theme
        from tests.ui.timers import ManualTimers

        self.app = QApplication([])
        self.owner = QObject()
        self.timers = ManualTimers()
        module, _, name = answers.partition(":")
        renderer = getattr(importlib.import_module(module), name)()
        theme, router = Theme(self.owner), LinkRouter(self.owner)
        # As in the app, the keyboard's focus is in another widget of the window.
        self.window = QWidget()
        self.window.resize(900, 900)
        self.view = MessageList(
            theme, router, lambda: datetime(2026, 1, 2, tzinfo=UTC), self.timers, renderer, self.window
        )
        self.view.resize(900, 800)
        elsewhere = QWidget(self.window)
        elsewhere.setGeometry(0, 800, 900, 100)
        elsewhere.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.window.show()
        elsewhere.setFocus()
        self.open(Conversation())

    def paint(self) -> None:
        self.app.processEvents()

    def tick(self) -> None:
        """Let each timer fire once: while an answer streams, that of the repaints never rests."""
        for timer in [timer for timer in self.timers.made if timer.running is not None]:
            timer.fire()

    def rest(self) -> None:
        """Let the list lay out ahead, as it does when nothing else is to be done."""
        self.timers.pass_time()
        self.paint()

    def open(self, chat: Any) -> None:
        self.view.show_conversation(chat)
        self.paint()

    def cost(self, action: Callable[[], object]) -> float:
        """Milliseconds of CPU for an action and the painting that follows from it."""
        start = time.thread_time()
        action()
        self.paint()
        return (time.thread_time() - start) * 1e3


def megabytes() -> float:
    """Memory of this process (on Linux, by /proc; else its peak)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def pace() -> float:
    """Milliseconds of CPU for a million steps of Python: what the machine is worth while its neighbours work."""
    start = time.thread_time()
    total = 0
    for number in range(1_000_000):
        total += number * number
    return (time.thread_time() - start) * 1e3


def spread(costs: list[float]) -> dict[str, float]:
    ordered = sorted(costs)
    return {
        "median": statistics.median(ordered),
        "95 %": ordered[round(0.95 * (len(ordered) - 1))],
        "worst": ordered[-1],
    }


def measure_list(answers: str, count: int) -> dict[str, Any]:
    from tests.ui.chat_corpus import conversation

    bench = Bench(answers)
    # What every later message profits from, the first ones should not pay for.
    bench.open(conversation(60, seed=1))
    bench.rest()
    bench.view.verticalScrollBar().setValue(0)
    bench.open(conversation(0))
    before = megabytes()
    chat = conversation(count)
    made = megabytes()
    found: dict[str, Any] = {"pace": pace()}
    found["open"] = bench.cost(lambda: bench.view.show_conversation(chat))
    bench.rest()
    found["list MB"] = megabytes() - made
    found["chat MB"] = made - before
    for ahead in (False, True):
        name = "rested" if ahead else "hurried"
        found[f"wheel, {name}"] = spread([wheel(bench, -1 if step < STEPS // 2 else 1) for step in steps(bench, ahead)])
        found[f"page, {name}"] = spread([page(bench, step < STEPS // 2) for step in steps(bench, ahead)])
    chance = random.Random(3)
    found["far jump"] = spread([jump(bench, chance.random()) for _ in range(50)])
    found["resize"] = spread([resize(bench, width) for width in (560, 900) * 5])
    found["after all MB"] = megabytes() - made
    found["refresh"] = stream(bench)
    found["refresh, reader elsewhere"] = stream(bench, away=True)
    return found


def steps(bench: Bench, ahead: bool) -> Iterator[int]:
    bench.view.go_to_end()
    for step in range(STEPS):
        if ahead:
            bench.rest()
        yield step


def wheel(bench: Bench, direction: int) -> float:
    from PySide6.QtCore import QPoint, QPointF, Qt
    from PySide6.QtGui import QWheelEvent

    place = QPointF(400, 400)
    event = QWheelEvent(
        place,
        bench.view.viewport().mapToGlobal(place),
        QPoint(),
        QPoint(0, -120 * direction),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    return bench.cost(lambda: bench.app.sendEvent(bench.view.viewport(), event))


def jump(bench: Bench, part: float) -> float:
    bar = bench.view.verticalScrollBar()
    return bench.cost(lambda: bar.setValue(round(part * bar.maximum())))


def resize(bench: Bench, width: int) -> float:
    return bench.cost(lambda: bench.view.resize(width, 800))


def page(bench: Bench, up: bool) -> float:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    return bench.cost(lambda: QTest.keyClick(bench.view, Qt.Key.Key_PageUp if up else Qt.Key.Key_PageDown))


def stream(bench: Bench, *, away: bool = False) -> dict[str, float]:
    """Costs of the repaints of an answer that streams."""
    from tests.ui.chat_corpus import answer

    chat = bench.view.model().conversation
    chat.ask("Why?", "2026-01-01T12:00:00+00:00")
    chat.started("s1", "Why?", f"question {away}", "offline")
    bench.view.go_to_end()
    bench.rest()
    if away:
        bench.view.verticalScrollBar().setValue(bench.view.verticalScrollBar().maximum() // 2)
        bench.rest()
    text = "".join(segment.text for segment in answer(random.Random(5), STREAMED) if segment.kind == "text")[:STREAMED]
    size = STREAMED / DELTAS
    deltas = [text[round(number * size) : round((number + 1) * size)] for number in range(DELTAS)]
    costs = []
    for flush in range(FLUSHES):
        first, last = round(flush * DELTAS / FLUSHES), round((flush + 1) * DELTAS / FLUSHES)

        def draw(first: int = first, last: int = last) -> None:
            for delta in deltas[first:last]:
                chat.add_text(delta)
            bench.tick()

        costs.append(bench.cost(draw))
    chat.finish("stored", node_id=f"answer {away}")
    return {**spread(costs), "the last, whole": bench.cost(bench.tick)}


def measure_document(answers: str, count: int) -> dict[str, Any]:
    """The same chat as one document."""
    from PySide6.QtWidgets import QTextBrowser

    from bibgenie_desktop.ui.chat.body import Look
    from bibgenie_desktop.ui.theme import LIGHT
    from tests.ui.chat_corpus import conversation

    bench = Bench(answers)
    module, _, name = answers.partition(":")
    renderer = getattr(importlib.import_module(module), name)()
    chat = conversation(count)
    before = megabytes()
    browser = QTextBrowser()
    browser.resize(900, 800)
    browser.show()
    bench.paint()
    look = Look(LIGHT, LIGHT.text, 17, str)

    def show() -> None:
        parts = []
        for message in chat.messages:
            segments = [segment for segment in message.segments if segment.kind in ("text", "citation")]
            parts.append(renderer.render(segments, look, first_citation=0, first_code=0).html)
        browser.setHtml("<hr>".join(parts))
        browser.verticalScrollBar().setValue(browser.verticalScrollBar().maximum())

    return {"open": bench.cost(show), "MB": megabytes() - before}


def run(part: str, answers: str, count: int) -> dict[str, Any]:
    """One measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bench_message_list", "--part", part]
    command += ["--answers", answers, "--count", str(count)]
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    found: dict[str, Any] = json.loads(output)
    return found


def best(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """The least of each figure: what the machine does besides is not ours."""
    found: dict[str, Any] = {}
    for name, value in rounds[0].items():
        values = [each[name] for each in rounds]
        found[name] = best(values) if isinstance(value, dict) else min(values)
    return found


def show(name: str, value: Any) -> None:
    if isinstance(value, dict):
        value = "  ".join(f"{word} {figure:.1f}" for word, figure in value.items())
        print(f"  {name:<28} {value}")
    else:
        print(f"  {name:<28} {value:.1f}")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="CPU time and memory of the message list.")
    parser.add_argument("--answers", default="benchmarks.bench_message_list:markdown")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--part", choices=("list", "document"))
    parser.add_argument("--count", type=int, default=0)
    options = parser.parse_args()
    if options.part:
        measure = measure_list if options.part == "list" else measure_document
        print(json.dumps(measure(options.answers, options.count)))
        return 0
    lists: dict[int, dict[str, Any]] = {}
    for count in COUNTS:
        lists[count] = best([run("list", options.answers, count) for _ in range(options.rounds)])
        print(f"{count:,} messages (ms of CPU, MB)")
        for name, value in lists[count].items():
            show(name, value)
    for count in (200, 2_000):
        document = run("document", options.answers, count)
        print(f"{count:,} messages as one document")
        for name, value in document.items():
            show(name, value)
        print(f"  as a multiple of the list    {document['open'] / lists[count]['open']:.1f}")
    small = max(lists[100]["open"], lists[200]["open"])
    everything = [lists[count] for count in COUNTS]
    reached = {
        "10,000 messages open, as a multiple of 100 or 200": lists[10_000]["open"] / small,
        "10,000 messages open, more MB than 100": sum(
            lists[10_000][part] - lists[100][part] for part in ("list MB", "chat MB")
        ),
        "refresh median, ms": max(each["refresh"]["median"] for each in everything),
        "refresh 95 %, ms": max(each["refresh"]["95 %"] for each in everything),
        "refresh worst, ms": max(each["refresh"]["worst"] for each in everything),
        "wheel step 95 %, ms": max(each["wheel, hurried"]["95 %"] for each in everything),
    }
    print("limits")
    for name, limit in LIMITS.items():
        verdict = "holds" if reached[name] <= limit else "BROKEN"
        print(f"  {name:<50} {reached[name]:6.1f} of {limit:5.1f}  {verdict}")
    return 0 if all(reached[name] <= limit for name, limit in LIMITS.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
