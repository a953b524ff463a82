"""The text sources of the demo library: a small markup, read into blocks.

A source begins with `name: value` lines up to a line `---`. Then, one block a paragraph:

    # Chapter   ## Section           headings
    - item      1. item              lists
    | a | b |                        table rows, the second row being dashes
        four spaces                  lines kept as they are
    @name argument                   a directive for the builder of that work
    anything else                    a paragraph

Inside a block `*italic*`, `**bold**`, and a backslash before a sign that is meant as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Face: TypeAlias = Literal["regular", "italic", "bold"]
Kind: TypeAlias = Literal["heading", "paragraph", "item", "table", "verbatim", "directive"]

_INLINE = re.compile(r"\\(.)|(\*\*|\*)|([^\\*]+)")
_LIST_ITEM = re.compile(r"(-|\d{1,2}\.) (.*)\Z", re.DOTALL)


class BadSource(Exception):
    """A source that breaks the rules of the markup, or a demand on the built file that it does not meet."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text in one face."""

    text: str
    face: Face = "regular"


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a source.

    `spans` is its text. `level` is a heading's, 1 or 2. `name` is a directive's name or a list item's marker.
    `rows` are a table's cells without the row of dashes.
    """

    kind: Kind
    spans: tuple[Span, ...] = ()
    level: int = 0
    name: str = ""
    rows: tuple[tuple[tuple[Span, ...], ...], ...] = ()

    @property
    def text(self) -> str:
        """The text without its faces."""
        return plain(self.spans)


@dataclass(frozen=True, slots=True)
class Source:
    """A work's source: the values of its head, and its blocks in order."""

    head: dict[str, str]
    blocks: tuple[Block, ...]


def plain(spans: tuple[Span, ...]) -> str:
    """The text of spans without their faces."""
    return "".join(span.text for span in spans)


def inline(text: str) -> tuple[Span, ...]:
    """Read `*italic*` and `**bold**`. Raises BadSource where one is not closed."""
    spans: list[Span] = []
    face: Face = "regular"
    buffer = ""
    for escaped, mark, words in _INLINE.findall(text):
        if not mark:
            buffer += escaped or words
            continue
        if buffer:
            spans.append(Span(buffer, face))
            buffer = ""
        wanted: Face = "bold" if mark == "**" else "italic"
        if face not in ("regular", wanted):
            raise BadSource(f"bold and italic overlap in: {text[:60]}")
        face = "regular" if face == wanted else wanted
    if face != "regular":
        raise BadSource(f"{face} is not closed in: {text[:60]}")
    if buffer:
        spans.append(Span(buffer))
    return tuple(spans)


def read_source(path: Path) -> Source:
    """Read a source file. Raises BadSource."""
    head_text, separator, body = path.read_text(encoding="utf-8").partition("\n---\n")
    if not separator:
        raise BadSource(f"{path.name} has no line --- after its head")
    head: dict[str, str] = {}
    for line in head_text.splitlines():
        name, colon, value = line.partition(": ")
        if not colon:
            raise BadSource(f"{path.name}: not a `name: value` line: {line}")
        head[name] = value
    blocks: list[Block] = []
    paragraph: list[str] = []
    for line in [*body.splitlines(), ""]:
        if line.startswith(("@", "#", "|", "- ", "    ")) or not line or _LIST_ITEM.match(line):
            _close(paragraph, blocks)
            _single(line, blocks)
        else:
            paragraph.append(line)
    return Source(head, tuple(blocks))


def _close(paragraph: list[str], blocks: list[Block]) -> None:
    if paragraph:
        blocks.append(Block("paragraph", inline(" ".join(paragraph))))
        paragraph.clear()


def _single(line: str, blocks: list[Block]) -> None:
    """Add the block that one line makes; table rows join the table before them."""
    item = _LIST_ITEM.match(line)
    if line.startswith("    "):
        blocks.append(Block("verbatim", (Span(line[4:]),)))
    elif line.startswith("@"):
        name, _, argument = line[1:].partition(" ")
        blocks.append(Block("directive", inline(argument), name=name))
    elif line.startswith("#"):
        marks, _, text = line.partition(" ")
        blocks.append(Block("heading", inline(text), level=len(marks)))
    elif line.startswith("|"):
        cells = tuple(inline(cell.strip()) for cell in line.strip("|").split("|"))
        if blocks and blocks[-1].kind == "table":
            table = blocks.pop()
            dashes = all(set(plain(cell)) <= {"-"} and cell for cell in cells)
            blocks.append(table if dashes else Block("table", rows=(*table.rows, cells)))
        else:
            blocks.append(Block("table", rows=(cells,)))
    elif item is not None:
        blocks.append(Block("item", inline(item[2]), name="•" if item[1] == "-" else item[1]))
