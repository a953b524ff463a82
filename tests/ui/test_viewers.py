"""The system's viewer gets the file and the page, argument by argument, and only a file that is what it says."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QUrl

from bibgenie_desktop.protocol.events import FileKind
from bibgenie_desktop.ui import viewers
from bibgenie_desktop.ui.viewers import Opening, default_viewer, look_at, program_of, start, viewer_command

pytestmark = pytest.mark.req("Z-2", "S-1")

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for a program")
FILE = "/books/-a 'b' \"c\" #1 100%.pdf"
ADDRESS = "file:///books/-a%20'b'%20%22c%22%20%231%20100%25.pdf#page=12"
HOSTILE = [
    "/-n.pdf",
    "/a b.pdf",
    "/$(reboot).pdf",
    "/`x`;y&z|.pdf",
    "/\"'.pdf",
    "/a#1.pdf",
    "/a%20?b.pdf",
    "/ü 本.pdf",
    "C:\\Books\\-a #1.pdf",
]


@pytest.mark.parametrize(
    ("viewer", "program", "arguments"),
    [
        ("org.gnome.Evince.desktop", "evince", ("--page-index=12", FILE)),
        ("evince.desktop", "evince", ("--page-index=12", FILE)),
        ("org.gnome.Papers.desktop", "papers", ("--page-index=12", FILE)),
        ("atril.desktop", "atril", ("--page-index=12", FILE)),
        ("xreader.desktop", "xreader", ("--page-index=12", FILE)),
        ("org.kde.okular.desktop", "okular", ("--page", "12", FILE)),
        ("okularApplication_pdf.desktop", "okular", ("--page", "12", FILE)),
        ("org.pwmt.zathura.desktop", "zathura", ("-P", "12", FILE)),
        ("org.pwmt.zathura-pdf-poppler.desktop", "zathura", ("-P", "12", FILE)),
        ("qpdfview.desktop", "qpdfview", ("--unique", "--", f"{FILE}#12")),
        ("mupdf.desktop", "mupdf", (FILE, "12")),
        ("firefox.desktop", "firefox", (ADDRESS,)),
        ("firefox_firefox.desktop", "firefox", (ADDRESS,)),
        ("google-chrome.desktop", "google-chrome-stable", (ADDRESS,)),
        ("chromium.desktop", "chromium", (ADDRESS,)),
        ("microsoft-edge.desktop", "microsoft-edge-stable", (ADDRESS,)),
        ("brave-browser.desktop", "brave-browser-stable", (ADDRESS,)),
    ],
)
def test_a_linux_viewer_is_told_the_physical_page_in_its_own_way(
    viewer: str, program: str, arguments: tuple[str, ...]
) -> None:
    opening = viewer_command(viewer, FILE, 12)
    assert opening is not None
    assert opening.programs[0] == program
    assert opening.arguments == arguments


@pytest.mark.parametrize(
    ("program", "before", "behind"),
    [
        ("Adobe\\Acrobat DC\\Acrobat\\Acrobat.exe", ("/A", "page=12"), ()),
        ("Adobe\\Reader\\AcroRd32.exe", ("/A", "page=12"), ()),
        ("Tracker Software\\PDF Editor\\PDFXEdit.exe", ("/A", "page=12"), ()),
        ("SumatraPDF\\SumatraPDF.exe", ("-page", "12"), ()),
        ("Foxit Software\\Foxit PDF Reader\\FoxitPDFReader.exe", (), ("/A", "page=12")),
    ],
)
def test_a_windows_viewer_is_told_the_page_in_its_own_way(
    program: str, before: tuple[str, ...], behind: tuple[str, ...]
) -> None:
    path = "C:\\Program Files\\" + program
    book = "C:\\Books\\a b.pdf"
    assert viewer_command(path, book, 12) == Opening((path,), (*before, book, *behind))


@pytest.mark.parametrize("browser", ["msedge", "chrome", "firefox", "brave"])
def test_a_windows_browser_is_given_an_address_with_the_page(browser: str) -> None:
    path = f"C:\\Apps\\{browser}.exe"
    assert viewer_command(path, "C:/Books/a #1.pdf", 3) == Opening((path,), ("file:///C:/Books/a%20%231.pdf#page=3",))


@pytest.mark.parametrize(
    "viewer",
    [
        *("", "evince", "rm.desktop", ".desktop", "org.gnome.Evince.desktop.exe", "../evince.desktop"),
        *("AcroRd32.exe", "C:\\Apps\\cmd.exe", "C:\\Apps\\AcroRd32.bat", "AppXd4nrz8ff68srnhf9t5a8sbjyar1cr723"),
    ],
)
def test_a_viewer_that_nobody_knows_is_not_told_a_page(viewer: str) -> None:
    assert viewer_command(viewer, FILE, 12) is None


@pytest.mark.parametrize(
    "path",
    [
        "-n.pdf",
        "a.pdf",
        "./a.pdf",
        "",
        "//server/a.pdf",
        "\\\\server\\share\\a.pdf",
        "http://x/a.pdf",
        "C:\\a.exe:b.pdf",
    ],
)
def test_a_path_that_is_not_whole_is_handed_to_no_program(path: str) -> None:
    assert viewer_command("mupdf.desktop", path, 12) is None


@pytest.mark.parametrize("page", [0, -1])
def test_without_a_page_the_system_opens_the_file(page: int) -> None:
    assert viewer_command("mupdf.desktop", FILE, page) is None


VIEWERS = [
    *("evince", "org.gnome.Papers", "okular", "zathura", "qpdfview", "mupdf", "firefox", "chromium"),
    *("C:\\x\\Acrobat.exe", "C:\\x\\SumatraPDF.exe", "C:\\x\\FoxitReader.exe", "C:\\x\\msedge.exe"),
]


@given(
    viewer=st.sampled_from([each if each.endswith(".exe") else f"{each}.desktop" for each in VIEWERS]),
    path=st.one_of(
        st.sampled_from(HOSTILE),
        st.builds(
            "/{}.pdf".format,
            st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30).map(lambda name: name.lstrip("/")),
        ),
    ),
    page=st.integers(1, 10**6),
)
def test_whatever_a_file_is_called_it_is_one_argument_and_no_option(viewer: str, path: str, page: int) -> None:
    opening = viewer_command(viewer, path, page)
    assert opening is not None
    address = opening.arguments[0]
    holding = [each for each in opening.arguments if path in each or (each == address and each.startswith("file:"))]
    if address.startswith("file:"):
        assert opening.arguments == (address,)
        url = QUrl(address, QUrl.ParsingMode.StrictMode)
        assert url.isValid()
        assert url.fragment() == f"page={page}"
        url.setFragment("")
        assert url.toLocalFile() == QUrl.fromLocalFile(path).toLocalFile()
    else:
        assert holding == [path] or holding == [f"{path}#{page}"]
        assert holding[0][0] != "-"
    rest = "".join(each for each in opening.arguments if each not in holding)
    assert not set(rest) & set(" \"'$`;|&")


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ('"C:\\Program Files\\Adobe\\Acrobat.exe" "%1"', "C:\\Program Files\\Adobe\\Acrobat.exe"),
        ("C:\\Program Files\\Sumatra\\SumatraPDF.exe %1", "C:\\Program Files\\Sumatra\\SumatraPDF.exe"),
        ("C:\\Apps\\x.EXE", "C:\\Apps\\x.EXE"),
        ('"C:\\Apps\\x.bat" "%1"', ""),
        ('"..\\x.exe" "%1"', ""),
        ("x.exe", ""),
        ("rundll32 shell32.dll,Open %1", ""),
        ('"unclosed', ""),
        ("", ""),
    ],
)
def test_the_program_of_a_registered_command_is_found(command: str, program: str) -> None:
    assert program_of(command) == program


# Looking at files


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.pdf", b"%PDF-1.7\n", "pdf"),
        ("A B#1%20-\u00e4\u00a0\u672c.PDF", b"%PDF-2.0", "pdf"),
        ("a.epub", b"PK\x03\x04mimetype", "epub"),
    ],
)
async def test_a_document_may_be_opened(tmp_path: Path, name: str, content: bytes, kind: FileKind) -> None:
    path = str(write(tmp_path / name, content))
    looked = await look_at(path, kind)
    assert (looked.path, looked.problem) == (path, "")


@pytest.mark.parametrize(
    ("name", "content", "kind", "word"),
    [
        ("a.pdf", b"\x7fELF\x02\x01", "pdf", "by what it holds"),
        ("a.pdf", b"MZ\x90", "pdf", "by what it holds"),
        ("a.pdf", b"#!/bin/sh\n%PDF-1.7", "pdf", "by what it holds"),
        ("a.pdf", b"", "pdf", "by what it holds"),
        ("a.pdf", b"PK\x03\x04", "pdf", "by what it holds"),
        ("a.epub", b"%PDF-1.7", "epub", "by what it holds"),
        ("a.epub", b"%PDF-1.7", "pdf", "by its name"),
        ("a.desktop", b"%PDF-1.7", "pdf", "by its name"),
        ("a.pdf.exe", b"%PDF-1.7", "pdf", "by its name"),
        ("pdf", b"%PDF-1.7", "pdf", "by its name"),
    ],
)
async def test_what_is_no_document_by_its_name_and_what_it_holds_is_not_opened(
    tmp_path: Path, name: str, content: bytes, kind: FileKind, word: str
) -> None:
    looked = await look_at(str(write(tmp_path / name, content)), kind)
    assert looked.path == ""
    assert word in looked.problem


async def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "folder.pdf").mkdir()
    assert "no file" in (await look_at(str(tmp_path / "folder.pdf"), "pdf")).problem
    assert "not there" in (await look_at(str(tmp_path / "missing.pdf"), "pdf")).problem


@POSIX
async def test_a_pipe_that_never_answers_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.pdf")
    assert "no file" in (await look_at(str(tmp_path / "a.pdf"), "pdf")).problem


@POSIX
async def test_a_link_of_the_file_system_counts_by_where_it_ends(tmp_path: Path) -> None:
    write(tmp_path / "run.command", b"%PDF-1.7")
    write(tmp_path / "b.pdf", b"%PDF-1.7")
    for name, target in (("a.pdf", "run.command"), ("c.pdf", "b.pdf"), ("loop.pdf", "loop.pdf")):
        (tmp_path / name).symlink_to(tmp_path / target)
    assert "by its name" in (await look_at(str(tmp_path / "a.pdf"), "pdf")).problem
    assert (await look_at(str(tmp_path / "c.pdf"), "pdf")).path == str(tmp_path / "c.pdf")
    assert "not there" in (await look_at(str(tmp_path / "loop.pdf"), "pdf")).problem


@pytest.mark.parametrize(
    "path",
    ["", "a.pdf", "-a.pdf", "./a.pdf", "//server/a.pdf", "\\\\server\\a.pdf", "/a\n.pdf", "/a\0.pdf", "/\udc80.pdf"],
)
async def test_a_path_that_is_not_plain_is_not_even_looked_at(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.pdf", "-a.pdf"):
        write(tmp_path / name, b"%PDF-1.7")
    assert "opens none" in (await look_at(path, "pdf")).problem


async def test_a_file_that_is_not_read_in_time_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in a cloud may take minutes: the window waits a while, and never stands still."""
    arrived = threading.Event()
    slow = tmp_path / "a.pdf"

    def realpath(path: str, strict: bool) -> str:
        arrived.wait()
        return path

    monkeypatch.setattr(os.path, "realpath", realpath)
    monkeypatch.setattr(viewers, "SECONDS", 0.0)
    try:
        looked = await look_at(str(write(slow, b"%PDF-1.7")), "pdf")
    finally:
        arrived.set()
    assert looked.problem == "The file could not be read in time."


# The system's viewer


def script(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


linux = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="only there xdg-mime is asked")


@linux
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('echo "org.gnome.Evince.desktop"; test "$*" = "query default application/pdf"', "org.gnome.Evince.desktop"),
        ("exit 4", ""),
        ("printf '\\377\\376'", "\ufffd\ufffd"),
    ],
)
async def test_the_system_is_asked_for_its_viewer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    script(tmp_path, "xdg-mime", text)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert await default_viewer() == told


@linux
async def test_a_system_without_the_question_has_no_viewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await default_viewer() == ""


@linux
async def test_a_system_that_does_not_answer_is_given_up_and_its_process_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, "xdg-mime", f"echo $$ > {tmp_path}/pid\nexec sleep 600")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(viewers, "QUERY_SECONDS", 0.5)
    assert await default_viewer() == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@POSIX
async def test_a_program_is_started_with_exactly_its_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "told")
    script(tmp_path, "viewer-of-the-test", f'for each in "$@"; do printf "%s\\n" "$each"; done > {tmp_path}/told')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    arguments = ("--page-index=12", "/-a b'c\"d$(x)`y`#1%20*.pdf", "")
    assert start(Opening(("not-there-of-the-test", "viewer-of-the-test"), arguments))
    async with asyncio.timeout(30):
        told = await asyncio.to_thread((tmp_path / "told").read_text)
    assert told.split("\n")[:-1] == list(arguments)


def test_a_program_that_is_not_there_is_not_started() -> None:
    assert not start(Opening(("not-there-of-the-test",), ("/a.pdf",)))
    assert not start(Opening(("/not/there/of/the/test.exe",), ("/a.pdf",)))
