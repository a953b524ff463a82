"""A click on a citation opens its file at its page; where there is none, Zotero opens the link, and why is told."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl

from bibgenie_desktop.protocol.commands import Command, FindFile
from bibgenie_desktop.protocol.events import CommandFailed, FileFound, FileKind
from bibgenie_desktop.ui.links import LinkRouter
from bibgenie_desktop.ui.outgoing import Outgoing
from bibgenie_desktop.ui.passages import PassageOpener
from bibgenie_desktop.ui.tasks import TaskRegistry
from bibgenie_desktop.ui.viewers import Opening

pytestmark = [pytest.mark.req("Z-2"), pytest.mark.gui]

LINK = "zotero://open-pdf/library/items/ABCD2345?page=12"
OTHER = "zotero://open-pdf/library/items/EFGH6789?page=3"
IN_ZOTERO = f"Opens in Zotero: {LINK}"
LOOKING = "Looking for the file…"


class Reader:
    """Who clicks on citations; the engine's part and the system's are played by the test."""

    def __init__(self, folder: Path, viewer: str = "org.gnome.Evince.desktop") -> None:
        self.folder = folder
        self.viewer = viewer
        self.viewer_asked = 0
        self.runs = self.takes = True
        self.sent: list[Command] = []
        self.said: list[str] = []
        self.urls: list[str] = []
        self.started: list[Opening] = []
        self.tasks = TaskRegistry()
        self.outgoing = Outgoing(self.sent.append)
        self.router = LinkRouter(open_url=self._open_url)
        self.passages = PassageOpener(
            self.router,
            self.outgoing,
            self.tasks,
            open_url=self._open_url,
            run=self._run,
            viewer=self._ask_viewer,
        )
        self.passages.answered.connect(self.said.append)
        self.passages.engine_answers()

    def _open_url(self, url: QUrl) -> bool:
        self.urls.append(url.toString())
        return self.takes

    def _run(self, opening: Opening) -> bool:
        self.started.append(opening)
        return self.runs

    async def _ask_viewer(self) -> str:
        self.viewer_asked += 1
        return self.viewer

    @property
    def idle(self) -> bool:
        """Whether nothing was opened, and nothing said."""
        return not (self.started or self.urls or self.said)

    def file(self, name: str = "a.pdf", content: bytes = b"%PDF-1.7") -> str:
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    def found(self, path: str, page: int = 12, kind: FileKind = "pdf", request: int = 1, link: str = LINK) -> None:
        assert self.outgoing.answered(FileFound(link, path, page, kind, request))

    async def settled(self) -> None:
        """Until nothing is on its way."""
        await others()


async def others() -> None:
    """Wait for the end of all other tasks."""
    async with asyncio.timeout(30):
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


async def test_a_passage_is_opened_at_its_page_in_the_systems_viewer(reader: Reader) -> None:
    assert reader.router.open(LINK) == LOOKING
    assert reader.sent == [FindFile(LINK, 1)]
    assert reader.idle
    path = reader.file()
    reader.found(path)
    await reader.settled()
    assert reader.started == [Opening(("evince",), ("--page-index=12", path))]
    assert reader.said == ["Opened the file at its page 12."]
    assert reader.urls == []


async def test_the_system_is_asked_for_its_viewer_once(reader: Reader) -> None:
    path = reader.file()
    for request in (1, 2):
        reader.router.open(LINK)
        reader.found(path, request=request)
        await reader.settled()
    assert len(reader.started) == 2
    assert reader.viewer_asked == 1


async def test_a_viewer_that_takes_no_page_opens_the_file_and_the_page_is_told(tmp_path: Path) -> None:
    reader = Reader(tmp_path, viewer="someone.desktop")
    reader.router.open(LINK)
    path = reader.file("a #1 100%.pdf")
    reader.found(path)
    await reader.settled()
    assert [QUrl(url).toLocalFile() for url in reader.urls] == [path]
    assert reader.said == ["Opened the file; go to its page 12."]


async def test_a_viewer_that_does_not_start_leaves_the_file_to_the_system(reader: Reader) -> None:
    reader.runs = False
    reader.router.open(LINK)
    reader.found(reader.file())
    await reader.settled()
    assert len(reader.urls) == 1
    assert reader.said == ["Opened the file; go to its page 12."]


@pytest.mark.parametrize(
    ("name", "content", "kind"), [("a.pdf", b"%PDF-1.7", "pdf"), ("a.epub", b"PK\x03\x04", "epub")]
)
async def test_a_file_without_a_page_is_opened_as_the_system_would(
    reader: Reader, name: str, content: bytes, kind: FileKind
) -> None:
    reader.router.open(LINK)
    reader.found(reader.file(name, content), page=0, kind=kind)
    await reader.settled()
    assert reader.said == ["Opened the file."]
    assert reader.started == []
    assert reader.viewer_asked == 0


async def test_a_file_that_the_library_has_not_is_opened_in_zotero_and_the_reason_told(reader: Reader) -> None:
    reader.router.open(LINK)
    assert reader.outgoing.answered(CommandFailed("missing", "The file is gone.", 1))
    assert reader.urls == [LINK]
    assert reader.said == [f"The file is gone. {IN_ZOTERO}"]
    assert reader.router.open(LINK) == LOOKING


async def test_where_zotero_does_not_take_the_link_either_both_are_told(reader: Reader) -> None:
    reader.takes = False
    reader.router.open(LINK)
    reader.outgoing.answered(CommandFailed("missing", "The file is gone.", 1))
    assert reader.said == [
        "The file is gone. Zotero did not take the link: install Zotero, or copy the link.",
    ]


async def test_a_link_that_the_engine_finds_malformed_is_opened_nowhere(reader: Reader) -> None:
    reader.router.open(LINK)
    reader.outgoing.answered(CommandFailed("bad_link", "This link was not followed.", 1))
    assert reader.said == ["This link was not followed."]
    assert reader.urls == []


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", b"\x7fELF"),
        ("a.pdf", b"#!/bin/sh"),
        ("a.desktop", b"%PDF-1.7"),
        ("a.exe", b"MZ"),
        ("a.epub", b"%PDF-"),
    ],
)
async def test_a_file_that_is_no_document_is_never_opened(reader: Reader, name: str, content: bytes) -> None:
    reader.router.open(LINK)
    reader.found(reader.file(name, content))
    await reader.settled()
    assert reader.started == []
    assert reader.urls == [LINK]
    assert reader.said[0].startswith("The file is no PDF or EPUB by ")
    assert reader.said[0].endswith(IN_ZOTERO)


@pytest.mark.req("S-1")
@pytest.mark.parametrize("path", ["", "-a.pdf", "a.pdf", "//server/share/a.pdf", "\\\\server\\share\\a.pdf"])
async def test_a_path_on_another_computer_or_without_a_folder_is_never_opened(reader: Reader, path: str) -> None:
    reader.router.open(LINK)
    reader.found(path)
    await reader.settled()
    assert reader.started == []
    assert reader.urls == [LINK]


async def test_no_program_at_all_leaves_the_link_and_says_so(reader: Reader) -> None:
    reader.runs = reader.takes = False
    reader.router.open(LINK)
    reader.found(reader.file())
    await reader.settled()
    assert reader.said == [
        "No program took the file. Zotero did not take the link: install Zotero, or copy the link.",
    ]


# More than one click


async def test_many_clicks_on_a_citation_open_it_once(reader: Reader) -> None:
    assert [reader.router.open(LINK) for _ in range(5)] == [LOOKING] * 5
    assert len(reader.sent) == 1
    reader.found(reader.file())
    # The file is being looked at: still the same opening.
    assert reader.router.open(LINK) == LOOKING
    await reader.settled()
    assert len(reader.sent) == len(reader.started) == len(reader.said) == 1


async def test_of_several_citations_the_last_that_was_clicked_is_opened(reader: Reader) -> None:
    """The library may still be read: what is found minutes later must not open windows that nobody waits for."""
    for link in (LINK, OTHER, LINK):
        reader.router.open(link)
    assert [command.request for command in reader.sent] == [1, 2, 3]
    path = reader.file()
    reader.found(path, page=1, request=1)
    assert reader.outgoing.answered(CommandFailed("missing", "The file is gone.", 2))
    await reader.settled()
    assert reader.idle
    reader.found(path, page=7, request=3)
    await reader.settled()
    assert [opening.arguments[0] for opening in reader.started] == ["--page-index=7"]


async def test_a_file_that_is_still_looked_at_gives_way_to_another_click(reader: Reader) -> None:
    reader.router.open(LINK)
    reader.found(reader.file())
    reader.router.open(OTHER)
    await reader.settled()
    assert reader.idle
    reader.found(reader.file("b.pdf"), page=3, request=2, link=OTHER)
    await reader.settled()
    assert reader.said == ["Opened the file at its page 3."]


# The engine


async def test_answers_to_others_are_left_to_them(reader: Reader) -> None:
    reader.router.open(LINK)
    for event in (
        CommandFailed("missing", "Another command failed.", 7),
        FileFound(LINK, "/a.pdf", 1, "pdf", 0),
    ):
        assert not reader.outgoing.answered(event)
    assert reader.said == []
    assert reader.outgoing.answered(CommandFailed("missing", "The file is gone.", 1))
    assert not reader.outgoing.answered(CommandFailed("missing", "The file is gone.", 1))


async def test_without_an_engine_zotero_opens_the_link_at_once(reader: Reader) -> None:
    reader.passages.engine_ended()
    assert reader.router.open(LINK) == f"The engine does not answer, which knows where the file is. {IN_ZOTERO}"
    assert reader.urls == [LINK]
    assert not reader.sent
    assert not reader.said
    reader.passages.engine_answers()
    assert reader.router.open(LINK) == LOOKING


async def test_an_engine_that_ends_leaves_no_click_unanswered(reader: Reader) -> None:
    for link in (OTHER, LINK):
        reader.router.open(link)
    reader.passages.engine_ended()
    assert reader.urls == [LINK]
    assert reader.said == [f"The engine ended before it found the file. {IN_ZOTERO}"]
    # What still comes out of its pipe opens nothing more.
    reader.found(reader.file(), request=2)
    await reader.settled()
    assert reader.started == []
    assert len(reader.said) == 1


async def test_a_file_that_was_found_is_opened_though_the_engine_ends(reader: Reader) -> None:
    reader.router.open(LINK)
    reader.found(reader.file())
    reader.passages.engine_ended()
    await reader.settled()
    assert reader.said == ["Opened the file at its page 12."]


async def test_in_zotero_is_in_zotero(reader: Reader) -> None:
    assert reader.router.open_in_zotero(LINK) == IN_ZOTERO
    assert reader.urls == [LINK]
    assert reader.sent == []


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="programs are told by xdg-mime elsewhere only")
async def test_a_real_viewer_is_told_the_file_and_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way with real processes: `xdg-mime` answers, and a program of the viewer's name is started."""
    import os

    os.mkfifo(tmp_path / "told")
    for name, text in (
        ("xdg-mime", "echo org.gnome.Evince.desktop"),
        ("evince", f'printf "%s\\n" "$@" > {tmp_path}/told'),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    sent: list[Command] = []
    said: list[str] = []
    tasks = TaskRegistry()
    router = LinkRouter(open_url=lambda url: False)
    outgoing = Outgoing(sent.append)
    passages = PassageOpener(router, outgoing, tasks)
    passages.answered.connect(said.append)
    passages.engine_answers()
    router.open(LINK)
    path = tmp_path / "-a 'b' $(c) #1 100%.pdf"
    path.write_bytes(b"%PDF-1.7")
    outgoing.answered(FileFound(LINK, str(path), 12, "pdf", 1))
    async with asyncio.timeout(30):
        told = await asyncio.to_thread((tmp_path / "told").read_text)
    await others()
    assert told == f"--page-index=12\n{path}\n"
    assert said == ["Opened the file at its page 12."]
