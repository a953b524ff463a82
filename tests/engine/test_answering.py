"""From a question to its stored answer: what is lost nowhere, whenever the engine ends, sleeps or is shared."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bibgenie_desktop.protocol.messages import (
    CommandFailed,
    DraftAdded,
    OpenSession,
    SaveDraft,
    SendMessage,
    StopTurn,
    TurnFinished,
    TurnStarted,
)
from tests.engine.running import Running, running
from tests.engine.scripted import Gate, ScriptedModel, answers, says
from tests.engine.shelf import Shelf
from tests.engine.test_leases import Clock, Heart, two


def slow(*steps: object) -> ScriptedModel:
    """A model that is prepared when its gate is opened."""
    model = ScriptedModel(*steps)  # type: ignore[arg-type]
    model.preparing.opened.clear()
    return model


async def on_its_way(room: Running, model: ScriptedModel, command: SendMessage) -> asyncio.Task[None]:
    """A question that waits for its model."""
    sending = asyncio.create_task(room.engine.handle(command))
    await model.preparing.reached.wait()
    return sending


@pytest.mark.req("T-6", "U-3")
@pytest.mark.parametrize("known", ["", "half of", "half of it, and all"])
async def test_a_question_that_waits_for_its_model_is_the_draft_once_the_engine_closes(
    shelf: Shelf, tmp_path: Path, known: str
) -> None:
    """At once, and before whatever else has to be closed: a window kills an engine that lingers."""
    model = slow()
    async with running(shelf, tmp_path, model) as room:
        await room.engine.handle(SaveDraft(known))
        sending = await on_its_way(room, model, SendMessage("half of it, and all", request=5))
        await room.engine.close()
        await sending
        assert await room.sessions.drafts.read("") == "half of it, and all"
        refusal = room.last(CommandFailed)
        assert (refusal.code, refusal.request) == ("closing", 5)
        assert room.told(TurnStarted) == []


@pytest.mark.req("T-6", "U-3")
async def test_a_question_given_up_while_its_model_is_loaded_is_the_draft(shelf: Shelf, tmp_path: Path) -> None:
    """Ctrl-C in a command."""
    model = slow()
    async with running(shelf, tmp_path, model) as room:
        sending = await on_its_way(room, model, SendMessage("Why?", is_draft=False))
        sending.cancel()
        await asyncio.wait([sending])
        assert await room.sessions.drafts.read("") == "Why?"


@pytest.mark.req("T-6", "S-3")
async def test_a_question_of_an_engine_that_slept_is_not_put_into_anothers_branch(shelf: Shelf, tmp_path: Path) -> None:
    """It stood still between taking the lease and storing the question, and another answers in the chat meanwhile."""
    stalled, gate, clock, heart = ScriptedModel(answers("One.")), Gate(), Clock(), Heart()
    busy = ScriptedModel([*says("Half "), gate, *answers("whole.")])
    async with two(shelf, tmp_path, stalled, busy, now=clock, sleep=heart.sleep) as (one, other):
        session_id = await one.send("First?")
        stalled.preparing.reached.clear()
        stalled.preparing.opened.clear()
        sending = await on_its_way(one, stalled, SendMessage("Mine?", session_id))
        clock.move(31)
        theirs = asyncio.create_task(other.engine.handle(SendMessage("Theirs?", session_id)))
        await gate.reached.wait()
        await theirs
        stalled.preparing.opened.set()
        await sending
        assert one.last(CommandFailed).code == "leased"
        assert await one.sessions.drafts.read(session_id) == "Mine?"
        gate.opened.set()
        await other.engine.turns_settled()
        texts = [node.text for node in await one.branch(session_id)]
        assert texts == ["First?", "One.", "Theirs?", "Half whole."]
        assert len(stalled.requests) == 1


@pytest.mark.req("T-6", "U-1")
async def test_two_new_chats_begin_at_the_same_time_and_one_stop_stops_what_is_meant(
    shelf: Shelf, tmp_path: Path
) -> None:
    model = slow(answers("One."), answers("Two."))
    async with running(shelf, tmp_path, model) as room:
        first = await on_its_way(room, model, SendMessage("One?"))
        second = asyncio.create_task(room.engine.handle(SendMessage("Two?")))
        model.preparing.opened.set()
        await asyncio.wait([first, second])
        await room.engine.turns_settled()
        assert room.told(CommandFailed) == []
        assert {started.title for started in room.told(TurnStarted)} == {"One?", "Two?"}


@pytest.mark.req("A-1")
async def test_a_stop_before_a_new_chat_exists_stops_its_answer(shelf: Shelf, tmp_path: Path) -> None:
    model = slow(answers("One."))
    async with running(shelf, tmp_path, model) as room:
        sending = await on_its_way(room, model, SendMessage("One?"))
        await room.engine.handle(StopTurn(""))
        model.preparing.opened.set()
        await sending
        await room.engine.turns_settled()
        assert room.last(TurnFinished).stop_reason == "cancelled"


@pytest.mark.req("U-3", "T-6")
async def test_what_a_command_puts_into_a_draft_outlives_the_windows_saving_and_sending(
    shelf: Shelf, tmp_path: Path
) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."), answers("Two."))) as room:
        session_id = await room.send("First?")
        await room.engine.handle(OpenSession(session_id))
        await room.engine.handle(SaveDraft("mine", session_id))
        await room.sessions.drafts.put_above(session_id, "From a command?")
        await room.engine.handle(SaveDraft("mine, longer", session_id))
        [added] = room.told(DraftAdded)
        assert (added.session_id, added.text) == (session_id, "From a command?")
        assert await room.sessions.drafts.read(session_id) == "From a command?\n\nmine, longer"
        # The window shows both now; the next one comes while it sends.
        await room.sessions.drafts.put_above(session_id, "And another?")
        await room.engine.handle(SendMessage("From a command?\n\nmine, longer", session_id))
        await room.engine.turns_settled()
        assert await room.sessions.drafts.read(session_id) == "And another?"
        assert room.last(DraftAdded).text == "And another?"


@pytest.mark.req("U-3")
async def test_a_draft_that_nobody_else_touched_is_told_to_nobody(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."))) as room:
        for text in ("h", "half", "", "whole"):
            await room.engine.handle(SaveDraft(text))
        await room.send("whole")
        assert room.told(DraftAdded) == []
        assert await room.sessions.drafts.read("") == ""
