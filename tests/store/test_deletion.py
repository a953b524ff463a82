"""Deleting chats: marked, undone, purged with all that no other chat reaches (T-7); pinning and putting away (T-2)."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bibgenie_desktop.sessions.branch import NotAllowed
from bibgenie_desktop.store.leases import LeaseStore, NotHeld, anyone
from bibgenie_desktop.store.session_rows import UnknownSession
from bibgenie_desktop.store.sessions import SessionStore
from tests.store.histories import START, answer, ask, opened, spoil, talk
from tests.store.traces import SESSION, told

pytestmark = pytest.mark.req("T-7")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite"


async def purge(store: SessionStore, session_id: str) -> None:
    mark = await store.deletion.delete(session_id)
    assert await store.deletion.purge(session_id, mark=mark)


async def held(store: SessionStore) -> dict[str, list[str]]:
    """The ids of what each table holds."""
    tables = {
        "session": "id",
        "session_node": "session_id || ' ' || node_id",
        "node": "id",
        "checkpoint": "node_id",
        "compaction_run": "id",
        "ledger_entry": "id",
        "operation": "id",
        "draft": "session_id",
        "blob": "id",
        "stream_journal": "session_id",
        "lease": "session_id",
        "node_text": "node_id",
    }
    return await store.database.read(
        lambda connection: {
            table: list(connection.exec_driver_sql(f"SELECT {column} FROM {table} ORDER BY 1").scalars())
            for table, column in tables.items()
        }
    )


async def titles(store: SessionStore) -> list[str]:
    return [row.session.title for row in await store.sessions()]


async def test_a_deleted_chat_is_nowhere_until_it_is_brought_back(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        before = await store.session(session_id)
        await store.deletion.delete(session_id)
        assert await store.sessions() == []
        for act in (
            store.session(session_id),
            store.find(session_id[:6]),
            store.branch(session_id),
            store.rename(session_id, "Peat"),
            store.pin(session_id, True),
            store.archive(session_id, True),
            store.deletion.delete(session_id),
            ask(store, session_id),
        ):
            with pytest.raises(UnknownSession, match="There is no chat"):
                await act
        await store.deletion.undo(session_id)
        assert await store.session(session_id) == before  # its revision and its place as well
        assert [node.id for node in (await store.branch(session_id)).nodes] == ids


async def test_a_deleted_chat_makes_no_other_ambiguous(path: Path) -> None:
    async with opened(path, prefix="a") as store:
        (deleted, _), (other, _) = await talk(store, 1), await talk(store, 1)
        with pytest.raises(UnknownSession, match="Several"):
            await store.find("a")
        await store.deletion.delete(deleted)
        assert (await store.find("a")).id == other


async def test_what_is_purged_cannot_be_brought_back(path: Path) -> None:
    async with opened(path) as store:
        session_id, _ = await talk(store, 1)
        await purge(store, session_id)
        with pytest.raises(NotAllowed, match="deleted for good"):
            await store.deletion.undo(session_id)


async def test_what_was_brought_back_is_not_purged_nor_what_was_deleted_anew(path: Path) -> None:
    """By the window that deleted it first, whose time is over now."""
    async with opened(path) as store, opened(path, prefix="o") as other:
        session_id, _ = await talk(store, 1)
        mark = await store.deletion.delete(session_id)
        await other.deletion.undo(session_id)
        assert not await store.deletion.purge(session_id, mark=mark)
        anew = await other.deletion.delete(session_id)
        await other.deletion.undo(session_id)
        later = timedelta(seconds=10)
        async with opened(path, prefix="l", clock=lambda: START + later) as third:
            anew = await third.deletion.delete(session_id)
            assert not await store.deletion.purge(session_id, mark=mark)
            assert await third.deletion.purge(session_id, mark=anew)


async def test_a_chat_that_another_engine_works_on_is_not_deleted(path: Path) -> None:
    async with opened(path) as store:
        session_id, _ = await talk(store, 1)
        engines = [
            LeaseStore(store.database, owner=owner, clock=lambda: START, has_ended="ended".__eq__)
            for owner in ("one", "other", "ended")
        ]
        await engines[1].acquire(session_id, "turn")
        with pytest.raises(NotHeld):
            await store.deletion.delete(session_id, allowed=engines[0].free(session_id))
        assert len(await store.sessions()) == 1
        await engines[1].release(session_id)
        await engines[2].acquire(session_id, "turn")
        await store.deletion.delete(session_id, allowed=engines[0].free(session_id))
        assert await store.sessions() == []


async def test_all_that_belongs_to_a_chat_goes_with_it(path: Path) -> None:
    async with told(path) as history:
        store = history.store
        before = await held(store)
        assert all(before[table] for table in before.keys() - {"lease"})
        kept = await store.database.read(
            lambda connection: set(
                connection.exec_driver_sql(
                    "SELECT node_id FROM session_node WHERE session_id IN (?, ?)", (history.fork, history.other)
                ).scalars()
            )
        )
        await purge(store, SESSION)
        after = await held(store)
        assert after["session"] == sorted([history.fork, history.other])
        assert after["node"] == after["node_text"] == sorted(kept)
        assert all(line.split()[0] != SESSION for line in after["session_node"])
        assert len(after["blob"]) == 1
        for table in ("checkpoint", "compaction_run", "ledger_entry", "operation", "draft", "stream_journal"):
            assert after[table] == []
        noted = await store.database.read(
            lambda connection: connection.exec_driver_sql("SELECT session_id, node_ids FROM erasure").all()
        )
        assert [(row[0], json.loads(row[1])) for row in noted] == [
            (SESSION, sorted(set(before["node"]) - set(after["node"])))
        ]
        assert await store.integrity() == []


async def test_a_chat_that_is_deleted_but_not_purged_still_holds_its_messages(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        fork = (await store.tree.fork(session_id, ids[1])).session_id
        mark = await store.deletion.delete(fork)
        await purge(store, session_id)
        await store.deletion.undo(fork)
        assert [node.id for node in (await store.branch(fork)).nodes] == ids[:2]
        mark = await store.deletion.delete(fork)
        await store.deletion.purge(fork, mark=mark)
        assert not any((await held(store)).values())


async def test_rows_of_other_chats_stay_and_refer_to_nothing_that_is_gone(path: Path) -> None:
    """As only a damaged history has them."""
    async with opened(path) as store:
        (gone, lost), (kept, ids) = await talk(store, 1), await talk(store, 1)
    entry = "INSERT INTO ledger_entry (id, session_id, node_id, kind, origin, value, supersedes_id, created_at) VALUES"
    spoil(
        path,
        "INSERT INTO checkpoint (node_id, kind, first_kept_message_id, covered_from_id, covered_to_id, summary, "
        "generation, trigger, created_at) "
        f"VALUES ('{ids[1]}', 'x', '{lost[0]}', '{lost[0]}', '{ids[0]}', 's', 1, '', '')",
        f"{entry} ('a', '{gone}', NULL, 'x', 'x', '1', NULL, '')",
        f"{entry} ('b', '{kept}', NULL, 'x', 'x', '1', 'a', '')",
        "INSERT INTO compaction_run (id, session_id, trigger, outcome, checkpoint_id, started_at) "
        f"VALUES ('r', '{kept}', '', '', '{lost[1]}', '')",
        "INSERT INTO operation (id, session_id, node_id, kind, state, target, request, created_at, updated_at) "
        f"VALUES ('o', '{kept}', '{lost[1]}', '', '', '', '{{}}', '', '')",
        f"INSERT INTO stream_journal VALUES ('{kept}', '{ids[0]}', '{lost[1]}', 'retry', '[]', NULL, '', '')",
    )
    async with opened(path, prefix="n") as store:
        await purge(store, gone)
        assert await store.integrity() == []
        after = await held(store)
        assert (after["node"], after["ledger_entry"], after["checkpoint"]) == (ids, ["b"], [ids[1]])
        assert (after["compaction_run"], after["operation"], after["stream_journal"]) == (["r"], ["o"], [kept])
        covered = await store.database.read(
            lambda connection: connection.exec_driver_sql("SELECT covered_from_id, covered_to_id FROM checkpoint").one()
        )
        assert tuple(covered) == (None, ids[0])


DAMAGE: dict[str, tuple[str, ...]] = {
    "a cycle": ("UPDATE node SET parent_id = '{3}' WHERE id = '{0}'",),
    "a message that is its own parent": ("UPDATE node SET parent_id = id WHERE id = '{2}'",),
    "a missing message": ("DELETE FROM node WHERE id = '{1}'",),
    "a leaf that leads nowhere": ("UPDATE session SET leaf_id = 'nowhere' WHERE id = '{session}'",),
    "no leaf": ("UPDATE session SET leaf_id = NULL WHERE id = '{session}'",),
    "messages no more noted": ("DELETE FROM session_node WHERE session_id = '{session}'",),
    "a message below that nobody knows": (
        "INSERT INTO node (id, parent_id, role, parts, created_at) VALUES ('stray', '{3}', 'user', '[]', '')",
    ),
    "parts that are no JSON": ("UPDATE node SET parts = x'ff00' WHERE id = '{1}'",),
    "an index that lacks its words": ("DELETE FROM node_fts_data WHERE id > 10",),
    "words that were changed": ("UPDATE node_text SET text = 'other words than were indexed, and more of them'",),
    "a title that is a number": ("UPDATE session SET title = 7, model = x'00' WHERE id = '{session}'",),
}


@pytest.mark.req("T-5")
@pytest.mark.parametrize("kind", DAMAGE)
async def test_a_damaged_chat_can_be_deleted_and_others_stay(path: Path, kind: str) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        other, others = await talk(store, 2)
    spoil(path, *(statement.format(*ids, session=session_id) for statement in DAMAGE[kind]))
    async with opened(path, prefix="n") as store:
        await purge(store, session_id)
        assert await store.deletion.wipe() == ()
        after = await held(store)
        assert (after["session"], after["node"]) == ([other], sorted(others))
        branch = await store.branch(other)
        assert ([node.id for node in branch.nodes], branch.damage) == (others, None)
        assert await store.integrity() == []
        found = await store.database.read(
            lambda connection: connection.exec_driver_sql(
                "SELECT rowid FROM node_fts WHERE node_fts MATCH 'question'"
            ).all()
        )
        assert len(found) == 2 or kind == "words that were changed"


async def test_a_message_that_another_chat_needs_stays_also_where_that_is_not_noted(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        fork = (await store.tree.fork(session_id, ids[1])).session_id
        _, question = await ask(store, fork)
        late = await answer(store, fork, question)
    spoil(path, f"DELETE FROM session_node WHERE session_id = '{fork}' AND node_id <> '{late}'")
    async with opened(path, prefix="n") as store:
        await purge(store, session_id)
        branch = await store.branch(fork)
        assert ([node.id for node in branch.nodes], branch.damage) == ([*ids[:2], question, late], None)
        assert await store.integrity() == []


forks = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 7), st.sampled_from(["fork", "ask", "delete"])), max_size=14
)


@settings(max_examples=40)
@given(forks)
def test_whatever_was_forked_from_what_a_deletion_takes_what_no_other_chat_reaches(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int, str]]
) -> None:
    async def play() -> None:
        async with opened(tmp_path_factory.mktemp("forks") / "sessions.sqlite") as store:
            first, ids = await talk(store, 2)
            chats = {first: list(ids)}
            for which, where, act in steps:
                if not chats:
                    break
                session_id = sorted(chats)[which % len(chats)]
                nodes = chats[session_id]
                answers = nodes[1::2]
                match act:
                    case "fork":
                        at = answers[where % len(answers)]
                        fork = (await store.tree.fork(session_id, at)).session_id
                        chats[fork] = nodes[: nodes.index(at) + 1]
                    case "ask":
                        _, question = await ask(store, session_id)
                        nodes += [question, await answer(store, session_id, question)]
                    case _:
                        await purge(store, session_id)
                        del chats[session_id]
                after = await held(store)
                assert after["node"] == after["node_text"] == sorted(set().union(*chats.values()))
                assert after["session"] == sorted(chats)
            for session_id, nodes in chats.items():
                assert [node.id for node in (await store.branch(session_id)).nodes] == nodes
            assert await store.integrity() == []

    asyncio.run(play())


@pytest.mark.req("T-6")
async def test_a_mark_is_overdue_after_its_time_whichever_way_the_clock_jumped(path: Path) -> None:
    def clocks(*seconds: float) -> Iterable[datetime]:
        return (START + timedelta(seconds=each) for each in seconds)

    times = iter([*clocks(0, 9.9, 10, -9.9, -3600, 3600)])
    async with opened(path) as made:
        session_id, _ = await talk(made, 1)
    async with opened(path, prefix="n", clock=lambda: next(times)) as store:
        mark = await store.deletion.delete(session_id)
        assert await store.deletion.marked() == {session_id: mark}
        assert [store.deletion.is_overdue(mark, 10) for _ in range(4)] == [False, True, False, True]
        assert not store.deletion.is_overdue("damaged", 10)


async def test_a_draft_that_was_written_into_a_chat_that_is_gone_is_swept_up(path: Path) -> None:
    async with opened(path) as store:
        session_id, _ = await talk(store, 1)
        kept, _ = await talk(store, 1)
        await purge(store, session_id)
        for each in (session_id, kept, ""):
            await store.drafts.save(each, "half a thought")
        await store.deletion.sweep()
        assert (await held(store))["draft"] == ["", kept]
        assert await store.deletion.wipe() == ()


DAY = timedelta(days=1)


async def test_chats_that_nobody_used_for_so_long_expire_but_for_pinned_ones(path: Path) -> None:
    moments = {"now": START}
    async with opened(path, clock=lambda: moments["now"]) as store:
        old, pinned, drafted, busy = [(await talk(store, 1))[0] for _ in range(4)]
        await store.pin(pinned, True)
        await store.archive(old, True)  # put away is not kept
        moments["now"] = START + 29 * DAY
        new, _ = await talk(store, 1)
        await store.drafts.save(drafted, "half a thought")
        assert await store.deletion.expire(30, allowed=lambda _: anyone) == {}
        moments["now"] = START + 30 * DAY
        await store.rename(old, "Peat")  # is no use
        marked = await store.deletion.expire(30, allowed=lambda session_id: lambda _: session_id != busy)
        assert list(marked) == [old]
        assert await store.deletion.marked() == marked
        assert {row.session.id for row in await store.sessions()} == {pinned, drafted, busy, new}


@pytest.mark.parametrize("moment", ["damaged", "2026-11-30", "", None])
async def test_a_chat_of_which_it_is_unknown_when_it_was_used_does_not_expire(path: Path, moment: str | None) -> None:
    async with opened(path) as store:
        await talk(store, 1)
    spoil(path, ("UPDATE session SET updated_at = ?", (moment or "2099-11-30T18:50:48.123Z",)))
    async with opened(path, prefix="n") as store:
        assert await store.deletion.expire(1, allowed=lambda _: anyone) == {}


@pytest.mark.req("T-2")
async def test_pinned_chats_come_first_and_put_away_ones_stay_in_their_place(path: Path) -> None:
    async with opened(path) as store:
        ids = {title: (await ask(store, text=title))[0] for title in "abcd"}
        before = {row.session.id: row.session for row in await store.sessions()}
        assert await titles(store) == ["d", "c", "b", "a"]
        await store.pin(ids["b"], True)
        await store.pin(ids["a"], True)
        await store.archive(ids["c"], True)
        assert await titles(store) == ["b", "a", "d", "c"]
        listed = {row.session.title: row.session for row in await store.sessions()}
        assert [each for each, row in listed.items() if row.is_pinned] == ["b", "a"]
        assert [each for each, row in listed.items() if row.is_archived] == ["c"]
        await store.pin(ids["a"], False)
        await store.pin(ids["b"], False)
        await store.archive(ids["c"], False)
        assert {row.session.id: row.session for row in await store.sessions()} == before
        assert await titles(store) == ["d", "c", "b", "a"]


@pytest.mark.req("T-2")
async def test_a_question_in_a_chat_that_was_put_away_brings_it_back(path: Path) -> None:
    async with opened(path) as store:
        session_id, _ = await talk(store, 1)
        await store.archive(session_id, True)
        await store.drafts.save(session_id, "half a thought")
        assert (await store.session(session_id)).is_archived
        await ask(store, session_id)
        assert not (await store.session(session_id)).is_archived


@pytest.mark.req("T-5")
async def test_ids_that_are_no_text_stop_neither_a_deletion_nor_the_wiping(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 1)
        kept, _ = await talk(store, 1)
        broken = "INSERT INTO {} VALUES (CAST(x'6162ff' AS TEXT), {})"
        await store.database.write(
            lambda connection: connection.exec_driver_sql(broken.format("blob", "'', 0, x'', ''"))
        )
    spoil(
        path,
        broken.format("draft", "'t', '[]', ''"),
        "INSERT INTO session (id, title, branch_revision, created_at, updated_at, deleted_at) "
        "VALUES (CAST(x'61ff' AS TEXT), '', 0, '', '', '2020-01-01T00:00:00.000Z')",
        "INSERT INTO session (id, title, branch_revision, created_at, updated_at) "
        "VALUES (CAST(x'62ff' AS TEXT), '', 0, '', '2020-01-01T00:00:00.000Z')",
        f"INSERT INTO node VALUES (CAST(x'6e6fff' AS TEXT), '{ids[1]}', 'user', '[]', NULL, NULL, NULL, '')",
    )
    (path.parent / "backups").mkdir()
    with closing(sqlite3.connect(path)) as source:
        source.execute("VACUUM INTO ?", (str(path.parent / "backups" / "mine.sqlite"),))
    async with opened(path, prefix="n") as store:
        assert await store.deletion.marked() == {}
        assert await store.deletion.expire(30, allowed=lambda _: anyone) == {}
        await store.deletion.sweep()
        await purge(store, session_id)
        assert await store.deletion.wipe() == ()
        count = await store.database.read(
            lambda connection: connection.exec_driver_sql("SELECT count(*) FROM node").scalar_one()
        )
        assert count == 2
        assert (await store.branch(kept)).damage is None
