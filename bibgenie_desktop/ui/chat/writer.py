"""Writes messages into a text document, piece by piece. What a model wrote is inserted as plain text only (S-1)."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)

from ...protocol.messages import Segment
from ..theme import LINE_HEIGHT, Colours, reading_font, sized
from .conversation import Message
from .wording import citation_state, heading, step_line

MESSAGE = QTextFormat.Property.UserProperty + 1
"""Of a block: the row of the message it belongs to."""
BUBBLE = QTextFormat.Property.UserProperty + 2
"""Of a block: it stands in a question's bubble."""
CHIP = QTextFormat.Property.UserProperty + 3
"""Of characters: the number of the citation they show."""

LONGEST_BLOCK = 8_000
"""Characters of a line before it is broken for display: the layout of one line costs as much as the line is long."""
LONGEST_WHOLE_CHIP = 48
"""Characters of a citation that is not broken at the end of a line."""

BUBBLE_INDENT, BUBBLE_PADDING = 76, 14
"""Pixels."""
THIN = "\u202f"
"""A narrow space that does not break: it keeps a citation's text off the edges of its chip."""

_MARKS = {"verified": "✓", "unverified": "?", "wrong": "✗"}
_LIST_ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s")
_LONGEST_LIST_MARK = 5


def plain_tip(text: str) -> str:
    """A tooltip that wraps and shows exactly this text: Qt would take text that looks like HTML for HTML."""
    return f"<qt>{html.escape(text)}</qt>"


class TranscriptWriter:
    """Fills a document with messages, one after the other, and amends the last one as it grows.

    `when` turns a stored time into words; `leads_to` says where a link leads.
    """

    def __init__(
        self,
        document: QTextDocument,
        colours: Colours,
        font: QFont,
        *,
        when: Callable[[str], str],
        leads_to: Callable[[str], str],
    ) -> None:
        self._document = document
        self._colours = colours
        self._when = when
        self._leads_to = leads_to
        self._starts: list[int] = []
        self._chips = 0
        # Of the last message: the segment that was written last and how much of it, and the lines that may change.
        self._written = (0, 0)
        self._heading = ""
        self._steps: dict[int, tuple[str, QTextCursor]] = {}
        self._note = ""
        body = reading_font(font)
        size = QFontInfo(body).pixelSize()
        self._line, self._quiet_line, self._gap = size * LINE_HEIGHT, size * 1.35, size * 0.6
        self._body = _characters(body, colours.text)
        self._quiet = _characters(sized(font, 0.97), colours.muted)
        self._alarm = _characters(sized(font, 0.97), colours.accent)

    @property
    def rows(self) -> int:
        """How many messages are written."""
        return len(self._starts)

    def truncate(self, row: int) -> None:
        """Take away the messages from `row` on."""
        if row >= self.rows:
            return
        cursor = QTextCursor(self._document)
        # With the break before it, which writing puts there again.
        cursor.setPosition(max(0, self._starts[row] - 1))
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        del self._starts[row:]

    def write(self, message: Message) -> None:
        """Write one more message at the end."""
        cursor = self._end()
        cursor.beginEditBlock()
        if self._starts:
            cursor.insertBlock()
        self._starts.append(cursor.position())
        is_question = message.role == "user"
        top = 30 if is_question else 24
        self._block(cursor, top=top, height=self._quiet_line, bubble=is_question, centred=message.role == "checkpoint")
        self._heading = heading(message, self._when)
        cursor.insertText(self._heading, self._quiet)
        self._written, self._steps, self._note = (0, 0), {}, ""
        self._write_segments(cursor, message)
        self._write_note(cursor, message)
        cursor.endEditBlock()

    def amend(self, message: Message) -> bool:
        """Bring the last message up to date: what grew, how a tool went, how the answer ended.

        False where that cannot be done without writing it anew.
        """
        if self._note:
            return False
        cursor = self._end()
        cursor.beginEditBlock()
        line = heading(message, self._when)
        if line != self._heading:
            self._heading = line
            self._replace_line(self._starts[-1], line, self._quiet)
        for number, (text, place) in list(self._steps.items()):
            segment = message.segments[number]
            line = step_line(segment)
            if line != text:
                self._replace_line(place.position(), line, self._step_format(segment))
                self._steps[number] = line, place
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self._write_segments(cursor, message)
        self._write_note(cursor, message)
        cursor.endEditBlock()
        return True

    def _end(self) -> QTextCursor:
        cursor = QTextCursor(self._document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        return cursor

    def _replace_line(self, position: int, text: str, characters: QTextCharFormat) -> None:
        cursor = QTextCursor(self._document)
        cursor.setPosition(position)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text, characters)

    def _write_segments(self, cursor: QTextCursor, message: Message) -> None:
        place, characters = self._written
        segments = message.segments
        for number in range(place, len(segments)):
            segment = segments[number]
            begun = characters if number == place else 0
            follows_line = not number or segments[number - 1].kind in ("tool", "reasoning")
            if segment.kind == "text":
                if follows_line and not begun:
                    self._new_block(cursor, message.role, top=4 if message.role == "user" else 8)
                # Blank lines at the beginning would only push the answer down.
                blank = follows_line and not segment.text[: min(begun, 100)].strip()
                text = segment.text[begun:]
                self._write_text(cursor, text.lstrip("\n") if blank else text, message.role)
            elif begun == 0:
                if segment.kind == "citation":
                    if follows_line:
                        self._new_block(cursor, message.role, top=8)
                    self._write_citation(cursor, segment)
                else:
                    self._write_step(cursor, segment, number, message.role)
            self._written = (number, len(segment.text) or 1)

    def _write_note(self, cursor: QTextCursor, message: Message) -> None:
        self._note = message.note
        if message.note:
            self._new_block(cursor, message.role, top=8, quiet=True)
            cursor.insertText(message.note, self._quiet if message.status == "stored" else self._alarm)

    def _write_text(self, cursor: QTextCursor, text: str, role: str) -> None:
        for number, line in enumerate(_lines(text)):
            if number:
                if cursor.block().length() == 1:
                    self._shrink(cursor)
                self._new_block(cursor, role)
            while line:
                piece = self._fitting(line, LONGEST_BLOCK - cursor.positionInBlock())
                if not piece:
                    self._new_block(cursor, role)
                    continue
                is_beginning = cursor.positionInBlock() < _LONGEST_LIST_MARK
                cursor.insertText(piece, self._body)
                line = line[len(piece) :]
                if is_beginning and (mark := _LIST_ITEM.match(cursor.block().text())):
                    self._hang(cursor, mark[0])

    def _fitting(self, line: str, room: int) -> str:
        """What of a line goes into a block that has room for so many characters: up to a space, if there is one."""
        if len(line) <= room:
            return line
        end = line.rfind(" ", 0, max(0, room)) + 1
        return line[: end or (room if room == LONGEST_BLOCK else 0)]

    def _write_citation(self, cursor: QTextCursor, segment: Segment) -> None:
        self._chips += 1
        chip = _characters(sized(self._body.font(), 0.93), self._colours.text)
        chip.setProperty(CHIP, self._chips)
        tip = [citation_state(segment)]
        if segment.link:
            chip.setAnchor(True)
            chip.setAnchorHref(segment.link)
            tip.append(self._leads_to(segment.link))
        chip.setToolTip(plain_tip(" ".join(tip)))
        mark = QTextCharFormat(chip)
        mark.setFontWeight(QFont.Weight.DemiBold)
        if segment.state == "wrong":
            chip.setFontStrikeOut(True)
            chip.setForeground(QColor(self._colours.muted))
            mark.setForeground(QColor(self._colours.accent))
        else:
            verified = segment.state == "verified"
            mark.setForeground(QColor(self._colours.verified if verified else self._colours.doubtful))
        cursor.insertText(THIN, mark)
        space = " " if len(segment.text) > LONGEST_WHOLE_CHIP else "\u00a0"
        cursor.insertText(space.join(segment.text.split()), chip)
        cursor.insertText(f"\u00a0{_MARKS.get(segment.state, '?')}{THIN}", mark)

    def _write_step(self, cursor: QTextCursor, segment: Segment, number: int, role: str) -> None:
        self._new_block(cursor, role, top=6, quiet=True)
        place = QTextCursor(cursor)
        place.setKeepPositionOnInsert(True)
        line = step_line(segment)
        self._steps[number] = line, place
        cursor.insertText(line, self._step_format(segment))

    def _step_format(self, segment: Segment) -> QTextCharFormat:
        return self._alarm if segment.state in ("error", "denied") else self._quiet

    def _new_block(self, cursor: QTextCursor, role: str, *, top: float = 0, quiet: bool = False) -> None:
        cursor.insertBlock()
        height = self._quiet_line if quiet else self._line
        self._block(cursor, top=top, height=height, bubble=role == "user")

    def _block(
        self, cursor: QTextCursor, *, top: float, height: float, bubble: bool = False, centred: bool = False
    ) -> None:
        block = QTextBlockFormat()
        block.setProperty(MESSAGE, self.rows)
        # The direction follows from each block's own text.
        block.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        block.setTopMargin(top)
        block.setLineHeight(height, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
        if bubble:
            block.setProperty(BUBBLE, True)
            block.setLeftMargin(BUBBLE_INDENT + BUBBLE_PADDING)
            block.setRightMargin(BUBBLE_PADDING)
        if centred:
            block.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        cursor.setBlockFormat(block)

    def _shrink(self, cursor: QTextCursor) -> None:
        """Make an empty line a gap between paragraphs."""
        block = cursor.blockFormat()
        block.setLineHeight(self._gap, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor.setBlockFormat(block)

    def _hang(self, cursor: QTextCursor, mark: str) -> None:
        """Let the lines of a list item stand behind its mark."""
        block = cursor.blockFormat()
        if not block.textIndent():
            width = QFontMetricsF(self._body.font()).horizontalAdvance(mark)
            block.setLeftMargin(block.leftMargin() + width)
            block.setTextIndent(-width)
            cursor.setBlockFormat(block)


def _characters(font: QFont, colour: str) -> QTextCharFormat:
    characters = QTextCharFormat()
    characters.setFont(font)
    characters.setForeground(QColor(colour))
    return characters


def _lines(text: str) -> list[str]:
    # Qt makes a block of each of these itself, with the format of the block before.
    return re.split(r"\r\n|[\n\r\u2028\u2029]", text)
