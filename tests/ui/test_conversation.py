"""A conversation: what is stored, what is on its way and what streams, told row by row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.protocol.events import AnswerCitation, ToolFinished
from bibgenie_desktop.protocol.values import BranchRow, Segment
from bibgenie_desktop.ui.chat.conversation import Conversation


class Heard:
    """Writes down what a conversation tells."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def reset(self) -> None:
        self.told.append("reset")

    def inserted(self, first: int, last: int) -> None:
        self.told.append(f"inserted {first}-{last}")

    def removed(self, first: int, last: int) -> None:
        self.told.append(f"removed {first}-{last}")

    def replaced(self, first: int, before: int, now: int) -> None:
        self.told.append(f"replaced {first}: {before} by {now}")

    def changed(self, row: int) -> None:
        self.told.append(f"changed {row}")

    def grown(self, row: int) -> None:
        self.told.append(f"grown {row}")


def row(node_id: str, role: str = "user") -> BranchRow:
    return BranchRow(node_id, role, "2026-01-01T00:00:00Z", None, None, 3)  # type: ignore[arg-type]


def heard(conversation: Conversation) -> Heard:
    listener = Heard()
    conversation.listen(listener)
    return listener


def test_a_question_and_its_answer_from_sending_to_stored() -> None:
    conversation = Conversation()
    listener = heard(conversation)
    conversation.ask("Why?", "2026-01-01T00:00:00Z")
    assert (conversation.sending, conversation.answering, conversation.busy) == (True, False, True)
    conversation.started("s1", "Why?", "n1", "offline")
    assert (conversation.session_id, conversation.title) == ("s1", "Why?")
    assert (conversation.sending, conversation.answering, conversation.busy) == (False, True, True)
    conversation.add_text("thinking", "reasoning")
    conversation.start_tool("c1", "Search")
    conversation.finish_tool(ToolFinished("s1", "c1", "done", "2 passages", 0))
    conversation.add_text("Because ")
    conversation.add_text("of “it” ")
    conversation.add_citation(AnswerCitation("s1", "Hale, p. 2", "zotero://x", "verified", "", "it", None))
    conversation.add_text(".")
    conversation.finish("stored", "", "n2")
    assert (conversation.sending, conversation.answering, conversation.busy) == (False, False, False)
    assert conversation.messages[1].segments == (
        Segment("reasoning", "thinking"),
        Segment("tool", "Search", state="done", detail="2 passages"),
        Segment("text", "Because of “it” "),
        Segment("citation", "Hale, p. 2", "zotero://x", "verified", "it"),
        Segment("text", "."),
    )
    assert conversation.messages[1].source == "Because of “it” [Hale, p. 2]."
    assert [message.node_id for message in conversation.messages] == ["n1", "n2"]
    assert listener.told == [
        "inserted 0-0",
        "changed 0",
        "inserted 1-1",
        *["grown 1"] * 2,
        "changed 1",
        *["grown 1"] * 4,
        "changed 1",
    ]


def test_a_question_that_is_not_taken_comes_back_word_for_word() -> None:
    conversation = Conversation()
    listener = heard(conversation)
    conversation.ask("  Why?\n\nReally? ", "")
    assert conversation.take_back() == "  Why?\n\nReally? "
    assert conversation.messages == []
    assert listener.told == ["inserted 0-0", "removed 0-0"]


def missing(conversation: Conversation) -> list[str]:
    """The nodes whose bodies are not here."""
    return [message.node_id for message in conversation.messages if not message.ready]


def test_a_stored_branch_is_there_at_once_and_its_bodies_come_in_pieces() -> None:
    conversation = Conversation("s1", "Why?")
    listener = heard(conversation)
    conversation.load([row("n1"), row("n2", "assistant")])
    assert missing(conversation) == ["n1", "n2"]
    conversation.add_body("n1", [Segment("text", "Why"), Segment("text", "?")])
    conversation.add_body("n2", [Segment("reasoning", "hm"), Segment("reasoning", "m"), Segment("text", "So.")])
    conversation.add_body("gone", [Segment("text", "x")])
    conversation.add_body("n1", [Segment("text", "twice")])
    assert missing(conversation) == []
    assert [message.segments for message in conversation.messages] == [
        (Segment("text", "Why?"),),
        (Segment("reasoning", "hmm"), Segment("text", "So.")),
    ]
    assert listener.told == ["reset", "changed 0", "changed 1"]


def test_a_body_that_cannot_be_read_says_so_in_its_place() -> None:
    conversation = Conversation("s1", "Why?")
    conversation.load([row("n1"), row("n2", "assistant")])
    conversation.body_failed("n2", "It is damaged.")
    assert missing(conversation) == ["n1"]
    assert (conversation.messages[1].status, conversation.messages[1].note) == ("failed", "It is damaged.")


def test_loading_again_keeps_bodies_and_the_answer_that_streams_behind_the_stored_branch() -> None:
    conversation = Conversation("s1", "Why?")
    conversation.load([row("n1"), row("n2", "assistant")])
    conversation.add_body("n1", [Segment("text", "Why?")])
    conversation.ask("And then?", "")
    conversation.started("s1", "Why?", "n3", "offline")
    conversation.add_text("Then")
    conversation.load([row("n1"), row("n2", "assistant"), row("n3")])
    assert missing(conversation) == ["n2"]
    assert [message.node_id for message in conversation.messages] == ["n1", "n2", "n3", ""]
    assert conversation.answering
    # A branch that was read before the question was stored takes nothing away.
    conversation.load([row("n1"), row("n2", "assistant")], seen=0)
    assert [message.node_id for message in conversation.messages] == ["n1", "n2", "n3", ""]


def test_loading_what_is_there_already_moves_nothing() -> None:
    conversation = Conversation("s1", "Why?")
    conversation.load([row("n1")])
    listener = heard(conversation)
    conversation.load([row("n1")])
    assert listener.told == []


def test_an_answer_that_lost_its_engine_stays_to_be_read() -> None:
    conversation = Conversation()
    conversation.ask("Why?", "")
    conversation.started("s1", "Why?", "n1", "offline")
    conversation.add_text("Bec")
    conversation.finish("interrupted", "The engine ended.")
    conversation.load([row("n1")])
    assert [message.status for message in conversation.messages] == ["stored", "interrupted"]
    assert conversation.messages[1].source == "Bec"
    conversation.add_text("late")
    assert conversation.messages[1].source == "Bec"


@pytest.mark.req("T-6")
def test_an_answer_that_lost_its_engine_stays_before_the_answers_that_came_later() -> None:
    conversation = Conversation()
    conversation.ask("Why?", "")
    conversation.started("s1", "Why?", "n1", "offline")
    conversation.finish("interrupted", "The engine ended.")
    conversation.ask("Again?", "")
    conversation.started("s1", "Why?", "n2", "offline")
    conversation.finish("stored", "", "n3")
    for _ in range(2):
        conversation.load([row("n1"), row("n2"), row("n3", "assistant"), row("n4")])
        assert [message.node_id for message in conversation.messages] == ["n1", "", "n2", "n3", "n4"]
    conversation.add_body("n4", [Segment("text", "of another window")])
    assert conversation.messages[4].source == "of another window"
    # Another branch without that question is without its answer too.
    conversation.load([row("n5"), row("n6")])
    assert [message.node_id for message in conversation.messages] == ["n5", "n6"]


@pytest.mark.req("T-6")
@given(st.lists(st.sampled_from(["ask", "start", "take back", "store", "fail", "crash", "elsewhere", "load", "old"])))
def test_loading_at_any_time_keeps_what_is_known_and_its_order(steps: list[str]) -> None:
    """The engine stores at the end of one branch; the window loads it as it is, or as it was before the last change."""
    conversation = Conversation("s1", "Why?")
    stored: list[str] = []
    before: tuple[list[str], int] = [], 0
    for number, step in enumerate(steps):
        order = list(conversation.messages)
        match step:
            case "ask" if not conversation.busy:
                conversation.ask(f"q{number}", "")
            case "start" if conversation.sending:
                before = list(stored), conversation.seen
                stored.append(f"n{number}")
                conversation.started("s1", "Why?", f"n{number}", "offline")
            case "take back" if conversation.sending:
                assert conversation.take_back().startswith("q")
                order.pop()
            case "store" if conversation.answering:
                before = list(stored), conversation.seen
                stored.append(f"n{number}")
                conversation.finish("stored", "", f"n{number}")
            case "fail" | "crash" if conversation.answering:
                conversation.finish("failed" if step == "fail" else "interrupted", "It ended.")
            case "elsewhere" if not conversation.busy:
                before = list(stored), conversation.seen
                stored.append(f"n{number}")
            case "load":
                conversation.load([row(each) for each in stored])
                nodes = [message.node_id for message in conversation.messages if message.node_id]
                assert nodes == stored
                before = list(stored), conversation.seen
            case "old":
                conversation.load([row(each) for each in before[0]], before[1])
            case _:
                pass
        assert [message for message in conversation.messages if message in order] == order
        for message in conversation.messages[:-1]:
            assert message.status not in ("sending", "streaming")
