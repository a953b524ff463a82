"""What the engine refuses, with the reason."""

from __future__ import annotations

from ..sessions.branch import Path
from ..sessions.nodes import Node
from ..sessions.text import well_formed


class Refused(Exception):
    """A command that cannot be carried out. `code` is for programs, `str()` one plain sentence for the user."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def checked_question(text: str) -> str:
    """The question as it is stored. Raises Refused for an empty one."""
    question = well_formed(text).strip()
    if not question:
        raise Refused("empty", "The question is empty: write one.")
    return question


def damage_of(path: Path) -> str:
    """What is told of a damaged branch, "" for a sound one (T-5)."""
    return "" if path.damage is None else f"This chat is damaged and can only be read: {path.damage}."


def checked_sound(path: Path) -> tuple[Node, ...]:
    """The nodes of a sound branch. Raises Refused for a damaged one, which is read-only (T-5)."""
    if path.damage is not None:
        raise Refused("damaged", damage_of(path))
    return path.nodes
