"""Child processes that still run after a test, and what they left running themselves (on Linux, by /proc)."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from pathlib import Path

GRACE_SECONDS = 2.0

ALLOWED = {
    "multiprocessing.resource_tracker": "multiprocessing keeps one for the whole process",
}

PR_SET_CHILD_SUBREAPER = 36

if sys.platform == "linux":
    # What a dead child leaves running becomes a child of this process, and is found.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def begin() -> set[int]:
    """Returns the process ids of the children that run now."""
    return set(_children())


def complaints(before: set[int]) -> list[str]:
    """Returns each child started since that does not end, and kills it."""
    end = time.monotonic() + GRACE_SECONDS
    while (left := _new_children(before)) and time.monotonic() < end:
        time.sleep(0.01)
    for process in left:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
    return [f"child process {process} still runs: {command}" for process, command in left.items()]


def _new_children(before: set[int]) -> dict[int, str]:
    children = {process: command for process, command in _children().items() if process not in before}
    return {process: text for process, text in children.items() if not any(allowed in text for allowed in ALLOWED)}


def _children() -> dict[int, str]:
    """Returns the running children of this process with their command lines; those that ended do not count."""
    if sys.platform != "linux" or not _has_children():
        return {}
    children = {}
    me = os.getpid()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            if int(parent) == me and state != "Z":
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                children[int(folder.name)] = command.decode(errors="replace").strip()
    return children


def _has_children() -> bool:
    """Asks the system, which is quicker than to look through all processes; waits for nothing and changes nothing."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
