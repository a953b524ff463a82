"""Which part of a growing Markdown source is finished, so that only the open rest is rendered again. No Qt."""

from __future__ import annotations

import re
from bisect import bisect_right

from .mathematics import may_grow_into_formula

_WHOLE = ("formula_block", "fence", "code_block")
_DEFINITION = re.compile(r"^[ >\t]*\[[^\[\]\n]+\]:", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")


def closed(source: str, begin: int) -> int:
    """The offset up to which the top-level blocks of `source` are closed; `begin` where none is, counted from there.

    Only whole lines count, and the last block stays open, as more lines may belong to it. `begin` is 0 or an offset
    that this function gave before. The blocks of the pieces are the blocks of the whole, but for links and footnotes
    that are defined in another piece: see `defines`.
    """
    end = source.rfind("\n") + 1
    if end <= begin:
        return begin
    from .parser import TooMuchWork, parse_blocks  # loaded with the first text: see `renderer`

    piece = source[begin:end]
    try:
        blocks = [(token.type, token.map) for token in parse_blocks(piece) if token.level == 0 and token.map]
    except TooMuchWork:
        return begin
    if len(blocks) < 2:
        return begin
    offsets = [0]
    while (line_end := piece.find("\n", offsets[-1])) >= 0:
        offsets.append(line_end + 1)
    # An unfinished formula can swallow what now looks like blocks of their own, up to the next blank line.
    blank = max((match.end() for match in _BLANK.finditer(piece)), default=0)
    for kind, (first, last) in blocks[:-1]:
        lines = range(max(first, bisect_right(offsets, blank) - 1), last)
        if kind not in _WHOLE and any(may_grow_into_formula(piece, offsets[line]) for line in lines):
            return begin + offsets[first]
    return begin + offsets[blocks[-1][1][0]]


def defines(source: str) -> bool:
    """Whether a line looks like the definition of a link or footnote: then the whole is to be rendered at the end."""
    return bool(_DEFINITION.search(source))
