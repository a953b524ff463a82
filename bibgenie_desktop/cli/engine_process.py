"""The engine as a process of its own, started by a window and ended by the end of its input."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial

from ..engine.watching import WATCH_SECONDS
from ..profile.logs import start_logging
from ..profile.settings import SettingsUnreadable
from ..protocol.codec import command_from_json, to_json
from ..protocol.commands import Command, Shutdown
from ..protocol.events import CommandFailed, Event
from ..store.database import StoreUnavailable
from ..transport.served import ServedPipe
from .options import parse_options
from .wiring import Setting, open_engine

_log = logging.getLogger(__name__)


def main(argv: Sequence[str]) -> int:
    """Serve one window; the arguments are the command line's options."""
    return asyncio.run(_serve(argv))


async def _serve(argv: Sequence[str]) -> int:
    options = parse_options(argv)
    pipe = ServedPipe.on_standard_streams()

    def emit(event: Event) -> None:
        pipe.send(to_json(event))

    try:
        setting = Setting.of(options)
        start_logging(setting.profile.logs, options.log_level)
        async with open_engine(setting, emit, automatic=True) as engine:
            engine.start()
            await engine.watch(lambda: asyncio.sleep(WATCH_SECONDS))
            running: set[asyncio.Task[None]] = set()
            while True:
                # Each command by itself: one that waits, for the library say, holds up no other.
                command = await _next(pipe)
                task = asyncio.create_task(engine.handle(command), name=type(command).__name__)
                running.add(task)
                task.add_done_callback(running.discard)
                task.add_done_callback(partial(_answer_a_fault, command, emit))
                if isinstance(command, Shutdown):
                    break
            await asyncio.wait(running)
    except (SettingsUnreadable, StoreUnavailable) as error:
        emit(CommandFailed("profile", str(error)))
        return 1
    finally:
        pipe.close()
    return 0


def _answer_a_fault(command: Command, emit: Callable[[Event], None], task: asyncio.Task[None]) -> None:
    """A command that ended by a fault of the program is answered too: nobody waits for it for ever."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        _log.error("%s ended by a fault of the program", type(command).__name__, exc_info=error)
        sentence = "This could not be done by a fault of the program, which the log tells; what was stored is safe."
        emit(CommandFailed("fault", sentence, command.request))


async def _next(pipe: ServedPipe) -> Command:
    """The next command; Shutdown at the end of the input."""
    while True:
        try:
            message = await pipe.receive()
            return Shutdown() if message is None else command_from_json(message)
        except (ValueError, RecursionError) as error:
            _log.error("a command could not be read: %s", error)
