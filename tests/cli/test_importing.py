"""`import` in a process of its own: a chat goes from one profile to another (T-8)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.cli.program import Program

pytestmark = pytest.mark.req("T-8")


def test_a_chat_goes_from_one_profile_to_another(program: Program) -> None:
    assert program.run("ask", "What is a locator?", "--zotero", "demo").code == 0
    [row] = json.loads(program.run("sessions", "--json").out)
    file = program.folder / "chat.json"
    program.run("export", row["id"], "--format", "json", "--whole", "--output", str(file))
    other = replace(program, more={"BIBGENIE_PROFILE": str(program.folder / "other")})
    taken = other.run("import", str(file))
    again = json.loads(other.run("import", str(file), "--json").out)
    rows = json.loads(other.run("sessions", "--json").out)
    assert (taken.code, taken.err) == (0, "")
    assert taken.out == f"{rows[1]['id'][:12]}  What is a locator?\n"
    assert again == {"id": rows[0]["id"], "title": "What is a locator?"}
    assert len({row["id"], rows[0]["id"], rows[1]["id"]}) == 3
    assert other.run("export", rows[0]["id"]).out == program.run("export", row["id"]).out
    assert other.run("search", "locator").code == 0


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "There is no file {file}; nothing was imported: choose another one."),
        (b"{}", "{file} is no chat that can be imported; nothing was changed: it was not exported by BibGenie."),
        (b"[" * 5000, "{file} is no chat that can be imported; nothing was changed: it is nested too deeply."),
    ],
)
def test_what_is_no_chat_is_one_sentence(program: Program, content: bytes | None, sentence: str) -> None:
    file = program.folder / "chat.json"
    if content is not None:
        file.write_bytes(content)
    ended = program.run("import", str(file))
    assert (ended.code, ended.out, ended.err) == (1, "", sentence.format(file=file) + "\n")
    assert program.run("sessions", "--json").out == "[]\n"
