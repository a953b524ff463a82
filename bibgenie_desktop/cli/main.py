"""The command line's entry. What a command needs is imported only once it is known that one is wanted: the window
process works without an engine's parts."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .options import parse_options


def main(argv: Sequence[str]) -> int:
    """Open the window or run a command; 0 done, 1 it could not be done, 2 wrong usage."""
    options = parse_options(argv)
    if sys.stdout is None:  # started with a closed stdout
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if options.command == "window":
        from ..app import run

        return run(options)
    from .commands import run_command

    return run_command(options)
