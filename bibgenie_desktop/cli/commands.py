"""Running one command of the command line: what goes wrong becomes one sentence and an exit code."""

from __future__ import annotations

import asyncio
import signal
import sys

from ..models.port import ModelError
from ..profile.logs import start_logging
from ..profile.settings import SettingsUnreadable
from ..store.database import StoreUnavailable
from ..store.session_rows import UnknownSession
from ..zotero.port import ZoteroUnavailable
from .ask import ask
from .branches import edit, fork, go_on, print_branches, retry, switch
from .compacting import compact, print_projection
from .deleting import delete
from .doctor import doctor
from .importing import import_chat
from .listing import CommandRefused, export, list_sessions
from .options import Options
from .printing import let_go, printable
from .searching import search
from .wiring import Setting, open_sessions

_STORED = {
    "sessions": list_sessions,
    "export": export,
    "delete": delete,
    "branches": print_branches,
    "search": search,
    "import": import_chat,
}
_WITH_SETTING = {
    "ask": ask,
    "retry": retry,
    "continue": go_on,
    "edit": edit,
    "fork": fork,
    "switch": switch,
    "compact": compact,
    "project": print_projection,
}


def run_command(options: Options) -> int:
    """Run a command other than the window; 0 done, 1 it could not be done (one sentence on stderr)."""
    try:
        code = asyncio.run(_run(options))
        sys.stdout.flush()
        return code
    except (
        SettingsUnreadable,
        StoreUnavailable,
        UnknownSession,
        ZoteroUnavailable,
        ModelError,
        CommandRefused,
    ) as error:
        print(printable(str(error)), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 1
    except asyncio.CancelledError:
        print("Stopped.", file=sys.stderr)
        return 1
    except BrokenPipeError:
        let_go(sys.stdout)  # the reader of our output is gone: nobody is left to tell
        return 1
    except OSError as error:
        let_go(sys.stdout)
        print(f"The output could not be written: {error.strerror or error}.", file=sys.stderr)
        return 1


async def _run(options: Options) -> int:
    _stop_on_signals()
    setting = Setting.of(options)
    start_logging(setting.profile.logs, options.log_level)
    if options.command == "doctor":
        return await doctor(options, setting)
    if options.command in _WITH_SETTING:
        return await _WITH_SETTING[options.command](options, setting)
    async with open_sessions(setting) as sessions:
        return await _STORED[options.command](options, sessions)


def _stop_on_signals() -> None:
    """End as by Ctrl-C when the terminal closes or the system asks: what came of an answer is kept."""
    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
