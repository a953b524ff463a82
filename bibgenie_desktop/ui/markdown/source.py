"""The Markdown of one answer with its citations in it, growing while the answer streams. No Qt.

A citation stands in the Markdown as a placeholder, a number between two noncharacters, so that it can stand inside a
sentence, a table cell or a heading. Noncharacters of the model's own are replaced before, and a character reference
such as `&#xFDD0;` never yields one: a placeholder cannot be forged.
"""

from __future__ import annotations

import re

from ...protocol.values import Segment

PLACEHOLDER_BEGIN, PLACEHOLDER_END = "\ufdd0", "\ufdd1"
PLACEHOLDER = re.compile(f"{PLACEHOLDER_BEGIN}([0-9]+){PLACEHOLDER_END}")
"""A citation's number, counted from 0 within its answer."""

_LINE_END = re.compile(r"\r\n?|[\x85\u2028\u2029]")
# Controls, surrogates, what Qt takes for the frames and objects of a document, and noncharacters.
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffc\ufffe\uffff]")


def placeholder(number: int) -> str:
    """What stands in the Markdown for the citation `number`."""
    return f"{PLACEHOLDER_BEGIN}{number}{PLACEHOLDER_END}"


def clean(text: str) -> str:
    """`text` with one kind of line end, and U+FFFD for each character that is not text."""
    return _UNWANTED.sub("\ufffd", _LINE_END.sub("\n", text))


class AnswerSource:
    """The Markdown of a run of text and citations, without the tool calls and the thinking between such runs.

    `citations` are numbered from `first`, so that the numbers of one message's runs differ.
    """

    def __init__(self, first: int = 0) -> None:
        self.first = first
        self.citations: list[Segment] = []
        self._pieces: list[str] = []
        self._after_return = False

    @property
    def text(self) -> str:
        """The Markdown, with placeholders."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def add_text(self, text: str) -> None:
        """More Markdown, as the model wrote it."""
        # A line end of two characters can come in two pieces.
        if self._after_return and text.startswith("\n"):
            text = text[1:]
        elif not text:
            return
        self._after_return = text.endswith("\r")
        self._pieces.append(clean(text))

    def add_citation(self, citation: Segment) -> None:
        """A citation at this place."""
        self._after_return = False
        self._pieces.append(placeholder(self.first + len(self.citations)))
        self.citations.append(citation)
