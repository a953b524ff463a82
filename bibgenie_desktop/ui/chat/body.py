"""What a message's body is made of for the page: steps of a line each, and text in pieces that can be drawn in one go.

No widgets here. A renderer turns a piece into the HTML that Qt's documents understand; which one, is given from
outside.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from PySide6.QtGui import QImage

from ...protocol.values import Segment
from ..theme import Colours
from .cuts import Cuts
from .message import Message
from .text_run import Run


@dataclass(frozen=True, slots=True)
class Look:
    """How text is drawn: its colour `ink`, the size of its font in `pixels`, each of `ratio` pixels of the screen.

    `leads_to` says where a link leads.
    """

    colours: Colours
    ink: str
    pixels: int
    leads_to: Callable[[str], str]
    ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class Rendered:
    """Text as the HTML that Qt's documents understand.

    Links of the app's own: `bibgenie:cite/<n>` for the citation n of its text, `bibgenie:copy/<n>` for the code block
    n, whose text is in `codes`. `missing` are the formulas that are shown as their source, as there is no picture yet.
    """

    html: str
    codes: tuple[str, ...] = ()
    missing: tuple[object, ...] = ()


class RenderBody(Protocol):
    """Renders text with citations."""

    def render(self, segments: Sequence[Segment], look: Look, *, first_citation: int, first_code: int) -> Rendered:
        """Render segments of the kinds `text` and `citation`; what they hold is hostile (S-1).

        Citations and code blocks are counted from the given numbers: of text that is rendered piece by piece, closed
        blocks first, the pieces one after the other are the whole, but for what only the whole can tell.
        """

    def closed(self, source: str) -> int:
        """How many characters at the beginning are blocks that nothing can change that may still follow.

        `source` begins where a block begins, and holds `CITATION` for each citation. Told from complete lines only:
        half a line may become anything.
        """

    def image(self, name: str) -> QImage | None:
        """The picture `math:<name>` of a formula."""


Voice: TypeAlias = Literal["answer", "question", "quiet"]
"""`answer` is rendered by the renderer given; `question` and `quiet` are shown exactly as they were written."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Text to draw in one go."""

    run: Run
    voice: Voice


@dataclass(frozen=True, slots=True)
class StepPiece:
    """A line about something done before the answer: a tool call or thinking. `number` is that of its segment."""

    number: int
    segment: Segment
    unfolded: bool
    running: bool


Piece: TypeAlias = TextPiece | StepPiece


def pieces(message: Message, unfolded: Collection[int], cuts: dict[int, Cuts]) -> list[Piece]:
    """The pieces of a message, in order. `unfolded` holds the numbers of segments shown in full; `cuts` is kept for as
    long as the message is the same."""
    found: list[Piece] = []
    segments = message.segments
    voice: Voice = "question" if message.role == "user" else "answer"
    begin = 0
    while begin < len(segments):
        segment = segments[begin]
        if segment.kind in ("tool", "reasoning"):
            last = begin == len(segments) - 1 and message.status == "streaming"
            running = last if segment.kind == "reasoning" else segment.state == "pending"
            found.append(StepPiece(begin, segment, begin in unfolded, running))
            if begin in unfolded:
                shown = segment.text if segment.kind == "reasoning" else f"{segment.text}\n{segment.detail}".rstrip()
                found += _text_pieces(Run([Segment("text", shown)]), "quiet", begin, cuts)
            begin += 1
            continue
        end = begin
        while end < len(segments) and segments[end].kind in ("text", "citation"):
            end += 1
        run = Run(segments[begin:end])
        # Blank lines at the beginning would only push the text down.
        run = run.between(len(run) - len(run.source.lstrip("\r\n")), len(run))
        if run.source.strip():
            found += _text_pieces(run, voice, begin, cuts)
        begin = end
    return found


def _text_pieces(run: Run, voice: Voice, number: int, cuts: dict[int, Cuts]) -> Iterator[TextPiece]:
    if number not in cuts:
        cuts[number] = Cuts(blocks=voice == "answer")
    for piece in cuts[number].pieces(run):
        yield TextPiece(piece, voice)
