"""Messages as JSON objects and back. Reading is strict: a message that does not fit is refused with a reason."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from reprlib import repr as shortened
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from . import messages
from .messages import Command, Event


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


_HINTS: dict[type[Any], dict[str, Any]] = {}


def _hints(kind: type[Any]) -> dict[str, Any]:
    if kind not in _HINTS:
        _HINTS[kind] = get_type_hints(kind, vars(messages))
    return _HINTS[kind]


def _build(kind: type[Any], data: Mapping[str, Any]) -> Any:
    hints = _hints(kind)
    unknown = data.keys() - {field.name for field in fields(kind)}
    if unknown:
        raise MalformedMessage(f"{kind.__name__} has no {shortened(sorted(unknown))}")
    values = {name: _value(hints[name], value, f"{kind.__name__}.{name}") for name, value in data.items()}
    try:
        return kind(**values)
    except TypeError as error:
        raise MalformedMessage(f"{kind.__name__}: {error}") from error


def _value(hint: Any, value: Any, where: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        for option in get_args(hint):
            try:
                return _value(option, value, where)
            except MalformedMessage:
                continue
        raise MalformedMessage(f"{where}: {shortened(value)}")
    if origin is Literal:
        if value in get_args(hint) and isinstance(value, str):
            return value
    elif origin is tuple:
        if isinstance(value, list):
            return tuple(_value(get_args(hint)[0], item, where) for item in value)
    elif origin is dict:
        if isinstance(value, dict):
            return value
    elif is_dataclass(hint) and isinstance(hint, type):
        if isinstance(value, Mapping):
            return _build(hint, value)
    elif hint is type(None):
        if value is None:
            return None
    elif isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    raise MalformedMessage(f"{where}: {shortened(value)}")
