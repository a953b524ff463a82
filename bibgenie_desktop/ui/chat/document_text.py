"""What is read in a QTextDocument that shows rendered text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtGui import QTextBlock, QTextCursor, QTextFragment

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


def fragments(block: QTextBlock) -> Iterator[QTextFragment]:
    """The pieces of a block that look the same."""
    iterator = block.begin()
    while not iterator.atEnd():
        yield iterator.fragment()
        iterator += 1
