"""`ask` in a process of its own: the answer on stdout, one sentence on stderr where it cannot be (interface.md)."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bibgenie_desktop.cli.printing import printable
from bibgenie_desktop.protocol.codec import event_from_json
from bibgenie_desktop.protocol.events import (
    AnswerCitation,
    AnswerText,
    CommandFailed,
    LibraryProgress,
    ToolFinished,
    TurnFinished,
    TurnStarted,
)
from tests.cli.program import Finished, Program, argv
from tests.zotero.databases import copied, everything_in

QUESTION = "What does front matter numbering do to page citations?"
LINK = re.compile(r"\[([^\]]*)\]\((zotero://[^)]*)\)")


def sentence(ended: Finished, *, code: int = 1) -> str:
    """The one sentence on stderr of a run that did nothing else."""
    assert (ended.code, ended.out) == (code, "")
    assert len(ended.err.splitlines()) == 1
    assert "Traceback" not in ended.err
    return ended.err.strip()


@pytest.mark.req("A-2", "Z-2", "Z-4")
def test_the_demo_library_answers_with_the_printed_page(program: Program) -> None:
    """The front matter has eight pages: what is printed and where it is are two numbers."""
    ended = program.run("ask", QUESTION, "--zotero", "demo")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("I am the offline assistant")
    assert ended.out.endswith("\n")
    assert not ended.out.endswith("\n\n")
    first = ended.out.split("\n\n")[1]
    label, link = LINK.search(first).groups()  # type: ignore[union-attr]
    printed = re.fullmatch(r"Marrable & Fenwell 2026, p\. (\d+)", label)
    page = re.fullmatch(r"zotero://open-pdf/library/items/PDFCITE2\?page=(\d+)", link)
    assert printed is not None
    assert page is not None
    assert int(page[1]) == int(printed[1]) + 8
    assert "numbering" in first
    assert "(unverified" not in ended.out
    assert "(wrong" not in ended.out


@pytest.mark.req("Z-1", "Z-2")
@pytest.mark.parametrize("version", [9, 10])
def test_a_real_zotero_library_answers_and_nothing_appears_in_its_folder(program: Program, version: int) -> None:
    zotero = copied(version, program.folder / "zotero")
    before = everything_in(zotero)
    by_folder = program.run("ask", "Where do residual networks stand?", "--zotero", f"sqlite:{zotero}")
    by_file = program.run("ask", "sphagnum peat carbon", "--zotero", f"sqlite:{zotero / 'zotero.sqlite'}")
    assert (by_folder.code, by_folder.err, by_file.code, by_file.err) == (0, "", 0, "")
    assert "zotero://open-pdf/library/items/" in by_folder.out
    assert LINK.search(by_file.out)
    assert everything_in(zotero) == before


@pytest.mark.req("A-1")
def test_with_json_each_line_is_an_event(program: Program) -> None:
    ended = program.run("ask", QUESTION, "--zotero", "demo", "--json")
    assert (ended.code, ended.err) == (0, "")
    events = [event_from_json(json.loads(line)) for line in ended.out.splitlines()]
    kinds = [type(event) for event in events]
    assert kinds.index(LibraryProgress) < kinds.index(TurnStarted) < kinds.index(ToolFinished) < kinds.index(AnswerText)
    assert AnswerCitation in kinds
    assert kinds[-1] is TurnFinished


@pytest.mark.req("A-1", "T-1")
def test_a_chat_goes_on_with_the_beginning_of_its_id(program: Program) -> None:
    program.run("ask", QUESTION, "--zotero", "demo")
    [row] = json.loads(program.run("sessions", "--json").out)
    ended = program.run("ask", "What is a locator?", "--zotero", "demo", "--session", row["id"][:6])
    [after] = json.loads(program.run("sessions", "--json").out)
    assert ended.code == 0
    assert (after["id"], row["turns"], after["turns"]) == (row["id"], 1, 2)
    unknown = program.run("ask", "What is a locator?", "--zotero", "demo", "--session", "nope")
    assert sentence(unknown) == "There is no chat with the id 'nope': the sessions command lists them."


@pytest.mark.req("A-1")
@pytest.mark.parametrize("question", ["", "  \n "])
def test_an_empty_question_is_refused(program: Program, question: str) -> None:
    assert sentence(program.run("ask", question, "--zotero", "demo")) == "The question is empty: write one."
    assert json.loads(program.run("sessions", "--json").out) == []
    failed = event_from_json(
        json.loads(program.run("ask", question, "--zotero", "demo", "--json").out.splitlines()[-1])
    )
    assert isinstance(failed, CommandFailed)


@pytest.mark.req("A-5", "S-2")
def test_a_missing_key_names_its_variable(program: Program) -> None:
    ended = program.run("ask", QUESTION, "--zotero", "demo", "--model", "anthropic/claude-sonnet-4-5")
    assert "ANTHROPIC_API_KEY" in sentence(ended)
    assert json.loads(program.run("sessions", "--json").out) == []


@pytest.mark.req("Z-1")
def test_no_zotero_is_one_sentence_and_nothing_is_stored(program: Program) -> None:
    ended = program.run("ask", QUESTION, "--zotero", f"sqlite:{program.folder / 'nope'}")
    assert sentence(ended).startswith("There is no Zotero database at ")
    assert "--zotero demo" in ended.err
    assert json.loads(program.run("sessions", "--json").out) == []


@pytest.mark.req("Z-1")
def test_auto_is_the_demo_library_until_a_real_one_was_used(program: Program) -> None:
    first = program.run("ask", QUESTION)
    assert (first.code, "Marrable" in first.out) == (0, True)
    copied(10, program.home / "Zotero")
    second = program.run("ask", "residual networks")
    assert (second.code, "residual networks" in second.out, "Marrable" in second.out) == (0, True, False)
    (program.home / "Zotero").rename(program.home / "elsewhere")
    assert "No Zotero library was found on this computer" in sentence(program.run("ask", QUESTION))
    assert program.run("ask", QUESTION, "--zotero", "demo").code == 0


@pytest.mark.req("Z-1", "Z-5")
@pytest.mark.parametrize("content", [b"not a database at all " * 300, b"SQLite format 3\0" + b"\xff" * 9_000])
def test_a_damaged_zotero_database_is_one_sentence(program: Program, content: bytes) -> None:
    path = program.folder / "zotero.sqlite"
    path.write_bytes(content)
    ended = program.run("ask", QUESTION, "--zotero", f"sqlite:{path}")
    assert "nothing was changed" in sentence(ended)
    assert path.read_bytes() == content


@pytest.mark.req("T-5", "T-6")
def test_a_damaged_history_is_left_as_it_is(program: Program) -> None:
    program.run("ask", QUESTION, "--zotero", "demo")
    path = program.profile / "sessions.sqlite"
    path.write_bytes(b"scratched" + path.read_bytes()[9:])
    damaged = path.read_bytes()
    assert "is damaged" in sentence(program.run("ask", QUESTION, "--zotero", "demo"))
    assert "is damaged" in sentence(program.run("sessions"))
    assert path.read_bytes() == damaged


@pytest.mark.req("Z-6")
def test_a_damaged_index_is_built_anew(program: Program) -> None:
    before = program.run("ask", QUESTION, "--zotero", "demo")
    path = program.profile / "library.sqlite"
    path.write_bytes(b"scratched" * 1_000)
    after = program.run("ask", QUESTION, "--zotero", "demo")
    assert (after.code, after.out, after.err) == (0, before.out, "")


@pytest.mark.req("T-6")
def test_a_profile_that_cannot_be_written_is_one_sentence(program: Program) -> None:
    blocked = program.folder / "blocked"
    blocked.write_text("a file where the folder should be")
    ended = program.run("ask", QUESTION, "--zotero", "demo", "--profile", str(blocked))
    assert sentence(ended).startswith(f"The profile folder {blocked} cannot be written")


@pytest.mark.req("T-6")
@pytest.mark.parametrize("text", ["= 5 [", "[model]\nname = 7\n", '[model]\nname = "\\q"\n'])
def test_damaged_settings_are_left_as_they_are(program: Program, text: str) -> None:
    program.profile.mkdir()
    (program.profile / "settings.toml").write_text(text)
    assert "settings file" in sentence(program.run("ask", QUESTION, "--zotero", "demo"))
    assert (program.profile / "settings.toml").read_text() == text


@pytest.mark.req("A-2", "A-5")
def test_settings_choose_the_model_and_the_library(program: Program) -> None:
    """The model is one that nobody knows, which is one sentence; an option wins over it."""
    program.profile.mkdir()
    (program.profile / "settings.toml").write_text('[model]\nname = "no-such-model"\n[zotero]\nsource = "demo"\n')
    unknown = sentence(program.run("ask", QUESTION))
    assert re.match(r"No provider is known for the model .?no-such-model", unknown)
    assert program.run("ask", QUESTION, "--model", "offline").code == 0


@pytest.mark.req("A-1")
@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_reader_that_goes_away_ends_the_printing_quietly_and_not_the_answer(
    program: Program, more: tuple[str, ...]
) -> None:
    """As with `| head -1`."""
    reading = subprocess.Popen(
        argv("ask", QUESTION, "--zotero", "demo", *more),
        env=program.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with reading:
        assert reading.stdout is not None
        assert reading.stderr is not None
        assert reading.stdout.readline()
        reading.stdout.close()
        assert reading.stderr.read() == b""
    assert reading.returncode == 0
    [row] = json.loads(program.run("sessions", "--json").out)
    exported = program.run("export", row["id"]).out
    assert "I am the offline assistant" in exported


@pytest.mark.req("A-1", "T-6")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk to print on")
def test_an_output_that_cannot_be_written_is_said_and_the_answer_is_stored(program: Program) -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            argv("ask", QUESTION, "--zotero", "demo"), env=program.environment, stdout=full, stderr=subprocess.PIPE
        )
    assert ended.returncode == 1
    assert ended.stderr.decode().startswith("The answer could not be printed (No space left on device)")
    assert [row["turns"] for row in json.loads(program.run("sessions", "--json").out)] == [1]


@pytest.mark.req("S-1")
def test_no_control_character_of_a_document_reaches_the_terminal(program: Program) -> None:
    zotero = copied(10, program.folder / "zotero")
    connection = sqlite3.connect(zotero / "zotero.sqlite")
    hostile = "Peat \x1b]0;owned\x07 \x9b31m news"
    connection.execute("UPDATE itemDataValues SET value = ? WHERE value = 'Peat news'", (hostile,))
    connection.execute("UPDATE itemNotes SET note = ? WHERE title LIKE '%tandalone%'", (f"<p>{hostile} of all.</p>",))
    connection.commit()
    connection.close()
    ended = program.run("ask", "owned peat news of all", "--zotero", f"sqlite:{zotero}")
    assert "owned" in ended.out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", ended.out + ended.err)


@pytest.mark.req("A-1")
@pytest.mark.parametrize(
    "wrong",
    [
        ("ask",),
        ("ask", "one", "two"),
        ("frobnicate",),
        ("ask", "x", "--zotero", "cloud"),
        ("ask", "x", "--zotero", "sqlite:"),
        ("ask", "x", "--api-base", "ftp://example.org"),
        ("ask", "x", "--context-window", "12"),
        ("ask", "x", "--context-window", "9" * 5_000),
        ("ask", "x", "--model", " "),
        ("ask", "x", "--log-level", "loud"),
        ("ask", "x", "--frobnicate"),
        ("export", "x", "--format", "docx"),
        ("project",),
        ("sessions", "x"),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_two_and_says_how(program: Program, wrong: tuple[str, ...]) -> None:
    ended = program.run(*wrong)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("usage: bibgenie-desktop")
    assert not program.profile.exists()


@pytest.mark.req("A-1")
def test_options_stand_before_or_behind_the_command(program: Program) -> None:
    before = program.run("--zotero", "demo", "--model", "offline", "ask", QUESTION)
    behind = program.run("ask", QUESTION, "--model", "offline", "--zotero", "demo")
    assert (before.code, before.out) == (0, behind.out)
    assert program.run("--version").out.startswith("BibGenie Desktop ")


@pytest.mark.req("A-2")
def test_a_whole_answer_of_the_offline_assistant_imports_neither_litellm_nor_pymupdf(program: Program) -> None:
    """The second question, whose documents are indexed: it starts nothing that it does not need."""
    program.run("ask", QUESTION, "--zotero", "demo")
    ended = replace(program, more={"PYTHONPROFILEIMPORTTIME": "1"}).run("ask", QUESTION, "--zotero", "demo")
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in ended.err.splitlines()}
    assert ended.code == 0
    assert {"bibgenie_desktop", "sqlalchemy"} <= imported
    assert imported.isdisjoint({"litellm", "pymupdf", "openai", "lxml", "PySide6"})


@pytest.mark.req("S-1")
def test_no_mark_of_direction_reaches_the_terminal() -> None:
    """One in a name could turn the page number behind it round."""
    assert printable("Smi\u202egnp, p. 218\u2066\u200f") == "Smignp, p. 218"
