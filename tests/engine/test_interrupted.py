"""Answers whose process was killed: kept as interrupted, to be gone on with or written anew (T-6)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bibgenie_desktop.protocol.commands import ContinueAnswer, Hello, OpenSession, Retry, SendMessage
from bibgenie_desktop.protocol.events import Branch, BranchChanged, CommandFailed, TurnFinished
from bibgenie_desktop.sessions.parts import Part, TextPart, ToolCallPart
from tests.engine.running import Running, running
from tests.engine.scripted import Gate, ScriptedModel, answers, says
from tests.engine.shelf import Shelf
from tests.engine.test_engine import alter
from tests.engine.test_leases import half, held, streaming, two

HALF = TextPart("Front matter has ")


async def killed(room: Running, *parts: Part) -> tuple[str, str]:
    """What a process that was killed in the middle of an answer leaves: the chat's id and the question's."""
    begun = await room.sessions.append_user("", [TextPart("What is front matter?")], title="Front?", model="killed")
    if parts:
        await room.sessions.journal.note(begun.session_id, begun.added[0], parts)
    return begun.session_id, begun.added[0]


async def texts(room: Running, session_id: str) -> list[str]:
    return [node.text for node in await room.branch(session_id)]


def operations(room: Running) -> list[str]:
    return [event.operation for event in room.told(BranchChanged)]


@pytest.mark.req("T-6")
async def test_a_window_that_comes_finds_the_interrupted_answers(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        chats = [(await killed(room, HALF))[0] for _ in range(3)]
        silent, _ = await killed(room)
        await room.engine.handle(Hello(request=1))
        while len(room.told(BranchChanged)) < 3:
            room.news.clear()
            await room.news.wait()
        assert [(event.operation, event.session_id) for event in room.told(BranchChanged)] == [
            ("recover", session_id) for session_id in chats
        ]
        for session_id in chats:
            question, answer = await room.branch(session_id)
            assert (answer.text, answer.stop_reason, answer.model) == ("Front matter has ", "interrupted", "killed")
            assert answer.parent_id == question.id
        assert await texts(room, silent) == ["What is front matter?"]
    assert held(room) == []


@pytest.mark.req("T-6")
async def test_an_opened_chat_shows_its_interrupted_answer_with_its_call_cut_off(shelf: Shelf, tmp_path: Path) -> None:
    call = ToolCallPart("c", "search_library", '{"query": "x"}', "pending")
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        session_id, _ = await killed(room, HALF, call)
        await room.engine.handle(OpenSession(session_id, request=4))
        [changed] = room.told(BranchChanged)
        [branch] = room.told(Branch)
        assert room.events.index(changed) < room.events.index(branch)
        assert [row.stop_reason for row in branch.rows] == [None, "interrupted"]
        assert branch.branch_revision == changed.branch_revision
        answer = (await room.branch(session_id))[1]
        tool = answer.parts[1]
        assert isinstance(tool, ToolCallPart)
        assert tool.state == "cancelled"
        await room.engine.handle(OpenSession(session_id))
        assert operations(room) == ["recover"]


@pytest.mark.req("T-6", "A-1")
async def test_a_question_in_a_chat_comes_behind_its_interrupted_answer(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("Gladly."))
    async with running(shelf, tmp_path, model) as room:
        session_id, _ = await killed(room, HALF)
        await room.send("And back matter?", session_id)
        assert operations(room) == ["recover", "append_user", "append_assistant"]
        assert await texts(room, session_id) == [
            "What is front matter?",
            "Front matter has ",
            "And back matter?",
            "Gladly.",
        ]
    assert [message.text for message in model.requests[0].messages][1] == "Front matter has "


@pytest.mark.req("T-6", "T-4")
async def test_an_interrupted_answer_is_gone_on_with_or_written_anew(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("roman numerals."), answers("Something else."))
    async with running(shelf, tmp_path, model) as room:
        session_id, question = await killed(room, HALF)
        await room.engine.handle(OpenSession(session_id))
        interrupted = room.last(Branch).rows[-1].node_id
        await room.engine.handle(ContinueAnswer(session_id, interrupted))
        await room.engine.turns_settled()
        assert await texts(room, session_id) == ["What is front matter?", "Front matter has roman numerals."]
        await room.engine.handle(Retry(session_id, question))
        await room.engine.turns_settled()
        assert await texts(room, session_id) == ["What is front matter?", "Something else."]
        await room.engine.handle(OpenSession(session_id))
        row = room.last(Branch).rows[-1]
        assert (row.version, row.versions) == (3, 3)


@pytest.mark.req("T-6", "T-4")
async def test_a_window_that_has_not_seen_it_can_retry_the_question(shelf: Shelf, tmp_path: Path) -> None:
    """Its process was killed a moment ago: the retry is of the answer that is recovered with it."""
    async with running(shelf, tmp_path, ScriptedModel(answers("Once more."))) as room:
        session_id, question = await killed(room, HALF)
        await room.engine.handle(Retry(session_id, question))
        await room.engine.turns_settled()
        assert operations(room) == ["recover", "retry", "append_assistant"]
        assert await texts(room, session_id) == ["What is front matter?", "Once more."]


@pytest.mark.req("T-6", "T-4")
async def test_a_retry_that_was_killed_before_its_first_word_leaves_the_former_answer(
    shelf: Shelf, tmp_path: Path
) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."))) as room:
        session_id = await room.send("First?")
        path = await room.branch(session_id)
        await room.sessions.tree.retry(session_id, path[1].id, model="killed")
        await room.engine.handle(OpenSession(session_id))
        assert operations(room)[-1] == "give_up"
        assert [row.node_id for row in room.last(Branch).rows] == [node.id for node in path]


@pytest.mark.req("T-6")
async def test_the_answer_of_a_living_engine_is_left_alone(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    async with two(shelf, tmp_path, half(gate), ScriptedModel()) as (one, other):
        session_id = await streaming(one, gate)
        for room in (one, other):
            await room.engine.handle(Hello())
            await room.engine.handle(OpenSession(session_id))
            assert [row.role for row in room.last(Branch).rows] == ["user"]
        gate.opened.set()
        await one.engine.turns_settled()
        assert one.last(TurnFinished).stop_reason == "stop"
        assert operations(one) == ["append_user", "append_assistant"]
        assert operations(other) == []
        assert await texts(other, session_id) == ["What is front matter?", "Front matter has roman numerals."]
        assert len(await other.sessions.tree.whole(session_id)) == 2


@pytest.mark.req("T-6")
async def test_the_answer_of_an_engine_that_was_killed_is_kept_by_the_next(shelf: Shelf, tmp_path: Path) -> None:
    """A real journal, written while the answer streamed; the lease of the dead is void at once."""
    gate, gone = Gate(), set[str]()
    async with two(shelf, tmp_path, half(gate), ScriptedModel(answers("roman numerals.")), gone=gone) as (one, other):
        session_id = await streaming(one, gate)
        await one.sessions.drafts.save("", "x")  # behind the first note
        gone.add("a")
        await other.engine.handle(OpenSession(session_id))
        [_, row] = other.last(Branch).rows
        assert row.stop_reason == "interrupted"
        await other.engine.handle(ContinueAnswer(session_id, row.node_id))
        await other.engine.turns_settled()
        assert await texts(other, session_id) == ["What is front matter?", "Front matter has roman numerals."]
        gate.opened.set()


@pytest.mark.req("T-6", "T-4")
async def test_a_continuation_that_is_killed_keeps_both_texts(shelf: Shelf, tmp_path: Path) -> None:
    gate, gone = Gate(), set[str]()
    model = ScriptedModel([*says("matter "), gate, *answers("never.")])
    async with two(shelf, tmp_path, model, ScriptedModel(), gone=gone) as (one, other):
        session_id, _ = await killed(one, TextPart("Front "))
        await one.engine.handle(OpenSession(session_id))
        first = one.last(Branch).rows[-1].node_id
        await one.engine.handle(ContinueAnswer(session_id, first))
        await gate.reached.wait()
        await one.sessions.drafts.save("", "x")  # behind the first note
        gone.add("a")
        await other.engine.handle(OpenSession(session_id))
        row = other.last(Branch).rows[-1]
        assert (row.version, row.versions, row.previous_id, row.stop_reason) == (2, 2, first, "interrupted")
        assert await texts(other, session_id) == ["What is front matter?", "Front matter "]
        gate.opened.set()


@pytest.mark.req("T-6", "A-5")
async def test_an_answer_that_could_not_be_stored_comes_back_with_its_chat(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([*says("Front "), gate, *answers("matter.")])
    async with running(shelf, tmp_path, model) as room:
        session_id = await streaming(room, gate)
        alter(
            room,
            "CREATE TRIGGER stuck BEFORE INSERT ON node WHEN NEW.role = 'assistant' "
            "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
        )
        gate.opened.set()
        await room.engine.turns_settled()
        await room.engine.handle(OpenSession(session_id))  # it still cannot be stored, and the chat opens all the same
        assert [row.role for row in room.last(Branch).rows] == ["user"]
        alter(room, "DROP TRIGGER stuck")
        await room.engine.handle(OpenSession(session_id))
        assert (await texts(room, session_id))[-1] == "Front matter."
        assert room.told(CommandFailed) == []


@pytest.mark.req("T-6", "T-5")
async def test_a_damaged_chat_is_not_touched(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."))) as room:
        session_id = await room.send("First?")
        path = await room.branch(session_id)
        begun = await room.sessions.append_user(session_id, [TextPart("Second?")], title="", model="killed")
        await room.sessions.journal.note(session_id, begun.added[0], [HALF])
        alter(
            room,
            "DROP TRIGGER node_is_append_only",
            "PRAGMA foreign_keys = OFF",
            f"UPDATE node SET parent_id = 'nowhere' WHERE id = '{path[1].id}'",
        )
        await room.engine.handle(OpenSession(session_id))
        assert "nowhere is missing" in room.last(Branch).damage
        await room.engine.handle(SendMessage("Third?", session_id))
        assert room.last(CommandFailed).code == "damaged"
        assert "recover" not in operations(room)
        with closing(sqlite3.connect(tmp_path / "sessions.sqlite")) as connection:
            assert connection.execute("SELECT count(*) FROM stream_journal").fetchone() == (1,)


@pytest.mark.req("T-6")
async def test_a_chat_that_is_busy_in_another_program_is_opened_without_its_interrupted_answer(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bibgenie_desktop.store.database.BUSY_SECONDS", 0)
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        session_id, question = await killed(room, HALF)
        with closing(sqlite3.connect(tmp_path / "sessions.sqlite")) as other:
            other.execute("BEGIN IMMEDIATE")
            await room.engine.handle(OpenSession(session_id))
            other.rollback()
        assert [row.node_id for row in room.last(Branch).rows] == [question]
        await room.engine.handle(OpenSession(session_id))
        assert operations(room) == ["recover"]
