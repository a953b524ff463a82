"""Histories for tests: real files, with ids and times that are the same in each run."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bibgenie_desktop.sessions.parts import TextPart
from bibgenie_desktop.store.encoding import Clock
from bibgenie_desktop.store.sessions import SessionStore

START = datetime(2026, 11, 30, 18, 50, 48, 123_000, tzinfo=UTC)


def counted_ids(prefix: str = "") -> Callable[[], str]:
    """Ids `00000001`, `00000002`, …"""
    numbers = itertools.count(1)
    return lambda: f"{prefix}{next(numbers):08}"


def ticking(moments: Iterable[datetime] | None = None) -> Clock:
    """A clock that is a second later each time it is read, or that reads these moments."""
    steps = iter(moments) if moments is not None else (START + timedelta(seconds=tick) for tick in itertools.count())
    return lambda: next(steps)


@asynccontextmanager
async def opened(path: Path, *, prefix: str = "", clock: Clock | None = None) -> AsyncIterator[SessionStore]:
    """The history at `path`, closed at the end. A history opened a second time needs another prefix of ids."""
    store = await SessionStore.open(path, clock=clock or ticking(), new_id=counted_ids(prefix))
    try:
        yield store
    finally:
        await store.close()


async def ask(store: SessionStore, session_id: str = "", text: str = "Why?") -> tuple[str, str]:
    """Append a question; its session's id and its own."""
    changes = await store.append_user(session_id, [TextPart(text)], title=text, model="offline")
    return changes.session_id, changes.added[0]


async def answer(store: SessionStore, session_id: str, question: str, text: str = "So.") -> str:
    """Append an answer; its id."""
    changes = await store.append_assistant(
        session_id, question, [TextPart(text)], model="offline", usage=None, stop_reason="stop"
    )
    return changes.added[0]


async def talk(store: SessionStore, turns: int) -> tuple[str, list[str]]:
    """A session of as many turns; its id and its nodes' ids, root first."""
    session_id, ids = "", list[str]()
    for turn in range(turns):
        session_id, question = await ask(store, session_id, f"question {turn}")
        ids += [question, await answer(store, session_id, question, f"answer {turn}")]
    return session_id, ids


def older_history(path: Path, version: int) -> Path:
    """A history at `path` as the program of an earlier schema version left it."""
    script = Path(__file__).with_name(f"history_version_{version}.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.executescript(script)
    return path


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with what it holds."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def spoil(path: Path, *statements: str | tuple[str, tuple[object, ...]]) -> None:
    """Change a closed database behind the program's back: no trigger or foreign key stands in the way."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER IF EXISTS node_is_append_only")
        connection.execute("DROP TRIGGER IF EXISTS node_is_never_replaced")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            if isinstance(statement, str):
                connection.execute(statement)
            else:
                connection.execute(*statement)
        connection.commit()
