"""Text with citations in it, and parts of that. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol.values import Segment

CITATION = "\ufffc"
"""Stands for a citation in a run's source, so that places in it count the same with and without."""


class Run:
    """Text with the citations in it. `source` is the text with `CITATION` for each citation."""

    __slots__ = ("segments", "source")

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = tuple(segments)
        self.source = "".join(_source(segment) for segment in self.segments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self.source == other.source and self.segments == other.segments

    def __hash__(self) -> int:
        return hash(self.segments)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def words(self) -> str:
        """The text with the labels of its citations."""
        return "".join(segment.text for segment in self.segments)

    def between(self, start: int, end: int) -> Run:
        """The part from one place of the source to another."""
        if start <= 0 and end >= len(self.source):
            return self
        found = []
        place = 0
        for segment in self.segments:
            length = len(_source(segment))
            first, last = max(start - place, 0), min(end - place, length)
            if first < last:
                whole = segment.kind == "citation" or (first, last) == (0, length)
                found.append(segment if whole else Segment("text", segment.text[first:last]))
            place += length
        return Run(found)

    def begins_with(self, other: Run, count: int) -> bool:
        """Whether the first `count` characters are the same, citations too."""
        if not self.source.startswith(other.source[:count]):
            return False
        if CITATION not in self.source[:count]:
            return True
        return self.between(0, count).segments == other.between(0, count).segments


def _source(segment: Segment) -> str:
    return CITATION if segment.kind == "citation" else segment.text
