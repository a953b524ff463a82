"""`doctor` on histories that are damaged or unfinished: what it names, what it advises, and that it changes nothing."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.sessions.parts import TextPart
from tests.cli.program import Program
from tests.store.histories import ask, opened, spoil, talk

pytestmark = pytest.mark.req("T-5", "A-2")


async def _prepare(path: Path) -> dict[str, tuple[str, list[str]]]:
    async with opened(path) as store:
        return {name: await talk(store, 2) for name in ("sound", "cycle", "video", "beside", "gone")}


@pytest.fixture
def history(program: Program) -> Path:
    return program.profile / "sessions.sqlite"


@pytest.fixture
def chats(history: Path) -> dict[str, tuple[str, list[str]]]:
    """Chats by name, with their nodes."""
    return asyncio.run(_prepare(history))


def checks(program: Program) -> tuple[int, list[dict[str, Any]]]:
    """How it ended, and what it said of the history."""
    ended = program.run("doctor", "--zotero", "demo", "--json")
    assert ended.err == ""
    names = ("history", "search", "chat")
    return ended.code, [check for check in json.loads(ended.out) if check["name"] in names]


def test_each_damaged_chat_is_named_with_what_can_be_done(
    program: Program, history: Path, chats: dict[str, tuple[str, list[str]]]
) -> None:
    (cycle, in_cycle), (video, in_video), (beside, in_beside), (gone, _) = (
        chats[name] for name in ("cycle", "video", "beside", "gone")
    )
    spoil(
        history,
        f"UPDATE node SET parent_id = '{in_cycle[-1]}' WHERE id = '{in_cycle[0]}'",
        (f"UPDATE node SET parts = ? WHERE id = '{in_video[1]}'", ('[{"type":"video"}]',)),
        "INSERT INTO node SELECT 'beside', parent_id, role, '{}', NULL, NULL, stop_reason, created_at"
        f" FROM node WHERE id = '{in_beside[1]}'",
        f"INSERT INTO session_node VALUES ('{beside}', 'beside', 0)",
        f"UPDATE session SET title = 'A' || char(27) || '[31mlarm', leaf_id = NULL WHERE id = '{gone}'",
        f"UPDATE session SET leaf_id = '{in_video[0]}' WHERE id = '{gone}'",
    )
    before = history.read_bytes()
    code, found = checks(program)
    assert code == 1
    assert [check["name"] for check in found] == ["history", "chat", "chat", "chat", "chat"]
    assert found[0]["found"] == "5 chats, 4 damaged"
    told = {check["found"].partition("(")[2][:8]: check for check in found[1:]}
    assert "closes on itself" in told[cycle]["found"]
    assert "cannot be read: unknown type of part: 'video'" in told[video]["found"]
    assert "message beside, which is not on the branch" in told[beside]["found"]
    assert "not counted among them" in told[gone]["found"]
    for session_id, check in told.items():
        assert f"`export {session_id}`" in check["mend"]
        assert "go on in a new one" in check["mend"]
        assert not check["ok"]
    printed = program.run("doctor", "--zotero", "demo")
    assert (printed.code, "\x1b" in printed.out) == (1, False)
    assert printed.out.count("MEND  chat: ") == 4
    assert history.read_bytes() == before


def test_of_a_great_many_damaged_chats_some_are_named(program: Program, history: Path) -> None:
    asyncio.run(_many(history))
    spoil(history, "UPDATE node SET parts = ''")
    code, found = checks(program)
    assert code == 1
    assert len(found) == 22
    assert found[-1]["found"] == "5 more are damaged"


async def _many(path: Path) -> None:
    async with opened(path) as store:
        for _ in range(25):
            await ask(store)


@pytest.mark.req("T-8")
@pytest.mark.parametrize("damage", ["DELETE FROM node_text WHERE id = 1", "UPDATE node_fts_data SET block = x'00'"])
def test_an_index_that_does_not_fit_the_messages_is_told_and_no_chat_is_blamed(
    program: Program, history: Path, chats: dict[str, tuple[str, list[str]]], damage: str
) -> None:
    spoil(history, damage)
    before = history.read_bytes()
    code, [sound, search] = checks(program)
    assert code == 1
    assert sound == {"name": "history", "ok": True, "found": "5 chats, all of them sound", "mend": ""}
    assert (search["name"], search["ok"]) == ("search", False)
    assert "No chat is lost" in search["mend"]
    assert history.read_bytes() == before


def test_a_broken_reference_is_damage_of_the_file(
    program: Program, history: Path, chats: dict[str, tuple[str, list[str]]]
) -> None:
    spoil(history, f"DELETE FROM node WHERE id = '{chats['gone'][1][1]}'")
    code, [broken, chat] = checks(program)
    assert code == 1
    assert (broken["name"], broken["ok"]) == ("history", False)
    assert "refers to a missing node" in broken["found"]
    assert "restore a backup" in broken["mend"]
    assert "is missing" in chat["found"]


def test_where_pages_are_broken_the_chats_are_named_all_the_same(
    program: Program, history: Path, chats: dict[str, tuple[str, list[str]]]
) -> None:
    with closing(sqlite3.connect(history)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'node'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    whole = bytearray(history.read_bytes())
    whole[(root - 1) * size : root * size] = b"\xff" * size
    history.write_bytes(whole)
    code, found = checks(program)
    assert code == 1
    assert [check["name"] for check in found] == ["history", *["chat"] * 5]
    assert "cannot be read to its end" in found[0]["found"]
    assert "“question 0”" in found[1]["found"]
    assert history.read_bytes() == bytes(whole)


@pytest.mark.req("T-6", "T-7")
def test_what_is_left_to_do_is_told_and_is_no_fault(program: Program, history: Path) -> None:
    asyncio.run(_leave(history))
    code, [found] = checks(program)
    assert code == 0
    assert found["ok"]
    assert found["found"].startswith("1 chat, sound; 1 answer being written, or cut off: ")
    assert found["found"].endswith("; 2 deletions still to be completed: the next start does it")


async def _leave(path: Path) -> None:
    """An answer that was cut off, a chat that was deleted and one that was purged."""
    async with opened(path) as store:
        session_id, question = await ask(store)
        await store.journal.note(session_id, question, [TextPart("half")])
        for _ in range(2):
            deleted, _ = await talk(store, 1)
            mark = await store.deletion.delete(deleted)
        await store.deletion.purge(deleted, mark=mark)
