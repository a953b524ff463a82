"""An engine over real files, as the command line wires one: history, index, workers; the model is the test's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Container
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TypeVar

from bibgenie_desktop.engine.agent.prompts import system_prompt
from bibgenie_desktop.engine.contexts import CompactionSettings
from bibgenie_desktop.engine.engine import Engine
from bibgenie_desktop.engine.journaling import JOURNAL_SECONDS
from bibgenie_desktop.engine.leases import SessionLeases
from bibgenie_desktop.engine.library.index import LibraryIndex
from bibgenie_desktop.engine.models import ModelChoice
from bibgenie_desktop.models.port import Model
from bibgenie_desktop.profile.paths import resources
from bibgenie_desktop.protocol.commands import SendMessage
from bibgenie_desktop.protocol.events import Event, TurnStarted
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.store.leases import LeaseStore
from bibgenie_desktop.store.library import LibraryStore
from bibgenie_desktop.store.sessions import SessionStore
from tests.engine.shelf import Shelf, formula_workers, index_over

SENDING = CompactionSettings("sending")
SYSTEM = system_prompt(resources())

E = TypeVar("E")


@dataclass(slots=True)
class Running:
    """A running engine and all that it told."""

    engine: Engine
    sessions: SessionStore
    library: LibraryStore
    index: LibraryIndex
    events: list[Event]
    news: asyncio.Event
    folder: Path

    async def send(self, text: str, session_id: str = "") -> str:
        """Send a question and wait for the end of its answer; returns the chat's id."""
        await self.engine.handle(SendMessage(text, session_id))
        await self.engine.turns_settled()
        return self.last(TurnStarted).session_id

    async def until(self, kind: type[Event]) -> None:
        """Wait until an event of this kind was told."""
        while not self.told(kind):
            self.news.clear()
            await self.news.wait()

    def told(self, kind: type[E]) -> list[E]:
        """All events of a kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    def last(self, kind: type[E]) -> E:
        """The newest event of a kind."""
        return self.told(kind)[-1]

    async def branch(self, session_id: str) -> tuple[Node, ...]:
        return (await self.sessions.branch(session_id)).nodes


def clock() -> Callable[[], datetime]:
    """A clock that goes on by a second each time it is asked."""
    seconds = count()
    return lambda: datetime(2026, 11, 30, 12, 0, tzinfo=UTC) + timedelta(seconds=next(seconds))


def ids(prefix: str = "") -> Callable[[], str]:
    """Ids that count."""
    numbers = count(1)
    return lambda: f"{prefix}{next(numbers):0{32 - len(prefix)}x}"


@asynccontextmanager
async def running(
    shelf: Shelf,
    folder: Path,
    model: Model,
    *,
    settled: bool = True,
    owner: str = "",
    now: Callable[[], datetime] | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    gone: Container[str] = (),
    open_model: Callable[[str], Model] | None = None,
    store: Callable[[str], None] = lambda _: None,
    journal_pause: Callable[[], Awaitable[None]] = lambda: asyncio.sleep(JOURNAL_SECONDS),
    keep_days: int = 0,
    keeping_sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    compaction: CompactionSettings = SENDING,
    monotonic: Callable[[], float] = time.monotonic,
    compaction_sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[Running]:
    """An engine over a copy of the shelf's index; `settled` waits until it has found that nothing changed.

    Engines over the same folder are told apart by `owner`, which their ids begin with and which holds their leases.
    `now` is the clock of the leases, `sleep` waits between their heartbeats, and `gone` are owners that have ended.
    It starts with `model`; `open_model` makes those that are chosen later, and `store` is told of each choice.
    `journal_pause` lies between two notes of an answer that streams. `keep_days` is how long unused chats are kept, and
    `keeping_sleep` waits until a deleted one is purged. `compaction` is what was chosen of it, `monotonic` and
    `compaction_sleep` measure and wait for its time.
    """
    events: list[Event] = []
    news = asyncio.Event()

    def emit(event: Event) -> None:
        events.append(event)
        news.set()

    index_file = folder / "library.sqlite"
    library = await LibraryStore.open(index_file if index_file.exists() else shelf.copy_to(folder))
    sessions = await SessionStore.open(folder / "sessions.sqlite", clock=clock(), new_id=ids(owner))
    lease_store = LeaseStore(sessions.database, owner=owner, clock=now or clock(), has_ended=gone.__contains__)
    index = index_over(shelf.source, library, report=emit)
    models = ModelChoice(
        model.name,
        open_model=lambda name: model if name == model.name or open_model is None else open_model(name),
        store=store,
        describe=lambda name: f"about {name}",
        offered=["offline"],
        used=sessions.last_models,
        emit=emit,
    )
    engine = Engine(
        sessions=sessions,
        leases=SessionLeases(lease_store, sleep=sleep),
        index=index,
        formulas=formula_workers(),
        models=models,
        system=SYSTEM,
        profile=str(folder),
        emit=emit,
        journal_pause=journal_pause,
        keep_days=keep_days,
        keeping_sleep=keeping_sleep,
        compaction=compaction,
        clock=clock(),
        monotonic=monotonic,
        compaction_sleep=compaction_sleep,
    )
    engine.start()
    try:
        if settled:
            await engine.library_settled()
        yield Running(engine, sessions, library, index, events, news, folder)
    finally:
        await engine.close()
        await library.close()
        await sessions.close()
