"""Messages between window and engine as JSON: what is sent is understood, all else is refused with a reason."""

from __future__ import annotations

import json
import string
from dataclasses import fields
from typing import Any, get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bibgenie_desktop.protocol.codec import MalformedMessage, command_from_json, event_from_json, to_json
from bibgenie_desktop.protocol.commands import Command, FetchBodies, Hello, SendMessage, StopTurn
from bibgenie_desktop.protocol.events import AnswerCitation, Event, NodeBody, SessionList, ToolFinished
from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.sessions.locators import locator_to_json
from tests.sessions.damage import kind_of
from tests.sessions.values import json_values, locators

COMMANDS, EVENTS = get_args(Command), get_args(Event)


def messages(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Any message of this type, made from the types of its fields."""
    if kind is AnswerCitation:
        return st.builds(kind, locator=st.none() | locators.map(locator_to_json))
    return st.from_type(kind)


commands = st.one_of([messages(kind) for kind in COMMANDS])
events = st.one_of([messages(kind) for kind in EVENTS])


def wire(message: Any) -> Any:
    return json.loads(json.dumps(to_json(message)))


@given(commands)
def test_every_command_is_understood_as_it_was_sent(command: Any) -> None:
    assert command_from_json(wire(command)) == command


@given(events)
def test_every_event_is_understood_as_it_was_sent(event: Any) -> None:
    assert event_from_json(wire(event)) == event


@pytest.mark.parametrize("kind", [*COMMANDS, *EVENTS], ids=lambda kind: kind.__name__)
def test_every_message_says_its_type_and_answers_to_a_request(kind: type[Any]) -> None:
    assert "type" not in {field.name for field in fields(kind)}
    assert {field.name: field.default for field in fields(kind)}["request"] == 0


@given(commands)
def test_a_command_is_no_event_and_an_event_no_command(command: Any) -> None:
    with pytest.raises(MalformedMessage, match="unknown type"):
        event_from_json(wire(command))


@given(st.one_of(commands, events), st.data())
def test_a_message_with_a_field_of_another_type_is_refused(message: Any, data: st.DataObject) -> None:
    sent = wire(message)
    name = data.draw(st.sampled_from(sorted(sent.keys() - {"type"})))
    wrong = data.draw(json_values)
    # Where a field may be null, text or an object are its other type.
    assume(kind_of(wrong) not in {kind_of(sent[name]), "null", "text", "object"})
    sent[name] = wrong
    with pytest.raises(MalformedMessage, match=name):
        (command_from_json if isinstance(message, COMMANDS) else event_from_json)(sent)


@given(st.one_of(commands, events), st.text(string.ascii_letters + "_", min_size=1, max_size=9))
def test_a_message_with_an_unknown_field_is_refused(message: Any, name: str) -> None:
    sent = wire(message)
    assume(name not in sent)
    with pytest.raises(MalformedMessage, match=name):
        (command_from_json if isinstance(message, COMMANDS) else event_from_json)(sent | {name: 1})


@pytest.mark.parametrize("kind", [*COMMANDS, *EVENTS], ids=lambda kind: kind.__name__)
def test_a_message_that_lacks_a_field_is_refused(kind: type[Any]) -> None:
    needed = [field for field in fields(kind) if field.default is field.default_factory]
    read = command_from_json if kind in COMMANDS else event_from_json
    if needed:
        with pytest.raises(MalformedMessage, match=kind.__name__):
            read({"type": kind.__name__})
    else:
        assert read({"type": kind.__name__}) == kind()


@given(json_values)
def test_anything_else_is_refused_and_nothing_else_is_raised(data: Any) -> None:
    with pytest.raises(MalformedMessage):
        command_from_json(data)
    with pytest.raises(MalformedMessage):
        event_from_json(data)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "Hello",
        {},
        {"type": None},
        {"type": ["Hello"]},
        {"type": "hello"},
        {"type": "_value"},
        {"type": "Segment", "kind": "text", "text": "a piece of a message is no message"},
        {"type": "Hello", "version": True},
        {"type": "Hello", "version": 1.0},
        {"type": "Hello", "version": "1"},
        {"type": "FetchBodies", "node_ids": "n1"},
        {"type": "FetchBodies", "node_ids": ["n1", 2]},
        {"type": "FetchBodies", "node_ids": {"n1": 1}},
        {"type": "StopTurn"},
        {"type": "SendMessage", "text": None},
    ],
)
def test_malformed_commands_are_refused(data: object) -> None:
    with pytest.raises(MalformedMessage):
        command_from_json(data)


@pytest.mark.parametrize(
    "data",
    [
        {"type": "NodeBody", "node_id": "n", "segments": [{"kind": "script", "text": "x"}]},
        {"type": "NodeBody", "node_id": "n", "segments": [{"kind": "text"}]},
        {"type": "NodeBody", "node_id": "n", "segments": [{"kind": "text", "text": "x", "html": "<p>"}]},
        {"type": "NodeBody", "node_id": "n", "segments": ["x"]},
        {"type": "ToolFinished", "session_id": "s", "call_id": "c", "state": "lost", "summary": "", "duration_ms": 1},
        {"type": "ToolFinished", "session_id": "s", "call_id": "c", "state": ["done"], "summary": "", "duration_ms": 1},
    ],
)
def test_malformed_events_are_refused(data: object) -> None:
    with pytest.raises(MalformedMessage):
        event_from_json(data)


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        (Hello(1, 7), {"type": "Hello", "version": 1, "request": 7}),
        (
            SendMessage("Why?"),
            {"type": "SendMessage", "text": "Why?", "session_id": "", "is_draft": True, "request": 0},
        ),
        (StopTurn("s"), {"type": "StopTurn", "session_id": "s", "request": 0}),
        (FetchBodies(("a", "b")), {"type": "FetchBodies", "node_ids": ["a", "b"], "request": 0}),
        (
            ToolFinished("s", "c", "done", "12 passages", 31),
            {
                "type": "ToolFinished",
                "session_id": "s",
                "call_id": "c",
                "state": "done",
                "summary": "12 passages",
                "duration_ms": 31,
                "request": 0,
            },
        ),
        (
            NodeBody("n", (Segment("citation", "Hale 2010, p. xii", state="verified"),)),
            {
                "type": "NodeBody",
                "node_id": "n",
                "segments": [
                    {
                        "kind": "citation",
                        "text": "Hale 2010, p. xii",
                        "link": "",
                        "state": "verified",
                        "detail": "",
                        "duration_ms": 0,
                    }
                ],
                "more": False,
                "request": 0,
            },
        ),
        (SessionList(()), {"type": "SessionList", "sessions": [], "more": False, "request": 0}),
    ],
)
def test_messages_as_other_programs_read_them(message: Any, sent: dict[str, Any]) -> None:
    """The command line prints the same objects with `--json`."""
    assert wire(message) == sent


def test_a_huge_wrong_value_is_not_repeated_whole_in_the_reason() -> None:
    """The reason is logged: it must neither fill the log nor carry a whole draft into it."""
    huge = "x" * 1_000_000
    for data in ({"type": huge}, {"type": "SendMessage", "text": [huge]}, {"type": "StopTurn", huge: 1}):
        with pytest.raises(MalformedMessage) as refusal:
            command_from_json(data)
        assert len(str(refusal.value)) < 300
