"""The sizes of the page at one width and with one font: columns, fonts, and how high an unseen message may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from PySide6.QtGui import QFont, QFontInfo, QFontMetricsF

from ..theme import LINE_HEIGHT, column_width, reading_font, sized
from .body import StepPiece, TextPiece
from .message import Message

INDENT, PADDING = 76, 14
"""Pixels that a question stands in from the left, and those around its text in its bubble."""
LEAST_MARGIN = 8
"""Pixels of paper at either side of the column."""
TOP, FOOT = 8, 28
"""Pixels above a row, and those below it, in which the actions appear."""
QUESTION_FOOT = 8
"""Pixels below a question: the actions on it appear beside its heading."""
BEGINNING = 16
"""Pixels more above the first row."""
BUBBLE_PADDING = 10
"""Pixels above and below the text in a bubble."""
GAP = 8
"""Pixels between the parts of a message."""
_LINE_CHARACTERS = 60
"""Between two line ends, in a text that is not here yet."""


@dataclass(frozen=True, slots=True)
class Measures:
    """All in pixels. `column` is the width of a row."""

    column: int
    reading: QFont
    quiet: QFont
    reading_pixels: int
    quiet_pixels: int
    line: int
    quiet_line: int
    letter: float

    @classmethod
    def of(cls, font: QFont, width: int) -> Measures:
        """The measures of a page of this width."""
        reading, quiet = reading_font(font), sized(font, 0.97)
        pixels, quiet_pixels = QFontInfo(reading).pixelSize(), QFontInfo(quiet).pixelSize()
        return cls(
            column=max(160, min(width - 2 * LEAST_MARGIN, column_width(font) + 2 * PADDING)),
            reading=reading,
            quiet=quiet,
            reading_pixels=pixels,
            quiet_pixels=quiet_pixels,
            line=round(pixels * LINE_HEIGHT),
            quiet_line=round(quiet_pixels * 1.5),
            letter=QFontMetricsF(reading).averageCharWidth() * 1.05,
        )

    def text_width(self, *, question: bool) -> int:
        """The width of a message's text."""
        return self.column - 2 * PADDING - (INDENT if question else 0)

    def frame(self, *, question: bool) -> int:
        """The height of a message apart from what it says: gaps and heading."""
        return TOP + self.quiet_line + (QUESTION_FOOT + 2 * BUBBLE_PADDING if question else FOOT)

    def text_height(self, characters: int, lines: int, *, question: bool) -> int:
        """About how high a text is. `lines` counts its line ends."""
        full = characters * self.letter / self.text_width(question=question)
        return round(self.line * max(1.0, full + lines * 0.6))

    def piece_height(self, piece: TextPiece | StepPiece) -> int:
        """About how high a piece of a message is."""
        if isinstance(piece, StepPiece):
            return self.quiet_line
        source = piece.run.source
        return self.text_height(len(source), source.count("\n"), question=piece.voice == "question")

    def message_heights(self, messages: Iterable[Message]) -> Iterator[int]:
        """About how high messages are that were not seen, told by their lengths alone."""
        # Ten thousand are asked for at once: what does not depend on the message is worked out before.
        scales = {question: self._pixels_a_character(question=question) for question in (True, False)}
        frames = {question: self.frame(question=question) + GAP for question in (True, False)}
        for message in messages:
            question = message.role == "user"
            if message.role == "checkpoint":
                yield self.divider
            else:
                yield frames[question] + max(self.line, int(message.characters * scales[question]))

    def message_height(self, message: Message) -> int:
        """About how high a message is that was not seen."""
        return next(self.message_heights((message,)))

    def expected_height(self, message: Message) -> int:
        """About how high the text of a message is that is not here."""
        return max(self.line, int(message.characters * self._pixels_a_character(question=message.role == "user")))

    def _pixels_a_character(self, *, question: bool) -> float:
        return self.line * (self.letter / self.text_width(question=question) + 0.6 / _LINE_CHARACTERS)

    @property
    def divider(self) -> int:
        """The height of a checkpoint's row."""
        return TOP + 3 * self.quiet_line
