"""Chats deleted for good, brought back, pinned and put away, as a window asks for it (T-2, T-7)."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bibgenie_desktop.engine.keeping import CLOSING_SECONDS, RETRY_SECONDS
from bibgenie_desktop.protocol.commands import (
    UNDO_SECONDS,
    ArchiveSession,
    Command,
    DeleteSession,
    Hello,
    ListSessions,
    OpenSession,
    PinSession,
    SendMessage,
    UndoDelete,
)
from bibgenie_desktop.protocol.events import CommandDone, CommandFailed, SessionList, SessionsChanged
from bibgenie_desktop.protocol.values import SessionRow
from tests.engine.running import Running, running
from tests.engine.scripted import Gate, ScriptedModel, answers
from tests.engine.shelf import Shelf
from tests.engine.test_watching import Pace
from tests.store.traces import secret, traces

pytestmark = pytest.mark.req("T-7")


class Hourglass:
    """Waits until the test says that the time is over; each wait is told."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._waiting: asyncio.Queue[asyncio.Event] = asyncio.Queue()

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)
        over = asyncio.Event()
        self._waiting.put_nowait(over)
        await over.wait()

    async def begun(self) -> asyncio.Event:
        """The oldest wait that was not asked for yet; setting it ends it."""
        async with asyncio.timeout(60):
            return await self._waiting.get()


async def done(room: Running, command: Command) -> None:
    """Carry a command out that is not refused."""
    failed = len(room.told(CommandFailed))
    await room.engine.handle(command)
    assert room.told(CommandFailed)[failed:] == []
    assert room.last(CommandDone).request == command.request


async def refused(room: Running, command: Command) -> CommandFailed:
    """Carry a command out that is refused."""
    failed = len(room.told(CommandFailed))
    await room.engine.handle(command)
    [refusal] = room.told(CommandFailed)[failed:]
    return refusal


async def listed(room: Running) -> tuple[SessionRow, ...]:
    await room.engine.handle(ListSessions())
    return room.last(SessionList).sessions


def stored(folder: Path) -> list[str]:
    """The sessions that the file still has, deleted ones too."""
    with closing(sqlite3.connect(folder / "sessions.sqlite")) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM session ORDER BY used")]


def mark_deleted(folder: Path, session_id: str, moment: str) -> None:
    with closing(sqlite3.connect(folder / "sessions.sqlite")) as connection:
        connection.execute("UPDATE session SET deleted_at = ? WHERE id = ?", (moment, session_id))
        connection.commit()


async def test_a_deleted_chat_is_gone_at_once_and_after_the_time_to_undo_from_the_disk(
    shelf: Shelf, tmp_path: Path
) -> None:
    glass = Hourglass()
    model = ScriptedModel(answers(secret("answer")), answers("Two."))
    async with running(shelf, tmp_path, model, keeping_sleep=glass.sleep) as room:
        session_id = await room.send(secret("question"))
        other = await room.send("Two?")
        await done(room, DeleteSession(session_id, request=7))
        assert [row.id for row in await listed(room)] == [other]
        assert (await refused(room, OpenSession(session_id))).code == "refused"
        assert (await refused(room, SendMessage("More?", session_id))).code == "refused"
        time = await glass.begun()
        assert glass.seconds == [UNDO_SECONDS]
        assert stored(tmp_path) == [session_id, other]
        time.set()
        await room.engine.deletion_settled()
        assert stored(tmp_path) == [other]
        assert traces(tmp_path) == {}
        assert [node.text for node in await room.branch(other)] == ["Two?", "Two."]


async def test_a_chat_that_is_brought_back_in_time_is_as_it_was(shelf: Shelf, tmp_path: Path) -> None:
    glass = Hourglass()
    async with running(shelf, tmp_path, ScriptedModel(answers("One.")), keeping_sleep=glass.sleep) as room:
        session_id = await room.send("One?")
        before = await listed(room)
        await done(room, DeleteSession(session_id))
        time = await glass.begun()
        await done(room, UndoDelete(session_id, request=8))
        assert await listed(room) == before
        time.set()
        await room.engine.deletion_settled()
        assert await listed(room) == before


async def test_a_chat_that_is_gone_cannot_be_brought_back_nor_deleted(shelf: Shelf, tmp_path: Path) -> None:
    glass = Hourglass()
    async with running(shelf, tmp_path, ScriptedModel(answers("One.")), keeping_sleep=glass.sleep) as room:
        session_id = await room.send("One?")
        await done(room, DeleteSession(session_id))
        assert "no chat" in (await refused(room, DeleteSession(session_id))).sentence
        (await glass.begun()).set()
        await room.engine.deletion_settled()
        assert await refused(room, UndoDelete(session_id, request=3)) == CommandFailed(
            "refused", "This chat was deleted for good and cannot be brought back.", 3
        )
        assert "no chat" in (await refused(room, DeleteSession(session_id))).sentence


async def test_each_deletion_has_its_own_time(shelf: Shelf, tmp_path: Path) -> None:
    """One that is deleted again after it was brought back gets the whole of it."""
    glass = Hourglass()
    async with running(shelf, tmp_path, ScriptedModel(answers("One.")), keeping_sleep=glass.sleep) as room:
        session_id = await room.send("One?")
        await done(room, DeleteSession(session_id))
        first = await glass.begun()
        await done(room, UndoDelete(session_id))
        await done(room, DeleteSession(session_id))
        second = await glass.begun()
        first.set()
        await done(room, UndoDelete(session_id))
        await done(room, DeleteSession(session_id))
        second.set()
        (await glass.begun()).set()
        await room.engine.deletion_settled()
        assert stored(tmp_path) == []


async def test_a_chat_in_which_an_answer_streams_is_not_deleted(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    async with running(shelf, tmp_path, ScriptedModel([gate, *answers("One.")])) as room:
        await room.engine.handle(SendMessage("One?"))
        await gate.reached.wait()
        [row] = await listed(room)
        assert (await refused(room, DeleteSession(row.id))).code == "answering"
        gate.opened.set()
        await room.engine.turns_settled()
        await done(room, DeleteSession(row.id))


@pytest.mark.req("T-6")
async def test_a_chat_in_which_another_window_answers_is_not_deleted(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    async with (
        running(shelf, tmp_path, ScriptedModel(), owner="a") as one,
        running(shelf, tmp_path, ScriptedModel([gate, *answers("One.")]), owner="b") as other,
    ):
        await other.engine.handle(SendMessage("One?"))
        await gate.reached.wait()
        [row] = await listed(one)
        refusal = await refused(one, DeleteSession(row.id))
        assert (refusal.code, "Another window" in refusal.sentence) == ("leased", True)
        gate.opened.set()
        await other.engine.turns_settled()
        await done(one, DeleteSession(row.id))
        assert await listed(other) == ()


@pytest.mark.req("T-6")
async def test_other_windows_see_a_chat_go_and_come_back_and_can_bring_it_back(shelf: Shelf, tmp_path: Path) -> None:
    glass, pace = Hourglass(), Pace()
    async with (
        running(shelf, tmp_path, ScriptedModel(answers("One.")), owner="a", keeping_sleep=glass.sleep) as one,
        running(shelf, tmp_path, ScriptedModel(), owner="b") as other,
    ):
        session_id = await one.send("One?")
        await other.engine.watch(pace.pause)
        await done(one, DeleteSession(session_id))
        await pace.look()
        assert other.told(SessionsChanged) == [SessionsChanged((session_id,))]
        assert await listed(other) == ()
        await done(other, UndoDelete(session_id))
        (await glass.begun()).set()
        await one.engine.deletion_settled()
        assert len(await listed(one)) == 1
        await done(one, PinSession(session_id, True))
        await pace.look()
        assert len(other.told(SessionsChanged)) == 2


async def test_an_engine_that_ends_purges_what_it_deleted_and_the_next_wipes_it(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers(secret("answer")), answers("Two."))
    async with running(shelf, tmp_path, model, owner="a", keeping_sleep=Hourglass().sleep) as room:
        session_id, other = await room.send(secret("question")), await room.send("Two?")
        await done(room, DeleteSession(session_id))
    assert stored(tmp_path) == [other]
    async with running(shelf, tmp_path, ScriptedModel(), owner="b") as room:
        await room.engine.handle(Hello())
        await room.engine.deletion_settled()
        assert traces(tmp_path) == {}


async def test_what_another_engine_deleted_is_left_to_it(shelf: Shelf, tmp_path: Path) -> None:
    """An engine that begins or ends meanwhile does not shorten the time to undo."""
    glass, later = Hourglass(), Hourglass()
    async with running(shelf, tmp_path, ScriptedModel(answers("One.")), owner="a", keeping_sleep=glass.sleep) as one:
        session_id = await one.send("One?")
        await done(one, DeleteSession(session_id))
        async with running(shelf, tmp_path, ScriptedModel(), owner="b", keeping_sleep=later.sleep) as other:
            await other.engine.handle(Hello())
            await later.begun()
        assert stored(tmp_path) == [session_id]
        await done(one, UndoDelete(session_id))
        assert len(await listed(one)) == 1


@pytest.mark.parametrize("moment", ["2026-11-30T11:00:00.000Z", "2030-01-01T00:00:00.000Z"])
async def test_what_a_killed_engine_deleted_is_purged_at_the_next_start(
    shelf: Shelf, tmp_path: Path, moment: str
) -> None:
    """Also where its clock was wrong."""
    async with running(shelf, tmp_path, ScriptedModel(answers(secret("answer"))), owner="a") as room:
        session_id = await room.send("One?")
    mark_deleted(tmp_path, session_id, moment)
    async with running(shelf, tmp_path, ScriptedModel(), owner="b") as room:
        await room.engine.handle(Hello())
        await room.engine.deletion_settled()
        assert stored(tmp_path) == []
        assert traces(tmp_path) == {}


async def test_what_was_deleted_just_before_the_start_is_purged_when_its_time_is_over(
    shelf: Shelf, tmp_path: Path
) -> None:
    glass = Hourglass()
    async with running(shelf, tmp_path, ScriptedModel(answers("One.")), owner="a") as room:
        session_id = await room.send("One?")
    mark_deleted(tmp_path, session_id, "2026-11-30T12:00:00.000Z")
    async with running(shelf, tmp_path, ScriptedModel(), owner="b", keeping_sleep=glass.sleep) as room:
        await room.engine.handle(Hello())
        time = await glass.begun()
        assert stored(tmp_path) == [session_id]
        time.set()
        await room.engine.deletion_settled()
        assert stored(tmp_path) == []


async def test_what_another_process_reads_is_wiped_as_soon_as_it_has_ended(
    shelf: Shelf, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    glass = Hourglass()
    model = ScriptedModel(answers(secret("answer")), answers("Two."))
    async with running(shelf, tmp_path, model, keeping_sleep=glass.sleep) as room:
        session_id = await room.send(secret("question"))
        with closing(sqlite3.connect(tmp_path / "sessions.sqlite", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM node").fetchone()
            await done(room, DeleteSession(session_id))
            (await glass.begun()).set()
            for attempt in range(3):
                again = await glass.begun()
                assert glass.seconds[-1] == RETRY_SECONDS * 2**attempt
                again.set()
            again = await glass.begun()
            await room.send("Two?")  # nobody is held up
            reader.execute("ROLLBACK")
        again.set()
        await room.engine.deletion_settled()
        assert traces(tmp_path) == {}
    assert sum("cannot be wiped off the disk yet" in line for line in caplog.messages) == 1
    assert not any("vermilion" in line.lower() for line in caplog.messages)


@pytest.mark.req("T-6")
async def test_an_engine_ends_in_time_while_it_wipes_and_while_the_file_is_busy(shelf: Shelf, tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    glass = Hourglass()
    async with running(shelf, tmp_path, ScriptedModel(answers("One.")), keeping_sleep=glass.sleep) as room:
        session_id = await room.send("One?")
        await done(room, DeleteSession(session_id))
        with closing(sqlite3.connect(tmp_path / "sessions.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            begun = loop.time()
            await room.engine.close()
            assert loop.time() - begun < CLOSING_SECONDS + 0.6
            other.execute("ROLLBACK")


async def test_chats_that_nobody_used_for_long_are_deleted_at_the_start_if_that_is_set(
    shelf: Shelf, tmp_path: Path
) -> None:
    model = ScriptedModel(answers(secret("answer")), answers("Two."), answers("Three."))
    async with running(shelf, tmp_path, model, owner="a") as room:
        old, pinned, new = [await room.send(each) for each in (secret("question"), "Two?", "Three?")]
        await done(room, PinSession(pinned, True))
    with closing(sqlite3.connect(tmp_path / "sessions.sqlite")) as connection:
        connection.execute("UPDATE session SET updated_at = '2026-10-01T00:00:00.000Z' WHERE id <> ?", (new,))
        connection.commit()
    for days, left in ((0, [pinned, new, old]), (90, [pinned, new, old]), (30, [pinned, new])):
        async with running(shelf, tmp_path, ScriptedModel(), owner=f"b{days}", keep_days=days) as room:
            await room.engine.handle(Hello())
            await room.engine.deletion_settled()
            assert [row.id for row in await listed(room)] == left
            assert room.told(SessionsChanged) == ([SessionsChanged((old,))] if days == 30 else [])
    assert traces(tmp_path) == {}


@pytest.mark.req("T-2")
async def test_a_pinned_chat_comes_first_and_one_that_was_put_away_says_so(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("One."), answers("Two."), answers("Three."))
    async with running(shelf, tmp_path, model) as room:
        first, second = await room.send("One?"), await room.send("Two?")
        before = await listed(room)
        await done(room, PinSession(first, True, request=1))
        await done(room, ArchiveSession(second, True, request=2))
        rows = await listed(room)
        assert [(row.id, row.is_pinned, row.is_archived) for row in rows] == [
            (first, True, False),
            (second, False, True),
        ]
        assert [row.branch_revision for row in rows] == [2, 2]
        await done(room, PinSession(first, False))
        await room.send("Three?", second)  # brings it back
        assert [(row.id, row.is_archived) for row in await listed(room)] == [(second, False), (first, False)]
        assert (await refused(room, PinSession("gone", True))).code == "refused"
        assert (await refused(room, ArchiveSession("gone", True))).code == "refused"
        assert len(before) == 2
