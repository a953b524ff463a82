"""A child process that is spoken with in JSON lines: one object a line, UTF-8, over its stdin and stdout."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from asyncio import StreamReader, StreamWriter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

LINE_LIMIT = 4 * 2**20
"""Bytes of one line from the child."""
ERROR_TAIL = 4096
"""Bytes of its stderr that are kept."""
CLOSING_GRACE = 5.0
"""Seconds that a child has to end after its stdin was closed."""


class ChildProcess:
    """A running child. Whoever starts one closes it.

    `receive` and `close` may be waited for at the same time, and `close` more than once.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._stdin, self._stdout, self._stderr = _pipes(process)
        self._reading = asyncio.Lock()
        self._broken = ""
        self._error_tail = b""
        self._errors = asyncio.create_task(self._collect_errors(), name=f"stderr of process {process.pid}")
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, line_limit: int = LINE_LIMIT, environment: Mapping[str, str] | None = None
    ) -> ChildProcess:
        """Start the program `argv[0]` with its arguments, no shell between. Raises OSError if it cannot be started.

        `line_limit` is in bytes. `environment` replaces ours where it is given. Cancelled, it leaves no process.
        """
        if sys.platform == "win32":
            flags = subprocess.CREATE_NO_WINDOW
        else:
            flags = 0
        pipe = asyncio.subprocess.PIPE
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *argv, stdin=pipe, stdout=pipe, stderr=pipe, limit=line_limit, env=environment, creationflags=flags
            )
        )
        cancelled: asyncio.CancelledError | None = None
        while not starting.done():
            # asyncio forgets the pipes of a start that is cancelled half-way: it is let finish, which takes no time.
            try:
                await asyncio.shield(starting)
            except asyncio.CancelledError as error:
                cancelled = error
        child = cls(starting.result())
        if cancelled is not None:
            child.kill()
            await child.close()
            raise cancelled
        return child

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process is not known to have ended and keeps to the protocol."""
        return self._process.returncode is None and not self._broken

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return self._process.returncode

    @property
    def error_tail(self) -> str:
        """The end of what the child wrote to stderr so far."""
        return self._error_tail.decode("utf-8", "replace")

    @property
    def ending(self) -> str:
        """What is known of the child's end, in words for a log."""
        words = [f"exit code {self.returncode}", self._broken, self.error_tail.strip()]
        return "; ".join(word for word in words if word)

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send one message. One to a child that has ended is lost without an error: `receive` tells."""
        self._stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        with suppress(ConnectionError):
            await self._stdin.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None when the child has ended.

        A child that sends a longer line than the limit, or something else than JSON objects, is killed and counts
        as ended.
        """
        async with self._reading:
            if self._broken:
                return None
            try:
                line = await self._stdout.readuntil(b"\n")
                message = json.loads(line)
            except asyncio.IncompleteReadError:
                return None
            except asyncio.LimitOverrunError:
                self._break("it sent a line that is too long")
                return None
            except ValueError:
                self._break("it sent a line that is no JSON")
                return None
            if not isinstance(message, dict):
                self._break("it sent a line that is no JSON object")
                return None
            return message

    def kill(self) -> None:
        """End the child at once, if it runs."""
        if self._process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                # asyncio's kill polls before: of a child that has just ended it takes the exit code away from
                # asyncio's own watcher, which then complains and reports 255.
                os.kill(self.pid, signal.SIGKILL)

    async def close(self, grace: float = CLOSING_GRACE) -> None:
        """Close the child's stdin, which asks it to end; kill it after `grace` seconds; wait for its end.

        Cancelling the caller does not stop it.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(grace), name=f"close process {self.pid}")
        await asyncio.shield(self._closing)

    async def _close(self, grace: float) -> None:
        self._stdin.close()
        killing = asyncio.get_running_loop().call_later(grace, self.kill)
        try:
            # Both pipes are read to their end: a child that still writes could not end otherwise.
            async with self._reading:
                while await self._stdout.read(2**16):
                    pass
            await self._errors
            await self._process.wait()
        finally:
            killing.cancel()
        with suppress(ConnectionError):
            await self._stdin.wait_closed()

    def _break(self, reason: str) -> None:
        self._broken = reason
        self.kill()

    async def _collect_errors(self) -> None:
        while chunk := await self._stderr.read(ERROR_TAIL):
            self._error_tail = (self._error_tail + chunk)[-ERROR_TAIL:]


def _pipes(process: asyncio.subprocess.Process) -> tuple[StreamWriter, StreamReader, StreamReader]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr
