"""A message list of its own, whose time passes when the test says so, and what a person sees of it and does to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage, QTextFragment
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from bibgenie_desktop.protocol.events import AnswerCitation
from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.sessions.citations import CitationState
from bibgenie_desktop.ui.chat.body import Look, RenderBody, Rendered
from bibgenie_desktop.ui.chat.conversation import Conversation
from bibgenie_desktop.ui.chat.plain import PlainText
from bibgenie_desktop.ui.chat.rows import Row
from bibgenie_desktop.ui.chat.step_line import StepLine
from bibgenie_desktop.ui.chat.text_box import TextBox
from bibgenie_desktop.ui.chat.view import MessageList
from bibgenie_desktop.ui.links import LinkRouter
from bibgenie_desktop.ui.theme import Theme
from tests.ui.timers import ManualTimers

LINK = "zotero://open-pdf/library/items/ABCD2345?page=12"


class Recorder(PlainText):
    """Plain text that remembers what it was asked to render, as answers."""

    def __init__(self) -> None:
        self.rendered: list[str] = []

    def render(self, segments: Sequence[Segment], look: Look, *, first_citation: int, first_code: int) -> Rendered:
        self.rendered.append("".join(segment.text for segment in segments))
        return super().render(segments, look, first_citation=first_citation, first_code=first_code)


class Blocks:
    """Renders blocks with blank lines between them; how a block begins tells which kind it is."""

    def __init__(self) -> None:
        self.rendered: list[str] = []

    def render(self, segments: Sequence[Segment], look: Look, *, first_citation: int, first_code: int) -> Rendered:
        text = self.read("".join(segment.text for segment in segments))
        self.rendered.append(text)
        blocks = [block.strip("\n") for block in text.split("\n\n") if block.strip()]
        codes = tuple(block[1:] for block in blocks if block[0] == "`")
        html, number = "", first_code
        for block in blocks:
            html += f"{self._block(block, number)}\n"
            number += block[0] == "`"
        return Rendered(html, codes)

    def read(self, text: str) -> str:
        """The text as it is to be rendered."""
        return text

    def image(self, name: str) -> QImage | None:
        return None

    def closed(self, source: str) -> int:
        return source.rfind("\n\n") + 2 if "\n\n" in source else 0

    def _block(self, block: str, code: int) -> str:
        lines = block.split("\n")
        match block[0]:
            case "#":
                return f"<h2>{block[1:]}</h2>"
            case "-":
                return f"<ul>{''.join(f'<li><p>{line[1:]}</p></li>' for line in lines)}</ul>"
            case "1":
                return f"<ol>{''.join(f'<li><p>{line[1:]}</p></li>' for line in lines)}</ol>"
            case ">":
                return f"<blockquote><p>{block[1:]}</p></blockquote>"
            case "|":
                rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line.split('|'))}</tr>" for line in lines)
                return f'<table cellspacing="0">{rows}</table>'
            case "`":
                return f'<p><a href="bibgenie:copy/{code}">Copy</a></p><pre>{block[1:]}</pre>'
            case _:
                return f"<p>{block}</p>"


@dataclass
class MessagePage:
    """One open page."""

    view: MessageList
    timers: ManualTimers
    conversation: Conversation
    router: LinkRouter
    opened: list[str] = field(default_factory=list)

    # Showing

    def show(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.view.show_conversation(conversation)

    def begin_answer(self, question: str = "Why?") -> None:
        self.conversation.ask(question, "2026-01-01T00:00:00Z")
        self.conversation.started("s1", question, f"n{len(self.conversation.messages)}", "offline")

    def cite(self, state: CitationState, link: str = LINK, reason: str = "", quote: str = "") -> None:
        self.conversation.add_citation(AnswerCitation("s1", "Hale 2010, p. 152", link, state, reason, quote, None))

    def rest(self) -> None:
        """Let time pass until nothing waits."""
        self.timers.pass_time()

    def tick(self) -> None:
        """Let each timer that runs fire once."""
        for timer in [timer for timer in self.timers.made if timer.running is not None]:
            timer.fire()

    # What is seen

    @property
    def value(self) -> int:
        return self.view.verticalScrollBar().value()

    @property
    def end(self) -> int:
        return self.view.verticalScrollBar().maximum()

    @property
    def height(self) -> int:
        return self.view.viewport().height()

    @property
    def rows(self) -> dict[int, Row]:
        """The rows in sight, with their numbers."""
        return {number: self.view.page.rows[number] for number in self.view.page.seen()}

    @property
    def tops(self) -> dict[int, int]:
        """Where the rows in sight begin on the screen."""
        return {number: row.y() for number, row in self.rows.items()}

    @property
    def boxes(self) -> list[TextBox]:
        """The boxes of text of the rows in sight, in order."""
        return [box for row in self.rows.values() for box in boxes(row)]

    @property
    def text(self) -> str:
        """What can be read in the rows in sight."""
        return "\n".join(text_of(row) for row in self.rows.values())

    @property
    def fragments(self) -> list[QTextFragment]:
        return [fragment for box in self.boxes for fragment in fragments(box)]

    def check(self) -> None:
        """The rows in sight stand one below the other and fill the page, as high as they are."""
        rows = list(self.rows.items())
        page = self.view.page
        assert self.value == page.value
        assert self.end == max(0, page.index.total - self.height)
        for number, row in rows:
            assert row.isVisible()
            assert row.number == number
            assert row.height() == page.index.height(number)
            assert row.y() == page.top_of(number)
        if rows:
            assert rows[0][1].y() <= 0 or page.value == 0
            assert rows[-1][1].geometry().bottom() + 1 >= min(self.height, page.index.total)

    def shows_what_it_would_draw(self) -> bool:
        """Whether the picture on the screen, much of it only moved there, is what drawing it anew gives."""
        QApplication.processEvents()
        ground, window = self.view.viewport(), self.view.window()
        screen = QGuiApplication.primaryScreen().grabWindow(window.winId()).toImage()
        shown = screen.copy(QRect(ground.mapTo(window, ground.rect().topLeft()), ground.size()))
        form = QImage.Format.Format_RGB32
        return shown.convertToFormat(form) == ground.grab().toImage().convertToFormat(form)

    # What is done

    def wheel(
        self,
        notches: float,
        *,
        over: QWidget | None = None,
        modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
    ) -> None:
        """Turn the wheel over the page, or over something on it; downwards for positive numbers."""
        ground, window = over or self.view.viewport(), self.view.window()
        # What is in sight of it: a text may reach far beyond the page.
        place = ground.mapTo(window, ground.visibleRegion().boundingRect().center())
        QTest.wheelEvent(window.windowHandle(), place, QPoint(0, round(-120 * notches)), stateKey=modifier)

    def scroll_to(self, value: int) -> None:
        """Drag the scroll bar."""
        self.view.verticalScrollBar().setValue(value)

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        focus = QApplication.focusWidget()
        there = focus is not None and self.view.isAncestorOf(focus)
        QTest.keyClick(focus if there and focus is not None else self.view, key, modifier)

    def click(
        self,
        widget: QWidget,
        place: QPoint | None = None,
        modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
    ) -> None:
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, modifier, place or widget.rect().center())

    def child(self, name: str) -> QWidget:
        """The one widget of this name that is in the page."""
        (found,) = self.view.findChildren(QWidget, name)
        return found

    def focus(self) -> None:
        self.view.activateWindow()
        self.view.setFocus()

    def leave(self) -> None:
        """Go elsewhere with the keyboard."""
        elsewhere = self.view.window().findChild(QWidget, "elsewhere")
        assert elsewhere is not None
        elsewhere.setFocus()

    def box_with(self, word: str) -> TextBox:
        return next(box for box in self.boxes if word in box.toPlainText())

    def place_of(self, word: str) -> QPoint:
        """Where a word stands, in its box."""
        box = self.box_with(word)
        cursor = box.document().find(word)
        cursor.setPosition(cursor.selectionStart() + 2)
        return box.cursorRect(cursor).center()


def boxes(row: Row) -> list[TextBox]:
    found = [box for box in row.findChildren(TextBox) if box.isVisible()]
    return sorted(found, key=lambda box: box.y())


def text_of(row: Row) -> str:
    """What can be read in a row, line by line."""
    parts: list[tuple[int, str]] = []
    parts += [(label.y(), label.text()) for label in row.findChildren(QLabel) if label.isVisible()]
    parts += [(line.y(), line.text()) for line in row.findChildren(StepLine) if line.isVisible()]
    parts += [(box.y(), plain(box)) for box in boxes(row)]
    return "\n".join(text for _, text in sorted(parts)) if parts else row.accessibleName()


def plain(box: TextBox) -> str:
    """The text of a box with common spaces."""
    return box.toPlainText().replace("\u202f", "").replace("\u2060", "").replace("\u00a0", " ")


def fragments(box: TextBox) -> Iterator[QTextFragment]:
    block = box.document().begin()
    while block.isValid():
        iterator: Any = block.begin()
        while not iterator.atEnd():
            yield iterator.fragment()
            iterator += 1
        block = block.next()


def noon() -> datetime:
    return datetime(2026, 1, 2, 12, tzinfo=UTC)


@contextmanager
def open_page(qtbot: QtBot, answers: RenderBody | None = None, width: int = 800) -> Iterator[MessagePage]:
    """A page of 800 × 500 with an empty chat, in a window in which something else has the focus."""
    owner = QObject()
    timers = ManualTimers()
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url.toString())
        return True

    router = LinkRouter(owner, open_url=open_url)
    window = QWidget()
    window.resize(width, 600)
    view = MessageList(Theme(owner), router, noon, timers, answers or PlainText(), window)
    view.resize(width, 500)
    elsewhere = QWidget(window)
    elsewhere.setObjectName("elsewhere")
    elsewhere.move(0, 560)
    elsewhere.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    with qtbot.waitExposed(window):
        window.show()
    elsewhere.setFocus()
    page = MessagePage(view, timers, Conversation(), router, opened)
    page.show(page.conversation)
    page.rest()
    yield page
    QGuiApplication.clipboard().clear()
    for thing in (window, owner):
        if isValid(thing):
            thing.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
