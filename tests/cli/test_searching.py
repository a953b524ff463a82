"""`search` in a process of its own (T-8)."""

from __future__ import annotations

import json

import pytest

from tests.cli.program import Program

pytestmark = pytest.mark.req("T-8")


def test_what_was_said_is_found_and_shown_with_the_words_around_it(program: Program) -> None:
    assert program.run("ask", "What is a locator?", "--zotero", "demo").code == 0
    [row] = json.loads(program.run("sessions", "--json").out)
    found = program.run("search", "LOCATOR")
    hits = json.loads(program.run("search", "locator", "--json").out)
    assert (found.code, found.err) == (0, "")
    assert found.out.splitlines()[0].startswith(row["id"][:12])
    assert "→locator←" in found.out
    assert {hit["session_id"] for hit in hits} == {row["id"]}
    assert {hit["role"] for hit in hits} == {"user", "assistant"}
    assert hits[0].keys() == {
        "session_id",
        "title",
        "node_id",
        "role",
        "created_at",
        "before",
        "match",
        "after",
        "is_active",
        "is_archived",
    }


def test_a_message_of_another_branch_is_said_to_be_one(program: Program) -> None:
    program.run("ask", "What is a locator?", "--zotero", "demo")
    [row] = json.loads(program.run("sessions", "--json").out)
    [first] = [hit["node_id"] for hit in hits(program) if hit["role"] == "assistant"]
    program.run("retry", row["id"], "--zotero", "demo")
    assert {hit["node_id"]: hit["is_active"] for hit in hits(program) if hit["node_id"] == first} == {first: False}
    assert "(other branch)" in program.run("search", "locator").out


def hits(program: Program) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(program.run("search", "locator", "--json").out)
    return found


@pytest.mark.parametrize("query", ["vellum", '"', "AND OR (", ""])
def test_what_is_nowhere_is_said_in_one_line(program: Program, query: str) -> None:
    ended = program.run("search", query)
    assert (ended.code, ended.out, ended.err) == (0, "", "Nothing was found.\n")
    assert program.run("search", query, "--json").out == "[]\n"
