"""Two engines over one profile: no two answer in one chat at a time, and nothing is lost where one fails (T-6)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Container
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.engine.leases import HEARTBEAT_SECONDS
from bibgenie_desktop.models.port import ModelError
from bibgenie_desktop.protocol.commands import OpenSession, Retry, SaveDraft, SendMessage, Shutdown, StopTurn
from bibgenie_desktop.protocol.events import Branch, CommandDone, CommandFailed, TurnFailed, TurnFinished, TurnStarted
from bibgenie_desktop.sessions.parts import TextPart
from bibgenie_desktop.store.encoding import decode_parts
from tests.engine.running import Running, running
from tests.engine.scripted import Gate, ScriptedModel, answers, says
from tests.engine.shelf import Shelf

LEASED = "Another window or command is answering in this chat; your question is kept as the draft"


class Clock:
    """The clock of all leases of a test, moved by it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Heart:
    """Sleeps between heartbeats until the test lets it beat."""

    def __init__(self) -> None:
        self._asleep = asyncio.Event()
        self._woken = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        assert seconds == HEARTBEAT_SECONDS
        self._asleep.set()
        await self._woken.wait()
        self._woken.clear()

    async def beat(self) -> None:
        """One heartbeat, from its beginning to its end."""
        async with asyncio.timeout(60):  # a heart that stopped fails the test
            await self._asleep.wait()
            self._asleep.clear()
            self._woken.set()
            await self._asleep.wait()


@asynccontextmanager
async def two(
    shelf: Shelf,
    folder: Path,
    first: ScriptedModel,
    second: ScriptedModel,
    *,
    now: Callable[[], datetime] | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    gone: Container[str] = (),
) -> AsyncIterator[tuple[Running, Running]]:
    """Two engines over one profile; `sleep` is the first one's, and `gone` what the second knows to have ended."""
    clock = now or Clock()
    async with (
        running(shelf, folder, first, owner="a", now=clock, sleep=sleep) as one,
        running(shelf, folder, second, owner="b", now=clock, gone=gone) as other,
    ):
        yield one, other


def held(room: Running) -> list[tuple[str, str, str]]:
    """Every lease in the file: session, owner, kind."""
    with closing(sqlite3.connect(room.folder / "sessions.sqlite")) as connection:
        return connection.execute("SELECT session_id, owner, kind FROM lease ORDER BY session_id").fetchall()


async def streaming(room: Running, gate: Gate, session_id: str = "") -> str:
    """Ask; the answer has begun, waits at the gate, and is noted in the journal. The chat's id."""
    await room.engine.handle(SendMessage("What is front matter?", session_id))
    await gate.reached.wait()
    for _ in range(2):  # while the first is written, the note is handed in, and the second is written behind that
        await room.engine.handle(SaveDraft("whatever"))
    return room.last(TurnStarted).session_id


def half(gate: Gate) -> ScriptedModel:
    return ScriptedModel([*says("Front matter has "), gate, *answers("roman numerals.")], answers("Once more."))


async def texts(room: Running, session_id: str) -> list[str]:
    return [node.text for node in await room.branch(session_id)]


@pytest.mark.req("T-6")
async def test_a_chat_in_which_another_engine_answers_takes_no_question(shelf: Shelf, tmp_path: Path) -> None:
    """The question is kept as the draft, and can be asked once the other is done."""
    gate = Gate()
    async with two(shelf, tmp_path, half(gate), ScriptedModel(answers("Gladly."))) as (one, other):
        session_id = await streaming(one, gate)
        assert held(one) == [(session_id, "a", "turn")]
        await other.engine.handle(SendMessage("And back matter?", session_id, request=7))
        [refusal] = other.told(CommandFailed)
        assert (refusal.code, refusal.request) == ("leased", 7)
        assert refusal.sentence.startswith(LEASED)
        assert len(refusal.sentence.splitlines()) == 1
        assert await other.sessions.drafts.read(session_id) == "And back matter?"
        assert await texts(other, session_id) == ["What is front matter?"]
        gate.opened.set()
        await one.engine.turns_settled()
        await other.send("And back matter?", session_id)
        assert await texts(one, session_id) == [
            "What is front matter?",
            "Front matter has roman numerals.",
            "And back matter?",
            "Gladly.",
        ]
        assert await other.sessions.drafts.read(session_id) == ""
        assert held(one) == []


@pytest.mark.req("T-6", "U-2")
async def test_a_refused_question_from_a_script_stands_above_the_draft_that_is_there(
    shelf: Shelf, tmp_path: Path
) -> None:
    gate = Gate()
    async with two(shelf, tmp_path, half(gate), ScriptedModel()) as (one, other):
        session_id = await streaming(one, gate)
        await one.sessions.drafts.save(session_id, "half a thought")
        await other.engine.handle(SendMessage("And back matter?", session_id, is_draft=False))
        assert await one.sessions.drafts.read(session_id) == "And back matter?\n\nhalf a thought"
        gate.opened.set()


@pytest.mark.req("T-6")
async def test_two_engines_answer_in_two_chats_at_the_same_time(shelf: Shelf, tmp_path: Path) -> None:
    first, second = Gate(), Gate()
    async with two(shelf, tmp_path, half(first), half(second)) as (one, other):
        chats = [await streaming(one, first), await streaming(other, second)]
        assert held(one) == [(chats[0], "a", "turn"), (chats[1], "b", "turn")]
        first.opened.set()
        second.opened.set()
        for room in (one, other):
            await room.engine.turns_settled()
        assert held(one) == []
    assert [len(room.told(TurnFinished)) for room in (one, other)] == [1, 1]


@pytest.mark.req("T-6")
async def test_a_chat_is_free_before_its_answers_end_is_told(shelf: Shelf, tmp_path: Path) -> None:
    """Whoever waits for the end can ask at once, in any window."""
    gate = Gate()
    async with two(shelf, tmp_path, half(gate), ScriptedModel()) as (one, _):
        await streaming(one, gate)
        gate.opened.set()
        await one.until(TurnFinished)
        assert held(one) == []


@pytest.mark.req("T-6")
async def test_a_stopped_answer_frees_its_chat(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    async with two(shelf, tmp_path, half(gate), ScriptedModel()) as (one, _):
        await one.engine.handle(StopTurn(await streaming(one, gate)))
        assert one.last(TurnFinished).stop_reason == "cancelled"
        assert held(one) == []


@pytest.mark.req("T-6")
async def test_a_closed_engine_frees_its_chats(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    async with two(shelf, tmp_path, half(gate), ScriptedModel(answers("Gladly."))) as (one, other):
        session_id = await streaming(one, gate)
        await one.engine.handle(Shutdown(request=1))
        assert one.last(CommandDone).request == 1
        assert held(other) == []
        await other.send("And back matter?", session_id)
    assert other.last(TurnFinished).stop_reason == "stop"


@pytest.mark.req("T-6", "A-5")
async def test_an_answer_that_fails_frees_its_chat(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel([ModelError("connection", "The model cannot be reached: check the network.")])
    async with running(shelf, tmp_path, model, owner="a") as room:
        await room.send("What is front matter?")
        assert room.last(TurnFailed).code == "connection"
        assert held(room) == []


SMALL = Capacity(context_window=4_096, max_output=1_024, window_known=True)
REFUSALS = {
    "missing_key": (SendMessage("Why?"), ScriptedModel(unready=ModelError("missing_key", "Set a key."))),
    "too_large": (SendMessage("word " * 9_000), ScriptedModel(capacity=SMALL)),
    "refused": (SendMessage("Why?", "ffff"), ScriptedModel()),
}


@pytest.mark.req("T-6")
@pytest.mark.parametrize("code", REFUSALS)
async def test_a_question_that_is_refused_leaves_no_lease(shelf: Shelf, tmp_path: Path, code: str) -> None:
    command, model = REFUSALS[code]
    async with running(shelf, tmp_path, model, owner="a") as room:
        await room.engine.handle(command)
        assert room.last(CommandFailed).code == code
        assert held(room) == []


@pytest.mark.req("T-6")
async def test_a_question_that_is_given_up_before_its_turn_leaves_no_lease(shelf: Shelf, tmp_path: Path) -> None:
    """Ctrl-C while a command still loads its model."""
    model = ScriptedModel(answers("One."))
    async with running(shelf, tmp_path, model, owner="a") as room:
        session_id = await room.send("One?")
        model.preparing.reached.clear()
        model.preparing.opened.clear()
        sending = asyncio.create_task(room.engine.handle(SendMessage("Two?", session_id)))
        await model.preparing.reached.wait()
        assert held(room) == [(session_id, "a", "turn")]
        sending.cancel()
        await asyncio.wait([sending])
        assert held(room) == []


@pytest.mark.req("T-6")
async def test_heartbeats_hold_a_long_answers_chat(shelf: Shelf, tmp_path: Path) -> None:
    gate, clock, heart = Gate(), Clock(), Heart()
    async with two(shelf, tmp_path, half(gate), ScriptedModel(), now=clock, sleep=heart.sleep) as (one, other):
        session_id = await streaming(one, gate)
        for _ in range(3):
            clock.move(29)
            await heart.beat()
        clock.move(29)
        await other.engine.handle(SendMessage("And back matter?", session_id))
        assert other.last(CommandFailed).code == "leased"
        gate.opened.set()


@pytest.mark.req("T-6", "T-1")
async def test_an_engine_that_slept_loses_its_lease_but_not_its_answer(shelf: Shelf, tmp_path: Path) -> None:
    """Another has gone on in the chat meanwhile, behind what was kept: the late answer is stored beside that."""
    gate, clock, heart = Gate(), Clock(), Heart()
    second = ScriptedModel(answers("Back matter follows."))
    async with two(shelf, tmp_path, half(gate), second, now=clock, sleep=heart.sleep) as (one, other):
        session_id = await streaming(one, gate)
        clock.move(31)
        await other.send("And back matter?", session_id)
        gate.opened.set()
        await one.engine.turns_settled()
        finished = one.last(TurnFinished)
        [late] = await one.sessions.nodes([finished.node_id])
        assert late.text == "Front matter has roman numerals."
        assert "stored beside the branch" in finished.sentence
        assert await texts(one, session_id) == [
            "What is front matter?",
            "Front matter has ",
            "And back matter?",
            "Back matter follows.",
        ]
        assert held(one) == []


@pytest.mark.req("T-6")
async def test_an_engine_that_slept_leaves_what_another_answers_to_the_same_question(
    shelf: Shelf, tmp_path: Path
) -> None:
    """Neither the other's branch nor its journal: what is kept of a killed one is its own."""
    asleep, gate, clock, heart = Gate(), Gate(), Clock(), Heart()
    other_model = ScriptedModel([*says("Another says "), gate, *answers("so.")])
    async with two(shelf, tmp_path, half(asleep), other_model, now=clock, sleep=heart.sleep) as (one, other):
        session_id = await streaming(one, asleep)
        clock.move(60)
        await other.engine.handle(OpenSession(session_id))
        _, kept = other.last(Branch).rows
        assert kept.stop_reason == "interrupted"
        await other.engine.handle(Retry(session_id, kept.node_id))
        await gate.reached.wait()
        await other.engine.handle(SaveDraft("whatever"))  # what is noted before it, is noted now
        asleep.opened.set()
        await one.engine.turns_settled()
        assert await texts(other, session_id) == ["What is front matter?"]
        assert "stored beside" in one.last(TurnFinished).sentence
        with closing(sqlite3.connect(tmp_path / "sessions.sqlite")) as connection:
            [row] = connection.execute("SELECT parts FROM stream_journal").fetchall()
        assert decode_parts(row[0]) == (TextPart("Another says "),)
        gate.opened.set()
        await other.engine.turns_settled()
        assert await texts(other, session_id) == ["What is front matter?", "Another says so."]
        await other.engine.handle(OpenSession(session_id))
        assert other.last(Branch).rows[-1].versions == 3


@pytest.mark.req("T-6")
async def test_an_engine_that_slept_takes_its_lease_from_nobody(shelf: Shelf, tmp_path: Path) -> None:
    first, second, clock, heart = Gate(), Gate(), Clock(), Heart()
    async with two(shelf, tmp_path, half(first), half(second), now=clock, sleep=heart.sleep) as (one, other):
        session_id = await streaming(one, first)
        clock.move(31)
        await streaming(other, second, session_id)
        await heart.beat()
        assert held(one) == [(session_id, "b", "turn")]
        first.opened.set()
        await one.engine.turns_settled()
        assert held(one) == [(session_id, "b", "turn")]  # its end frees nothing that is another's
        second.opened.set()
        await other.engine.turns_settled()
        assert held(one) == []


@pytest.mark.req("T-6")
async def test_the_chat_of_an_engine_that_is_dead_is_free_at_once(shelf: Shelf, tmp_path: Path) -> None:
    gate, gone = Gate(), set[str]()
    second = ScriptedModel(answers("Gladly."))
    async with two(shelf, tmp_path, half(gate), second, gone=gone) as (one, other):
        session_id = await streaming(one, gate)
        gone.add("a")
        await other.send("And back matter?", session_id)
        assert (await texts(other, session_id))[-1] == "Gladly."
        gate.opened.set()


@pytest.mark.req("T-6")
async def test_a_lease_that_cannot_be_renewed_ends_no_answer(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program holds the file for a while."""
    monkeypatch.setattr("bibgenie_desktop.store.database.BUSY_SECONDS", 0)
    gate, heart = Gate(), Heart()
    async with running(shelf, tmp_path, half(gate), owner="a", sleep=heart.sleep) as room:
        session_id = await streaming(room, gate)
        with closing(sqlite3.connect(tmp_path / "sessions.sqlite")) as other:
            other.execute("BEGIN IMMEDIATE")
            await heart.beat()
            other.rollback()
        await heart.beat()
        gate.opened.set()
        await room.engine.turns_settled()
        assert room.last(TurnFinished).stop_reason == "stop"
        assert (await texts(room, session_id))[-1] == "Front matter has roman numerals."
        assert held(room) == []


@pytest.mark.req("T-6")
async def test_a_lease_that_cannot_be_given_back_hides_no_answer(shelf: Shelf, tmp_path: Path) -> None:
    """Another program makes the file refuse it, as a full disk would; it expires by itself."""
    gate = Gate()
    async with running(shelf, tmp_path, half(gate), owner="a") as room:
        session_id = await streaming(room, gate)
        with closing(sqlite3.connect(tmp_path / "sessions.sqlite")) as other:
            other.execute("CREATE TRIGGER stuck BEFORE DELETE ON lease BEGIN SELECT RAISE(ABORT, 'full'); END")
            other.commit()
        gate.opened.set()
        await room.engine.turns_settled()
        assert room.last(TurnFinished).stop_reason == "stop"
        assert held(room) == [(session_id, "a", "turn")]


@pytest.mark.req("T-6")
async def test_of_two_engines_that_are_asked_at_once_one_answers(shelf: Shelf, tmp_path: Path) -> None:
    models = ScriptedModel(answers("One."), answers("Mine.")), ScriptedModel(answers("Yours."))
    async with two(shelf, tmp_path, *models) as (one, other):
        session_id = await one.send("One?")
        await asyncio.gather(*(room.engine.handle(SendMessage("Two?", session_id)) for room in (one, other)))
        for room in (one, other):
            await room.engine.turns_settled()
        branch = await texts(one, session_id)
    assert branch[:3] == ["One?", "One.", "Two?"]
    # The later one is refused, or asks after the other is done; never do both answer one question.
    refused = [failed.code for room in (one, other) for failed in room.told(CommandFailed)]
    assert (len(branch), refused) in [(4, ["leased"]), (6, [])]
