"""Opens the passage that a citation names: its file at its page in the system's viewer, or else in Zotero (Z-2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from ..protocol.commands import FindFile
from ..protocol.events import CommandFailed, Event, FileFound
from .links import LinkRouter
from .outgoing import Outgoing
from .tasks import TaskRegistry
from .viewers import Opening, default_viewer, look_at, start, viewer_command


class PassageOpener(QObject):
    """Asks the engine for the file behind a link and opens it. One at a time: the last that was clicked, and no second
    time while it is on its way. Where there is no file to open, `router` opens the link in Zotero.

    `viewer` tells the system's viewer, `run` starts it, `open_url` hands a file to the system, which may choose.

    Signals:
        answered(sentence): what became of the passage that was clicked last.
    """

    answered = Signal(str)

    def __init__(
        self,
        router: LinkRouter,
        outgoing: Outgoing,
        tasks: TaskRegistry,
        parent: QObject | None = None,
        *,
        open_url: Callable[[QUrl], bool] = QDesktopServices.openUrl,
        run: Callable[[Opening], bool] = start,
        viewer: Callable[[], Awaitable[str]] = default_viewer,
    ) -> None:
        super().__init__(parent)
        self._router = router
        self._outgoing = outgoing
        self._tasks = tasks
        self._open_url = open_url
        self._run = run
        self._ask_viewer = viewer
        self._viewer: str | None = None
        self._engine_answers = False
        self._wanted, self._link, self._searching = 0, "", False
        router.open_passages_with(self.open)

    def open(self, link: str) -> str:
        """Open the passage of a link that `router` allows; returns what is to be said until `answered`."""
        if not self._engine_answers:
            return self._instead(link, self.tr("The engine does not answer, which knows where the file is."))
        if link != self._link:
            self._link, self._searching = link, True
            self._wanted = self._outgoing.ask(FindFile(link), lambda event: self._take(link, event))
        return self.tr("Looking for the file…")

    def engine_answers(self) -> None:
        """The engine takes commands from now on."""
        self._engine_answers = True

    def engine_ended(self) -> None:
        """The engine takes no commands any more; what it was asked for, Zotero opens."""
        self._engine_answers = False
        if self._searching:
            self._give_up(self._link, self.tr("The engine ended before it found the file."))

    def _take(self, link: str, event: Event) -> None:
        self._outgoing.forget(event.request)
        if event.request != self._wanted:
            # Another was clicked meanwhile.
            return
        self._searching = False
        match event:
            case FileFound():
                self._tasks.start(self._open_file(link, event), name="open a passage", owner=self)
            case CommandFailed(code="bad_link", sentence=sentence):
                self._end(sentence)
            case CommandFailed(sentence=sentence):
                self._give_up(link, sentence)

    async def _open_file(self, link: str, found: FileFound) -> None:
        looked = await look_at(found.path, found.kind)
        viewer = await self._default_viewer() if found.kind == "pdf" and found.page else ""
        if found.request != self._wanted:
            return
        opening = viewer_command(viewer, looked.path, found.page)
        if looked.problem:
            self._give_up(link, looked.problem)
        elif opening is not None and self._run(opening):
            self._end(self.tr("Opened the file at its page {page}.").format(page=found.page))
        elif not self._open_url(QUrl.fromLocalFile(looked.path)):
            self._give_up(link, self.tr("No program took the file."))
        elif found.page:
            self._end(self.tr("Opened the file; go to its page {page}.").format(page=found.page))
        else:
            self._end(self.tr("Opened the file."))

    async def _default_viewer(self) -> str:
        if self._viewer is None:
            self._viewer = await self._ask_viewer()
        return self._viewer

    def _give_up(self, link: str, why: str) -> None:
        self._end(self._instead(link, why))

    def _instead(self, link: str, why: str) -> str:
        return f"{why} {self._router.open_in_zotero(link)}"

    def _end(self, sentence: str) -> None:
        self._wanted, self._link, self._searching = 0, "", False
        self.answered.emit(sentence)
