"""Rendered Markdown for the tests: a style, a document, and what stands in either."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from types import FrameType

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument

from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.sessions.citations import CitationState
from bibgenie_desktop.ui.chat.document_text import plain_text
from bibgenie_desktop.ui.markdown.mathematics import Formula, FormulaImage
from bibgenie_desktop.ui.markdown.renderer import INDENT, MarkdownRenderer, Rendered
from bibgenie_desktop.ui.markdown.source import AnswerSource
from bibgenie_desktop.ui.markdown.text_style import TextStyle
from bibgenie_desktop.ui.theme import LIGHT

STYLE = TextStyle.of(LIGHT, dark=False, size=16, line_height=25, monospace="monospace")
LINK = "zotero://open-pdf/library/items/ABCD2345?page=3"


def citation(label: str = "Hale 2010, p. 152", state: CitationState = "verified", detail: str = "effort") -> Segment:
    return Segment("citation", label, LINK, state, detail)


def source(*parts: str | Segment) -> AnswerSource:
    made = AnswerSource()
    for part in parts:
        if isinstance(part, str):
            made.add_text(part)
        else:
            made.add_citation(part)
    return made


def renderer(picture: Callable[[Formula], FormulaImage | None] = lambda formula: None) -> MarkdownRenderer:
    return MarkdownRenderer(STYLE, tip=lambda each: each.detail, picture=picture)


def render(*parts: str | Segment) -> Rendered:
    made = source(*parts)
    return renderer().render(made.text, made.citations)


def document_of(rendered: Rendered | Sequence[str]) -> QTextDocument:
    """A document with these blocks, laid out."""
    document = QTextDocument()
    document.setIndentWidth(INDENT)
    option = document.defaultTextOption()
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    document.setDefaultTextOption(option)
    document.setHtml("".join(rendered.blocks if isinstance(rendered, Rendered) else rendered))
    document.setTextWidth(600)
    # Only asking for it makes Qt lay out.
    assert document.size().width() > 0
    return document


def read(rendered: Rendered) -> str:
    """What a person reads, a line for each block of text."""
    return text_of(document_of(rendered))


def text_of(document: QTextDocument) -> str:
    cursor = QTextCursor(document)
    cursor.select(QTextCursor.SelectionType.Document)
    # The lines around a table that hold nothing are Qt's.
    return "\n".join(line for line in plain_text(cursor).split("\n") if line)


def blocks_of(document: QTextDocument) -> list[QTextBlock]:
    """The blocks with text."""
    found = []
    block = document.begin()
    while block.isValid():
        if block.text():
            found.append(block)
        block = block.next()
    return found


class Html(HTMLParser):
    """Reads HTML: its tags, its attributes and its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.comments: list[str] = []
        self._text: list[str] = []
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        """The text, a line for each block of it."""
        return "\n".join(line for line in "".join(self._text).split("\n") if line)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.extend((tag, name, value or "") for name, value in attrs)
        if tag in ("p", "br"):
            self._text.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "p":
            self._text.append("\n")

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def handle_decl(self, decl: str) -> None:
        self.comments.append(decl)

    def unknown_decl(self, data: str) -> None:
        self.comments.append(data)

    def handle_pi(self, data: str) -> None:
        self.comments.append(data)


TAGS = set("p table tr td ul ol li blockquote a span b i s sup br img".split())
ATTRIBUTES = set("style dir align width height cellspacing bgcolor colspan start class title href src alt".split())
ADDRESS = re.compile(r"https?://[!-~]+|zotero://[!-~]+|bibgenie:(?:cite|copy)/[0-9]+", re.IGNORECASE)
DECLARATIONS = re.compile(r"(?:[a-z-]+:[\w #'.,-]+(?:; |$))*")


def assert_safe(html: str) -> None:
    """Nothing in the HTML is there but what we write: no other tag, no load, no address beyond the allowed ones."""
    page = Html(html)
    assert page.tags <= TAGS
    assert not page.comments
    for tag, name, value in page.attributes:
        assert name in ATTRIBUTES, name
        match name:
            case "href":
                assert tag == "a"
                assert ADDRESS.fullmatch(value), value
            case "src":
                assert tag == "img"
                assert re.fullmatch("math:[0-9a-f]{32}", value), value
            case "style":
                assert DECLARATIONS.fullmatch(value), value
            case "title" | "alt":
                pass
            case _:
                assert re.fullmatch(r"[\w#%]*", value), (name, value)


def calls(work: Callable[[], object]) -> int:
    """How many functions of Python are called: a measure of work that is the same on every machine."""
    count = 0

    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
