"""What the engine refuses, with the reason."""

from __future__ import annotations

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
