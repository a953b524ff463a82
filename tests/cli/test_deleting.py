"""`delete` in a process of its own: a chat is gone down to the disk, or was left as it is (T-7)."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.program import Program, argv
from tests.cli.test_engine_process import engine
from tests.cli.test_two_engines import held_elsewhere
from tests.store.traces import secret, traces

pytestmark = pytest.mark.req("T-7")


def history(program: Program) -> Path:
    return program.profile / "sessions.sqlite"


def ids(program: Program) -> list[str]:
    return [row["id"] for row in json.loads(program.run("sessions", "--json").out)]


@pytest.fixture
def chat(program: Program) -> str:
    """The id of a chat whose words can be looked for; everything is logged that can be."""
    asked = program.run("ask", secret("question"), "--zotero", "demo", "--log-level", "debug")
    assert asked.code == 0
    [session_id] = ids(program)
    return session_id


def test_a_deleted_chat_has_left_no_byte_in_the_profile(program: Program, chat: str) -> None:
    """The log of the finest level and the library's cache included."""
    assert program.run("ask", "What is a locator?", "--zotero", "demo").code == 0
    other, _ = ids(program)
    assert list(traces(program.profile)) == ["sessions.sqlite"]
    assert (program.profile / "logs" / "bibgenie.log").stat().st_size > 0
    ended = program.run("delete", chat[:12], "--yes", "--log-level", "debug")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert traces(program.profile) == {}
    assert ids(program) == [other]
    assert program.run("doctor", "--zotero", "demo").code == 0
    gone = program.run("delete", chat, "--yes")
    assert (gone.code, gone.err.count("\n")) == (1, 1)
    assert "There is no chat" in gone.err


def test_json_tells_what_was_deleted(program: Program, chat: str) -> None:
    ended = program.run("delete", chat, "--yes", "--json")
    assert (ended.code, json.loads(ended.out)) == (0, {"id": chat, "wiped": True})


def test_without_a_terminal_nothing_is_deleted_unasked(program: Program, chat: str) -> None:
    ended = program.run("delete", chat)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "Nothing was deleted: where nobody can be asked, delete needs --yes.\n"
    assert ids(program) == [chat]


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
@pytest.mark.parametrize(
    ("typed", "is_deleted"),
    [
        ("y\n", True),
        ("YES\n", True),
        ("\n", False),
        ("n\n", False),
        ("yesterday\n", False),
        ("\x04", False),
        ("\x03", False),
    ],
)
def test_on_a_terminal_the_person_is_asked(program: Program, chat: str, typed: str, is_deleted: bool) -> None:
    if sys.platform == "win32":
        return
    import pty

    try:
        pid, terminal = pty.fork()
    except OSError as error:  # a system without pseudo-terminals, such as a bare container
        pytest.skip(f"no pseudo-terminals here: {error}")
    if pid == 0:
        os.execve(sys.executable, argv("delete", chat), program.environment)
    shown = b""
    try:
        while b"[y/N] " not in shown:
            shown += os.read(terminal, 1_000)
        os.write(terminal, typed.encode())
        _, status = os.waitpid(pid, 0)
    finally:
        os.close(terminal)
    assert shown.decode().strip() == f"Delete the chat “{secret('question')}” for good? [y/N]"
    assert os.waitstatus_to_exitcode(status) == (0 if is_deleted else 1)
    assert ids(program) == ([] if is_deleted else [chat])


@pytest.mark.req("T-6")
async def test_a_chat_in_which_a_window_answers_is_left_as_it_is(program: Program, chat: str) -> None:
    async with held_elsewhere(history(program), chat):
        ended = program.run("delete", chat, "--yes")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("A window or another command is answering in this chat, which was left as it is")
    assert ids(program) == [chat]


def test_a_backup_that_is_damaged_is_told(program: Program, chat: str) -> None:
    (program.profile / "backups").mkdir()
    broken = program.profile / "backups" / "old.sqlite"
    broken.write_bytes(b"no database " * 1_000)
    ended = program.run("delete", chat, "--yes", "--json")
    assert (ended.code, json.loads(ended.out)) == (1, {"id": chat, "wiped": False})
    assert ended.err.startswith(f"The backup {broken} is damaged and was left as it is")
    assert ids(program) == []


def test_a_chat_that_is_gone_is_never_said_to_be_unchanged(program: Program, chat: str) -> None:
    """Where the history can be marked, and then no more be written: the disk became full, say."""
    with closing(sqlite3.connect(history(program))) as connection:
        connection.execute("CREATE TRIGGER full BEFORE DELETE ON session BEGIN SELECT RAISE(ABORT, 'no room'); END")
        connection.commit()
    ended = program.run("delete", chat, "--yes", "--json")
    assert (ended.code, json.loads(ended.out)) == (1, {"id": chat, "wiped": False})
    assert ended.err.startswith("The chat is deleted, but its bytes could not be wiped off the disk yet; ")
    assert ids(program) == []
    with closing(sqlite3.connect(history(program))) as connection:
        connection.execute("DROP TRIGGER full")
        connection.execute("UPDATE session SET deleted_at = '2020-01-01T00:00:00.000Z'")
        connection.commit()
    assert program.run("ask", "What is a locator?", "--zotero", "demo").code == 0
    [other] = ids(program)
    assert program.run("delete", other, "--yes").code == 0
    assert traces(program.profile) == {}


def test_what_a_window_could_not_finish_is_deleted_too(program: Program, chat: str) -> None:
    assert program.run("ask", "What is a locator?", "--zotero", "demo").code == 0
    other, _ = ids(program)
    with closing(sqlite3.connect(history(program))) as connection:
        connection.execute("UPDATE session SET deleted_at = '2020-01-01T00:00:00.000Z' WHERE id = ?", (chat,))
        connection.execute("INSERT INTO draft VALUES ('gone', ?, '[]', '')", (secret("draft"),))
        connection.commit()
    assert program.run("delete", other, "--yes").code == 0
    assert traces(program.profile) == {}


def test_a_window_deletes_what_the_settings_do_not_keep(program: Program, chat: str) -> None:
    (program.profile / "settings.toml").write_text("[history]\nkeep_days = 30\n", encoding="utf-8")
    with closing(sqlite3.connect(history(program))) as connection:
        connection.execute("UPDATE session SET updated_at = '2020-01-01T00:00:00.000Z'")
        connection.commit()
    from bibgenie_desktop.protocol.commands import Hello, Shutdown
    from bibgenie_desktop.protocol.events import SessionsChanged

    with engine(program) as running:
        running.send(Hello())
        assert running.until(SessionsChanged).session_ids == (chat,)
        running.send(Shutdown())
        running.rest()
    assert ids(program) == []
