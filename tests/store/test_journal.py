"""The journal of an answer that streams: begun and ended with it, and recovered where its process was killed (T-6)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection

from bibgenie_desktop.sessions.branch import NotAllowed
from bibgenie_desktop.sessions.nodes import ChangeSet, StopReason
from bibgenie_desktop.sessions.parts import Part, ReasoningPart, TextPart, ToolCallPart
from bibgenie_desktop.sessions.tree import Versions
from bibgenie_desktop.store.encoding import decode_parts
from bibgenie_desktop.store.leases import NotHeld
from bibgenie_desktop.store.session_rows import UnknownSession
from bibgenie_desktop.store.sessions import SessionStore
from tests.store.histories import answer, ask, bytes_of, opened, spoil, talk


def journal(path: Path) -> list[tuple[object, ...]]:
    """What the journal holds: session, place, the branch's former end, beginning, parts."""
    columns = "session_id, parent_id, previous_leaf_id, beginning, parts"
    with closing(sqlite3.connect(path)) as connection:
        return [(*row[:4], decode_parts(row[4])) for row in connection.execute(f"SELECT {columns} FROM stream_journal")]


async def cut_off(
    store: SessionStore, *said: Part, reason: StopReason = "cancelled", session_id: str = ""
) -> tuple[str, str, str]:
    """A question whose answer ended too early; the ids of session, question and answer."""
    session_id, question = await ask(store, session_id)
    changes = await store.append_assistant(
        session_id, question, said or [TextPart("Half of")], model="m", usage=None, stop_reason=reason
    )
    return session_id, question, changes.added[0]


@pytest.mark.req("T-6")
async def test_every_beginning_is_in_the_journal_and_its_answer_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, question = await ask(store)
        assert journal(path) == [(session_id, question, None, "ask", ())]
        first = await answer(store, session_id, question)
        assert journal(path) == []
        await store.tree.retry(session_id, first, model="m")
        assert journal(path) == [(session_id, question, first, "retry", ())]
        changes = await store.append_assistant(
            session_id, question, [TextPart("cut")], model="m", usage=None, stop_reason="error"
        )
        await store.tree.continue_answer(session_id, changes.added[0], model="m")
        assert journal(path) == [(session_id, question, changes.added[0], "continue", (TextPart("cut"),))]
        await answer(store, session_id, question)
        edited = await store.tree.edit(session_id, question, [TextPart("Rather?")], model="m")
        assert journal(path) == [(session_id, edited.leaf_id, None, "edit", ())]
        assert await store.tree.interrupted() == [session_id]


@pytest.mark.req("T-6")
async def test_a_late_answer_leaves_the_journal_of_the_one_that_streams(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, question = await ask(store)
        _, second = await ask(store, session_id, "Or how?")
        await answer(store, session_id, question, "late")
        assert journal(path) == [(session_id, second, None, "ask", ())]
        assert await store.tree.give_up(session_id, question) is None
        assert journal(path) == [(session_id, second, None, "ask", ())]


@pytest.mark.req("T-6")
async def test_a_late_answer_leaves_the_journal_of_another_to_the_same_question(tmp_path: Path) -> None:
    """An engine that slept comes back while the question is answered anew by another."""
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        begun = await store.append_user("", [TextPart("Why?")], title="Why?", model="m")
        session_id, question = begun.session_id, begun.added[0]
        late = begun.answer
        await store.journal.note(session_id, question, [TextPart("late")], answer=late)
        recovered = await store.tree.recover(session_id)
        assert recovered is not None
        again = await store.tree.retry(session_id, question, model="m")
        assert again.answer > late
        assert await store.journal.note(session_id, question, [TextPart("again")], answer=again.answer)
        before = journal(path)
        assert not await store.journal.note(session_id, question, [TextPart("late, longer")], answer=late)
        assert await store.tree.give_up(session_id, question, answer=late) is None
        stored = await store.append_assistant(
            session_id, question, [TextPart("late")], model="m", usage=None, stop_reason="stop", answer=late
        )
        assert journal(path) == before
        assert (stored.leaf_id, stored.branch_revision) == (question, again.branch_revision)
        assert await store.journal.note(session_id, question, [TextPart("again, longer")], answer=again.answer)
        ended = await store.append_assistant(
            session_id, question, [TextPart("again")], model="m", usage=None, stop_reason="stop", answer=again.answer
        )
        assert (ended.leaf_id, journal(path)) == (ended.added[0], [])


@pytest.mark.req("T-6")
async def test_no_two_answers_of_a_chat_have_the_same_number(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, question, cut = await cut_off(store)
        numbers: list[int] = []
        for _ in range(2):
            numbers.append((await store.tree.retry(session_id, question, model="m")).answer)
            await store.tree.give_up(session_id, question, answer=numbers[-1])
            numbers.append((await store.tree.continue_answer(session_id, cut, model="m")).answer)
            await store.tree.give_up(session_id, question, answer=numbers[-1])
            edited = await store.tree.edit(session_id, question, [TextPart("Rather?")], model="m")
            numbers.append(edited.answer)
            await store.tree.give_up(session_id, edited.leaf_id or "", answer=numbers[-1])
            await store.tree.switch(session_id, cut)
            await talk(store, 1)
        assert numbers == sorted(set(numbers))
        assert await store.tree.interrupted() == []


@pytest.mark.req("T-4", "T-6")
async def test_the_answer_of_a_retry_whose_branch_moved_is_kept_beside_and_never_jumped_to(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, ids = await talk(store, 1)
        await store.tree.retry(session_id, ids[1], model="m")
        moved = await store.tree.switch(session_id, ids[1])
        assert moved is not None
        late = await answer(store, session_id, ids[0], "late")
        assert (await store.session(session_id)).leaf_id == ids[1]
        assert (await store.tree.versions(session_id))[ids[1]] == Versions(1, 2, "", late)
        await store.tree.edit(session_id, ids[0], [TextPart("Rather?")], model="m")
        await store.tree.switch(session_id, ids[0])
        assert (await store.session(session_id)).leaf_id == ids[1]


@pytest.mark.req("T-6")
async def test_a_killed_answer_is_kept_as_an_interrupted_one(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    said: list[Part] = [
        ReasoningPart("hm"),
        ToolCallPart("c1", "search", "{}", "done", "found"),
        ToolCallPart("c2", "search", "{}", "pending"),
        TextPart("Half of"),
    ]
    async with opened(path) as store:
        session_id, question = await ask(store)
        await store.journal.note(session_id, question, said)
        used = (await store.session(session_id)).updated_at
    async with opened(path, prefix="b") as store:
        assert await store.tree.interrupted() == [session_id]
        changes = await store.tree.recover(session_id)
        assert changes == ChangeSet("recover", session_id, "b00000001", 2, ("b00000001",))
        assert await store.tree.interrupted() == []
        kept = (await store.branch(session_id)).nodes[-1]
        assert (kept.stop_reason, kept.model, kept.parent_id) == ("interrupted", "offline", question)
        assert kept.parts == (*said[:2], ToolCallPart("c2", "search", "{}", "cancelled"), said[3])
        assert (await store.session(session_id)).updated_at == used
        assert await store.tree.recover(session_id) is None
        assert (await store.tree.continue_answer(session_id, kept.id, model="m")).leaf_id == question


@pytest.mark.req("T-6")
@pytest.mark.parametrize("said", [[], [TextPart(" \n")], [ReasoningPart("hm")]])
async def test_where_nothing_was_said_yet_the_question_can_be_retried(tmp_path: Path, said: list[Part]) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, question = await ask(store)
        await store.journal.note(session_id, question, said)
        assert await store.tree.recover(session_id) is None
        assert (journal(path), await store.tree.interrupted()) == ([], [])
        assert (await store.tree.retry(session_id, question, model="m")).leaf_id == question


@pytest.mark.req("T-4", "T-6")
async def test_nothing_of_a_retry_brings_the_former_answer_back(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        await store.tree.retry(session_id, ids[3], model="m")
        assert await store.tree.give_up(session_id, ids[2]) == ChangeSet("give_up", session_id, ids[3], 6)
        assert journal(path) == []
        await store.tree.retry(session_id, ids[3], model="m")
        assert await store.tree.recover(session_id) == ChangeSet("give_up", session_id, ids[3], 8)
        await store.tree.retry(session_id, ids[3], model="m")
        moved = await ask(store, session_id, "Meanwhile?")
        assert await store.tree.give_up(session_id, ids[2]) is None
        assert (await store.session(session_id)).leaf_id == moved[1]


@pytest.mark.req("T-6")
async def test_a_continuation_of_which_nothing_came_makes_no_second_copy(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, question, cut = await cut_off(store)
        await store.tree.continue_answer(session_id, cut, model="m")
        assert await store.tree.recover(session_id) == ChangeSet("give_up", session_id, cut, 4)
        await store.tree.continue_answer(session_id, cut, model="m")
        await store.journal.note(session_id, question, [TextPart("Half of it.")])
        changes = await store.tree.recover(session_id)
        assert changes is not None
        assert (await store.tree.versions(session_id))[changes.added[0]] == Versions(2, 2, cut, "")
        assert [node.text for node in await store.nodes([cut, *changes.added])] == ["Half of", "Half of it."]


@pytest.mark.req("T-6")
@pytest.mark.parametrize(
    "said",
    [
        [ReasoningPart("hm"), TextPart("Half of")],
        [TextPart("Half")],  # the half of a citation's token at the end waits for its other half
    ],
)
async def test_a_continuation_that_said_nothing_new_makes_no_second_copy(tmp_path: Path, said: list[Part]) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, question, cut = await cut_off(store)
        await store.tree.continue_answer(session_id, cut, model="m")
        await store.journal.note(session_id, question, said)
        assert await store.tree.recover(session_id) == ChangeSet("give_up", session_id, cut, 4)


@pytest.mark.req("T-6")
async def test_a_continuation_that_called_a_tool_is_kept(tmp_path: Path) -> None:
    called = ToolCallPart("c1", "search", "{}", "pending")
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, question, cut = await cut_off(store)
        await store.tree.continue_answer(session_id, cut, model="m")
        await store.journal.note(session_id, question, [TextPart("Half of"), called])
        changes = await store.tree.recover(session_id)
        assert changes is not None
        assert changes.leaf_id == changes.added[0] != cut


@pytest.mark.req("T-6")
async def test_an_answer_whose_branch_moved_is_recovered_beside_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, ids = await talk(store, 1)
        await store.tree.retry(session_id, ids[1], model="m")
        await store.journal.note(session_id, ids[0], [TextPart("Half of")])
        await store.tree.switch(session_id, ids[1])
        revision = (await store.session(session_id)).branch_revision
        changes = await store.tree.recover(session_id)
        assert changes is not None
        assert changes == ChangeSet("recover", session_id, ids[1], revision, changes.added)
        assert (await store.tree.versions(session_id))[ids[1]].next_id == changes.added[0]


@pytest.mark.req("T-6")
async def test_nothing_is_recovered_while_another_engine_works_on_it(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"

    def nobody(connection: Connection) -> bool:
        return False

    async with opened(path) as store:
        session_id, question = await ask(store)
        await store.journal.note(session_id, question, [TextPart("Half of")])
        before = journal(path)
        with pytest.raises(NotHeld):
            await store.tree.recover(session_id, allowed=nobody)
        assert journal(path) == before
        await answer(store, session_id, question)
        assert await store.tree.recover(session_id, allowed=nobody) is None


@pytest.mark.req("T-5", "T-6")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE node SET parts = '[{}]' WHERE id = '{ids[1]}'",
        "UPDATE node SET parent_id = 'gone' WHERE id = '{ids[1]}'",
        "UPDATE session SET leaf_id = 'gone'",
        "UPDATE stream_journal SET parts = '['",
        "UPDATE stream_journal SET parent_id = '{ids[1]}'",
        "UPDATE stream_journal SET parent_id = 'gone'",
    ],
)
async def test_what_is_damaged_is_left_as_it_is(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 1)
        _, question = await ask(store, session_id)
        await store.journal.note(session_id, question, [TextPart("Half of")])
    spoil(path, damage.replace("{ids[1]}", ids[1]))
    before = bytes_of(tmp_path)
    async with opened(path, prefix="b") as store:
        assert await store.tree.recover(session_id) is None
        assert await store.tree.interrupted() == [session_id]
    assert bytes_of(tmp_path) == before


@pytest.mark.req("T-6", "T-7")
async def test_a_deleted_chat_is_not_recovered(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, question = await ask(store)
        await store.deletion.delete(session_id)
        assert await store.tree.interrupted() == []
        for job in (store.tree.recover(session_id), store.tree.give_up(session_id, question)):
            with pytest.raises(UnknownSession):
                await job


@pytest.mark.req("T-6")
async def test_what_cannot_be_gone_on_with_begins_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, ids = await talk(store, 1)
        for target, reason in ((ids[1], "came to its end"), (ids[0], "last answer"), ("unknown", "not part of")):
            with pytest.raises(NotAllowed, match=reason):
                await store.tree.continue_answer(session_id, target, model="m")
        _, _, cut = await cut_off(store, session_id=session_id)
        spoil(path, f"UPDATE node SET parts = '[' WHERE id = '{cut}'")
        with pytest.raises(NotAllowed, match="cannot be read: write it anew"):
            await store.tree.continue_answer(session_id, cut, model="m")
        assert journal(path) == []
