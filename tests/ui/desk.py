"""Drives the real app as a person would: real keys and clicks, the real engine process, an offscreen window.

A scenario is an `async def` under `@at_the_desk`; it runs on a qasync loop until it returns. Nothing sleeps: `until`
looks at its condition whenever the event loop has nothing left to do, and gives up after a time limit.
"""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import qasync
from PySide6.QtCore import QAbstractEventDispatcher, QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QListView, QPlainTextEdit, QToolButton, QWidget

from bibgenie_desktop.app import build
from bibgenie_desktop.app.application import Application
from bibgenie_desktop.ui.chat.view import MessageList
from tests.ui.message_page import boxes, text_of

Kind = TypeVar("Kind", bound=QObject)

SECONDS = 60.0
"""Limit of one wait: an engine starts in one second, on a busy machine in several."""


async def until(condition: Callable[[], object], what: str = "", seconds: float = SECONDS) -> None:
    """Wait until `condition` holds. Raises AssertionError after a time limit."""
    future = asyncio.get_running_loop().create_future()
    dispatcher = QAbstractEventDispatcher.instance()

    def look() -> None:
        if not future.done() and condition():
            future.set_result(None)
            dispatcher.wakeUp()

    dispatcher.aboutToBlock.connect(look)
    try:
        look()
        async with asyncio.timeout(seconds):
            await future
    except TimeoutError:
        raise AssertionError(f"did not happen: {what or condition}") from None
    finally:
        dispatcher.aboutToBlock.disconnect(look)


class Desk:
    """One person at one profile. `open` starts the app; `app` is the one that runs."""

    def __init__(self, qapp: QApplication, folder: Path, library: str) -> None:
        self.qapp = qapp
        self.loop = qasync.QEventLoop(qapp)
        self.profile = folder / "profile"
        self.library = library
        self.opened: list[Application] = []
        self._looked_at: Application | None = None

    @property
    def app(self) -> Application:
        """The app that is looked at: the one opened last, or what `look_at` chose."""
        return self._looked_at or self.opened[-1]

    def look_at(self, app: Application) -> None:
        """Turn to one of several windows."""
        self._looked_at = app
        app.window.activateWindow()

    async def open(self, *options: str, ready: bool = True) -> Application:
        """Start the app, and wait until the engine answers."""
        argv = ["--profile", str(self.profile), "--zotero", self.library, "--model", "offline", *options]
        self.opened.append(build(argv))
        self._looked_at = None
        if ready:
            await self.app.ready
        return self.app

    async def close(self) -> None:
        await self.app.close()

    # What a person sees

    @property
    def composer(self) -> QPlainTextEdit:
        return self.find(QPlainTextEdit, "composer")

    @property
    def messages(self) -> MessageList:
        return self.find(MessageList, "messageList")

    @property
    def sessions(self) -> QListView:
        return self.find(QListView, "sessionList")

    @property
    def page(self) -> str:
        """The text of the chat as far as it is drawn, with common spaces."""
        rows = self.messages.page.rows
        return "\n".join(text_of(rows[number]) for number in sorted(rows))

    @property
    def status(self) -> str:
        return str(self.find(QLabel, "statusLine").accessibleName())

    @property
    def notice(self) -> str:
        """The sentence above the composer, "" if none is shown."""
        label = self.find(QLabel, "noticeText")
        return label.text() if label.isVisible() else ""

    @property
    def titles(self) -> list[str]:
        """The chats in the list, headings left out."""
        rows = self.sessions.model()
        return [
            str(rows.index(row, 0).data())
            for row in range(rows.rowCount())
            if rows.flags(rows.index(row, 0)) & Qt.ItemFlag.ItemIsSelectable
        ]

    @property
    def statuses(self) -> list[str]:
        """Kind and status of each message."""
        messages = self.messages.model().conversation.messages
        return [f"{message.role} {message.status}" for message in messages]

    def button(self, name: str) -> QToolButton:
        return self.find(QToolButton, name)

    def find(self, kind: type[Kind], name: str) -> Kind:
        """The widget, or the action, of that name in the window."""
        found = self.app.window.findChild(kind, name)
        assert found is not None, name
        return found

    # What a person does

    def type(self, text: str) -> None:
        for number, line in enumerate(text.split("\n")):
            if number:
                self.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
            QTest.keyClicks(self.composer, line)

    def press_text(self, widget: QWidget, text: str) -> None:
        """Type into another field than the composer."""
        QTest.keyClicks(widget, text)

    def press(self, key: Qt.Key, *modifiers: Qt.KeyboardModifier, widget: QWidget | None = None) -> None:
        combined = functools.reduce(lambda a, b: a | b, modifiers, Qt.KeyboardModifier.NoModifier)
        QTest.keyClick(widget or self.composer, key, combined)

    def click(self, widget: QWidget) -> None:
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=widget.rect().center())

    def click_at(
        self,
        widget: QWidget,
        place: QPoint,
        modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
    ) -> None:
        """Press and let go. (QTest would warn that a page does not take the clicks beside its links.)"""
        where = QPointF(widget.mapToGlobal(place))
        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        for kind, held in ((QEvent.Type.MouseButtonPress, left), (QEvent.Type.MouseButtonRelease, none)):
            event = QMouseEvent(kind, QPointF(place), where, left, held, modifier)
            QApplication.sendEvent(widget, event)

    def click_on_text(self, words: str, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Bring words of the chat into sight and click on them."""
        view = self.messages
        assert view.find_text(words, afresh=True), words
        box = next(box for row in view.page.rows.values() for box in boxes(row) if box.textCursor().hasSelection())
        cursor = box.textCursor()
        cursor.setPosition(cursor.selectionStart() + 3)
        self.click_at(box.viewport(), box.cursorRect(cursor).center(), modifier)

    async def ask(self, question: str) -> None:
        """Type a question, press Enter, and wait for the end of the answer."""
        before = len(self.statuses)
        self.type(question)
        self.press(Qt.Key.Key_Return)
        await until(lambda: len(self.statuses) == before + 2 and not self.answering, f"an answer to {question!r}")
        await self.drawn()

    async def drawn(self) -> None:
        """Wait until all messages are on the page."""
        view = self.messages
        await until(lambda: view.drawn, "all messages drawn")

    @property
    def answering(self) -> bool:
        return self.messages.model().conversation.answering

    async def choose(self, title: str) -> None:
        """Click a chat in the list and wait until its messages are drawn."""
        rows = self.sessions.model()
        place = next(row for row in range(rows.rowCount()) if rows.index(row, 0).data() == title)
        self.click_at(self.sessions.viewport(), self.sessions.visualRect(rows.index(place, 0)).center())
        await until(lambda: self.messages.model().conversation.loaded, f"{title!r} opened")
        await self.drawn()

    async def library_indexed(self) -> None:
        await until(lambda: "indexed" in self.status, "the library indexed")

    def kill_engine(self) -> None:
        """End the engine as a crash or the system would."""
        for process in engines():
            os.kill(process, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)


def engines() -> list[int]:
    """The engine processes that this process started (on Linux, by /proc)."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            if parent == str(os.getpid()) and state != "Z" and b"role=engine" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def at_the_desk(scenario: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Makes a test of a scenario that has the fixture `desk` among its parameters."""

    @functools.wraps(scenario)
    def test(*args: Any, **kwargs: Any) -> None:
        desk: Desk = kwargs["desk"]
        desk.loop.run_until_complete(scenario(*args, **kwargs))

    return test
