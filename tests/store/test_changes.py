"""What others change in a history is seen, and what oneself changes is not taken for theirs (T-6)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
import sqlalchemy
from hypothesis import given, settings
from hypothesis import strategies as st

from bibgenie_desktop.store.changes import ForeignChanges
from bibgenie_desktop.store.database import StoreUnavailable
from bibgenie_desktop.store.leases import LeaseStore
from bibgenie_desktop.store.sessions import SessionStore
from tests.store.histories import START, answer, ask, opened


@asynccontextmanager
async def two(path: Path) -> AsyncIterator[tuple[SessionStore, SessionStore, ForeignChanges]]:
    """One's own history, another's over the same file, and what one sees of the other's changes."""
    async with opened(path, prefix="own") as own, opened(path, prefix="other") as other:
        changes = ForeignChanges(own.database)
        assert await changes.look() == ()
        yield own, other, changes


async def retitle(store: SessionStore, session_id: str, title: str) -> None:
    await store.database.write(
        lambda connection: connection.exec_driver_sql("UPDATE session SET title = ? WHERE id = ?", (title, session_id))
    )


async def remove(store: SessionStore, session_id: str) -> None:
    await store.database.write(
        lambda connection: [
            connection.exec_driver_sql(f"DELETE FROM {table} WHERE {column} = ?", (session_id,))
            for table, column in (("session_node", "session_id"), ("session", "id"))
        ]
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite"


@pytest.mark.req("T-6")
async def test_sessions_that_others_make_change_and_delete_are_told_once(path: Path) -> None:
    async with two(path) as (_, other, changes):
        session_id, question = await ask(other)
        assert await changes.look() == (session_id,)
        assert await changes.look() == ()
        await answer(other, session_id, question)
        assert await changes.look() == (session_id,)
        await retitle(other, session_id, "Another title")
        assert await changes.look() == (session_id,)
        await remove(other, session_id)
        assert await changes.look() == (session_id,)
        assert await changes.look() == ()


@pytest.mark.req("T-6", "T-7")
async def test_a_chat_that_others_pin_put_away_delete_and_bring_back_is_told(path: Path) -> None:
    async with two(path) as (own, other, changes):
        session_id, _ = await ask(own)
        await other.pin(session_id, True)
        assert await changes.look() == (session_id,)
        await other.archive(session_id, True)
        assert await changes.look() == (session_id,)
        await other.deletion.delete(session_id)
        assert await changes.look() == (session_id,)
        await other.deletion.undo(session_id)
        assert await changes.look() == (session_id,)
        assert await changes.look() == ()
        await own.pin(session_id, False)
        await own.archive(session_id, False)
        await own.deletion.delete(session_id)
        assert await changes.look() == ()
        [mark] = (await other.deletion.marked()).values()
        await other.deletion.purge(session_id, mark=mark)
        assert await changes.look() == (session_id,)
        await other.deletion.wipe()
        assert await changes.look() == ()


@pytest.mark.req("T-6")
async def test_what_was_there_before_the_first_look_is_no_change(path: Path) -> None:
    async with opened(path, prefix="early") as early:
        await ask(early)
    async with two(path) as (_, _, changes):
        assert await changes.look() == ()


@pytest.mark.req("T-6")
async def test_own_changes_are_not_told(path: Path) -> None:
    async with two(path) as (own, other, changes):
        session_id, question = await ask(own)
        assert await changes.look() == ()
        await answer(own, session_id, question)
        await retitle(own, session_id, "Another title")
        foreign, _ = await ask(other)
        assert await changes.look() == (foreign,)
        await remove(own, session_id)
        assert await changes.look() == ()


@pytest.mark.req("T-6")
async def test_an_own_change_on_top_of_anothers_hides_it_not(path: Path) -> None:
    """Both between two looks: what is there in the end is one's own, but not what is below."""
    async with two(path) as (own, other, changes):
        session_id, question = await ask(own)
        await changes.look()
        await answer(other, session_id, question)
        await ask(own, session_id)
        assert await changes.look() == (session_id,)
        await ask(own, session_id)
        assert await changes.look() == ()


@pytest.mark.req("T-6")
async def test_drafts_and_leases_of_others_change_no_session(path: Path) -> None:
    async with two(path) as (own, other, changes):
        session_id, _ = await ask(own)
        await other.drafts.save(session_id, "half a question")
        leases = LeaseStore(other.database, owner="b", clock=lambda: START, has_ended=lambda _: False)
        await leases.acquire(session_id, "turn")
        assert await changes.look() == ()


@pytest.mark.req("T-6")
async def test_a_change_that_was_rolled_back_is_nobodys(path: Path) -> None:
    async with two(path) as (own, other, changes):
        session_id, _ = await ask(own)
        with pytest.raises(ZeroDivisionError):
            await own.database.write(
                lambda connection: [connection.exec_driver_sql("UPDATE session SET title = 'x'"), 1 // 0]
            )
        await retitle(other, session_id, "x")
        assert await changes.look() == (session_id,)


@pytest.mark.req("T-6", "T-5")
@pytest.mark.parametrize("title", [b"\xff\x00", 7, "\x00", "'; DROP TABLE session"])
async def test_whatever_stands_in_a_damaged_row_it_is_seen_and_can_be_written(path: Path, title: object) -> None:
    async with two(path) as (own, _, changes):
        session_id, _ = await ask(own)
        await changes.look()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE session SET title = ?", (title,))
            connection.commit()
        assert await changes.look() == (session_id,)
        await ask(own, session_id)
        assert await changes.look() == ()


@pytest.mark.req("T-6")
async def test_what_happens_while_the_file_is_busy_is_told_afterwards(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bibgenie_desktop.store.database.BUSY_SECONDS", 0)
    async with two(path) as (_, other, changes):
        session_id, _ = await ask(other)
        with closing(sqlite3.connect(path)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable):
                await changes.look()
            holder.rollback()
        assert await changes.look() == (session_id,)


@pytest.mark.req("T-6")
async def test_as_long_as_nobody_writes_a_look_reads_no_sessions(path: Path) -> None:
    statements = list[str]()
    async with two(path) as (own, other, changes):
        await ask(other)
        await changes.look()
        reader = own.database._reader
        sqlalchemy.event.listen(reader, "before_cursor_execute", lambda _c, _k, sql, *_: statements.append(sql))
        await changes.look()
        assert statements == ["BEGIN", "PRAGMA data_version"]
        await other.drafts.save("", "half a question")
        await changes.look()
        assert len(statements) == 5
        await changes.look()
        assert statements[5:] == ["BEGIN", "PRAGMA data_version"]


acts = st.sampled_from(["ask", "retitle", "look", "new"])


@pytest.mark.req("T-6")
@settings(max_examples=40)
@given(st.lists(st.tuples(st.booleans(), acts, st.integers(0, 2)), max_size=12))
def test_what_is_told_is_exactly_what_others_changed(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[bool, str, int]]
) -> None:
    """However one's own and others' changes are mixed between the looks."""

    async def play() -> None:
        async with two(tmp_path_factory.mktemp("changes") / "sessions.sqlite") as (own, other, changes):
            sessions = [(await ask(own))[0] for _ in range(3)]
            expected = set[str]()
            for number, (is_own, act, which) in enumerate([*steps, (True, "look", 0)]):
                store, session_id = own if is_own else other, sessions[which]
                match act:
                    case "ask":
                        await ask(store, session_id)
                    case "retitle":
                        await retitle(store, session_id, f"title {number}")
                    case "new":
                        session_id, _ = await ask(store)
                    case _:
                        assert set(await changes.look()) == expected
                        expected.clear()
                        continue
                if not is_own:
                    expected.add(session_id)

    asyncio.run(play())
