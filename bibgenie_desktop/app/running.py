"""The window as a program: its event loop, its log, its end by the window, by Ctrl-C or by the system."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from types import TracebackType

import qasync
from PySide6.QtWidgets import QApplication

from .. import __version__
from ..cli.options import Options
from ..cli.roles import engine_argv
from ..profile.logs import start_logging
from ..profile.paths import find_profile
from .application import Application
from .language import chosen_language

_log = logging.getLogger(__name__)


def run_window(options: Options) -> int:
    """Open the window and stay until it is closed; 0."""
    # Apart from the engine's log: one rotating file takes one writer.
    start_logging(find_profile(options.profile, os.environ).logs / "window", options.log_level)
    sys.excepthook = _log_uncaught
    qt = QApplication([sys.argv[0]])
    qt.setApplicationName("BibGenie")
    qt.setApplicationVersion(__version__)
    qt.setDesktopFileName("bibgenie-desktop")
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(qt)) as runner:
        runner.run(stay(options))
    return 0


async def stay(options: Options) -> None:
    """Show the window until it is closed, or the process is asked to end."""
    loop = asyncio.get_running_loop()
    application = Application(engine_argv(options), chosen_language(options))
    closed = asyncio.Event()
    application.window.destroyed.connect(closed.set)
    numbers = () if sys.platform == "win32" else (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, application.close)
    try:
        await closed.wait()
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """An error in a slot of Qt ends up here: it is a bug, and the window goes on."""
    _log.error("an error in the window", exc_info=(kind, error, trace))
    sys.__excepthook__(kind, error, trace)
