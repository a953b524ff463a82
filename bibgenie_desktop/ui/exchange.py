"""Chats into files and back: where to, in which format, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from ..protocol.commands import ExportFormat, ExportSession, ImportSession
from ..protocol.events import CommandFailed, Event, SessionMade
from .controller import Controller
from .labels import plain_line

LONGEST_NAME = 80
"""Characters of the name that is proposed for a file."""
_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"/\\|?*.]+')
"""In the names of files, on some system; and the dot, behind which a dialog takes a word for the end that tells the
format."""


class Exchange(QObject):
    """Asks for files with the system's dialogs, which are opened and never run in an event loop of their own.

    Signals:
        answered(sentence): what became of it, for the status line.
    """

    answered = Signal(str)

    def __init__(self, controller: Controller, window: QWidget) -> None:
        super().__init__(window)
        self._controller = controller
        self._window = window
        self._folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)

    def ask_where_to(self, session_id: str, title: str, *, whole: bool) -> None:
        """Ask for the file that a chat is written into: its branch, or `whole`, every branch."""
        filters: dict[str, ExportFormat] = {
            self.tr("Markdown (*.md)"): "md",
            self.tr("Web page (*.html)"): "html",
            self.tr("JSON, which can be imported (*.json)"): "json",
        }
        dialog = self._dialog("exportDialog", self.tr("Export chat"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setNameFilters(list(filters))
        dialog.setDefaultSuffix("md")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(filters[chosen]))
        dialog.selectFile(file_name(title or self.tr("Untitled chat")))
        dialog.fileSelected.connect(
            lambda path: self.export(session_id, path, filters[dialog.selectedNameFilter()], whole=whole)
        )
        dialog.open()

    def ask_which(self) -> None:
        """Ask for a file that a chat was exported to."""
        dialog = self._dialog("importDialog", self.tr("Import chat"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("Exported chats (*.json)"), self.tr("All files (*)")])
        dialog.fileSelected.connect(self.bring_in)
        dialog.open()

    def export(self, session_id: str, path: str, chosen: ExportFormat, *, whole: bool) -> None:
        """Write a chat into a file. The dialog asked before it let one be chosen that exists."""
        self._folder = str(Path(path).parent)
        known: dict[str, ExportFormat] = {".md": "md", ".json": "json", ".html": "html", ".htm": "html"}
        written = known.get(Path(path).suffix.lower())
        # Some systems' dialogs leave the end of the name to us: then nobody was asked about that file.
        asked_about, target = (True, path) if written else (False, f"{path}.{chosen}")
        done = self.tr("The chat is written to {name}.").format(name=plain_line(Path(target).name))
        command = ExportSession(session_id, target, written or chosen, whole=whole, overwrite=asked_about)
        self._ask(command, self.tr("Exporting…"), lambda _: self.answered.emit(done))

    def bring_in(self, path: str) -> None:
        """Import a chat and show it."""
        self._folder = str(Path(path).parent)
        self._ask(ImportSession(path), self.tr("Importing…"), self._imported)

    def _imported(self, event: Event) -> None:
        if isinstance(event, SessionMade):
            self._controller.show_made(event)
            self.answered.emit(self.tr("The chat is imported."))

    def _ask(self, command: ExportSession | ImportSession, meanwhile: str, done: Callable[[Event], None]) -> None:
        controller = self._controller
        if not controller.answers:
            controller.say(self.tr("The engine does not answer at the moment: no file was touched. Try again later."))
            return

        def take(event: Event) -> None:
            controller.outgoing.forget(event.request)
            if isinstance(event, CommandFailed):
                self.answered.emit("")
                controller.say(event.sentence)
            else:
                done(event)

        self.answered.emit(meanwhile)
        controller.outgoing.ask(command, take)

    def _dialog(self, name: str, title: str) -> QFileDialog:
        dialog = QFileDialog(self._window, title, self._folder)
        dialog.setObjectName(name)
        dialog.finished.connect(dialog.deleteLater)
        return dialog


def file_name(title: str) -> str:
    """A name for a file that every system takes, without its end."""
    name = _FORBIDDEN.sub(" ", plain_line(title))
    return " ".join(name.split())[:LONGEST_NAME].strip() or "chat"
