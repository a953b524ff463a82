"""Chats into files and back: the dialogs are opened and never block, and what became of it is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QMenu

from bibgenie_desktop.protocol.commands import ExportSession, ImportSession, OpenSession
from bibgenie_desktop.protocol.events import SessionMade
from bibgenie_desktop.ui.exchange import LONGEST_NAME, file_name
from tests.ui.played import Played, chat, played

pytestmark = [
    pytest.mark.gui,
    pytest.mark.req("U-1", "U-6"),
    # Qt's own file dialog changes its smallest size while it is shown.
    pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints"),
]


@pytest.fixture
def desk(qapp: QApplication) -> Iterator[Played]:
    with played() as window:
        window.welcome(chat("a", 'Bias: "effort" / roads?'), chat("b"))
        window.click_chat("a")
        window.branch("a", ["n1", "n2"])
        yield window


def status(desk: Played) -> str:
    return desk.find(QLabel, "statusLine").accessibleName()


def dialog(desk: Played, name: str) -> QFileDialog:
    return desk.find(QFileDialog, name)


def choose(desk: Played, name: str, path: Path, *, chosen: str = "") -> None:
    """Write a path into the dialog and press Enter."""
    shown = dialog(desk, name)
    assert shown.isVisible()
    if chosen:
        shown.selectNameFilter(chosen)
        shown.filterSelected.emit(chosen)
    field = shown.findChild(QLineEdit, "fileNameEdit")
    assert field is not None
    field.setText(str(path))
    QTest.keyClick(field, Qt.Key.Key_Return)
    # It is gone with the next turn of the event loop; until then it has no name.
    shown.setObjectName("")


def test_a_chat_is_exported_as_markdown_and_the_status_line_says_where(desk: Played, tmp_path: Path) -> None:
    desk.action("exportAction").trigger()
    name = dialog(desk, "exportDialog").selectedFiles()[0]
    assert Path(name).stem == "Bias effort roads"
    choose(desk, "exportDialog", tmp_path / "bias")
    sent = desk.last(ExportSession)
    assert (sent.session_id, sent.path, sent.format) == ("a", str(tmp_path / "bias.md"), "md")
    assert (sent.whole, sent.overwrite) == (False, True)
    assert status(desk) == "Exporting…"
    desk.done(ExportSession)
    assert status(desk) == "The chat is written to bias.md."
    # The next one is offered beside it.
    desk.action("exportTreeAction").trigger()
    assert dialog(desk, "exportDialog").directory().absolutePath() == str(tmp_path)
    dialog(desk, "exportDialog").reject()


@pytest.mark.parametrize(
    ("chosen", "written", "sent_path", "sent_format", "overwrite"),
    [
        ("JSON, which can be imported (*.json)", "x", "x.json", "json", True),
        ("Web page (*.html)", "x", "x.html", "html", True),
        ("", "x.json", "x.json", "json", True),
        ("", "x.HTM", "x.HTM", "html", True),
        # A dialog that leaves the end of the name to us asked nobody about that file.
        ("", "Chapter 3. Sources", "Chapter 3. Sources.md", "md", False),
    ],
)
def test_the_format_is_that_of_the_name_or_else_the_chosen_one(
    desk: Played, tmp_path: Path, chosen: str, written: str, sent_path: str, sent_format: str, overwrite: bool
) -> None:
    desk.action("exportTreeAction").trigger()
    choose(desk, "exportDialog", tmp_path / written, chosen=chosen)
    sent = desk.last(ExportSession)
    assert (sent.path, sent.format) == (str(tmp_path / sent_path), sent_format)
    assert (sent.whole, sent.overwrite) == (True, overwrite)


def test_a_chat_of_the_list_is_exported_by_its_menu(desk: Played, tmp_path: Path) -> None:
    sessions = desk.window.session_list
    menu = sessions.context_menu(desk.index("b"))
    [export] = [action.menu() for action in menu.actions() if action.text() == "Export"]
    assert isinstance(export, QMenu)
    assert [action.text() for action in export.actions()] == ["This branch…", "The whole tree…"]
    export.actions()[1].trigger()
    choose(desk, "exportDialog", tmp_path / "b")
    assert (desk.last(ExportSession).session_id, desk.last(ExportSession).whole) == ("b", True)


def test_an_export_that_failed_is_said_in_one_sentence(desk: Played, tmp_path: Path) -> None:
    desk.action("exportAction").trigger()
    choose(desk, "exportDialog", tmp_path / "a")
    desk.refuse(ExportSession, "The disk is full: nothing was written.")
    assert desk.text("noticeText") == "The disk is full: nothing was written."
    assert status(desk) != "Exporting…"


def test_a_dialog_that_is_left_does_nothing(desk: Played) -> None:
    desk.action("exportAction").trigger()
    dialog(desk, "exportDialog").reject()
    desk.action("importAction").trigger()
    dialog(desk, "importDialog").reject()
    assert not desk.all(ExportSession)
    assert not desk.all(ImportSession)


def test_an_imported_chat_is_opened(desk: Played, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text("{}")
    desk.action("importAction").trigger()
    choose(desk, "importDialog", file)
    assert desk.last(ImportSession).path == str(file)
    desk.play(SessionMade("new", "Imported", desk.last(ImportSession).request))
    assert desk.shown() == "new"
    assert desk.last(OpenSession).session_id == "new"
    assert status(desk) == "The chat is imported."


def test_a_file_that_is_no_chat_is_said(desk: Played, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text("{}")
    desk.action("importAction").trigger()
    choose(desk, "importDialog", file)
    desk.refuse(ImportSession, "This file holds no chat.")
    assert desk.text("noticeText") == "This file holds no chat."
    assert desk.shown() == "a"


@pytest.mark.req("T-6")
def test_without_an_engine_no_file_is_touched_and_the_person_is_told(desk: Played, tmp_path: Path) -> None:
    desk.action("exportAction").trigger()
    desk.controller.engine_ended("It ended.", True)
    choose(desk, "exportDialog", tmp_path / "a")
    assert not desk.all(ExportSession)
    assert status(desk) != "Exporting…"


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("../../etc/passwd", "etc passwd"),
        ('a<b>:"c"|?*\\d', "a b c d"),
        ("p. 12", "p 12"),
        ("方法论综述", "方法论综述"),
        ("in\u202etxt\nexe", "intxt exe"),
        ("...", "chat"),
        ("x" * 300, "x" * LONGEST_NAME),
    ],
)
def test_a_title_becomes_a_name_that_every_system_takes(title: str, name: str) -> None:
    assert file_name(title) == name
