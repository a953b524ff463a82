"""The projection: what a model is sent for a branch (C-1, D-10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.compaction.counted import NO_RESULT, answer_messages
from bibgenie_desktop.compaction.estimate import MESSAGE_OVERHEAD
from bibgenie_desktop.compaction.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
    message_to_chat,
)
from bibgenie_desktop.compaction.projection import (
    GO_ON,
    BrokenProjection,
    check_roles,
    estimate_request,
    project,
)
from bibgenie_desktop.sessions.locators import PERSONAL, ItemLocator, ItemRef
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.parts import (
    FilePart,
    ImagePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ZoteroPart,
)
from tests.sessions.values import answers, branches

TOOL = ToolSpec("search", "Search the library.", {"type": "object"})


def node(role: Any, *parts: Part) -> Node:
    return Node(f"n{id(parts)}", None, role, parts, "2026-11-30T18:50:48.123Z")


def shown(messages: Sequence[Message]) -> str:
    return "\n".join(message.text for message in messages)


@pytest.mark.req("D-10")
@given(branches(), st.sampled_from(["", "  ", "and then?"]))
def test_every_branch_that_can_be_stored_can_be_sent(branch: list[Node], draft: str) -> None:
    """The role automaton holds (here in words of its own), and each call is answered at once, in order."""
    messages = project("system", [TOOL], branch, draft=draft).messages
    waiting: list[str] = []
    previous = ""
    for message in messages:
        chat = message_to_chat(message)
        role = chat["role"]
        if waiting:
            assert role == "tool"
        if role == "tool":
            assert chat["tool_call_id"] == waiting.pop(0)
            assert chat["content"].strip()
        elif role == "user":
            assert previous != "user"
            assert chat["content"].strip()
        else:
            assert previous in ("user", "tool")
            assert (chat["content"] or "").strip() or chat["tool_calls"]
            waiting = [call["id"] for call in chat.get("tool_calls", [])]
        previous = role
    assert not waiting
    assert not messages or isinstance(messages[0], UserMessage)


@pytest.mark.req("C-1", "D-10")
@given(branches(), st.sampled_from(["", "and then?"]))
def test_no_word_is_lost_and_all_stand_in_their_order(branch: list[Node], draft: str) -> None:
    messages = project("system", [], branch, draft=draft).messages
    said = [part.text for node in branch for part in node.parts if isinstance(part, TextPart)] + [draft]
    told = [part.result for node in branch for part in node.parts if isinstance(part, ToolCallPart)]
    texts = "\n".join(message.text for message in messages if not isinstance(message, ToolMessage))
    results = "\n".join(message.text for message in messages if isinstance(message, ToolMessage))
    for pieces, where in ((said, texts), (told, results)):
        position = 0
        for piece in pieces:
            if piece.strip():
                position = where.index(piece, position) + len(piece)


@pytest.mark.req("D-10")
@given(branches())
def test_every_call_of_the_branch_is_sent_with_its_result(branch: list[Node]) -> None:
    messages = project("system", [], branch).messages
    calls = [part for node in branch for part in node.parts if isinstance(part, ToolCallPart)]
    sent = [call for message in messages if isinstance(message, AssistantMessage) for call in message.tool_calls]
    results = {message.call_id: message.text for message in messages if isinstance(message, ToolMessage)}
    assert [(call.call_id, call.name, call.arguments) for call in sent] == [
        (call.call_id, call.name, call.arguments) for call in calls
    ]
    assert results == {call.call_id: call.result if call.result.strip() else NO_RESULT for call in calls}


@pytest.mark.req("C-1")
@given(branches())
def test_no_reasoning_is_sent(branch: list[Node]) -> None:
    assert "thought" not in shown(project("system", [], branch).messages)


@pytest.mark.req("D-10")
@given(answers())
def test_the_calls_of_one_step_are_one_message_and_those_of_two_steps_are_two(parts: tuple[Part, ...]) -> None:
    steps: dict[int, list[str]] = {}
    for part in parts:
        if isinstance(part, ToolCallPart):
            steps.setdefault(part.step, []).append(part.call_id)
    sent = [
        [call.call_id for call in message.tool_calls]
        for message in answer_messages(parts)
        if isinstance(message, AssistantMessage) and message.tool_calls
    ]
    assert sent == list(steps.values())


@pytest.mark.req("C-5")
@given(branches(), st.sampled_from(["", "and then?"]))
def test_the_estimate_is_of_exactly_what_is_sent(branch: list[Node], draft: str) -> None:
    """Never less; more by what questions cost that are merged into one."""
    made = project("You answer.", [TOOL], branch, draft=draft)
    merged = sum(node.role == "user" for node in branch) + bool(draft)
    most = estimate_request(made.system, made.tools, made.messages) + merged * (MESSAGE_OVERHEAD + 1)
    assert estimate_request(made.system, made.tools, made.messages) <= made.tokens <= most
    assert (made.system, made.tools) == ("You answer.", (TOOL,))


@pytest.mark.req("C-1", "C-19")
@given(branches())
def test_a_longer_branch_is_sent_as_the_shorter_one_and_more(branch: list[Node]) -> None:
    """Up to the last answer: a question without one is merged with the question behind it."""
    answered = max((place for place, each in enumerate(branch, 1) if each.role == "assistant"), default=0)
    before = project("system", [], branch[:answered]).messages
    if before and not isinstance(before[-1], UserMessage):
        assert project("system", [], branch).messages[: len(before)] == before


@pytest.mark.req("D-10")
def test_a_turn_is_sent_step_by_step() -> None:
    answer = node(
        "assistant",
        ReasoningPart("I should search."),
        TextPart("I look."),
        ToolCallPart("c1", "search", '{"query": "a"}', "done", "found a", 0),
        ToolCallPart("c2", "search", '{"query": "b"}', "cancelled", "", 0),
        ToolCallPart("c3", "search", '{"query": "c"}', "error", "no library", 1),
        TextPart("It is so."),
    )
    assert project("", [], [node("user", TextPart("Is it?")), answer]).messages == (
        UserMessage("Is it?"),
        AssistantMessage(
            "I look.", (ToolCall("c1", "search", '{"query": "a"}'), ToolCall("c2", "search", '{"query": "b"}'))
        ),
        ToolMessage("c1", "search", "found a"),
        ToolMessage("c2", "search", NO_RESULT),
        AssistantMessage("", (ToolCall("c3", "search", '{"query": "c"}'),)),
        ToolMessage("c3", "search", "no library"),
        AssistantMessage("It is so."),
    )


@pytest.mark.req("D-10")
def test_a_question_that_got_no_answer_is_merged_with_the_next() -> None:
    path = [node("user", TextPart("One?")), node("user", TextPart("Two?"))]
    assert project("", [], path, draft="Three?").messages == (UserMessage("One?\n\nTwo?\n\nThree?"),)


@pytest.mark.req("D-10")
def test_an_answer_that_says_nothing_is_not_sent() -> None:
    path = [node("user", TextPart("One?")), node("assistant", ReasoningPart("hm"), TextPart("  "))]
    assert project("", [], path, draft="Two?").messages == (UserMessage("One?\n\nTwo?"),)


@pytest.mark.req("D-10")
def test_a_result_of_white_space_counts_as_none() -> None:
    path = [node("user", TextPart("One?")), node("assistant", ToolCallPart("c1", "search", "{}", "done", " \n"))]
    assert project("", [], path).messages[-1] == ToolMessage("c1", "search", NO_RESULT)


@pytest.mark.req("C-1")
def test_what_was_attached_is_named() -> None:
    work = ItemLocator(ItemRef(PERSONAL, "ABCD2345"))
    question = node(
        "user",
        TextPart("What of these?"),
        ZoteroPart(work, "Peat", "Hale 2010"),
        ZoteroPart(work, "Peat"),
        ImagePart("b1", "image/png", "bog.png"),
        FilePart("b2", "text/plain"),
    )
    assert project("", [], [question]).messages == (
        UserMessage(
            "What of these?\n\n[Attached from the library: Hale 2010]\n\n[Attached from the library: Peat]\n\n"
            "[Attached: bog.png, image/png]\n\n[Attached: a file, text/plain]"
        ),
    )


@pytest.mark.req("D-10")
def test_what_a_provider_wants_back_is_sent_back_with_its_call() -> None:
    path = [
        node("user", TextPart("One?")),
        node("assistant", ToolCallPart("c1", "search", "{}", "done", "found", replay={"extra_content": {"s": "x"}})),
    ]
    chat = message_to_chat(project("", [], path).messages[1])
    assert chat == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "search", "arguments": "{}"},
                "extra_content": {"s": "x"},
            }
        ],
    }


USER, SAID, CALLED = UserMessage("q"), AssistantMessage("a"), AssistantMessage("", (ToolCall("c1", "search", "{}"),))
RESULT = ToolMessage("c1", "search", "found")
TWO = AssistantMessage("", (ToolCall("c1", "search", "{}"), ToolCall("c2", "search", "{}")))


@pytest.mark.req("D-10")
@pytest.mark.parametrize(
    "messages",
    [
        [SAID],
        [RESULT],
        [USER, USER],
        [USER, SAID, SAID],
        [UserMessage(" ")],
        [USER, AssistantMessage(" ")],
        [USER, CALLED],
        [USER, CALLED, USER],
        [USER, CALLED, SAID],
        [USER, CALLED, RESULT, RESULT],
        [USER, CALLED, ToolMessage("c2", "search", "found")],
        [USER, CALLED, ToolMessage("c1", "search", "")],
        [USER, CALLED, ToolMessage("c1", "search", " \n")],
        [USER, TWO, RESULT],
        [USER, TWO, ToolMessage("c2", "search", "found"), RESULT],
    ],
)
def test_a_request_that_breaks_the_rules_of_providers_is_never_made(messages: list[Message]) -> None:
    with pytest.raises(BrokenProjection):
        check_roles(messages)


@pytest.mark.req("D-10")
@pytest.mark.parametrize(
    "messages",
    [
        [],
        [USER],
        [USER, SAID, USER],
        [USER, CALLED, RESULT],
        [USER, CALLED, RESULT, SAID],
        [USER, CALLED, RESULT, USER],
        [USER, CALLED, RESULT, CALLED, RESULT, SAID, USER],
    ],
)
def test_a_request_that_keeps_them_passes(messages: list[Message]) -> None:
    check_roles(messages)


@pytest.mark.req("C-1")
def test_a_checkpoint_is_never_projected_as_something_else() -> None:
    with pytest.raises(BrokenProjection, match="checkpoint"):
        project("", [], [node("user", TextPart("q")), node("checkpoint")])


@pytest.mark.req("T-6", "D-10")
@given(branches(), answers())
def test_an_answer_that_is_gone_on_with_can_be_sent_behind_every_branch(
    branch: list[Node], kept: tuple[Part, ...]
) -> None:
    """Only behind its text is the rest asked for: behind the results of its calls a model goes on by itself."""
    question = node("user", TextPart("Why?"))
    plain = project("system", [TOOL], [*branch, question])
    going_on = project("system", [TOOL], [*branch, question], kept=kept)
    said = tuple(answer_messages(kept))
    ends_in_text = bool(said) and isinstance(said[-1], AssistantMessage)
    assert going_on.messages == (*plain.messages, *said, *([UserMessage(GO_ON)] if ends_in_text else []))
    assert going_on.tokens >= plain.tokens
    check_roles(going_on.messages)
