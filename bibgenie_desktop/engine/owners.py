"""Who holds a lease: an engine, named so that another one can tell whether its process has ended (T-6)."""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path

_OWNER = re.compile(r"(\S+) in process ([1-9]\d{0,9}) on (.+)", re.DOTALL)


def owner_name(engine_id: str, pid: int, place: str) -> str:
    """The name of the engine `engine_id`, which is like no other's, in the process `pid` at `place`."""
    return f"{engine_id} in process {pid} on {place}"


def this_place() -> str:
    """Where the ids of processes mean the same as here: this computer since its start, outside or inside a container.

    On systems where that cannot be told for certain it is the computer's name with a question mark.
    """
    name = platform.node()
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        processes = os.readlink("/proc/self/ns/pid")
    except OSError:  # no Linux
        return name if sys.platform == "darwin" else f"{name}?"
    return f"{name}, boot {boot}, {processes}"


def has_ended(owner: str, place: str) -> bool:
    """Whether the process of `owner` has certainly ended, as seen from `place`.

    A process id that another process has got meanwhile counts as living: then the lease has to expire. So it has
    where `place` is uncertain, as on Windows, where asking for a process by os.kill would end it.
    """
    match = _OWNER.fullmatch(owner)
    if sys.platform == "win32" or match is None or place.endswith("?") or match[3] != place:
        return False
    try:
        os.kill(int(match[2]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False  # such as another user's, which may not be asked
    return False
