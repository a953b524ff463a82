"""Two engine processes, or a window and a command, on one profile (T-6)."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.engine.owners import owner_name, this_place
from bibgenie_desktop.protocol.commands import (
    ContinueAnswer,
    FetchBodies,
    FetchTree,
    Hello,
    OpenSession,
    SaveDraft,
    SendMessage,
    Shutdown,
)
from bibgenie_desktop.protocol.events import (
    AnswerText,
    Branch,
    BranchChanged,
    CommandDone,
    CommandFailed,
    NodeBody,
    SessionsChanged,
    Tree,
    TurnFinished,
    TurnStarted,
)
from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.store.leases import LeaseStore
from bibgenie_desktop.store.sessions import SessionStore
from tests.cli.program import Program
from tests.cli.test_engine_process import EngineProcess, engine
from tests.servers.llm import LlmServer

HALF: list[dict[str, Any]] = [{"text": "Front matter "}, {"wait": True}, {"text": "never comes."}, {"finish": "stop"}]
NEXT = "What is a locator?"


async def until(running: EngineProcess, kind: type[Any]) -> Any:
    """The next event of a kind; the server of this test serves meanwhile."""
    return await asyncio.to_thread(running.until, kind)


def leases(program: Program) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(program.profile / "sessions.sqlite")) as connection:
        return connection.execute("SELECT session_id, owner FROM lease").fetchall()


@asynccontextmanager
async def held_elsewhere(path: Path, session_id: str) -> AsyncIterator[None]:
    """This process holds the lease on a session, as a window's engine does while it answers."""
    store = await SessionStore.open(path, clock=lambda: datetime.now(UTC), new_id=lambda: "")
    try:
        owner = owner_name("window", os.getpid(), this_place())
        held = LeaseStore(store.database, owner=owner, clock=lambda: datetime.now(UTC), has_ended=lambda _: False)
        assert await held.acquire(session_id, "turn")
        yield
        await held.release(session_id)
    finally:
        await store.close()


@pytest.mark.req("T-6", "U-2")
@pytest.mark.skipif(os.name == "nt", reason="there the lease of a killed engine has to expire")
async def test_when_an_engine_is_killed_in_the_middle_of_an_answer_another_goes_on(program: Program) -> None:
    """Until then the other is told of the chat, and refuses a question in it; nothing that was stored is lost."""
    async with LlmServer([HALF]) as server:
        with (
            engine(program, "--model", "offline") as other,
            engine(program, "--model", "openai/test", "--api-base", server.base_url) as one,
        ):
            other.send(Hello())
            one.send(Hello(), SendMessage("What is front matter?"))
            started: TurnStarted = await until(one, TurnStarted)
            assert (await until(one, AnswerText)).text == "Front matter "
            # What is written before a draft is written when that is: the note of the answer's first words.
            one.send(SaveDraft("", started.session_id, request=9))
            await until(one, CommandDone)
            assert started.session_id in (await until(other, SessionsChanged)).session_ids
            [(leased, owner)] = leases(program)
            assert leased == started.session_id
            assert f" in process {one.process.pid} on " in owner
            other.send(SendMessage(NEXT, started.session_id, request=1))
            refused = await until(other, CommandFailed)
            assert (refused.code, refused.request) == ("leased", 1)
            one.process.kill()
            one.process.wait()
            other.send(OpenSession(started.session_id, request=2))
            branch: Branch = await until(other, Branch)
            question, interrupted = branch.rows
            assert (question.node_id, interrupted.stop_reason) == (started.node_id, "interrupted")
            assert branch.draft == NEXT
            other.send(SendMessage(NEXT, started.session_id, request=3))
            assert (await until(other, TurnStarted)).request == 3
            assert (await until(other, TurnFinished)).stop_reason == "stop"
            other.send(OpenSession(started.session_id, request=4), Shutdown(request=5))
            events, errors, code = await asyncio.to_thread(other.rest)
    assert (errors, code) == ("", 0)
    assert CommandDone(5) in events  # the two commands are carried out side by side
    assert leases(program) == []
    [opened] = [event for event in events if isinstance(event, Branch)]
    assert ([row.role for row in opened.rows], opened.draft) == (["user", "assistant", "user", "assistant"], "")
    # After its own turn there is nothing by others to be told.
    assert not [event for event in events if isinstance(event, SessionsChanged)]
    assert program.run("doctor", "--zotero", "demo").code == 0


@pytest.mark.req("T-6")
@pytest.mark.skipif(os.name == "nt", reason="there the lease of a killed engine has to expire")
async def test_the_next_engine_goes_on_with_the_answer_of_one_that_was_killed(program: Program) -> None:
    script: list[list[dict[str, Any]]] = [HALF, [{"text": "has numerals."}, {"finish": "stop"}]]
    async with LlmServer(script) as server:
        model = ("--model", "openai/test", "--api-base", server.base_url)
        with engine(program, *model) as killed:
            killed.send(Hello(), SendMessage("What is front matter?"))
            started: TurnStarted = await until(killed, TurnStarted)
            await until(killed, AnswerText)
            killed.send(SaveDraft("", started.session_id, request=9))
            await until(killed, CommandDone)
            killed.process.kill()
            killed.process.wait()
        with engine(program, *model) as following:
            following.send(Hello())
            recovered: BranchChanged = await until(following, BranchChanged)
            assert (recovered.operation, recovered.session_id) == ("recover", started.session_id)
            [interrupted] = recovered.added
            following.send(ContinueAnswer(started.session_id, interrupted, request=2))
            going_on: TurnStarted = await until(following, TurnStarted)
            assert (going_on.node_id, going_on.beginning) == (started.node_id, "continue")
            assert (await until(following, AnswerText)).text == "Front matter "
            assert (await until(following, AnswerText)).text == "has numerals."
            finished: TurnFinished = await until(following, TurnFinished)
            following.send(FetchBodies((interrupted, finished.node_id)), FetchTree(started.session_id), Shutdown())
            events, errors, code = await asyncio.to_thread(following.rest)
        sent = server.requests[-1].body["messages"]
    assert (errors, code) == ("", 0)
    bodies = [event.segments for event in events if isinstance(event, NodeBody)]
    assert bodies == [(Segment("text", "Front matter "),), (Segment("text", "Front matter has numerals."),)]
    [tree] = [event for event in events if isinstance(event, Tree)]
    assert [(row.parent_id, row.is_active) for row in tree.rows] == [
        ("", True),
        (started.node_id, False),
        (started.node_id, True),
    ]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert sent[2]["content"] == "Front matter "


@pytest.mark.req("T-6", "U-2")
async def test_a_command_keeps_its_question_as_the_draft_where_a_window_answers(program: Program) -> None:
    asked = await asyncio.to_thread(program.run, "ask", "What is front matter?", "--zotero", "demo")
    assert asked.code == 0
    [row] = json.loads((await asyncio.to_thread(program.run, "sessions", "--json")).out)
    path = program.profile / "sessions.sqlite"
    command = ("ask", NEXT, "--zotero", "demo", "--session", row["id"])
    async with held_elsewhere(path, row["id"]):
        refused = await asyncio.to_thread(program.run, *command)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        "Another window or command is answering in this chat; your question is kept as the draft: wait for that "
        "answer or stop it there, or ask in a new chat.\n"
    )
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT session_id, text FROM draft").fetchall() == [(row["id"], NEXT)]
    assert (await asyncio.to_thread(program.run, *command)).code == 0
    assert leases(program) == []
