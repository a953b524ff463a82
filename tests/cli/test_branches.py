"""The session tree on the command line, in processes of their own (T-3, T-4, interface.md)."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from bibgenie_desktop.cli.branches import indented
from bibgenie_desktop.protocol.codec import event_from_json
from bibgenie_desktop.protocol.events import (
    AnswerText,
    BranchChanged,
    CommandDone,
    CommandFailed,
    SessionMade,
    TurnFinished,
    TurnStarted,
)
from bibgenie_desktop.protocol.values import TreeRow
from tests.cli.program import Finished, Program, finished
from tests.servers.llm import LlmServer

QUESTION = "What does front matter numbering do to page citations?"


def tree(program: Program, chat: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(program.run("branches", chat, "--json").out)
    return rows


def chats(program: Program) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(program.run("sessions", "--json").out)
    return rows


def events(ended: Finished) -> list[Any]:
    return [event_from_json(json.loads(line)) for line in ended.out.splitlines()]


def sentence(ended: Finished) -> str:
    """The one sentence of a command that was refused."""
    assert (ended.code, ended.out) == (1, "")
    assert len(ended.err.splitlines()) == 1
    assert "Traceback" not in ended.err
    return ended.err.strip()


@pytest.fixture
def chat(program: Program) -> str:
    """The id of a chat with one answer, over the demo library."""
    assert program.run("ask", QUESTION, "--zotero", "demo").code == 0
    return str(chats(program)[0]["id"])


@pytest.mark.req("T-4")
def test_an_answer_is_written_anew_and_the_former_one_stays(program: Program, chat: str) -> None:
    retried = program.run("retry", chat[:6], "--zotero", "demo")
    assert (retried.code, retried.err) == (0, "")
    assert retried.out.startswith("I am the offline assistant")
    question, first, second = tree(program, chat)
    assert (first["parent_id"], second["parent_id"]) == (question["node_id"], question["node_id"])
    assert (first["is_active"], second["is_active"]) == (False, True)
    lines = program.run("branches", chat).out.splitlines()
    assert lines[0] == f"* {question['node_id'][:12]}  You: {QUESTION}"
    assert lines[1].startswith(f"  {first['node_id'][:12]}    Answer: I am the offline assistant")
    assert lines[2].startswith(f"* {second['node_id'][:12]}    Answer: ")


@pytest.mark.req("T-4", "A-1")
def test_a_question_is_edited_and_its_answer_streamed(program: Program, chat: str) -> None:
    question = tree(program, chat)[0]["node_id"]
    edited = program.run("edit", chat, "--node", question[:8], "What is a locator?", "--zotero", "demo", "--json")
    assert (edited.code, edited.err) == (0, "")
    told = events(edited)
    [started] = [event for event in told if isinstance(event, TurnStarted)]
    assert (started.session_id, started.beginning, started.parent_id) == (chat, "edit", "")
    assert [event for event in told if isinstance(event, AnswerText)]
    assert isinstance(told[-1], TurnFinished)
    assert [row["excerpt"] for row in tree(program, chat) if row["role"] == "user"] == [QUESTION, "What is a locator?"]
    empty = program.run("edit", chat, "--node", question, " ", "--zotero", "demo")
    assert sentence(empty) == "The question is empty: write one."


@pytest.mark.req("T-4", "T-2")
def test_another_branch_is_shown_again(program: Program, chat: str) -> None:
    program.run("retry", chat, "--zotero", "demo")
    _, first, second = tree(program, chat)
    switched = program.run("switch", chat, "--to", first["node_id"][:10], "--json")
    changed, done = events(switched)
    assert (switched.code, switched.err) == (0, "")
    assert isinstance(changed, BranchChanged)
    assert (changed.operation, changed.leaf_id) == ("switch", first["node_id"])
    assert isinstance(done, CommandDone)
    assert chats(program)[0]["leaf_id"] == first["node_id"]
    back = program.run("switch", chat, "--to", second["node_id"])
    assert (back.code, back.out, back.err) == (0, "", "")
    assert chats(program)[0]["leaf_id"] == second["node_id"]


@pytest.mark.req("T-3")
def test_a_fork_is_a_new_chat_and_its_id_is_printed(program: Program, chat: str) -> None:
    question, answer = tree(program, chat)
    forked = program.run("fork", chat, "--at", answer["node_id"][:8])
    assert (forked.code, forked.err) == (0, "")
    made = next(row for row in chats(program) if row["id"] != chat)
    assert forked.out == f"{made['id'][:12]}  {QUESTION}\n"
    assert (made["forked_from_id"], made["leaf_id"]) == (chat, answer["node_id"])
    [told] = events(program.run("fork", chat, "--at", answer["node_id"], "--json"))
    assert isinstance(told, SessionMade)
    assert sentence(program.run("fork", chat, "--at", question["node_id"])).startswith("A fork begins at an answer")
    refused = program.run("fork", chat, "--at", question["node_id"], "--json")
    [failed] = events(refused)
    assert isinstance(failed, CommandFailed)
    assert (refused.code, refused.err) == (1, f"{failed.sentence}\n")
    assert len(chats(program)) == 3


@pytest.mark.req("T-4", "A-5")
def test_what_cannot_be_found_or_done_is_one_sentence(program: Program, chat: str) -> None:
    unknown = program.run("retry", "nope", "--zotero", "demo")
    assert sentence(unknown) == "There is no chat with the id 'nope': the sessions command lists them."
    missing = program.run("switch", chat, "--to", "nope")
    assert sentence(missing) == "This chat has no message with the id 'nope': the branches command shows them."
    complete = program.run("continue", chat, "--zotero", "demo")
    assert sentence(complete).startswith("This answer came to its end")
    assert sentence(program.run("branches", "nope")).startswith("There is no chat")
    assert len(tree(program, chat)) == 2


@pytest.mark.req("T-4", "A-5")
async def test_a_retry_of_which_nothing_comes_exits_with_one_and_leaves_the_chat(program: Program, chat: str) -> None:
    before = tree(program, chat)
    async with LlmServer([[{"status": 401, "body": "no"}]]) as server:
        options = ("--zotero", "demo", "--model", "openai/test", "--api-base", server.base_url)
        ended = await finished(await program.start("retry", chat, *options))
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (1, "", 1)
    assert tree(program, chat) == before


@pytest.mark.req("A-5", "T-6")
def test_an_edit_whose_model_cannot_be_loaded_is_kept_as_the_draft(program: Program, chat: str) -> None:
    question = tree(program, chat)[0]["node_id"]
    model = ("--zotero", "demo", "--model", "anthropic/claude-sonnet-4-5")
    assert "ANTHROPIC_API_KEY" in sentence(program.run("edit", chat, "--node", question, "In other words?", *model))
    assert "ANTHROPIC_API_KEY" in sentence(program.run("retry", chat, *model))
    with closing(sqlite3.connect(program.profile / "sessions.sqlite")) as connection:
        assert connection.execute("SELECT session_id, text FROM draft").fetchall() == [(chat, "In other words?")]
    assert len(tree(program, chat)) == 2


@pytest.mark.req("A-1")
@pytest.mark.parametrize(
    "wrong",
    [("fork", "x"), ("switch", "x"), ("edit", "x", "y"), ("edit", "x", "--node", "y"), ("retry",)],
    ids=" ".join,
)
def test_wrong_usage_exits_with_two(program: Program, wrong: tuple[str, ...]) -> None:
    ended = program.run(*wrong)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("usage: bibgenie-desktop")


@pytest.mark.req("T-4")
def test_only_what_has_siblings_stands_further_in() -> None:
    """A long chat stays at the margin."""

    def row(node_id: str, parent_id: str) -> TreeRow:
        return TreeRow(node_id, parent_id, "user", "", None, "", False)

    line = [row(str(number), str(number - 1) if number else "") for number in range(3_000)]
    assert {depth for _, depth in indented(line)} == {0}
    fan = [row("a", ""), row("b", "a"), row("c", "a"), row("d", "b"), row("e", ""), row("f", "gone")]
    assert [(each.node_id, depth) for each, depth in indented(fan)] == [
        ("a", 1),
        ("b", 2),
        ("d", 2),
        ("c", 2),
        ("e", 1),
        ("f", 1),
    ]
