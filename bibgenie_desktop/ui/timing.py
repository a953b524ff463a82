"""Doing something seldom that is asked for often: coalesced repaints and saves, over a timer that can be passed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Qt, QTimer


class Timer(Protocol):
    """A single-shot timer."""

    def start(self, milliseconds: int) -> None:
        """Fire once, after so long."""

    def stop(self) -> None:
        """Do not fire."""


MakeTimer = Callable[[Callable[[], None]], Timer]
"""Makes a timer that calls the given function when it fires."""


def qt_timers(parent: QObject) -> MakeTimer:
    """Timers of Qt that live as long as `parent`."""

    def make(fire: Callable[[], None]) -> Timer:
        timer = QTimer(parent)
        timer.setSingleShot(True)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(fire)
        return timer

    return make


class Coalesced:
    """Calls `action` soon after `ask`, however often it is asked, and at most once in `milliseconds`.

    With `at_once` the first call comes immediately and only those behind it wait: for what is shown. Without it every
    call waits: for what is saved.
    """

    def __init__(
        self, action: Callable[[], None], milliseconds: int, make_timer: MakeTimer, *, at_once: bool = False
    ) -> None:
        self._action = action
        self._milliseconds = milliseconds
        self._at_once = at_once
        self._timer = make_timer(self._fire)
        self._resting = True
        self._asked = False

    def ask(self) -> None:
        """Want the action done."""
        self._asked = True
        if self._resting:
            if self._at_once:
                self._fire()
            else:
                self._rest()

    def now(self) -> None:
        """Do what was asked for and is still waiting."""
        if self._asked:
            self._asked = False
            self._action()

    def drop(self) -> None:
        """Forget what was asked for."""
        self._asked = False
        self._resting = True
        self._timer.stop()

    def _fire(self) -> None:
        if self._asked:
            self._rest()
            self.now()
        else:
            self._resting = True

    def _rest(self) -> None:
        self._resting = False
        self._timer.start(self._milliseconds)
