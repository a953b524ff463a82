"""Shorter SVG for the same picture: the outlines of a formula's letters are most of what is sent to the window."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OUTLINE = re.compile(r'(?<= d=")[^"<>]*(?=")')
_STEP = re.compile(r"([MLQC])((?: ?-?\d+(?:\.\d+)?){2,6}) ?|(Z) ?")
_NUMBERS = {"M": 2, "L": 2, "Q": 4, "C": 6}
_GRID = 10
"""Steps of a unit to which coordinates are rounded: with 24 units in an em, 1/480 em is the most a point moves."""


def compact(svg: str) -> str:
    """The SVG with its outlines written relative to the point before, in tenths of a unit.

    An outline that uses other commands than M, L, Q, C and Z stays as it is.
    """
    return _OUTLINE.sub(lambda outline: _compact_outline(outline[0]), svg)


def _compact_outline(outline: str) -> str:
    pieces: list[str] = []
    start = point = (0, 0)
    end = 0
    for step in _STEP.finditer(outline):
        if step.start() != end:
            return outline
        end = step.end()
        if step[3]:
            pieces.append("z")
            point = start
            continue
        command, numbers = step[1], [round(float(number) * _GRID) for number in step[2].split()]
        if len(numbers) != _NUMBERS[command]:
            return outline
        if command == "L" and tuple(numbers) == point:
            continue
        if command == "M":
            pieces.append("M" + "".join(_written(numbers)))
            start = (numbers[0], numbers[1])
        else:
            # Rounded before it is made relative, so that the errors do not add up.
            relative = [number - point[index % 2] for index, number in enumerate(numbers)]
            pieces.append(command.lower() + "".join(_written(relative)))
        point = (numbers[-2], numbers[-1])
    return "".join(pieces) if end == len(outline) else outline


def _written(numbers: list[int]) -> Iterator[str]:
    """Numbers in tenths, with no more between them than is needed to tell them apart."""
    for index, number in enumerate(numbers):
        whole, tenth = divmod(abs(number), _GRID)
        digits = f"{whole or ''}.{tenth}" if tenth else str(whole)
        yield f"-{digits}" if number < 0 else digits if index == 0 else f" {digits}"
