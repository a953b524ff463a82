"""Clocks that jump by years, backwards and forwards: what lies where does not hang on them (T-2, T-6)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bibgenie_desktop.sessions.parts import TextPart
from bibgenie_desktop.store.changes import ForeignChanges
from bibgenie_desktop.store.encoding import Clock
from bibgenie_desktop.store.leases import EXPIRY, LeaseStore
from bibgenie_desktop.store.sessions import SessionStore
from tests.discipline.lengths import Loops
from tests.store.acts import Hand, anything
from tests.store.histories import START, answer, ask, counted_ids, opened, talk
from tests.store.whole import faults


def jumping(seed: int) -> Clock:
    """A clock that is anywhere within decades each time it is read."""
    chance = random.Random(seed)

    def moments() -> Iterator[datetime]:
        while True:
            yield START + timedelta(days=chance.randint(-20_000, 20_000), milliseconds=chance.randint(0, 10_000))

    steps = moments()
    return lambda: next(steps)


def backwards() -> Clock:
    """A clock that is a day earlier each time it is read."""
    day = iter(range(10_000))
    return lambda: START - timedelta(days=next(day))


@pytest.fixture(params=["jumping", "backwards"])
def clock(request: pytest.FixtureRequest) -> Clock:
    return jumping(7) if request.param == "jumping" else backwards()


@pytest.mark.req("T-2")
async def test_the_list_is_in_the_order_of_use_whatever_the_clock_says(tmp_path: Path, clock: Clock) -> None:
    async with opened(tmp_path / "sessions.sqlite", clock=clock) as store:
        sessions = [(await talk(store, 2))[0] for _ in range(6)]
        assert await listed(store) == sessions[::-1]
        for session_id in (sessions[3], sessions[0]):
            await ask(store, session_id)
        assert await listed(store) == [sessions[0], sessions[3], sessions[5], sessions[4], sessions[2], sessions[1]]


async def listed(store: SessionStore) -> list[str]:
    return [row.session.id for row in await store.sessions()]


@pytest.mark.req("T-1", "T-4")
async def test_messages_and_their_versions_are_in_the_order_in_which_they_were_stored(
    tmp_path: Path, clock: Clock
) -> None:
    async with opened(tmp_path / "sessions.sqlite", clock=clock) as store:
        session_id, ids = await talk(store, 3)
        answers = [ids[5]]
        for _ in range(5):
            await store.tree.retry(session_id, answers[-1], model="m")
            answers.append(await answer(store, session_id, ids[4]))
        assert [node.id for node in await store.tree.whole(session_id)] == [*ids, *answers[1:]]
        assert [node.id for node in (await store.branch(session_id)).nodes] == [*ids[:5], answers[-1]]
        versions = (await store.tree.versions(session_id))[answers[-1]]
        assert (versions.version, versions.versions, versions.previous_id) == (6, 6, answers[-2])


@pytest.mark.req("T-4")
async def test_a_switch_leads_to_what_was_left_last(tmp_path: Path, clock: Clock) -> None:
    """Which branch below a question was shown last is a matter of revisions, not of times."""
    async with opened(tmp_path / "sessions.sqlite", clock=clock) as store:
        session_id, ids = await talk(store, 2)
        await store.tree.edit(session_id, ids[0], [TextPart("another")], model="m")
        other = str((await store.session(session_id)).leaf_id)
        await store.tree.switch(session_id, ids[0])
        assert (await store.session(session_id)).leaf_id == ids[3]
        await store.tree.retry(session_id, ids[3], model="m")
        newest = await answer(store, session_id, ids[2])
        await store.tree.switch(session_id, ids[3])
        await store.tree.switch(session_id, other)
        await store.tree.switch(session_id, ids[1])
        assert (await store.session(session_id)).leaf_id == ids[3] != newest


@pytest.mark.req("T-6")
@pytest.mark.parametrize("jump", [timedelta(days=-3_650), timedelta(days=3_650)])
async def test_a_lease_is_had_after_a_jump_and_its_holder_gets_it_back(tmp_path: Path, jump: timedelta) -> None:
    """A jump looks like a holder that is long gone. Nobody is locked out by a heartbeat from the future."""
    now = START
    async with opened(tmp_path / "sessions.sqlite") as store:

        def leases(owner: str) -> LeaseStore:
            return LeaseStore(store.database, owner=owner, clock=lambda: now, has_ended=lambda name: False)

        one, two = leases("one"), leases("two")
        assert await one.acquire("s", "turn")
        assert not await two.acquire("s", "turn")
        now = START + jump
        assert await one.acquire("s", "turn")  # its heartbeat
        assert not await two.acquire("s", "turn")
        now = START  # and back again, before the heartbeat
        assert await two.acquire("s", "turn")
        assert not await one.acquire("s", "turn")
        now += EXPIRY
        assert await one.acquire("s", "turn")


@pytest.mark.req("T-6")
async def test_an_interrupted_answer_is_kept_although_it_began_in_the_future(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path, clock=clock) as store:
        session_id, question = await ask(store)
        await store.journal.note(session_id, question, [TextPart("half")])
    async with opened(path, prefix="b", clock=clock) as store:
        changes = await store.tree.recover(session_id)
        assert changes is not None
        [kept] = await store.nodes(changes.added)
        assert (kept.text, kept.stop_reason) == ("half", "interrupted")
        assert (await store.session(session_id)).leaf_id == kept.id


@pytest.mark.req("T-6", "T-2")
async def test_changes_of_others_are_seen_although_the_times_stand_still_or_go_back(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    still = START
    async with opened(path, clock=lambda: still) as one, opened(path, prefix="b", clock=backwards()) as two:
        session_id, question = await ask(one)
        foreign = ForeignChanges(one.database)
        await foreign.look()
        await answer(two, session_id, question)
        assert await foreign.look() == (session_id,)
        await two.pin(session_id, True)
        assert await foreign.look() == (session_id,)


@pytest.mark.req("T-1", "T-2", "T-3", "T-6")
async def test_anything_done_by_a_jumping_clock_leaves_a_sound_history(tmp_path: Path, loops: Loops) -> None:
    for seed in range(loops(2, 40)):
        path = tmp_path / f"{seed}.sqlite"
        store = await SessionStore.open(path, clock=jumping(seed), new_id=counted_ids())
        try:
            hand = Hand(store, random.Random(seed))
            for _ in range(150):
                await anything(hand, lambda line: None)
        finally:
            await store.close()
        assert faults(path) == []
