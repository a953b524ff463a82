"""Going on with an answer that ended early: one answer with both texts, and nothing twice (T-6, D-10)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.compaction.messages import AssistantMessage, ToolMessage, UserMessage
from bibgenie_desktop.compaction.projection import GO_ON, check_roles
from bibgenie_desktop.engine.agent.step import StepInProgress, told
from bibgenie_desktop.models.offline import OfflineAssistant
from bibgenie_desktop.models.port import ModelError
from bibgenie_desktop.protocol.commands import ChooseModel, ContinueAnswer, Retry, StopTurn
from bibgenie_desktop.protocol.events import (
    AnswerCitation,
    AnswerReasoning,
    AnswerText,
    BranchChanged,
    CommandFailed,
    Event,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from bibgenie_desktop.sessions.citations import TOKEN as TOKENS
from bibgenie_desktop.sessions.citations import Citation
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.parts import ReasoningPart, TextPart, ToolCallPart
from bibgenie_desktop.sessions.usage import Usage
from tests.engine.running import Running, running
from tests.engine.scripted import Act, Gate, ScriptedModel, answers, call, ends, says, thinks
from tests.engine.shelf import Shelf

CUT = ModelError("interrupted", "The connection broke off; what came is kept.")
READ = call("read_pages", {"key": "PDFLABL2", "page_label": "ii"}, "call_read")
TOKEN = "[[cite:PDFLABL2@1]]"
KINDS = (AnswerText, AnswerCitation, AnswerReasoning, ToolStarted, ToolFinished)


async def continued(room: Running, session_id: str, *, request: int = 0) -> tuple[Node, list[Event]]:
    """Go on with the last answer; the new one, and all that was told from its beginning on."""
    former = (await room.branch(session_id))[-1]
    await room.engine.handle(ContinueAnswer(session_id, former.id, request))
    await room.engine.turns_settled()
    heard = room.events[room.events.index(room.last(TurnStarted)) :]
    return (await room.branch(session_id))[-1], heard


def texts(heard: Sequence[Event]) -> list[str]:
    return [event.text for event in heard if isinstance(event, AnswerText)]


@pytest.mark.req("T-6", "D-10")
async def test_the_new_answer_is_a_sibling_that_begins_with_the_kept_text(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel([thinks("Let me see."), *says("Front mat"), CUT], answers("ter has roman ", "numerals."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        question, former = await room.branch(session_id)
        answer, heard = await continued(room, session_id, request=6)
        assert answer.parts == (ReasoningPart("Let me see."), TextPart("Front matter has roman numerals."))
        assert (answer.parent_id, answer.stop_reason) == (question.id, "stop")
        assert answer.usage == Usage(100, 10, turn_input_tokens=100, turn_output_tokens=10, real=True)
        assert [node.id for node in await room.sessions.tree.whole(session_id)] == [question.id, former.id, answer.id]
    started = heard[0]
    assert isinstance(started, TurnStarted)
    assert (started.node_id, started.beginning, started.request) == (question.id, "continue", 6)
    assert [type(event) for event in heard[1:3]] == [AnswerReasoning, AnswerText]
    assert texts(heard) == ["Front mat", "ter has roman ", "numerals."]
    assert model.requests[1].messages == (
        UserMessage("What is front matter?"),
        AssistantMessage("Front mat"),
        UserMessage(GO_ON),
    )


@pytest.mark.req("T-6", "Z-3", "D-10")
async def test_kept_calls_and_citations_stay_and_new_ones_are_checked(shelf: Shelf, tmp_path: Path) -> None:
    """What a kept call delivered verifies what is cited later; a token that was cut in two becomes one."""
    quoted = "“The front matter carries roman numerals” "
    model = ScriptedModel(
        [ends(READ)],
        [*says(f"{quoted}{TOKEN}, and {quoted}[[cite:PDF"), CUT],
        [*says("LABL2@1]], so be it."), ends(call("get_item", {"key": "OKAFOR22"}, "call_item"))],
        answers("Done."),
    )
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        former = (await room.branch(session_id))[-1]
        assert former.text.endswith("[[cite:PDF")
        answer, heard = await continued(room, session_id)
    read, text, item, last = answer.parts
    assert (read, last) == (former.parts[0], TextPart("Done."))
    assert isinstance(text, TextPart)
    assert text.text == f"{quoted}{TOKEN}, and {quoted}{TOKEN}, so be it."
    assert [(each.token, each.state) for each in text.citations] == [(TOKEN, "verified"), (TOKEN, "verified")]
    assert isinstance(item, ToolCallPart)
    assert (item.step, item.state) == (1, "done")
    assert [type(event) for event in heard if isinstance(event, KINDS)] == [
        ToolStarted,
        ToolFinished,
        AnswerText,
        AnswerCitation,
        AnswerText,
        AnswerCitation,
        AnswerText,
        ToolStarted,
        ToolFinished,
        AnswerText,
    ]
    assert "".join(texts(heard)) == f"{quoted}, and {quoted}, so be it.Done."
    first, second = model.requests[2:]
    assert [type(message) for message in first.messages] == [
        UserMessage,
        AssistantMessage,
        ToolMessage,
        AssistantMessage,
        UserMessage,
    ]
    assert first.messages[-1] == UserMessage(GO_ON)
    assert isinstance(second.messages[-1], ToolMessage)
    assert UserMessage(GO_ON) not in second.messages
    for request in (first, second):
        check_roles(request.messages)


@pytest.mark.req("T-6", "D-10")
async def test_behind_a_call_that_was_cut_off_the_model_goes_on_by_itself(shelf: Shelf, tmp_path: Path) -> None:
    """Some providers refuse a user's message behind a tool's result."""
    model = ScriptedModel([*says("I look."), ends(READ)], [CUT], answers("It has roman numerals."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        former = (await room.branch(session_id))[-1]
        assert isinstance(former.parts[-1], ToolCallPart)
        answer, _ = await continued(room, session_id)
    assert answer.parts == (*former.parts, TextPart("It has roman numerals."))
    assert model.requests[2].messages == model.requests[1].messages


@pytest.mark.req("T-6", "T-4")
@pytest.mark.parametrize("how", ["fails", "is stopped"])
async def test_where_nothing_new_comes_the_branch_goes_back_to_the_former_answer(
    shelf: Shelf, tmp_path: Path, how: str
) -> None:
    gate = Gate()
    script: list[Act] = [CUT] if how == "fails" else [gate, *answers("Late.")]
    model = ScriptedModel([*says("Front mat"), CUT], script)
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        path = await room.branch(session_id)
        await room.engine.handle(ContinueAnswer(session_id, path[1].id))
        if how == "is stopped":
            await gate.reached.wait()
            await room.engine.handle(StopTurn(session_id))
        await room.engine.turns_settled()
        assert await room.branch(session_id) == path
        assert len(await room.sessions.tree.whole(session_id)) == 2
        assert room.told(BranchChanged)[-1].operation == "give_up"
        end = room.events[-1] if how == "fails" else room.last(TurnFinished)
        assert isinstance(end, TurnFailed | TurnFinished)
        assert end.node_id == ""


@pytest.mark.req("T-6")
async def test_a_model_that_says_that_this_was_all_completes_the_answer(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel([*says("Roman numerals."), CUT], [ends()])
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        answer, _ = await continued(room, session_id)
    assert (answer.text, answer.stop_reason) == ("Roman numerals.", "stop")


@pytest.mark.req("T-6")
async def test_a_stopped_continuation_keeps_both_texts(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([*says("Front "), CUT], [*says("matter "), gate, *answers("never.")])
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        former = (await room.branch(session_id))[-1]
        await room.engine.handle(ContinueAnswer(session_id, former.id))
        await gate.reached.wait()
        await room.engine.handle(StopTurn(session_id))
        answer = (await room.branch(session_id))[-1]
        assert (answer.text, answer.stop_reason) == ("Front matter ", "cancelled")
        assert room.last(TurnFinished).node_id == answer.id


@pytest.mark.req("T-6", "T-4")
async def test_a_complete_answer_is_not_gone_on_with(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."))) as room:
        session_id = await room.send("First?")
        path = await room.branch(session_id)
        for node_id in (path[1].id, path[0].id, "ffff"):
            await room.engine.handle(ContinueAnswer(session_id, node_id))
        assert [failed.code for failed in room.told(CommandFailed)] == ["refused"] * 3
        assert await room.branch(session_id) == path


@pytest.mark.req("T-6", "A-2")
@pytest.mark.parametrize("kept", [1, 40, 200, 10_000])
async def test_the_offline_assistant_says_the_rest_and_repeats_nothing(shelf: Shelf, tmp_path: Path, kept: int) -> None:
    """The whole of it is what it would have said at once."""
    question = "Which offset does the ledger have, and what does front matter do?"
    async with running(shelf, tmp_path, OfflineAssistant()) as room:
        session_id = await room.send(question)
        whole = (await room.branch(session_id))[-1]
        assert whole.stop_reason == "stop"
        search, text = whole.parts
        assert isinstance(text, TextPart)
        begun = await room.sessions.append_user("", [TextPart(question)], title="", model="offline")
        beginning = text.text[:kept]
        half = TextPart(beginning, text.citations[: len(TOKENS.findall(beginning))])
        await room.sessions.append_assistant(
            begun.session_id, begun.added[0], [search, half], model="offline", usage=None, stop_reason="interrupted"
        )
        answer, _ = await continued(room, begun.session_id)
        assert answer.parts == (search, text)
        assert answer.stop_reason == "stop"


@pytest.mark.req("T-6", "A-2")
async def test_the_offline_assistant_goes_on_behind_another_models_text(shelf: Shelf, tmp_path: Path) -> None:
    """It has not searched yet, and what another said is no beginning of what it says."""
    async with running(
        shelf,
        tmp_path,
        ScriptedModel([*says("The bog, I think, "), CUT]),
        open_model=lambda _: OfflineAssistant(),
    ) as room:
        session_id = await room.send("Who laid the path over the bog?")
        await room.engine.handle(ChooseModel("offline"))
        answer, _ = await continued(room, session_id)
    first, search, text = answer.parts
    assert first == TextPart("The bog, I think, ")
    assert isinstance(search, ToolCallPart)
    assert isinstance(text, TextPart)
    assert "nine men" in text.text
    assert text.text.count("I am the offline assistant") == 1


@pytest.mark.req("T-6")
async def test_an_interrupted_answer_can_be_written_anew_instead(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel([*says("Front mat"), CUT], answers("Once more."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        former = (await room.branch(session_id))[-1]
        await room.engine.handle(Retry(session_id, former.id))
        await room.engine.turns_settled()
        assert (await room.branch(session_id))[-1].text == "Once more."
    assert model.requests[1].messages == model.requests[0].messages


@pytest.mark.req("T-6")
async def test_half_a_token_that_becomes_none_stays_text(shelf: Shelf, tmp_path: Path) -> None:
    model = ScriptedModel([*says("So it is [[cite:PDF"), CUT], answers(", I think."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What is front matter?")
        answer, heard = await continued(room, session_id)
    assert answer.parts == (TextPart("So it is [[cite:PDF, I think."),)
    assert "".join(texts(heard)) == "So it is [[cite:PDF, I think."


PIECES = st.sampled_from(
    [TOKEN, "[[cite:OKAFOR22]]", "[[cite:", "[[", "]]", "PDFLABL2@1", "so ", "\n\n", "“it is” ", "["]
)


@pytest.mark.req("T-6", "Z-3")
@given(st.lists(PIECES, min_size=1, max_size=12).map("".join), st.integers(0, 3))
def test_a_text_that_is_gone_on_with_is_the_same_text_with_the_same_citations(text: str, missing: int) -> None:
    """Citations that a damaged message lacks are unverified; nothing is lost and nothing moves."""
    tokens = [match[0] for match in TOKENS.finditer(text)]
    checked = tuple(Citation(token, "verified", f"{number}") for number, token in enumerate(tokens))
    said = StepInProgress(TextPart(text, checked[: max(0, len(checked) - missing)]))
    assert "".join(said.parts) + "".join(said.splitter.flush()) == text
    assert [citation.token for citation in said.citations] == tokens
    kept = len(checked) - missing
    assert [citation.state for citation in said.citations] == [
        "verified" if number < kept else "unverified" for number in range(len(tokens))
    ]
    shown = list(told("s", [TextPart(text, checked), ReasoningPart("Hm.")]))
    assert sum(isinstance(event, AnswerCitation) for event in shown) == len(tokens)
    assert "".join(event.text for event in shown if isinstance(event, AnswerText)) == TOKENS.sub("", text)
