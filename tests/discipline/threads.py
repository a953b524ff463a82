"""Threads that a test started and that still run after it, daemons too."""

from __future__ import annotations

import re
import sys
import threading
import time

# A thread that was told to end may need a moment for it.
GRACE_SECONDS = 2.0

ALLOWED = {
    r"^litellm-logging": "litellm keeps a pool of its own for the whole process, and offers no way to end it",
}


def begin() -> set[threading.Thread]:
    """Returns the threads that run now."""
    return set(threading.enumerate())


def complaints(before: set[threading.Thread]) -> list[str]:
    """Returns each thread started since that does not end, and where it is."""
    started = [thread for thread in threading.enumerate() if thread not in before and not _is_allowed(thread)]
    end = time.monotonic() + GRACE_SECONDS
    for thread in started:
        thread.join(max(0.0, end - time.monotonic()))
    return [_describe(thread) for thread in started if thread.is_alive()]


def _is_allowed(thread: threading.Thread) -> bool:
    # For a foreign thread (of Qt, say) that once called into Python it keeps a dummy, which seems to run for ever.
    if isinstance(thread, threading._DummyThread):
        return True
    return any(re.search(pattern, thread.name) for pattern in ALLOWED)


def _describe(thread: threading.Thread) -> str:
    frame = sys._current_frames().get(thread.ident or 0)
    where = f", at {frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}" if frame else ""
    return f"thread {thread.name} still runs{where}"
