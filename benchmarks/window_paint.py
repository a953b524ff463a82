"""A process until its first paint: a bare window of Qt, or the app. Imports nothing that they do not.

    python -m benchmarks.window_paint bare|app SECONDS [OPTION …]

SECONDS is when it was started, by the monotonic clock that all processes of a machine share.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication


def watch_first_paint(qt: QApplication, begun: float) -> None:
    """Print when all of the first window is painted, and close it."""
    from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
    from PySide6.QtWidgets import QMainWindow, QWidget

    class Watch(QObject):
        painted = Signal(object)

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
            if event.type() == QEvent.Type.Paint and isinstance(watched, QMainWindow):
                qt.removeEventFilter(self)
                # Queued: all that is in the window is painted in the same go.
                self.painted.emit(watched)
            return False

    def tell(window: QWidget) -> None:
        wall, cpu = (time.monotonic() - begun) * 1e3, time.process_time() * 1e3
        print(json.dumps({"wall": wall, "cpu": cpu}), flush=True)
        QTimer.singleShot(0, window.close)

    watch = Watch(qt)
    watch.painted.connect(tell, Qt.ConnectionType.QueuedConnection)
    qt.installEventFilter(watch)


def bare(begun: float) -> None:
    """A window of Qt with nothing in it but an empty text."""
    from PySide6.QtWidgets import QApplication, QMainWindow, QPlainTextEdit

    qt = QApplication([])
    watch_first_paint(qt, begun)
    window = QMainWindow()
    window.setCentralWidget(QPlainTextEdit())
    window.resize(1180, 800)
    window.show()
    qt.exec()


def app(begun: float, options: list[str]) -> None:
    """The app, as the command line starts it; the libraries of Qt are what it imports first anyway."""
    from PySide6 import QtWidgets

    class Watched(QtWidgets.QApplication):
        def __init__(self, arguments: Sequence[str]) -> None:
            super().__init__(arguments)
            watch_first_paint(self, begun)

    vars(QtWidgets)["QApplication"] = Watched
    sys.argv = ["bibgenie", *options]
    from bibgenie_desktop.__main__ import main as command_line

    command_line()


def main() -> None:
    part, begun, *options = sys.argv[1:]
    if part == "bare":
        bare(float(begun))
    else:
        app(float(begun), options)


if __name__ == "__main__":
    main()
