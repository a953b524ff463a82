"""From a question to its stored answer: what is lost nowhere, whenever the engine ends, sleeps or is shared."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime
from pathlib import Path

import pytest

from bibgenie_desktop.models.port import ModelError
from bibgenie_desktop.protocol.commands import EditMessage, OpenSession, SaveDraft, SendMessage, StopTurn
from bibgenie_desktop.protocol.events import Branch, CommandFailed, DraftAdded, TurnFinished, TurnStarted
from tests.engine.running import Running, running
from tests.engine.scripted import Gate, ScriptedModel, answers, says
from tests.engine.shelf import Shelf
from tests.engine.test_leases import Clock, Heart, held, streaming, two
from tests.store.histories import opened


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


async def stored_draft(folder: Path, session_id: str) -> str:
    """What a program finds that is started after all others were killed now."""
    async with opened(folder / "sessions.sqlite") as store:
        return await store.drafts.read(session_id)


@pytest.mark.req("T-6", "U-3")
@pytest.mark.parametrize("saved", ["", "Seco", "Second?", "Second? Or not?"])
@pytest.mark.parametrize("since", ["", "next words", "Second?"])
@pytest.mark.parametrize("others", ["", "From a command?"])
async def test_a_question_and_what_is_typed_while_it_waits_are_each_in_one_place_at_every_moment(
    shelf: Shelf, tmp_path: Path, saved: str, since: str, others: str
) -> None:
    """What the window knew of the draft is what it knew when it sent the question (P11)."""
    model = ScriptedModel(answers("One."), answers("Two."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("First?")
        model.preparing.reached.clear()
        model.preparing.opened.clear()
        await room.engine.handle(OpenSession(session_id))
        await room.engine.handle(SaveDraft(saved, session_id))
        sending = await on_its_way(room, model, SendMessage("Second?", session_id))
        assert await stored_draft(tmp_path, session_id) == "Second?"
        await room.engine.handle(SaveDraft("next", session_id))
        if others:
            await room.sessions.drafts.put_above(session_id, others)
        await room.engine.handle(SaveDraft(since, session_id))
        assert await stored_draft(tmp_path, session_id) == "\n\n".join(filter(None, (others, "Second?", since)))
        model.preparing.opened.set()
        await sending
        assert [node.text for node in await room.branch(session_id)][2] == "Second?"
        assert await stored_draft(tmp_path, session_id) == "\n\n".join(filter(None, (others, since)))
        assert [added.text for added in room.told(DraftAdded)] == ([others] if others else [])


@pytest.mark.req("T-6", "U-3")
async def test_a_draft_that_is_saved_while_a_question_is_stored_does_not_hold_that_question_as_well(
    shelf: Shelf, tmp_path: Path
) -> None:
    clock = StuckClock()
    async with running(shelf, tmp_path, ScriptedModel(answers("One."), answers("Two.")), now=clock) as room:
        session_id = await room.send("First?")
        clock.armed = True
        asking = asyncio.create_task(room.engine.handle(SendMessage("Second?", session_id)))
        await clock.entered.wait()
        saving = asyncio.create_task(room.engine.handle(SaveDraft("next", session_id)))
        await asyncio.sleep(0)
        clock.go_on.set()
        await asyncio.wait([asking, saving])
        assert await room.sessions.drafts.read(session_id) == "next"


@pytest.mark.req("T-6", "U-2")
async def test_a_question_that_waited_in_the_draft_stays_there_until_it_is_stored(shelf: Shelf, tmp_path: Path) -> None:
    """The window sends it once an answer has ended, and saves the draft without it."""
    model = slow(answers("One."))
    async with running(shelf, tmp_path, model) as room:
        await room.engine.handle(SaveDraft("It waited?\n\ntyped"))
        sending = await on_its_way(room, model, SendMessage("It waited?", is_draft=False))
        await room.engine.handle(SaveDraft("typed on"))
        assert await stored_draft(tmp_path, "") == "It waited?\n\ntyped on"
        model.preparing.opened.set()
        await sending
        assert await stored_draft(tmp_path, "") == "typed on"
        assert room.told(DraftAdded) == []


@pytest.mark.req("U-3")
async def test_a_question_on_its_way_is_no_draft_for_the_window_that_sent_it(shelf: Shelf, tmp_path: Path) -> None:
    model = slow(answers("One."))
    async with running(shelf, tmp_path, model) as room:
        sending = await on_its_way(room, model, SendMessage("One?"))
        await room.engine.handle(SaveDraft("next"))
        await room.engine.handle(OpenSession(""))
        assert room.last(Branch).draft == "next"
        model.preparing.opened.set()
        await sending


@pytest.mark.req("U-3")
async def test_drafts_are_saved_in_the_order_in_which_the_window_wrote_them(shelf: Shelf, tmp_path: Path) -> None:
    """Also where the file is slow: what the window itself wrote before is not kept as words of others."""
    async with running(shelf, tmp_path, ScriptedModel(answers("One."))) as room:
        texts = ("typed more", "typed", "else", "typed")
        await asyncio.gather(*(room.engine.handle(SaveDraft(text)) for text in texts))
        assert await room.sessions.drafts.read("") == "typed"
        await asyncio.gather(room.engine.handle(SaveDraft("One? Or two?")), room.engine.handle(SendMessage("One?")))
        assert await room.sessions.drafts.read("") == ""
        assert room.told(DraftAdded) == []


@pytest.mark.req("U-2", "U-3")
async def test_a_question_that_no_model_can_answer_is_left_to_the_window_which_puts_it_back(
    shelf: Shelf, tmp_path: Path
) -> None:
    model = ScriptedModel(unready=ModelError("missing_key", "Set a key."))
    async with running(shelf, tmp_path, model) as room:
        await room.engine.handle(SendMessage("One?"))
        assert await room.sessions.drafts.read("") == "One?"
        await room.engine.handle(SaveDraft("One?\n\nnext"))
        await room.engine.handle(SaveDraft("next"))
        assert await room.sessions.drafts.read("") == "next"
        assert room.told(DraftAdded) == []


class StuckClock(Clock):
    """A clock of leases that, once it is `armed`, halts the transaction in which it is read for the second time."""

    def __init__(self) -> None:
        super().__init__()
        self.armed = False
        self.entered = asyncio.Event()
        self.go_on = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._reads = 0

    def __call__(self) -> datetime:
        self._reads += self.armed
        if self._reads == 2:
            self._loop.call_soon_threadsafe(self.entered.set)
            self.go_on.wait(60)
        return super().__call__()


@pytest.mark.req("T-6", "U-3")
@pytest.mark.parametrize("end", ["the engine closes", "it is given up"])
async def test_a_question_that_is_being_stored_meanwhile_is_in_one_place(
    shelf: Shelf, tmp_path: Path, end: str
) -> None:
    """In the chat, and not in the draft as well; the chat is free."""
    clock = StuckClock()
    async with running(shelf, tmp_path, ScriptedModel(answers("One.")), now=clock) as room:
        session_id = await room.send("First?")
        clock.armed = True
        asking = asyncio.create_task(room.engine.handle(SendMessage("Second?", session_id, request=5)))
        await clock.entered.wait()
        if end == "the engine closes":
            ending = asyncio.create_task(room.engine.close())
            await asyncio.sleep(0)
        else:
            asking.cancel()
            ending = asking
        clock.go_on.set()
        await asyncio.wait([asking, ending])
        assert [node.text for node in await room.branch(session_id)] == ["First?", "One.", "Second?"]
        assert await room.sessions.drafts.read(session_id) == ""
        assert (await room.sessions.tree.interrupted(), held(room)) == ([], [])
        if end == "the engine closes":
            refusal = room.last(CommandFailed)
            assert (refusal.code, refusal.request) == ("closing", 5)
            assert "your question is stored" in refusal.sentence
        else:
            assert asking.cancelled()


@pytest.mark.req("T-4", "U-3")
async def test_an_edited_question_that_is_refused_stands_above_the_draft_and_the_window_is_told(
    shelf: Shelf, tmp_path: Path
) -> None:
    """At once, and once: however often it is tried."""
    gate = Gate()
    busy = ScriptedModel([*says("Half "), gate, *answers("whole.")])
    async with two(shelf, tmp_path, busy, ScriptedModel()) as (one, other):
        session_id = await streaming(one, gate)
        [question] = await one.branch(session_id)
        await other.engine.handle(OpenSession(session_id))
        await other.engine.handle(SaveDraft("mine", session_id))
        await other.sessions.drafts.put_above(session_id, "From a command?")
        for _ in range(2):
            await other.engine.handle(EditMessage(session_id, question.id, "Rather?"))
        assert [failed.code for failed in other.told(CommandFailed)] == ["leased", "leased"]
        assert [(added.session_id, added.text) for added in other.told(DraftAdded)] == [
            (session_id, "Rather?\n\nFrom a command?")
        ]
        await other.engine.handle(SaveDraft("Rather?\n\nFrom a command?\n\nmine, longer", session_id))
        assert await other.sessions.drafts.read(session_id) == "Rather?\n\nFrom a command?\n\nmine, longer"
        assert len(other.told(DraftAdded)) == 1
        gate.opened.set()
        await one.engine.turns_settled()
