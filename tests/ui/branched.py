"""A window whose engine the test plays, for chats with branches: what it sends is written down, bodies are given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.commands import VERSION, Command, FetchBodies, OpenSession
from bibgenie_desktop.protocol.events import Branch, Event, NodeBody, Welcome
from bibgenie_desktop.protocol.values import BranchRow, Segment
from bibgenie_desktop.sessions.nodes import Role
from bibgenie_desktop.ui.chat.plain import PlainText
from bibgenie_desktop.ui.chat.rows import Row
from bibgenie_desktop.ui.controller import Controller
from bibgenie_desktop.ui.links import LinkRouter
from bibgenie_desktop.ui.theme import Theme
from bibgenie_desktop.ui.window import MainWindow
from tests.ui.message_page import text_of
from tests.ui.timers import ManualTimers

Kind = TypeVar("Kind", bound=Command)
Found = TypeVar("Found", bound=QObject)


def stored(
    node_id: str, role: Role = "user", stop_reason: str = "", *, version: int = 1, beside: tuple[str, str] = ("", "")
) -> BranchRow:
    """A node of a branch; `beside` are the versions before and after it."""
    reason = stop_reason or ("stop" if role == "assistant" else None)
    versions = version + bool(beside[1])
    return BranchRow(node_id, role, "2026-01-02T10:00:00Z", None, reason, 20, version, versions, *beside)


def turns(count: int) -> list[BranchRow]:
    """Questions q1, q2, … with their answers a1, a2, …"""
    return [row for n in range(1, count + 1) for row in (stored(f"q{n}"), stored(f"a{n}", "assistant"))]


class Branched:
    """The window, what it sent, and what a person sees and does in it. Bodies are given as soon as they are wanted:
    that of node x reads "text of x", or as `texts` says."""

    def __init__(self, owner: QObject) -> None:
        self.sent: list[Command] = []
        self.texts: dict[str, str] = {}
        self.timers = ManualTimers()
        self.controller = Controller(self.sent.append, _noon, self.timers, owner)
        self.window = MainWindow(self.controller, Theme(owner), LinkRouter(owner), _noon, self.timers, PlainText())
        self.window.resize(1000, 700)

    # The engine

    def take(self, *events: Event) -> None:
        """The engine says this; then all that was waited for happens."""
        for event in events:
            self.controller.take(event)
        self.rest()

    def rest(self) -> None:
        """Let time pass, and give the bodies that are wanted."""
        while True:
            self.timers.pass_time()
            wanted = [command for command in self.sent if isinstance(command, FetchBodies)]
            self.sent[:] = [command for command in self.sent if command not in wanted]
            for command in wanted:
                for node_id in command.node_ids:
                    text = self.texts.get(node_id, f"text of {node_id}")
                    self.controller.take(NodeBody(node_id, (Segment("text", text),), request=command.request))
            if not wanted:
                return

    def last(self, kind: type[Kind]) -> Kind:
        """The last command of a kind."""
        return next(command for command in reversed(self.sent) if isinstance(command, kind))

    def count(self, kind: type[Command]) -> int:
        """How many commands of a kind were sent."""
        return sum(isinstance(command, kind) for command in self.sent)

    def branch(self, rows: list[BranchRow], *, damage: str = "", draft: str = "", session: str = "s1") -> None:
        """Answer the last OpenSession."""
        request = self.last(OpenSession).request
        self.take(Branch(session, "Title", 1, tuple(rows), draft, damage, request=request))

    def open_chat(self, rows: list[BranchRow], *, damage: str = "", draft: str = "", session: str = "s1") -> None:
        """Open a stored chat and give its branch."""
        self.controller.open_session(session)
        self.branch(rows, damage=damage, draft=draft, session=session)

    # What a person sees

    @property
    def node_ids(self) -> list[str]:
        """The nodes on the page, "" for what is not stored."""
        return [message.node_id for message in self.controller.conversation.messages]

    @property
    def shown(self) -> list[str]:
        """The texts on the page."""
        return [message.source for message in self.controller.conversation.messages]

    def row(self, number: int) -> Row:
        """The row of a message in sight."""
        return self.window.message_list.page.rows[number]

    def read(self, number: int) -> str:
        """What can be read in a row."""
        return text_of(self.row(number))

    def find(self, kind: type[Found], name: str) -> Found:
        """The one of that name, in the window."""
        found = self.window.findChild(kind, name)
        assert found is not None, name
        return found

    def part(self, number: int, name: str) -> QWidget:
        """The part of a row that has a name."""
        found = self.row(number).findChild(QWidget, name)
        assert found is not None, name
        return found

    def action(self, name: str) -> QAction:
        """An action of the menus."""
        return self.find(QAction, name)

    @property
    def notice(self) -> str:
        """The sentence above the composer, "" if none is shown."""
        label = self.find(QLabel, "noticeText")
        return label.accessibleName() if label.isVisible() else ""

    @property
    def focus(self) -> str:
        """The name of what has the keyboard's focus."""
        focus = QApplication.focusWidget()
        return focus.objectName() if focus is not None else ""

    # What a person does

    def choose(self, number: int) -> None:
        """Make a message the current one, as keys do."""
        self.window.message_list.setFocus()
        self.window.message_list.go_to_row(number)
        self.rest()

    def click(self, widget: QWidget) -> None:
        """Click on a widget."""
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=widget.rect().center())
        self.rest()

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the focus is."""
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifier)
        self.rest()

    def type(self, text: str) -> None:
        """Type where the focus is."""
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClicks(focus, text)
        self.rest()

    def ask(self, question: str) -> None:
        """Write a question into the composer and send it."""
        self.window.composer.setFocus()
        self.type(question)
        self.press(Qt.Key.Key_Return)


def _noon() -> datetime:
    return datetime(2026, 1, 2, 12, tzinfo=UTC)


@contextmanager
def branched_window(qtbot: QtBot) -> Iterator[Branched]:
    """A window in which an engine answers."""
    owner = QObject()
    branched = Branched(owner)
    with qtbot.waitActive(branched.window):
        branched.window.show()
        branched.window.activateWindow()
    branched.take(Welcome(VERSION, "0", "p", "l", "offline"))
    branched.branch([], session="")
    yield branched
    QGuiApplication.clipboard().clear()
    branched.window.let_close()
    branched.window.close()
    branched.window.deleteLater()
    owner.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
