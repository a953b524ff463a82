"""Chats that leave as Markdown or JSON (T-5, T-8, Z-2, Z-3, S-1)."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from bibgenie_desktop.engine.exporting import chat_file
from bibgenie_desktop.engine.exporting.outline import sections
from bibgenie_desktop.sessions.locators import ItemLocator
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.parts import (
    FilePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ZoteroPart,
    parts_from_json,
)
from bibgenie_desktop.sessions.usage import Usage
from bibgenie_desktop.store.chats import Chat, DamagedNode
from tests.engine.chats import CITED, LABELS, LINK, TOKEN, chat, node, rich_chat, said


def asked(*parts: Part, stop_reason: str = "stop") -> Chat:
    question = said("q1", None, "user", "What is *front matter*?")
    return chat(question, node("a1", "q1", "assistant", *parts, stop_reason=stop_reason), leaf="a1")


@pytest.mark.req("Z-2")
def test_a_chat_leaves_as_markdown_with_its_citations_as_links() -> None:
    left = asked(
        ReasoningPart("Let me see."),
        ToolCallPart("c", "search_library", "{}", "done", "{}", summary="3 passages"),
        TextPart(f"Roman numerals {TOKEN}.", (CITED,)),
    )
    assert chat_file(left, "md") == (
        "# What is \\*front matter\\*?\n\n"
        "## You · 2026-11-30 12:00\n\n"
        "What is *front matter*?\n\n"
        "## scripted · 2026-11-30 12:00\n\n"
        "*search\\_library: 3 passages*\n\n"
        f"Roman numerals [Okafor 2014, p. 1]({LINK}).\n"
    )


@pytest.mark.req("S-1", "A-5")
def test_what_is_no_text_of_the_chat_stands_in_it_literally() -> None:
    hostile = "x](https://evil.example) <b>\n# y"
    exported = chat_file(
        asked(
            ToolCallPart("c", hostile, "{}", "error", "{}", summary=hostile),
            ToolCallPart("d", "get_item", "{}", "cancelled", "{}"),
            ZoteroPart(ItemLocator(LABELS), hostile),
            FilePart("b", "text/plain", hostile),
            TextPart("Half"),
            stop_reason="cancelled",
        ),
        "md",
    )
    literal = "x\\](https://evil.example) \\<b\\> # y"
    assert f"*{literal}: {literal}*" in exported
    assert f"*Attached: {literal}*" in exported
    assert "*get\\_item: cancelled*" in exported
    assert exported.endswith("Half\n\n*The answer ended early: cancelled.*\n")


@pytest.mark.req("T-8")
@pytest.mark.parametrize(
    ("written", "is_open"),
    [
        ("```\ncode", True),
        ("```python\nx = 1\n\n# y", True),
        ("~~~~ text\n~~~\nstill code", True),
        ("````\n```\n", True),
        ("text\n```", True),
        ("```\ncode\n```", False),
        ("```\n```", False),
        ("- item\n\n  ```\n  code", False),
        ("> ```\n> code", False),
        ("so\n\n    ```\n    code", False),
        ("``` a ``` b", False),
        ("```\na\n```\n\n```\nb", True),
    ],
)
def test_a_block_of_code_ends_with_its_message(written: str, is_open: bool) -> None:
    """An answer that was stopped in one would swallow all that follows it."""
    exported = chat_file(asked(TextPart(written), stop_reason="cancelled"), "md")
    fence = "````" if written.startswith("````") else "~~~~" if written.startswith("~") else "```"
    added = f"\n{fence}" if is_open else ""
    assert exported.endswith(f"\n\n{written.strip()}{added}\n\n*The answer ended early: cancelled.*\n")
    tokens = MarkdownIt("commonmark").parse(exported)
    assert tokens[-2].content == "*The answer ended early: cancelled.*"
    assert tokens[-2].level == 1


@pytest.mark.req("S-1")
def test_nothing_that_a_model_wrote_becomes_a_link_or_a_picture() -> None:
    hostile = "![x](https://evil.example/p.png) [y](https://evil.example) <img src=//evil.example>"
    left = rich_chat()
    [(identity, stored)] = left.checkpoints.items()
    left = replace(left, checkpoints={identity: replace(stored, summary=hostile)})
    for told in (chat_file(left, "md", checkpoints=True), chat_file(asked(TextPart(hostile)), "md")):
        assert hostile.split("(")[0] in told
        assert "](https://evil" not in told
        assert not re.search(r"(?<!\\)<img", told)


@pytest.mark.req("T-1", "T-8")
def test_a_chat_leaves_as_json_with_all_that_is_stored() -> None:
    left = rich_chat()
    text = chat_file(left, "json")
    data = json.loads(text)
    assert text.endswith("}\n")
    assert (data["format"], data["program"]) == (2, "BibGenie")
    assert data["session"] == {
        "id": "s1",
        "title": "What is *front matter*?",
        "leaf_id": "a2",
        "branch_revision": 7,
        "model": "scripted",
        "created_at": "2026-11-30T12:00:00.000Z",
        "updated_at": "2026-11-30T12:00:00.000Z",
    }
    answers = {each["id"]: each for each in data["nodes"]}
    stored = {each.id: each for each in left.nodes}
    assert list(answers) == list(stored)
    for identity, each in answers.items():
        original = stored[identity]
        assert isinstance(original, Node)
        assert parts_from_json(each["parts"]) == original.parts
        assert (each["parent_id"], each["role"], each["stop_reason"]) == (
            original.parent_id,
            original.role,
            original.stop_reason,
        )
    assert Usage.from_json(answers["a2"]["usage"]).checkpoint_id == "c1"
    assert [each["visited"] for each in data["nodes"]] == [0, 0, 0, 0, 7, 4, 0, 6, 5]
    assert [each["node_id"] for each in data["checkpoints"]] == ["c1"]
    assert [each["supersedes_id"] for each in data["ledger"]] == [None, "l1"]
    assert data["blobs"][0]["data"].startswith("iVBORw0KGgog")
    assert "damage" not in data


@pytest.mark.req("T-4", "T-8")
def test_other_branches_follow_the_active_one_and_say_what_they_are() -> None:
    found = [(section.label, [each.id for each in section.nodes]) for section in sections(rich_chat())]
    assert found == [
        ("", ["q1", "a1", "q2", "c1", "a2"]),
        ("Another version of “What is <front> matter?”", ["p1", "r1"]),
        ("Another version of “Why?”", ["q3"]),
        ("Another version of the answer to “Why?”", ["b2"]),
    ]


@pytest.mark.req("T-4")
def test_a_branch_of_a_branch_follows_it_and_goes_the_way_that_was_gone_last() -> None:
    left = chat(
        said("q1", None, "user", "One"),
        said("a1", "q1", "assistant", "A"),
        said("b1", "q1", "assistant", "B"),
        said("q2", "b1", "user", "Two"),
        said("p2", "b1", "user", "Two, differently"),
        said("a2", "q2", "assistant", "AA"),
        said("q3", "a1", "user", "On"),
        leaf="a1",
        visited={"a1": 9, "q2": 3, "p2": 2},
    )
    assert [(section.label, [each.id for each in section.nodes]) for section in sections(left)] == [
        ("", ["q1", "a1"]),
        ("Another version of the answer to “One”", ["b1", "q2", "a2"]),
        ("Another version of “Two”", ["p2"]),
        ("Another branch after “A”", ["q3"]),
    ]
    assert chat_file(left, "md").count("\n---\n") == 3


@pytest.mark.req("C-16")
@pytest.mark.parametrize("format", ["md", "html"])
def test_checkpoints_are_shown_and_labelled_only_when_asked_for(format: str) -> None:
    left = rich_chat()
    assert "Checkpoint" not in chat_file(left, format)  # type: ignore[arg-type]
    shown = chat_file(left, format, checkpoints=True)  # type: ignore[arg-type]
    assert "Checkpoint: what stood for the messages before it" in shown
    assert "They talked of" in shown


@pytest.mark.req("T-5")
@pytest.mark.parametrize("format", ["md", "html", "json"])
def test_what_cannot_be_read_is_named_in_its_place(format: str) -> None:
    sound = said("q1", None, "user", "Why?"), said("q2", "x1", "user", "And then?")
    broken = DamagedNode("x1", "q1", {"id": "x1", "parts": "[{"}, "the parts <are> torn")
    left = replace(
        chat(*sound, leaf="q1"),
        nodes=(sound[0], broken, sound[1]),
        branch=("q1", "x1", "q2"),
        damage="message x1 cannot be read",
    )
    text = chat_file(left, format)  # type: ignore[arg-type]
    assert "And then?" in text
    if format == "json":
        data = json.loads(text)
        assert data["damage"] == "message x1 cannot be read"
        assert data["nodes"][1] == {
            "id": "x1",
            "parent_id": "q1",
            "unreadable": {"id": "x1", "parts": "[{"},
            "reason": "the parts <are> torn",
        }
    else:
        assert "This chat is damaged: message x1 cannot be read." in text
        assert "The message x1 cannot be read: the parts " in text
        assert "<are>" not in text.replace("\\<are", "")


@pytest.mark.req("T-5")
def test_messages_that_hang_in_a_circle_are_written_once() -> None:
    nodes = (
        said("q1", None, "user", "Why?"),
        said("x1", "x2", "user", "Round"),
        said("x2", "x1", "user", "and round"),
        said("y", "gone", "user", "Orphan"),
    )
    left = replace(chat(nodes[0], leaf="q1"), nodes=nodes)
    written = [each.id for section in sections(left) for each in section.nodes]
    assert sorted(written) == ["q1", "x1", "x2", "y"]


@pytest.mark.req("T-1")
@pytest.mark.parametrize("format", ["md", "html", "json"])
def test_a_file_can_be_written_whatever_a_model_wrote(format: str) -> None:
    left = asked(TextPart("half \ud83d of a pair, \0 and \ufffe"))
    chat_file(left, format).encode("utf-8")  # type: ignore[arg-type]
