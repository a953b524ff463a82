"""Searching, exporting and importing, as the window asks for it (T-8)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bibgenie_desktop.engine.exchange import NotWritten, write_file
from bibgenie_desktop.engine.exporting import chat_file
from bibgenie_desktop.protocol.commands import ExportSession, ImportSession, ListSessions, SearchHistory
from bibgenie_desktop.protocol.events import CommandDone, CommandFailed, HistoryFound, SessionList, SessionMade
from tests.engine.chats import chat, rich_chat, said
from tests.engine.running import running
from tests.engine.scripted import ScriptedModel, answers
from tests.engine.shelf import Shelf


@pytest.mark.req("T-8")
async def test_what_was_said_is_found_in_its_chat(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel(answers("Vellum is skin."))) as room:
        session_id = await room.send("What is it?")
        await room.engine.handle(SearchHistory("vell", request=4))
        found = room.last(HistoryFound)
        [hit] = found.hits
        assert (found.request, found.is_cut, found.more) == (4, False, False)
        assert (hit.session_id, hit.title, hit.role) == (session_id, "What is it?", "assistant")
        assert (hit.before, hit.match, hit.after) == ("", "Vell", "um is skin.")
        assert (hit.is_active, hit.is_archived) == (True, False)
        await room.engine.handle(SearchHistory('"', request=5))
        assert room.last(HistoryFound) == HistoryFound((), request=5)


@pytest.mark.req("T-8")
async def test_many_hits_come_in_pieces_and_the_best_are_told(shelf: Shelf, tmp_path: Path) -> None:
    nodes = [said("n0", None, "user", "ü" * 60 + " vellum " + "ü" * 60)]
    nodes += [said(f"n{at}", f"n{at - 1}", "user", nodes[0].text) for at in range(1, 60)]
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        await room.sessions.importing.add(chat(*nodes, leaf="n59"))
        await room.engine.handle(SearchHistory("vellum"))
        pieces = room.told(HistoryFound)
        assert [piece.more for piece in pieces] == [True] * (len(pieces) - 1) + [False]
        assert sum(len(piece.hits) for piece in pieces) == 50
        assert all(piece.is_cut for piece in pieces)


@pytest.mark.req("T-8")
async def test_a_chat_leaves_and_comes_back_as_another_one(shelf: Shelf, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    async with running(shelf, tmp_path, ScriptedModel(answers("Vellum."))) as room:
        session_id = await room.send("What is it?")
        await room.engine.handle(ExportSession(session_id, str(file), "json", whole=True, request=1))
        assert room.last(CommandDone).request == 1
        await room.engine.handle(ImportSession(str(file), request=2))
        made = room.last(SessionMade)
        assert (made.title, made.request) == ("What is it?", 2)
        await room.engine.handle(ListSessions())
        assert [row.id for row in room.last(SessionList).sessions] == [made.session_id, session_id]
        assert [node.text for node in await room.branch(made.session_id)] == ["What is it?", "Vellum."]


@pytest.mark.req("T-8")
async def test_a_file_that_exists_is_replaced_only_when_that_was_said(shelf: Shelf, tmp_path: Path) -> None:
    file = tmp_path / "chat.md"
    file.write_text("mine")
    async with running(shelf, tmp_path, ScriptedModel(answers("Vellum."))) as room:
        session_id = await room.send("What is it?")
        await room.engine.handle(ExportSession(session_id, str(file), "md", request=1))
        failed = room.last(CommandFailed)
        assert (failed.code, failed.request) == ("file", 1)
        assert failed.sentence == f"{file} exists and was left as it is: name another file."
        assert file.read_text() == "mine"
        await room.engine.handle(ExportSession(session_id, str(file), "md", overwrite=True, request=2))
        assert room.last(CommandDone).request == 2
        assert file.read_text(encoding="utf-8").startswith("# What is it?")
        await room.engine.handle(ExportSession("gone", str(file), "md", request=3))
        assert room.last(CommandFailed).sentence.startswith("There is no chat with the id 'gone'")


@pytest.mark.req("T-8", "S-1")
async def test_a_file_that_holds_no_chat_is_refused_and_nothing_is_made(shelf: Shelf, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text("{}")
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        await room.engine.handle(ImportSession(str(file), request=1))
        await room.engine.handle(ImportSession(str(tmp_path / "none"), request=2))
        assert [(failed.code, failed.request) for failed in room.told(CommandFailed)] == [("file", 1), ("file", 2)]
        assert room.told(SessionMade) == []
        assert await room.sessions.sessions() == []


@pytest.mark.req("T-6", "T-8")
def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "chat.html"
    write_file(file, "eins ü", overwrite=False)
    assert file.read_bytes() == "eins ü".encode()
    write_file(file, "half \ud800", overwrite=True)
    assert file.read_bytes() == b"half ?"
    for place in (tmp_path, tmp_path / "none" / "x", Path("a\0b"), tmp_path / ("x" * 300)):
        with pytest.raises(NotWritten, match="cannot be written"):
            write_file(place, "x", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["chat.html"]


@pytest.mark.req("T-8")
def test_a_name_may_be_as_long_as_the_disk_takes_it(tmp_path: Path) -> None:
    """A title in Chinese, say, of which each character is three bytes."""
    for overwrite in (False, True):
        file = tmp_path / f"{'書' * 84}.md"
        assert len(os.fsencode(file.name)) == 255
        write_file(file, f"written {overwrite}", overwrite=overwrite)
        assert file.read_text() == f"written {overwrite}"


@pytest.mark.req("T-8")
@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_behind_a_link_the_file_is_replaced_that_it_leads_to(tmp_path: Path) -> None:
    file, link = tmp_path / "chat.md", tmp_path / "link.md"
    file.write_text("old")
    link.symlink_to(file)
    write_file(link, "new", overwrite=True)
    assert (link.is_symlink(), file.read_text()) == (True, "new")
    link.unlink()
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotWritten, match="exists and was left as it is"):
        write_file(link, "new", overwrite=False)


@pytest.mark.req("T-8")
async def test_a_whole_chat_leaves_in_each_format(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        session_id, _ = await room.sessions.importing.add(rich_chat())
        for format in ("md", "json", "html"):
            for whole in (False, True):
                file = tmp_path / f"{format}-{whole}"
                await room.engine.handle(ExportSession(session_id, str(file), format, whole=whole))
                assert ("Before the checkpoint." in file.read_text(encoding="utf-8")) is whole
        stored = await room.sessions.exporting.read(session_id, whole=True)
        assert (tmp_path / "json-True").read_text(encoding="utf-8") == chat_file(stored, "json")
        assert json.loads((tmp_path / "json-False").read_text(encoding="utf-8"))["checkpoints"] != []
