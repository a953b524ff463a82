"""JSON objects with one thing wrong, to show that reading is strict."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from tests.sessions.values import json_values

# Where null is a value like others, these two kinds are right.
NULLABLE = {"locator": "object", "item": "text", "page_index": "number", "checkpoint_id": "text", "cost": "number"}

# Left out where it is false.
OPTIONAL = {"label_repeats"}


def kind_of(value: object) -> str:
    """The JSON type of a value; whole numbers are told from others."""
    match value:
        case None:
            return "null"
        case bool():
            return "truth"
        case int():
            return "number"
        case float():
            return "fraction"
        case str():
            return "text"
        case list():
            return "array"
        case _:
            return "object"


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of a JSON value at which something typed stands. A provider's own form is anything."""
    if isinstance(value, dict):
        inner = [(key, each) for key, each in value.items() if key != "replay"]
        own = [(*path, "replay")] if "replay" in value else []
    elif isinstance(value, list):
        inner, own = list(enumerate(value)), []
    else:
        return [path]
    deeper = [place for key, each in inner for place in _places(each, (*path, key))]
    return own + deeper + ([path] if path else [])


@st.composite
def damaged(draw: st.DrawFn, whole: st.SearchStrategy[Any], *, missing: bool = True) -> Any:
    """A value of `whole` in which one key is missing or holds a value of a type that it never has."""
    value = copy.deepcopy(draw(whole))
    path = draw(st.sampled_from(_places(value)))
    owner = value
    for key in path[:-1]:
        owner = owner[key]
    last = path[-1]
    if missing and isinstance(last, str) and last not in OPTIONAL and draw(st.booleans()):
        del owner[last]
        return value
    wrong = draw(json_values)
    right = {kind_of(owner[last])}
    if last in NULLABLE and right <= {"null", NULLABLE[last]} and not (last == "item" and "kind" in owner):
        right = {"null", NULLABLE[last]}
    if last == "page_index" and owner.get("kind") == "page":
        right = {"number"}
    if last == "cost":
        right |= {"number", "fraction"}
    assume(kind_of(wrong) not in right)
    owner[last] = wrong
    return value
