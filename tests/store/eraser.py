"""A process that deletes a session and kills itself at one of its statements: `python -m tests.store.eraser …`.

The arguments are the file, the session and the number of the statement, 0 for none: then it prints how many there were.
A fourth argument is the size in bytes above which no file may grow while the deleted session is wiped (POSIX only).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from bibgenie_desktop.store.database import StoreUnavailable
from tests.store.histories import opened


class Mortal:
    """Counts the statements of all connections from when it is `armed`."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.count = 0
        self.armed = False
        self._connect = sqlite3.dbapi2.connect

    def connect(self, *arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = self._connect(*arguments, **options)
        connection.set_trace_callback(self._trace)
        return connection

    def _trace(self, _statement: str) -> None:
        self.count += self.armed
        if self.armed and self.count == self.last:
            os.kill(os.getpid(), signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


async def main(path: Path, session_id: str, last: int, largest: int = 0) -> None:
    mortal = Mortal(last)
    sqlite3.dbapi2.connect = sqlite3.connect = mortal.connect  # type: ignore[assignment]
    async with opened(path, prefix="k") as store:
        mark = await store.deletion.delete(session_id)
        mortal.armed = True
        await store.deletion.purge(session_id, mark=mark)
        if largest and sys.platform != "win32":
            import resource

            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
        try:
            await store.deletion.wipe()
        except StoreUnavailable as error:
            print(f"refused {error.code}: {error}")
            return
        mortal.armed = False
    if not last:
        print(mortal.count)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])))
