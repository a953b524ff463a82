"""Questions and answers as operations that say what they changed (T-1, T-2, U-3)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bibgenie_desktop.sessions.branch import NotAllowed
from bibgenie_desktop.sessions.nodes import STOP_REASONS, ChangeSet, Node, StopReason
from bibgenie_desktop.sessions.parts import Part, ReasoningPart, TextPart, ToolCallPart
from bibgenie_desktop.sessions.usage import Usage
from bibgenie_desktop.store.encoding import timestamp
from bibgenie_desktop.store.session_rows import UnknownSession
from bibgenie_desktop.store.sessions import NEW_SESSION, SessionStore
from tests.sessions.values import parts, usages
from tests.store.histories import START, answer, ask, opened, talk, ticking


@pytest.mark.req("T-1", "T-2")
async def test_the_first_question_begins_a_session(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        changes = await store.append_user(NEW_SESSION, [TextPart("Why?")], title="Why?", model="offline")
        session = await store.session(changes.session_id)
        assert changes == ChangeSet("append_user", session.id, session.leaf_id, 1, (str(session.leaf_id),))
        assert (session.title, session.model, session.branch_revision) == ("Why?", "offline", 1)
        assert session.created_at == session.updated_at == "2026-11-30T18:50:48.123Z"
        branch = await store.branch(session.id)
    question = Node(str(session.leaf_id), None, "user", (TextPart("Why?"),), "2026-11-30T18:50:48.123Z")
    assert branch.nodes == (question,)
    assert branch.damage is None


@pytest.mark.req("T-1", "T-2")
async def test_an_answer_hangs_on_its_question_and_moves_the_branch(tmp_path: Path) -> None:
    said = (
        ReasoningPart("hm", {"signature": "s"}),
        ToolCallPart("c1", "search", '{"query": "peat"}', "done", "{}", 0),
        TextPart("So. [[cite:ABCD2345]]"),
    )
    usage = Usage(120, 30, turn_input_tokens=200, turn_output_tokens=40, steps=2, real=True, cost=0.01)
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, question = await ask(store)
        changes = await store.append_assistant(
            session_id, question, said, model="gpt", usage=usage, stop_reason="length"
        )
        assert changes == ChangeSet("append_assistant", session_id, changes.added[0], 2, changes.added)
        session, branch = await store.session(session_id), await store.branch(session_id)
    assert (session.leaf_id, session.branch_revision, session.model) == (changes.added[0], 2, "gpt")
    time = timestamp(START + timedelta(seconds=1))
    assert branch.nodes[1] == Node(changes.added[0], question, "assistant", said, time, "gpt", usage, "length")
    assert session.updated_at == time > session.created_at


@pytest.mark.req("T-1")
@settings(max_examples=30)
@given(st.lists(st.tuples(st.lists(parts, max_size=3), st.none() | usages, st.sampled_from(sorted(STOP_REASONS)))))
async def test_whatever_an_answer_holds_is_read_as_it_was_stored(
    tmp_path_factory: pytest.TempPathFactory, answers: list[tuple[list[Part], Usage | None, StopReason]]
) -> None:
    async with opened(tmp_path_factory.mktemp("history") / "sessions.sqlite") as store:
        session_id, expected = "", []
        for said, usage, reason in answers:
            session_id, question = await ask(store, session_id)
            changes = await store.append_assistant(
                session_id, question, said, model="m", usage=usage, stop_reason=reason
            )
            expected.append((tuple(said), usage, reason))
            assert await store.nodes(changes.added) == list((await store.branch(session_id)).nodes[-1:])
        stored = (await store.branch(session_id)).nodes[1::2] if session_id else ()
    assert [(node.parts, node.usage, node.stop_reason) for node in stored] == expected


@pytest.mark.req("T-6")
async def test_half_a_character_costs_no_answer(tmp_path: Path) -> None:
    """A provider may cut a stream, or a tool's result, within a pair of surrogates."""
    said: list[Part] = [
        TextPart("cut \ud83d off"),
        ToolCallPart("c1", "search", "{}", "done", "result \ude00", replay={"signature": "\ud83d\ude00"}),
    ]
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, question = await ask(store)
        await store.append_assistant(session_id, question, said, model="m", usage=None, stop_reason="stop")
        text, call = (await store.branch(session_id)).nodes[1].parts
    assert text == TextPart("cut \ufffd off")
    assert call == ToolCallPart("c1", "search", "{}", "done", "result \ufffd", replay={"signature": "😀"})


@pytest.mark.req("T-1", "T-2")
async def test_an_answer_whose_branch_has_moved_on_is_kept_as_a_sibling(tmp_path: Path) -> None:
    """The user asked again in another window while the answer streamed: nothing is lost, nothing jumps."""
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, question = await ask(store)
        _, second = await ask(store, session_id, "Or how?")
        before = await store.session(session_id)
        changes = await store.append_assistant(
            session_id, question, [TextPart("late")], model="m", usage=None, stop_reason="stop"
        )
        assert changes == ChangeSet("append_assistant", session_id, second, 2, changes.added)
        assert await store.session(session_id) == before
        assert [node.id for node in (await store.branch(session_id)).nodes] == [question, second]
        (kept,) = await store.nodes(changes.added)
    assert (kept.parent_id, kept.text) == (question, "late")
    with closing(sqlite3.connect(tmp_path / "sessions.sqlite")) as connection:
        owned = connection.execute("SELECT node_id FROM session_node WHERE session_id = ?", (session_id,)).fetchall()
    assert {node_id for (node_id,) in owned} == {question, second, kept.id}


@pytest.mark.req("T-1")
async def test_an_answer_is_refused_where_it_may_not_hang(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, question = await ask(store)
        answered = await answer(store, session_id, question)
        before = await store.session(session_id)

        async def hang(session: str, parent: str, reason: str = "stop") -> None:
            await store.append_assistant(
                session,
                parent,
                [TextPart("no")],
                model="m",
                usage=None,
                stop_reason=reason,  # type: ignore[arg-type]
            )

        with pytest.raises(NotAllowed, match="needs a question"):
            await hang(session_id, answered)
        with pytest.raises(NotAllowed, match="no longer stored"):
            await hang(session_id, "unknown")
        with pytest.raises(NotAllowed, match="stop reason 'finished'"):
            await hang(session_id, question, "finished")
        with pytest.raises(UnknownSession):
            await hang("unknown", question)
        assert await store.session(session_id) == before
        assert len((await store.branch(session_id)).nodes) == 2


@pytest.mark.req("T-1")
async def test_a_question_in_an_unknown_session_is_refused_and_its_draft_stays(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        await store.drafts.save("unknown", "half a thought")
        with pytest.raises(UnknownSession, match="There is no chat"):
            await ask(store, "unknown")
        assert await store.drafts.read("unknown") == "half a thought"
        assert await store.sessions() == []


@pytest.mark.req("C-16")
def test_ordinary_persistence_has_no_way_to_store_a_checkpoint() -> None:
    assert [name for name in vars(SessionStore) if name.startswith("append")] == ["append_user", "append_assistant"]


@pytest.mark.req("C-16")
async def test_an_answer_may_hang_on_a_checkpoint_that_a_compaction_stored(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, question = await ask(store)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO node VALUES ('c', ?, 'checkpoint', '[]', NULL, NULL, NULL, '')", (question,))
        connection.execute("UPDATE session SET leaf_id = 'c', branch_revision = 2")
        connection.commit()
    async with opened(path, prefix="b") as store:
        answered = await answer(store, session_id, "c")
        assert [node.id for node in (await store.branch(session_id)).nodes] == [question, "c", answered]


@pytest.mark.req("T-2", "U-3")
async def test_a_draft_is_kept_across_restarts_and_moves_no_revision(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        session_id, _ = await talk(store, 1)
        before = await store.session(session_id)
        await store.drafts.save(session_id, "half a\nthought 漢字")
        await store.drafts.save(NEW_SESSION, "another")
    async with opened(path, prefix="b") as store:
        assert await store.drafts.read(session_id) == "half a\nthought 漢字"
        assert await store.drafts.read(NEW_SESSION) == "another"
        await store.drafts.save(session_id, "whole")
        assert await store.drafts.read(session_id) == "whole"
        await store.drafts.save(session_id, "")
        assert await store.drafts.read(session_id) == ""
        assert await store.session(session_id) == before


@pytest.mark.req("U-3")
async def test_sending_empties_the_draft_of_its_session_only(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await talk(store, 1)
        await store.drafts.save(session_id, "here")
        await store.drafts.save(NEW_SESSION, "there")
        await send(store, session_id, "here")
        assert (await store.drafts.read(session_id), await store.drafts.read(NEW_SESSION)) == ("", "there")
        await send(store, NEW_SESSION, "there")
        assert await store.drafts.read(NEW_SESSION) == ""


async def send(store: SessionStore, session_id: str, text: str) -> None:
    """Append a question that stands in the draft."""
    await store.append_user(session_id, [TextPart(text)], title=text, model="offline", sent_draft=text)


@pytest.mark.req("U-3", "T-6")
@pytest.mark.parametrize(
    ("known", "others", "sent", "left"),
    [
        ("half", "Other?\n\nhalf", "half of mine", "Other?"),
        ("", "Other?", "mine", "Other?"),
        ("half", "half", "half of mine", ""),
        ("half", "", "half of mine", ""),
        ("half", "half of mine", "half of mine", ""),
        ("half", "Something else", "half of mine", "Something else"),
        ("Theirs\n\nhalf", "half\n\nTheirs", "Theirs\n\nhalf of mine", ""),
        ("half", "Other?\n\nhalf\n\nTheirs", "Theirs\n\nhalf of mine", "Other?"),
        ("a", "a cat\n\na", "a dog", "a cat"),
        ("half", "Other?\n\nhalf\n\nTheirs", "half of mine", "Other?\n\nTheirs"),
    ],
)
async def test_what_others_wrote_into_a_draft_outlives_its_sending_and_its_saving(
    tmp_path: Path, known: str, others: str, sent: str, left: str
) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await talk(store, 1)
        await store.drafts.save(session_id, others)
        assert await store.drafts.save(session_id, sent, known=known) == left
        assert await store.drafts.read(session_id) == "\n\n".join(filter(None, (left, sent)))
        await send(store, session_id, sent)
        assert await store.drafts.read(session_id) == left


@pytest.mark.req("U-3")
async def test_a_question_from_elsewhere_leaves_the_draft_alone(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await talk(store, 1)
        await store.drafts.save(session_id, "half a thought")
        await store.append_user(session_id, [TextPart("Why?")], title="", model="m")
        assert await store.drafts.read(session_id) == "half a thought"


@pytest.mark.req("U-2", "U-3")
@pytest.mark.parametrize(
    ("known", "refused", "kept"),
    [
        ("", "Why?", "Why?"),
        ("and how?", "Why?", "Why?\n\nand how?"),
        ("Why?", "Why?", "Why?"),
        ("Why", "Why not?", "Why not?"),
        ("First?\n\nWhy?\n\nand how?", "Why?", "First?\n\nWhy?\n\nand how?"),
    ],
)
async def test_a_question_that_was_not_taken_is_kept_above_the_draft(
    tmp_path: Path, known: str, refused: str, kept: str
) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await talk(store, 1)
        before = await store.session(session_id)
        await store.drafts.save(session_id, known)
        await store.drafts.put_above(session_id, refused)
        assert await store.drafts.read(session_id) == kept
        assert await store.session(session_id) == before


@pytest.mark.req("T-2")
@settings(max_examples=30)
@given(st.lists(st.sampled_from(["ask", "answer", "late answer", "draft", "read"]), max_size=12))
async def test_the_revision_counts_the_changes_of_the_branch_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, operations: list[str]
) -> None:
    async with opened(tmp_path_factory.mktemp("history") / "sessions.sqlite") as store:
        session_id, question = await ask(store)
        first, revision, stored = question, 1, 1
        for operation in operations:
            leaf = (await store.branch(session_id)).nodes[-1]
            match operation:
                case "ask":
                    await ask(store, session_id)
                    revision, stored = revision + 1, stored + 1
                case "answer" if leaf.role == "user":
                    await answer(store, session_id, leaf.id)
                    revision, stored = revision + 1, stored + 1
                case "late answer" if leaf.id != first:
                    await answer(store, session_id, first)
                    stored += 1
                case "draft":
                    await store.drafts.save(session_id, "x")
                case _:
                    await store.sessions()
            session = await store.session(session_id)
            branch = await store.branch(session_id)
            assert session.branch_revision == revision == len(branch.nodes)
            assert branch.damage is None


@pytest.mark.req("T-6")
async def test_a_clock_that_jumps_back_breaks_no_branch(tmp_path: Path) -> None:
    clock = ticking(START - timedelta(days=day) for day in range(10))
    async with opened(tmp_path / "sessions.sqlite", clock=clock) as store:
        session_id, ids = await talk(store, 3)
        assert [node.id for node in (await store.branch(session_id)).nodes] == ids


def test_times_are_utc_with_milliseconds() -> None:
    assert timestamp(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == "2026-01-02T03:04:05.000Z"
    east = timezone(timedelta(hours=5, minutes=30))
    assert timestamp(datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=east)) == "2026-01-01T21:34:05.678Z"


@pytest.mark.req("T-1")
async def test_unknown_nodes_are_left_out_and_the_order_is_as_asked(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        _, ids = await talk(store, 1)
        found = await store.nodes([ids[1], "unknown", ids[0], ids[1]])
    assert [node.id for node in found] == [ids[1], ids[0], ids[1]]
