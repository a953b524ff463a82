"""Reading a chat out of a JSON file that was exported: strict, since a file may come from anywhere (S-1).

What is wrong with a file is one plain sentence. Formats: 1 held the active branch alone; 2 is docs/data.md's.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

from ..sessions.checkpoints import Checkpoint
from ..sessions.nodes import ROLES, STOP_REASONS, Node, Session
from ..sessions.parts import ReasoningPart, ToolCallPart, UndecodablePart, parts_from_json
from ..sessions.text import well_formed
from ..sessions.usage import MalformedUsage, Usage
from ..store.chats import Blob, Chat, LedgerEntry
from .exporting.json_file import FORMAT, PROGRAM
from .imported_tree import check_tree, parents_first

LARGEST_FILE = 200_000_000
"""Bytes."""
LARGEST_NUMBER = 2**53 - 1
LONGEST_ID, LONGEST_NAME = 200, 2_000
"""Characters."""
DEEPEST = 100
"""Levels of what is kept as it is, such as a provider's own form of a message: the store must be able to write it."""
MOST_VALUES = 10_000_000
"""Of JSON, about: each takes far more memory than its place in the file."""

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z")


class NotImported(Exception):
    """A file that holds no chat that can be taken. `str()` is one plain sentence; nothing was stored."""


class _Fault(Exception):
    """What is wrong, in a few words that follow `is no chat that BibGenie can take: `."""


def read_chat(path: Path) -> Chat:
    """The chat in a file. Raises NotImported. Reads and checks the whole file: to be called off the event loop."""
    try:
        if path.exists() and not path.is_dir() and not path.is_file():
            # Such as a pipe, which may wait for ever.
            raise NotImported(f"{_named(path)} is no file; nothing was imported: choose another one.")
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except FileNotFoundError as error:
        raise NotImported(f"There is no file {_named(path)}; nothing was imported: choose another one.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is none"
        raise NotImported(f"{_named(path)} cannot be read; nothing was imported: {reason}.") from error
    if len(data) > LARGEST_FILE:
        size = LARGEST_FILE // 1_000_000
        raise NotImported(f"{_named(path)} is larger than {size} MB; nothing was imported: choose another file.")
    return chat_from_json(data, _named(path))


def chat_from_json(data: bytes, name: str) -> Chat:
    """The chat in a file's bytes; `name` is the file's, for the sentence. Raises NotImported."""
    try:
        return _chat(_loaded(data))
    except _Newer as error:
        raise NotImported(
            f"{name} was exported by a newer version of BibGenie; nothing was imported: update BibGenie first."
        ) from error
    except _Fault as error:
        raise NotImported(f"{name} is no chat that can be imported; nothing was changed: {error}.") from error


class _Newer(Exception):
    """The file's format is none that this program knows."""


def _loaded(data: bytes) -> Any:
    if sum(map(data.count, (b"[", b"{", b","))) > MOST_VALUES:
        raise _Fault("it holds more than any chat does")
    try:
        text = data.decode("utf-8-sig")
        loaded = json.loads(text, parse_constant=_no_number, parse_float=_finite, parse_int=_whole)
        if r"\ud" in text or r"\uD" in text:  # a half of a pair can be written so, which no file can hold as text
            loaded = json.loads(well_formed(json.dumps(loaded, ensure_ascii=False)))
        return loaded
    except RecursionError as error:
        raise _Fault("it is nested too deeply") from error
    except ValueError as error:
        raise _Fault("it holds no JSON") from error


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(number: str) -> float:
    value = float(number)
    if value in (float("inf"), float("-inf")):
        raise ValueError(number)
    return value


def _whole(number: str) -> int:
    if len(number) > 17 or abs(int(number)) > LARGEST_NUMBER:
        raise ValueError(number)
    return int(number)


def _chat(data: Any) -> Chat:
    if not isinstance(data, dict) or not {"format", "session", "nodes"} <= data.keys():
        raise _Fault("it was not exported by BibGenie")
    format = data["format"]
    if isinstance(format, bool) or not isinstance(format, int) or format < 1:
        raise _Fault("it was not exported by BibGenie")
    if format > FORMAT:
        raise _Newer(format)
    if format > 1 and data.get("program") != PROGRAM:
        raise _Fault("it was exported by another program")
    raw = [_object(each, "a message") for each in _array(data, "nodes")]
    nodes = [_node(each) for each in raw]
    session = _session(_object(data["session"], "the chat"))
    visited = {str(each["id"]): _number(each, "visited", 0) for each in raw}
    checkpoints = [_checkpoint(_object(each, "a checkpoint")) for each in _array(data, "checkpoints", ())]
    chat = Chat(
        session,
        tuple(nodes),
        (),
        {identity: revision for identity, revision in visited.items() if 0 < revision <= session.branch_revision},
        {each.node_id: each for each in checkpoints},
        tuple(_entry(_object(each, "a note")) for each in _array(data, "ledger", ())),
        tuple(_blob(_object(each, "an attachment")) for each in _array(data, "blobs", ())),
    )
    if len(chat.checkpoints) != len(checkpoints):
        raise _Fault("two checkpoints have the same id")
    if fault := check_tree(chat):
        raise _Fault(fault)
    return parents_first(chat)


def _session(data: Mapping[str, Any]) -> Session:
    return Session(
        "",
        _text(data, "title"),
        _id_or_none(data, "leaf_id"),
        _number(data, "branch_revision"),
        _name_or_none(data, "model"),
        _time(data),
        _time(data),
    )


def _node(data: Mapping[str, Any]) -> Node:
    identity = _id(data, "id")
    if "unreadable" in data:
        raise _Fault(f"the message {identity!r} could not be read when it was exported")
    role, stop_reason = data.get("role"), data.get("stop_reason")
    if not isinstance(role, str) or role not in ROLES:
        raise _Fault(f"the message {identity!r} has an unknown role")
    if stop_reason is not None and (not isinstance(stop_reason, str) or stop_reason not in STOP_REASONS):
        raise _Fault(f"the message {identity!r} ended for an unknown reason")
    try:
        parts = parts_from_json(data.get("parts"))
        usage = None if data.get("usage") is None else Usage.from_json(data["usage"])
    except (UndecodablePart, MalformedUsage, OverflowError) as error:
        raise _Fault(f"the message {identity!r} cannot be read, {str(error)[:200]}") from error
    for part in parts:
        if isinstance(part, ReasoningPart | ToolCallPart):
            _check_depth(part.replay)
    return Node(
        identity,
        _id_or_none(data, "parent_id"),
        role,  # type: ignore[arg-type]
        parts,
        _time(data),
        _name_or_none(data, "model"),
        usage,
        stop_reason,  # type: ignore[arg-type]
    )


def _checkpoint(data: Mapping[str, Any]) -> Checkpoint:
    return Checkpoint(
        _id(data, "node_id"),
        _name(data, "kind"),
        _id_or_none(data, "first_kept_message_id"),
        _text(data, "summary"),
        _number(data, "generation"),
        _name(data, "trigger"),
        _name_or_none(data, "model"),
        _name_or_none(data, "prompt_version"),
        _id_or_none(data, "covered_from_id"),
        _id_or_none(data, "covered_to_id"),
        _number_or_none(data, "tokens_before"),
        _number_or_none(data, "tokens_after"),
        _check_depth(data.get("validation")),
        _number_or_none(data, "duration_ms"),
        _cost(data),
        _time(data),
    )


def _entry(data: Mapping[str, Any]) -> LedgerEntry:
    return LedgerEntry(
        _id(data, "id"),
        _id_or_none(data, "node_id"),
        _name(data, "kind"),
        _name(data, "origin"),
        _check_depth(data.get("value")),
        _id_or_none(data, "supersedes_id"),
        _time(data),
    )


def _blob(data: Mapping[str, Any]) -> Blob:
    identity = _id(data, "id")
    try:
        content = b64decode(_text(data, "data").encode("ascii"), validate=True)
    except ValueError as error:
        raise _Fault(f"the attachment {identity!r} is damaged") from error
    if sha256(content).hexdigest() != identity:
        raise _Fault(f"the attachment {identity!r} is damaged")
    return Blob(identity, _name(data, "mime"), content, _time(data))


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Fault(f"{what} in it is no object")
    return value


def _check_depth(value: Any) -> Any:
    """What may be of any form, if it is not nested deeper than DEEPEST."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, Mapping | list)
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
        ]
        if not level:
            return value
    raise _Fault("it is nested too deeply")


def _array(data: Mapping[str, Any], key: str, default: object = None) -> list[Any]:
    value = data.get(key, default)
    if value == ():
        return []
    if not isinstance(value, list):
        raise _Fault(f"what stands as {key} in it is no list")
    return value


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise _Fault(f"what stands as {key} in it is no text")
    return value


def _name(data: Mapping[str, Any], key: str) -> str:
    value = _text(data, key)
    if len(value) > LONGEST_NAME or not value.isprintable():
        raise _Fault(f"what stands as {key} in it is no name")
    return value


def _name_or_none(data: Mapping[str, Any], key: str) -> str | None:
    return None if data.get(key) is None else _name(data, key)


def _id(data: Mapping[str, Any], key: str) -> str:
    value = _text(data, key)
    if not 0 < len(value) <= LONGEST_ID or not value.isprintable():
        raise _Fault(f"what stands as {key} in it is no id")
    return value


def _id_or_none(data: Mapping[str, Any], key: str) -> str | None:
    return None if data.get(key) is None else _id(data, key)


def _number(data: Mapping[str, Any], key: str, default: int | None = None) -> int:
    value = data.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_NUMBER:
        raise _Fault(f"what stands as {key} in it is no number")
    return value


def _number_or_none(data: Mapping[str, Any], key: str) -> int | None:
    return None if data.get(key) is None else _number(data, key)


def _cost(data: Mapping[str, Any]) -> float | None:
    value = data.get("cost")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_NUMBER:
        raise _Fault("what stands as cost in it is no number")
    return float(value)


def _time(data: Mapping[str, Any]) -> str:
    value = data.get("created_at")
    if not isinstance(value, str) or not _TIME.fullmatch(value) or not _is_in_the_calendar(value):
        raise _Fault("what stands as created_at in it is no time")
    return value


def _is_in_the_calendar(time: str) -> bool:
    try:
        datetime.fromisoformat(time)
    except ValueError:
        return False
    return True


def _named(path: Path) -> str:
    return well_formed(str(path)) if len(str(path)) <= 300 else f"…{well_formed(str(path))[-300:]}"
