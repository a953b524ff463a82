"""A limit on the work that one call may be, where the platform has a timer for that."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

HAS_WORK_LIMIT = sys.platform != "win32"
_AGAIN = 0.05
"""Seconds after which a call that went on all the same is ended again."""


class OutOfTime(Exception):
    """The work took too long."""


@contextmanager
def work_limit(seconds: float) -> Iterator[None]:
    """Raises OutOfTime in what runs within, after so many seconds of this process's own work; a busy machine is no
    fault of it.

    For the main thread. Costs nothing meanwhile, and does not reach into a call of C code. Does nothing where
    HAS_WORK_LIMIT is False.
    """
    if sys.platform == "win32":
        yield
    else:
        running = True

        def end(number: int, frame: FrameType | None) -> None:
            # One that was on its way at the end must not reach who comes after.
            if running:
                raise OutOfTime

        before = signal.signal(signal.SIGPROF, end)
        signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
        try:
            yield
        finally:
            running = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
