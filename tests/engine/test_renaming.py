"""Renaming a chat, as the window asks for it (T-2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.protocol.commands import ListSessions, OpenSession, RenameSession, SendMessage
from bibgenie_desktop.protocol.events import Branch, BranchChanged, CommandFailed, SessionList, SessionRenamed
from tests.engine.running import running
from tests.engine.scripted import Gate, ScriptedModel, answers
from tests.engine.shelf import Shelf


@pytest.mark.req("T-2")
async def test_a_renamed_chat_is_listed_and_opened_by_its_new_title(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."))) as room:
        session_id = await room.send("One?")
        changed = len(room.told(BranchChanged))
        await room.engine.handle(ListSessions())
        [before] = room.last(SessionList).sessions
        await room.engine.handle(RenameSession(session_id, "Peat\r\nand \u202epaths", request=5))
        assert room.last(SessionRenamed) == SessionRenamed(session_id, "Peat and paths", 5)
        await room.engine.handle(ListSessions())
        [after] = room.last(SessionList).sessions
        assert (after.title, before.title) == ("Peat and paths", "One?")
        assert (after.branch_revision, after.updated_at) == (before.branch_revision, before.updated_at)
        await room.engine.handle(OpenSession(session_id))
        assert room.last(Branch).title == "Peat and paths"
        assert len(room.told(BranchChanged)) == changed


@pytest.mark.req("T-2")
async def test_a_title_that_is_empty_and_a_chat_that_is_unknown_are_refused(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("One."))) as room:
        session_id = await room.send("One?")
        await room.engine.handle(RenameSession(session_id, " \n", request=1))
        await room.engine.handle(RenameSession("gone", "Peat", request=2))
        failed = room.told(CommandFailed)
        assert [(each.code, each.request) for each in failed] == [("refused", 1), ("refused", 2)]
        assert "needs a title" in failed[0].sentence
        assert room.told(SessionRenamed) == []


@pytest.mark.req("T-2")
async def test_a_chat_is_renamed_while_its_answer_streams(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    async with running(shelf, tmp_path, ScriptedModel([gate, *answers("One.")])) as room:
        await room.engine.handle(SendMessage("One?"))
        await gate.reached.wait()
        [summary] = await room.sessions.sessions()
        await room.engine.handle(RenameSession(summary.session.id, "Peat"))
        gate.opened.set()
        await room.engine.turns_settled()
        session = await room.sessions.session(summary.session.id)
        assert (session.title, session.branch_revision) == ("Peat", 2)
        assert [node.text for node in await room.branch(session.id)] == ["One?", "One."]
