"""The app as one object and as a program: built, awaited, closed, and never heavier than a window (interface.md)."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from bibgenie_desktop.app import build
from bibgenie_desktop.app.application import EngineUnavailable
from bibgenie_desktop.app.running import _log_uncaught, stay
from bibgenie_desktop.cli.options import parse_options
from tests.ui.conftest import CHECKOUT, desk
from tests.ui.desk import Desk, at_the_desk, engines, until

__all__ = ["desk"]

HEAVY = ("litellm", "openai", "pymupdf", "fitz", "sqlalchemy", "lxml", "pyzotero", "httpx")

LIGHT_WINDOW = """
import sys, qasync
from PySide6.QtWidgets import QApplication
from bibgenie_desktop.app import build
application = build(sys.argv[1:])
with qasync.QEventLoop(QApplication.instance()) as loop:
    async def meet():
        await application.ready
    loop.run_until_complete(meet())
    application.close()
print(" ".join(sorted({name.partition(".")[0] for name in sys.modules})))
"""


@pytest.mark.req("U-4")
@pytest.mark.gui
def test_the_window_process_never_imports_what_the_engine_stands_on(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIGHT_WINDOW, "--profile", str(tmp_path), "--zotero", "demo", "--model", "offline"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    modules = set(done.stdout.split())
    assert {"PySide6", "qasync", "bibgenie_desktop"} <= modules
    assert modules.isdisjoint(HEAVY)


@pytest.mark.req("U-4")
def test_the_program_imports_nothing_heavy_before_it_opens_the_window() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, bibgenie_desktop.cli.main; print(*sys.modules)"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert {name.partition(".")[0] for name in done.stdout.split()}.isdisjoint(HEAVY)


@at_the_desk
async def test_a_qapplication_that_exists_is_used_and_left_as_it_was(desk: Desk) -> None:
    quits = desk.qapp.quitOnLastWindowClosed()
    await desk.open()
    assert QApplication.instance() is desk.qapp
    assert desk.app.window.objectName() == "mainWindow"
    assert desk.app.window.isVisible()
    await desk.close()
    assert desk.qapp.quitOnLastWindowClosed() == quits
    assert not [widget for widget in desk.qapp.topLevelWidgets() if widget.isVisible()]


@at_the_desk
async def test_ready_is_awaited_by_many_and_told_by_a_signal(desk: Desk) -> None:
    application = await desk.open(ready=False)
    told: list[str] = []
    application.ready.reached.connect(lambda: told.append("signal"))
    application.ready.connect(lambda: told.append("connect"))
    assert not application.ready
    await asyncio.gather(application.ready, application.ready)
    assert application.ready
    await application.ready
    assert told == ["signal", "connect"]


def test_ready_can_be_waited_for_with_the_loop_alone_and_close_runs_it_to_the_end(desk: Desk) -> None:
    application = desk.loop.run_until_complete(desk.open())
    assert len(engines()) == 1
    application.close()
    assert application.closed
    assert engines() == []
    application.close()


def test_a_window_that_was_shown_by_qt_alone_starts_its_engine_when_asyncio_runs(desk: Desk, qtbot: QtBot) -> None:
    application = build(["--profile", str(desk.profile), "--zotero", desk.library, "--model", "offline"])
    desk.opened.append(application)
    qtbot.waitExposed(application.window)
    assert engines() == []
    desk.loop.run_until_complete(asyncio.wait_for(application.ready, 60))


def test_an_app_whose_loop_never_ran_is_closed_at_once(qapp: QApplication, tmp_path: Path) -> None:
    application = build(["--profile", str(tmp_path)])
    application.close()
    assert application.closed
    assert engines() == []


@at_the_desk
async def test_closing_twice_is_closing_once_and_ready_says_so(desk: Desk) -> None:
    application = await desk.open()
    await asyncio.gather(application.close(), application.close())
    assert application.closed
    with pytest.raises(EngineUnavailable, match="closed"):
        await application.ready


@at_the_desk
async def test_closing_before_the_engine_has_answered_ends_it_too(desk: Desk) -> None:
    application = await desk.open(ready=False)
    await until(engines)
    await application.close()
    assert engines() == []


@at_the_desk
async def test_two_windows_on_one_profile_see_each_others_chats_at_their_start(desk: Desk) -> None:
    await desk.open()
    await desk.ask("What do residual pathways do?")
    first = desk.app
    await desk.open()
    await until(lambda: desk.titles == ["What do residual pathways do?"])
    await desk.ask("What does a wetland hold?")
    await asyncio.gather(first.close(), desk.app.close())
    assert engines() == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no such signal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["int", "term", "hup"])
def test_a_program_that_is_asked_to_end_closes_its_window_and_its_engine(desk: Desk, number: int) -> None:
    async def scenario() -> None:
        argv = ["--profile", str(desk.profile), "--zotero", desk.library, "--model", "offline"]
        staying = asyncio.create_task(stay(parse_options(argv)))
        await until(engines)
        os.kill(os.getpid(), number)
        await staying

    desk.loop.run_until_complete(scenario())
    assert engines() == []


def test_a_program_ends_when_its_window_is_closed(desk: Desk) -> None:
    async def scenario() -> None:
        argv = ["--profile", str(desk.profile), "--zotero", desk.library, "--model", "offline"]
        staying = asyncio.create_task(stay(parse_options(argv)))
        await until(engines)
        [window] = [widget for widget in desk.qapp.topLevelWidgets() if widget.objectName() == "mainWindow"]
        window.close()
        await staying

    desk.loop.run_until_complete(scenario())
    assert engines() == []


@pytest.mark.expect_log("ERROR bibgenie_desktop.app.running: an error in the window")
def test_an_error_in_a_slot_is_logged_with_its_traceback(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise ZeroDivisionError("in a slot")
    except ZeroDivisionError as error:
        _log_uncaught(type(error), error, error.__traceback__)
    assert caplog.records[0].levelno == logging.ERROR
    assert "in a slot" in caplog.text
    assert "ZeroDivisionError" in capsys.readouterr().err


def start(*arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the program as a person would on a machine with this environment."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    return subprocess.run(
        [sys.executable, "-m", "bibgenie_desktop", *arguments],
        env={**kept, "PYTHONPATH": str(CHECKOUT), **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a display")
@pytest.mark.req("U-1")
def test_without_a_display_one_sentence_shows_the_command_that_needs_none(tmp_path: Path) -> None:
    done = start("--profile", str(tmp_path / "profile"), environment={})
    assert done.returncode == 1
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("There is no display to open a window on.")
    assert './bibgenie ask "' in line
    assert not (tmp_path / "profile").exists()


@pytest.mark.req("U-1")
def test_without_qts_libraries_one_sentence_says_so(tmp_path: Path) -> None:
    broken = tmp_path / "PySide6" / "__init__.py"
    broken.parent.mkdir()
    broken.write_text("raise ImportError('libEGL.so.1: cannot open shared object file')")
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(CHECKOUT)]), "QT_QPA_PLATFORM": "offscreen"}
    done = start("--profile", str(tmp_path / "profile"), environment=environment)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "libEGL.so.1" in line
    assert "./bibgenie ask" in line
