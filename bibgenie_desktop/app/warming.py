"""What is done before it is needed, beside the event loop: a first use of it there would be felt."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Signal


class Warming(QObject):
    """Works through `steps` in a thread of its own, once.

    A step is Python: the interpreter changes between the threads every few milliseconds, so that the event loop goes on
    meanwhile. What the loop needs of it earlier, it does itself.
    """

    _ended = Signal()

    def __init__(self, steps: Callable[[], Iterator[None]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._steps = steps
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        # Made for good: no collection of garbage need look at it again. Told through a signal, for the loop's thread.
        self._ended.connect(gc.freeze)

    def start(self) -> None:
        """Begin, if that was not done before."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="warming", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Do no more, and wait for the step that is being done."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        for _ in self._steps():
            if self._stopping.is_set():
                return
        self._ended.emit()
