"""How the system's viewer of documents is told which file to open, and at which page (Z-2).

Files come from a library that may be hostile (S-1): only regular files that are PDF or EPUB by name and by their first
bytes are opened, and a program gets its arguments one by one, never through a shell. Pages are physical, from 1.

Sources: the options of Evince, Atril, Xreader and Papers (`--page-index` counts physical pages from 1; `--page-label`
would take a printed one), of Okular, Zathura, qpdfview, MuPDF and SumatraPDF; Adobe's parameters for opening PDF files,
which Foxit and PDF-XChange take too; the fragment `#page=` of browsers' own viewers.
"""

from __future__ import annotations

import asyncio
import ntpath
import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QProcess, QStandardPaths, QUrl

from ..protocol.events import FileKind

SECONDS = 20.0
"""For looking at a file: one that lies in a cloud is fetched meanwhile."""
QUERY_SECONDS = 3.0
"""For the system to tell its viewer."""

T = TypeVar("T")
_translate = QCoreApplication.translate

_MAGIC: Mapping[FileKind, bytes] = {"pdf": b"%PDF-", "epub": b"PK\x03\x04"}
# By the name of the desktop entry, without its ending: the programs that may be behind it. An entry of a sandbox has
# the same name, but none of these programs: then nothing is known, and the file is opened as the system would.
_ENTRIES: Mapping[str, tuple[str, ...]] = {
    "org.gnome.evince": ("evince",),
    "evince": ("evince",),
    "org.gnome.papers": ("papers",),
    "atril": ("atril",),
    "xreader": ("xreader",),
    "org.kde.okular": ("okular",),
    "okular": ("okular",),
    "okularapplication_pdf": ("okular",),
    "org.pwmt.zathura": ("zathura",),
    "org.pwmt.zathura-pdf-mupdf": ("zathura",),
    "org.pwmt.zathura-pdf-poppler": ("zathura",),
    "zathura": ("zathura",),
    "qpdfview": ("qpdfview",),
    "mupdf": ("mupdf",),
    "firefox": ("firefox",),
    "firefox_firefox": ("firefox",),
    "firefox-esr": ("firefox-esr",),
    "org.mozilla.firefox": ("firefox",),
    "chromium": ("chromium", "chromium-browser"),
    "chromium-browser": ("chromium-browser", "chromium"),
    "chromium_chromium": ("chromium",),
    "google-chrome": ("google-chrome-stable", "google-chrome"),
    "com.google.chrome": ("google-chrome-stable", "google-chrome"),
    "microsoft-edge": ("microsoft-edge-stable", "microsoft-edge"),
    "com.microsoft.edge": ("microsoft-edge-stable", "microsoft-edge"),
    "brave-browser": ("brave-browser-stable", "brave-browser"),
    "com.brave.browser": ("brave-browser-stable", "brave-browser"),
}
_BROWSERS = {"firefox", "firefox-esr", "chrome", "msedge", "brave", "vivaldi"} | {
    program for entry, programs in _ENTRIES.items() if re.search("chrom|edge|brave", entry) for program in programs
}
_UNFIT = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_EXE = re.compile(r'\s*(?:"([^"]+)"|(.+?\.exe)(?:\s|\Z))', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Opening:
    """A program to start with these arguments. `programs` are names, or a path: the first that is there is meant."""

    programs: tuple[str, ...]
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Looked:
    """A file that was looked at: its path, or why it is not opened."""

    path: str = ""
    problem: str = ""


def viewer_command(viewer: str, path: str, page: int) -> Opening | None:
    """How a viewer opens the PDF file `path`, which is absolute, at a page. None where nobody knows.

    `viewer` is a desktop entry (`org.gnome.Evince.desktop`) or the path of a Windows program.
    """
    if page < 1 or not _is_absolute(path):
        return None
    if viewer.lower().endswith(".desktop"):
        programs = _ENTRIES.get(viewer[: -len(".desktop")].lower(), ())
        arguments = _arguments(programs[0], path, page) if programs else None
    elif viewer.lower().endswith(".exe") and ntpath.isabs(viewer):
        programs = (viewer,)
        arguments = _arguments(ntpath.basename(viewer).lower().removesuffix(".exe"), path, page)
    else:
        return None
    return Opening(programs, arguments) if arguments else None


def _arguments(program: str, path: str, page: int) -> tuple[str, ...] | None:
    match program:
        case "evince" | "papers" | "atril" | "xreader":
            return f"--page-index={page}", path
        case "okular":
            return "--page", str(page), path
        case "zathura":
            return "-P", str(page), path
        case "qpdfview":
            return "--unique", "--", f"{path}#{page}"
        case "mupdf":
            return path, str(page)
        case "acrobat" | "acrord32" | "pdfxedit" | "pdfxcview":
            return "/A", f"page={page}", path
        case "foxitpdfreader" | "foxitreader" | "foxitpdfeditor" | "foxitphantompdf":
            return path, "/A", f"page={page}"
        case "sumatrapdf":
            return "-page", str(page), path
        case _ if program in _BROWSERS:
            return (f"{_file_url(path)}#page={page}",)
        case _:
            return None


def _file_url(path: str) -> str:
    # Encoded wholly, so that a # or % of the name stays one.
    return QUrl.fromLocalFile(path).toString(QUrl.ComponentFormattingOption.FullyEncoded)


def _is_absolute(path: str) -> bool:
    """Whether a path begins with a folder of this computer, and so with no sign that could be taken for an option."""
    # Behind a second colon Windows would look for a part of another file.
    return bool(re.match(r"/(?!/)|[A-Za-z]:[\\/][^:]*\Z", path))


def program_of(command: str) -> str:
    """The path of the program in a command line of the Windows registry, "" where it names none."""
    match = _EXE.match(command)
    found = (match[1] or match[2]) if match else ""
    return found if ntpath.isabs(found) and found.lower().endswith(".exe") else ""


# What the computer says


async def default_viewer() -> str:
    """What opens PDF files here: a desktop entry, or the path of a Windows program; "" where nobody tells."""
    if sys.platform == "win32":
        return await _aside(_registered_program) or ""
    if sys.platform == "darwin":
        # `open` hands over a file, and no page.
        return ""
    return await _asked_entry()


async def _asked_entry() -> str:
    """The desktop entry that `xdg-mime` tells."""
    try:
        process = await asyncio.create_subprocess_exec(
            *("xdg-mime", "query", "default", "application/pdf"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return ""
    try:
        async with asyncio.timeout(QUERY_SECONDS):
            told, _ = await process.communicate()
    except TimeoutError:
        return ""
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return told.decode(errors="replace").strip()


def _registered_program() -> str:
    """The program that Windows has registered for PDF files, as the person chose it."""
    command = ""
    if sys.platform == "win32":
        import winreg

        chosen = r"Software\Microsoft\Windows\CurrentVersion\Explorer\FileExts\.pdf\UserChoice"
        with suppress(OSError), winreg.OpenKey(winreg.HKEY_CURRENT_USER, chosen) as key:
            name = str(winreg.QueryValueEx(key, "ProgId")[0])
            command = winreg.QueryValue(winreg.HKEY_CLASSES_ROOT, rf"{name}\shell\open\command")
    return program_of(os.path.expandvars(command))


async def look_at(path: str, kind: FileKind) -> Looked:
    """Whether a file may be opened: regular, of this kind by its name and by its first bytes."""
    looked = await _aside(lambda: _look_at(path, kind))
    if looked is None:
        return Looked(problem=_translate("Viewers", "The file could not be read in time."))
    return looked


def _look_at(path: str, kind: FileKind) -> Looked:
    # Nothing that some program could not be told; and no other computer, to which Windows would introduce itself.
    if _UNFIT.search(path) or not os.path.isabs(path) or not _is_absolute(path):
        return Looked(problem=_translate("Viewers", "The file lies where this program opens none."))
    try:
        # Where links end counts: by that name the system chooses a program.
        real = os.path.realpath(path, strict=True)
        if any(PurePath(name).suffix.lower() != f".{kind}" for name in (path, real)):
            return Looked(problem=_translate("Viewers", "The file is no PDF or EPUB by its name."))
        if not stat.S_ISREG(os.stat(real).st_mode):
            return Looked(problem=_translate("Viewers", "There is no file in this place."))
        with open(real, "rb") as file:
            begin = file.read(len(_MAGIC[kind]))
    except (OSError, ValueError):
        return Looked(problem=_translate("Viewers", "The file is not there any more, or cannot be read."))
    if begin != _MAGIC[kind]:
        return Looked(problem=_translate("Viewers", "The file is no PDF or EPUB by what it holds."))
    return Looked(path)


async def _aside(look: Callable[[], T]) -> T | None:
    """Call `look` in a thread and return what it returns; None where it takes too long.

    The thread may outlive the app's end: reading a file that lies in a cloud must not hold that up.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T) -> None:
        if not future.done():
            future.set_result(result)

    def run() -> None:
        result = look()
        # The loop may be closed by now.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result)

    threading.Thread(target=run, name="look at a file", daemon=True).start()
    try:
        async with asyncio.timeout(SECONDS):
            return await future
    except TimeoutError:
        return None


# What is started


def start(opening: Opening) -> bool:
    """Start a program that outlives this one; tells whether it could be started."""
    program = next(filter(None, map(QStandardPaths.findExecutable, opening.programs)), "")
    if not program:
        return False
    process = QProcess()
    process.setProgram(program)
    process.setArguments(list(opening.arguments))
    # What a viewer prints does not belong among what this program prints.
    process.setStandardInputFile(QProcess.nullDevice())
    process.setStandardOutputFile(QProcess.nullDevice())
    process.setStandardErrorFile(QProcess.nullDevice())
    started: object = process.startDetached()
    return bool(started[0] if isinstance(started, tuple) else started)
