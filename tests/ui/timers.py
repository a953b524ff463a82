"""A timer that fires when the test says so."""

from __future__ import annotations

from collections.abc import Callable


class ManualTimer:
    """Implements `bibgenie_desktop.ui.timing.Timer`."""

    def __init__(self, fire: Callable[[], None]) -> None:
        self._fire = fire
        self.running: int | None = None
        """The milliseconds it was started with; None while it stands."""

    def start(self, milliseconds: int) -> None:
        self.running = milliseconds

    def stop(self) -> None:
        self.running = None

    def fire(self) -> None:
        """Let the time pass."""
        assert self.running is not None, "the timer does not run"
        self.running = None
        self._fire()


class ManualTimers:
    """Implements `MakeTimer` and keeps the timers it made."""

    def __init__(self) -> None:
        self.made: list[ManualTimer] = []

    def __call__(self, fire: Callable[[], None]) -> ManualTimer:
        self.made.append(ManualTimer(fire))
        return self.made[-1]

    def pass_time(self) -> int:
        """Fire all running timers until none runs; returns how often one fired."""
        fired = 0
        while running := [timer for timer in self.made if timer.running is not None]:
            for timer in running:
                timer.fire()
                fired += 1
        return fired
