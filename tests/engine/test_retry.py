"""An answer written anew, a question asked in another way: siblings, and nothing lost on the way (T-4, T-6)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.compaction.messages import UserMessage
from bibgenie_desktop.models.port import ModelError
from bibgenie_desktop.protocol.commands import (
    ContinueAnswer,
    EditMessage,
    OpenSession,
    Retry,
    SaveDraft,
    SendMessage,
    StopTurn,
)
from bibgenie_desktop.protocol.events import Branch, BranchChanged, CommandFailed, TurnFailed, TurnFinished, TurnStarted
from bibgenie_desktop.sessions.nodes import Node
from tests.engine.running import Running, running
from tests.engine.scripted import Act, Gate, ScriptedModel, answers, ends
from tests.engine.shelf import Shelf
from tests.engine.test_engine import alter
from tests.engine.test_leases import half, held, streaming, two

CUT = ModelError("connection", "The connection broke off: check the network.")


async def texts(room: Running, session_id: str) -> list[str]:
    return [node.text for node in await room.branch(session_id)]


async def begun(room: Running, command: Retry | EditMessage | ContinueAnswer) -> TurnStarted:
    """Carry a command out and wait for the end of its answer."""
    await room.engine.handle(command)
    await room.engine.turns_settled()
    return room.last(TurnStarted)


async def talked(room: Running, *questions: str) -> tuple[str, tuple[Node, ...]]:
    """A chat with these questions, each answered: its id and its branch."""
    session_id = ""
    for question in questions:
        session_id = await room.send(question, session_id)
    return session_id, await room.branch(session_id)


def refusal(room: Running) -> tuple[str, int]:
    [failed] = room.told(CommandFailed)
    return failed.code, failed.request


@pytest.mark.req("T-4")
@pytest.mark.parametrize("target", [-1, -2], ids=["by the answer", "by its question"])
async def test_a_retried_answer_is_a_sibling_and_the_model_is_asked_the_same(
    shelf: Shelf, tmp_path: Path, target: int
) -> None:
    model = ScriptedModel(answers("One."), answers("Two."), answers("Better."))
    async with running(shelf, tmp_path, model) as room:
        session_id, path = await talked(room, "First?", "Second?")
        started = await begun(room, Retry(session_id, path[target].id, request=4))
        branch = await room.branch(session_id)
        changes = [(event.operation, event.leaf_id) for event in room.told(BranchChanged)[-2:]]
    assert [node.text for node in branch] == ["First?", "One.", "Second?", "Better."]
    assert branch[:3] == path[:3]
    assert changes == [("retry", path[2].id), ("append_assistant", branch[3].id)]
    assert (started.node_id, started.parent_id, started.beginning, started.request) == (
        path[2].id,
        path[1].id,
        "retry",
        4,
    )
    assert model.requests[2].messages == model.requests[1].messages


@pytest.mark.req("T-4")
async def test_an_older_answer_is_not_retried(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."), answers("Two."))) as room:
        session_id, path = await talked(room, "First?", "Second?")
        await room.engine.handle(Retry(session_id, path[1].id, request=3))
        assert refusal(room) == ("refused", 3)
        assert "fork" in room.last(CommandFailed).sentence
        assert await room.branch(session_id) == path
        assert held(room) == []


@pytest.mark.req("T-4", "T-6")
async def test_a_question_that_has_no_answer_is_answered_by_a_retry(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel([CUT], answers("Here."))) as room:
        session_id = await room.send("What is front matter?")
        assert room.last(TurnFailed).node_id == ""
        [question] = await room.branch(session_id)
        started = await begun(room, Retry(session_id, question.id))
        assert (started.node_id, started.parent_id) == (question.id, "")
        assert await texts(room, session_id) == ["What is front matter?", "Here."]


@pytest.mark.req("T-4", "T-6")
@pytest.mark.parametrize("how", ["fails", "is stopped"])
async def test_where_nothing_comes_of_a_retry_the_branch_is_as_it_was(shelf: Shelf, tmp_path: Path, how: str) -> None:
    gate = Gate()
    script: list[Act] = [CUT] if how == "fails" else [gate, *answers("Late.")]
    async with running(shelf, tmp_path, ScriptedModel(answers("One."), script)) as room:
        session_id, path = await talked(room, "First?")
        await room.engine.handle(Retry(session_id, path[1].id))
        if how == "is stopped":
            await gate.reached.wait()
            await room.engine.handle(StopTurn(session_id))
        await room.engine.turns_settled()
        assert await room.branch(session_id) == path
        back, end = room.events[-2:] if how == "fails" else room.events[-3:-1]
        assert isinstance(back, BranchChanged)
        assert (back.operation, back.leaf_id) == ("give_up", path[1].id)
        assert isinstance(end, TurnFailed if how == "fails" else TurnFinished)
        assert await room.sessions.tree.interrupted() == []


@pytest.mark.req("T-4", "A-5")
async def test_a_model_that_answers_nothing_leaves_the_former_answer_and_that_is_said(
    shelf: Shelf, tmp_path: Path
) -> None:
    model = ScriptedModel(answers("One."), [ends()], [ends(reason="length")], [ends()])
    async with running(shelf, tmp_path, model) as room:
        session_id, path = await talked(room, "First?")
        for _ in range(2):
            await begun(room, Retry(session_id, path[1].id))
        await begun(room, EditMessage(session_id, path[0].id, "Rather?"))
        assert [failed.sentence for failed in room.told(TurnFailed)] == [
            "The model answered nothing; the former answer is back: ask again.",
            "The model reached its output limit before it answered; the former answer is back: raise that limit.",
            "The model answered nothing; your question is kept: ask again.",
        ]
        assert await texts(room, session_id) == ["Rather?"]


@pytest.mark.req("T-4")
async def test_an_edited_question_is_a_sibling_with_an_answer_of_its_own(shelf: Shelf, tmp_path: Path) -> None:
    """Also an older one: what hung on it leaves the branch."""
    model = ScriptedModel(answers("One."), answers("Two."), answers("Other."), answers("First."))
    async with running(shelf, tmp_path, model) as room:
        session_id, path = await talked(room, "First?", "Second?")
        await room.engine.handle(SaveDraft("half a thought", session_id))
        started = await begun(room, EditMessage(session_id, path[2].id, " Second, in other words? ", request=2))
        branch = await room.branch(session_id)
        assert [node.text for node in branch] == ["First?", "One.", "Second, in other words?", "Other."]
        assert (started.node_id, started.parent_id, started.beginning) == (branch[2].id, path[1].id, "edit")
        assert room.told(BranchChanged)[-2].added == (branch[2].id,)
        assert model.requests[2].messages[-1] == UserMessage("Second, in other words?")
        started = await begun(room, EditMessage(session_id, path[0].id, "Something else?"))
        assert (started.parent_id, await texts(room, session_id)) == ("", ["Something else?", "First."])
        assert model.requests[3].messages == (UserMessage("Something else?"),)
        assert await room.sessions.drafts.read(session_id) == "half a thought"
        assert len(await room.sessions.tree.whole(session_id)) == 8


@pytest.mark.req("T-4", "A-1")
async def test_an_edit_without_a_word_or_of_an_answer_is_refused(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."))) as room:
        session_id, path = await talked(room, "First?")
        for node_id, text in ((path[0].id, " \n"), (path[1].id, "Mine?"), ("ffff", "Mine?")):
            await room.engine.handle(EditMessage(session_id, node_id, text))
        await room.engine.handle(EditMessage("ffff", path[0].id, "Mine?"))
        await room.engine.handle(EditMessage("", path[0].id, "Mine?"))
        codes = [failed.code for failed in room.told(CommandFailed)]
        assert codes == ["empty", "refused", "refused", "refused", "refused"]
        assert await room.branch(session_id) == path


@pytest.mark.req("T-4", "T-6", "A-1")
async def test_while_an_answer_streams_nothing_else_begins_in_its_chat(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    async with running(shelf, tmp_path, ScriptedModel(answers("One."), [gate, *answers("Two.")])) as room:
        session_id, path = await talked(room, "First?")
        await room.engine.handle(Retry(session_id, path[1].id))
        await gate.reached.wait()
        for command in (
            Retry(session_id, path[0].id),
            ContinueAnswer(session_id, path[1].id),
            EditMessage(session_id, path[0].id, "Mine?"),
        ):
            await room.engine.handle(command)
        assert [failed.code for failed in room.told(CommandFailed)] == ["answering"] * 3
        gate.opened.set()
        await room.engine.turns_settled()
        assert await texts(room, session_id) == ["First?", "Two."]


@pytest.mark.req("T-6", "U-2")
async def test_while_another_engine_answers_an_edit_is_kept_as_the_draft_and_a_retry_changes_nothing(
    shelf: Shelf, tmp_path: Path
) -> None:
    gate = Gate()
    async with two(shelf, tmp_path, half(gate), ScriptedModel()) as (one, other):
        session_id = await streaming(one, gate)
        [question] = await one.branch(session_id)
        await other.engine.handle(Retry(session_id, question.id))
        assert other.last(CommandFailed).code == "leased"
        assert other.last(CommandFailed).sentence == (
            "Another window or command is answering in this chat; the chat is as it was: wait for that answer or stop "
            "it there."
        )
        assert await other.sessions.drafts.read(session_id) == ""
        await other.engine.handle(EditMessage(session_id, question.id, "In other words?"))
        assert other.last(CommandFailed).code == "leased"
        assert await other.sessions.drafts.read(session_id) == "In other words?"
        gate.opened.set()
        await one.engine.turns_settled()
        assert await texts(one, session_id) == ["What is front matter?", "Front matter has roman numerals."]


@pytest.mark.req("C-13", "T-4")
async def test_what_does_not_fit_the_window_is_not_sent(shelf: Shelf, tmp_path: Path) -> None:
    """An edited question is kept as the draft; after a change of the model a retry leaves all as it is."""
    roomy = ScriptedModel(answers("One."))
    small = ScriptedModel(capacity=Capacity(context_window=4_096, max_output=1_024, window_known=True))
    long = "word " * 3_000
    async with running(shelf, tmp_path / "p", small) as room, running(shelf, tmp_path / "p", roomy, owner="r") as other:
        session_id, path = await talked(other, long)
        await room.engine.handle(Retry(session_id, path[1].id))
        assert room.last(CommandFailed).code == "too_large"
        assert "nothing was sent and the chat is as it was: choose a model" in room.last(CommandFailed).sentence
        await room.engine.handle(EditMessage(session_id, path[0].id, f"{long}?"))
        assert room.last(CommandFailed).code == "too_large"
        assert await room.sessions.drafts.read(session_id) == f"{long}?"
        assert await room.branch(session_id) == path
    assert small.requests == []


@pytest.mark.req("T-6", "U-3")
async def test_a_closing_engine_keeps_an_edit_as_the_draft_and_begins_no_retry(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("One."), answers("Two."))
    async with running(shelf, tmp_path, model) as room:
        first, path = await talked(room, "First?")
        second, other = await talked(room, "Second?")
        model.preparing.reached.clear()
        model.preparing.opened.clear()
        edit = asyncio.create_task(room.engine.handle(EditMessage(first, path[0].id, "In other words?", request=1)))
        retry = asyncio.create_task(room.engine.handle(Retry(second, other[1].id, request=2)))
        await model.preparing.reached.wait()
        await room.engine.close()
        await asyncio.wait([edit, retry])
        told = {failed.request: failed for failed in room.told(CommandFailed)}
        assert {failed.code for failed in told.values()} == {"closing"}
        assert told[1].sentence == "BibGenie is closing; your question is kept as the draft."
        assert told[2].sentence == "BibGenie is closing; the chat is as it was."
        assert await room.sessions.drafts.read(first) == "In other words?"
        assert await room.sessions.drafts.read(second) == ""
        assert (await room.branch(first), await room.branch(second)) == (path, other)


@pytest.mark.req("T-5")
async def test_in_a_damaged_chat_nothing_begins(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."), answers("Two."))) as room:
        session_id, path = await talked(room, "First?", "Second?")
        alter(room, "DROP TRIGGER node_is_append_only", f"UPDATE node SET parts = '7' WHERE id = '{path[0].id}'")
        await room.engine.handle(Retry(session_id, path[3].id))
        await room.engine.handle(EditMessage(session_id, path[2].id, "Mine?"))
        assert [failed.code for failed in room.told(CommandFailed)] == ["damaged", "damaged"]
        assert len(await room.sessions.tree.whole(session_id)) == 4


@pytest.mark.req("T-4", "U-1")
async def test_a_stop_before_a_retry_has_begun_stops_it(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("One."), answers("Two."))
    async with running(shelf, tmp_path, model) as room:
        session_id, path = await talked(room, "First?")
        model.preparing.reached.clear()
        model.preparing.opened.clear()
        retry = asyncio.create_task(room.engine.handle(Retry(session_id, path[1].id)))
        await model.preparing.reached.wait()
        await room.engine.handle(StopTurn(session_id))
        model.preparing.opened.set()
        await retry
        await room.engine.turns_settled()
        assert room.last(TurnFinished).stop_reason == "cancelled"
        assert await room.branch(session_id) == path


@pytest.mark.req("T-4")
async def test_the_rows_of_a_branch_tell_what_else_stands_in_their_place(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("One."), answers("Two."), answers("Three."))
    async with running(shelf, tmp_path, model) as room:
        session_id, path = await talked(room, "First?")
        await begun(room, Retry(session_id, path[1].id))
        second = (await room.branch(session_id))[1]
        await begun(room, Retry(session_id, second.id))
        await room.engine.handle(OpenSession(session_id))
        question, answer = room.last(Branch).rows
        assert (question.version, question.versions, question.previous_id, question.next_id) == (1, 1, "", "")
        assert (answer.version, answer.versions, answer.previous_id, answer.next_id) == (3, 3, second.id, "")


@pytest.mark.req("A-1", "T-6")
async def test_a_question_asked_while_the_last_has_no_answer_is_appended(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel([CUT], answers("Both."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("First?")
        await room.engine.handle(SendMessage("Second?", session_id))
        await room.engine.turns_settled()
        assert await texts(room, session_id) == ["First?", "Second?", "Both."]
