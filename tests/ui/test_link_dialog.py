"""A web page is opened only after the person could read its whole address and agreed (S-1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt, QUrl
from PySide6.QtGui import QFont, QGuiApplication, QTextCursor, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTextEdit, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from bibgenie_desktop.ui.link_dialog import LinkDialog, LinkQuestions
from bibgenie_desktop.ui.links import LONGEST_LINK, LinkRouter
from bibgenie_desktop.ui.theme import LIGHT, style_sheet

pytestmark = [pytest.mark.req("S-1"), pytest.mark.gui]

PAGE = "https://example.org/paper?q=1#part"


class Desk:
    """A window, the door for links, and what was opened and said."""

    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot
        self.opened: list[str] = []
        self.said: list[str] = []
        self.window = QWidget()
        self.window.setStyleSheet(style_sheet(LIGHT))
        self.window.resize(800, 600)
        self.router = LinkRouter(self.window, open_url=self._open_url)
        self.questions = LinkQuestions(self.router, self.window)
        self.questions.answered.connect(self.said.append)
        with qtbot.waitExposed(self.window):
            self.window.show()

    def _open_url(self, url: QUrl) -> bool:
        self.opened.append(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))
        return True

    @property
    def dialogs(self) -> list[LinkDialog]:
        return [each for each in self.window.findChildren(LinkDialog, "linkDialog") if each.isVisible()]

    @property
    def dialog(self) -> LinkDialog:
        [found] = self.dialogs
        return found

    def ask(self) -> None:
        """Click on the link of a page, and wait until the keyboard is the dialog's."""
        self.router.open(PAGE)
        self._qtbot.waitUntil(self.dialog.isActiveWindow)

    def button(self, name: str) -> QPushButton:
        button: QPushButton = find(self.dialog, QPushButton, name)
        return button

    def click(self, name: str) -> None:
        QTest.mouseClick(self.button(name), Qt.MouseButton.LeftButton)

    def press(self, key: Qt.Key) -> None:
        QTest.keyClick(self.dialog.focusWidget() or self.dialog, key)


def find(parent: QWidget, kind: type[Any], name: str) -> Any:
    found = parent.findChild(kind, name)
    assert found is not None, name
    return found


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    at = Desk(qtbot)
    yield at
    QGuiApplication.clipboard().clear()
    if isValid(at.window):
        at.window.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def bold_text(document: QTextDocument) -> str:
    return "".join(
        document.characterAt(place)
        for place in range(document.characterCount() - 1)
        if weight_at(document, place) >= QFont.Weight.Bold
    )


def weight_at(document: QTextDocument, place: int) -> int:
    cursor = QTextCursor(document)
    # The format of the character before the cursor.
    cursor.setPosition(place + 1)
    return int(cursor.charFormat().fontWeight())


def test_a_click_on_a_page_asks_and_shows_the_whole_address_with_its_host_in_bold(desk: Desk) -> None:
    sentence = desk.router.open(PAGE)
    assert sentence == f"Opens example.org in your browser: {PAGE}"
    shown = find(desk.dialog, QTextEdit, "linkAddress")
    assert shown.toPlainText() == PAGE
    assert bold_text(shown.document()) == "example.org"
    assert find(desk.dialog, QTextEdit, "linkHost").toPlainText() == "example.org"
    assert not find(desk.dialog, QLabel, "linkWarning").isVisible()
    assert desk.dialog.windowModality() == Qt.WindowModality.WindowModal
    assert desk.opened == []


def test_it_is_opened_by_the_button_and_by_nothing_else(desk: Desk) -> None:
    desk.router.open(PAGE)
    assert desk.opened == []
    desk.click("linkOpen")
    assert desk.opened == [PAGE]
    assert desk.said == [f"Opened in your browser: {PAGE}"]
    assert desk.dialogs == []


def test_cancel_is_what_enter_means_and_escape_too(desk: Desk) -> None:
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape, Qt.Key.Key_Space):
        desk.ask()
        assert desk.button("linkCancel").isDefault()
        assert desk.dialog.focusWidget() is desk.button("linkCancel")
        desk.press(key)
        assert desk.dialogs == []
    desk.router.open(PAGE)
    desk.click("linkCancel")
    desk.router.open(PAGE)
    desk.dialog.close()
    assert desk.opened == []
    assert desk.said == [""] * 6


def test_enter_in_the_address_opens_nothing(desk: Desk) -> None:
    desk.ask()
    find(desk.dialog, QTextEdit, "linkAddress").setFocus()
    desk.press(Qt.Key.Key_Return)
    assert desk.dialogs == []
    assert desk.opened == []


def test_it_can_be_opened_with_the_keyboard_alone(desk: Desk) -> None:
    desk.ask()
    seen = []
    for _ in range(8):
        focus = desk.dialog.focusWidget()
        assert focus is not None
        seen.append(focus.objectName())
        if focus.objectName() == "linkOpen":
            break
        desk.press(Qt.Key.Key_Tab)
    assert seen == ["linkCancel", "linkAddress", "linkOpen"]
    desk.press(Qt.Key.Key_Space)
    assert desk.opened == [PAGE]


def test_the_link_is_copied_instead(desk: Desk) -> None:
    desk.router.open("HTTPS://EXAMPLE.ORG/ü")
    desk.click("linkCopy")
    assert QGuiApplication.clipboard().text() == "https://example.org/%C3%BC"
    assert desk.opened == []
    assert desk.dialogs == []


def test_a_storm_of_clicks_asks_once_and_about_the_first(desk: Desk) -> None:
    for link in (PAGE, PAGE, "https://other.example/"):
        desk.router.open(link)
    assert find(desk.dialog, QTextEdit, "linkAddress").toPlainText() == PAGE
    desk.click("linkOpen")
    assert desk.dialogs == []
    assert desk.opened == [PAGE]
    desk.router.open("https://other.example/")
    assert find(desk.dialog, QTextEdit, "linkHost").toPlainText() == "other.example"


@pytest.mark.parametrize(
    ("link", "host", "warning"),
    [
        ("https://\u0430pple.com/", "xn--pple-43d.com", "letters that can look like others"),
        ("http://example.org/", "example.org", "without encryption"),
        ("http://[::1]:8080/", "::1", "without encryption"),
    ],
)
def test_what_is_odd_about_an_address_is_said(desk: Desk, link: str, host: str, warning: str) -> None:
    desk.router.open(link)
    assert find(desk.dialog, QTextEdit, "linkHost").toPlainText() == host
    label = find(desk.dialog, QLabel, "linkWarning")
    assert label.isVisible()
    assert warning in label.text()


@pytest.mark.parametrize(
    "link",
    [
        "https://" + ".".join(["paypal", "com", *["a" * 60] * 3, "evil", "example"]) + "/",
        "https://example.org/" + "a" * (LONGEST_LINK - 20),
    ],
    ids=["host", "path"],
)
def test_no_end_of_a_long_address_is_cut_off(desk: Desk, link: str) -> None:
    desk.router.open(link)
    for name in ("linkHost", "linkAddress"):
        text = find(desk.dialog, QTextEdit, name)
        assert text.horizontalScrollBar().maximum() == 0
        text.moveCursor(text.textCursor().MoveOperation.End)
        text.ensureCursorVisible()
        assert text.viewport().rect().adjusted(0, -2, 2, 2).contains(text.cursorRect())
    host = find(desk.dialog, QTextEdit, "linkHost")
    assert host.verticalScrollBar().maximum() == 0
    screen = QGuiApplication.primaryScreen().availableGeometry()
    assert desk.dialog.height() < screen.height()


@pytest.mark.parametrize("link", ["https://zotero.org@evil.example/", "javascript:alert(1)", "file:///etc/passwd"])
def test_what_is_refused_is_not_asked_about(desk: Desk, link: str) -> None:
    desk.router.open(link)
    assert desk.dialogs == []
    assert desk.opened == []


def test_a_window_that_goes_takes_its_question_with_it(desk: Desk) -> None:
    desk.router.open(PAGE)
    dialog = desk.dialog
    desk.window.close()
    desk.window.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert not isValid(dialog)
    assert desk.opened == []
