"""The log database of the `llm` package, for a comparison: run by a Python in which that is installed.

    PYTHON benchmarks/peer_llm.py WORDS DEPTH TURNS ROUNDS QUERY

Stands alone: nothing of this project is imported. Prints JSON: milliseconds by the clock of each load of a conversation
of DEPTH messages, of each append to it, and of each search for QUERY among TURNS turns.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import llm  # type: ignore[import-not-found]
import sqlite_utils  # type: ignore[import-not-found]
from llm.logs import LogStore, log_rows  # type: ignore[import-not-found]

TURNS_OF_A_CHAT = 10


class Parrot(llm.Model):  # type: ignore[misc]
    """A model that says what it is given."""

    model_id = "parrot"
    can_stream = False

    def __init__(self, texts: Iterator[str]) -> None:
        self.texts = texts

    def execute(self, *_: Any, **__: Any) -> Iterator[str]:
        """The next text."""
        yield next(self.texts)


def times(rounds: int, act: Callable[[], object]) -> list[float]:
    """Milliseconds by the clock of each round."""
    found = []
    for _ in range(rounds):
        begun = time.perf_counter()
        act()
        found.append((time.perf_counter() - begun) * 1e3)
    return found


def main() -> None:
    """Measure and print."""
    words, depth, turns, rounds, query = sys.argv[1:]
    texts: list[str] = json.loads(Path(words).read_text(encoding="utf-8"))
    following = (texts[number % len(texts)] for number in range(10**9))
    with tempfile.TemporaryDirectory() as folder:
        store = LogStore(sqlite_utils.Database(Path(folder, "logs.db")))
        thread = store.create_thread("deep")
        store.append(
            thread,
            [(llm.user if place % 2 == 0 else llm.assistant)(next(following)) for place in range(int(depth))],
        )
        model = Parrot(following)
        for _ in range(int(turns) // TURNS_OF_A_CHAT):
            conversation = model.conversation()
            for _ in range(TURNS_OF_A_CHAT):
                response = conversation.prompt(next(following))
                response.text()
                response.log_to_db(store.db)
        found = {
            "version": version("llm"),
            "load": times(int(rounds), lambda: store.thread_messages(thread)),
            "append": times(int(rounds), lambda: store.append(thread, [llm.user(next(following))])),
            "search": times(int(rounds), lambda: log_rows(store, count=50, query=query)),
            "hits": len(log_rows(store, count=50, query=query)),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
