"""The app as one object: the window, the engine it talks with, and the way to let go of both."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QApplication

from ..transport.supervision import EngineEnd, EngineSupervisor
from ..ui.chat.formula_pictures import FormulaPictures, FormulaStyle
from ..ui.chat.markdown_body import MarkdownBody
from ..ui.controller import Controller
from ..ui.links import LinkRouter
from ..ui.markdown.renderer import warm_up
from ..ui.passages import PassageOpener
from ..ui.tasks import TaskRegistry
from ..ui.theme import Theme
from ..ui.times import now
from ..ui.timing import qt_timers
from ..ui.translations import load_translations
from ..ui.window import MainWindow
from .warming import Warming

LOOP_MILLISECONDS = 20
"""How often it is looked whether an event loop of asyncio runs, before the engine is started."""
LOOK_SECONDS = 0.01
STARTING_LOOKS = 30
"""So often the end looks whether an engine is there that can be told what is not saved: the rest of the two seconds
is that engine's, to take and keep it."""
GARBAGE_THRESHOLDS = (10_000, 10, 20)
"""A long chat is many objects that live long and no garbage: looking through all of them takes a frame, and is seldom
worth it."""


class EngineUnavailable(Exception):
    """The engine does not answer and is not started again. `str()` is one plain sentence."""


class _Signals(QObject):
    reached = Signal()


class Ready:
    """Whether the engine answers: awaitable, and a signal. False again while the engine is being restarted.

    `await application.ready` waits until the engine answers, and raises EngineUnavailable if it was given up.
    `application.ready.reached` is a Qt signal, emitted each time an engine answers; `application.ready.connect` is
    short for `reached.connect`.
    """

    def __init__(self, parent: QObject) -> None:
        self._signals = _Signals(parent)
        self._answers = False
        self._failure = ""
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def reached(self) -> SignalInstance:
        """The signal: the engine answers."""
        return self._signals.reached

    def connect(self, slot: Callable[[], object]) -> None:
        """Call `slot` each time an engine answers."""
        self.reached.connect(slot)

    def disconnect(self, slot: Callable[[], object]) -> None:
        """Undo `connect`."""
        self.reached.disconnect(slot)

    def __bool__(self) -> bool:
        return self._answers

    def __await__(self) -> Generator[Any, None, None]:
        if not self._answers:
            if self._failure:
                raise EngineUnavailable(self._failure)
            future = asyncio.get_running_loop().create_future()
            self._waiting.add(future)
            try:
                yield from future
            finally:
                self._waiting.discard(future)

    def set(self) -> None:
        """The engine answers."""
        self._answers, self._failure = True, ""
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self.reached.emit()

    def clear(self, failure: str = "") -> None:
        """The engine does not answer; with a sentence where it will not."""
        self._answers, self._failure = False, failure
        for future in self._waiting if failure else ():
            if not future.done():
                future.set_exception(EngineUnavailable(failure))


class Application(QObject):
    """The window and its engine.

    `window` is the main window, `ready` tells when the engine answers. Whoever builds one closes it. `language` is the
    window's, "" for the system's.
    """

    # Events come through a signal: an error in a slot is reported, and the next event is taken all the same.
    _received = Signal(object)

    def __init__(self, engine_argv: Sequence[str], language: str = "") -> None:
        self._qt = QApplication.instance() or QApplication(["bibgenie-desktop"])
        super().__init__()
        assert isinstance(self._qt, QApplication)
        # The last window that closes must not stop the event loop under tasks that are ending.
        self._quits_on_close = self._qt.quitOnLastWindowClosed()
        self._qt.setQuitOnLastWindowClosed(False)
        self._translations = load_translations(self._qt, language)
        self._tasks = TaskRegistry()
        self._supervisor = EngineSupervisor(engine_argv, take=self._received.emit, ended=self._engine_ended)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self.closed = False
        """Whether everything was let go of."""
        self.ready = Ready(self)
        self._theme = Theme(self)
        make_timer = qt_timers(self)
        self._controller = Controller(self._supervisor.send, now, make_timer, self)
        self._formulas = FormulaPictures(self._supervisor.send, self._formula_style, make_timer, self)
        router = LinkRouter(self)
        self._passages = PassageOpener(router, self._controller.outgoing, self._tasks, self)
        answers = MarkdownBody(self._formulas.picture, self._formulas.image)
        self.window = MainWindow(self._controller, self._theme, router, now, make_timer, answers)
        self.window.message_list.formulas_wanted.connect(self._formulas.want)
        self._formulas.drawn.connect(self.window.message_list.formulas_drawn)
        self._passages.answered.connect(self.window.show_answer)
        self._received.connect(self._controller.take)
        self._received.connect(self._formulas.take)
        self._controller.welcomed.connect(self._formulas.engine_ready)
        self._controller.welcomed.connect(self._passages.engine_answers)
        self._controller.welcomed.connect(self.ready.set)
        self._controller.restart_wanted.connect(self._start_engine)
        self._warming = Warming(warm_up, self)
        self._controller.welcomed.connect(self._warming.start)
        self.window.closing.connect(self.close)
        self.window.resize(self.window.sizeHint())
        self.window.show()
        # The window is painted first, and tasks need the loop to run.
        QTimer.singleShot(0, self, self._start_engine)

    def close(self) -> Awaitable[None]:
        """Let go of everything within two seconds: save the draft, end the engine, close the window.

        Where the event loop does not run, this runs it until all is done. Else it returns at once, and what it returns
        can be awaited.
        """
        if self._loop is None and self._controller.unsaved:
            with suppress(RuntimeError):  # asyncio does not run
                self._loop = asyncio.get_running_loop()
        if self._loop is None or self._loop.is_closed():
            # No engine was started, or none can be asked any more.
            self._supervisor.kill()
            self._release()
            return _Done()
        if self._closing is None:
            self._closing = self._loop.create_task(self._close(), name="close the app")
        if not self._loop.is_running():
            self._loop.run_until_complete(self._closing)
        return asyncio.shield(self._closing)

    def _start_engine(self) -> None:
        if self.closed or self._closing is not None:
            return
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            # Qt alone runs, to wait for the window say; asyncio does not yet.
            QTimer.singleShot(LOOP_MILLISECONDS, self, self._start_engine)
            return
        _collect_garbage()
        self.ready.clear()
        self._run_engine()

    def _run_engine(self) -> None:
        self._running = self._tasks.start(self._supervisor.run(), name="engine", owner=self)

    async def _engine_to_save(self) -> None:
        """Have an engine that can be told what is not saved: where none runs, as while one is started again, wait for
        it for a moment; where none comes any more, start one."""
        if self._running is None or self._running.done():
            self._run_engine()
        for _ in range(STARTING_LOOKS):
            if self._supervisor.pid is not None or self._running is None or self._running.done():
                return
            await asyncio.sleep(LOOK_SECONDS)

    def _engine_ended(self, end: EngineEnd) -> None:
        self.ready.clear("" if end.restarting else end.sentence)
        self._formulas.engine_ended()
        self._passages.engine_ended()
        self._controller.engine_ended(end.sentence, end.restarting)

    def _formula_style(self) -> FormulaStyle:
        messages = self.window.message_list
        return FormulaStyle.of(messages.font(), self._theme.colours, messages.devicePixelRatioF())

    async def _close(self) -> None:
        self.window.hide()
        if self._controller.unsaved:
            await self._engine_to_save()
        self._controller.close()
        await self._supervisor.close()
        await self._tasks.close()
        self._release()

    def _release(self) -> None:
        if self.closed:
            return
        self.closed = True
        self._warming.stop()
        _collect_garbage()
        self.ready.clear("BibGenie is closed.")
        assert isinstance(self._qt, QApplication)
        for timer in self.findChildren(QTimer):
            timer.stop()
        self.window.let_close()
        self.window.close()
        self.window.deleteLater()
        self._translations.unload()
        self._qt.setQuitOnLastWindowClosed(self._quits_on_close)
        self.deleteLater()


def _collect_garbage() -> None:
    """Let the collector work, if it did not, but leave alone what was made until now."""
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        gc.enable()


class _Done:
    """An awaitable with nothing left to wait for."""

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()
