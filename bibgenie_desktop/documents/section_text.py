"""The reading text of one XHTML section, with the CFI of the block that each paragraph starts in (Z-2)."""

from __future__ import annotations

from dataclasses import dataclass

from lxml import etree

from .markup import local_name
from .reading import TEXT_LIMIT, limited, one_line

MOST_ANCHORS = 5_000
LONGEST_CFI = 200
"""Characters; bounds what a hostile section of many and deep blocks makes of one message."""

_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html li main menu nav ol p pre section summary table tbody tfoot "
    "thead tr ul".split()
)
_UNSEEN = frozenset("annotation annotation-xml audio head object rp rt script style template video".split())
_SEPARATE = frozenset("br td th".split())
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())


@dataclass(frozen=True, slots=True)
class SectionText:
    """Paragraphs separated by one empty line; (offset, CFI) of each paragraph; the first heading, "" if none."""

    text: str
    anchors: tuple[tuple[int, str], ...]
    heading: str


def read_section(root: etree._Element, spine_step: str) -> SectionText:
    """Read the section under `root`; `spine_step` is the CFI up to the section, such as `/6/4!`."""
    reader = _SectionReader(spine_step)
    for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start":
            reader.start(node)
        elif event == "end":
            reader.end(node)
        else:
            reader.add(node.tail)
        if reader.length > TEXT_LIMIT:
            break
    return reader.finish()


class _SectionReader:
    def __init__(self, spine_step: str) -> None:
        self.length = 0
        self._spine_step = spine_step
        self._paragraphs: list[str] = []
        self._anchors: list[tuple[int, str]] = []
        self._heading = ""
        self._pending: list[str] = []
        self._pending_path = ""
        self._path: list[int] = []  # CFI steps from the root's children down to the open element
        self._children = [0]  # how many element children each open element has had, the root's parent first
        self._blocks = [""]
        self._unseen = 0

    def start(self, element: etree._Element) -> None:
        self._children[-1] += 1
        if len(self._children) > 1:  # the root itself is no step
            self._path.append(2 * self._children[-1])
        self._children.append(0)
        name = local_name(element)
        if name in _UNSEEN:
            self._unseen += 1
        if name in _BLOCKS:
            self._flush()
            self._blocks.append("".join(f"/{step}" for step in self._path))
        elif name in _SEPARATE:
            self.add(" ")
        self.add(element.text)

    def end(self, element: etree._Element) -> None:
        name = local_name(element)
        if name in _BLOCKS:
            paragraph = self._flush()
            if name in _HEADINGS and not self._heading:
                self._heading = paragraph
            self._blocks.pop()
        if name in _UNSEEN:
            self._unseen -= 1
        self._children.pop()
        if self._path:
            self._path.pop()
        if len(self._children) > 1:
            self.add(element.tail)

    def add(self, text: str | None) -> None:
        if not text or self._unseen:
            return
        if not self._pending:
            if text.isspace():
                return
            self._pending_path = self._blocks[-1]
        self._pending.append(text)

    def finish(self) -> SectionText:
        self._flush()
        return SectionText(limited("\n\n".join(self._paragraphs)), tuple(self._anchors), self._heading)

    def _flush(self) -> str:
        paragraph = one_line("".join(self._pending))
        self._pending.clear()
        if paragraph and self.length < TEXT_LIMIT:
            cfi = f"epubcfi({self._spine_step}{self._pending_path})"
            if len(cfi) <= LONGEST_CFI and len(self._anchors) < MOST_ANCHORS:
                self._anchors.append((self.length, cfi))
            self._paragraphs.append(paragraph)
            self.length += len(paragraph) + 2
        return paragraph
