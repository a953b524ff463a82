"""A program that holds a Zotero database as a running Zotero does, to be run beside a test.

`python -m tests.zotero.holder DATABASE STATEMENT` takes the exclusive lock, runs STATEMENT, commits it without a
checkpoint, prints "ready" and holds on until its input ends. It then goes without tidying up.
"""

from __future__ import annotations

import os
import sqlite3
import sys


def main() -> None:
    path, statement = sys.argv[1:]
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute(statement)
    connection.execute("COMMIT")
    print("ready", flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
