"""Between events and widgets: each chat gets what is its own, and nothing waits for an answer that will not come."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TypeVar

import pytest
from PySide6.QtCore import QObject

from bibgenie_desktop.protocol.commands import (
    VERSION,
    Command,
    FetchBodies,
    ListSessions,
    OpenSession,
    RenameSession,
    SaveDraft,
    SendMessage,
    StopTurn,
)
from bibgenie_desktop.protocol.events import (
    AnswerText,
    Branch,
    BranchChanged,
    CommandDone,
    CommandFailed,
    DraftAdded,
    LibraryProgress,
    NodeBody,
    SessionList,
    SessionRenamed,
    SessionsChanged,
    TurnFinished,
    TurnStarted,
    Welcome,
)
from bibgenie_desktop.protocol.values import BranchRow, Segment, SessionRow
from bibgenie_desktop.ui.bodies import BODIES_AT_ONCE
from bibgenie_desktop.ui.controller import Controller
from tests.ui.timers import ManualTimers

pytestmark = [pytest.mark.gui, pytest.mark.req("U-1")]

Kind = TypeVar("Kind", bound=Command)
CHANGED = BranchChanged("append_user", "s1", "n1", 1, ("n1",))


class Line:
    """A controller, the commands it sent, and what it told."""

    def __init__(self, owner: QObject) -> None:
        self.sent: list[Command] = []
        self.timers = ManualTimers()
        self.controller = Controller(self.sent.append, lambda: datetime(2026, 1, 1, tzinfo=UTC), self.timers, owner)
        self.drafts: list[str] = []
        self.notices: list[str] = []
        self.sessions: list[tuple[SessionRow, ...]] = []
        self.controller.draft_changed.connect(self.drafts.append)
        self.controller.notice_changed.connect(lambda sentence, _: self.notices.append(sentence))
        self.controller.sessions_changed.connect(self.sessions.append)
        self.library: list[str] = []
        self.controller.library_changed.connect(lambda progress: self.library.append(progress.sentence))

    def welcome(self) -> None:
        """An engine answers, and tells the draft of the chat that is shown if that is a new one."""
        self.controller.take(Welcome(VERSION, "0", "p", "l", "offline"))
        if not self.controller.conversation.session_id:
            self.controller.take(branch(self.last(OpenSession).request, session=""))

    def last(self, kind: type[Kind]) -> Kind:
        return next(command for command in reversed(self.sent) if isinstance(command, kind))

    def count(self, kind: type[Command]) -> int:
        return sum(isinstance(command, kind) for command in self.sent)

    def list_chats(self, *titles: str) -> None:
        """The engine tells the chats; the id of each is the first letter of its title."""
        rows = tuple(SessionRow(title[:1], title, 1, 0, None, 1, None, "") for title in titles)
        self.controller.take(SessionList(rows, False, self.last(ListSessions).request))

    @property
    def titles(self) -> list[str]:
        """The titles in the list as it was shown last."""
        return [row.title for row in self.sessions[-1]]

    @property
    def shown(self) -> list[str]:
        return [message.source for message in self.controller.conversation.messages]


@pytest.fixture
def line(qapp: object) -> Iterator[Line]:
    owner = QObject()
    yield Line(owner)
    owner.deleteLater()


def branch(request: int, *node_ids: str, draft: str = "", more: bool = False, session: str = "s1") -> Branch:
    rows = tuple(BranchRow(node_id, "user", "", None, None, 1) for node_id in node_ids)
    return Branch(session, "Title", 1, rows, draft, more=more, request=request)


def test_a_long_list_of_chats_comes_in_pieces_and_is_shown_whole(line: Line) -> None:
    line.welcome()
    request = line.last(ListSessions).request
    first, second = (SessionRow(name, name, 1, 0, None, 1, None, "") for name in "ab")
    line.controller.take(SessionList((first,), True, request))
    assert line.sessions == []
    line.controller.take(SessionList((second,), False, request))
    assert line.sessions == [(first, second)]


def test_many_changes_while_the_list_comes_ask_for_it_once_more(line: Line) -> None:
    line.welcome()
    for _ in range(5):
        line.controller.take(CHANGED)
    assert line.count(ListSessions) == 1
    line.controller.take(SessionList((), False, line.last(ListSessions).request))
    assert line.count(ListSessions) == 2
    line.controller.take(SessionList((), False, line.last(ListSessions).request))
    assert line.count(ListSessions) == 2


def test_a_list_that_failed_is_told_and_asked_for_again_at_the_next_change(line: Line) -> None:
    line.welcome()
    line.controller.take(CommandFailed("busy", "The history is busy.", line.last(ListSessions).request))
    assert line.notices[-1] == "The history is busy."
    line.controller.take(CHANGED)
    assert line.count(ListSessions) == 2


@pytest.mark.req("U-3")
def test_a_chat_comes_in_pieces_with_its_draft_and_its_bodies_are_fetched_where_it_is_looked_at(line: Line) -> None:
    line.welcome()
    line.controller.open_session("s1")
    request = line.last(OpenSession).request
    nodes = [f"n{number}" for number in range(BODIES_AT_ONCE + 4)]
    line.controller.take(branch(request, *nodes[:3], more=True, draft="half a "))
    assert line.shown == []
    line.controller.take(branch(request, *nodes[3:], draft="thought"))
    assert line.drafts[-1] == "half a thought"
    assert line.count(FetchBodies) == 0
    line.controller.look_at(2, 3)
    line.controller.look_at(1, 3)
    fetched = [command.node_ids for command in line.sent if isinstance(command, FetchBodies)]
    assert fetched == [("n2", "n3"), ("n1",)]
    line.controller.look_at_all()
    fetched = [command.node_ids for command in line.sent[-2:] if isinstance(command, FetchBodies)]
    assert [len(part) for part in fetched] == [BODIES_AT_ONCE, 1]
    assert [node for part in fetched for node in part] == ["n0", *nodes[4:]]


@pytest.mark.req("T-6")
def test_bodies_that_a_lost_engine_was_asked_for_are_asked_for_again_whole(line: Line) -> None:
    line.welcome()
    line.controller.open_session("s1")
    line.controller.take(branch(line.last(OpenSession).request, "n1", "n2", "n3"))
    line.controller.look_at(0, 1)
    request = line.last(FetchBodies).request
    line.controller.take(NodeBody("n1", (Segment("text", "one"),), False, request))
    line.controller.take(NodeBody("n2", (Segment("text", "tw"),), True, request))
    line.controller.engine_ended("It ended.", True)
    line.controller.look_at(2, 2)
    line.sent.clear()
    line.welcome()
    asked = [command for command in line.sent if isinstance(command, FetchBodies)]
    assert [command.node_ids for command in asked] == [("n2",), ("n3",)]
    line.controller.take(NodeBody("n2", (Segment("text", "two"),), False, asked[0].request))
    assert line.shown == ["one", "two", ""]


@pytest.mark.req("T-5")
def test_one_body_that_cannot_be_read_holds_up_no_other(line: Line) -> None:
    line.welcome()
    line.controller.open_session("s1")
    line.controller.take(branch(line.last(OpenSession).request, "n1", "n2"))
    line.controller.look_at(0, 1)
    line.controller.take(CommandFailed("damaged", "It cannot be read.", line.last(FetchBodies).request))
    single = [command for command in line.sent if isinstance(command, FetchBodies)][1:]
    assert [command.node_ids for command in single] == [("n1",), ("n2",)]
    line.controller.take(CommandFailed("damaged", "It cannot be read.", single[0].request))
    line.controller.take(NodeBody("n2", (Segment("text", "fine"),), False, single[1].request))
    messages = line.controller.conversation.messages
    assert [(message.ready, message.note, message.source) for message in messages] == [
        (True, "It cannot be read.", ""),
        (True, "", "fine"),
    ]


def test_a_chat_that_was_left_before_it_came_does_not_come_into_another(line: Line) -> None:
    line.welcome()
    line.controller.open_session("s1")
    slow = line.last(OpenSession).request
    line.controller.open_session("s2")
    line.controller.take(branch(line.last(OpenSession).request, "m1", session="s2", draft="second"))
    line.controller.take(branch(slow, "n1", "n2", draft="first"))
    assert [message.node_id for message in line.controller.conversation.messages] == ["m1"]
    assert line.drafts[-1] == "second"


@pytest.mark.req("U-3")
def test_what_is_typed_before_the_chat_has_come_stands_under_the_stored_draft_and_is_saved_with_it(line: Line) -> None:
    line.welcome()
    line.controller.open_session("s1")
    line.controller.draft_edited("typed")
    line.timers.pass_time()
    assert line.count(SaveDraft) == 0
    line.controller.take(branch(line.last(OpenSession).request, draft="stored"))
    assert line.drafts[-1] == "stored\n\ntyped"
    assert line.last(SaveDraft).text == "stored\n\ntyped"


def test_events_of_a_chat_that_this_window_does_not_know_are_left_alone(line: Line) -> None:
    line.welcome()
    line.controller.take(AnswerText("elsewhere", "text"))
    line.controller.take(TurnStarted("elsewhere", "n1", "t", "m", request=99))
    line.controller.take(branch(98, "n1"))
    line.controller.take(NodeBody("n1", (), False, 97))
    assert line.shown == []


@pytest.mark.req("U-3")
def test_the_draft_of_a_second_new_chat_is_saved_again_when_the_first_one_is_stored(line: Line) -> None:
    line.welcome()
    line.controller.submit("First?")
    line.controller.new_chat()
    line.controller.draft_edited("second")
    line.timers.pass_time()
    line.controller.take(TurnStarted("s1", "n1", "First?", "m", request=line.last(SendMessage).request))
    before = line.count(SaveDraft)
    line.timers.pass_time()
    assert line.count(SaveDraft) == before + 1
    assert (line.last(SaveDraft).session_id, line.last(SaveDraft).text) == ("", "second")
    assert line.controller.conversation.session_id == ""


def test_an_answer_that_ended_while_another_chat_was_open_is_read_from_the_store(line: Line) -> None:
    line.welcome()
    line.controller.submit("Why?")
    line.controller.take(TurnStarted("s1", "n1", "Why?", "m", request=line.last(SendMessage).request))
    line.controller.new_chat()
    line.controller.take(AnswerText("s1", "Because."))
    line.controller.open_session("s1")
    assert line.shown == ["Why?", "Because."]
    line.controller.new_chat()
    line.controller.take(TurnFinished("s1", "n2", "stop", 1, 1, True))
    line.controller.open_session("s1")
    assert line.last(OpenSession).session_id == "s1"
    assert line.shown == []


@pytest.mark.req("A-1")
def test_a_question_can_be_stopped_before_its_answer_begins(line: Line) -> None:
    line.welcome()
    line.controller.submit("Why?")
    line.controller.stop()
    assert line.last(StopTurn).session_id == ""
    line.controller.take(TurnStarted("s1", "n1", "Why?", "m", request=line.last(SendMessage).request))
    line.controller.stop()
    assert line.last(StopTurn).session_id == "s1"
    line.controller.take(TurnFinished("s1", "", "cancelled", 0, 0, False, "You stopped the answer."))
    line.controller.stop()
    assert line.count(StopTurn) == 2


@pytest.mark.req("T-6", "U-3")
def test_after_a_crash_drafts_are_saved_again_and_the_chat_is_looked_at_again(line: Line) -> None:
    line.welcome()
    line.controller.open_session("s1")
    line.controller.take(branch(line.last(OpenSession).request))
    line.controller.draft_edited("half")
    line.timers.pass_time()
    line.controller.engine_ended("It ended.", True)
    assert line.notices[-1] == "It ended. It is being started again."
    line.sent.clear()
    line.welcome()
    kinds = [type(command).__name__ for command in line.sent]
    assert kinds == ["OpenSession", "ListSessions", "ListModels"]
    line.controller.take(branch(line.last(OpenSession).request, draft="half"))
    assert (line.last(SaveDraft).text, line.drafts[-1]) == ("half", "half")
    assert line.notices[-1] == ""


REFUSED = "There is no key; nothing was sent."


@pytest.mark.req("U-2", "U-3")
@pytest.mark.parametrize("ends", ["refused", "crashed"])
@pytest.mark.parametrize("typed", ["", "other thought"])
def test_a_refused_first_question_comes_back_where_the_person_went_on_to_another_new_chat(
    line: Line, typed: str, ends: str
) -> None:
    line.welcome()
    line.controller.draft_edited("Why?")
    line.controller.submit("Why?")
    request = line.last(SendMessage).request
    line.controller.new_chat()
    if typed:
        line.controller.draft_edited(typed)
    if ends == "refused":
        line.controller.take(CommandFailed("key", REFUSED, request))
        assert line.notices[-1] == REFUSED
    else:
        line.controller.engine_ended("It ended.", True)
        line.welcome()
    expected = f"Why?\n\n{typed}" if typed else "Why?"
    assert line.drafts[-1] == expected
    line.timers.pass_time()
    assert (line.last(SaveDraft).session_id, line.last(SaveDraft).text) == ("", expected)


@pytest.mark.req("U-2", "U-3")
def test_a_refused_first_question_stands_in_the_new_chat_and_is_told_of_where_another_chat_is_read(line: Line) -> None:
    line.welcome()
    line.controller.submit("Why?")
    request = line.last(SendMessage).request
    line.controller.open_session("s1")
    line.controller.take(branch(line.last(OpenSession).request, draft="of s1"))
    line.controller.take(CommandFailed("key", REFUSED, request))
    assert (line.drafts[-1], line.notices[-1]) == ("of s1", REFUSED)
    line.controller.new_chat()
    assert line.drafts[-1] == "Why?"


@pytest.mark.req("U-3")
def test_a_draft_that_cannot_be_saved_is_said_and_tried_again_until_it_is_saved(line: Line) -> None:
    line.welcome()
    line.controller.draft_edited("precious")
    line.timers.pass_time()
    line.controller.take(CommandFailed("full", "The disk is full.", line.last(SaveDraft).request))
    assert line.notices[-1] == "The disk is full."
    line.controller.say("")
    assert line.notices[-1] == "The disk is full."
    assert line.timers.pass_time() == 1
    assert (line.count(SaveDraft), line.last(SaveDraft).text) == (2, "precious")
    line.controller.take(CommandDone(line.last(SaveDraft).request))
    assert line.notices[-1] == ""
    assert line.timers.pass_time() == 0
    line.controller.close()
    assert line.count(SaveDraft) == 2


@pytest.mark.req("U-3")
@pytest.mark.parametrize("engine", ["starting", "restarting", "given up"])
def test_what_is_typed_and_asked_while_no_engine_answers_is_saved_at_the_end(line: Line, engine: str) -> None:
    if engine != "starting":
        line.welcome()
        line.controller.engine_ended("It ended.", engine == "restarting")
    if engine != "given up":
        line.controller.submit("First?")
        line.controller.new_chat()
        line.controller.submit("Second?")
    line.controller.draft_edited("next")
    line.timers.pass_time()
    line.sent.clear()
    assert line.controller.unsaved
    line.controller.close()
    expected = "next" if engine == "given up" else "First?\n\nSecond?\n\nnext"
    assert [(command.session_id, command.text) for command in line.sent if isinstance(command, SaveDraft)] == [
        ("", expected)
    ]
    assert line.count(SendMessage) == 0
    assert not line.controller.unsaved


@pytest.mark.req("T-6", "U-3")
def test_what_others_put_into_a_draft_is_shown_above_what_is_typed_and_saved_with_it(line: Line) -> None:
    line.welcome()
    line.controller.open_session("s1")
    line.controller.take(branch(line.last(OpenSession).request))
    line.controller.draft_edited("typed")
    line.timers.pass_time()
    line.controller.take(DraftAdded("s1", "Asked "))
    line.controller.take(DraftAdded("s1", "elsewhere."))
    line.controller.take(CommandDone(line.last(SaveDraft).request))
    assert line.drafts[-1] == "Asked elsewhere.\n\ntyped"
    line.controller.take(DraftAdded("s1", "More."))
    assert line.drafts[-1] == "More.\n\nAsked elsewhere.\n\ntyped"
    shown = len(line.drafts)
    line.controller.take(DraftAdded("s2", "of another chat"))
    assert len(line.drafts) == shown
    line.timers.pass_time()
    saved = {command.session_id: command.text for command in line.sent if isinstance(command, SaveDraft)}
    assert saved == {"s1": "More.\n\nAsked elsewhere.\n\ntyped", "s2": "of another chat"}


@pytest.mark.req("T-6", "U-3")
@pytest.mark.parametrize("ends", [False, True])
def test_a_draft_only_read_here_follows_what_another_window_makes_of_it_and_never_overwrites_that(
    line: Line, ends: bool
) -> None:
    line.welcome()
    line.controller.open_session("s1")
    line.controller.take(branch(line.last(OpenSession).request, draft="old"))
    if ends:
        line.controller.engine_ended("It ended.", True)
        line.welcome()
    else:
        line.controller.take(SessionsChanged(("s1",)))
    line.controller.take(branch(line.last(OpenSession).request, draft="old and much more"))
    assert line.drafts[-1] == "old and much more"
    line.controller.close()
    assert line.count(SaveDraft) == 0


@pytest.mark.req("T-6", "U-3")
def test_a_draft_that_is_edited_here_stays_when_its_chat_is_looked_at_again(line: Line) -> None:
    line.welcome()
    line.controller.open_session("s1")
    line.controller.take(branch(line.last(OpenSession).request, draft="old"))
    line.controller.draft_edited("old, newer")
    line.controller.take(SessionsChanged(("s1",)))
    line.controller.take(branch(line.last(OpenSession).request, draft="old"))
    assert line.drafts[-1] == "old, newer"
    assert line.last(SaveDraft).text == "old, newer"


@pytest.mark.req("T-6", "U-2")
@pytest.mark.parametrize("when", ["on its way", "no engine", "at the end"])
def test_a_name_is_shown_at_once_and_sent_until_the_engine_has_stored_it(line: Line, when: str) -> None:
    line.welcome()
    line.list_chats("a", "b")
    line.controller.open_session("a")
    line.controller.take(branch(line.last(OpenSession).request, session="a"))
    if when == "on its way":
        line.controller.rename("a", "Reasons")
    line.controller.engine_ended("It ended.", True)
    if when != "on its way":
        line.controller.rename("a", "Reasons")
    assert line.titles == ["Reasons", "b"]
    assert line.controller.conversation.title == "Reasons"
    line.sent.clear()
    if when == "at the end":
        assert line.controller.unsaved
        line.controller.close()
    else:
        line.welcome()
        line.list_chats("a", "b")
        line.controller.take(branch(line.last(OpenSession).request, session="a"))
    assert line.titles == ["Reasons", "b"]
    assert line.controller.conversation.title == "Reasons"
    assert [(each.session_id, each.title) for each in line.sent if isinstance(each, RenameSession)] == [
        ("a", "Reasons")
    ]
    line.controller.take(SessionRenamed("a", "Reasons, cleaned", line.last(RenameSession).request))
    assert line.titles == ["Reasons, cleaned", "b"]
    assert line.controller.conversation.title == "Reasons, cleaned"
    assert not line.controller.unsaved


@pytest.mark.req("U-2")
def test_a_name_that_is_refused_is_said_and_the_old_one_shown_again(line: Line) -> None:
    line.welcome()
    line.list_chats("a")
    line.controller.open_session("a")
    line.controller.take(branch(line.last(OpenSession).request, session="a"))
    line.controller.rename("a", "One")
    first = line.last(RenameSession).request
    line.controller.rename("a", "Two")
    line.controller.take(SessionRenamed("a", "One", first))
    assert line.titles == ["Two"]
    line.controller.take(CommandFailed("refused", "It has no name.", line.last(RenameSession).request))
    assert line.titles == ["One"]
    assert line.controller.conversation.title == "One"
    assert line.notices[-1] == "It has no name."


@pytest.mark.req("T-6")
def test_an_engine_that_is_given_up_has_nothing_more_to_say_of_the_library(line: Line) -> None:
    line.controller.engine_ended("It ended.", True)
    assert line.library == []
    line.welcome()
    line.controller.take(LibraryProgress("reading", 0, 0, "Reading…"))
    line.controller.engine_ended("It ended.", False)
    assert line.library == ["Reading…", ""]
