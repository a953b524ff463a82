"""The command line's entry: parse, run one command, turn what went wrong into one sentence and an exit code."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

from ..models.port import ModelError
from ..profile.logs import start_logging
from ..profile.settings import SettingsUnreadable
from ..store.database import StoreUnavailable
from ..store.sessions import UnknownSession
from ..zotero.port import ZoteroUnavailable
from .ask import ask
from .doctor import doctor
from .listing import CommandRefused, export, list_sessions, print_projection
from .options import Options, parse_options
from .wiring import Setting, open_sessions

_STORED = {"sessions": list_sessions, "project": print_projection, "export": export}


def main(argv: Sequence[str]) -> int:
    """Run the command; 0 done, 1 it could not be done (one sentence on stderr), 2 wrong usage."""
    options = parse_options(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if options.command == "window":
        from ..app import run

        return run(options)
    try:
        return asyncio.run(_run(options))
    except (
        SettingsUnreadable,
        StoreUnavailable,
        UnknownSession,
        ZoteroUnavailable,
        ModelError,
        CommandRefused,
    ) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output is gone: nobody is left to tell
        return 1


async def _run(options: Options) -> int:
    setting = Setting.of(options)
    start_logging(setting.profile.logs, options.log_level)
    if options.command == "doctor":
        return await doctor(options, setting)
    if options.command == "ask":
        return await ask(options, setting)
    async with open_sessions(setting) as sessions:
        return await _STORED[options.command](options, sessions)
