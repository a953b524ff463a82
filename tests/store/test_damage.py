"""Damaged branches: told on load, shown as far as they are sound, and never rewritten (T-5)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bibgenie_desktop.sessions.branch import Path as BranchPath
from bibgenie_desktop.sessions.parts import UndecodablePart
from tests.store.histories import ask, bytes_of, opened, spoil, talk


async def load(path: Path, session_id: str) -> BranchPath:
    """The branch as a program finds it that starts now; the files stay as they are."""
    before = bytes_of(path.parent)
    async with opened(path) as store:
        branch = await store.branch(session_id)
        await store.sessions()
    assert bytes_of(path.parent) == before
    return branch


async def history(path: Path, turns: int = 2) -> tuple[str, list[str]]:
    async with opened(path) as store:
        return await talk(store, turns)


@pytest.mark.req("T-5")
@pytest.mark.parametrize("length", [1, 2, 1_000])
async def test_a_cycle_is_told_and_each_message_is_shown_once(tmp_path: Path, length: int) -> None:
    path = tmp_path / "sessions.sqlite"
    session_id, ids = await history(path, 1)
    names = [f"c{number}" for number in range(length)]
    nodes: list[str | tuple[str, tuple[object, ...]]] = [
        ("INSERT INTO node VALUES (?, ?, 'user', '[]', NULL, NULL, NULL, '')", (name, names[number - 1]))
        for number, name in enumerate(names)
    ]
    spoil(path, *nodes, f"UPDATE session SET leaf_id = '{names[-1]}'")
    branch = await load(path, session_id)
    assert [node.id for node in branch.nodes] == names
    assert branch.damage == f"the chain of messages closes on itself at {names[-1]}"
    assert ids


@pytest.mark.req("T-5")
async def test_a_branch_that_runs_into_a_cycle_is_shown_to_where_it_closes(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    session_id, ids = await history(path)
    spoil(path, f"UPDATE node SET parent_id = '{ids[2]}' WHERE id = '{ids[1]}'")
    branch = await load(path, session_id)
    assert [node.id for node in branch.nodes] == ids[1:]
    assert branch.damage == f"the chain of messages closes on itself at {ids[2]}"


@pytest.mark.req("T-5")
async def test_behind_a_missing_message_the_rest_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    session_id, ids = await history(path)
    spoil(path, f"DELETE FROM node WHERE id = '{ids[1]}'")
    branch = await load(path, session_id)
    assert [node.id for node in branch.nodes] == ids[2:]
    assert branch.damage == f"message {ids[1]} is missing"
    async with opened(path) as store:
        assert await store.integrity() != []


@pytest.mark.req("T-5")
async def test_a_missing_leaf_is_told(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    session_id, _ = await history(path)
    spoil(path, "UPDATE session SET leaf_id = 'gone'")
    branch = await load(path, session_id)
    assert branch == BranchPath((), "the last message gone is missing")


TEXT = '[{"type":"text","text":"x","citations":[]}]'
UNREADABLE: dict[str, tuple[str, object]] = {
    "no JSON": ("parts = ?", "no JSON"),
    "cut off": ("parts = ?", TEXT[:-5]),
    "an object": ("parts = ?", "{}"),
    "a number": ("parts = ?", "7"),
    "an endless number": ("parts = ?", "9" * 5_000),
    "nested without end": ("parts = ?", "[" * 100_000),
    "a part of an unknown type": ("parts = ?", '[{"type":"video"}]'),
    "a part without a type": ("parts = ?", "[{}]"),
    "infinite steps": (
        "parts = ?",
        '[{"type":"tool_call","call_id":"","name":"","arguments":"","state":"done",'
        '"result":"","step":Infinity,"delivered":[],"summary":"","duration_ms":0,"replay":{}}]',
    ),
    "a huge unknown type": ("parts = ?", '[{"type":"' + "x" * 1_000_000 + '"}]'),
    "text that is no UTF-8": ("parts = CAST(? AS TEXT)", TEXT.encode().replace(b'"x"', b'"\xff\xfe"')),
    "bytes": ("parts = ?", TEXT.encode()),
    "usage that is no JSON": ("usage = ?", "{"),
    "usage that is an array": ("usage = ?", "[1]"),
    "usage that is no number": ("usage = ?", '{"input_tokens":"7"}'),
    "usage nested without end": ("usage = ?", "[" * 100_000),
    "an unknown role": ("role = ?", "system"),
    "a role of bytes": ("role = ?", b"user"),
    "an unknown stop reason": ("stop_reason = ?", "finished"),
    "a time of bytes": ("created_at = ?", b"2026"),
    "a model of bytes": ("model = ?", b"gpt"),
    "a parent of bytes": ("parent_id = ?", b"\xff"),
}


@pytest.mark.req("T-5")
@pytest.mark.parametrize("name", UNREADABLE)
async def test_behind_a_message_that_cannot_be_read_the_rest_is_shown(tmp_path: Path, name: str) -> None:
    path = tmp_path / "sessions.sqlite"
    session_id, ids = await history(path)
    change, value = UNREADABLE[name]
    spoil(path, (f"UPDATE node SET {change} WHERE id = '{ids[1]}'", (value,)))
    branch = await load(path, session_id)
    assert [node.id for node in branch.nodes] == ids[2:]
    assert branch.damage is not None
    assert branch.damage.startswith(f"message {ids[1]} cannot be read: ")
    assert len(branch.damage) < 300
    async with opened(path) as store:
        assert [node.id for node in await store.nodes(ids[2:])] == ids[2:]
        with pytest.raises(UndecodablePart):
            await store.nodes(ids)


@pytest.mark.req("T-5")
async def test_a_parent_whose_name_is_no_text_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    session_id, ids = await history(path)
    spoil(path, f"UPDATE node SET parent_id = CAST(x'6eff' AS TEXT) WHERE id = '{ids[2]}'")
    branch = await load(path, session_id)
    assert [node.id for node in branch.nodes] == ids[2:]
    assert branch.damage == "message n\ufffd is missing"


@pytest.mark.req("T-5")
async def test_every_part_of_a_damaged_message_stays_in_the_file(tmp_path: Path) -> None:
    """Reading in full and going on elsewhere leave the damaged rows byte for byte."""
    path = tmp_path / "sessions.sqlite"
    session_id, ids = await history(path)
    broken = json.dumps([{"type": "video", "of": "a newer version"}])
    spoil(path, (f"UPDATE node SET parts = ? WHERE id = '{ids[1]}'", (broken,)))
    async with opened(path, prefix="b") as store:
        await store.branch(session_id)
        await ask(store)
    assert broken.encode() in path.read_bytes()


@pytest.mark.req("T-5")
async def test_a_branch_of_thousands_is_loaded_and_a_damaged_neighbour_is_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, question = await ask(store)
    rows: list[str | tuple[str, tuple[object, ...]]] = [
        (
            "INSERT INTO node VALUES (?, ?, ?, ?, NULL, NULL, ?, '')",
            (f"n{n}", f"n{n - 1}" if n else question, ("assistant", "user")[n % 2], TEXT, ("stop", None)[n % 2]),
        )
        for n in range(2_000)
    ]
    spoil(
        path, *rows, "UPDATE session SET leaf_id = 'n1999'", "INSERT INTO node VALUES ('x','x','user','','','','','')"
    )
    branch = await load(path, session_id)
    assert [node.id for node in branch.nodes] == [question, *(f"n{n}" for n in range(2_000))]
    assert branch.damage is None
