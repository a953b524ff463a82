"""The discipline that all tests are under: see the package `tests.discipline`."""

from __future__ import annotations

import signal

pytest_plugins = ["tests.discipline"]


def pytest_configure() -> None:
    """Undo an ignored Ctrl-C, which a shell hands to what it starts in the background.

    The programs that tests start would inherit it, and not hear the Ctrl-C that a test sends them.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
