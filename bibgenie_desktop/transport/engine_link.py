"""The window's line to one engine process: commands go out in order, events come in typed and in order."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from ..protocol.codec import MalformedMessage, event_from_json, to_json
from ..protocol.commands import Command, Hello, Shutdown
from ..protocol.events import CommandFailed, Event, Welcome
from .child import ChildProcess
from .served import MESSAGE_LIMIT

_log = logging.getLogger(__name__)

CLOSING_GRACE = 1.2
"""Seconds that the engine has to keep what streams and end, before it is killed."""
WRITING_GRACE = 0.4
"""Seconds that an engine has to take the commands that wait for it, before its input is closed."""
BURST_SECONDS = 0.004
"""Time in which events are taken in one go, before the event loop gets a turn: a window draws in between."""

_ENDED = "The engine ended unexpectedly; what was stored is safe."
_UNREADABLE = "The engine said something that this window does not understand; what was stored is safe."


class EngineLink:
    """One engine process from its start to its end. Whoever starts one closes it.

    `take` gets every event, in the order the engine sent them, on the event loop. Hello is said at once; what is sent
    before the engine has answered it waits in the pipe. An engine that refuses to work is ended.
    """

    def __init__(self, child: ChildProcess, take: Callable[[Event], None]) -> None:
        # The loop is kept: qasync steps tasks once more after a run, when no loop counts as running.
        self._loop = asyncio.get_running_loop()
        self._child = child
        self._take = take
        self._outgoing: deque[Command] = deque()
        self._writing: asyncio.Task[None] | None = None
        self._fault = ""
        self.welcomed = False
        """Whether the engine has answered Hello."""
        self.refusal = ""
        """The sentence with which the engine refused to work, "" if it did not."""
        self.send(Hello())
        self._reading = self._loop.create_task(self._read(), name=f"read from engine {child.pid}")

    @classmethod
    async def start(
        cls, argv: Sequence[str], take: Callable[[Event], None], *, environment: Mapping[str, str] | None = None
    ) -> EngineLink:
        """Start the engine `argv[0]` with its arguments. Raises OSError if it cannot be started."""
        return cls(await ChildProcess.start(argv, line_limit=MESSAGE_LIMIT, environment=environment), take)

    @property
    def pid(self) -> int:
        """The engine's process id."""
        return self._child.pid

    def send(self, command: Command) -> None:
        """Send a command, behind all that were sent before; never waits. To an engine that has ended it is lost."""
        self._outgoing.append(command)
        if self._writing is None or self._writing.done():
            self._writing = self._loop.create_task(self._write(), name=f"write to engine {self.pid}")

    async def ended(self) -> str:
        """Wait until the engine has ended; the sentence says how, for the user."""
        await asyncio.shield(self._reading)
        return self.refusal or self._fault or _ENDED

    async def close(self) -> None:
        """Ask the engine to end, close its input, kill it if it lingers, and wait for its end."""
        self.send(Shutdown())
        writing = self._writing
        assert writing is not None
        # An engine that reads nothing must not hold this up.
        await asyncio.wait([writing], timeout=WRITING_GRACE)
        writing.cancel()
        await self._child.close(CLOSING_GRACE)
        await asyncio.wait([writing, self._reading])

    @property
    def ending(self) -> str:
        """What is known of the engine's end, in words for a log."""
        return self._child.ending

    def kill(self) -> None:
        """End the engine at once."""
        self._child.kill()

    async def _write(self) -> None:
        while self._outgoing:
            await self._child.send(to_json(self._outgoing.popleft()))

    async def _read(self) -> None:
        begun = time.monotonic()
        while (message := await self._child.receive()) is not None:
            try:
                event = event_from_json(message)
            except MalformedMessage as error:
                _log.error("the engine's message cannot be read: %s", error)
                self._fault = _UNREADABLE
                self._child.kill()
                break
            if self._refused(event):
                break
            self._take(event)
            if time.monotonic() - begun > BURST_SECONDS:
                await asyncio.sleep(0)
                begun = time.monotonic()
        # One that refused, or only closed its output, still runs.
        await self._child.close(CLOSING_GRACE)

    def _refused(self, event: Event) -> bool:
        match event:
            case Welcome():
                self.welcomed = True
            case CommandFailed(sentence=sentence) if not self.welcomed:
                self.refusal = sentence
            case _:
                pass
        return bool(self.refusal)
