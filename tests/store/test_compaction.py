"""The one transaction that makes checkpoints, what it refuses, and the log of all attempts (C-2, C-9, C-16, C-17)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

import bibgenie_desktop.store
from bibgenie_desktop.sessions.branch import DamagedBranch, NotAllowed
from bibgenie_desktop.sessions.nodes import ChangeSet
from bibgenie_desktop.sessions.parts import Part, TextPart, ToolCallPart
from bibgenie_desktop.store.compaction import NEW_QUESTION, Cancelled, Expected, Stale
from bibgenie_desktop.store.database import StoreUnavailable
from bibgenie_desktop.store.leases import NotHeld
from bibgenie_desktop.store.operations import OperationStore
from bibgenie_desktop.store.session_rows import UnknownSession
from bibgenie_desktop.store.sessions import SessionStore
from tests.store.compactions import checkpoint_on, compact, expected_of, ready, run_of
from tests.store.histories import START, answer, ask, opened, spoil, talk, ticking
from tests.store.whole import content, faults

STORE = Path(bibgenie_desktop.store.__file__).parent
TABLES = ("node", "session", "session_node", "checkpoint", "compaction_run", "stream_journal", "draft", "node_text")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite"


async def everything(store: SessionStore) -> dict[str, list[Any]]:
    """All rows of the tables that a compaction could touch, as they are committed."""
    return await store.database.read(
        lambda connection: {
            table: [tuple(row) for row in connection.exec_driver_sql(f"SELECT * FROM {table} ORDER BY 1, 2")]
            for table in TABLES
        }
    )


async def refused(store: SessionStore, session_id: str, sentence: str, *args: Any, **options: Any) -> None:
    """A commit is refused with this sentence, and nothing is changed by it."""
    before = await everything(store)
    with pytest.raises(NotAllowed, match=sentence) as refusal:
        await store.compaction.commit(session_id, *args, **options)
    assert str(refusal.value).endswith(".")
    assert await everything(store) == before


# What is stored


@pytest.mark.req("C-2", "C-9", "C-17", "T-2", "T-5")
async def test_a_commit_stores_checkpoint_leaf_revision_and_run_together(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        before = await everything(store)
        expected, new, run = await ready(store, session_id, ids[4])
        changes = await store.compaction.commit(session_id, expected, new, run)
        [added] = changes.added
        assert changes == ChangeSet("compact", session_id, added, expected.branch_revision + 1, (added,))
        session = await store.session(session_id)
        assert (session.leaf_id, session.branch_revision) == (added, expected.branch_revision + 1)
        branch = await store.branch(session_id)
        assert [node.id for node in branch.nodes] == [*ids, added]
        assert (branch.nodes[-1].role, branch.nodes[-1].parts) == ("checkpoint", ())
        made = branch.checkpoints[added]
        for name in ("kind", "first_kept_message_id", "summary", "generation", "trigger", "model", "prompt_version"):
            assert getattr(made, name) == getattr(new, name)
        assert (made.covered_from_id, made.covered_to_id) == (ids[0], ids[3])
        assert (made.tokens_before, made.tokens_after, made.duration_ms, made.cost) == (1_000, 100, 1_200, 0.25)
        assert made.validation == {"checker": "check-1"}
        assert await store.compaction.runs(session_id) == [replace(run, checkpoint_id=added)]
        assert await store.compaction.run(session_id, run.id) == replace(run, checkpoint_id=added)
        assert await store.compaction.checkpoint(session_id, added) == made
        after = await everything(store)
        assert set(before["node"]) < set(after["node"])  # what was stored is as it was (P1)
        assert after["node_text"] == before["node_text"]
    assert faults(path) == []


@pytest.mark.req("C-2", "T-4", "C-1")
async def test_the_next_question_and_its_answer_hang_behind_the_checkpoint(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        [added] = (await compact(store, session_id, ids[2])).added
        _, question = await ask(store, session_id, "And then?")
        answered = await answer(store, session_id, question)
        assert [node.id for node in (await store.branch(session_id)).nodes] == [*ids, added, question, answered]
        newest = await store.tree.newest(session_id, 4)
        assert set(newest.checkpoints) == {added}
        assert (await store.tree.newest(session_id, 2)).checkpoints == {}


@pytest.mark.req("C-2", "D-2")
async def test_a_preflight_may_keep_nothing_older_and_what_follows_is_the_tail(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        [first] = (await compact(store, session_id, None)).added
        _, question = await ask(store, session_id)
        await answer(store, session_id, question)
        [second] = (await compact(store, session_id, question, covered_from_id=ids[0], covered_to_id=ids[3])).added
        checkpoints = (await store.branch(session_id)).checkpoints
        assert [checkpoints[each].first_kept_message_id for each in (first, second)] == [None, question]


@pytest.mark.req("C-6", "D-4")
async def test_each_checkpoint_of_a_long_chat_covers_what_lies_between_its_boundary_and_the_last(path: Path) -> None:
    async with opened(path) as store:
        session_id, _ = await talk(store, 1)
        for _ in range(12):
            for _ in range(2):
                _, question = await ask(store, session_id)
                await answer(store, session_id, question)
            await compact(store, session_id, question)
        branch = await store.branch(session_id)
        assert branch.damage is None
        places = {node.id: at for at, node in enumerate(branch.nodes)}
        covered = [
            place
            for made in branch.checkpoints.values()
            for place in range(places[made.covered_from_id or ""], places[made.covered_to_id or ""] + 1)
            if branch.nodes[place].role != "checkpoint"
        ]
        last = branch.checkpoints[branch.nodes[-1].id]
        tail = range(places[last.first_kept_message_id or ""], len(places))
        real = [at for at, node in enumerate(branch.nodes) if node.role != "checkpoint"]
        assert sorted(covered) + [at for at in tail if at in real] == real  # each once (P6)


# What is refused


@pytest.mark.req("C-9")
async def test_a_branch_that_changed_meanwhile_makes_the_summary_stale(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        prepared = await ready(store, session_id, ids[2])
        _, question = await ask(store, session_id)
        await answer(store, session_id, question)
        await refused(store, session_id, "changed while it was compacted", *prepared)
        with pytest.raises(Stale) as stale:
            await store.compaction.commit(session_id, *prepared)
        assert stale.value.code == "stale"


@pytest.mark.req("C-9")
async def test_a_branch_that_was_left_and_come_back_to_is_another_state_all_the_same(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        await store.tree.retry(session_id, ids[3], model="m")
        await answer(store, session_id, ids[2])
        await store.tree.switch(session_id, ids[3])
        prepared = await ready(store, session_id, ids[2])
        other = next(each for each in await store.tree.whole(session_id) if each.id not in ids)
        await store.tree.switch(session_id, other.id)
        await store.tree.switch(session_id, ids[3])
        await refused(store, session_id, "changed", *prepared)


@pytest.mark.req("C-9", "T-6")
@pytest.mark.parametrize("statement", range(1, 30))
async def test_a_change_by_another_process_before_the_lock_is_seen_within_it(path: Path, statement: int) -> None:
    """The revision is raised, behind the program's back, between what it reads first and its transaction."""
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        prepared = await ready(store, session_id, ids[2])
        is_changed = False
        executed = 0

        def change(_: object, __: object, sql: str, *___: object) -> None:
            nonlocal is_changed, executed
            executed += 1
            if executed != statement or is_changed or sql.startswith("BEGIN IMMEDIATE"):
                return
            with closing(sqlite3.connect(path, timeout=0)) as other:
                try:
                    other.execute("UPDATE session SET branch_revision = branch_revision + 1")
                    other.commit()
                except sqlite3.OperationalError:
                    return  # the transaction holds the file
            is_changed = True

        with executing(change):
            try:
                await store.compaction.commit(session_id, *prepared)
            except Stale:
                assert is_changed
            else:
                assert not is_changed
        stored = len(await store.compaction.runs(session_id))
        assert stored == len((await store.branch(session_id)).checkpoints) == (not is_changed)


@pytest.mark.req("C-9", "T-6")
async def test_of_two_that_compact_one_chat_one_is_applied_and_one_is_stale(path: Path) -> None:
    async with opened(path, prefix="a") as store, opened(path, prefix="b") as other:
        session_id, ids = await talk(store, 3)
        mine, others = await ready(store, session_id, ids[4]), await ready(other, session_id, ids[2])
        await other.compaction.commit(session_id, *others)
        await refused(store, session_id, "changed", *mine)
        [made] = (await store.branch(session_id)).checkpoints.values()
        assert made.first_kept_message_id == ids[2]


@pytest.mark.req("C-9")
async def test_a_cancel_before_the_end_of_the_transaction_stores_nothing(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        before = await everything(store)
        seen: list[int] = []

        def is_cancelled() -> bool:
            seen.append(1)
            return True

        with pytest.raises(Cancelled):
            await store.compaction.commit(
                session_id, *await ready(store, session_id, ids[2]), is_cancelled=is_cancelled
            )
        assert await everything(store) == before
        assert seen == [1]
        await compact(store, session_id, ids[2])  # and it can be done then


@pytest.mark.req("C-9", "T-6")
async def test_whoever_does_not_hold_the_chat_stores_nothing(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        before = await everything(store)
        with pytest.raises(NotHeld):
            await store.compaction.commit(
                session_id, *await ready(store, session_id, ids[2]), allowed=lambda connection: False
            )
        assert await everything(store) == before


@pytest.mark.req("C-9", "T-7")
async def test_a_chat_that_was_deleted_meanwhile_is_not_compacted(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        prepared = await ready(store, session_id, ids[2])
        await store.deletion.delete(session_id)
        before = await everything(store)
        with pytest.raises(UnknownSession):
            await store.compaction.commit(session_id, *prepared)
        assert await everything(store) == before


async def sibling(store: SessionStore, session_id: str, ids: list[str]) -> str:
    """A question beside the branch."""
    await store.tree.edit(session_id, ids[2], [TextPart("rather")], model="m")
    beside = str((await store.session(session_id)).leaf_id)
    await answer(store, session_id, beside)
    await store.tree.switch(session_id, ids[3])
    return beside


WRONG: dict[str, tuple[Callable[[list[str], str], dict[str, Any]], str]] = {
    "an answer": (lambda ids, beside: {"first_kept_message_id": ids[3]}, "is no question"),
    "a sibling": (lambda ids, beside: {"first_kept_message_id": beside}, "not on the chat's branch"),
    "nothing known": (lambda ids, beside: {"first_kept_message_id": "gone"}, "not on the chat's branch"),
    "nothing, by hand": (lambda ids, beside: {"first_kept_message_id": None}, "at least the newest turn"),
    "nothing, by itself": (
        lambda ids, beside: {"first_kept_message_id": None, "trigger": "automatic"},
        "at least the newest turn",
    ),
    "beside the end": (lambda ids, beside: {"hangs_on": ids[4]}, "does not hang at the end"),
    "on a sibling": (lambda ids, beside: {"hangs_on": beside}, "does not hang at the end"),
    "on nothing": (lambda ids, beside: {"hangs_on": ""}, "does not hang at the end"),
    "an unknown kind": (lambda ids, beside: {"kind": "guessed"}, "of an unknown kind"),
    "an unknown trigger": (lambda ids, beside: {"trigger": "weekly"}, "of an unknown kind"),
    "a range that begins late": (lambda ids, beside: {"covered_from_id": ids[1]}, "does not stand for"),
    "a range that ends early": (lambda ids, beside: {"covered_to_id": ids[2]}, "does not stand for"),
    "a range beside the branch": (lambda ids, beside: {"covered_to_id": beside}, "does not stand for"),
    "no range": (lambda ids, beside: {"covered_from_id": None, "covered_to_id": None}, "does not stand for"),
}


@pytest.mark.req("C-6", "C-9", "D-2", "D-4")
@pytest.mark.parametrize("name", WRONG)
async def test_a_checkpoint_that_does_not_belong_to_the_branch_is_refused(path: Path, name: str) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        beside = await sibling(store, session_id, ids)
        expected, new, run = await ready(store, session_id, ids[4])
        make, sentence = WRONG[name]
        await refused(store, session_id, sentence, expected, replace(new, **make(ids, beside)), run)


@pytest.mark.req("C-6")
async def test_a_boundary_never_moves_back(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        await compact(store, session_id, ids[4])
        _, question = await ask(store, session_id)
        await answer(store, session_id, question)
        expected, new, run = await ready(store, session_id, question)
        back = replace(new, first_kept_message_id=ids[2], covered_from_id=None, covered_to_id=None)
        await refused(store, session_id, "before the last one's", expected, back, run)
        same = replace(new, first_kept_message_id=ids[4], covered_from_id=ids[0], covered_to_id=ids[3], kind="carried")
        await store.compaction.commit(session_id, expected, same, run)  # where it was, it may stay (D-3)


@pytest.mark.req("C-6", "D-2")
async def test_behind_a_checkpoint_that_kept_nothing_no_older_boundary_is_taken(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        await compact(store, session_id, None)
        expected, new, run = await ready(store, session_id, None)
        back = replace(new, first_kept_message_id=ids[2], trigger="manual")
        await refused(store, session_id, "before the last one's", expected, back, run)
        rebuilt = replace(
            new, kind="rebuilt", trigger="manual", covered_from_id=ids[0], covered_to_id=ids[3], hangs_on=new.hangs_on
        )
        await store.compaction.commit(session_id, expected, rebuilt, run)  # there is no turn that it could keep


@pytest.mark.req("C-6", "D-4")
async def test_at_the_same_boundary_a_range_of_another_branch_is_refused(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        beside = await sibling(store, session_id, ids)
        await compact(store, session_id, ids[4])
        expected, new, run = await ready(store, session_id, ids[4], kind="rebuilt")
        for wrong in (
            {"covered_from_id": ids[0], "covered_to_id": beside},
            {"covered_from_id": ids[2], "covered_to_id": ids[0]},
            {"covered_from_id": ids[0], "covered_to_id": ids[5]},
            {"covered_from_id": None, "covered_to_id": ids[1]},
        ):
            await refused(store, session_id, "of another branch", expected, replace(new, **wrong), run)


@pytest.mark.req("C-8", "C-9")
@pytest.mark.parametrize("kept", [4, 2])
async def test_with_a_tool_call_open_nothing_is_compacted(path: Path, kept: int) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        _, question = await ask(store, session_id)
        call = ToolCallPart("c", "search", '{"query":"\\"pending\\""}', "pending")
        await store.append_assistant(session_id, question, [call], model="m", usage=None, stop_reason="cancelled")
        prepared = await ready(store, session_id, [*ids, question][kept])
        await refused(store, session_id, "tool call is still open", *prepared)


@pytest.mark.req("C-8", "C-9")
async def test_a_tool_call_that_would_be_covered_open_is_seen_too(path: Path) -> None:
    async with opened(path) as store:
        session_id, _ = await talk(store, 1)
        _, question = await ask(store, session_id)
        call = ToolCallPart("c", "search", "{}", "pending")
        await store.append_assistant(session_id, question, [call], model="m", usage=None, stop_reason="cancelled")
        _, question = await ask(store, session_id)
        await answer(store, session_id, question)
        await refused(store, session_id, "tool call is still open", *await ready(store, session_id, question))


@pytest.mark.req("C-8", "C-9")
async def test_a_call_that_is_done_blocks_nothing_whatever_words_it_holds(path: Path) -> None:
    async with opened(path) as store:
        session_id, _ = await talk(store, 1)
        _, question = await ask(store, session_id)
        parts: list[Part] = [
            ToolCallPart("c", "pending", '"pending"', "done", '{"state":"pending"}'),
            TextPart('"pending"'),
        ]
        await store.append_assistant(session_id, question, parts, model="m", usage=None, stop_reason="stop")
        await compact(store, session_id, question)


@pytest.mark.req("C-8", "C-9")
async def test_while_an_answer_streams_nothing_is_compacted(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        await ask(store, session_id)
        await refused(store, session_id, "An answer streams", *await ready(store, session_id, ids[2]))


@pytest.mark.req("C-8", "C-9", "L-5")
@pytest.mark.parametrize("state", ["proposed", "approved", "attempted", "unknown", "denied", "confirmed"])
async def test_an_open_change_in_zotero_blocks_and_one_of_unknown_outcome_does_not(path: Path, state: str) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        operations = OperationStore(store.database, clock=lambda: START, new_id=lambda: "operation")
        await operations.propose(session_id, kind="note", target="K", target_version="1", request={})
        if state == "denied":
            await operations.deny("operation")
        elif state != "proposed":
            await operations.approve("operation", target_version="1")
        if state in ("attempted", "unknown", "confirmed"):
            await operations.attempt("operation", target_version="1")
        if state in ("unknown", "confirmed"):
            await operations.finish("operation", state)  # type: ignore[arg-type]
        prepared = await ready(store, session_id, ids[2])
        if state in ("proposed", "approved", "attempted"):
            await refused(store, session_id, "A change in Zotero waits", *prepared)
        else:
            await store.compaction.commit(session_id, *prepared)


@pytest.mark.req("C-8", "L-5")
async def test_a_proposal_that_nobody_answered_in_time_blocks_no_more(path: Path) -> None:
    clock = ticking(START + timedelta(minutes=minute) for minute in range(0, 1_000, 3))
    async with opened(path, clock=clock) as store:
        session_id, ids = await talk(store, 2)
        operations = OperationStore(store.database, clock=lambda: START, new_id=lambda: "operation")
        await operations.propose(session_id, kind="note", target="K", target_version="1", request={})
        await compact(store, session_id, ids[2])


@pytest.mark.req("C-9", "T-5")
async def test_a_damaged_branch_is_not_compacted(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        prepared = await ready(store, session_id, ids[4])
    spoil(path, f"DELETE FROM node WHERE id = '{ids[1]}'")
    async with opened(path, prefix="b") as store:
        with pytest.raises(DamagedBranch, match="can only be read"):
            await store.compaction.commit(session_id, *prepared)
    assert content(path)["checkpoint"] == []


# All or nothing


@contextmanager
def executing(act: Callable[..., None]) -> Iterator[None]:
    """Call `act` before each statement of any database."""
    sqlalchemy.event.listen(sqlalchemy.Engine, "before_cursor_execute", act)
    try:
        yield
    finally:
        sqlalchemy.event.remove(sqlalchemy.Engine, "before_cursor_execute", act)


class _Fault(Exception):
    """Of the test."""


@pytest.mark.req("C-9", "T-6", "T-1")
async def test_a_fault_at_any_statement_of_the_commit_leaves_nothing_of_it(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        await compact(store, session_id, ids[2])
        prepared = await ready(store, session_id, ids[4])
        before = await everything(store)
        count = 0
        fatal = 0

        def stop(_: object, __: object, sql: str, *___: object) -> None:
            nonlocal count
            count += 1
            if count == fatal:
                raise _Fault(sql)

        for fatal in range(1, 100):
            count = 0
            with executing(stop):
                try:
                    await store.compaction.commit(session_id, *prepared)
                except _Fault:
                    pass
                else:
                    break
            assert await everything(store) == before, fatal
        assert fatal > 10
        assert len((await everything(store))["checkpoint"]) == 2
    assert faults(path) == []


@pytest.mark.req("C-9", "T-6")
async def test_a_run_of_an_id_that_is_known_stores_no_checkpoint_either(path: Path) -> None:
    """The last statement fails in the file itself."""
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        expected, new, run = await ready(store, session_id, ids[2])
        await store.compaction.log(replace(run, outcome="failed"))
        before = await everything(store)
        with pytest.raises(StoreUnavailable):
            await store.compaction.commit(session_id, expected, new, run)
        assert await everything(store) == before


# A checkpoint between a question and its answer (T-4)


@pytest.mark.req("T-4", "C-9")
async def test_a_retry_puts_the_checkpoint_between_question_and_answer_in_one_transaction(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        expected = expected_of(await store.session(session_id))
        branch = await store.branch(session_id)
        new = checkpoint_on(replace(branch, nodes=branch.nodes[:-1]), ids[4], trigger="preflight")
        run = run_of(session_id)
        changes = await store.tree.retry(session_id, ids[5], model="m", compaction=(expected, new, run))
        [added] = changes.added
        assert (changes.operation, changes.leaf_id, changes.branch_revision) == (
            "retry",
            added,
            expected.branch_revision + 1,
        )
        again = await answer(store, session_id, added, "again")
        found = await store.branch(session_id)
        assert found.damage is None
        assert [node.id for node in found.nodes] == [*ids[:5], added, again]
        versions = (await store.tree.versions(session_id))[again]
        assert (versions.version, versions.versions, versions.previous_id) == (2, 2, ids[5])
        assert [each.outcome for each in await store.compaction.runs(session_id)] == ["applied"]
        await store.tree.switch(session_id, ids[5])
        assert (await store.branch(session_id)).checkpoints == {}  # the other branch is as it was (E8, E13)
    assert faults(path) == []


@pytest.mark.req("T-4", "T-6")
async def test_where_nothing_comes_of_such_a_retry_the_branch_goes_back_to_the_former_answer(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        branch = await store.branch(session_id)
        new = checkpoint_on(replace(branch, nodes=branch.nodes[:-1]), ids[4], trigger="preflight")
        compaction = (expected_of(await store.session(session_id)), new, run_of(session_id))
        [added] = (await store.tree.retry(session_id, ids[5], model="m", compaction=compaction)).added
        assert await store.tree.give_up(session_id, ids[4]) is None
        changes = await store.tree.give_up(session_id, added)
        assert changes is not None
        assert changes.leaf_id == ids[5]
        assert [node.id for node in (await store.branch(session_id)).nodes] == ids


@pytest.mark.req("T-4", "T-6")
async def test_an_answer_is_continued_behind_a_checkpoint(path: Path) -> None:
    async with opened(path) as store:
        session_id, _ = await talk(store, 2)
        _, question = await ask(store, session_id)
        await store.append_assistant(
            session_id, question, [TextPart("half")], model="m", usage=None, stop_reason="interrupted"
        )
        branch = await store.branch(session_id)
        new = checkpoint_on(replace(branch, nodes=branch.nodes[:-1]), question, trigger="preflight")
        compaction = (expected_of(await store.session(session_id)), new, run_of(session_id))
        target = branch.nodes[-1].id
        changes = await store.tree.continue_answer(session_id, target, model="m", compaction=compaction)
        [added] = changes.added
        recovered = await store.tree.recover(session_id)
        assert recovered is not None
        assert recovered.leaf_id == target  # it says nothing that the former one does not
        assert (await store.branch(session_id)).damage is None
        assert added not in {node.id for node in (await store.branch(session_id)).nodes}


@pytest.mark.req("T-4", "C-9")
async def test_an_edited_question_is_stored_with_the_checkpoint_behind_it(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        branch = await store.branch(session_id)
        before = replace(branch, nodes=branch.nodes[:4])
        new = checkpoint_on(before, None, hangs_on=NEW_QUESTION, first_kept_message_id=NEW_QUESTION)
        compaction = (expected_of(await store.session(session_id)), new, run_of(session_id))
        changes = await store.tree.edit(session_id, ids[4], [TextPart("rather")], model="m", compaction=compaction)
        question, added = changes.added
        assert changes.leaf_id == added
        answered = await answer(store, session_id, added)
        found = await store.branch(session_id)
        assert [node.id for node in found.nodes] == [*ids[:4], question, added, answered]
        assert found.checkpoints[added].first_kept_message_id == question
        assert (await store.tree.versions(session_id))[question].versions == 2
    assert faults(path) == []


@pytest.mark.req("T-4", "C-9", "D-2")
async def test_a_beginning_with_a_wrong_or_stale_checkpoint_stores_nothing_at_all(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        branch = await store.branch(session_id)
        expected = expected_of(await store.session(session_id))
        new = checkpoint_on(replace(branch, nodes=branch.nodes[:-1]), ids[4], trigger="preflight")
        before = await everything(store)
        for wrong, sentence in (
            ((Expected(ids[5], expected.branch_revision - 1), new), "changed"),
            ((Expected(ids[4], expected.branch_revision), new), "changed"),
            ((expected, replace(new, hangs_on=ids[5])), "changed"),
            ((expected, replace(new, first_kept_message_id=None, covered_to_id=ids[4])), "stays word for word"),
            ((expected, replace(new, first_kept_message_id=ids[3])), "is no question"),
            ((expected, replace(new, covered_to_id=ids[1])), "does not stand for"),
        ):
            compaction = (*wrong, run_of(session_id))
            with pytest.raises(NotAllowed, match=sentence):
                await store.tree.retry(session_id, ids[5], model="m", compaction=compaction)
            with pytest.raises(NotAllowed):
                await store.tree.edit(session_id, ids[4], [TextPart("x")], model="m", compaction=compaction)
            assert await everything(store) == before


# A question that was refused (D-1)


@pytest.mark.req("D-1", "C-15", "T-6")
async def test_a_refused_question_goes_back_above_the_draft_in_one_transaction_and_stays_stored(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 1)
        await store.drafts.save(session_id, "typed meanwhile")
        _, question = await ask(store, session_id, "Too large?")
        revision = (await store.session(session_id)).branch_revision
        changes = await store.tree.take_back(session_id, question, "Too large?")
        assert changes == ChangeSet("take_back", session_id, ids[1], revision + 1)
        assert await store.drafts.read(session_id) == "Too large?\n\ntyped meanwhile"
        assert await store.tree.interrupted() == []
        assert [node.id for node in (await store.branch(session_id)).nodes] == ids
        assert question in {node.id for node in await store.tree.whole(session_id)}
        before = await everything(store)
        with pytest.raises(NotAllowed, match="went on"):
            await store.tree.take_back(session_id, question, "Too large?")
        assert await everything(store) == before
    assert faults(path) == []


@pytest.mark.req("D-1", "T-4")
async def test_a_question_with_a_checkpoint_behind_it_is_taken_back_with_that(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        branch = await store.branch(session_id)
        new = checkpoint_on(
            replace(branch, nodes=branch.nodes[:2]), None, hangs_on=NEW_QUESTION, first_kept_message_id=NEW_QUESTION
        )
        compaction = (expected_of(await store.session(session_id)), new, run_of(session_id))
        changes = await store.tree.edit(session_id, ids[2], [TextPart("large")], model="m", compaction=compaction)
        taken = await store.tree.take_back(session_id, changes.added[0], "large", answer=changes.answer)
        assert taken.leaf_id == ids[1]
        assert await store.drafts.read(session_id) == "large"
        assert await store.tree.interrupted() == []


@pytest.mark.req("D-1", "T-6")
async def test_the_first_question_of_a_chat_leaves_an_empty_branch(path: Path) -> None:
    async with opened(path) as store:
        session_id, question = await ask(store)
        assert (await store.tree.take_back(session_id, question)).leaf_id is None
        assert (await store.branch(session_id)).nodes == ()
        assert await store.drafts.read(session_id) == ""
        _, again = await ask(store, session_id)
        assert [node.id for node in (await store.branch(session_id)).nodes] == [again]


@pytest.mark.req("D-1", "T-6")
async def test_a_question_that_another_engine_answers_by_now_stays(path: Path) -> None:
    async with opened(path) as store:
        changes = await store.append_user("", [TextPart("Why?")], title="", model="m")
        [question] = changes.added
        await store.tree.retry(changes.session_id, question, model="m")  # by whoever holds the lease now
        before = await everything(store)
        with pytest.raises(NotAllowed, match="went on"):
            await store.tree.take_back(changes.session_id, question, "Why?", answer=changes.answer)
        assert await everything(store) == before


@pytest.mark.req("D-1", "T-6")
async def test_a_fault_at_any_statement_of_taking_back_leaves_chat_and_draft_as_they_were(path: Path) -> None:
    async with opened(path) as store:
        session_id, question = await ask(store)
        before = await everything(store)
        count = 0
        fatal = 0

        def stop(_: object, __: object, sql: str, *___: object) -> None:
            nonlocal count
            count += 1
            if count == fatal:
                raise _Fault(sql)

        for fatal in range(1, 100):
            count = 0
            with executing(stop):
                try:
                    await store.tree.take_back(session_id, question, "Why?")
                except _Fault:
                    pass
                else:
                    break
            assert await everything(store) == before, fatal
        assert fatal > 5
        assert await store.drafts.read(session_id) == "Why?"


# Every other door (C-16)


@pytest.mark.req("C-16", "C-2", "T-3", "T-4")
async def test_no_fork_begins_at_a_checkpoint_and_none_loses_one_before_it(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        [added] = (await compact(store, session_id, ids[2])).added
        with pytest.raises(NotAllowed, match="begins at an answer"):
            await store.tree.fork(session_id, added)
        _, question = await ask(store, session_id)
        answered = await answer(store, session_id, question)
        early = await store.tree.fork(session_id, ids[3])
        late = await store.tree.fork(session_id, answered)
        assert (await store.branch(early.session_id)).checkpoints == {}
        assert set((await store.branch(late.session_id)).checkpoints) == {added}
        with pytest.raises(NotAllowed, match="Only the last answer"):
            await store.tree.retry(session_id, added, model="m")
        with pytest.raises(NotAllowed, match="Only a question"):
            await store.tree.edit(session_id, added, [TextPart("x")], model="m")


@pytest.mark.req("T-1", "C-16", "T-4")
async def test_no_later_operation_changes_a_stored_checkpoint(path: Path) -> None:
    """Neither its node nor its record nor its run: hashed before, and after everything else was done (P1)."""
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        [added] = (await compact(store, session_id, ids[2])).added
        before = await everything(store)
        _, question = await ask(store, session_id)
        answered = await answer(store, session_id, question)
        await compact(store, session_id, question)
        await store.tree.retry(session_id, answered, model="m")
        await answer(store, session_id, question)
        await store.tree.edit(session_id, ids[2], [TextPart("rather")], model="m")
        await store.tree.switch(session_id, added)
        fork = await store.tree.fork(session_id, answered)
        mark = await store.deletion.delete(fork.session_id)
        assert await store.deletion.purge(fork.session_id, mark=mark)
        after = await everything(store)
        for table in ("node", "checkpoint", "compaction_run"):
            assert set(before[table]) <= set(after[table]), table


@pytest.mark.req("C-16")
def test_only_a_compaction_and_an_import_write_checkpoints() -> None:
    written = re.compile(r"checkpoint\.(insert|update|delete)\(|(INSERT INTO|UPDATE|REPLACE INTO) checkpoint\b")
    doors = {module.name: written.findall(module.read_text(encoding="utf-8")) for module in STORE.glob("*.py")}
    assert {name for name, found in doors.items() if found} == {"compaction.py", "importing.py", "removal.py"}
    assert [found[1] for found in doors["removal.py"]] == ["UPDATE"]  # what names a deleted node names nothing then


# Reading


@pytest.mark.req("T-5", "C-2")
async def test_checkpoints_are_read_in_one_query_and_in_none_where_there_are_none(path: Path) -> None:
    statements: list[str] = []

    def trace(connection: sqlite3.Connection, _record: object) -> None:
        connection.set_trace_callback(statements.append)

    sqlalchemy.event.listen(sqlalchemy.Engine, "connect", trace)
    try:
        async with opened(path) as store:
            plain, _ = await talk(store, 2)
            session_id, ids = await talk(store, 3)
            for kept in (ids[2], ids[4]):
                await compact(store, session_id, kept)
            for wanted, queries in ((plain, 0), (session_id, 1)):
                for read in (store.branch, store.tree.check, lambda each: store.tree.newest(each, 200)):
                    statements.clear()
                    await read(wanted)
                    assert sum("FROM checkpoint" in statement for statement in statements) == queries
    finally:
        sqlalchemy.event.remove(sqlalchemy.Engine, "connect", trace)


@pytest.mark.req("T-5")
@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("summary = x'ff'", "cannot be read"),
        ("generation = 'many'", "cannot be read"),
        ("kind = x'00'", "cannot be read"),
        ("trigger = x'00'", "cannot be read"),
        ("created_at = x'00'", "cannot be read"),
        ("first_kept_message_id = x'00'", "which is not before it"),
        ("first_kept_message_id = 7", "which is not before it"),
        ("first_kept_message_id = node_id", "which is not before it"),
        ("node_id = x'00'", "has no record"),
    ],
)
async def test_a_checkpoint_row_of_wrong_types_is_damage_and_no_traceback(
    path: Path, damage: str, sentence: str
) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        [added] = (await compact(store, session_id, ids[2])).added
    spoil(path, f"UPDATE checkpoint SET {damage}")
    async with opened(path, prefix="b") as store:
        branch = await store.branch(session_id)
        assert [node.id for node in branch.nodes] == [*ids, added]
        assert branch.damage is not None
        assert sentence in branch.damage
        assert added in branch.damage
        assert branch.checkpoints == {}
        assert [node.id for node in (await store.tree.newest(session_id, 100)).nodes] == [*ids, added]
        assert await store.compaction.derivable(session_id, [*ids, added]) == []
        if "first_kept" not in damage:
            with pytest.raises(NotAllowed, match=r"cannot be read|no checkpoint"):
                await store.compaction.checkpoint(session_id, added)


@pytest.mark.req("T-5", "C-17")
@pytest.mark.parametrize("column", ["tokens_before", "tokens_after", "duration_ms", "cost", "validation", "model"])
async def test_what_a_checkpoint_only_tells_does_no_harm_when_it_is_damaged(path: Path, column: str) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        [added] = (await compact(store, session_id, ids[2])).added
    spoil(path, f"UPDATE checkpoint SET {column} = x'ff'", "UPDATE compaction_run SET outcome = 7, model = x'ff'")
    async with opened(path, prefix="b") as store:
        branch = await store.branch(session_id)
        assert branch.damage is None
        assert added in branch.checkpoints
        [run] = await store.compaction.runs(session_id)
        assert run.outcome == "failed"
        await store.compaction.figures()


@pytest.mark.req("C-17", "D-6")
async def test_attempts_of_which_nothing_came_are_logged_with_what_was_refused(path: Path) -> None:
    async with opened(path) as store:
        session_id, _ = await talk(store, 2)
        other, _ = await talk(store, 1)
        before = await everything(store)
        runs = [
            run_of(
                session_id, outcome=outcome, reason=outcome, refused_text="A refused summary." * (outcome == "failed")
            )
            for outcome in ("noop", "skipped", "failed", "cancelled", "stale")
        ]
        for run in runs:
            await store.compaction.log(run)
        assert await store.compaction.runs(session_id) == runs
        assert await store.compaction.runs(other) == []
        assert await store.compaction.refused_text(session_id, runs[2].id) == "A refused summary."
        for wrong_session, run_id in ((session_id, runs[1].id), (session_id, "unknown"), (other, runs[2].id)):
            with pytest.raises(NotAllowed, match="no refused summary"):
                await store.compaction.refused_text(wrong_session, run_id)
        with pytest.raises(NotAllowed, match="never compacted in a run"):
            await store.compaction.run(other, runs[2].id)
        with pytest.raises(UnknownSession):
            await store.compaction.log(run_of("unknown"))
        after = await everything(store)
        assert {table: after[table] for table in TABLES if table != "compaction_run"} == {
            table: before[table] for table in TABLES if table != "compaction_run"
        }


@pytest.mark.req("C-18")
async def test_figures_are_sums_by_chat_and_over_all(path: Path) -> None:
    async with opened(path) as store:
        assert (await store.compaction.figures()).outcomes == {}
        chats = [await talk(store, 2) for _ in range(2)]
        for session_id, ids in chats:
            await compact(store, session_id, ids[2])
        await store.compaction.log(run_of(chats[0][0], outcome="failed", cost=None, tokens_before=7))
        own, every = await store.compaction.figures(chats[0][0]), await store.compaction.figures()
        assert own.outcomes == {"applied": 1, "failed": 1}
        assert (own.tokens_before, own.tokens_after, own.input_tokens, own.cost) == (1_000, 100, 1_800, 0.25)
        assert every.outcomes == {"applied": 2, "failed": 1}
        assert (every.tokens_before, every.output_tokens, every.cost) == (2_000, 150, 0.5)


@pytest.mark.req("D-9")
async def test_summaries_of_other_branches_that_end_on_this_one_can_be_taken_over(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 4)
        fork = (await store.tree.fork(session_id, ids[5])).session_id
        [short] = (await compact(store, session_id, ids[2])).added
        [long] = (await compact(store, session_id, ids[6])).added
        path_ids = [node.id for node in (await store.branch(fork)).nodes]
        found = await store.compaction.derivable(fork, path_ids)
        assert [each.node_id for each in found] == [long, short]
        own = [node.id for node in (await store.branch(session_id)).nodes]
        assert await store.compaction.derivable(session_id, own) == []  # they are on it already
        assert await store.compaction.derivable(fork, ids[:2]) == [found[1]]
        await store.deletion.delete(session_id)
        assert await store.compaction.derivable(fork, path_ids) == []  # what was deleted is no source
        await store.deletion.undo(session_id)
        assert len(await store.compaction.derivable(fork, path_ids)) == 2


@pytest.mark.req("C-17", "T-3")
async def test_a_checkpoint_is_read_on_whatever_branch_of_its_chat_and_of_no_other(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 2)
        other, _ = await talk(store, 1)
        [added] = (await compact(store, session_id, ids[2])).added
        await store.tree.edit(session_id, ids[0], [TextPart("rather")], model="m")
        assert (await store.compaction.checkpoint(session_id, added)).node_id == added
        for wrong_session, node_id in ((other, added), (session_id, ids[0]), (session_id, "unknown")):
            with pytest.raises(NotAllowed, match="no checkpoint"):
                await store.compaction.checkpoint(wrong_session, node_id)


# Deleting


@pytest.mark.req("T-7")
async def test_a_deleted_chat_takes_its_checkpoints_and_runs_along_and_leaves_those_of_its_forks(path: Path) -> None:
    async with opened(path) as store:
        session_id, ids = await talk(store, 3)
        [shared] = (await compact(store, session_id, ids[2], summary="kept by the fork")).added
        _, question = await ask(store, session_id)
        answered = await answer(store, session_id, question)
        fork = (await store.tree.fork(session_id, answered)).session_id
        await compact(store, session_id, question, summary="Quixotic secret summary")
        await store.compaction.log(run_of(session_id, outcome="failed", refused_text="Quixotic refused summary"))
        await compact(store, fork, question, summary="the fork's own")
        mark = await store.deletion.delete(session_id)
        assert await store.deletion.purge(session_id, mark=mark)
        await store.deletion.wipe()
        branch = await store.branch(fork)
        assert branch.damage is None
        assert [each.summary for each in branch.checkpoints.values()] == ["kept by the fork", "the fork's own"]
        assert shared in branch.checkpoints
        assert [run.session_id for run in await store.compaction.runs(fork)] == [fork]
        assert await store.compaction.runs(session_id) == []
    for file in path.parent.rglob("*"):
        assert not file.is_file() or b"Quixotic" not in file.read_bytes(), file
    assert faults(path) == []
