"""A whole chat that is read out of one history and stored in another: the same, under ids of its own (T-8)."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bibgenie_desktop.engine.exporting import chat_file
from bibgenie_desktop.engine.importing import chat_from_json
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.parts import Part, ReasoningPart, TextPart
from bibgenie_desktop.sessions.usage import Usage
from bibgenie_desktop.store.chats import DamagedNode
from bibgenie_desktop.store.importing import UNNAMED
from bibgenie_desktop.store.session_rows import UnknownSession
from bibgenie_desktop.store.sessions import SessionStore
from tests.discipline.lengths import Loops
from tests.engine.chats import chat, rich_chat, said
from tests.store.histories import answer, ask, opened, spoil, talk
from tests.store.whole import content, faults

pytestmark = pytest.mark.req("T-8")

ODD = [
    "plain",
    "c 𝄞 \0 \u2028",
    "ß'\"; DROP TABLE node; --",
    "a [[cite:ABCDEFGH@7]]",
    "図書館\n\n# x",
    "half \ud83d",
    "b ",
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite"


async def written(store: SessionStore, session_id: str, *, whole: bool = True) -> dict[str, Any]:
    """A chat as its file has it."""
    data: dict[str, Any] = json.loads(chat_file(await store.exporting.read(session_id, whole=whole), "json"))
    return data


async def taken(store: SessionStore, data: dict[str, Any]) -> str:
    session_id, _ = await store.importing.add(chat_from_json(json.dumps(data).encode(), "x"))
    return session_id


def without_ids(data: dict[str, Any]) -> dict[str, Any]:
    """What of a file does not change when it is imported: each id is the place where it first stands."""
    numbers: dict[str, str] = {}
    kept = {**data, "session": {**data["session"], "id": "", "updated_at": ""}}
    names = {"id", "parent_id", "node_id", "leaf_id", "first_kept_message_id", "covered_from_id", "covered_to_id"}
    names |= {"checkpoint_id", "supersedes_id"}

    def named(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: named(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [named(inner) for inner in value]
        if name in names and isinstance(value, str):
            return numbers.setdefault(value, f"#{len(numbers)}")
        return value

    blobs = kept.pop("blobs")
    result: dict[str, Any] = named(kept)
    return {**result, "blobs": blobs}


async def grown(store: SessionStore, chance: Random, steps: int) -> str:
    """A chat that grew by any operations."""
    session, _ = await ask(store, text="a beginning")
    for _ in range(steps):
        path = (await store.branch(session)).nodes
        last = path[-1]
        if last.role == "user":
            parts: list[Part] = [ReasoningPart("hm", {"a": [1.5, None]}), TextPart(chance.choice(ODD))]
            usage = Usage(input_tokens=chance.randrange(9), real=True, cost=0.5) if chance.random() < 0.5 else None
            await store.append_assistant(
                session, last.id, parts, model="m", usage=usage, stop_reason=chance.choice(["stop", "error"])
            )
            continue
        everything = [each.id for each in await store.tree.whole(session)]
        match chance.randrange(4):
            case 0:
                await store.tree.retry(session, last.id, model="m")
            case 1:
                asked = chance.choice([each.id for each in path if each.role == "user"])
                await store.tree.edit(session, asked, [TextPart(chance.choice(ODD))], model="m")
            case 2:
                await store.tree.switch(session, chance.choice(everything))
            case _:
                await store.append_user(session, [TextPart(chance.choice(ODD))], title="", model="m")
    return session


async def test_what_is_exported_whole_is_imported_and_exported_as_the_same(tmp_path: Path, loops: Loops) -> None:
    for seed in range(loops(8, 100)):
        chance = Random(seed)
        async with opened(tmp_path / f"{seed}.sqlite", prefix="a") as store:
            await talk(store, 1)
            session = await grown(store, chance, chance.randrange(20))
            first = await written(store, session)
        async with opened(tmp_path / f"{seed}-other.sqlite", prefix="b") as store:
            copy = await taken(store, first)
            second = await written(store, copy)
            again = await written(store, await taken(store, second))
            branch = [each.role for each in (await store.branch(copy)).nodes]
        assert without_ids(second) == without_ids(first)
        assert without_ids(again) == without_ids(first)
        assert len(branch) > 0
        assert faults(tmp_path / f"{seed}-other.sqlite") == []


async def test_checkpoints_notes_and_attachments_come_along(path: Path) -> None:
    left = rich_chat()
    async with opened(path) as store:
        first, title = await store.importing.add(left)
        data = await written(store, first)
        assert title == left.session.title
        assert without_ids(data) == without_ids(json.loads(chat_file(left, "json")))
        read = await store.exporting.read(first, whole=True)
        assert read.blobs == left.blobs
        [record] = read.checkpoints.values()
        usage = next(each.usage for each in read.nodes if isinstance(each, Node) and each.usage is not None)
        assert usage.checkpoint_id == record.node_id
        assert (await store.branch(first)).damage is None
    assert faults(path) == []


async def test_a_file_that_is_taken_twice_makes_two_chats(path: Path) -> None:
    async with opened(path) as store:
        first, _ = await store.importing.add(rich_chat())
        second, _ = await store.importing.add(rich_chat())
        assert [each.session.id for each in await store.sessions()] == [second, first]
        one, other = [{each.id for each in (await store.tree.whole(each))} for each in (first, second)]
        assert (len(one), len(one & other)) == (9, 0)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM blob").fetchone() == (1,)
    assert faults(path) == []


async def test_an_imported_chat_is_found_at_once_and_goes_on_like_any_other(path: Path) -> None:
    async with opened(path) as store:
        session, _ = await store.importing.add(
            chat(said("q", None, "user", "Of vellum"), said("a", "q", "assistant", "Indeed"), leaf="a")
        )
        [hit] = (await store.search.find("vellum")).hits
        assert (hit.session_id, hit.is_active) == (session, True)
        _, question = await ask(store, session, "And paper?")
        await answer(store, session, question)
        [summary] = await store.sessions()
        assert (summary.turns, summary.session.branch_revision) == (2, 9)
    assert faults(path) == []


async def test_switching_in_an_imported_chat_leads_where_it_was_left(path: Path) -> None:
    nodes = [
        said("q", None, "user", "One"),
        said("a", "q", "assistant", "A"),
        said("b", "q", "assistant", "B"),
        said("c", "b", "user", "Two"),
        said("d", "b", "user", "Three"),
    ]
    async with opened(path) as store:
        session, _ = await store.importing.add(chat(*nodes, leaf="a", visited={"a": 7, "c": 6, "d": 5}))
        ids = [each.id for each in await store.tree.whole(session)]
        await store.tree.switch(session, ids[2])
        assert (await store.session(session)).leaf_id == ids[3]


async def test_a_title_that_cannot_be_seen_is_replaced(path: Path) -> None:
    async with opened(path) as store:
        data = json.loads(chat_file(rich_chat(), "json"))
        data["session"]["title"] = "\u200b"
        session = await store.session(await taken(store, data))
        assert session.title == UNNAMED


async def test_nothing_of_a_chat_is_stored_where_storing_fails(path: Path) -> None:
    async with opened(path) as store:
        await talk(store, 1)
    before = content(path)
    spoil_after = "CREATE TRIGGER no_more BEFORE INSERT ON blob BEGIN SELECT RAISE(ABORT, 'no'); END"
    spoil(path, spoil_after)
    async with opened(path, prefix="b") as store:
        with pytest.raises(Exception, match="nothing was changed"):
            await store.importing.add(rich_chat())
    assert content(path) == before


async def test_the_active_branch_alone_leaves_without_the_others(path: Path) -> None:
    async with opened(path) as store:
        session, _ = await store.importing.add(rich_chat())
        data = await written(store, session, whole=False)
        assert [each["role"] for each in data["nodes"]] == ["user", "assistant", "user", "checkpoint", "assistant"]
        copy = await taken(store, data)
        assert len(await store.tree.whole(copy)) == 5


async def test_of_a_fork_its_own_messages_leave_and_not_those_of_the_chat_it_came_from(path: Path) -> None:
    async with opened(path) as store:
        session, ids = await talk(store, 2)
        fork = (await store.tree.fork(session, ids[1])).session_id
        assert [each["id"] for each in (await written(store, fork))["nodes"]] == ids[:2]


@pytest.mark.req("T-5")
async def test_a_damaged_chat_leaves_as_far_as_it_can_be_read(path: Path) -> None:
    async with opened(path) as store:
        session, ids = await talk(store, 2)
    spoil(path, ("UPDATE node SET parts = ? WHERE id = ?", ('[{"type": "x"}]', ids[1])))
    async with opened(path, prefix="b") as store:
        for whole in (False, True):
            read = await store.exporting.read(session, whole=whole)
            assert [each.id for each in read.nodes] == ids
            assert read.branch == tuple(ids)
            broken = read.nodes[1]
            assert isinstance(broken, DamagedNode)
            assert (broken.columns["parts"], broken.parent_id) == ('[{"type": "x"}]', ids[0])
            assert ids[1] in read.damage
            chat_file(read, "html")
            chat_file(read, "json")


@pytest.mark.req("T-5")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE node SET parts = x'ff00', model = x'fe' WHERE role = 'assistant'",
        "UPDATE node SET parts = CAST(x'ff' AS TEXT)",
        "UPDATE node SET parent_id = id",
        "DELETE FROM node WHERE role = 'user'",
        "DELETE FROM node",
        "UPDATE node SET usage = '{', created_at = 5",
        "UPDATE session SET leaf_id = 'gone'",
        "DELETE FROM session_node",
    ],
)
async def test_whatever_is_damaged_something_leaves(path: Path, statement: str) -> None:
    async with opened(path) as store:
        session, _ = await talk(store, 2)
    spoil(path, statement)
    async with opened(path, prefix="b") as store:
        for whole in (False, True):
            read = await store.exporting.read(session, whole=whole)
            for text in (chat_file(read, "json"), chat_file(read, "md"), chat_file(read, "html")):
                text.encode()


async def test_a_chat_that_there_is_not_cannot_leave(path: Path) -> None:
    async with opened(path) as store:
        with pytest.raises(UnknownSession):
            await store.exporting.read("gone", whole=True)
