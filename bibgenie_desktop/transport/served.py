"""The child's side of a pipe: commands in on stdin, events out on stdout, one JSON object a line.

Both pipes block, so each has a thread; the event loop never waits for the other side. Nothing else may write to
stdout: whatever still does is led to stderr.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, BinaryIO

MESSAGE_LIMIT = 64 * 1024
"""Bytes of one message: more would make the window stall while it parses."""


class MessageTooLarge(Exception):
    """A bug of ours: a message that should have been sent in pieces."""


class ServedPipe:
    """Messages from and to the process that started this one. Made on the event loop."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._loop = asyncio.get_running_loop()
        self._incoming = incoming
        self._outgoing = outgoing
        self._received: asyncio.Queue[object | None] = asyncio.Queue()
        self._to_send: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        # The reader may stand in a read that never ends, so it must not keep the process alive.
        threading.Thread(target=self._read, name="pipe-reader", daemon=True).start()
        self._writer = threading.Thread(target=self._write, name="pipe-writer", daemon=True)
        self._writer.start()

    @classmethod
    def on_standard_streams(cls) -> ServedPipe:
        """Take stdin and stdout for messages; what is printed from now on goes to stderr."""
        # Of its own descriptors: Python must not wait at its end for a file object that a thread of ours still reads.
        incoming = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
        outgoing = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        return cls(incoming, outgoing)

    async def receive(self) -> object | None:
        """The next message as JSON; None once the other side has closed the pipe. Raises ValueError for no JSON."""
        line = await self._received.get()
        return None if line is None else json.loads(str(line))

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message, in order; never waits. Raises MessageTooLarge."""
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        if len(line) > MESSAGE_LIMIT:
            raise MessageTooLarge(f"{message.get('type')} of {len(line)} bytes")
        self._to_send.put(line)

    def close(self) -> None:
        """Send what is waiting, as far as the other side still reads, and close."""
        self._to_send.put(None)
        self._writer.join(timeout=2)

    def _read(self) -> None:
        with self._incoming:
            for line in self._incoming:
                self._tell(line.decode("utf-8", "replace"))
        self._tell(None)

    def _tell(self, line: str | None) -> None:
        with suppress(RuntimeError):  # the loop has ended meanwhile: nobody is left to tell
            self._loop.call_soon_threadsafe(self._received.put_nowait, line)

    def _write(self) -> None:
        with suppress(OSError):  # the other side is gone; the end of its own pipe tells the loop
            while (line := self._to_send.get()) is not None:
                self._outgoing.write(line)
                if self._to_send.empty():
                    self._outgoing.flush()
        with suppress(OSError):
            self._outgoing.close()
