"""The engine's commands: what is refused, what is kept, and how it closes (A-1, C-13, T-5, T-6)."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.models.port import ModelError
from bibgenie_desktop.protocol.codec import to_json
from bibgenie_desktop.protocol.commands import (
    VERSION,
    FetchBodies,
    Hello,
    ListSessions,
    OpenSession,
    SaveDraft,
    SendMessage,
    Shutdown,
    StopTurn,
)
from bibgenie_desktop.protocol.events import (
    Branch,
    CommandDone,
    CommandFailed,
    Event,
    LibraryProgress,
    NodeBody,
    SessionList,
    ToolFinished,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Welcome,
)
from bibgenie_desktop.sessions.parts import TextPart, ToolCallPart
from bibgenie_desktop.transport.served import MESSAGE_LIMIT
from tests.engine.running import Running, running
from tests.engine.scripted import Gate, ScriptedModel, answers, call, ends, says, thinks
from tests.engine.shelf import Shelf


def failure(room: Running) -> CommandFailed:
    """The one refusal that was told."""
    [failed] = room.told(CommandFailed)
    return failed


def alter(room: Running, *statements: str) -> None:
    """What another program does to the history's file."""
    connection = sqlite3.connect(room.folder / "sessions.sqlite", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def sizes(events: Sequence[Event]) -> list[int]:
    """Bytes of each event on the pipe."""
    return [len(json.dumps(to_json(event), ensure_ascii=False).encode()) + 1 for event in events]


@pytest.mark.req("A-1")
@pytest.mark.parametrize("text", ["", "  \n\t ", "\u2003"])
async def test_an_empty_question_is_refused(shelf: Shelf, tmp_path: Path, text: str) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        await room.engine.handle(SendMessage(text, request=3))
        assert (failure(room).code, failure(room).request) == ("empty", 3)
        assert await room.sessions.sessions() == []


@pytest.mark.req("A-5")
async def test_a_model_that_cannot_be_prepared_is_told_and_nothing_is_stored(shelf: Shelf, tmp_path: Path) -> None:
    unready = ModelError("missing_key", "The key is missing: set EXAMPLE_API_KEY.")
    async with running(shelf, tmp_path, ScriptedModel(unready=unready)) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        assert (failure(room).code, failure(room).sentence) == ("missing_key", str(unready))
        assert await room.sessions.sessions() == []


@pytest.mark.req("A-1")
async def test_a_second_question_while_an_answer_streams_is_refused(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel(answers("One."), [gate, *answers("Two.")])
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("One?")
        await room.engine.handle(SendMessage("Two?", session_id))
        await gate.reached.wait()
        await room.engine.handle(SendMessage("Three?", session_id, request=9))
        assert (failure(room).code, failure(room).request) == ("answering", 9)
        gate.opened.set()
        await room.engine.turns_settled()
        texts = [node.text for node in await room.branch(session_id)]
    assert texts == ["One?", "One.", "Two?", "Two."]


@pytest.mark.req("A-1")
async def test_of_two_questions_at_once_one_is_asked(shelf: Shelf, tmp_path: Path) -> None:
    """The second comes while the first still waits for the model to be prepared."""
    model = ScriptedModel(answers("One."), answers("Two."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("One?")
        await asyncio.gather(
            room.engine.handle(SendMessage("Two?", session_id)), room.engine.handle(SendMessage("Three?", session_id))
        )
        await room.engine.turns_settled()
        texts = [node.text for node in await room.branch(session_id)]
    assert failure(room).code == "answering"
    assert texts == ["One?", "One.", "Two?", "Two."]


@pytest.mark.req("A-1")
async def test_answers_of_two_chats_stream_at_the_same_time(shelf: Shelf, tmp_path: Path) -> None:
    first, second = Gate(), Gate()
    model = ScriptedModel([*says("A"), first, *answers("a")], [*says("B"), second, *answers("b")])
    async with running(shelf, tmp_path, model) as room:
        await room.engine.handle(SendMessage("First?"))
        await first.reached.wait()
        await room.engine.handle(SendMessage("Second?"))
        await second.reached.wait()
        second.opened.set()
        await room.until(TurnFinished)
        first.opened.set()
        await room.engine.turns_settled()
        one, two = [started.session_id for started in room.told(TurnStarted)]
        texts = [(await room.branch(session_id))[-1].text for session_id in (one, two)]
    assert [finished.session_id for finished in room.told(TurnFinished)] == [two, one]
    assert texts == ["Aa", "Bb"]


@pytest.mark.req("C-13")
async def test_a_request_that_is_too_large_is_not_sent_and_becomes_the_draft(shelf: Shelf, tmp_path: Path) -> None:
    small = Capacity(context_window=4_096, max_output=1_024, window_known=True)
    model = ScriptedModel(answers("One."), capacity=small)
    long = "word " * 3_000
    async with running(shelf, tmp_path, model) as room:
        await room.engine.handle(SendMessage(long, request=4))
        assert (failure(room).code, failure(room).request) == ("too_large", 4)
        assert "tokens larger than the model takes; nothing was sent" in failure(room).sentence
        assert await room.sessions.drafts.read("") == long.strip()
        assert await room.sessions.sessions() == []
        session_id = await room.send("One?")
        await room.engine.handle(SendMessage(long, session_id))
        assert len(await room.branch(session_id)) == 2
        assert await room.sessions.drafts.read(session_id) == long.strip()
    assert len(model.requests) == 1


@pytest.mark.req("T-6")
async def test_a_closed_engine_keeps_the_answer_that_streamed(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([*says("Front matter has "), gate, *answers("roman numerals.")])
    async with running(shelf, tmp_path, model) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await gate.reached.wait()
        await room.engine.close()
        session_id = room.last(TurnStarted).session_id
        _, answer = await room.branch(session_id)
        assert (answer.text, answer.stop_reason) == ("Front matter has ", "cancelled")
        assert room.last(TurnFinished).node_id == answer.id
        assert model.closed
        await room.engine.close()


@pytest.mark.req("T-6")
async def test_a_question_that_meets_a_closing_engine_becomes_the_draft(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("Late."))
    model.preparing.opened.clear()
    async with running(shelf, tmp_path, model) as room:
        sending = asyncio.create_task(room.engine.handle(SendMessage("What is front matter?")))
        await model.preparing.reached.wait()
        await room.engine.handle(Shutdown(request=8))
        assert room.last(CommandDone).request == 8
        model.preparing.opened.set()
        await sending
        assert failure(room).code == "closing"
        assert await room.sessions.drafts.read("") == "What is front matter?"
        assert await room.sessions.sessions() == []
        await room.engine.handle(ListSessions(request=10))
        assert room.last(CommandFailed).code == "closing"
    assert not model.requests


@pytest.mark.req("T-6", "A-5")
async def test_an_answer_that_cannot_be_stored_is_one_sentence(shelf: Shelf, tmp_path: Path) -> None:
    """Another program makes the file refuse answers, as a full disk or a lock would."""
    gate = Gate()
    model = ScriptedModel([gate, *answers("Here.")], answers("There."))
    async with running(shelf, tmp_path, model) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await gate.reached.wait()
        alter(
            room,
            "CREATE TRIGGER stuck BEFORE INSERT ON node WHEN NEW.role = 'assistant' "
            "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
        )
        gate.opened.set()
        await room.engine.turns_settled()
        session_id = room.last(TurnStarted).session_id
        [question] = await room.branch(session_id)
        failed = room.last(TurnFailed)
        assert (failed.code, failed.node_id, question.role) == ("unsaved", "", "user")
        assert failed.sentence.startswith("The history (")
        assert "nothing was changed" in failed.sentence
        assert failed.sentence.endswith("The answer is kept aside and comes into the chat when that is opened again.")
        alter(room, "DROP TRIGGER stuck")
        await room.send("Again?", session_id)
        assert (await room.branch(session_id))[-1].text == "There."


@pytest.mark.req("A-5", "Z-3")
async def test_an_index_that_fails_costs_neither_the_answer_nor_its_place_in_the_tree(
    shelf: Shelf, tmp_path: Path
) -> None:
    """Another program breaks the index, which is only a cache."""
    look = [call("search_library", {"query": "tides"}, "a"), call("get_item", {"key": "OKAFOR22"}, "b")]
    model = ScriptedModel([ends(*look)], answers("Roman [[cite:PDFLABL2@1]]."))
    async with running(shelf, tmp_path, model) as room:
        connection = sqlite3.connect(room.folder / "library.sqlite", isolation_level=None)
        for table in ("passage_fts", "attachment", "item"):
            connection.execute(f"ALTER TABLE {table} RENAME TO lost_{table}")
        connection.close()
        _, answer = await room.branch(await room.send("What is front matter?"))
        states = [event.state for event in room.told(ToolFinished)]
    assert states == ["error", "error"]
    text = answer.parts[-1]
    assert isinstance(text, TextPart)
    assert [(each.state, each.reason) for each in text.citations] == [("unverified", "the index cannot be read now")]
    assert answer.stop_reason == "stop"


@pytest.mark.req("T-5")
async def test_a_damaged_chat_is_shown_as_far_as_it_goes_and_takes_no_question(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."), answers("Two."))) as room:
        session_id = await room.send("One?")
        await room.send("Two?", session_id)
        nodes = await room.branch(session_id)
        alter(
            room,
            "DROP TRIGGER node_is_append_only",
            f"UPDATE node SET parts = '[{{\"type\": \"odd\"}}]' WHERE id = '{nodes[1].id}'",
        )
        await room.engine.handle(OpenSession(session_id, request=5))
        branch = room.last(Branch)
        assert [row.node_id for row in branch.rows] == [nodes[2].id, nodes[3].id]
        assert branch.damage.startswith(f"This chat is damaged and can only be read: message {nodes[1].id} cannot be")
        assert room.told(CommandFailed) == []
        await room.engine.handle(SendMessage("Three?", session_id))
        assert room.last(CommandFailed).code == "damaged"
        assert len((await room.sessions.branch(session_id)).nodes) == 2


@pytest.mark.req("T-5")
@pytest.mark.expect_log("a stored message cannot be read")
async def test_a_damaged_message_that_is_asked_for_is_one_sentence(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."))) as room:
        session_id = await room.send("One?")
        node_id = (await room.branch(session_id))[1].id
        alter(room, "DROP TRIGGER node_is_append_only", f"UPDATE node SET parts = '7' WHERE id = '{node_id}'")
        await room.engine.handle(FetchBodies((node_id,)))
        assert failure(room).code == "damaged"


@pytest.mark.req("A-1")
async def test_a_window_is_welcomed_and_told_of_the_library(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        await room.engine.handle(Hello(VERSION, request=1))
        welcome = room.last(Welcome)
        assert (welcome.version, welcome.model, welcome.request) == (VERSION, "scripted", 1)
        assert welcome.library_title == f"the Zotero database in {shelf.zotero}"
        progress = room.events[-1]
        assert isinstance(progress, LibraryProgress)
        assert progress.state == "ready"
        await room.engine.handle(Hello(VERSION + 1))
        assert failure(room).code == "version"


@pytest.mark.req("U-3")
async def test_a_draft_is_kept_until_it_is_sent(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."), answers("Two."))) as room:
        session_id = await room.send("One?")
        await room.engine.handle(SaveDraft("Tw\ud800o", session_id))
        await room.engine.handle(OpenSession(session_id))
        assert room.last(Branch).draft == "Tw\ufffdo"
        await room.send("Two?", session_id)
        await room.engine.handle(OpenSession(session_id))
        assert room.last(Branch).draft == ""


@pytest.mark.req("U-3", "C-13")
async def test_the_chat_that_does_not_exist_yet_has_a_draft(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."))) as room:
        await room.engine.handle(SaveDraft("One?"))
        await room.engine.handle(OpenSession("", request=1))
        branch = room.last(Branch)
        assert (branch.session_id, branch.rows, branch.draft, branch.request) == ("", (), "One?", 1)
        await room.send("One?")
        await room.engine.handle(OpenSession(""))
        assert room.last(Branch).draft == ""


@pytest.mark.req("A-1")
async def test_a_chat_that_does_not_exist_is_one_sentence(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        await room.engine.handle(OpenSession("ffff"))
        assert failure(room).code == "refused"
        await room.engine.handle(StopTurn("ffff", request=2))
        assert room.last(CommandDone).request == 2
        await room.engine.handle(SendMessage("One?", "ffff"))
        assert room.last(CommandFailed).code == "refused"


@pytest.mark.req("U-4")
async def test_no_event_is_larger_than_the_pipe_takes(shelf: Shelf, tmp_path: Path) -> None:
    """A server that sends a whole answer in one piece, a hostile tool name, a pasted book as the draft."""
    hostile = call("x" * 200_000, '{"query": "' + "y" * 1_000 + '"}', "id" * 100_000)
    long_quote = f"“{'z' * 300_000}” [[cite:PDFLABL2@1]]"
    model = ScriptedModel(
        [thinks("\x01" * 300_000), *says("\x02" * 300_000, "😀" * 200_000, long_quote), ends(hostile)],
        answers("[[cite:PDFLABL2@1]]" * 200),
    )
    capacity = Capacity(context_window=10_000_000, max_output=8_000, window_known=True)
    model._capacity = capacity
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("\x03" * 5_000 + " " + "word " * 5_000)
        await room.engine.handle(SaveDraft("😀" * 100_000, session_id))
        await room.engine.handle(OpenSession(session_id, request=1))
        await room.engine.handle(ListSessions(request=2))
        node = (await room.branch(session_id))[1]
        await room.engine.handle(FetchBodies((node.id,), request=3))
        branch = [event for event in room.told(Branch) if event.request == 1]
        bodies = room.told(NodeBody)
    assert max(sizes(room.events)) <= MESSAGE_LIMIT
    assert "".join(event.draft for event in branch) == "😀" * 100_000
    assert [event.more for event in branch] == [True] * (len(branch) - 1) + [False]
    assert [event.more for event in bodies] == [True] * (len(bodies) - 1) + [False]
    segments = [segment for body in bodies for segment in body.segments]
    text = "".join(segment.text for segment in segments if segment.kind == "text")
    assert text == "\x02" * 300_000 + "😀" * 200_000 + long_quote.partition("[[")[0]
    assert sum(segment.kind == "citation" for segment in segments) == 201


@pytest.mark.req("U-4", "T-2")
async def test_a_long_list_of_chats_comes_in_pieces(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        for number in range(250):
            title = f"{number} " + "\x01" * 10_000
            await room.sessions.append_user("", [TextPart("One?")], title=title, model="scripted")
        await room.engine.handle(ListSessions())
        pieces = room.told(SessionList)
        assert max(sizes(pieces)) <= MESSAGE_LIMIT
        assert [piece.more for piece in pieces] == [True] * (len(pieces) - 1) + [False]
        rows = [row for piece in pieces for row in piece.sessions]
    assert [row.title.split()[0] for row in rows] == [str(number) for number in reversed(range(250))]


@pytest.mark.req("A-4", "A-3")
async def test_without_a_library_the_model_is_offered_no_tools(tmp_path: Path) -> None:
    (tmp_path / "zotero").mkdir()
    model = ScriptedModel([ends(call("search_library", {"query": "tides"}))], answers("There is no library."))
    async with running(Shelf(tmp_path / "zotero"), tmp_path, model) as room:
        assert room.last(LibraryProgress).state == "failed"
        _, answer = await room.branch(await room.send("What is front matter?"))
    assert model.requests[0].tools == ()
    tool = answer.parts[0]
    assert isinstance(tool, ToolCallPart)
    assert (tool.state, tool.summary) == ("error", "There is no tool search_library.")
