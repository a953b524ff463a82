"""Qt's warnings, and timers, threads and animations of Qt that still run after a test.

pytest-qt fails a test for a warning of Qt in its set-up and its call (`qt_log_level_fail`); the handler here hears
those that come later, while fixtures end and widgets are destroyed, and all of them under `-s`, where pytest-qt does
not listen.
"""

from __future__ import annotations

import gc
import re
import sys
from typing import Any

import pytest

_warnings: list[str] = []
_ignored: list[str] = []


def listen(config: pytest.Config) -> None:
    """Notes Qt's messages from now on, if pytest-qt loaded Qt."""
    if "PySide6.QtCore" not in sys.modules:
        return
    from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

    _ignored[:] = config.getini("qt_log_ignore")

    def note(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        severe = kind in (QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg)
        if severe and not any(re.search(pattern, text) for pattern in _ignored):
            _warnings.append(text)

    qInstallMessageHandler(note)


def begin() -> set[int]:
    """Returns the identities of what runs now."""
    return {id(thing) for thing in _running()}


def complaints(before: set[int]) -> list[str]:
    """Returns Qt's warnings since the last call, and what runs that did not before; all that is stopped."""
    warnings, _warnings[:] = _warnings[:], []
    found = [f"Qt warned: {text}" for text in warnings]
    for thing in _running():
        if id(thing) not in before:
            name = thing.objectName() or "without a name"
            found.append(f"{type(thing).__name__} ({name}) still runs: {thing!r}")
            thing.quit() if hasattr(thing, "quit") else thing.stop()
    return found


def _running() -> list[Any]:
    """Returns the active QTimer, QThread and QAbstractAnimation objects that Python knows."""
    if "PySide6.QtCore" not in sys.modules:
        return []
    from PySide6.QtCore import QAbstractAnimation, QCoreApplication, QThread, QTimer
    from shiboken6 import isValid

    application = QCoreApplication.instance()
    if application is None:
        return []
    main = application.thread()
    running: list[Any] = []
    for thing in gc.get_objects():
        # The type is asked, not the object: proxies would answer, and run code, at isinstance.
        kind = type(thing)
        if issubclass(kind, QTimer):
            active = isValid(thing) and thing.isActive()
        elif issubclass(kind, QThread):
            active = isValid(thing) and thing is not main and thing.isRunning()
        elif issubclass(kind, QAbstractAnimation):
            active = isValid(thing) and thing.state() == QAbstractAnimation.State.Running
        else:
            continue
        if active:
            running.append(thing)
    return running
