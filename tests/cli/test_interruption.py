"""Answers that are stopped, killed or asked for twice at once: nothing acknowledged is lost (T-6)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
from asyncio.subprocess import Process
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import CHECKOUT, Program, finished
from tests.servers.llm import LlmServer

QUESTION = "What is front matter?"
HALF: list[dict[str, Any]] = [{"text": "Front matter "}, {"wait": True}, {"text": "never comes."}, {"finish": "stop"}]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


def options(server: LlmServer) -> tuple[str, ...]:
    return ("--zotero", "demo", "--model", "openai/test", "--api-base", server.base_url)


POINT: list[dict[str, Any]] = [{"wait": True}, {"text": "."}]
SLOWLY: list[dict[str, Any]] = [{"text": "Front matter "}, *(POINT * 5_000)]
"""A point each time that the server is let on."""


async def streaming(program: Program, server: LlmServer) -> Process:
    """An ask whose answer has begun to stream and waits."""
    process = await program.start("ask", QUESTION, *options(server))
    assert process.stdout is not None
    assert await process.stdout.readexactly(len("Front matter ")) == b"Front matter "
    return process


def chats(program: Program) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(program.run("sessions", "--json").out)
    return rows


def nodes(program: Program, chat: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(program.run("export", chat, "--format", "json").out)["nodes"]
    return found


@pytest.mark.req("A-1", "T-6")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
async def test_a_stop_in_the_middle_of_an_answer_keeps_the_part_that_came(program: Program, number: str) -> None:
    """Ctrl-C, the system's request to end, and a terminal that was closed."""
    async with LlmServer([HALF]) as server:
        process = await streaming(program, server)
        process.send_signal(getattr(signal, number))
        ended = await finished(process)
        request = await server.request()
        await request.ended.wait()
    assert (ended.code, ended.out, ended.err) == (1, "\n", "Stopped.\n")
    assert request.disconnected
    [row] = chats(program)
    question, answer = nodes(program, row["id"])
    assert question["parts"][0]["text"] == QUESTION
    assert (answer["parts"][0]["text"], answer["stop_reason"]) == ("Front matter ", "cancelled")


@pytest.mark.req("A-1")
def test_a_stop_while_the_program_is_loaded_is_one_word(tmp_path: Path) -> None:
    (tmp_path / "sqlalchemy.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8"
    )
    program = Program(tmp_path, {"PYTHONPATH": f"{tmp_path}{os.pathsep}{CHECKOUT}"})
    ended = program.run("sessions")
    assert (ended.code, ended.out, ended.err) == (1, "", "Stopped.\n")


def is_journalled(program: Program) -> bool:
    """Whether the journal knows words of an answer."""
    with closing(sqlite3.connect(program.profile / "sessions.sqlite")) as connection:
        return bool(connection.execute("SELECT * FROM stream_journal WHERE parts != '[]'").fetchall())


async def killed(program: Program, server: LlmServer) -> str:
    """A chat whose process was killed in the middle of an answer, of which words had been written down: its id."""
    process = await streaming(program, server)
    assert process.stdout is not None
    while not is_journalled(program):
        server.release()
        assert await process.stdout.readexactly(1) == b"."
    process.kill()
    assert (await finished(process)).code == -signal.SIGKILL
    [row] = chats(program)
    return str(row["id"])


@pytest.mark.req("T-6")
async def test_a_kill_in_the_middle_of_an_answer_loses_no_question_and_the_chat_goes_on(program: Program) -> None:
    async with LlmServer([SLOWLY, [{"text": "Here."}, {"finish": "stop"}]]) as server:
        chat = await killed(program, server)
        assert [node["role"] for node in nodes(program, chat)] == ["user"]
        again = await finished(await program.start("ask", "Once more.", "--session", chat, *options(server)))
        assert (again.code, again.out) == (0, "Here.\n")
        sent = server.requests[-1].body["messages"]
    question, kept, _, _ = stored = nodes(program, chat)
    assert [node["role"] for node in stored] == ["user", "assistant", "user", "assistant"]
    assert kept["stop_reason"] == "interrupted"
    assert kept["parts"][0]["text"].startswith("Front matter ")
    assert sent[1:] == [
        {"role": "user", "content": question["parts"][0]["text"]},
        {"role": "assistant", "content": kept["parts"][0]["text"]},
        {"role": "user", "content": "Once more."},
    ]
    assert program.run("doctor", "--zotero", "demo").code == 0


@pytest.mark.req("T-6", "T-4")
async def test_an_answer_that_was_killed_is_gone_on_with_or_written_anew_by_a_command(program: Program) -> None:
    more: list[list[dict[str, Any]]] = [[{"text": " has numerals."}, {"finish": "stop"}]]
    async with LlmServer([SLOWLY, *more, [{"text": "Anew."}, {"finish": "stop"}]]) as server:
        chat = await killed(program, server)
        assert "Answer (interrupted): Front matter" in program.run("branches", chat).out
        kept = nodes(program, chat)[1]["parts"][0]["text"]
        going_on = await finished(await program.start("continue", chat[:8], *options(server)))
        assert (going_on.code, going_on.out, going_on.err) == (0, f"{kept} has numerals.\n", "")
        retried = await finished(await program.start("retry", chat[:8], *options(server)))
        assert (retried.code, retried.out, retried.err) == (0, "Anew.\n", "")
    tree = json.loads(program.run("branches", chat, "--json").out)
    assert [row["stop_reason"] for row in tree] == [None, "interrupted", "stop", "stop"]
    assert [row["is_active"] for row in tree] == [True, False, False, True]


@pytest.mark.req("T-6", "Z-6")
async def test_a_kill_while_the_library_is_indexed_leaves_a_profile_that_works(program: Program) -> None:
    process = await program.start("ask", QUESTION, "--zotero", "demo", "--json")
    assert process.stdout is not None
    while b'"indexing"' not in await process.stdout.readline():
        pass
    process.kill()
    await finished(process)
    ended = await finished(await program.start("ask", QUESTION, "--zotero", "demo"))
    assert (ended.code, ended.err) == (0, "")
    assert "PDFCITE2?page=" in ended.out


@pytest.mark.req("T-6")
async def test_two_questions_at_once_in_one_new_profile_are_both_answered(program: Program) -> None:
    """Both make the history and the index at the same time."""
    for _ in range(3):
        first, second = await asyncio.gather(
            program.start("ask", "What is a locator?", "--zotero", "demo"),
            program.start("ask", QUESTION, "--zotero", "demo"),
        )
        ended = await asyncio.gather(finished(first), finished(second))
        assert [(each.code, each.err) for each in ended] == [(0, ""), (0, "")]
    assert sorted(row["title"] for row in chats(program)) == sorted(["What is a locator?", QUESTION] * 3)


@pytest.mark.req("A-5", "T-6")
async def test_a_question_to_a_server_is_sent_once(program: Program) -> None:
    """A fault is told, with what came of the answer, and nothing is sent again."""
    async with LlmServer([[{"text": "Front "}, {"drop": "reset"}]]) as server:
        ended = await finished(await program.start("ask", QUESTION, *options(server)))
        assert len(server.requests) == 1
    assert (ended.code, ended.out) == (1, "Front \n")
    assert len(ended.err.splitlines()) == 1
    [row] = chats(program)
    assert nodes(program, row["id"])[1]["stop_reason"] == "interrupted"


@pytest.mark.req("S-2")
async def test_the_key_stands_in_no_file_and_no_output(program: Program, tmp_path: Path) -> None:
    secret = "sk-verysecret0123456789"
    keyed = Program(tmp_path, {"OPENAI_API_KEY": secret})
    refusal = {"status": 401, "body": {"error": {"message": "Incorrect API key provided: $KEY"}}}
    async with LlmServer([[refusal]]) as server:
        ended = await finished(await keyed.start("ask", QUESTION, *options(server), "--log-level", "debug"))
        assert server.requests[0].headers["authorization"] == f"Bearer {secret}"
    assert ended.code == 1
    assert secret not in ended.out + ended.err
    files = [path for path in keyed.profile.rglob("*") if path.is_file()]
    assert len(files) >= 3
    assert not [path for path in files if secret.encode() in path.read_bytes()]
