"""A monkey at the desk: real events of mouse and keyboard at random, all chosen by one seed.

An act runs in a turn of the event loop of its own, and never within a coroutine: what Qt does meanwhile may
let others go on.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QAction, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QFileDialog,
    QMessageBox,
)

from bibgenie_desktop.app.application import Application
from bibgenie_desktop.ui.branch_map import BranchMap
from bibgenie_desktop.ui.chat.conversation import Conversation
from tests.servers.llm import LlmServer
from tests.ui.desk import Desk, engines, until
from tests.ui.monkey_hands import ALT, NONE, Hands
from tests.ui.monkey_record import WORD, Record, read

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
KEYS = [
    *((key, NONE) for key in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Tab)),
    *((key, NONE) for key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)),
    *((key, NONE) for key in (Qt.Key.Key_Space, Qt.Key.Key_Backspace, Qt.Key.Key_Delete, Qt.Key.Key_F2, Qt.Key.Key_F3)),
    *((key, NONE) for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Menu)),
    *((key, SHIFT) for key in (Qt.Key.Key_Return, Qt.Key.Key_Backtab, Qt.Key.Key_Up, Qt.Key.Key_F3, Qt.Key.Key_Left)),
    *((key, ALT) for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_C)),
    *((Qt.Key(ord(letter)), CTRL) for letter in "NRELKFGBAXCVZ/"),
    *((Qt.Key(ord(letter)), CTRL | SHIFT) for letter in "CGBZ"),
    *((key, CTRL) for key in (Qt.Key.Key_End, Qt.Key.Key_Home, Qt.Key.Key_Tab, Qt.Key.Key_Backspace)),
]
"""Every shortcut but the one that ends the app, and the keys of texts and lists."""
ACTIONS = (
    "forkAction continueAction retryAction editAction previousBranchAction nextBranchAction deleteSessionAction "
    "undoDeleteAction pinAction archiveAction renameSessionAction branchMapAction chatsAction recallAction newestAction"
).split()
SETTLED_SECONDS = 60.0


class Monkey(Hands):
    """Works at a desk; `run` acts, `settle` waits until all is done and stored, `trail` tells what it did."""

    def __init__(self, desk: Desk, seed: int, server: LlmServer, record: Record) -> None:
        super().__init__(desk, record, random.Random(seed))
        self.trail: list[str] = []
        self._on_its_way: list[str] = []
        self._words = 0
        self._doubled: set[str] = set()
        self._server = server
        self._acts: list[tuple[int, Callable[[], str]]] = [
            (14, self._ask),
            (6, self._type),
            (16, self._press),
            (8, self._click_button),
            (8, self._click_anywhere),
            (6, self._open_chat),
            (8, self._act),
            (8, self._release),
            (3, self._edit_question),
            (3, self._search),
            (3, self._click_map),
            (4, self._wheel),
            (2, self._resize),
            (3, self._delete),
            (2, self._rename),
            (2, self._drag),
            (1, self.kill_engine),
            (3, self._turn_to_another_window),
        ]

    @property
    def history(self) -> Path:
        """The stored history."""
        return self.desk.profile / "sessions.sqlite"

    async def run(self, acts: int) -> None:
        """Do so many things, in bursts without a pause between which the window comes to rest."""
        done = 0
        while done < acts:
            for _ in range(self._random.choice((1, 1, 2, 3, 6))):
                done += 1
                await self._do(self._choose())
                if self.desk.app.closed or not self.desk.app.window.isVisible():
                    return
            if self._random.random() < 0.6:
                await self._quiet()

    def _choose(self) -> Callable[[], str]:
        weights = [weight for weight, _ in self._acts]
        return self._random.choices([act for _, act in self._acts], weights)[0]

    async def _do(self, act: Callable[[], str]) -> None:
        ended = asyncio.get_running_loop().create_future()

        def work() -> None:
            try:
                told = self._in_sight(act)
            except Exception as error:  # noqa: BLE001 - told to whoever waits
                ended.set_exception(error)
            else:
                self.trail.append(told)
                ended.set_result(None)

        QTimer.singleShot(0, self.desk.app.window, work)
        await until(ended.done, f"{act.__name__} ended; the window hangs after {self.trail[-5:]}")
        ended.result()

    def _in_sight(self, act: Callable[[], str]) -> str:
        """Do something, and note what it does to the words."""
        self._look()
        popup, dialog = QApplication.activePopupWidget(), QApplication.activeModalWidget()
        if isinstance(dialog, QFileDialog | QMessageBox):
            # Files are beside the point.
            dialog.reject()
            return "leaves a dialog of files"
        if popup is not None or dialog is not None:
            act = self._in_popup
        elif (active := QApplication.activeWindow()) is None or not active.isVisible():
            # On the offscreen platform no window is active after another has closed, or still a menu that was closed.
            self.desk.app.window.activateWindow()
        told = act()
        self._look()
        return told

    def _look(self) -> None:
        for app in self.desk.opened:
            if not app.closed:
                composer = app.window.composer.toPlainText()
                words = WORD.findall(composer)
                if doubled := {word for word in words if words.count(word) > 1} - self._doubled - self.record.repeated:
                    self._doubled |= doubled
                    self.trail.append(f"  the composer holds {sorted(doubled)} twice")
                self.record.look(app._controller, composer, self.history)

    async def _quiet(self) -> None:
        """Wait until nothing is on its way but answers that stream."""
        for app in self.desk.opened:
            if not app.closed:
                await until(partial(_has_an_end, app), "an engine answers or none comes")
                await until(partial(_is_open, app), "the chat is open")

    async def settle(self) -> None:
        """Let every answer end and every draft be saved, in every window."""
        for app in (each for each in self.desk.opened if not each.closed):
            try:
                await until(partial(self._rests, app), seconds=SETTLED_SECONDS)
            except AssertionError:
                told = "\n".join([*self._on_its_way, "", *self.trail[-60:]])
                raise AssertionError(f"the window does not come to rest:\n{told}") from None

    def _rests(self, app: Application) -> bool:
        """Whether nothing is on its way in a window; what is, is noted. The model goes on, and an engine is started."""
        controller = app._controller
        again = app.window.findChild(QAbstractButton, "noticeButton")
        if again is not None and again.isVisible():
            again.click()
        busy = [each for each in _chats_of(app) if each.busy or each.queue]
        if busy:
            self._server.release()
        unsaved = [each for each in controller._drafts._drafts.values() if each.edited]
        self._on_its_way = [
            name
            for name, is_so in (
                ("no engine answers", not app.ready),
                (f"at work: {[(each.session_id, each.busy, each.queue) for each in busy]}", busy),
                ("a chat is being opened", controller._opening._openings),
                (f"drafts that are not saved: {unsaved}", unsaved or controller._drafts.unsaved),
                ("the chats are being listed", controller._listing._request),
            )
            if is_so
        ]
        return not self._on_its_way

    def differences(self) -> list[str]:
        """Where a window that rests shows something else than what is stored."""
        found = []
        stored = read(self.history)
        open_ones = [each for each in self.desk.opened if not each.closed]
        for app in open_ones:
            chat = app._controller.conversation
            if chat.session_id and chat.loaded:
                shown = [each.node_id for each in chat.messages if each.node_id]
                if shown != stored.branches.get(chat.session_id, []):
                    rows = [(each.role, each.status, each.source[:40]) for each in chat.messages]
                    found.append(f"shown {shown}, stored {stored.branches.get(chat.session_id)}; the rows are {rows}")
            draft, composer = stored.drafts.get(chat.session_id, ""), app.window.composer.toPlainText()
            # Of a draft that two windows write, each shows its own words until it is told of the other's.
            if draft != composer and len(open_ones) == 1:
                found.append(f"the composer holds {composer!r}, the stored draft {draft!r}")
        return found

    async def still_answers(self) -> list[str]:
        """Whether the window takes what is typed and paints it."""
        word = self._word()
        while (popup := QApplication.activePopupWidget()) is not None:
            popup.close()
        for dialog in self.desk.app.window.findChildren(QDialog):
            dialog.close()
        await self._do(lambda: self._key(Qt.Key.Key_L, CTRL))
        await self._do(lambda: self._type_text(word))
        composer = self.desk.composer.toPlainText()
        if word in composer:
            return []
        return [f"{word} was typed, the composer holds {composer!r}; {self._where_keys_go()}"]

    def _where_keys_go(self) -> str:
        focus, named = QApplication.focusWidget(), QApplication.focusWidget()
        while named is not None and not named.objectName():
            named = named.parentWidget()
        return (
            f"keys go to {type(focus).__name__} in {named.objectName() if named is not None else 'nothing'}, "
            f"the active window is {QApplication.activeWindow()}, in front is {self._top}"
        )

    # What it does

    def _word(self) -> str:
        self._words += 1
        return f"word{self._words:05}"

    def _some_words(self) -> str:
        return " ".join(self._word() for _ in range(self._random.randint(1, 3)))

    def _ask(self) -> str:
        self._key(Qt.Key.Key_L, CTRL)
        told = self._type_text(self._some_words())
        self._key(Qt.Key.Key_Return)
        return f"asks: {told}"

    def _type(self) -> str:
        if self._random.random() < 0.7:
            self._key(Qt.Key.Key_L, CTRL)
        return self._type_text(self._some_words() + " ")

    def _press(self) -> str:
        return self._key(*self._random.choice(KEYS))

    def _click_button(self) -> str:
        buttons = [
            each
            for each in self.desk.app.window.findChildren(QAbstractButton)
            if each.isVisible() and each.isEnabled() and not each.visibleRegion().isEmpty()
        ]
        button = self._random.choice(buttons)
        name = button.objectName() or button.text()
        self._click(self._middle(button, button.visibleRegion().boundingRect()))
        return f"clicks {name}"

    def _click_anywhere(self) -> str:
        place = self._anywhere(self.desk.app.window)
        button = self._random.choice((Qt.MouseButton.LeftButton,) * 4 + (Qt.MouseButton.RightButton,))
        self._click(place, button, double=self._random.random() < 0.2)
        return f"clicks at {place.x()}, {place.y()} with {button.name}"

    def _in_popup(self) -> str:
        top = self._top
        name = top.objectName() or type(top).__name__
        if self._random.random() < 0.5:
            key = self._random.choice((Qt.Key.Key_Escape, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Tab))
            with self.record.erasing(self.composer_text()):
                QTest.keyClick(self._surface(), key)
            self.record.repeated.update(WORD.findall(self.desk.composer.toPlainText()))
            return f"{key.name} in {name}"
        if isinstance(top, QDialog) and self._random.random() < 0.7:
            QTest.keyClick(self._surface(), Qt.Key.Key_Escape)
            return f"leaves {name}"
        place = self._anywhere(top)
        self._click(place)
        return f"clicks in {name} at {place.x()}, {place.y()}"

    def _open_chat(self) -> str:
        sessions = self.desk.sessions
        rows = sessions.model().rowCount()
        if not rows or not sessions.isVisible():
            return self._key(Qt.Key.Key_B, CTRL)
        index = sessions.model().index(self._random.randrange(rows), 0)
        sessions.scrollTo(index)
        self._click(self._middle(sessions.viewport(), sessions.visualRect(index)))
        return f"clicks the chat {index.data()!r}"

    def _act(self) -> str:
        """As if chosen in a menu."""
        name = self._random.choice(ACTIONS)
        action = self.desk.app.window.findChild(QAction, name)
        assert action is not None, name
        allowed = action.isEnabled()
        action.trigger()
        if name == "recallAction":
            self.record.repeated.update(WORD.findall(self.desk.composer.toPlainText()))
        return f"{name}{'' if allowed else ' (not allowed)'}"

    def _release(self) -> str:
        for _ in range(self._random.randint(1, 3)):
            self._server.release()
        return "the model goes on"

    def _edit_question(self) -> str:
        self._key(Qt.Key.Key_E, CTRL)
        box = self._text_with_focus
        if box is not None and box is not self.desk.composer:
            self._type_text(f" {self._some_words()}")
            if self._random.random() < 0.7:
                self._key(Qt.Key.Key_Return)
        return "edits a question"

    def _search(self) -> str:
        self._key(Qt.Key.Key_K, CTRL)
        word = f"word{self._random.randint(1, max(1, self._words)):05}"
        self._type_text(word if self._random.random() < 0.7 else word[:3])
        for key in self._random.choices((Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Escape), k=3):
            self._key(key)
        return f"searches for {word}"

    def _click_map(self) -> str:
        view = self.desk.app.window.findChild(BranchMap, "branchMap")
        if view is None or not view.isVisible():
            return self._key(Qt.Key.Key_B, CTRL | SHIFT)
        self._click(view.viewport().mapTo(self._top, self._anywhere(view.viewport())))
        return "clicks in the map"

    def _wheel(self) -> str:
        target = self.desk.messages.viewport()
        turn = self._random.choice((-360, -120, 120, 360))
        place = QPointF(self._anywhere(target))
        event = QWheelEvent(
            place, target.mapToGlobal(place), QPoint(), QPoint(0, turn), Qt.MouseButton.NoButton, NONE,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(target, event)
        return f"turns the wheel by {turn}"

    def _resize(self) -> str:
        size = self._random.choice(((1180, 800), (640, 480), (300, 300), (900, 1200), (1600, 500)))
        self.desk.app.window.resize(*size)
        return f"resizes to {size}"

    def _delete(self) -> str:
        action = self.desk.app.window.findChild(QAction, "deleteSessionAction")
        assert action is not None
        action.trigger()
        self._look()
        name = self._random.choice(("keepingDeleteButton", "keepingDeleteButton", "keepingKeepButton"))
        button = self.desk.app.window.findChild(QAbstractButton, name)
        if button is None or not button.isVisible():
            return "wants to delete a chat"
        self._click(self._middle(button))
        if self._random.random() < 0.5:
            undo = self.desk.app.window.findChild(QAction, "undoDeleteAction")
            assert undo is not None
            undo.trigger()
        return f"wants to delete a chat, {name}"

    def _rename(self) -> str:
        self._key(Qt.Key.Key_F2)
        if self._text_with_focus is not self.desk.composer:
            self._type_text(self._random.choice(("Reasons", "مرحبا", "x" * 300, "a&b\t<b>")))
            self._key(Qt.Key.Key_Return)
        return "renames a chat"

    def _drag(self) -> str:
        start, end = self._anywhere(self._top), self._anywhere(self._top)
        surface = self._surface()
        with self.record.erasing(self.composer_text()):
            QTest.mousePress(surface, Qt.MouseButton.LeftButton, NONE, start)
            # Where text is dragged, Qt comes back from the move only after the button was let go.
            let_go = lambda: QTest.mouseRelease(surface, Qt.MouseButton.LeftButton, NONE, end)  # noqa: E731
            QTimer.singleShot(0, self.desk.app.window, let_go)
            QTest.mouseMove(surface, (start + end) / 2)
            QTest.mouseMove(surface, end)
        return f"drags from {start.x()}, {start.y()} to {end.x()}, {end.y()}"

    def kill_engine(self) -> str:
        """End an engine as a crash or the system would."""
        running = engines()
        if running:
            os.kill(self._random.choice(running), signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        return "kills an engine" if running else "finds no engine"

    def _turn_to_another_window(self) -> str:
        open_ones = [each for each in self.desk.opened if not each.closed]
        self.desk.look_at(self._random.choice(open_ones))
        return f"looks at window {open_ones.index(self.desk.app)}"


def _chats_of(app: Application) -> list[Conversation]:
    """The chats that a window holds, with those it left before they became sessions: their questions are on their way,
    and what waits in them stands in the stored draft of the new chat until then."""
    controller = app._controller
    left = [
        *(each.conversation for each in controller._turns._asking._asked.values()),
        *controller._turns.queue._unborn,
    ]
    return list({id(each): each for each in (*controller._conversations.each, *left)}.values())


def _has_an_end(app: Application) -> bool:
    return bool(app.ready) or app._controller._gone


def _is_open(app: Application) -> bool:
    return not app._controller._opening._openings
