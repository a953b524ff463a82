"""An engine tells its window what other engines change in the profile (T-6)."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bibgenie_desktop.protocol.codec import to_json
from bibgenie_desktop.protocol.events import SessionsChanged, TurnFinished
from bibgenie_desktop.transport.served import MESSAGE_LIMIT
from tests.engine.running import Running, running
from tests.engine.scripted import ScriptedModel, answers
from tests.engine.shelf import Shelf

INSERT = """
    INSERT INTO session (id, title, branch_revision, created_at, updated_at)
    VALUES (?, 'A chat', 0, '2026-11-30', '2026-11-30')
    """


class Pace:
    """Pauses between looks until the test asks for the next one."""

    def __init__(self) -> None:
        self._paused = asyncio.Event()
        self._over = asyncio.Event()

    async def pause(self) -> None:
        self._paused.set()
        await self._over.wait()
        self._over.clear()

    async def look(self) -> None:
        """One look, from its beginning to its end."""
        async with asyncio.timeout(60):  # a watch that ended fails the test
            await self._paused.wait()
            self._paused.clear()
            self._over.set()
            await self._paused.wait()


def changed(room: Running) -> list[tuple[str, ...]]:
    """What was told of changes by others, event by event."""
    assert all(event.request == 0 for event in room.told(SessionsChanged))
    return [event.session_ids for event in room.told(SessionsChanged)]


@pytest.mark.req("T-6")
async def test_a_chat_that_another_engine_makes_or_goes_on_with_is_told(shelf: Shelf, tmp_path: Path) -> None:
    pace = Pace()
    model = ScriptedModel(answers("One."), answers("Two."))
    async with (
        running(shelf, tmp_path, ScriptedModel(), owner="a") as one,
        running(shelf, tmp_path, model, owner="b") as other,
    ):
        await one.engine.watch(pace.pause)
        session_id = await other.send("One?")
        await pace.look()
        assert changed(one) == [(session_id,)]
        await pace.look()
        assert changed(one) == [(session_id,)]
        await other.send("Two?", session_id)
        await pace.look()
        assert changed(one) == [(session_id,), (session_id,)]


@pytest.mark.req("T-6")
async def test_what_an_engine_does_itself_is_not_told_as_anothers(shelf: Shelf, tmp_path: Path) -> None:
    pace = Pace()
    async with running(shelf, tmp_path, ScriptedModel(answers("One."), answers("Two.")), owner="a") as room:
        await room.engine.watch(pace.pause)
        session_id = await room.send("One?")
        await pace.look()
        await room.send("Two?", session_id)
        await pace.look()
        assert len(room.told(TurnFinished)) == 2
        assert changed(room) == []


@pytest.mark.req("T-6")
async def test_an_engine_that_nobody_asked_to_watch_tells_nothing(shelf: Shelf, tmp_path: Path) -> None:
    """As in a command of the command line."""
    async with (
        running(shelf, tmp_path, ScriptedModel(answers("Mine.")), owner="a") as one,
        running(shelf, tmp_path, ScriptedModel(answers("Yours.")), owner="b") as other,
    ):
        await other.send("One?")
        await one.send("Two?")
        assert changed(one) == []


@pytest.mark.req("T-6", "U-4")
async def test_thousands_of_changes_come_in_messages_that_the_pipe_takes(shelf: Shelf, tmp_path: Path) -> None:
    pace = Pace()
    async with running(shelf, tmp_path, ScriptedModel(), owner="a") as room:
        await room.engine.watch(pace.pause)
        ids = [f"{number:032x}" for number in range(6_000)] + ["“" * 10_000]
        with closing(sqlite3.connect(tmp_path / "sessions.sqlite")) as other:
            other.executemany(
                INSERT,
                [(session_id,) for session_id in ids],
            )
            other.commit()
        await pace.look()
        sizes = [len(json.dumps(to_json(event), ensure_ascii=False).encode()) for event in room.told(SessionsChanged)]
        assert len(sizes) > 1
        assert max(sizes) < MESSAGE_LIMIT
        assert [session_id for piece in changed(room) for session_id in piece] == sorted(ids)


@pytest.mark.req("T-6")
async def test_a_file_that_is_busy_ends_no_watch(shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bibgenie_desktop.store.database.BUSY_SECONDS", 0)
    pace = Pace()
    async with running(shelf, tmp_path, ScriptedModel(), owner="a") as room:
        with closing(sqlite3.connect(tmp_path / "sessions.sqlite")) as other:
            other.execute("BEGIN IMMEDIATE")
            await room.engine.watch(pace.pause)  # it cannot even begin yet
            other.rollback()
            await pace.look()
            other.execute(INSERT, ("s",))
            other.commit()
            other.execute("BEGIN IMMEDIATE")
            await pace.look()
            await pace.look()
            other.rollback()
        assert changed(room) == []
        await pace.look()
        assert changed(room) == [("s",)]
