"""The app in use, with a beat in its event loop; and a process with the beat alone.

python -m benchmarks.window_use idle|window [--explain MILLISECONDS] [OPTION …]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from itertools import cycle
from typing import TypeVar

import qasync
from PySide6.QtCore import QMetaObject, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QListView, QMenu, QPlainTextEdit

from benchmarks.event_loop import Heartbeat, Watchdog
from bibgenie_desktop.app import build
from bibgenie_desktop.app.application import Application

LONG_CHAT = "The chat of ten thousand messages"
QUESTION = "What do wetlands hold?"
SENTENCE = "The peat of the bog holds water, and what was counted there is said of one summer only. "
KEY_SECONDS, WHEEL_SECONDS = 0.04, 0.016
LONGEST_WAIT = 40.0
"""Seconds."""

Kind = TypeVar("Kind", bound=QObject)


def idle() -> None:
    """Only the beat, until standard input ends."""
    qt = QApplication([])
    heartbeat = Heartbeat()
    heartbeat.enter("an idle process beside it")
    heartbeat.start()

    def wait() -> None:
        sys.stdin.read()
        QMetaObject.invokeMethod(qt, "quit", Qt.ConnectionType.QueuedConnection)

    threading.Thread(target=wait, daemon=True).start()
    qt.exec()
    tell(heartbeat)


def window(options: list[str], explain: float) -> None:
    """The app, used by a person who is never idle."""
    gc.disable()  # as where it is started: the app lets the collector work once its window is painted
    qt = QApplication([])
    heartbeat = Heartbeat()
    watchdog = Watchdog(heartbeat, explain)
    with qasync.QEventLoop(qt) as loop:
        application = build(options)
        heartbeat.enter("first paint, engine starts")
        heartbeat.start()
        if explain:
            watchdog.start()
        try:
            loop.run_until_complete(Person(application, heartbeat).work())
        finally:
            heartbeat.stop()
            if explain:
                watchdog.stop()
            application.close()
    tell(heartbeat)


def tell(heartbeat: Heartbeat) -> None:
    """The figures of all phases, on standard output."""
    print(json.dumps({name: turns.figures() for name, turns in heartbeat.phases.items()}))


class Person:
    """Types, clicks and turns the wheel as fast as people do; each key and click in a turn of its own."""

    def __init__(self, application: Application, heartbeat: Heartbeat) -> None:
        self._application = application
        self._window = application.window
        self._heartbeat = heartbeat
        self._composer = self._find(QPlainTextEdit, "composer")
        self._messages = self._window.message_list
        self._chats = self._find(QListView, "sessionList")
        self._notice = self._find(QLabel, "noticeText")
        self._asked = self._messages.model().conversation

    async def work(self) -> None:
        """All phases, in the order of the model's answers."""
        enter = self._heartbeat.enter
        await self._application.ready
        await until(lambda: self._chats.model().rowCount() > 100, "the chats are listed")
        enter("litellm loads, library is indexed")
        await self._ask()
        await until(lambda: self._streams, "the answer streams")
        enter("streams, library is indexed")
        await self._while_streaming(lambda: self._type(SENTENCE), lambda: self._scroll(60))
        enter("streams at 10,000/s, chats opened")
        await self._ask()
        await self._while_streaming(*(self._reading(f"Chat {number}") for number in range(3, 9)))
        enter("streams as fast as it comes")
        await self._ask()
        await self._while_streaming(lambda: self._scroll(60), lambda: self._type(SENTENCE))
        enter("streams, 10,000 messages read")
        await self._ask()
        await self._while_streaming(self._read_long_chat)
        enter("streams, everything else")
        await self._ask()
        others = (self._rename, self._search_chats, self._resize, self._look_around)
        await self._while_streaming(*others)
        enter("the same, nothing streams")
        for does in (self._read_long_chat, *others):
            await does()

    async def _ask(self) -> None:
        """Ask in the chat of the questions, and wait until the answer begins."""
        if self._asked.session_id:
            await self._open(QUESTION)
        self._composer.setFocus()
        self._composer.selectAll()
        await self._type(QUESTION)
        self._press(Qt.Key.Key_Return)
        self._asked = self._messages.model().conversation
        await until(lambda: self._asked.answering, f"the answer begins ({self._notice.text()})")

    async def _while_streaming(self, *doings: Callable[[], Awaitable[None]]) -> None:
        """Do these in turn until the answer has ended, each once at least."""
        for number, does in enumerate(cycle(doings)):
            if number >= len(doings) and not self._asked.answering:
                break
            await does()

    @property
    def _streams(self) -> bool:
        return self._asked.answering and self._asked.messages[-1].characters > 0

    # What a person does

    def _reading(self, title: str) -> Callable[[], Awaitable[None]]:
        async def read() -> None:
            await self._open(title)
            await self._scroll(30)
            await self._page_up(6)

        return read

    async def _read_long_chat(self) -> None:
        await self._open(LONG_CHAT)
        await self._scroll(60)
        await self._page_up(10)
        bar = self._messages.verticalScrollBar()
        for place in range(20):  # the handle is dragged to the beginning
            bar.setValue(bar.maximum() * (19 - place) // 20)
            await asyncio.sleep(KEY_SECONDS)
        self._do("findAction")
        await self._type("volunteer")
        await self._key(Qt.Key.Key_Return, 5)
        await self._key(Qt.Key.Key_Escape)

    async def _rename(self) -> None:
        await self._open("Chat 2")
        self._do("renameSessionAction")
        await self._type("Chat 2")
        await self._key(Qt.Key.Key_Return)

    async def _search_chats(self) -> None:
        self._do("searchSessionsAction")
        await self._type("chat 17")
        await self._key(Qt.Key.Key_Return)
        self._do("searchSessionsAction")
        await self._key(Qt.Key.Key_Delete)
        await self._key(Qt.Key.Key_Escape)

    async def _resize(self) -> None:
        for width in (*range(1180, 640, -20), *range(640, 1181, 20)):
            self._window.resize(width, 800)
            await asyncio.sleep(WHEEL_SECONDS)

    async def _look_around(self) -> None:
        hints = QGuiApplication.styleHints()
        for scheme in (Qt.ColorScheme.Dark, Qt.ColorScheme.Light):
            hints.setColorScheme(scheme)
            await asyncio.sleep(0.2)
        for name in ("shortcutsAction", "aboutAction"):
            self._do(name)
            await asyncio.sleep(0.2)
            await self._key(Qt.Key.Key_Escape)
        for menu in self._window.menuBar().findChildren(QMenu):
            menu.popup(self._window.mapToGlobal(QPoint(20, 20)))
            await asyncio.sleep(KEY_SECONDS)
            menu.close()
        # On the offscreen platform no window is active after another has closed.
        self._window.activateWindow()
        self._composer.setFocus()

    # The ways to do it

    async def _open(self, title: str) -> None:
        rows = self._chats.model()
        place = next(row for row in range(rows.rowCount()) if rows.index(row, 0).data() == title)
        self._chats.scrollTo(rows.index(place, 0))
        await asyncio.sleep(KEY_SECONDS)
        where = self._chats.visualRect(rows.index(place, 0)).center()
        QTest.mouseClick(self._chats.viewport(), Qt.MouseButton.LeftButton, pos=where)
        await until(lambda: self._messages.model().conversation.title == title, f"{title!r} is open")
        await until(lambda: self._messages.model().conversation.loaded and self._messages.drawn, f"{title!r} is drawn")

    async def _type(self, text: str) -> None:
        for character in text:
            QTest.keyClicks(QApplication.focusWidget() or self._composer, character)
            await asyncio.sleep(KEY_SECONDS)

    def _press(self, key: Qt.Key) -> None:
        QTest.keyClick(QApplication.focusWidget() or self._composer, key)

    async def _key(self, key: Qt.Key, times: int = 1) -> None:
        for _ in range(times):
            self._press(key)
            await asyncio.sleep(KEY_SECONDS)

    async def _page_up(self, times: int) -> None:
        self._messages.setFocus()
        await self._key(Qt.Key.Key_PageUp, times)

    async def _scroll(self, steps: int) -> None:
        """The wheel, up and down again."""
        viewport = self._messages.viewport()
        place = QPointF(viewport.rect().center())
        for step in range(steps):
            turn = QPoint(0, 120 if step < steps // 2 else -120)
            buttons, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
            event = QWheelEvent(
                place, viewport.mapToGlobal(place), QPoint(), turn, buttons, keys, Qt.ScrollPhase.NoScrollPhase, False
            )
            QApplication.sendEvent(viewport, event)
            await asyncio.sleep(WHEEL_SECONDS)

    def _do(self, action: str) -> None:
        self._find(QAction, action).trigger()

    def _find(self, kind: type[Kind], name: str) -> Kind:
        found = self._window.findChild(kind, name)
        assert isinstance(found, kind), name
        return found


async def until(condition: Callable[[], object], what: str) -> None:
    """Wait until it is so. Raises TimeoutError after LONGEST_WAIT."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > LONGEST_WAIT:
            raise TimeoutError(what)
        await asyncio.sleep(0.005)


def main() -> None:
    parser = argparse.ArgumentParser(description="The parts of bench_window that are in use.")
    parser.add_argument("part", choices=("idle", "window"))
    parser.add_argument("--explain", type=float, default=0.0)
    known, options = parser.parse_known_args()
    if known.part == "idle":
        idle()
    else:
        window(options, known.explain)


if __name__ == "__main__":
    main()
