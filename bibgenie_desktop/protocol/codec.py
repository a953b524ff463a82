"""Messages as JSON objects and back. Reading is strict: a message that does not fit is refused with a reason."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, is_dataclass
from reprlib import repr as shortened
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from .commands import Command
from .events import Event


class MalformedMessage(ValueError):
    """A message of an unknown type, or with a field missing, unknown or of the wrong type."""


_COMMANDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Command)}
_EVENTS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event)}


def to_json(message: Command | Event) -> dict[str, Any]:
    """The message with its `type`, ready for `json.dumps`, which writes tuples as arrays."""
    return {"type": type(message).__name__, **asdict(message)}


def command_from_json(data: object) -> Command:
    """Read a command. Raises MalformedMessage."""
    command: Command = _message(data, _COMMANDS)
    return command


def event_from_json(data: object) -> Event:
    """Read an event. Raises MalformedMessage."""
    event: Event = _message(data, _EVENTS)
    return event


def _message(data: object, kinds: Mapping[str, type[Any]]) -> Any:
    if not isinstance(data, Mapping):
        raise MalformedMessage("a message is an object")
    kind = kinds.get(str(data.get("type")))
    if kind is None:
        raise MalformedMessage(f"unknown type of message: {shortened(data.get('type'))}")
    return _build(kind, {key: value for key, value in data.items() if key != "type"})


_Reader: TypeAlias = Callable[[Any, str], Any]
"""Checks a value and builds what it stands for; the text says where it stands."""


_FIELDS: dict[type[Any], dict[str, tuple[_Reader, str]]] = {}


def _fields_of(kind: type[Any]) -> dict[str, tuple[_Reader, str]]:
    """How the fields of a message, or of a piece of one, are read: found out once, for lists of thousands."""
    if kind not in _FIELDS:
        hints = get_type_hints(kind)
        names = [field.name for field in fields(kind)]
        _FIELDS[kind] = {name: (_reader(hints[name]), f"{kind.__name__}.{name}") for name in names}
    return _FIELDS[kind]


def _build(kind: type[Any], data: Mapping[str, Any]) -> Any:
    known = _fields_of(kind)
    unknown = data.keys() - known.keys()
    if unknown:
        raise MalformedMessage(f"{kind.__name__} has no {shortened(sorted(unknown))}")
    values = {}
    for name, value in data.items():
        read, where = known[name]
        values[name] = read(value, where)
    try:
        return kind(**values)
    except TypeError as error:
        raise MalformedMessage(f"{kind.__name__}: {error}") from error


def _reader(hint: Any) -> _Reader:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _union(tuple(_reader(option) for option in get_args(hint)))
    if origin is Literal:
        return _literal(frozenset(get_args(hint)))
    if origin is tuple:
        return _array(_reader(get_args(hint)[0]))
    if is_dataclass(hint) and isinstance(hint, type):
        return _piece(hint)
    return _plain(dict if origin is dict else hint)


def _union(options: tuple[_Reader, ...]) -> _Reader:
    def read(value: Any, where: str) -> Any:
        for option in options:
            try:
                return option(value, where)
            except MalformedMessage:
                continue
        raise _wrong(value, where)

    return read


def _literal(words: frozenset[str]) -> _Reader:
    def read(value: Any, where: str) -> Any:
        if isinstance(value, str) and value in words:
            return value
        raise _wrong(value, where)

    return read


def _array(item: _Reader) -> _Reader:
    def read(value: Any, where: str) -> Any:
        if isinstance(value, list):
            return tuple([item(each, where) for each in value])
        raise _wrong(value, where)

    return read


def _piece(kind: type[Any]) -> _Reader:
    def read(value: Any, where: str) -> Any:
        if isinstance(value, Mapping):
            return _build(kind, value)
        raise _wrong(value, where)

    return read


def _plain(kind: type[Any]) -> _Reader:
    def read(value: Any, where: str) -> Any:
        # In JSON true is no number, in Python it is one.
        if isinstance(value, kind) and (kind is not int or not isinstance(value, bool)):
            return value
        raise _wrong(value, where)

    return read


def _wrong(value: object, where: str) -> MalformedMessage:
    # Not the value itself: this gets into the log, and what is said in chats does not.
    return MalformedMessage(f"{where}: {type(value).__name__}")
