"""The window as a person meets it: a question typed, an answer read, a chat left and found again."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, QPoint, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QMenu, QPushButton, QTextEdit, QWidget

from bibgenie_desktop import __version__
from tests.servers.llm import LlmServer
from tests.ui.desk import Desk, at_the_desk, until

QUESTION = "What do residual pathways do?"


@pytest.mark.req("U-1", "A-1", "Z-2", "Z-3")
@at_the_desk
async def test_a_question_typed_and_sent_with_enter_is_answered_with_verified_citations(desk: Desk) -> None:
    await desk.open()
    await desk.library_indexed()
    await desk.ask(QUESTION)
    assert desk.statuses == ["user stored", "assistant stored"]
    assert QUESTION in desk.page
    assert "Search the library for “What do residual pathways do?” · " in desk.page
    assert re.search("“Residual Pathways in Wetland Carbon Models.*” Smith et al. 2020, p. 11[78] ✓ ", desk.page)
    assert "verified" in desk.page.split("citations: ")[1].splitlines()[0]
    assert desk.composer.toPlainText() == ""
    assert desk.titles == [QUESTION]
    assert QUESTION in desk.app.window.windowTitle()


@pytest.mark.req("U-1")
@at_the_desk
async def test_a_second_question_goes_on_in_the_same_chat(desk: Desk) -> None:
    await desk.open()
    await desk.ask(QUESTION)
    await desk.ask("And what does a wetland hold?")
    assert desk.statuses == ["user stored", "assistant stored"] * 2
    assert desk.titles == [QUESTION]
    assert desk.page.index(QUESTION) < desk.page.index("And what does a wetland hold?")


@pytest.mark.req("U-1")
@at_the_desk
async def test_the_send_button_sends_too(desk: Desk) -> None:
    await desk.open()
    desk.type(QUESTION)
    desk.click(desk.button("sendButton"))
    await until(lambda: desk.statuses == ["user stored", "assistant stored"])


@pytest.mark.req("U-1")
@at_the_desk
async def test_a_question_asked_before_the_engine_answers_is_sent_once_it_does(desk: Desk) -> None:
    await desk.open(ready=False)
    desk.type(QUESTION)
    desk.press(Qt.Key.Key_Return)
    assert desk.statuses == ["user sending"]
    await desk.drawn()
    assert "sending…" in desk.page
    await until(lambda: desk.statuses == ["user stored", "assistant stored"])


@pytest.mark.req("U-1")
@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_an_empty_question_is_not_sent_and_says_so_until_something_is_typed(desk: Desk, text: str) -> None:
    @at_the_desk
    async def scenario(desk: Desk) -> None:
        await desk.open()
        desk.composer.setPlainText(text)
        desk.press(Qt.Key.Key_Return)
        assert desk.notice == "The question is empty: write one."
        assert desk.statuses == []
        assert desk.composer.toPlainText() == text
        desk.type("W")
        assert desk.notice == ""

    scenario(desk=desk)


@pytest.mark.req("U-1")
@at_the_desk
async def test_an_old_chat_is_opened_from_the_list_with_its_answer_and_citations(desk: Desk) -> None:
    await desk.open()
    await desk.library_indexed()
    await desk.ask(QUESTION)
    seen = desk.page
    await desk.close()
    await desk.open()
    await until(lambda: desk.titles == [QUESTION])
    assert desk.page == ""
    await desk.choose(QUESTION)
    await until(lambda: "✓" in desk.page)
    # A stored tool call is told by its name; the rest reads as it did when it came.
    assert desk.page.split("\n")[4:] == seen.split("\n")[4:]
    await desk.ask("And what does a wetland hold?")
    assert desk.titles == [QUESTION]


@pytest.mark.req("U-1")
@at_the_desk
async def test_new_chats_stand_above_older_ones_and_each_shows_its_own_messages(desk: Desk) -> None:
    await desk.open()
    await desk.ask(QUESTION)
    desk.click(desk.find(QPushButton, "newSessionButton"))
    assert desk.page == ""
    assert desk.statuses == []
    await desk.ask("What does a wetland hold?")
    await until(lambda: desk.titles == ["What does a wetland hold?", QUESTION])
    await desk.choose(QUESTION)
    assert QUESTION in desk.page
    assert "wetland hold" not in desk.page
    desk.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert desk.page == ""


@pytest.mark.req("U-5")
@at_the_desk
async def test_a_chat_is_opened_with_the_keyboard_alone(desk: Desk) -> None:
    await desk.open()
    await desk.ask(QUESTION)
    desk.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: desk.titles == [QUESTION])
    desk.sessions.setFocus()
    desk.press(Qt.Key.Key_Down, widget=desk.sessions)
    desk.press(Qt.Key.Key_Return, widget=desk.sessions)
    await until(lambda: QUESTION in desk.page)
    assert desk.composer.hasFocus()


@pytest.mark.req("U-3")
@at_the_desk
async def test_each_chat_keeps_its_draft_while_others_are_open_and_across_a_restart(desk: Desk) -> None:
    await desk.open()
    await desk.ask(QUESTION)
    desk.type("half a thought")
    desk.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert desk.composer.toPlainText() == ""
    await desk.choose(QUESTION)
    assert desk.composer.toPlainText() == "half a thought"
    desk.type(", and more")
    await desk.close()
    await desk.open()
    await until(lambda: desk.titles == [QUESTION])
    await desk.choose(QUESTION)
    await until(lambda: desk.composer.toPlainText() == "half a thought, and more")


@pytest.mark.req("U-3")
@at_the_desk
async def test_the_draft_of_a_chat_that_does_not_exist_yet_survives_a_restart(desk: Desk) -> None:
    await desk.open()
    desk.type("half a thought")
    await desk.close()
    await desk.open()
    await until(lambda: desk.composer.toPlainText() == "half a thought", seconds=5)


@pytest.mark.req("U-3")
@at_the_desk
async def test_what_is_typed_while_a_first_question_is_on_its_way_is_the_new_chats_draft(desk: Desk) -> None:
    await desk.open(ready=False)
    desk.type(QUESTION)
    desk.press(Qt.Key.Key_Return)
    desk.type("next")
    await until(lambda: desk.statuses == ["user stored", "assistant stored"])
    assert desk.composer.toPlainText() == "next"
    desk.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert desk.composer.toPlainText() == ""
    await until(lambda: desk.titles == [QUESTION])
    await desk.choose(QUESTION)
    assert desk.composer.toPlainText() == "next"


@pytest.mark.req("U-5")
@at_the_desk
async def test_enter_that_ends_a_composition_sends_nothing(desk: Desk) -> None:
    await desk.open()
    QApplication.sendEvent(desk.composer, QInputMethodEvent("にほん", []))
    desk.press(Qt.Key.Key_Return)
    assert desk.statuses == []
    commit = QInputMethodEvent()
    commit.setCommitString("日本")
    QApplication.sendEvent(desk.composer, commit)
    assert desk.composer.toPlainText() == "日本"
    assert desk.statuses == []
    desk.press(Qt.Key.Key_Return)
    assert desk.statuses == ["user sending"]
    await until(lambda: not desk.answering and "user stored" in desk.statuses)


@pytest.mark.req("U-5")
@at_the_desk
async def test_shift_enter_begins_a_line_and_tab_leaves_the_box(desk: Desk) -> None:
    await desk.open()
    desk.type("one")
    desk.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    desk.type("two")
    assert desk.composer.toPlainText() == "one\ntwo"
    assert desk.statuses == []
    # What stands before it in the line under the box: which model answers, how full the context is, to compact.
    for _ in range(4):
        if not desk.button("sendButton").hasFocus():
            desk.press(Qt.Key.Key_Tab, widget=QApplication.focusWidget())
    assert desk.button("sendButton").hasFocus()
    desk.press(Qt.Key.Key_Space, widget=desk.button("sendButton"))
    await until(lambda: desk.statuses == ["user stored", "assistant stored"])


@pytest.mark.req("U-1")
@at_the_desk
async def test_the_composer_grows_with_its_text_to_a_third_of_the_window(desk: Desk) -> None:
    await desk.open()
    empty = desk.composer.height()
    desk.composer.setPlainText("a\nb\nc\nd")
    assert empty < desk.composer.height() < desk.app.window.height() // 3
    desk.composer.setPlainText("line\n" * 400)
    assert desk.composer.height() <= desk.app.window.height() // 3
    assert desk.composer.verticalScrollBar().maximum() > 0


@pytest.mark.req("U-6")
@at_the_desk
async def test_the_status_line_tells_how_far_the_library_is(desk: Desk) -> None:
    await desk.open(ready=False)
    assert "Starting" in desk.status
    await until(lambda: "Indexing document" in desk.status)
    await until(lambda: "pages indexed" in desk.status)


@pytest.mark.req("U-5", "U-1")
@at_the_desk
async def test_every_part_has_its_name_and_speaks_to_a_screen_reader(desk: Desk) -> None:
    await desk.open()
    assert desk.app.window.objectName() == "mainWindow"
    for name in ("sessionList", "messageList", "composer", "sendButton", "stopButton", "statusLine"):
        assert desk.find(QWidget, name).accessibleName(), name
    assert desk.find(QPushButton, "newSessionButton").text()
    roles = desk.messages.model().roleNames()
    assert {bytes(name.data()) for name in roles.values()} == {
        b"nodeId",
        b"kind",
        b"source",
        b"status",
        b"branchIndex",
        b"branchCount",
    }


@pytest.mark.req("U-1")
@at_the_desk
async def test_the_model_of_the_message_list_tells_nodes_kinds_texts_and_statuses(desk: Desk) -> None:
    await desk.open()
    await desk.library_indexed()
    await desk.ask(QUESTION)
    model = desk.messages.model()
    names = {bytes(name.data()).decode(): role for role, name in model.roleNames().items()}
    question, answer = ({name: model.index(row).data(role) for name, role in names.items()} for row in (0, 1))
    assert (question["kind"], answer["kind"]) == ("user", "assistant")
    assert question["source"] == QUESTION
    assert "[Smith et al. 2020, p. 11" in answer["source"]
    assert question["status"] == answer["status"] == "stored"
    assert question["nodeId"]
    assert question["nodeId"] != answer["nodeId"]


@pytest.mark.req("U-5")
@at_the_desk
async def test_menus_show_their_keys_and_help_names_version_and_licence(desk: Desk) -> None:
    await desk.open()
    actions = {
        action.objectName(): action
        for menu in desk.app.window.menuBar().findChildren(QMenu)
        for action in menu.actions()
    }
    assert actions["newSessionAction"].shortcut().toString() == "Ctrl+N"
    assert actions["stopAction"].shortcut().toString() == "Esc"
    assert not actions["stopAction"].isEnabled()
    assert actions["quitAction"].shortcut().toString() == "Ctrl+Q"
    assert "Enter" in actions["sendAction"].text()
    actions["aboutAction"].trigger()
    about = desk.find(QDialog, "aboutDialog")
    assert desk.find(QLabel, "aboutName").text() == f"BibGenie Desktop {__version__}"
    assert "AGPL-3.0-or-later" in desk.find(QLabel, "aboutText").text()
    desk.press(Qt.Key.Key_Escape, widget=about)
    assert not about.isVisible()


@pytest.mark.req("U-1")
@at_the_desk
async def test_the_empty_window_says_what_to_do_and_stops_saying_it(desk: Desk) -> None:
    await desk.open()
    title = desk.find(QLabel, "emptyTitle")
    assert title.isVisible()
    await desk.ask(QUESTION)
    assert not title.isVisible()


class System(QObject):
    """Takes the addresses that the system would open."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.links.append(url.toString())


@pytest.fixture
def system(qapp: QApplication) -> Iterator[System]:
    taking = System()
    for scheme in ("zotero", "file", "https"):
        QDesktopServices.setUrlHandler(scheme, taking, "take")  # type: ignore[arg-type]
    yield taking
    for scheme in ("zotero", "file", "https"):
        QDesktopServices.unsetUrlHandler(scheme)


@pytest.mark.req("Z-2", "S-1")
@at_the_desk
async def test_a_citation_opens_its_file_on_a_click_and_zotero_with_ctrl(
    desk: Desk, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # no viewer is known, so the system is left to choose
    await desk.open()
    await desk.library_indexed()
    await desk.ask(QUESTION)
    desk.click_on_text("Smith et al. 2020, p. 11", Qt.KeyboardModifier.ControlModifier)
    await until(lambda: system.links)
    [link] = system.links
    assert link.startswith("zotero://open-pdf/library/items/PDFSMTH2?page=")
    assert desk.status == f"Opens in Zotero: {link}"
    system.links.clear()
    desk.click_on_text("Smith et al. 2020, p. 11")
    await until(lambda: system.links, "the file is opened")
    [file] = system.links
    assert file.startswith("file:///")
    assert file.endswith(".pdf")
    await until(lambda: "page 2" in desk.status, "the page is told")


@pytest.mark.req("S-1")
@at_the_desk
async def test_a_web_page_in_an_answer_opens_only_after_its_address_was_read(desk: Desk, system: System) -> None:
    answer = [{"text": "See [the site](https://example.org/a?b=c) now."}, {"finish": "stop"}]
    async with LlmServer([answer]) as server:
        await desk.open("--model", "openai/scripted", "--api-base", server.base_url)
        await desk.ask("Why?")
        desk.click_on_text("the site")
        dialog = desk.find(QDialog, "linkDialog")
        assert desk.find(QTextEdit, "linkAddress").toPlainText() == "https://example.org/a?b=c"
        desk.press(Qt.Key.Key_Escape, widget=dialog)
        assert system.links == []
        desk.click_on_text("the site")
        desk.click(desk.find(QPushButton, "linkOpen"))
        await until(lambda: system.links == ["https://example.org/a?b=c"])


@pytest.mark.req("U-5")
@at_the_desk
async def test_a_key_that_is_held_in_the_middle_of_the_page_changes_nothing(desk: Desk) -> None:
    await desk.open()
    await desk.ask(QUESTION)
    page = desk.page
    desk.messages.setFocus()
    desk.press(Qt.Key.Key_Return, widget=desk.messages)
    QApplication.sendEvent(
        desk.messages, QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_X, Qt.KeyboardModifier.NoModifier, "x")
    )
    desk.click_at(desk.messages.viewport(), QPoint(2, 2))
    assert desk.page == page
