"""`sessions`, `project`, `export` and `doctor` in a process of their own (interface.md)."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.cli.options import Options
from bibgenie_desktop.cli.wiring import Setting
from bibgenie_desktop.engine.agent.prompts import system_prompt
from bibgenie_desktop.profile.paths import Profile, resources
from bibgenie_desktop.profile.settings import Settings
from bibgenie_desktop.sessions.parts import parts_from_json
from tests.cli.program import Program, argv, finished
from tests.servers.llm import LlmServer
from tests.zotero.databases import copied

QUESTION = "What does front matter numbering do to page citations?"


@pytest.fixture
def chat(program: Program) -> str:
    """The id of a chat with one answer, over the demo library."""
    assert program.run("ask", QUESTION, "--zotero", "demo").code == 0
    [row] = json.loads(program.run("sessions", "--json").out)
    return str(row["id"])


@pytest.mark.req("T-2")
def test_chats_are_listed_the_last_used_first(program: Program, chat: str) -> None:
    program.run("ask", "What is a locator?", "--zotero", "demo")
    rows = json.loads(program.run("sessions", "--json").out)
    listed = program.run("sessions")
    assert [row["title"] for row in rows] == ["What is a locator?", QUESTION]
    assert [row["id"] for row in rows][1] == chat
    assert rows[0].keys() == {
        "id",
        "title",
        "turns",
        "tokens",
        "leaf_id",
        "branch_revision",
        "model",
        "updated_at",
        "forked_from_id",
        "is_pinned",
        "is_archived",
    }
    assert (rows[0]["turns"], rows[0]["branch_revision"], rows[0]["model"]) == (1, 2, "offline")
    assert rows[0]["tokens"] > 100
    assert (listed.code, listed.err) == (0, "")
    lines = listed.out.splitlines()
    assert [line.startswith(row["id"][:12]) for line, row in zip(lines, rows, strict=True)] == [True, True]
    assert all("1 turn " in line and line.endswith(row["title"]) for line, row in zip(lines, rows, strict=True))


@pytest.mark.req("T-2")
def test_a_new_profile_has_no_chats(program: Program) -> None:
    ended = program.run("sessions")
    assert (ended.code, ended.out, ended.err) == (0, "", "There are no chats yet.\n")
    assert program.run("sessions", "--json").out == "[]\n"


@pytest.mark.req("D-10", "C-1")
async def test_the_projection_is_what_the_model_is_sent_next(program: Program) -> None:
    """Compared with the requests that a server really gets."""
    call = {"index": 0, "id": "call_1", "name": "search_library", "arguments": '{"query": "front matter"}'}
    script: list[list[dict[str, Any]]] = [
        [{"tool_calls": [call]}, {"finish": "tool_calls"}],
        [{"text": "It has roman numerals."}, {"finish": "stop"}],
        [{"text": "Because of the body."}, {"finish": "stop"}],
    ]
    async with LlmServer(script) as server:
        model = ("--zotero", "demo", "--model", "openai/test", "--api-base", server.base_url)
        first = await finished(await program.start("ask", QUESTION, *model))
        assert (first.code, first.out, first.err) == (0, "It has roman numerals.\n", "")
        [row] = json.loads(program.run("sessions", "--json").out)
        projected: dict[str, Any] = json.loads(program.run("project", row["id"][:8], "--json").out)
        shown = program.run("project", row["id"])
        second = await finished(await program.start("ask", "Why?", "--session", row["id"], *model))
        assert (second.code, second.out) == (0, "Because of the body.\n")
        sent = server.requests[-1].body
    # A message of nothing but calls has a null content here; the client library leaves that key out.
    messages = [{key: value for key, value in each.items() if value is not None} for each in projected["messages"]]
    assert sent["messages"] == [*messages, {"role": "user", "content": "Why?"}]
    assert sent["tools"] == projected["tools"]
    assert projected["messages"][0] == {"role": "system", "content": system_prompt(resources())}
    assert [message["role"] for message in projected["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert projected["tokens"] > 500
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith(f"About {projected['tokens']:,} tokens (estimated).")
    assert f"── user\n{QUESTION}\n" in shown.out
    assert '→ search_library {"query": "front matter"}' in shown.out


@pytest.mark.req("Z-2", "Z-3")
def test_a_chat_is_exported_as_markdown_and_as_json(program: Program, chat: str) -> None:
    markdown = program.run("export", chat[:10])
    data = json.loads(program.run("export", chat, "--format", "json").out)
    file = program.folder / "chat.md"
    written = program.run("export", chat, "--format", "md", "--output", str(file))
    assert (markdown.code, markdown.err) == (0, "")
    assert markdown.out.startswith(f"# {QUESTION}\n\n## You · ")
    assert "](zotero://open-pdf/library/items/PDFCITE2?page=" in markdown.out
    assert (written.code, written.out, file.read_text(encoding="utf-8")) == (0, "", markdown.out)
    assert data["session"]["id"] == chat
    assert [node["role"] for node in data["nodes"]] == ["user", "assistant"]
    assert len(parts_from_json(data["nodes"][1]["parts"])) == 2


@pytest.mark.req("T-8", "Z-2", "S-1")
def test_a_chat_is_exported_as_a_page_with_every_branch_when_that_is_asked_for(program: Program, chat: str) -> None:
    assert program.run("retry", chat, "--zotero", "demo").code == 0
    active = program.run("export", chat, "--format", "html")
    whole = program.run("export", chat, "--format", "html", "--whole", "--checkpoints")
    assert (active.code, active.err, whole.code, whole.err) == (0, "", 0, "")
    assert active.out.startswith("<!DOCTYPE html>")
    assert 'href="zotero://open-pdf/library/items/PDFCITE2?page=' in active.out
    assert active.out.count("<article") == 2
    assert whole.out.count("<article") == 3
    assert "Another version of the answer to “" in whole.out


@pytest.mark.req("T-6")
@pytest.mark.parametrize("target", ["", "nowhere/chat.md"])
def test_a_file_that_cannot_be_written_is_one_sentence(program: Program, chat: str, target: str) -> None:
    path = program.folder / target
    ended = program.run("export", chat, "--output", str(path))
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"{path} cannot be written: ")
    assert len(ended.err.splitlines()) == 1


@pytest.mark.req("T-5")
@pytest.mark.parametrize("command", ["project", "export"])
def test_a_chat_that_nobody_knows_is_one_sentence(program: Program, chat: str, command: str) -> None:
    ended = program.run(command, "ffff")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "There is no chat with the id 'ffff': the sessions command lists them.\n"


@pytest.mark.req("T-5")
def test_of_a_damaged_chat_all_that_can_be_read_is_exported_and_the_rest_said(program: Program, chat: str) -> None:
    program.run("ask", "What is a locator?", "--zotero", "demo", "--session", chat)
    connection = sqlite3.connect(program.profile / "sessions.sqlite")
    connection.execute("DROP TRIGGER node_is_append_only")
    connection.execute(
        "UPDATE node SET parts = 'x' WHERE role = 'assistant' AND created_at = (SELECT min(created_at) "
        "FROM node WHERE role = 'assistant')"
    )
    connection.commit()
    connection.close()
    exported, projected = program.run("export", chat), program.run("project", chat)
    asked = program.run("ask", "And?", "--zotero", "demo", "--session", chat)
    assert exported.code == 1
    assert "What is a locator?" in exported.out
    assert QUESTION in exported.out.split("\n", 1)[1]
    assert exported.out.count(" cannot be read: ") == 2
    assert exported.err.startswith("This chat is damaged; what can be read was exported: message ")
    assert (projected.code, projected.out) == (1, "")
    assert projected.err.startswith("This chat is damaged and cannot be sent to a model: ")
    assert (asked.code, asked.out) == (1, "")
    assert asked.err.startswith("This chat is damaged and can only be read: ")


@pytest.mark.req("A-1")
@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
@pytest.mark.parametrize("command", ["sessions", "project", "export", "doctor"])
def test_a_reader_that_has_gone_ends_a_listing_quietly(program: Program, chat: str, command: str) -> None:
    arguments = [command] if command in ("sessions", "doctor") else [command, chat]
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(argv(*arguments), env=program.environment, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, b"")


@pytest.mark.req("A-2", "Z-1", "Z-6")
def test_the_doctor_finds_a_sound_profile_well(program: Program, chat: str) -> None:
    ended = program.run("doctor", "--zotero", "demo")
    checks = json.loads(program.run("doctor", "--zotero", "demo", "--json").out)
    assert (ended.code, ended.err) == (0, "")
    assert [check["name"] for check in checks] == [
        "program",
        "profile",
        "history",
        "library",
        "files",
        "index",
        "model",
        "keyring",
    ]
    assert all(check["ok"] and not check["mend"] for check in checks)
    assert [line[:4] for line in ended.out.splitlines()] == ["ok  "] * 8
    assert "history: 1 chat, sound" in ended.out


@pytest.mark.req("Z-1", "T-5")
def test_the_doctor_says_what_needs_doing(program: Program) -> None:
    program.profile.mkdir()
    (program.profile / "sessions.sqlite").write_bytes(b"scratched" * 500)
    nowhere = f"sqlite:{program.folder / 'nope'}"
    ended = program.run("doctor", "--zotero", nowhere, "--model", "no-such-model")
    assert (ended.code, ended.err) == (1, "")
    lines = ended.out.splitlines()
    needing = [line.split()[1].rstrip(":") for line in lines if line.startswith("MEND")]
    assert needing == ["profile", "library", "model"]
    assert "No provider is known" in ended.out
    assert all(lines[place + 1].startswith("      ") for place, line in enumerate(lines) if line.startswith("MEND"))


@pytest.mark.req("Z-1", "Z-5")
def test_the_doctor_changes_nothing_in_a_zotero_folder_and_counts_its_files(program: Program, tmp_path: Path) -> None:
    zotero = copied(9, tmp_path / "zotero")
    listed = sorted(path.name for path in zotero.rglob("*"))
    ended = program.run("doctor", "--zotero", f"sqlite:{zotero}")
    assert ended.code == 0
    assert "15 works in 3 libraries" in ended.out
    assert "files: 12 files on this computer, 3 are not" in ended.out
    assert sorted(path.name for path in zotero.rglob("*")) == listed


@pytest.mark.req("E-3")
def test_an_export_overwrites_no_file(program: Program, tmp_path: Path) -> None:
    program.run("ask", "What is front matter?", "--zotero", "demo")
    [row] = json.loads(program.run("sessions", "--json").out)
    precious = tmp_path / "precious.md"
    precious.write_text("mine", encoding="utf-8")
    ended = program.run("export", row["id"], "--output", str(precious))
    assert (ended.code, precious.read_text(encoding="utf-8")) == (1, "mine")
    assert "exists and was left as it is" in ended.err


@pytest.mark.req("Z-1")
@pytest.mark.parametrize("command", ["ask", "doctor"])
def test_settings_that_name_no_library_are_one_sentence(program: Program, command: str) -> None:
    program.profile.mkdir(parents=True)
    (program.profile / "settings.toml").write_text('[zotero]\nsource = "bogus"\n', encoding="utf-8")
    ended = program.run(command, *(["Why?"] if command == "ask" else []))
    assert ended.code == 1
    assert "zotero.source is 'bogus'" in ended.out + ended.err
    assert "Traceback" not in ended.err


@pytest.mark.req("S-2")
def test_an_address_in_the_settings_gets_no_other_models_key(tmp_path: Path) -> None:
    """The address belongs to the model it stands beside."""
    settings = Settings(model="openai/local", api_base="http://127.0.0.1:1/v1")
    for chosen, expected in (
        ("anthropic/claude", None),
        ("openai/local", settings.api_base),
        (None, settings.api_base),
    ):
        setting = Setting(Profile(tmp_path), settings, Options("ask", model=chosen))
        assert setting.api_base(setting.model_name()) == expected


@pytest.mark.req("S-2")
@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_the_profile_is_for_its_user_alone(program: Program) -> None:
    program.run("sessions")
    assert program.profile.stat().st_mode & 0o077 == 0
