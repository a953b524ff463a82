"""A question and its answer: the turn loop over real files, with a model that plays a script (A-1, A-3, A-5)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.compaction.messages import AssistantMessage, ToolMessage, UserMessage
from bibgenie_desktop.engine.agent.turn import STEP_LIMIT
from bibgenie_desktop.models.port import ModelError, ModelRequest
from bibgenie_desktop.protocol.commands import SendMessage, StopTurn
from bibgenie_desktop.protocol.events import (
    AnswerReasoning,
    AnswerText,
    BranchChanged,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.parts import ReasoningPart, TextPart, ToolCallPart
from bibgenie_desktop.sessions.usage import Usage
from tests.engine.running import SYSTEM, running
from tests.engine.scripted import Act, Gate, ScriptedModel, answers, call, ends, says, thinks
from tests.engine.shelf import Shelf, stock_stalling


def calls_of(node: Node) -> list[ToolCallPart]:
    return [part for part in node.parts if isinstance(part, ToolCallPart)]


def result_of(part: ToolCallPart) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(part.result)
    return result


def tool_results(request: ModelRequest) -> list[str]:
    return [message.text for message in request.messages if isinstance(message, ToolMessage)]


SEARCH = call("search_library", {"query": "front matter"}, "call_search")
READ = call("read_pages", {"key": "PDFLABL2", "page_label": "ii"}, "call_read")


@pytest.mark.req("A-1", "T-1")
async def test_an_answer_streams_and_is_stored_as_one_node(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel([thinks("Let me see."), *answers("Front matter ", "has its own numbers.")])
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        question, answer = await room.branch(session_id)
        told = room.events[room.events.index(room.last(TurnStarted)) :]
        sessions = await room.sessions.sessions()
    assert question.text == "What is front matter?"
    assert answer.parts == (ReasoningPart("Let me see."), TextPart("Front matter has its own numbers."))
    assert (answer.model, answer.stop_reason, answer.parent_id) == ("scripted", "stop", question.id)
    assert [event.text for event in told if isinstance(event, AnswerReasoning)] == ["Let me see."]
    assert [event.text for event in told if isinstance(event, AnswerText)] == ["Front matter ", "has its own numbers."]
    finished = told[-1]
    assert isinstance(finished, TurnFinished)
    assert (finished.node_id, finished.stop_reason, finished.sentence) == (answer.id, "stop", "")
    assert sessions[0].session.title == "What is front matter?"
    [request] = model.requests
    assert request.system == SYSTEM
    assert request.messages == (UserMessage("What is front matter?"),)
    assert [tool.name for tool in request.tools] == ["search_library", "get_item", "read_pages"]


@pytest.mark.req("A-1", "A-3", "D-10")
async def test_tools_run_between_two_steps_and_the_model_reads_their_results(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel([*says("I look."), ends(SEARCH)], answers("It has roman numerals."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        _, answer = await room.branch(session_id)
        started, finished = room.told(ToolStarted), room.told(ToolFinished)
    text, tool, last = answer.parts
    assert isinstance(tool, ToolCallPart)
    assert (text, last) == (TextPart("I look."), TextPart("It has roman numerals."))
    assert (tool.state, tool.step, tool.call_id) == ("done", 0, "call_search")
    assert "PDFLABL2" in tool.result
    assert started[0].title == "Search the library for “front matter”"
    assert (finished[0].call_id, finished[0].state) == ("call_search", "done")
    assert tool.summary == finished[0].summary == "1 passage"
    assert tool.delivered
    assert model.requests[1].messages == (
        UserMessage("What is front matter?"),
        AssistantMessage("I look.", (SEARCH,)),
        ToolMessage("call_search", "search_library", tool.result),
    )


@pytest.mark.req("A-1")
async def test_parallel_calls_of_one_step_are_answered_in_their_order(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel([ends(READ, SEARCH)], answers("Done."))
    async with running(shelf, tmp_path, model) as room:
        _, answer = await room.branch(await room.send("What is front matter?"))
    assert [(part.name, part.step, part.state) for part in calls_of(answer)] == [
        ("read_pages", 0, "done"),
        ("search_library", 0, "done"),
    ]
    _, assistant, first, second = model.requests[1].messages
    assert isinstance(assistant, AssistantMessage)
    assert [each.call_id for each in assistant.tool_calls] == ["call_read", "call_search"]
    assert isinstance(first, ToolMessage)
    assert isinstance(second, ToolMessage)
    assert [first.call_id, second.call_id] == ["call_read", "call_search"]


@pytest.mark.req("A-5", "A-1")
@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (call("delete_library", {}), "There is no tool delete_library: use search_library, get_item, read_pages."),
        (call("search_library", '{"query": "peat'), "The arguments are not valid JSON"),
        (call("search_library", "[1]"), "The arguments must be one JSON object."),
        (call("search_library", "[" * 100_000), "The arguments are not valid JSON"),
        (call("search_library", f'{{"limit": {"9" * 5_000}}}'), "The arguments are not valid JSON"),
        (call("search_library", ""), "The argument query is missing: it is a text."),
        (call("search_library", {"query": "  "}), "The argument query is missing: it is a text."),
        (call("search_library", {"query": "peat", "limit": "²"}), "The argument limit must be a whole number."),
        (call("search_library", {"query": "peat", "limit": "--5"}), "The argument limit must be a whole number."),
        (call("search_library", {"query": "peat", "limit": "9" * 5_000}), "The argument limit must be a whole number."),
        (call("search_library", {"query": "peat", "limit": True}), "The argument limit must be a whole number."),
        (call("search_library", {"query": "peat", "limit": 2.5}), "The argument limit must be a whole number."),
        (call("get_item", {"key": "short"}), "'short' is no key: copy one from a result, such as ABCD2345."),
        (call("get_item", {"key": "a" * 100_000}), "is no key: copy one from a result, such as ABCD2345."),
        (call("get_item", {"key": "groups/0/ABCD2345"}), "is no key: copy one from a result, such as ABCD2345."),
        (call("get_item", {"key": "NOTHERE2"}), "The library has no item NOTHERE2: search for it first."),
        (call("read_pages", {"key": "NOTHERE2"}), "The library has no item NOTHERE2."),
        (call("read_pages", {"key": "PDFLABL2", "page_index": 99}), "this file has the indices 0 to 5."),
        (call("read_pages", {"key": "PDFLABL2", "page_index": -3}), "this file has the indices 0 to 5."),
        (call("read_pages", {"key": "PDFLABL2", "page_label": "xcix"}), "No page of this file is labelled 'xcix'"),
        (call("read_pages", {"key": "PDFLABL2", "page_label": "²"}), "No page of this file is labelled '²'"),
        (call("read_pages", {"key": "PDFLABL2", "page_label": "9" * 9_000}), "No page of this file is labelled"),
        (call("read_pages", {"key": "PDFLABL2", "page_label": "\ud800"}), "No page of this file is labelled"),
        (call("read_pages", {"key": "PDFLABL2", "page_label": ["ii"]}), "The argument page_label must be a text"),
        (call("read_pages", {"key": "PDFLABL2", "offset": 70_000}), "there is no offset 70000."),
    ],
    ids=lambda value: value.name if hasattr(value, "name") else "",
)
async def test_a_bad_call_is_one_sentence_of_data_and_the_turn_goes_on(
    shelf: Shelf, tmp_path: Path, bad: Any, sentence: str
) -> None:
    model = ScriptedModel([ends(bad)], answers("I could not."))
    async with running(shelf, tmp_path, model) as room:
        _, answer = await room.branch(await room.send("Do it."))
        [started], [finished] = room.told(ToolStarted), room.told(ToolFinished)
    [part] = calls_of(answer)
    assert part.state == "error"
    assert sentence in result_of(part)["error"]
    assert len(part.result) < 400
    assert part.arguments == bad.arguments
    assert (started.call_id, finished.call_id, finished.state) == (bad.call_id, bad.call_id, "error")
    assert tool_results(model.requests[1]) == [part.result]
    assert answer.stop_reason == "stop"


@pytest.mark.req("A-5")
async def test_arguments_that_were_encoded_twice_are_read(shelf: Shelf, tmp_path: Path) -> None:
    twice = json.dumps(json.dumps({"query": "tides", "limit": "1"}))
    model = ScriptedModel([ends(call("search_library", twice))], answers("Found."))
    async with running(shelf, tmp_path, model) as room:
        _, answer = await room.branch(await room.send("Tides?"))
    [part] = calls_of(answer)
    assert part.state == "done"
    assert len(result_of(part)["passages"]) == 1


@pytest.mark.req("A-5")
async def test_half_a_character_in_the_arguments_harms_nothing(shelf: Shelf, tmp_path: Path) -> None:
    odd = call("search_library", '{"query": "tides \\ud83d"}')
    model = ScriptedModel([ends(odd)], answers("Found."))
    async with running(shelf, tmp_path, model) as room:
        _, answer = await room.branch(await room.send("Tides?"))
        [started] = room.told(ToolStarted)
    assert calls_of(answer)[0].state == "done"
    assert started.title.encode()


@pytest.mark.req("A-1", "T-1")
async def test_a_model_that_only_calls_tools_is_ended_at_the_step_limit(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(*([ends(READ)] for _ in range(STEP_LIMIT + 1)))
    async with running(shelf, tmp_path, model) as room:
        _, answer = await room.branch(await room.send("Go on for ever."))
        finished = room.last(TurnFinished)
    assert len(model.requests) == STEP_LIMIT
    assert answer.stop_reason == "step_limit"
    assert [part.step for part in calls_of(answer)] == list(range(STEP_LIMIT))
    assert "too many tool calls" in finished.sentence


@pytest.mark.req("A-1", "T-6")
async def test_a_stop_in_the_middle_of_the_text_keeps_what_is_there(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([*says("Front matter has ", "[[ci"), gate, *answers("te: nothing more")])
    async with running(shelf, tmp_path, model) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await gate.reached.wait()
        session_id = room.last(TurnStarted).session_id
        await room.engine.handle(StopTurn(session_id, request=7))
        _, answer = await room.branch(session_id)
        finished = room.last(TurnFinished)
    assert answer.text == "Front matter has [[ci"
    assert answer.stop_reason == "cancelled"
    assert (finished.node_id, finished.sentence) == (answer.id, "You stopped the answer; what was there is kept.")
    assert model.left == 1


@pytest.mark.req("A-1", "T-1")
async def test_a_stop_in_the_middle_of_a_tool_marks_its_calls_cancelled(tmp_path: Path) -> None:
    """The first call waits for a page that is never finished; the second has not begun."""
    stock_stalling(tmp_path / "zotero")
    stalled = call("read_pages", {"key": "STALLPD2", "page_index": 1}, "call_stalled")
    model = ScriptedModel([*says("I look."), ends(stalled, SEARCH)], answers("Never."))
    async with running(Shelf(tmp_path / "zotero"), tmp_path, model, settled=False) as room:
        await room.engine.handle(SendMessage("What does it say?"))
        session_id = room.last(TurnStarted).session_id
        await room.until(ToolStarted)
        await room.engine.handle(StopTurn(session_id))
        _, answer = await room.branch(session_id)
        finished = room.told(ToolFinished)
    assert answer.stop_reason == "cancelled"
    assert [(part.name, part.state) for part in calls_of(answer)] == [
        ("read_pages", "cancelled"),
        ("search_library", "cancelled"),
    ]
    assert all("cut off" in result_of(part)["error"] for part in calls_of(answer))
    assert [(event.call_id, event.state) for event in finished] == [("call_stalled", "cancelled")]
    assert len(model.requests) == 1


@pytest.mark.req("A-1")
async def test_a_stop_before_the_first_byte_leaves_the_question(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([gate, *answers("Late.")])
    async with running(shelf, tmp_path, model) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await gate.reached.wait()
        session_id = room.last(TurnStarted).session_id
        await room.engine.handle(StopTurn(session_id))
        [question] = await room.branch(session_id)
        finished = room.last(TurnFinished)
    assert question.role == "user"
    assert (finished.node_id, finished.stop_reason) == ("", "cancelled")


@pytest.mark.req("A-1")
async def test_a_stop_right_after_the_start_is_a_stop(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("Late."))
    async with running(shelf, tmp_path, model) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await room.engine.handle(StopTurn(room.last(TurnStarted).session_id))
        finished = room.last(TurnFinished)
    assert finished.stop_reason == "cancelled"
    assert not model.requests


@pytest.mark.req("A-1")
async def test_a_stop_while_the_model_is_still_prepared_is_a_stop(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel(answers("First."), answers("Late."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("One?")
        model.preparing.reached.clear()
        model.preparing.opened.clear()
        sending = asyncio.create_task(room.engine.handle(SendMessage("Two?", session_id)))
        await model.preparing.reached.wait()
        await room.engine.handle(StopTurn(session_id))
        model.preparing.opened.set()
        await sending
        await room.engine.turns_settled()
        finished = room.last(TurnFinished)
    assert finished.stop_reason == "cancelled"
    assert len(model.requests) == 1


@pytest.mark.req("A-1", "Z-3")
async def test_a_stop_while_a_citation_is_checked_loses_no_word(tmp_path: Path) -> None:
    """The cited page is read from a file that stalls."""
    stock_stalling(tmp_path / "zotero")
    model = ScriptedModel([*says("It is said [[cite:STALLPD2@1]] and more."), Gate()])
    async with running(Shelf(tmp_path / "zotero"), tmp_path, model, settled=False) as room:
        await room.engine.handle(SendMessage("What does it say?"))
        session_id = room.last(TurnStarted).session_id
        await room.until(AnswerText)
        await room.engine.handle(StopTurn(session_id))
        _, answer = await room.branch(session_id)
        texts = [event.text for event in room.told(AnswerText)]
    [part] = answer.parts
    assert isinstance(part, TextPart)
    assert part.text == "It is said [[cite:STALLPD2@1]] and more."
    assert [citation.state for citation in part.citations] == ["unverified"]
    assert "".join(texts) == "It is said  and more."


@pytest.mark.req("A-5")
@pytest.mark.parametrize(
    ("code", "stop_reason"),
    [("interrupted", "interrupted"), ("timeout", "interrupted"), ("rate_limit", "error"), ("server", "error")],
)
async def test_a_model_that_fails_in_mid_answer_leaves_the_part_that_came(
    shelf: Shelf, tmp_path: Path, code: Any, stop_reason: str
) -> None:
    model = ScriptedModel([*says("Front matter "), ModelError(code, "The provider failed; ask again.")])
    async with running(shelf, tmp_path, model) as room:
        _, answer = await room.branch(await room.send("What is front matter?"))
        failed = room.last(TurnFailed)
    assert (answer.text, answer.stop_reason) == ("Front matter ", stop_reason)
    assert (failed.code, failed.sentence, failed.node_id) == (code, "The provider failed; ask again.", answer.id)


@pytest.mark.req("A-5")
async def test_a_model_that_fails_after_its_tools_leaves_their_results(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel([ends(READ)], [ModelError("quota", "No credit is left.")], answers("Now."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        await room.send("And now?", session_id)
        _, answer, *_ = await room.branch(session_id)
    assert (calls_of(answer)[0].state, answer.stop_reason) == ("done", "error")
    assert tool_results(model.requests[2]) == [calls_of(answer)[0].result]


@pytest.mark.req("A-5")
async def test_a_model_that_fails_before_its_first_word_leaves_the_question_and_can_be_asked_again(
    shelf: Shelf, tmp_path: Path
) -> None:
    """D-10: two questions in a row go out as one user message."""
    model = ScriptedModel([ModelError("connection", "Nobody answered.")], answers("Here."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        failed = room.last(TurnFailed)
        alone = await room.branch(session_id)
        await room.send("Once more.", session_id)
        branch = await room.branch(session_id)
    assert (failed.code, failed.node_id) == ("connection", "")
    assert [node.role for node in alone] == ["user"]
    assert [node.role for node in branch] == ["user", "user", "assistant"]
    assert model.requests[1].messages == (UserMessage("What is front matter?\n\nOnce more."),)


@pytest.mark.req("A-5")
@pytest.mark.parametrize(
    ("step", "words"),
    [
        ([ends()], "answered nothing"),
        ([*says(" \n "), ends()], "answered nothing"),
        ([thinks("Hm."), ends()], "answered nothing"),
        ([ends(reason="length")], "output limit"),
        ([ends(reason="content_filter")], "filter"),
    ],
    ids=["nothing", "spaces", "thoughts", "length", "filter"],
)
async def test_an_empty_answer_is_told_and_not_stored(
    shelf: Shelf, tmp_path: Path, step: list[Act], words: str
) -> None:
    async with running(shelf, tmp_path, ScriptedModel(step)) as room:
        [question] = await room.branch(await room.send("What is front matter?"))
        failed = room.last(TurnFailed)
    assert question.role == "user"
    assert (failed.code, failed.node_id) == ("empty", "")
    assert words in failed.sentence
    assert "question is kept" in failed.sentence


@pytest.mark.req("A-5")
async def test_a_stream_without_a_finish_is_an_interrupted_answer(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(says("Half of"))) as room:
        _, answer = await room.branch(await room.send("What is front matter?"))
        failed = room.last(TurnFailed)
    assert (answer.text, answer.stop_reason, failed.code) == ("Half of", "interrupted", "interrupted")


@pytest.mark.req("A-5")
@pytest.mark.expect_log("a turn ended by a fault of the program")
async def test_a_fault_of_the_program_ends_the_answer_with_a_sentence_and_keeps_what_came(
    shelf: Shelf, tmp_path: Path
) -> None:
    """The script has no second step, so the model itself raises something that is no ModelError."""
    model = ScriptedModel([*says("I look."), ends(READ)])
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        _, answer = await room.branch(session_id)
        failed = room.last(TurnFailed)
    assert (failed.code, failed.node_id, answer.stop_reason) == ("fault", answer.id, "error")
    assert [part.state for part in calls_of(answer)] == ["done"]


@pytest.mark.req("D-5", "C-5")
async def test_usage_is_the_last_steps_occupancy_and_the_sums_of_all(shelf: Shelf, tmp_path: Path) -> None:
    first = Usage(input_tokens=1_000, output_tokens=20, cached_tokens=900, real=True, cost=0.5)
    second = Usage(input_tokens=1_800, output_tokens=50, reasoning_tokens=30, real=True, cost=0.25)
    model = ScriptedModel([ends(READ, usage=first)], [*says("Done."), ends(usage=second)])
    async with running(shelf, tmp_path, model) as room:
        _, answer = await room.branch(await room.send("What is front matter?"))
        finished = room.last(TurnFinished)
        [row] = await room.sessions.sessions()
    assert answer.usage == Usage(
        input_tokens=1_800,
        output_tokens=50,
        reasoning_tokens=30,
        steps=2,
        turn_input_tokens=2_800,
        turn_output_tokens=70,
        real=True,
        cost=0.75,
    )
    assert (finished.input_tokens, finished.output_tokens, finished.usage_real) == (1_800, 50, True)
    assert row.tokens == 1_850


@pytest.mark.req("D-5")
async def test_usage_that_the_provider_did_not_send_is_marked(shelf: Shelf, tmp_path: Path) -> None:
    real, guessed = Usage(input_tokens=900, real=True), Usage(input_tokens=1_200, output_tokens=9)
    model = ScriptedModel([ends(READ, usage=real)], [*says("Done."), ends(usage=guessed)])
    async with running(shelf, tmp_path, model) as room:
        _, answer = await room.branch(await room.send("What is front matter?"))
        finished = room.last(TurnFinished)
    assert answer.usage is not None
    assert (answer.usage.real, answer.usage.cost, finished.usage_real) == (False, None, False)


@pytest.mark.req("T-6")
async def test_the_question_is_stored_before_the_model_is_asked(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    async with running(shelf, tmp_path, ScriptedModel([gate, *answers("Here.")])) as room:
        await room.engine.handle(SendMessage("What is front matter?"))
        await gate.reached.wait()
        [question] = await room.branch(room.last(TurnStarted).session_id)
        changed = room.last(BranchChanged)
        gate.opened.set()
        await room.engine.turns_settled()
    assert question.text == "What is front matter?"
    assert (changed.operation, changed.added) == ("append_user", (question.id,))


@pytest.mark.req("A-1", "T-2")
async def test_the_second_turn_is_sent_the_first_ones_tool_results(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel([ends(READ)], answers("Roman."), answers("Because of the body."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What numbers?")
        await room.send("Why?", session_id)
        branch = await room.branch(session_id)
        session = await room.sessions.session(session_id)
    assert [node.role for node in branch] == ["user", "assistant", "user", "assistant"]
    assert (session.branch_revision, session.leaf_id) == (4, branch[-1].id)
    assert model.requests[2].messages == (
        UserMessage("What numbers?"),
        AssistantMessage("", (READ,)),
        ToolMessage("call_read", "read_pages", calls_of(branch[1])[0].result),
        AssistantMessage("Roman."),
        UserMessage("Why?"),
    )


@pytest.mark.req("C-19")
async def test_each_request_begins_with_the_one_before(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel([ends(SEARCH)], [*says("Now this."), ends(READ)], answers("Roman."), answers("Yes."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What numbers?")
        await room.send("Sure?", session_id)
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
        assert (after.system, after.tools) == (before.system, before.tools)
