"""Random clicks and keys for a long time: not a word is lost, nothing complains, the window still answers.

A failure tells its seed and what was done last; `MONKEY_SEED=12 pytest tests/ui/test_monkey.py` plays it again.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import pytest
from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from tests.discipline.lengths import Loops
from tests.servers.llm import LlmServer
from tests.ui.desk import Desk, at_the_desk, until
from tests.ui.monkey import Monkey
from tests.ui.monkey_record import Record, engine_errors

ACTS = 45
"""Between two starts of the app."""


class Elsewhere(QObject):
    """Takes the web pages that a click on a link would open."""

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        """Nothing is opened."""


@pytest.fixture
def nothing_opens() -> Iterator[None]:
    """No link leaves the window."""
    taking = Elsewhere()
    for scheme in ("https", "http", "zotero", "file", "mailto"):
        QDesktopServices.setUrlHandler(scheme, taking, "take")  # type: ignore[arg-type]
    yield
    for scheme in ("https", "http", "zotero", "file", "mailto"):
        QDesktopServices.unsetUrlHandler(scheme)


@pytest.fixture
def uncaught(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The errors that reached `sys.excepthook`."""
    found: list[str] = []
    hook = sys.excepthook

    def note(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        found.append(f"{kind.__name__}: {error}")
        hook(kind, error, trace)

    monkeypatch.setattr(sys, "excepthook", note)
    return found


def scripts(seed: int) -> list[list[dict[str, Any]]]:
    """Answers of every kind, most of which wait in the middle until the model goes on."""
    chance = random.Random(seed)
    made: list[list[dict[str, Any]]] = []
    for number in range(4000):
        words = [f"said{number:05}", "and **more**", "`code` of", "$x^2$", "\n\n- a list\n- of two\n\n", "| a | b |\n"]
        text = " ".join(chance.sample(words, chance.randint(1, len(words))))
        waits: list[dict[str, Any]] = [{"wait": True}] if chance.random() < 0.7 else []
        begun: list[dict[str, Any]] = [{"text": text}, *waits, {"text": f" said{number:05} at the end."}]
        match chance.randrange(12):
            case 0:
                made.append([*waits, {"status": 401, "body": "no such key"}])
            case 1:
                made.append([*begun, {"finish": "length"}])
            case 2:
                made.append([*begun, {"drop": "close"}])
            case 3:
                made.append([{"reasoning": "Let me think. "}, *begun, {"finish": "stop"}])
            case 4:
                call = {"index": 0, "id": "c1", "name": "search_library", "arguments": '{"query": "bird"}'}
                made.append([{"text": text}, {"tool_calls": [call]}, {"finish": "tool_calls"}])
            case 5:
                made.append([{"finish": "stop"}])
            case _:
                made.append([*begun, {"finish": "stop"}])
    return made


@pytest.mark.req("T-1", "T-4", "T-6", "U-2", "U-3", "U-5")
@pytest.mark.expect_log("ERROR bibgenie_desktop.transport.supervision: the engine ended: exit code -9")
@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize("windows", [1, 2])
def test_random_events_lose_no_word(
    desk: Desk, windows: int, loops: Loops, nothing_opens: None, uncaught: list[str]
) -> None:
    seed = int(os.environ.get("MONKEY_SEED", 0))
    seconds = float(os.environ.get("MONKEY_SECONDS", loops(9, 300)))

    @at_the_desk
    async def scenario(desk: Desk) -> None:
        record = Record()
        async with LlmServer(scripts(seed)) as server:
            options = ("--model", "openai/scripted", "--api-base", server.base_url)
            monkey = Monkey(desk, seed, server, record)
            began = time.monotonic()
            lives = 0
            while time.monotonic() - began < seconds or not lives:
                lives += 1
                for _ in range(windows):
                    record.listen(await desk.open(*options))
                await monkey.run(ACTS)
                rests = all(each.window.isVisible() for each in desk.opened if not each.closed)
                said = []
                if rests:
                    if lives == 1:
                        monkey.kill_engine()
                    await monkey.settle()
                    said = await monkey.still_answers()
                    await monkey.settle()
                    said += monkey.differences()
                for app in desk.opened:
                    if not app.closed:
                        await app.close()
                await until(lambda: all(each.closed for each in desk.opened), "closed")
                said += [
                    *record.losses(monkey.history, alone=windows == 1),
                    *uncaught,
                    *engine_errors(desk.profile / "logs"),
                ]
                assert not said, "\n".join([f"seed {seed}, life {lives}", *said, "", *monkey.trail[-ACTS:]])
        print(f"seed {seed}: {lives} lives, {len(monkey.trail)} acts, {len(record.typed)} words")

    scenario(desk=desk)
