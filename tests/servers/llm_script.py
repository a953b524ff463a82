"""Scripts for the chat server, checked before they are played; the format is documented in `tests.servers.llm`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Step: TypeAlias = Mapping[str, Any]
Script: TypeAlias = Sequence[Sequence[Step] | Mapping[str, Any]]

_STEPS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"usage"}),
    "reasoning": frozenset({"usage", "field"}),
    "tool_calls": frozenset({"usage"}),
    "finish": frozenset({"usage"}),
    "usage": frozenset(),
    "chunk": frozenset(),
    "line": frozenset(),
    "comment": frozenset(),
    "error": frozenset(),
    "wait": frozenset(),
    "stall": frozenset(),
    "drop": frozenset(),
    "end": frozenset(),
    "unstreamed": frozenset(),
    "status": frozenset({"headers", "body"}),
}


class MalformedScript(ValueError):
    """A script that cannot be played; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The steps of one answer, checked."""

    steps: tuple[Step, ...]
    repeat: bool = False


def parse_script(script: Script) -> list[Answer]:
    """Check a script. Raises MalformedScript."""
    if not isinstance(script, list | tuple):
        raise MalformedScript("a script is an array of answers")
    answers: list[Answer] = []
    for number, given in enumerate(script):
        place = f"answer {number}"
        steps, repeat = given, False
        if isinstance(given, Mapping):
            if not set(given) <= {"steps", "repeat"} or "steps" not in given:
                raise MalformedScript(f"{place}: an answer as an object has `steps` and `repeat`")
            steps, repeat = given["steps"], bool(given.get("repeat", False))
        if not isinstance(steps, list | tuple):
            raise MalformedScript(f"{place}: an answer is an array of steps, or an object that holds one")
        answer = Answer(tuple(steps), repeat)
        if answer.repeat and number != len(script) - 1:
            raise MalformedScript(f"{place}: only the last answer may repeat")
        for position, step in enumerate(answer.steps):
            _check(step, position, answer.steps, f"{place}, step {position}")
        answers.append(answer)
    if not answers:
        raise MalformedScript("a script holds at least one answer")
    return answers


def verb_of(step: Step) -> str:
    """The key that says what a step does; `usage` is one only where it stands alone."""
    verbs = [key for key in step if key in _STEPS and key != "usage"]
    return verbs[0] if verbs else "usage"


def _check(step: Step, position: int, steps: Sequence[Step], place: str) -> None:
    if not isinstance(step, Mapping):
        raise MalformedScript(f"{place}: a step is an object")
    verb = verb_of(step)
    if verb not in step:
        raise MalformedScript(f"{place}: no step is called {', '.join(map(str, step)) or 'nothing'}")
    if strange := set(step) - {verb} - _STEPS[verb]:
        raise MalformedScript(f"{place}: `{verb}` takes no {', '.join(sorted(map(str, strange)))}")
    if verb == "drop" and step["drop"] not in ("close", "reset"):
        raise MalformedScript(f"{place}: `drop` is `close` or `reset`")
    if verb in ("end", "stall", "drop", "status") and position != len(steps) - 1:
        raise MalformedScript(f"{place}: nothing can follow `{verb}`")
    if verb == "unstreamed" and position:
        raise MalformedScript(f"{place}: `unstreamed` comes first")
    if verb == "status" and any(verb_of(earlier) != "wait" for earlier in steps[:position]):
        raise MalformedScript(f"{place}: only waits can come before `status`")
