"""Approvals outlive the process, bound to one change of one version, for ten minutes."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.branch import NotAllowed
from bibgenie_desktop.sessions.operations import STATES, UNFINISHED, Operation, check_step
from bibgenie_desktop.store.operations import OUTCOMES, OperationStore
from bibgenie_desktop.store.session_rows import UnknownSession
from bibgenie_desktop.store.sessions import SessionStore
from tests.store.histories import START, ask, counted_ids, opened, spoil

pytestmark = [pytest.mark.req("L-5"), pytest.mark.req("T-6")]


class Watch:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def operations(store: SessionStore, watch: Watch, prefix: str = "o") -> OperationStore:
    return OperationStore(store.database, clock=watch, new_id=counted_ids(prefix))


async def propose(store: OperationStore, session_id: str, version: str | None = "7") -> Operation:
    return await store.propose(
        session_id, kind="add_tags", target="library/items/ABCD2345", target_version=version, request={"tags": ["Bias"]}
    )


async def test_a_pending_approval_survives_a_restart(tmp_path: Path) -> None:
    watch = Watch()
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await ask(store)
        proposed = await propose(operations(store, watch), session_id)
    async with opened(tmp_path / "sessions.sqlite", prefix="b") as store:
        again = operations(store, watch, "p")
        assert await again.unfinished(session_id) == [proposed]
        assert proposed.state == "proposed"
        assert (await again.approve(proposed.id, target_version="7")).state == "approved"
        assert (await again.attempt(proposed.id, target_version="7")).state == "attempted"
        assert [each.state for each in await again.unfinished(session_id)] == ["attempted"]
        done = await again.finish(proposed.id, "confirmed", result={"version": 8})
        assert (done.state, done.result) == ("confirmed", {"version": 8})
        assert await again.unfinished(session_id) == []


@pytest.mark.parametrize("moved", [timedelta(minutes=10, seconds=1), -timedelta(days=400), timedelta(days=400)])
async def test_an_approval_that_is_out_of_date_is_none(tmp_path: Path, moved: timedelta) -> None:
    watch = Watch()
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await ask(store)
        changes = operations(store, watch)
        waiting, approved = await propose(changes, session_id), await propose(changes, session_id)
        await changes.approve(approved.id, target_version="7")
        watch.now += moved
        assert {each.state for each in await changes.unfinished(session_id)} == {"expired"}
        with pytest.raises(NotAllowed, match="too long ago"):
            await changes.approve(waiting.id, target_version="7")
        with pytest.raises(NotAllowed, match="too long ago"):
            await changes.attempt(approved.id, target_version="7")
        watch.now = START
        assert await changes.unfinished(session_id) == []


@pytest.mark.parametrize("version", ["8", None])
async def test_a_target_that_was_changed_asks_again(tmp_path: Path, version: str | None) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await ask(store)
        changes = operations(store, Watch())
        waiting, approved = await propose(changes, session_id), await propose(changes, session_id)
        await changes.approve(approved.id, target_version="7")
        with pytest.raises(NotAllowed, match="another version"):
            await changes.approve(waiting.id, target_version=version)
        with pytest.raises(NotAllowed, match="another version"):
            await changes.attempt(approved.id, target_version=version)
        assert await changes.unfinished(session_id) == []


async def test_one_approval_is_for_one_attempt(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await ask(store)
        changes = operations(store, Watch())
        proposed = await propose(changes, session_id)
        with pytest.raises(NotAllowed):
            await changes.attempt(proposed.id, target_version="7")
        await changes.approve(proposed.id, target_version="7")
        await changes.attempt(proposed.id, target_version="7")
        with pytest.raises(NotAllowed):
            await changes.attempt(proposed.id, target_version="7")
        await changes.finish(proposed.id, "unknown")
        with pytest.raises(NotAllowed):
            await changes.attempt(proposed.id, target_version="7")
        assert [each.state for each in await changes.unfinished(session_id)] == ["unknown"]


async def test_a_denied_change_is_never_made(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await ask(store)
        changes = operations(store, Watch())
        proposed = await propose(changes, session_id, None)
        assert (await changes.deny(proposed.id)).state == "denied"
        for act in (changes.approve, changes.attempt):
            with pytest.raises(NotAllowed):
                await act(proposed.id, target_version=None)


async def test_what_waits_is_told_in_the_order_in_which_it_was_proposed(tmp_path: Path) -> None:
    """Whatever the ids are, and the clock."""
    watch, ids = Watch(), iter(["c", "a", "b"])
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await ask(store)
        changes = OperationStore(store.database, clock=watch, new_id=lambda: next(ids))
        for _ in range(3):
            await propose(changes, session_id)
            watch.now -= timedelta(minutes=1)
        assert [each.id for each in await changes.unfinished(session_id)] == ["c", "a", "b"]


async def test_nothing_is_written_for_a_chat_that_was_deleted(tmp_path: Path) -> None:
    """But how an attempt went that had begun by then is noted."""
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await ask(store)
        changes = operations(store, Watch())
        waiting, approved, begun = [await propose(changes, session_id) for _ in range(3)]
        for each in (approved, begun):
            await changes.approve(each.id, target_version="7")
        await changes.attempt(begun.id, target_version="7")
        await store.deletion.delete(session_id)
        with pytest.raises(NotAllowed, match="was deleted; nothing was written"):
            await changes.approve(waiting.id, target_version="7")
        with pytest.raises(NotAllowed, match="was deleted; nothing was written"):
            await changes.attempt(approved.id, target_version="7")
        assert (await changes.finish(begun.id, "confirmed")).state == "confirmed"


async def test_no_outcome_approves_a_change(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await ask(store)
        changes = operations(store, Watch())
        proposed = await propose(changes, session_id)
        for state in sorted(STATES - OUTCOMES):
            with pytest.raises(ValueError, match="ends no attempt"):
                await changes.finish(proposed.id, state)  # type: ignore[arg-type]
        assert await changes.unfinished(session_id) == [proposed]


@pytest.mark.req("T-5")
@pytest.mark.parametrize("damage", ["state = 'x'", "request = '{'", "request = '[]'", "result = '1'"])
async def test_a_change_that_cannot_be_read_is_never_made(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, _ = await ask(store)
        changes = operations(store, Watch())
        proposed = await propose(changes, session_id)
        await changes.approve(proposed.id, target_version="7")
    spoil(path, f"UPDATE operation SET {damage}")
    async with opened(path, prefix="b") as store:
        with pytest.raises(NotAllowed, match="cannot be read"):
            await operations(store, Watch(), "p").attempt(proposed.id, target_version="7")


async def test_changes_of_nothing_are_refused(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        changes = operations(store, Watch())
        with pytest.raises(UnknownSession):
            await propose(changes, "nobody")
        with pytest.raises(NotAllowed, match="no longer known"):
            await changes.approve("nothing", target_version=None)


@given(st.lists(st.sampled_from(sorted(STATES)), max_size=12))
def test_no_way_leads_to_an_attempt_but_through_an_approval_of_its_own(steps: list[str]) -> None:
    operation = Operation("o", "s", None, "k", "proposed", "t", None, {}, None, "", "")
    states = ["proposed"]
    for step in steps:
        moved = Operation("o", "s", None, "k", step, "t", None, {}, None, "", "")  # type: ignore[arg-type]
        try:
            check_step(operation, moved.state)
        except NotAllowed:
            continue
        operation = moved
        states.append(step)
    assert len(states) == len(set(states))
    if "attempted" in states:
        assert states.index("approved") == states.index("attempted") - 1
    assert all(state in UNFINISHED for state in states[:-1])
    assert not {"denied", "expired"} & set(itertools.chain(states[:-1]))
