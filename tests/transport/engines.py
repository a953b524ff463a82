"""Programs that stand for an engine at the other end of the pipe, each with its own fault."""

from __future__ import annotations

import sys
import textwrap

_PROLOGUE = """
    import json, sys, time
    def tell(kind, **fields):
        print(json.dumps({"type": kind, **fields}), flush=True)
    def welcome():
        tell("Welcome", version=1, engine_version="0", profile="p", library_title="l", model="m")
    def commands():
        for line in sys.stdin:
            yield json.loads(line)
    """


def program(body: str) -> list[str]:
    """How a program is started that has `tell`, `welcome` and `commands` and runs `body`."""
    return [sys.executable, "-I", "-c", textwrap.dedent(_PROLOGUE) + textwrap.dedent(body)]


ECHOING = program("""
    for command in commands():
        if command["type"] == "Hello":
            welcome()
        elif command["type"] == "Shutdown":
            break
        else:
            tell("CommandDone", request=command["request"])
    """)
"""Welcomes, and confirms each command."""

DYING = program("""
    next(commands())
    welcome()
    sys.exit("it broke")
    """)
"""Welcomes, and dies."""

STILLBORN = program("sys.exit(3)")
"""Dies before it says a word."""

REFUSING = program("""
    next(commands())
    tell("CommandFailed", code="profile", sentence="The profile cannot be written: choose another.")
    for command in commands():
        pass
    """)
"""Refuses to work, and does not even end by itself."""

BABBLING = program("""
    next(commands())
    welcome()
    tell("Unheard", of=1)
    tell("CommandDone", request=1)
    time.sleep(600)
    """)
"""Says something that no window knows."""

DEAF = program("""
    import signal
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    welcome()
    time.sleep(600)
    """)
"""Welcomes, never reads, and ends for no asking."""
