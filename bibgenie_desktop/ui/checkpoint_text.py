"""The text of a summary in its sections, and what is different from the one before (C-17). No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, NamedTuple, TypeAlias

from ..sessions.checkpoints import SECTIONS

MOST_LINES = 400
"""Of a section that are compared line by line: comparing takes the square of their number at worst."""

Mark: TypeAlias = Literal["same", "added", "removed"]


class Line(NamedTuple):
    """A line of a section: in both summaries, in the new one only, or in the one before only."""

    mark: Mark
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a summary; `heading` "" for what stands above the first heading."""

    heading: str
    body: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What of a section is different; `lines` are all of it, in their order."""

    heading: str
    lines: tuple[Line, ...]

    @property
    def is_any(self) -> bool:
        """Whether there is a difference."""
        return any(line.mark != "same" for line in self.lines)


def sections_of(summary: str) -> list[Section]:
    """The sections of a summary in their order; of a heading that is there twice, both."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in summary.splitlines():
        heading = line.lstrip("#").strip().strip("*:").strip()
        if line.startswith("#") and heading in SECTIONS:
            found.append((heading, []))
        else:
            found[-1][1].append(line)
    sections = [Section(heading, "\n".join(lines).strip()) for heading, lines in found]
    return [each for each in sections if each.heading or each.body]


def differences(previous: str, summary: str) -> list[Difference]:
    """What is different in each section, in the order of the headings."""
    before, after = _by_heading(previous), _by_heading(summary)
    return [
        Difference(heading, tuple(_compared(before.get(heading, []), after.get(heading, []))))
        for heading in ("", *SECTIONS)
        if heading in before or heading in after
    ]


def _by_heading(summary: str) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for section in sections_of(summary):
        lines.setdefault(section.heading, []).extend(
            line for each in section.body.splitlines() if (line := each.rstrip())
        )
    return lines


def _compared(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    if max(len(before), len(after)) > MOST_LINES:
        if list(before) == list(after):
            return [Line("same", each) for each in after]
        return [*(Line("removed", each) for each in before), *(Line("added", each) for each in after)]
    lines: list[Line] = []
    for kind, first, last, begin, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [Line("same", each) for each in after[begin:end]]
        else:
            lines += [Line("removed", each) for each in before[first:last]]
            lines += [Line("added", each) for each in after[begin:end]]
    return lines
