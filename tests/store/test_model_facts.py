"""What was learned of models: kept by model and route, bounded, and forgotten when a person says so (A13, D-1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.compaction.calibration import REMEMBERED
from bibgenie_desktop.store.model_facts import ModelFacts
from tests.store.histories import opened, spoil


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite"


@pytest.mark.req("D-1", "C-5")
async def test_facts_are_those_of_one_model_on_one_way_and_last_across_a_restart(path: Path) -> None:
    async with opened(path) as store:
        facts = store.model_facts
        assert await facts.facts("m", "") == ModelFacts()
        await facts.note_usage("m", "", 100, 120)
        await facts.note_refused("m", "proxy.example", 5_000)
        await facts.note_usage("n", "", 10, 11)
    async with opened(path, prefix="b") as store:
        facts = store.model_facts
        assert await facts.facts("m", "") == ModelFacts(None, ((100, 120),))
        assert await facts.facts("m", "proxy.example") == ModelFacts(5_000)
        await facts.reset("m", "")
        assert await facts.facts("m", "") == ModelFacts()
        assert await facts.facts("m", "proxy.example") == ModelFacts(5_000)
        assert await facts.facts("n", "") == ModelFacts(None, ((10, 11),))


@pytest.mark.req("C-5")
async def test_the_newest_counts_are_kept_and_nonsense_is_none(path: Path) -> None:
    async with opened(path) as store:
        facts = store.model_facts
        for number in range(1, 40):
            await facts.note_usage("m", "", number, number + 1)
        for nonsense in ((0, 5), (5, 0), (-1, -1)):
            await facts.note_usage("m", "", *nonsense)
        pairs = (await facts.facts("m", "")).pairs
        assert pairs == tuple((number, number + 1) for number in range(40 - REMEMBERED, 40))


@pytest.mark.req("D-1")
async def test_the_smallest_size_that_was_refused_counts(path: Path) -> None:
    async with opened(path) as store:
        for tokens in (9_000, 7_000, 8_000):
            await store.model_facts.note_refused("m", "", tokens)
        await store.model_facts.note_usage("m", "", 100, 110)
        assert await store.model_facts.facts("m", "") == ModelFacts(7_000, ((100, 110),))


@pytest.mark.req("T-5", "C-5")
@pytest.mark.parametrize(
    "stored",
    [
        "no JSON",
        "7",
        "null",
        "{}",
        "[7]",
        "[[1]]",
        "[[1,2,3]]",
        '[["a","b"]]',
        "[[1,Infinity]]",
        "[[NaN,1]]",
        "[[true,1]]",
        "[[0,1]]",
        "[" * 100_000,
        "9" * 5_000,
        b"\xff",
        b"[[1,2]]",
    ],
    ids=lambda stored: str(stored)[:12],
)
async def test_facts_that_cannot_be_read_are_none_and_make_room_for_new_ones(path: Path, stored: object) -> None:
    async with opened(path) as store:
        await store.model_facts.note_usage("m", "", 1, 2)
    spoil(path, ("UPDATE model_fact SET pairs = ?, ceiling = ?", (stored, stored)))
    async with opened(path, prefix="b") as store:
        known = await store.model_facts.facts("m", "")
        assert known.pairs == ()
        assert known.ceiling in (None, 7)  # SQLite takes a text that is a number for one
        await store.model_facts.note_usage("m", "", 3, 4)
        assert (await store.model_facts.facts("m", "")).pairs == ((3, 4),)
