"""The discipline that all tests are under: see the package `tests.discipline`."""

from __future__ import annotations

import os
import signal

pytest_plugins = ["tests.discipline"]


def pytest_configure() -> None:
    """Let no test, and no program that a test starts, depend on the shell that pytest was called from.

    Its language and its way of writing times are set aside. An ignored Ctrl-C, which a shell hands to what it starts in
    the background, is undone: programs would inherit it, and not hear the Ctrl-C that a test sends them.
    """
    os.environ["LC_ALL"] = "C.UTF-8"
    os.environ.pop("LANGUAGE", None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
