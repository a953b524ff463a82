"""A disk that is full or fails: one sentence, and the history stays as it was, readable and whole (T-6)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from bibgenie_desktop.store.database import Database, StoreUnavailable
from bibgenie_desktop.store.sessions import SessionStore
from tests.store.histories import ask, counted_ids, opened, talk, ticking
from tests.store.writer import writing


@pytest.mark.req("T-6")
async def test_a_full_disk_refuses_a_change_and_takes_the_next_that_fits(tmp_path: Path) -> None:
    """SQLite's own limit on pages stands for the disk: it fails in the same way."""
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
    database = Database(path, what="The history", if_damaged="")
    try:
        await database.write(lambda connection: connection.exec_driver_sql("PRAGMA max_page_count = 60").scalar())
        store = SessionStore(database, clock=ticking(), new_id=counted_ids("b"))
        await store.drafts.save(session_id, "kept")
        before = await store.session(session_id)
        for act in (
            lambda: ask(store, session_id, "x" * 400_000),
            lambda: store.drafts.save(session_id, "x" * 400_000),
        ):
            with pytest.raises(StoreUnavailable) as refusal:
                await act()
            assert refusal.value.code == "full"
            assert str(refusal.value) == (
                f"The history ({path}) is unchanged, for the disk is full: free some space and try again."
            )
        assert await store.session(session_id) == before
        assert await store.drafts.read(session_id) == "kept"
        assert [node.id for node in (await store.branch(session_id)).nodes] == ids
        assert await store.integrity() == []
        await ask(store, session_id, "a short one")
    finally:
        await database.close()


@pytest.mark.req("T-6")
@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files there")
def test_a_quota_is_told_in_one_sentence_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    """The system refuses to let the file grow: SQLite reports a failing disk, which is no damage."""
    path = tmp_path / "sessions.sqlite"
    session_id, ids = asyncio.run(begin(path))
    limit = str(path.stat().st_size + 200_000)
    with writing(path, "--session", session_id, "--prefix", "w", "--largest-file", limit) as writer:
        ready, *stored, refusal, readable = writer.lines()
        assert writer.process.wait() == 0
    assert ready == "ready"
    assert len(stored) > 10
    assert refusal == (
        f"refused full: The history ({path}) is unchanged, for the disk refused to read or write it: "
        "check the disk and its free space."
    )
    assert readable == f"still readable: {len(ids) + len(stored)} None"
    asyncio.run(check_and_go_on(path, session_id, [*ids, *stored]))


async def begin(path: Path) -> tuple[str, list[str]]:
    async with opened(path) as store:
        return await talk(store, 2)


async def check_and_go_on(path: Path, session_id: str, ids: list[str]) -> None:
    async with opened(path, prefix="c") as store:
        branch = await store.branch(session_id)
        assert [node.id for node in branch.nodes] == ids
        assert branch.damage is None
        assert await store.integrity() == []
        await ask(store, session_id)
