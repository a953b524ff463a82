"""The window without an engine: what it sends is kept, and what an engine would say is played to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from bibgenie_desktop.protocol.commands import VERSION, Command, FetchBodies, ListSessions, OpenSession
from bibgenie_desktop.protocol.events import Branch, CommandDone, CommandFailed, Event, NodeBody, SessionList, Welcome
from bibgenie_desktop.protocol.values import BranchRow, Segment, SessionRow
from bibgenie_desktop.ui.chat.markdown_body import MarkdownBody
from bibgenie_desktop.ui.controller import Controller
from bibgenie_desktop.ui.links import LinkRouter
from bibgenie_desktop.ui.session_lines import SessionListModel
from bibgenie_desktop.ui.theme import Theme
from bibgenie_desktop.ui.window import MainWindow
from tests.ui.timers import ManualTimers

Sent = TypeVar("Sent", bound=Command)
Kind = TypeVar("Kind", bound=QObject)
NOON = datetime(2026, 3, 20, 12).astimezone()


def chat(
    name: str,
    title: str = "",
    *,
    days: int = 0,
    fork_of: str = "",
    pinned: bool = False,
    archived: bool = False,
) -> SessionRow:
    """A chat that was last used so many days ago."""
    used = (NOON - timedelta(days=days)).astimezone(UTC).isoformat()
    return SessionRow(
        name,
        title or f"Title {name}",
        2,
        0,
        None,
        1,
        None,
        used,
        forked_from_id=fork_of,
        is_pinned=pinned,
        is_archived=archived,
    )


class Played:
    """A window, the commands that it sent, and the engine's part."""

    def __init__(self, owner: QObject) -> None:
        self.sent: list[Command] = []
        self.timers = ManualTimers()
        self.controller = Controller(self.sent.append, lambda: NOON, self.timers, owner)
        answers = MarkdownBody(lambda _: None, lambda _: None)
        router = LinkRouter(owner)
        self.window = MainWindow(self.controller, Theme(owner), router, lambda: NOON, self.timers, answers)
        self.window.resize(self.window.sizeHint())
        self.window.show()
        self.window.activateWindow()

    # The engine's part

    def play(self, *events: Event) -> None:
        """The engine says this."""
        for event in events:
            self.controller.take(event)

    def welcome(self, *rows: SessionRow) -> None:
        """The engine answers, and lists these chats."""
        self.play(Welcome(VERSION, "0", "p", "l", "offline"))
        if not self.controller.conversation.session_id:
            self.play(Branch("", "", 0, (), request=self.last(OpenSession).request))
        self.tell(*rows)

    def tell(self, *rows: SessionRow) -> None:
        """The engine lists these chats."""
        self.play(SessionList(rows, False, self.last(ListSessions).request))

    def done(self, kind: type[Command]) -> None:
        """The last command of a kind is carried out."""
        self.play(CommandDone(self.last(kind).request))

    def refuse(self, kind: type[Command], sentence: str) -> None:
        """The last command of a kind is refused."""
        self.play(CommandFailed("refused", sentence, self.last(kind).request))

    def branch(self, session_id: str, nodes: Sequence[str], draft: str = "") -> None:
        """The engine tells the branch of the chat that was asked for last: questions and answers in turns."""
        rows = tuple(
            BranchRow(node, "assistant" if number % 2 else "user", NOON.isoformat(), None, "stop", 20)
            for number, node in enumerate(nodes)
        )
        self.play(Branch(session_id, f"Title {session_id}", 1, rows, draft, request=self.last(OpenSession).request))

    def bodies(self, text: str = "The body of {node}.") -> None:
        """The engine tells all bodies that are asked for."""
        self.timers.pass_time()
        for command in [each for each in self.sent if isinstance(each, FetchBodies)]:
            for node in command.node_ids:
                self.play(NodeBody(node, (Segment("text", text.format(node=node)),), request=command.request))
        self.timers.pass_time()

    def last(self, kind: type[Sent]) -> Sent:
        """The last command of a kind."""
        return next(command for command in reversed(self.sent) if isinstance(command, kind))

    def all(self, kind: type[Sent]) -> list[Sent]:
        """All commands of a kind."""
        return [command for command in self.sent if isinstance(command, kind)]

    # What a person sees and does

    def find(self, kind: type[Kind], name: str) -> Kind:
        """The widget, or the action, of that name."""
        found = self.window.findChild(kind, name)
        assert found is not None, name
        return found

    def action(self, name: str) -> QAction:
        """An action of the menus."""
        return self.find(QAction, name)

    def sees(self, name: str) -> bool:
        """Whether a widget is in sight."""
        return self.find(QWidget, name).isVisible()

    def text(self, name: str) -> str:
        """The text of a label without marks of direction and places to break, "" where it is not in sight."""
        label = self.find(QLabel, name)
        return label.text().translate(dict.fromkeys((0x2068, 0x2069, 0x200B))) if label.isVisible() else ""

    def focus(self) -> str:
        """The name of what has the focus."""
        focus = QApplication.focusWidget()
        return focus.objectName() if focus else ""

    def shown(self) -> str:
        """The chat that is shown."""
        return self.controller.conversation.session_id

    @property
    def lines(self) -> list[str]:
        """The lines of the list of chats."""
        model = self.window.session_list.model()
        return [str(model.index(row, 0).data()) for row in range(model.rowCount())]

    def click(self, name: str) -> None:
        """Click in the middle of a widget."""
        widget = self.find(QWidget, name)
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=widget.rect().center())

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the focus is."""
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, key, modifier)

    def type(self, text: str) -> None:
        """Type where the focus is."""
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClicks(focus, text)

    def index(self, name: str) -> QModelIndex:
        """Where a chat is in the list."""
        model = self.window.session_list.model()
        assert isinstance(model, SessionListModel)
        return model.index(model.row_of(name))

    def click_chat(self, name: str) -> None:
        """Click a chat in the list."""
        sessions = self.window.session_list
        place = sessions.visualRect(self.index(name)).center()
        QTest.mouseClick(sessions.viewport(), Qt.MouseButton.LeftButton, pos=place)


@contextmanager
def played() -> Iterator[Played]:
    """A window that is gone afterwards."""
    owner = QObject()
    window = Played(owner)
    try:
        yield window
    finally:
        window.window.let_close()
        window.window.close()
        window.window.deleteLater()
        owner.deleteLater()
