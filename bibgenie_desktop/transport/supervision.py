"""Keeps an engine running for a window: starts it, starts it again when it dies, gives up when that does not help."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..protocol.commands import Command
from ..protocol.events import Event
from .engine_link import EngineLink

_log = logging.getLogger(__name__)

MOST_RESTARTS = 3
"""Restarts in a row without success."""
SETTLED_SECONDS = 30.0
"""An engine that answered and lived as long was a success; one that dies sooner may die of the same cause again."""


@dataclass(frozen=True, slots=True)
class EngineEnd:
    """An engine ended that should not have. `sentence` is for the user; `restarting` tells whether a new one comes."""

    sentence: str
    restarting: bool


class EngineSupervisor:
    """Runs one engine at a time, with events going to `take` and unexpected ends to `ended`.

    `argv` starts an engine; `monotonic` is a clock in seconds.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        take: Callable[[Event], None],
        ended: Callable[[EngineEnd], None],
        environment: Mapping[str, str] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._argv = tuple(argv)
        self._take = take
        self._ended = ended
        self._environment = environment
        self._monotonic = monotonic
        self._link: EngineLink | None = None
        self._running: asyncio.Future[None] | None = None
        self._closing = False

    @property
    def pid(self) -> int | None:
        """The running engine's process id."""
        return self._link.pid if self._link else None

    def send(self, command: Command) -> None:
        """Send a command to the engine; it is lost where none runs: `ended` has told so."""
        if self._link is not None:
            self._link.send(command)

    async def run(self) -> None:
        """Keep an engine running until `close`, or until starting again does not help."""
        self._running = asyncio.get_running_loop().create_future()
        try:
            await self._run()
        finally:
            self._link = None
            self._running.set_result(None)

    async def _run(self) -> None:
        restarts = 0
        while not self._is_closing():
            started = self._monotonic()
            try:
                link = await EngineLink.start(self._argv, self._take, environment=self._environment)
            except OSError as error:
                _log.error("the engine cannot be started: %s", error)
                sentence = f"The engine cannot be started ({error.strerror}): install BibGenie anew."
                self._ended(EngineEnd(sentence, restarting=False))
                return
            self._link = link
            if self._is_closing():
                await link.close()
                return
            sentence = await link.ended()
            self._link = None
            if self._is_closing():
                return
            if link.welcomed and self._monotonic() - started >= SETTLED_SECONDS:
                restarts = 0
            restarting = not link.refusal and restarts < MOST_RESTARTS
            restarts += 1
            _log.error("the engine ended: %s", link.ending)
            self._ended(EngineEnd(sentence, restarting))
            if not restarting:
                return

    async def close(self) -> None:
        """End the engine, within two seconds, and wait for the end of `run`."""
        self._closing = True
        if self._link is not None:
            await self._link.close()
        if self._running is not None:
            await asyncio.wait([self._running])

    def kill(self) -> None:
        """End the engine at once."""
        self._closing = True
        if self._link is not None:
            self._link.kill()

    def _is_closing(self) -> bool:
        # `close` may be called during any wait.
        return self._closing
