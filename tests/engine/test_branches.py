"""Forks, switching and the whole tree, as a window asks for them (T-3, T-4, T-5)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bibgenie_desktop.models.port import ModelError
from bibgenie_desktop.protocol.codec import to_json
from bibgenie_desktop.protocol.commands import (
    ContinueDamaged,
    EditMessage,
    FetchTree,
    Fork,
    OpenSession,
    Retry,
    SendMessage,
    StopTurn,
    SwitchTo,
)
from bibgenie_desktop.protocol.events import Branch, BranchChanged, CommandDone, CommandFailed, SessionMade, Tree
from bibgenie_desktop.sessions.parts import TextPart
from bibgenie_desktop.transport.served import MESSAGE_LIMIT
from tests.engine.running import Running, running
from tests.engine.scripted import Gate, ScriptedModel, answers, says
from tests.engine.shelf import Shelf
from tests.engine.test_engine import alter
from tests.engine.test_leases import half, held, streaming, two
from tests.engine.test_retry import talked, texts

CUT = ModelError("interrupted", "The connection broke off; what came is kept.")


def codes(room: Running) -> list[str]:
    return [failed.code for failed in room.told(CommandFailed)]


def damage(room: Running, node_id: str) -> None:
    alter(room, "DROP TRIGGER node_is_append_only", f"UPDATE node SET parts = '7' WHERE id = '{node_id}'")


@pytest.mark.req("T-3")
async def test_a_fork_is_a_chat_of_its_own_that_goes_on_from_the_answer(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("One."), answers("Two."), answers("Other."))
    async with running(shelf, tmp_path, model) as room:
        session_id, path = await talked(room, "First?", "Second?")
        await room.engine.handle(Fork(session_id, path[1].id, request=5))
        made = room.last(SessionMade)
        assert (made.title, made.request) == ("First?", 5)
        assert made.session_id != session_id
        assert await room.branch(made.session_id) == path[:2]
        await room.send("And else?", made.session_id)
        assert await texts(room, made.session_id) == ["First?", "One.", "And else?", "Other."]
        assert await room.branch(session_id) == path
        listed = {each.session.id: each.session.forked_from_id for each in await room.sessions.sessions()}
        assert listed == {session_id: None, made.session_id: session_id}
        assert held(room) == []


@pytest.mark.req("T-3", "T-1")
async def test_a_fork_begins_at_a_complete_answer_alone(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel([*says("Half"), CUT])) as room:
        session_id, path = await talked(room, "First?")
        for chat, node_id in ((session_id, path[0].id), (session_id, path[1].id), (session_id, "ffff"), ("ffff", "f")):
            await room.engine.handle(Fork(chat, node_id))
        assert codes(room) == ["refused"] * 4
        assert len(await room.sessions.sessions()) == 1


@pytest.mark.req("T-4", "T-2")
async def test_a_switch_leads_to_where_that_branch_was_left(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("One."), answers("Two."), answers("Better."))
    async with running(shelf, tmp_path, model) as room:
        session_id, path = await talked(room, "First?", "Second?")
        await room.engine.handle(Retry(session_id, path[3].id))
        await room.engine.turns_settled()
        better = (await room.branch(session_id))[-1]
        used = [each.session.id for each in await room.sessions.sessions()]
        await room.engine.handle(SwitchTo(session_id, path[3].id, request=8))
        changed, done = room.events[-2:]
        assert isinstance(changed, BranchChanged)
        assert (changed.operation, changed.leaf_id, changed.added) == ("switch", path[3].id, ())
        assert done == CommandDone(8)
        assert await room.branch(session_id) == path
        await room.engine.handle(OpenSession(session_id))
        row = room.last(Branch).rows[-1]
        assert (row.version, row.versions, row.next_id) == (1, 2, better.id)
        assert [each.session.id for each in await room.sessions.sessions()] == used
        told = len(room.events)
        await room.engine.handle(SwitchTo(session_id, path[3].id, request=9))
        assert room.events[told:] == [CommandDone(9)]


@pytest.mark.req("T-4", "T-6")
async def test_while_an_answer_streams_here_no_branch_is_changed_and_no_fork_made(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    async with running(shelf, tmp_path, ScriptedModel(answers("One."), [gate, *answers("Two.")])) as room:
        session_id, path = await talked(room, "First?")
        await room.engine.handle(Retry(session_id, path[1].id))
        await gate.reached.wait()
        await room.engine.handle(SwitchTo(session_id, path[1].id))
        await room.engine.handle(Fork(session_id, path[1].id))
        await room.engine.handle(ContinueDamaged(session_id))
        assert codes(room) == ["answering"] * 3
        gate.opened.set()
        await room.engine.turns_settled()
        assert (await texts(room, session_id))[-1] == "Two."


@pytest.mark.req("T-4", "T-6")
async def test_a_chat_whose_question_is_on_its_way_stays_where_it_is(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("One."), answers("Two."), answers("Three."))
    async with running(shelf, tmp_path, model) as room:
        session_id, path = await talked(room, "First?")
        await room.engine.handle(Retry(session_id, path[1].id))
        await room.engine.turns_settled()
        model.preparing.reached.clear()
        model.preparing.opened.clear()
        sending = asyncio.create_task(room.engine.handle(SendMessage("Second?", session_id)))
        await model.preparing.reached.wait()
        await room.engine.handle(SwitchTo(session_id, path[1].id))
        assert codes(room) == ["answering"]
        model.preparing.opened.set()
        await sending
        await room.engine.turns_settled()
        assert await texts(room, session_id) == ["First?", "Two.", "Second?", "Three."]


@pytest.mark.req("T-4", "T-6")
async def test_while_another_engine_answers_no_branch_is_changed_and_no_fork_made(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    one_model = ScriptedModel(answers("One."), [*says("Half "), gate, *answers("whole.")])
    async with two(shelf, tmp_path, one_model, ScriptedModel()) as (one, other):
        session_id, path = await talked(one, "First?")
        await streaming(one, gate, session_id)
        await other.engine.handle(SwitchTo(session_id, path[1].id, request=2))
        await other.engine.handle(Fork(session_id, path[1].id))
        assert codes(other) == ["leased", "leased"]
        assert other.told(CommandFailed)[0].sentence == (
            "Another window or command is answering in this chat: wait for that answer or stop it there."
        )
        gate.opened.set()
        await one.engine.turns_settled()
        assert (await texts(one, session_id))[-1] == "Half whole."
        await other.engine.handle(Fork(session_id, path[1].id))
        assert len(other.told(SessionMade)) == 1


@pytest.mark.req("T-5")
async def test_a_damaged_chat_is_gone_on_with_in_a_new_one(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("One."), answers("Two."), answers("Better."))
    async with running(shelf, tmp_path, model) as room:
        session_id, path = await talked(room, "First?", "Second?")
        await room.engine.handle(ContinueDamaged(session_id))
        assert codes(room) == ["refused"]  # nothing is wrong with it yet
        damage(room, path[2].id)
        await room.engine.handle(SwitchTo(session_id, path[1].id))
        assert codes(room)[1:] == ["damaged"]
        await room.engine.handle(OpenSession(session_id))
        assert path[2].id in room.last(Branch).damage
        await room.engine.handle(ContinueDamaged(session_id, request=7))
        made = room.last(SessionMade)
        assert made.request == 7
        await room.send("Again?", made.session_id)
        assert await texts(room, made.session_id) == ["First?", "One.", "Again?", "Better."]
        await room.engine.handle(Fork(session_id, path[1].id))
        assert len(room.told(SessionMade)) == 2


@pytest.mark.req("T-4", "U-4")
async def test_the_whole_tree_is_told_parents_first(shelf: Shelf, tmp_path: Path) -> None:
    long = "Front matter " * 40 + "[[cite:PDFLABL2@1]]"
    model = ScriptedModel(answers(long), answers("Other."))
    async with running(shelf, tmp_path, model) as room:
        session_id, path = await talked(room, "First\nof all?")
        await room.engine.handle(Retry(session_id, path[1].id))
        await room.engine.turns_settled()
        await room.engine.handle(FetchTree(session_id, request=3))
        [tree] = room.told(Tree)
        assert (tree.session_id, tree.more, tree.request) == (session_id, False, 3)
        question, first, second = tree.rows
        assert (question.node_id, question.parent_id, question.excerpt) == (path[0].id, "", "First of all?")
        assert (first.parent_id, first.stop_reason, first.is_active) == (path[0].id, "stop", False)
        assert (len(first.excerpt), first.excerpt.endswith("…"), "[[" in first.excerpt) == (120, True, False)
        assert (second.excerpt, second.is_active, question.is_active) == ("Other.", True, True)
        damage(room, path[1].id)
        await room.engine.handle(FetchTree(session_id))
        lost = room.last(Tree).rows[1]
        assert lost.node_id == path[1].id
        assert lost.excerpt.startswith("[This message cannot be read: ")
        await room.engine.handle(FetchTree("ffff"))
        assert codes(room) == ["refused"]


@pytest.mark.req("U-4")
async def test_a_large_tree_comes_in_pieces(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        session_id = ""
        for _ in range(300):
            text = TextPart("\x01" * 2_000)
            session_id = (
                await room.sessions.append_user(session_id, [text], title="Many", model="scripted")
            ).session_id
        await room.engine.handle(FetchTree(session_id))
        pieces = room.told(Tree)
        assert [piece.more for piece in pieces] == [True] * (len(pieces) - 1) + [False]
        assert len(pieces) > 1
        assert max(len(json.dumps(to_json(piece)).encode()) for piece in pieces) < MESSAGE_LIMIT
        assert sum(len(piece.rows) for piece in pieces) == 300


@pytest.mark.req("T-6", "T-3")
async def test_an_interrupted_answer_is_in_the_tree_before_it_is_left(shelf: Shelf, tmp_path: Path) -> None:
    """A switch away from a branch whose answer was killed loses nothing of it."""
    gate, gone = Gate(), set[str]()
    first = ScriptedModel(answers("One."), [*says("Half "), gate, *answers("whole.")])
    async with two(shelf, tmp_path, first, half(Gate()), gone=gone) as (one, other):
        session_id, path = await talked(one, "First?")
        await one.engine.handle(Retry(session_id, path[1].id))
        await gate.reached.wait()
        await one.sessions.drafts.save("", "x")  # behind the first note
        gone.add("a")
        await other.engine.handle(SwitchTo(session_id, path[1].id))
        assert [event.operation for event in other.told(BranchChanged)] == ["recover", "switch"]
        await other.engine.handle(FetchTree(session_id))
        assert [row.excerpt for row in other.last(Tree).rows] == ["First?", "One.", "Half"]
        gate.opened.set()


@pytest.mark.req("T-5")
async def test_what_a_damaged_way_forbids_is_refused_as_damage(shelf: Shelf, tmp_path: Path) -> None:
    """Also a fork at a sound answer, and on a chat whose own branch is sound."""
    model = ScriptedModel(answers("One."), answers("Two."), answers("Other."))
    async with running(shelf, tmp_path, model) as room:
        session_id, path = await talked(room, "First?", "Second?")
        await room.engine.handle(EditMessage(session_id, path[0].id, "Rather?"))
        await room.engine.turns_settled()
        damage(room, path[1].id)
        await room.engine.handle(Fork(session_id, path[3].id))
        assert codes(room) == ["damaged"]
        assert [made for made in room.events if isinstance(made, SessionMade)] == []


@pytest.mark.req("T-4", "S-3")
async def test_while_a_large_tree_is_told_other_commands_are_carried_out(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        session_id = ""
        for _ in range(300):
            begun = await room.sessions.append_user(session_id, [TextPart("w" * 400)], title="t", model="m")
            session_id = begun.session_id
        telling = asyncio.create_task(room.engine.handle(FetchTree(session_id)))
        await room.until(Tree)
        await asyncio.gather(telling, room.engine.handle(StopTurn(session_id, request=5)))
        kinds = [type(event) for event in room.events]
        assert kinds.index(CommandDone) < len(kinds) - 1 - kinds[::-1].index(Tree)
