"""How long one turn of the window's event loop takes, and what it does in a long one."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from types import FrameType

from PySide6.QtCore import QObject, Qt, QTimer

BEAT_MILLISECONDS = 1
LONG, STALL = 16.0, 50.0
"""Milliseconds."""
OWN = ("bibgenie_desktop", "benchmarks", "tests")


@dataclass(slots=True)
class Turns:
    """The milliseconds of the turns of one phase: CPU of the loop's thread, and by the clock without the beat."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, dict[str, float]]:
        """What is reported."""
        return {"cpu": _figures(self.cpu), "wall": _figures(self.wall)}


def _figures(gaps: list[float]) -> dict[str, float]:
    ordered = sorted(gaps)
    if not ordered:
        return {}
    return {
        "turns": len(ordered),
        "sum": sum(ordered),
        "99.9 %": ordered[min(len(ordered) - 1, int(0.999 * len(ordered)))],
        "worst": ordered[-1],
        "over 16": sum(gap > LONG for gap in ordered),
        "over 50": sum(gap > STALL for gap in ordered),
    }


class Heartbeat(QObject):
    """A timer of one millisecond: between two of its beats lies one turn of the event loop, or some short ones.

    Where the loop is busy for longer than a millisecond, the timer is due when it comes back, so that each turn ends
    with a beat. The CPU time between two beats is what the turn cost whatever else the machine did; the time by the
    clock is what the person waited, in which the machine's other work is.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.phases: dict[str, Turns] = {}
        self.beats = 0
        self.phase = ""
        self._wall = 0.0
        self._turns = Turns()
        self._cpu = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Beat from now on."""
        self._wall, self._cpu = time.perf_counter(), time.thread_time()
        self._timer.start(BEAT_MILLISECONDS)

    def stop(self) -> None:
        """Beat no more."""
        self._timer.stop()

    def enter(self, phase: str) -> None:
        """What comes from now on belongs to this phase."""
        self.phase = phase
        self._turns = self.phases.setdefault(phase, Turns())

    def _beat(self) -> None:
        now, cpu = time.perf_counter(), time.thread_time()
        self._turns.cpu.append((cpu - self._cpu) * 1e3)
        self._turns.wall.append((now - self._wall) * 1e3 - BEAT_MILLISECONDS)
        self._wall, self._cpu = now, cpu
        self.beats += 1


class Watchdog:
    """Looks every few milliseconds what the event loop's thread is at, and keeps it of long turns.

    It costs some accuracy. By CPU time where the system tells that of another thread, else by the clock.
    """

    EVERY = 0.002

    def __init__(self, heartbeat: Heartbeat, milliseconds: float) -> None:
        self._heartbeat = heartbeat
        self._milliseconds = milliseconds
        self._watched = threading.get_ident()
        self._found: list[tuple[float, str, Counter[str]]] = []
        self._collected = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Look from now on."""
        sys.setswitchinterval(0.0005)
        gc.callbacks.append(self._collecting)
        self._thread.start()

    def stop(self) -> None:
        """Look no more, and tell on stderr what was found: of each long turn the places it was seen at."""
        self._ended.set()
        self._thread.join()
        gc.callbacks.remove(self._collecting)
        for length, phase, places in sorted(self._found, key=lambda each: -each[0])[:16]:
            print(f"a turn of {length:.0f} ms ({phase}) was seen {places.total()} times at", file=sys.stderr)
            for place, times in places.most_common(5):
                print(f"  {times:3} × {place}", file=sys.stderr)

    def _watch(self) -> None:
        clock = time.perf_counter
        if sys.platform == "linux":
            identity = time.pthread_getcpuclockid(self._watched)

            def clock() -> float:
                return time.clock_gettime(identity)

        beats, places, begun, length = -1, Counter[str](), 0.0, 0.0
        while not self._ended.wait(self.EVERY):
            if self._heartbeat.beats != beats:
                if length > self._milliseconds:
                    self._found.append((length, self._heartbeat.phase, places))
                beats, places, begun = self._heartbeat.beats, Counter(), clock()
                self._collected = 0.0
            length = (clock() - begun) * 1e3
            place = _place(sys._current_frames().get(self._watched))
            places[f"{place} (collects garbage)" if self._collected else place] += 1

    def _collecting(self, phase: str, info: dict[str, int]) -> None:
        self._collected = float(phase == "start")


def _place(frame: FrameType | None) -> str:
    """The innermost frames, of our own code above all."""
    places: list[str] = []
    while frame is not None:
        name = frame.f_globals.get("__name__", "?")
        if not places or name.startswith(OWN):
            places.append(f"{name.removeprefix('bibgenie_desktop.')}.{frame.f_code.co_name}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(places[:7])
