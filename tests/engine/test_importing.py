"""Chats that come from files: what leaves comes back, and what is wrong with a file is one sentence (T-8, S-1)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bibgenie_desktop.engine.exporting import chat_file
from bibgenie_desktop.engine.importing import LARGEST_FILE, MOST_VALUES, NotImported, chat_from_json, read_chat
from bibgenie_desktop.store.chats import Chat
from tests.engine.chats import WHEN, chat, rich_chat, said


def taken(data: object) -> Chat:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return chat_from_json(raw, "x.json")


def exported(left: Chat | None = None) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(chat_file(left or rich_chat(), "json"))
    return data


@pytest.mark.req("T-8")
def test_what_leaves_as_json_is_read_as_it_was() -> None:
    left = rich_chat()
    came = taken(exported(left))
    assert came.nodes == left.nodes
    assert (came.checkpoints, came.ledger, came.blobs) == (left.checkpoints, left.ledger, left.blobs)
    assert came.visited == left.visited
    assert (came.session.title, came.session.leaf_id, came.session.branch_revision) == (
        left.session.title,
        left.session.leaf_id,
        left.session.branch_revision,
    )


@pytest.mark.req("T-8", "T-9")
def test_a_file_of_the_first_format_is_still_read() -> None:
    data = exported(chat(said("q1", None, "user", "Why?"), said("a1", "q1", "assistant", "So."), leaf="a1"))
    del data["program"], data["checkpoints"], data["ledger"], data["blobs"]
    for each in data["nodes"]:
        del each["visited"]
    came = taken({**data, "format": 1})
    assert [each.id for each in came.nodes] == ["q1", "a1"]


@pytest.mark.req("T-8")
def test_messages_in_any_order_are_brought_into_one_that_can_be_stored() -> None:
    data = exported()
    data["nodes"].reverse()
    came = taken(data)
    seen: set[str | None] = {None}
    for each in came.nodes:
        assert each.parent_id in seen
        seen.add(each.id)
    assert len(came.nodes) == len(data["nodes"])


@pytest.mark.req("T-8")
def test_an_empty_chat_can_be_read() -> None:
    data = exported()
    data |= {"nodes": [], "checkpoints": [], "ledger": [], "session": {**data["session"], "leaf_id": None}}
    assert taken(data).nodes == ()


def deep(levels: int) -> list[Any]:
    """A list in a list in a list."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


Change = Callable[[dict[str, Any]], object]

FAULTS: dict[str, tuple[Change, str]] = {
    "no format": (lambda data: data.pop("format"), "it was not exported by BibGenie"),
    "a format that is no number": (lambda data: data.update(format="2"), "it was not exported by BibGenie"),
    "true as a format": (lambda data: data.update(format=True), "it was not exported by BibGenie"),
    "another program": (lambda data: data.update(program="Other"), "it was exported by another program"),
    "no list of messages": (lambda data: data.update(nodes={}), "what stands as nodes in it is no list"),
    "a message that is none": (lambda data: data["nodes"].append(3), "a message in it is no object"),
    "an id that is no text": (lambda data: data["nodes"][0].update(id=3), "what stands as id in it is no text"),
    "an empty id": (lambda data: data["nodes"][0].update(id=""), "what stands as id in it is no id"),
    "an unknown role": (lambda data: data["nodes"][0].update(role="system"), "the message 'q1' has an unknown role"),
    "a role that is a list": (lambda data: data["nodes"][0].update(role=[]), "the message 'q1' has an unknown role"),
    "an unknown end": (lambda data: data["nodes"][1].update(stop_reason="x"), "ended for an unknown reason"),
    "an answer without an end": (
        lambda data: data["nodes"][1].update(stop_reason=None),
        "stands where none of its kind",
    ),
    "a question with an end": (
        lambda data: data["nodes"][0].update(stop_reason="stop"),
        "stands where none of its kind",
    ),
    "an answer to an answer": (lambda data: data["nodes"][4].update(parent_id="a1"), "stands where none of its kind"),
    "an unknown part": (
        lambda data: data["nodes"][0]["parts"].append({"type": "video"}),
        "the message 'q1' cannot be read, unknown type of part: 'video'",
    ),
    "parts that are none": (lambda data: data["nodes"][0].update(parts="x"), "the message 'q1' cannot be read"),
    "usage that is none": (lambda data: data["nodes"][1].update(usage=[]), "the message 'a1' cannot be read"),
    "a time that is none": (
        lambda data: data["nodes"][0].update(created_at="now"),
        "what stands as created_at in it is no time",
    ),
    "a day that is none": (
        lambda data: data["nodes"][0].update(created_at="2026-02-30T12:00:00.000Z"),
        "what stands as created_at in it is no time",
    ),
    "an unreadable message": (
        lambda data: data["nodes"].__setitem__(0, {"id": "q1", "unreadable": {}}),
        "the message 'q1' could not be read when it was exported",
    ),
    "two messages of one id": (lambda data: data["nodes"].append(data["nodes"][0]), "two messages have the id 'q1'"),
    "a missing parent": (lambda data: data["nodes"].pop(0), "the message before 'a1' is missing"),
    "a message before itself": (lambda data: data["nodes"][0].update(parent_id="q1"), "close on themselves at 'q1'"),
    "a circle": (lambda data: data["nodes"][0].update(parent_id="q3"), "its messages close on themselves at "),
    "a leaf elsewhere": (lambda data: data["session"].update(leaf_id="zz"), "its last message is not in it"),
    "no leaf": (lambda data: data["session"].update(leaf_id=None), "it does not say which message is the last"),
    "no title": (lambda data: data["session"].pop("title"), "what stands as title in it is no text"),
    "a negative revision": (
        lambda data: data["session"].update(branch_revision=-1),
        "what stands as branch_revision in it is no number",
    ),
    "a huge number": (lambda data: data["session"].update(branch_revision=10**400), "it holds no JSON"),
    "a checkpoint that nothing is said of": (
        lambda data: data.update(checkpoints=[]),
        "nothing is said of the checkpoint 'c1'",
    ),
    "a checkpoint twice": (
        lambda data: data["checkpoints"].append(data["checkpoints"][0]),
        "two checkpoints have the same id",
    ),
    "a checkpoint of no message": (
        lambda data: data["checkpoints"].append({**data["checkpoints"][0], "node_id": "q1"}),
        "'q1' is no checkpoint of it",
    ),
    "a deep thought": (
        lambda data: data["nodes"][1]["parts"][0].update(replay={"x": deep(150)}),
        "it is nested too deeply",
    ),
    "a deep note": (lambda data: data["ledger"][0].update(value=deep(150)), "it is nested too deeply"),
    "a checkpoint of what follows": (
        lambda data: data["checkpoints"][0].update(first_kept_message_id="a2"),
        "the checkpoint 'c1' stands for messages that are not before it",
    ),
    "a checkpoint of another branch": (
        lambda data: data["checkpoints"][0].update(covered_to_id="r1"),
        "the checkpoint 'c1' stands for messages that are not before it",
    ),
    "a checkpoint of itself": (
        lambda data: data["checkpoints"][0].update(covered_from_id="c1"),
        "the checkpoint 'c1' stands for messages that are not before it",
    ),
    "a note about nothing": (
        lambda data: data["ledger"][0].update(node_id="zz"),
        "is about a message that is not in it",
    ),
    "a note that replaces nothing": (
        lambda data: data["ledger"][1].update(supersedes_id="zz"),
        "replaces one that is not in it",
    ),
    "a note twice": (lambda data: data["ledger"].append(data["ledger"][0]), "two notes have the same id"),
    "a torn attachment": (lambda data: data["blobs"][0].update(data="AAAA"), "is damaged"),
    "an attachment that is no base64": (lambda data: data["blobs"][0].update(data="ü"), "is damaged"),
}


@pytest.mark.req("T-5", "T-8", "S-1")
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_one_plain_sentence(fault: str) -> None:
    change, said_of_it = FAULTS[fault]
    data = exported()
    change(data)
    with pytest.raises(NotImported) as refused:
        taken(data)
    sentence = str(refused.value)
    assert sentence.startswith("x.json is no chat that can be imported; nothing was changed: ")
    assert said_of_it in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


@pytest.mark.req("T-9")
def test_a_newer_format_asks_for_a_newer_program() -> None:
    with pytest.raises(NotImported, match="newer version of BibGenie; nothing was imported: update BibGenie"):
        taken({**exported(), "format": 3})


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    ("data", "said_of_it"),
    [
        (b"", "it holds no JSON"),
        (b"\xff\xfe", "it holds no JSON"),
        (b"{", "it holds no JSON"),
        (b'{"format": NaN}', "it holds no JSON"),
        (b'{"format": 1e999}', "it holds no JSON"),
        (b'{"format": ' + b"9" * 10_000 + b"}", "it holds no JSON"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "it is nested too deeply"),
        (b"[1,2]", "it was not exported by BibGenie"),
        (b'"format session nodes"', "it was not exported by BibGenie"),
        (b"[" + b"," * (MOST_VALUES + 1), "it holds more than any chat does"),
    ],
)
def test_a_file_that_is_none_of_ours_is_one_sentence(data: bytes, said_of_it: str) -> None:
    with pytest.raises(NotImported, match=said_of_it):
        taken(data)


@pytest.mark.req("S-1")
def test_halves_of_characters_are_replaced() -> None:
    data = exported()
    data["session"]["title"] = data["nodes"][0]["parts"][0]["text"] = "a\ud800b"
    came = taken(data)
    assert came.session.title == "a\ufffdb"
    assert came.nodes[0].parts[0].text == "a\ufffdb"  # type: ignore[union-attr]


@pytest.mark.req("S-1")
def test_a_long_chain_is_read_without_end() -> None:
    nodes = [said("n0", None, "user", "x"), *(said(f"n{at}", f"n{at - 1}", "user", "x") for at in range(1, 20_000))]
    came = taken(exported(chat(*nodes, leaf="n19999")))
    assert len(came.nodes) == 20_000


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def _places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [way] if way else []
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        found += _places(inner, (*way, key))
    return found


_PLACES = _places(exported())


@pytest.mark.req("S-1")
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(_PLACES), _JSON)
def test_whatever_stands_in_a_file_is_read_or_refused(way: tuple[Any, ...], value: Any) -> None:
    data = exported()
    target: Any = data
    for key in way[:-1]:
        target = target[key]
    target[way[-1]] = value
    came = None
    with suppress(NotImported):
        came = taken(data)
    if came is not None:
        chat_file(came, "json").encode()


@pytest.mark.req("T-8")
def test_a_file_is_read_by_its_path_and_what_is_none_is_said(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_bytes(b"\xef\xbb\xbf" + chat_file(rich_chat(), "json").encode())
    assert len(read_chat(file).nodes) == 9
    for path, said_of_it in (
        (tmp_path / "none.json", "There is no file "),
        (tmp_path, "cannot be read; nothing was imported: "),
        (file / "x", "cannot be read; nothing was imported: "),
        (Path("a\0b"), "cannot be read; nothing was imported: its name is none."),
    ):
        with pytest.raises(NotImported, match=said_of_it):
            read_chat(path)


@pytest.mark.req("T-8", "S-1")
@pytest.mark.skipif(os.name == "nt", reason="no pipes with names there")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotImported, match="pipe is no file; nothing was imported: choose another one"):
        read_chat(tmp_path / "pipe")


@pytest.mark.req("T-8", "S-1")
def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large.json"
    with file.open("wb") as writing:
        writing.truncate(LARGEST_FILE + 1)
    with pytest.raises(NotImported, match="is larger than 200 MB; nothing was imported"):
        read_chat(file)


def test_the_times_of_the_samples_are_as_they_are_stored() -> None:
    assert taken(exported()).session.created_at == WHEN
