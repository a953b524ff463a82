"""Retry, edit, fork and switching as operations on the history, and what a damaged one still allows (T-3, T-4, T-5)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection

from bibgenie_desktop.sessions.branch import NotAllowed
from bibgenie_desktop.sessions.branch import Path as BranchPath
from bibgenie_desktop.sessions.nodes import ChangeSet
from bibgenie_desktop.sessions.parts import TextPart
from bibgenie_desktop.sessions.tree import Unreadable, Versions
from bibgenie_desktop.store.changes import ForeignChanges
from bibgenie_desktop.store.leases import NotHeld
from bibgenie_desktop.store.session_rows import UnknownSession
from bibgenie_desktop.store.sessions import SessionStore
from bibgenie_desktop.store.tree import End
from bibgenie_desktop.store.tree_reading import remembered
from tests.store.histories import answer, ask, bytes_of, opened, spoil, talk

OF_SESSION = ("session_node", "stream_journal", "draft")
TEXT = '[{"type":"text","text":"x","citations":[]}]'


def add_checkpoint(path: Path, name: str, parent: str, first_kept: str | None, *, child: str) -> None:
    """Store a checkpoint with its record, and hang a stored node on it."""
    kept = "NULL" if first_kept is None else f"'{first_kept}'"
    spoil(
        path,
        f"INSERT INTO node VALUES ('{name}', '{parent}', 'checkpoint', '[]', NULL, NULL, NULL, '')",
        "INSERT INTO checkpoint (node_id, first_kept_message_id, kind, summary, generation, trigger, created_at)"
        f" VALUES ('{name}', {kept}, 'model', '', 1, 'manual', '')",
        f"INSERT INTO session_node SELECT id, '{name}', 0 FROM session",
        f"UPDATE node SET parent_id = '{name}' WHERE id = '{child}'",
    )


def owned(path: Path, session_id: str) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT node_id, visited FROM session_node WHERE session_id = ?", (session_id,))
        return dict(rows.fetchall())


@pytest.mark.req("T-4")
async def test_a_retried_answer_leaves_the_branch_and_can_be_returned_to(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, ids = await talk(store, 2)
        assert await store.tree.retry(session_id, ids[3], model="other") == ChangeSet("retry", session_id, ids[2], 5)
        again = await answer(store, session_id, ids[2], "again")
        assert [node.id for node in (await store.branch(session_id)).nodes] == [*ids[:3], again]
        versions = await store.tree.versions(session_id)
        assert versions[again] == Versions(2, 2, ids[3], "")
        assert versions[ids[2]] == Versions()
        assert await store.tree.switch(session_id, ids[3]) == ChangeSet("switch", session_id, ids[3], 7)
        assert (await store.tree.versions(session_id))[ids[3]] == Versions(1, 2, "", again)
        assert [node.text for node in await store.nodes([ids[3], again])] == ["answer 1", "again"]


@pytest.mark.req("T-2", "T-4")
async def test_retrying_a_question_that_waits_for_its_answer_moves_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, question = await ask(store)
        changes = await store.tree.retry(session_id, question, model="m")
        assert changes == ChangeSet("retry", session_id, question, 1)
        assert await store.tree.give_up(session_id, question) is None
        assert (await store.session(session_id)).branch_revision == 1


@pytest.mark.req("T-4")
async def test_an_older_question_is_edited_beside_itself_and_all_behind_it_stays_stored(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, ids = await talk(store, 3)
        changes = await store.tree.edit(session_id, ids[2], [TextPart("Rather?")], model="m")
        assert changes == ChangeSet("edit", session_id, changes.added[0], 7, changes.added)
        assert [node.id for node in (await store.branch(session_id)).nodes] == [*ids[:2], *changes.added]
        assert (await store.tree.versions(session_id))[changes.added[0]] == Versions(2, 2, ids[2], "")
        whole = await store.tree.whole(session_id)
        assert [node.id for node in whole] == [*ids, *changes.added]
        await store.tree.switch(session_id, ids[2])
        assert [node.id for node in (await store.branch(session_id)).nodes] == ids


@pytest.mark.req("T-3")
async def test_a_fork_copies_no_message_and_goes_its_own_way(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        source = await store.session(session_id)
        changes = await store.tree.fork(session_id, ids[3])
        fork = await store.session(changes.session_id)
        assert changes == ChangeSet("fork", fork.id, ids[3], 1)
        assert (fork.title, fork.model, fork.forked_from_id) == (source.title, source.model, session_id)
        assert [node.id for node in (await store.branch(fork.id)).nodes] == ids[:4]
        assert owned(path, fork.id) == {**dict.fromkeys(ids[:3], 0), ids[3]: 1}
        assert [summary.session.id for summary in await store.sessions()] == [fork.id, session_id]
        _, question = await ask(store, fork.id)
        again = await store.tree.retry(session_id, ids[5], model="m")
        assert await store.session(session_id) != source
        assert again.leaf_id == ids[4]
        assert [node.id for node in (await store.branch(fork.id)).nodes] == [*ids[:4], question]
        assert {each.versions for each in (await store.tree.versions(fork.id)).values()} == {1}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM node").fetchone() == (7,)
        assert connection.execute("SELECT forked_at_id FROM session WHERE id = ?", (fork.id,)).fetchone() == (ids[3],)


@pytest.mark.req("T-3", "T-4")
async def test_a_fork_may_begin_beside_the_branch(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, ids = await talk(store, 2)
        await store.tree.edit(session_id, ids[0], [TextPart("Rather?")], model="m")
        fork = await store.tree.fork(session_id, ids[3])
        assert [node.id for node in (await store.branch(fork.session_id)).nodes] == ids


@pytest.mark.req("T-4")
async def test_retry_edit_and_versions_look_through_a_checkpoint(tmp_path: Path) -> None:
    """U3 → C → A3′: the answer is a version of A3, its question is U3, and the checkpoint before it stays."""
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        await store.tree.retry(session_id, ids[3], model="m")
        again = await answer(store, session_id, ids[2], "again")
    add_checkpoint(path, "c", ids[2], ids[0], child=again)
    async with opened(path, prefix="b") as store:
        versions = await store.tree.versions(session_id)
        assert list(versions) == [*ids[:3], "c", again]
        assert (versions["c"], versions[again]) == (Versions(), Versions(2, 2, ids[3], ""))
        assert (await store.tree.retry(session_id, ids[2], model="m")).leaf_id == "c"
        third = await answer(store, session_id, "c", "third")
        assert (await store.tree.versions(session_id))[third] == Versions(3, 3, again, "")
        assert (await store.tree.switch(session_id, again)) is not None
        assert (await store.tree.edit(session_id, ids[2], [TextPart("?")], model="m")).added


@pytest.mark.req("T-4")
async def test_a_branch_is_left_and_found_again_where_it_was(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, ids = await talk(store, 1)
        rather = (await store.tree.edit(session_id, ids[0], [TextPart("Rather?")], model="m")).added[0]
        ends = []
        for text in ("one", "two"):
            ends.append(await answer(store, session_id, rather, text))
            await store.tree.retry(session_id, ends[-1], model="m")
        await store.tree.give_up(session_id, rather)
        await store.tree.switch(session_id, ends[0])
        await store.tree.switch(session_id, ids[0])
        assert (await store.session(session_id)).leaf_id == ids[1]
        await store.tree.switch(session_id, rather)
        assert (await store.session(session_id)).leaf_id == ends[0]
        revision = (await store.session(session_id)).branch_revision
        assert await store.tree.switch(session_id, rather) is None
        assert (await store.session(session_id)).branch_revision == revision


@pytest.mark.req("T-2", "T-4")
async def test_switching_is_no_use_and_keeps_the_place_in_the_list(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, ids = await talk(store, 1)
        await store.tree.edit(session_id, ids[0], [TextPart("Rather?")], model="m")
        other, _ = await talk(store, 1)
        updated = (await store.session(session_id)).updated_at
        await store.tree.switch(session_id, ids[1])
        assert [summary.session.id for summary in await store.sessions()] == [other, session_id]
        assert (await store.session(session_id)).updated_at == updated


Operation = Callable[[SessionStore, str, list[str]], Awaitable[object]]
OPERATIONS: dict[str, Operation] = {
    "retry": lambda store, session, ids: store.tree.retry(session, ids[-1], model="m"),
    "continue": lambda store, session, ids: store.tree.continue_answer(session, ids[-1], model="m"),
    "edit": lambda store, session, ids: store.tree.edit(session, ids[-2], [TextPart("?")], model="m"),
    "fork": lambda store, session, ids: store.tree.fork(session, ids[-1]),
    "switch": lambda store, session, ids: store.tree.switch(session, "aside"),
}


@pytest.mark.req("T-6")
@pytest.mark.parametrize("name", OPERATIONS)
async def test_who_is_not_allowed_changes_nothing(tmp_path: Path, name: str) -> None:
    def nobody(connection: Connection) -> bool:
        return False

    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, ids = await talk(store, 2)
        before = await store.session(session_id), await store.tree.interrupted()
        tree = store.tree
        held: dict[str, Callable[[], Awaitable[object]]] = {
            "retry": lambda: tree.retry(session_id, ids[3], model="m", allowed=nobody),
            "continue": lambda: tree.continue_answer(session_id, ids[3], model="m", allowed=nobody),
            "edit": lambda: tree.edit(session_id, ids[2], [], model="m", allowed=nobody),
            "fork": lambda: tree.fork(session_id, ids[3], allowed=nobody),
            "switch": lambda: tree.switch(session_id, ids[0], allowed=nobody),
        }
        with pytest.raises(NotHeld):
            await held[name]()
        assert (await store.session(session_id), await store.tree.interrupted()) == before
        assert len(await store.sessions()) == 1


@pytest.mark.req("T-4")
@pytest.mark.parametrize("name", OPERATIONS)
async def test_there_is_nothing_to_do_in_a_chat_that_does_not_exist(tmp_path: Path, name: str) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        _, ids = await talk(store, 2)
        with pytest.raises(UnknownSession):
            await OPERATIONS[name](store, "unknown", ids)


DAMAGE: dict[str, tuple[str, str]] = {
    "a missing message": ("DELETE FROM node WHERE id = '{ids[2]}'", "message {ids[2]} is missing"),
    "a missing end": ("UPDATE session SET leaf_id = 'gone'", "the last message gone is missing"),
    "a cycle": (
        "UPDATE node SET parent_id = '{ids[4]}' WHERE id = '{ids[2]}'",
        "the chain of messages closes on itself at {ids[4]}",
    ),
    "a message that is its own parent": (
        "UPDATE node SET parent_id = id WHERE id = '{ids[2]}'",
        "the chain of messages closes on itself at {ids[2]}",
    ),
    "an unknown role": (
        "UPDATE node SET role = 'system' WHERE id = '{ids[2]}'",
        "message {ids[2]} cannot be read: unknown role 'system'",
    ),
    "a parent of bytes": (
        "UPDATE node SET parent_id = x'ff' WHERE id = '{ids[2]}'",
        "message {ids[2]} cannot be read: its parent, time or model is no text",
    ),
    "a checkpoint without a record": (
        "DELETE FROM checkpoint",
        "checkpoint c has no record of what it stands for",
    ),
    "a checkpoint that keeps what is no ancestor": (
        "UPDATE checkpoint SET first_kept_message_id = 'aside'",
        "checkpoint c keeps what follows aside, which is not before it",
    ),
}


async def damaged(path: Path, name: str) -> tuple[str, list[str], str]:
    """A chat of three turns with a checkpoint before the third, a question aside, and this damage, which is told."""
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
    add_checkpoint(path, "c", ids[3], ids[0], child=ids[4])
    statement, damage = DAMAGE[name]
    spoil(
        path,
        f"INSERT INTO node VALUES ('aside', '{ids[1]}', 'user', '{TEXT}', NULL, NULL, NULL, '')",
        f"INSERT INTO session_node VALUES ('{session_id}', 'aside', 0)",
        statement.format(ids=ids),
    )
    return session_id, ids, damage.format(ids=ids)


@pytest.mark.req("T-5")
@pytest.mark.parametrize("name", DAMAGE)
async def test_a_damaged_branch_is_told_and_refuses_every_change(tmp_path: Path, name: str) -> None:
    path = tmp_path / "sessions.sqlite"
    session_id, ids, damage = await damaged(path, name)
    before = bytes_of(tmp_path)
    async with opened(path, prefix="b") as store:
        assert (await store.branch(session_id)).damage == damage
        assert await store.tree.check(session_id) == damage
        assert len(await store.tree.whole(session_id)) == 8
        await store.tree.versions(session_id)
        await store.tree.newest(session_id, 100)
        # Where only the end is missing, the last answer is sound: a fork may begin there.
        for operation in OPERATIONS.keys() - ({"fork"} if name == "a missing end" else set()):
            with pytest.raises(NotAllowed) as refusal:
                await OPERATIONS[operation](store, session_id, ids)
            assert str(refusal.value) == f"This chat is damaged and can only be read: {damage}."
        assert await store.tree.recover(session_id) is None
    assert bytes_of(tmp_path) == before


@pytest.mark.req("T-5")
@pytest.mark.parametrize("name", DAMAGE)
async def test_a_damaged_chat_goes_on_in_a_new_one_at_its_last_sound_answer(tmp_path: Path, name: str) -> None:
    path = tmp_path / "sessions.sqlite"
    session_id, ids, _ = await damaged(path, name)
    last = {"a missing end": ids[5]}.get(name, ids[3] if name.startswith("a checkpoint") else ids[1])
    async with opened(path, prefix="b") as store:
        made = await store.tree.continue_damaged(session_id)
        branch = await store.branch(made.session_id)
        assert (branch.damage, made.operation, made.leaf_id) == (None, "fork", last)
        assert branch.nodes[-1].id == last
        assert (await store.tree.retry(made.session_id, last, model="m")).branch_revision == 2
        fork = await store.tree.fork(session_id, ids[1])
        assert [node.id for node in (await store.branch(fork.session_id)).nodes] == ids[:2]


@pytest.mark.req("T-5")
async def test_a_chat_with_a_message_that_cannot_be_read_goes_on_above_it(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
    spoil(path, ("UPDATE node SET parts = ? WHERE id = ?", ('[{"type":"video"}]', ids[3])))
    async with opened(path, prefix="b") as store:
        assert (await store.tree.continue_damaged(session_id)).leaf_id == ids[1]
        with pytest.raises(NotAllowed, match="damaged"):
            await store.tree.fork(session_id, ids[5])
        whole = await store.tree.whole(session_id)
        assert whole[3] == Unreadable(ids[3], ids[2], "unknown type of part: 'video'")
        assert [node.id for node in whole] == ids


@pytest.mark.req("T-5")
async def test_nothing_goes_on_where_no_answer_is_sound_or_nothing_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        with pytest.raises(NotAllowed, match="not damaged"):
            await store.tree.continue_damaged(session_id)
    spoil(path, f"DELETE FROM node WHERE id = '{ids[0]}'")
    async with opened(path, prefix="b") as store:
        with pytest.raises(NotAllowed, match="export what is left"):
            await store.tree.continue_damaged(session_id)
        assert (await store.tree.whole(session_id))[0] == Unreadable(ids[0], None, "it is missing")
        assert len(await store.sessions()) == 1


@pytest.mark.req("T-5")
async def test_the_branch_stays_where_it_is_if_the_other_one_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        await store.tree.edit(session_id, ids[0], [TextPart("Rather?")], model="m")
    spoil(path, f"UPDATE node SET role = 'system' WHERE id = '{ids[1]}'")
    async with opened(path, prefix="b") as store:
        before = await store.session(session_id)
        with pytest.raises(NotAllowed, match="stays where it is"):
            await store.tree.switch(session_id, ids[3])
        assert await store.session(session_id) == before


@pytest.mark.req("T-5")
async def test_a_sound_checkpoint_is_no_damage_on_any_branch(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
    add_checkpoint(path, "c1", ids[1], None, child=ids[2])
    add_checkpoint(path, "c2", ids[2], ids[0], child=ids[3])
    async with opened(path, prefix="b") as store:
        branch = await store.branch(session_id)
        assert branch.damage is None
        assert [node.id for node in branch.nodes] == [*ids[:2], "c1", ids[2], "c2", ids[3]]
        assert await store.tree.check(session_id) is None


@pytest.mark.req("T-5")
@pytest.mark.parametrize("length", [1, 2, 10_000])
async def test_a_cycle_of_any_length_is_found_in_bounded_time(tmp_path: Path, length: int) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, _ = await talk(store, 1)
    names = [f"c{number}" for number in range(length)]
    rows: list[str | tuple[str, tuple[object, ...]]] = [
        ("INSERT INTO node VALUES (?, ?, 'user', '[]', NULL, NULL, NULL, '')", (name, names[number - 1]))
        for number, name in enumerate(names)
    ]
    spoil(path, *rows, f"UPDATE session SET leaf_id = '{names[-1]}'")
    before = bytes_of(tmp_path)
    async with opened(path, prefix="b") as store:
        damage = f"the chain of messages closes on itself at {names[-1]}"
        begun = time.process_time()
        assert (await store.branch(session_id)).damage == damage
        assert await store.tree.check(session_id) == damage
        newest = await store.tree.newest(session_id, 3)
        assert [node.id for node in newest.nodes] == names[-3:]
        assert await store.tree.newest(session_id, length + 1) == await store.branch(session_id)
        assert len(await store.tree.versions(session_id)) == length
        assert time.process_time() - begun < 10
    assert bytes_of(tmp_path) == before


@pytest.mark.req("T-5")
async def test_the_newest_messages_are_the_end_of_the_branch(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await talk(store, 3)
        branch = await store.branch(session_id)
        for limit in (1, 2, 5, 6, 7):
            assert await store.tree.newest(session_id, limit) == BranchPath(branch.nodes[-limit:])


@pytest.mark.req("T-5")
async def test_text_that_is_no_utf_8_hides_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
    spoil(path, f"UPDATE node SET model = CAST(x'6dff' AS TEXT) WHERE id = '{ids[3]}'")
    async with opened(path, prefix="b") as store:
        assert [node.id for node in (await store.branch(session_id)).nodes] == ids
        assert (await store.tree.newest(session_id, 3)).nodes[0].model == "m\ufffd"
        assert await store.tree.check(session_id) is None


@pytest.mark.req("T-5")
async def test_a_row_that_was_changed_meanwhile_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 1)
        assert (await store.tree.newest(session_id, 2)).nodes[1].text == "answer 0"
        spoil(path, ("UPDATE node SET parts = ? WHERE id = ?", (TEXT, ids[1])))
        assert (await store.tree.newest(session_id, 2)).nodes[1].text == "x"


@pytest.mark.req("T-4")
async def test_where_a_branch_was_left_is_looked_for_anew_once_the_chat_has_changed(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, ids = await talk(store, 1)
        edited = await store.tree.edit(session_id, ids[0], [TextPart("Rather?")], model="m")
        end = await store.tree.end_below(session_id, ids[0])
        assert end == End(edited.branch_revision, ids[1])
        switched = await store.tree.switch(session_id, ids[0], end=end)
        assert switched is not None
        assert switched.leaf_id == ids[1]
        _, followed = await ask(store, session_id, "And?")
        await store.tree.switch(session_id, edited.added[0])
        again = await store.tree.switch(session_id, ids[0], end=end)
        assert again is not None
        assert again.leaf_id == followed
        with pytest.raises(NotAllowed, match="not part of the chat"):
            await store.tree.end_below(session_id, "gone")


@pytest.mark.req("T-7")
@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "by another"])
async def test_of_a_purged_chat_no_message_stays_in_memory(tmp_path: Path, elsewhere: bool) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store, opened(path, prefix="b") as other:
        session_id, _ = await talk(store, 1)
        changes = ForeignChanges(store.database)
        await changes.look()
        await store.branch(session_id)
        assert remembered() > 0
        deletion = other.deletion if elsewhere else store.deletion
        mark = await deletion.delete(session_id)
        if elsewhere:
            spoil(path, *(f"DELETE FROM {table} WHERE session_id = '{session_id}'" for table in OF_SESSION))
            spoil(path, f"DELETE FROM session WHERE id = '{session_id}'")
            assert await changes.look() == (session_id,)
        else:
            assert await deletion.purge(session_id, mark=mark)
        assert remembered() == 0
