"""The list of sessions, and finding one by the beginning of its id."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from bibgenie_desktop.sessions.parts import TextPart
from bibgenie_desktop.sessions.usage import Usage
from bibgenie_desktop.store.session_rows import UnknownSession
from tests.store.histories import START, answer, ask, opened, spoil, talk, ticking


@pytest.mark.req("T-2")
async def test_the_last_used_session_comes_first_with_its_turns_and_tokens(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        assert await store.sessions() == []
        first, _ = await talk(store, 3)
        second, question = await ask(store)
        usage = Usage(120, 30, turn_input_tokens=999)
        await store.append_assistant(second, question, [TextPart("So.")], model="m", usage=usage, stop_reason="stop")
        third, _ = await ask(store)
        await ask(store, first)
        listed = [(row.session.id, row.turns, row.tokens) for row in await store.sessions()]
        assert listed == [(first, 4, 0), (third, 1, 0), (second, 1, 150)]
        assert [row.session for row in await store.sessions()] == [await store.session(row[0]) for row in listed]


@pytest.mark.req("T-3")
async def test_turns_are_counted_on_the_active_branch_and_through_shared_ancestors(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        await answer(store, session_id, ids[0], "a sibling of the first answer")
    with closing(sqlite3.connect(path)) as connection:  # a fork at the first answer
        connection.execute(
            "INSERT INTO session (id, title, leaf_id, branch_revision, created_at, updated_at)"
            " VALUES ('fork', 'f', ?, 1, '', '')",
            (ids[1],),
        )
        connection.commit()
    async with opened(path, prefix="b") as store:
        assert {row.session.id: row.turns for row in await store.sessions()} == {session_id: 2, "fork": 1}


@pytest.mark.req("T-2")
async def test_sessions_of_one_moment_stand_in_the_order_of_their_use(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite", clock=ticking([START] * 6)) as store:
        ids = [(await ask(store))[0] for _ in range(5)]
        assert [row.session.id for row in await store.sessions()] == ids[::-1]
        await ask(store, ids[2])
        assert [row.session.id for row in await store.sessions()] == [ids[2], ids[4], ids[3], ids[1], ids[0]]


@pytest.mark.req("T-7")
async def test_a_session_that_is_being_deleted_is_not_listed_and_not_found(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        kept, _ = await talk(store, 1)
        deleted, _ = await talk(store, 1)
    spoil(path, f"UPDATE session SET deleted_at = 'now' WHERE id = '{deleted}'")
    async with opened(path, prefix="b") as store:
        assert [row.session.id for row in await store.sessions()] == [kept]
        for look in (store.session, store.find, store.branch):
            with pytest.raises(UnknownSession):
                await look(deleted)


@pytest.mark.req("T-5")
async def test_a_damaged_session_hides_no_other(tmp_path: Path) -> None:
    """Cycles, missing leaves, usage that is none, titles that are no UTF-8: the list shows all sessions."""
    path = tmp_path / "sessions.sqlite"
    async with opened(path, clock=ticking(START + timedelta(days=day) for day in range(99))) as store:
        sessions = [(await talk(store, 1))[0] for _ in range(8)]
        leaves = [str((await store.session(session)).leaf_id) for session in sessions]
    spoil(
        path,
        f"UPDATE node SET usage = 'no JSON' WHERE id = '{leaves[0]}'",
        f"UPDATE node SET usage = '[1]' WHERE id = '{leaves[1]}'",
        f"UPDATE node SET usage = '{{\"input_tokens\": \"many\"}}' WHERE id = '{leaves[2]}'",
        (f"UPDATE node SET usage = ? WHERE id = '{leaves[3]}'", ("[" * 100_000,)),
        f"UPDATE session SET title = CAST(x'54ff69' AS TEXT) WHERE id = '{sessions[4]}'",
        f"UPDATE session SET leaf_id = 'gone' WHERE id = '{sessions[5]}'",
        f"UPDATE node SET parent_id = id WHERE id = '{leaves[6]}'",
        f"UPDATE session SET leaf_id = CAST(x'ff' AS TEXT) WHERE id = '{sessions[7]}'",
    )
    async with opened(path, prefix="b") as store:
        rows = await store.sessions()
        assert [row.session.id for row in rows] == sessions[::-1]
        assert [row.turns for row in rows] == [0, 0, 0, 1, 1, 1, 1, 1]
        assert {row.tokens for row in rows} == {0}
        assert (await store.session(sessions[4])).title == "T\ufffdi"


async def test_a_session_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        first, _ = await ask(store)
        second, _ = await ask(store)
        assert (first, second) == ("00000001", "00000003")
        assert (await store.find("00000003")).id == second
        for wrong in ("", "1", "%", "0000000_", "x", "00000001x", "\udcff", "0' OR '1"):
            with pytest.raises(UnknownSession, match="There is no chat"):
                await store.find(wrong)
        with pytest.raises(UnknownSession, match="Several chats"):
            await store.find("0000")
    async with opened(tmp_path / "sessions.sqlite", prefix="a") as store:
        third, _ = await ask(store)
        assert (await store.find("a")).id == third
