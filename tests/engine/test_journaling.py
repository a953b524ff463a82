"""What is written down of an answer while it streams: soon, not too often, and never in the stream's way (T-6)."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bibgenie_desktop.engine.journaling import Journaling
from bibgenie_desktop.engine.storage import Place
from bibgenie_desktop.protocol.commands import SaveDraft, SendMessage
from bibgenie_desktop.protocol.events import AnswerText, ToolStarted, TurnFinished, TurnStarted
from bibgenie_desktop.sessions.parts import Part, ReasoningPart, TextPart, ToolCallPart
from bibgenie_desktop.store.encoding import decode_parts
from tests.engine.running import Running, running
from tests.engine.scripted import Gate, ScriptedModel, answers, call, ends, says, thinks
from tests.engine.shelf import Shelf, stock_stalling
from tests.engine.test_engine import alter

QUOTED = "“The front matter carries roman numerals” "
TOKEN = "[[cite:PDFLABL2@1]]"


class Beat:
    """Pauses between notes until the test lets the next one be made."""

    def __init__(self) -> None:
        self.pausing = asyncio.Event()
        self._over = asyncio.Event()
        self.pauses = 0

    async def pause(self) -> None:
        self.pauses += 1
        self.pausing.set()
        await self._over.wait()
        self._over.clear()

    async def noted(self) -> None:
        """Wait until a note was made and the pause behind it has begun."""
        async with asyncio.timeout(60):  # a journal that stopped fails the test
            await self.pausing.wait()

    def go_on(self) -> None:
        self.pausing.clear()
        self._over.set()


def journal(room: Running) -> list[Part]:
    """The parts that the only answer in the journal has there."""
    with closing(sqlite3.connect(room.folder / "sessions.sqlite")) as connection:
        [row] = connection.execute("SELECT parts FROM stream_journal").fetchall()
    return list(decode_parts(row[0]))


def is_empty(room: Running) -> bool:
    with closing(sqlite3.connect(room.folder / "sessions.sqlite")) as connection:
        return not connection.execute("SELECT * FROM stream_journal").fetchall()


@pytest.mark.req("T-6")
async def test_the_first_words_are_noted_at_once_and_later_ones_after_the_pause(shelf: Shelf, tmp_path: Path) -> None:
    first, second, beat = Gate(), Gate(), Beat()
    model = ScriptedModel([*says("Front "), first, *says("matter ", "has "), second, *answers("numerals.")])
    async with running(shelf, tmp_path, model, journal_pause=beat.pause) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await first.reached.wait()
        await beat.noted()
        assert journal(room) == [TextPart("Front ")]
        first.opened.set()
        await second.reached.wait()
        await room.engine.handle(SaveDraft("whatever"))  # what is written before it, is written now
        assert journal(room) == [TextPart("Front ")]
        beat.go_on()
        await beat.noted()
        assert journal(room) == [TextPart("Front matter has ")]
        assert beat.pauses == 2
        second.opened.set()
        await room.engine.turns_settled()
        assert is_empty(room)
        assert room.last(TurnFinished).stop_reason == "stop"


@pytest.mark.req("T-6")
async def test_nothing_is_noted_where_nothing_changed(shelf: Shelf, tmp_path: Path) -> None:
    gate, beat = Gate(), Beat()
    model = ScriptedModel([*says("Front "), gate, *answers("matter.")])
    async with running(shelf, tmp_path, model, journal_pause=beat.pause) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await gate.reached.wait()
        await beat.noted()
        beat.go_on()
        for _ in range(5):
            await room.engine.handle(SaveDraft("whatever"))
        assert beat.pauses == 1
        gate.opened.set()
        await room.engine.turns_settled()


@pytest.mark.req("T-6", "Z-3")
async def test_thoughts_calls_and_checked_citations_are_noted_with_the_text(tmp_path: Path, shelf: Shelf) -> None:
    gate, beat = Gate(), Beat()
    read = call("read_pages", {"key": "PDFLABL2", "page_label": "ii"}, "call_read")
    model = ScriptedModel([ends(read)], [thinks("Let me see."), *says(QUOTED, TOKEN, " so"), gate, *answers(".")])
    async with running(shelf, tmp_path, model, journal_pause=beat.pause) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await gate.reached.wait()
        for _ in range(2):  # the first note may be older than the last words
            await beat.noted()
            beat.go_on()
            if len(journal(room)) == 3:
                break
        tool, thoughts, text = journal(room)
        gate.opened.set()
        await room.engine.turns_settled()
        answer = (await room.branch(room.last(TurnStarted).session_id))[-1]
    assert isinstance(tool, ToolCallPart)
    assert isinstance(text, TextPart)
    assert (tool, thoughts) == (answer.parts[0], ReasoningPart("Let me see."))
    assert text.text == f"{QUOTED}{TOKEN} so"
    assert [citation.state for citation in text.citations] == ["verified"]


@pytest.mark.req("T-6")
async def test_a_call_that_runs_is_noted_as_pending(tmp_path: Path) -> None:
    stock_stalling(tmp_path / "zotero")
    beat = Beat()
    stalled = call("read_pages", {"key": "STALLPD2", "page_index": 1}, "call_stalled")
    model = ScriptedModel([ends(stalled)], answers("Never."))
    async with running(Shelf(tmp_path / "zotero"), tmp_path, model, settled=False, journal_pause=beat.pause) as room:
        await room.engine.handle(SendMessage("What does it say?"))
        await room.until(ToolStarted)
        await beat.noted()
        [tool] = journal(room)
        assert isinstance(tool, ToolCallPart)
        assert (tool.call_id, tool.state) == ("call_stalled", "pending")


@pytest.mark.req("T-6")
async def test_thoughts_alone_are_not_noted(shelf: Shelf, tmp_path: Path) -> None:
    """An answer of nothing else is not stored either."""
    gate, beat = Gate(), Beat()
    model = ScriptedModel([thinks("Let me see."), gate, *answers("So.")])
    async with running(shelf, tmp_path, model, journal_pause=beat.pause) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await gate.reached.wait()
        await room.engine.handle(SaveDraft("whatever"))
        assert (journal(room), beat.pauses) == ([], 0)
        gate.opened.set()
        await room.engine.turns_settled()


@pytest.mark.req("T-6", "A-1")
async def test_a_file_that_takes_no_note_costs_nothing_of_the_answer(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([gate, *says("Front "), *answers("matter.")])
    async with running(shelf, tmp_path, model, journal_pause=lambda: asyncio.sleep(0)) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await gate.reached.wait()
        alter(room, "CREATE TRIGGER stuck BEFORE UPDATE ON stream_journal BEGIN SELECT RAISE(ABORT, 'full'); END")
        gate.opened.set()
        await room.engine.turns_settled()
        assert (await room.branch(room.last(TurnStarted).session_id))[-1].text == "Front matter."
        assert room.last(TurnFinished).stop_reason == "stop"


@pytest.mark.req("T-6")
async def test_the_stream_does_not_wait_for_a_file_that_is_busy(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([*says("Front "), gate, *says("matter "), *answers("it is.")])
    async with running(shelf, tmp_path, model, journal_pause=lambda: asyncio.sleep(0)) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await gate.reached.wait()
        with closing(sqlite3.connect(tmp_path / "sessions.sqlite")) as other:
            other.execute("BEGIN IMMEDIATE")
            gate.opened.set()
            while len(room.told(AnswerText)) < 3:
                room.news.clear()
                await room.news.wait()
            assert room.told(TurnFinished) == []
            other.rollback()
        await room.engine.turns_settled()
        assert room.last(TurnFinished).stop_reason == "stop"


@pytest.mark.req("T-6")
@pytest.mark.expect_log("the journal of an answer ended by a fault of the program")
async def test_a_journal_that_ends_by_a_fault_costs_nothing_of_the_answer(shelf: Shelf, tmp_path: Path) -> None:
    gate, reached = Gate(), asyncio.Event()

    async def broken() -> None:
        reached.set()
        raise RuntimeError("a fault")

    model = ScriptedModel([*says("Front "), gate, *answers("matter.")])
    async with running(shelf, tmp_path, model, journal_pause=broken) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await reached.wait()
        gate.opened.set()
        await room.engine.turns_settled()
        assert (await room.branch(room.last(TurnStarted).session_id))[-1].text == "Front matter."
        assert is_empty(room)


@pytest.mark.req("T-6")
async def test_an_ended_journal_notes_nothing_more(shelf: Shelf, tmp_path: Path) -> None:
    """A late note would write over the journal of the answer that begins next to the same question."""
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        begun = await room.sessions.append_user("", [TextPart("Why?")], title="Why?", model="scripted")
        changed, beat = asyncio.Event(), Beat()
        question = begun.added[0]
        noting = Journaling(
            room.sessions.journal,
            Place(begun.session_id, question, begun.answer),
            lambda: [TextPart("Half")],
            changed,
            beat.pause,
        )
        changed.set()
        await beat.noted()
        await noting.end()
        await room.sessions.tree.retry(begun.session_id, question, model="scripted")
        changed.set()
        beat.go_on()
        await room.engine.handle(SaveDraft("whatever"))
        assert journal(room) == []
        await room.sessions.tree.give_up(begun.session_id, question)
