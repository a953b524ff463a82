"""Printing for people and pipes: text that no terminal takes for commands, and readers that go away."""

from __future__ import annotations

import os
import re
from typing import TextIO

# Controls of the terminal, and those of direction, which could turn a page number round.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """`text` without control characters but line feeds and tabs: titles and answers are hostile (S-1)."""
    return _CONTROLS.sub("", text)


def let_go(stream: TextIO) -> None:
    """Lead a stream whose other end is gone to nowhere, so that nothing fails at it again, not even at the exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
