"""What is read in a QTextDocument that shows rendered text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument, QTextFragment

from ..markdown.inline import INVISIBLE, ISOLATE, JOINER, THIN

CITATION_LINK = "bibgenie:cite/"
"""How the address of a citation's link begins; its number follows."""
COPY_LINK = re.compile(r"bibgenie:copy/([0-9]+)")
"""The address of the link that copies a code block, with its number."""

_UNSEEN = str.maketrans("\u00a0\u2028\u2029", " \n\n", "".join((INVISIBLE, JOINER, *ISOLATE)))


def plain_text(selected: QTextCursor) -> str:
    """What is selected, as it is read: formulas in LaTeX, without the links that copy and what keeps lines apart."""
    document, pieces = selected.document(), []
    block = document.findBlock(selected.selectionStart())
    while block.isValid() and block.position() < selected.selectionEnd():
        parts = list(fragments(block))
        if not any(COPY_LINK.fullmatch(part.charFormat().anchorHref()) for part in parts):
            pieces.append("".join(_read(part, selected) for part in parts))
        block = block.next()
    return "\n".join(pieces).translate(_UNSEEN)


def _read(fragment: QTextFragment, selected: QTextCursor) -> str:
    style = fragment.charFormat()
    begin = max(0, selected.selectionStart() - fragment.position())
    end = selected.selectionEnd() - fragment.position()
    if begin >= min(end, fragment.length()):
        return ""
    if style.isImageFormat():
        return str(style.property(style.Property.ImageAltText.value))
    # Places in a document count the halves of a character beyond the first 65,536 singly.
    text = fragment.text().encode("utf-16-le", "surrogatepass")[2 * begin : 2 * end].decode("utf-16-le", "replace")
    # The narrow spaces at the ends of a chip are ours, all others are the author's.
    return text.replace(THIN, "") if style.anchorHref().startswith(CITATION_LINK) else text


class Reading:
    """A document as it is read from a place `begin` on, and where in it each character stands."""

    def __init__(self, document: QTextDocument, begin: int = 0) -> None:
        self._begin = begin
        self._firsts: list[int] = []
        self._behinds: list[int] = []
        characters: list[str] = []
        lines = 0
        block = document.findBlock(begin)
        while block.isValid():
            parts = list(fragments(block))
            if not any(COPY_LINK.fullmatch(part.charFormat().anchorHref()) for part in parts):
                found = [("\n", block.position() - 1, block.position())] if lines else []
                for part in parts:
                    found += _places(part)
                for character, first, behind in found:
                    if first >= begin:
                        characters.append(character)
                        self._firsts.append(first)
                        self._behinds.append(behind)
                lines += 1
            block = block.next()
        self.text = "".join(characters)

    def count(self, place: int) -> int:
        """How many characters are read before a place in the document."""
        return bisect_left(self._firsts, place)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The places in the document from before the character `first` to behind the one before `last`."""
        end = self._behinds[last - 1] if last else self._begin
        return (self._firsts[first] if first < last else end), end

    def found_in(self, other: Reading, first: int, last: int) -> tuple[int, int] | None:
        """Where the characters from `first` to `last` stand in another document: at the same place, if all before
        them reads the same, else at the nearest that reads as they do; None where none does."""
        if self.text[:last] == other.text[:last]:
            return other.span(first, last)
        wanted = self.text[first:last]
        before = other.text.rfind(wanted, 0, first + len(wanted))
        behind = other.text.find(wanted, first)
        found = [place for place in (before, behind) if place >= 0]
        if not found or not wanted:
            return None
        nearest = min(found, key=lambda place: abs(place - first))
        return other.span(nearest, nearest + len(wanted))


def _places(fragment: QTextFragment) -> Iterator[tuple[str, int, int]]:
    """Each character that is read in a fragment, from where to where it reaches in the document."""
    style, place = fragment.charFormat(), fragment.position()
    if style.isImageFormat():
        for character in str(style.property(style.Property.ImageAltText.value)):
            yield character, place, place + fragment.length()
        return
    in_chip = style.anchorHref().startswith(CITATION_LINK)
    for character in fragment.text():
        behind = place + (2 if ord(character) > 0xFFFF else 1)
        read = character.translate(_UNSEEN)
        if read and not (in_chip and character == THIN):
            yield read, place, behind
        place = behind


def fragments(block: QTextBlock) -> Iterator[QTextFragment]:
    """The pieces of a block that look the same."""
    iterator = block.begin()
    while not iterator.atEnd():
        yield iterator.fragment()
        iterator += 1
