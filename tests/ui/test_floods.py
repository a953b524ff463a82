"""Much at once and for long: deltas faster than they can be drawn, hostile answers, an hour of chatting."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, QUrl, Slot
from PySide6.QtGui import QAction, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit, QToolButton, QWidget

from bibgenie_desktop.ui.chat.text_box import TextBox
from tests.discipline.lengths import Loops
from tests.servers.llm import LlmServer
from tests.ui.desk import Desk, at_the_desk, engines, until

Steps: TypeAlias = list[dict[str, Any]]
CTRL = Qt.KeyboardModifier.ControlModifier


def model_at(server: LlmServer) -> tuple[str, ...]:
    return ("--model", "openai/scripted", "--api-base", server.base_url)


def text_of_box(desk: Desk) -> str:
    """The text of the last answer as far as it is on the page."""
    return "\n".join(box.toPlainText() for box in desk.messages.findChildren(TextBox) if box.isVisible())


class Paints(QObject):
    """Counts how often a text of the page is laid out anew, and what the person's keys waited behind."""

    def __init__(self, page: QWidget) -> None:
        super().__init__()
        self.count = 0
        page.viewport().installEventFilter(self)  # type: ignore[attr-defined]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


@pytest.mark.req("A-1", "U-4")
@at_the_desk
async def test_a_flood_of_deltas_is_drawn_in_few_steps_and_wholly(desk: Desk) -> None:
    words = [f"word{number} " for number in range(8_000)]
    answer: Steps = [{"text": word} for word in words]
    async with LlmServer([[*answer, {"finish": "stop"}]]) as server:
        await desk.open(*model_at(server))
        paints = Paints(desk.messages)
        desk.type("Why?")
        desk.press(Qt.Key.Key_Return)
        await until(lambda: desk.answering)
        # The person goes on writing, and it is all there.
        desk.type("meanwhile")
        assert desk.composer.toPlainText() == "meanwhile"
        await until(lambda: desk.statuses == ["user stored", "assistant stored"], "the end of the flood")
        await desk.drawn()
        assert desk.messages.model().message(1).source == "".join(words)
        assert "word7999" in text_of_box(desk)
        assert paints.count < len(words) / 10
        assert desk.composer.toPlainText() == "meanwhile"


HOSTILE = (
    "![remote]({url}/a.png) ![local](file:///etc/passwd) <img src='{url}/b.png'>\n\n",
    "[a](javascript:alert(1)) [b](file:///etc/passwd) [c](data:text/html,x) <script>fetch('{url}')</script>\n\n",
    "> " * 40 + "deep\n\n",
    "| a | b |\n|--|--|\n" + "| c | d |\n" * 400 + "\n",
    "$\\frac{{a}}{{ and \\(x and $$y\n\n",
    "x" * 200_000 + "\n\n",
    "```python\nnever = closed\n",
)


class Opened(QObject):
    """Whatever the app hands to the system to open."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.urls.append(url.toString())


@pytest.fixture
def opened(qapp: QApplication) -> Iterator[Opened]:
    """Takes what would go to the system, as a handler that the system has."""
    taking = Opened()
    schemes = ("http", "https", "file", "javascript", "data", "zotero")
    for scheme in schemes:
        QDesktopServices.setUrlHandler(scheme, taking, "take")  # type: ignore[arg-type]
    yield taking
    for scheme in schemes:
        QDesktopServices.unsetUrlHandler(scheme)


@pytest.mark.req("S-1", "U-4")
@at_the_desk
async def test_hostile_markdown_streams_loads_nothing_and_the_chat_goes_on(desk: Desk, opened: Opened) -> None:
    async with LlmServer([[{"text": "never asked"}]]) as elsewhere:
        texts = [part.replace("{url}", elsewhere.base_url).replace("{{", "{").replace("}}", "}") for part in HOSTILE]
        answer: Steps = [
            {"text": text[start : start + 4_000]} for text in texts for start in range(0, len(text), 4_000)
        ]
        async with LlmServer([[*answer, {"finish": "stop"}], [{"text": "Calm."}, {"finish": "stop"}]]) as server:
            await desk.open(*model_at(server), "--context-window", "1000000")
            await desk.ask("Why?")
            assert desk.messages.model().message(1).source == "".join(texts)
            for row in (0, 1):
                desk.messages.go_to_row(row)
                await desk.drawn()
            await desk.ask("And now?")
            assert "Calm." in desk.page
        assert elsewhere.requests == []
        assert opened.urls == []


def resident_megabytes() -> float:
    """What this process holds (Linux)."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096 / 2**20


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.req("U-4", "T-6", "U-1")
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="counts what a process holds in /proc")
def test_an_hour_of_chatting_leaves_nothing_behind(desk: Desk, loops: Loops) -> None:
    """Questions, new chats, old ones, stops, searches, copies and themes, round after round: nothing grows."""
    rounds = loops(4, 150)
    body = "**Bold** and `code`.\n\n| a | b |\n|--|--|\n| c | d |\n\n```python\nx = 1\n```\n\n$a^2$ " + "words " * 300
    answer: Steps = [{"text": body[start : start + 40]} for start in range(0, len(body), 40)]
    stalled: Steps = [{"text": "One "}, {"stall": True}]

    async def chat() -> None:
        script = [[*answer, {"finish": "stop"}], [*answer, {"finish": "stop"}], stalled] * (rounds + 2)
        async with LlmServer(script) as server:
            await desk.open(*model_at(server))
            held: list[tuple[float, int, int, int]] = []
            for number in range(rounds + 2):
                await one_round(number)
                gc.collect()
                widgets = len(QApplication.allWidgets())
                timers = len(desk.app.findChildren(QTimer))
                held.append((resident_megabytes(), open_files(), widgets, timers))
            # The first rounds fill caches and pools.
            first, last = held[1], held[-1]
            assert last[1] <= first[1] + 2, f"open files: {[each[1] for each in held]}"
            assert last[2] <= first[2] + 20, f"widgets: {[each[2] for each in held]}"
            assert last[3] == first[3], f"timers: {[each[3] for each in held]}"
            assert last[0] <= first[0] + 30 + 0.15 * rounds, f"memory: {[round(each[0]) for each in held]}"
            assert len(engines()) == 1

    async def one_round(number: int) -> None:
        desk.press(Qt.Key.Key_N, CTRL)
        await desk.ask(f"Question {number}?")
        await desk.ask(f"Again {number}?")
        desk.type("Stop this")
        desk.press(Qt.Key.Key_Return)
        await until(lambda: "One" in desk.page and desk.answering)
        desk.press(Qt.Key.Key_Escape)
        await until(lambda: not desk.answering)
        desk.press(Qt.Key.Key_F, CTRL)
        field = desk.find(QLineEdit, "findField")
        field.clear()
        desk.press_text(field, "words")
        desk.press(Qt.Key.Key_Escape, widget=field)
        desk.find(QAction, "copyAction").trigger()
        assert desk.find(QToolButton, "sendButton").isVisible()
        for scheme in (Qt.ColorScheme.Dark, Qt.ColorScheme.Light):
            QGuiApplication.styleHints().colorSchemeChanged.emit(scheme)
        await until(lambda: f"Question {number}?" in desk.titles)
        await desk.choose(f"Question {number // 2}?")
        desk.composer.setPlainText("")
        await desk.drawn()

    desk.loop.run_until_complete(chat())
