"""Text drawn exactly as it was written, and the citations in it: what questions, thinking and errors are shown with."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from PySide6.QtGui import QImage

from ...protocol.values import Segment
from ..markdown.inline import LONGEST_WHOLE_CHIP, MARKS, THIN
from ..theme import LINE_HEIGHT
from .body import Look, Rendered
from .wording import citation_state

LONGEST_LINE = 4_000
"""Characters of a line before it is broken for display: the layout of one line costs more than its length."""

_LINE_ENDS = re.compile(r"\r\n|[\n\r\u2028\u2029]")
_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufdd0-\ufdef\ufffc\ufffe\uffff]")
"""Characters that Qt's documents keep for themselves, or that no one can see."""


class PlainText:
    """Renders text as it stands (see RenderBody): a paragraph for each line, nothing in it is markup."""

    def render(self, segments: Sequence[Segment], look: Look, *, first_citation: int, first_code: int) -> Rendered:
        """A paragraph for each line, with chips for citations."""
        height = round(look.pixels * LINE_HEIGHT)
        text = f"margin:0px; line-height:{height}px; -qt-line-height-type:minimum; color:{look.ink}"
        gap = f"margin:0px; line-height:{round(look.pixels * 0.6)}px; -qt-line-height-type:fixed"
        lines: list[list[str]] = [[]]
        room = LONGEST_LINE
        for segment in _without_last_line_end(segments):
            if segment.kind == "citation":
                lines[-1].append(_chip(segment, first_citation, look))
                first_citation += 1
                continue
            for number, line in enumerate(_LINE_ENDS.split(segment.text)):
                if number:
                    lines.append([])
                    room = LONGEST_LINE
                for part in _parts(line, room):
                    if room <= 0:
                        lines.append([])
                        room = LONGEST_LINE
                    lines[-1].append(escaped(part))
                    room -= len(part)
        html = "".join(
            f'<p style="{text}; white-space:pre-wrap">{"".join(line)}</p>'
            if line
            else f'<p style="{gap}; -qt-paragraph-type:empty"></p>'
            for line in lines
        )
        return Rendered(html)

    def closed(self, source: str) -> int:
        """All whole lines."""
        return source.rfind("\n") + 1

    def image(self, name: str) -> QImage | None:
        """There are no formulas in plain text."""
        return None


def escaped(text: str) -> str:
    """Text as HTML that shows exactly this text."""
    return html.escape(_UNSHOWN.sub("\ufffd", text))


def _chip(citation: Segment, number: int, look: Look) -> str:
    """A citation as one link: its label and state, and what it says on hovering."""
    colours = look.colours
    wrong = citation.state == "wrong"
    tip = citation_state(citation)
    if citation.link:
        tip = f"{tip} {look.leads_to(citation.link)}"
    # Qt takes a tip that looks like HTML for HTML: so it is given HTML that shows the tip.
    title = html.escape(f"<qt>{escaped(tip)}</qt>")
    label = escaped(("\u00a0" if len(citation.text) <= LONGEST_WHOLE_CHIP else " ").join(citation.text.split()))
    ink = colours.accent if wrong else colours.verified if citation.state == "verified" else colours.doubtful
    line, text = ("line-through", colours.muted) if wrong else ("none", colours.text)
    plain = f"color:{text}; text-decoration:none; font-size:{round(look.pixels * 0.93)}px"
    mark = f'<span style="color:{ink}; font-weight:600">\u00a0{MARKS.get(citation.state, "?")}{THIN}</span>'
    return (
        f'<a href="bibgenie:cite/{number}" title="{title}" style="{plain}">'
        f'{THIN}<span style="text-decoration:{line}">{label}</span>{mark}</a>'
    )


def _without_last_line_end(segments: Sequence[Segment]) -> Sequence[Segment]:
    last = segments[-1] if segments else None
    if last is None or last.kind != "text" or not last.text.endswith("\n"):
        return segments
    return [*segments[:-1], Segment("text", last.text[:-1])]


def _parts(line: str, room: int) -> Iterator[str]:
    """A line in parts of which the first fits into `room` and each other into a line."""
    begin = 0
    while begin < len(line):
        end = begin + (room if room > 0 else LONGEST_LINE)
        yield line[begin:end]
        begin, room = end, LONGEST_LINE
