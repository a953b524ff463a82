"""Markdown as HTML for a QTextDocument: safe whatever the model wrote, in bounded time (S-1). No Qt.

Nothing is loaded: a picture is the words `[image: …]`, and the only `<img>` is a formula that the app drew itself, a
resource `math:<name>` of the document. Links are web addresses, Zotero's, and the app's own: `bibgenie:cite/<n>` for
the citation n, `bibgenie:copy/<n>` for the code block n; a model cannot write those. What is too long or too entangled
comes out as plain text.

The HTML is flat, as Qt's work can grow with the square of depth and length: quotes and lists are indented to a depth,
long lists and lines are cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from ...protocol.values import Segment
from .highlight import highlight, load_languages
from .inline import ENGLISH, INVISIBLE, LONGEST_BLOCK, TextWriter, Words, cut, direction, formula_of, text_direction
from .mathematics import Formula, FormulaImage
from .source import PLACEHOLDER_BEGIN
from .text_style import Css, TextStyle

if TYPE_CHECKING:  # the parser is loaded with the first text
    from markdown_it.token import Token

LONGEST_SOURCE = 100_000
"""Characters of one call; longer text stays plain. What is longer can be given piece by piece, see `streaming`."""
MOST_ITEMS = 250
"""Of one list for Qt, whose work grows with the square of them."""
DEEPEST_INDENT = 8
"""Levels of lists or quotes that are shown by indentation."""
INDENT = 24
"""Pixels of a list's level: for `QTextDocument.setIndentWidth`, which HTML cannot say."""

_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")


@dataclass(frozen=True, slots=True)
class Rendered:
    """Markdown as HTML.

    `blocks` is the HTML of each top-level block, in order. `codes` are the texts of the code blocks, for copying.
    `missing` are the formulas whose pictures were not known: they are shown as their source.
    """

    blocks: tuple[str, ...]
    codes: tuple[str, ...] = ()
    missing: tuple[Formula, ...] = ()

    @property
    def html(self) -> str:
        """All blocks."""
        return "".join(self.blocks)


class MarkdownRenderer:
    """Renders in one style.

    `tip` says in plain text what is shown where the pointer rests on a citation. `picture` gives a formula's picture,
    known to the document as `math:<name>`, or None.
    """

    def __init__(
        self,
        style: TextStyle,
        *,
        tip: Callable[[Segment], str],
        picture: Callable[[Formula], FormulaImage | None],
        words: Words = ENGLISH,
    ) -> None:
        self._style = style
        self._css = Css(style)
        self._tip = tip
        self._picture = picture
        self._words = words

    def render(
        self, markdown: str, citations: Sequence[Segment] = (), *, first_citation: int = 0, first_code: int = 0
    ) -> Rendered:
        """Render cleaned Markdown, with the placeholders of `citations` numbered from `first_citation`.

        Code blocks are numbered from `first_code`.
        """
        numbered = {first_citation + number: each for number, each in enumerate(citations)}
        writer = TextWriter(
            self._style, self._css, self._words, tip=self._tip, picture=self._picture, citations=numbered
        )
        page = _Page(writer, markdown, first_code)
        if len(markdown) > LONGEST_SOURCE:
            return Rendered(tuple(page.plain(markdown)))
        tokens = _parsed(markdown)
        if tokens is None:
            return Rendered(tuple(page.plain(markdown)))
        blocks = tuple(page.blocks(tokens))
        return Rendered(blocks, tuple(page.codes), tuple(dict.fromkeys(writer.missing)))


def formulas(markdown: str) -> tuple[Formula, ...]:
    """The formulas in cleaned Markdown, each once, in order."""
    if len(markdown) > LONGEST_SOURCE:
        return ()
    every = (each for token in _parsed(markdown) or () for each in (token, *(token.children or ())))
    return tuple(dict.fromkeys(formula_of(each) for each in every if each.type in ("formula", "formula_block")))


def warm_up() -> Iterator[None]:
    """Do what the first texts would wait for, a step at a time; in another thread than the window's if wanted."""
    _parsed("")
    yield
    yield from load_languages()


def _parsed(markdown: str) -> list[Token] | None:
    """The tokens of the blocks; None for what asks for too much work."""
    # With the first text, not with the program: loading it takes a tenth of the time until the window is painted.
    from .parser import TooMuchWork, parse

    try:
        return parse(markdown)
    except TooMuchWork:
        return None


class _Page:
    """One rendering: walks through the block tokens and keeps what is open."""

    def __init__(self, writer: TextWriter, markdown: str, first_code: int) -> None:
        self.codes: list[str] = []
        self._writer = writer
        self._css = writer.css
        self._style = writer.style
        self._markdown = markdown
        self._lines: list[str] | None = None
        self._first_code = first_code
        self._lists: list[_List] = []
        self._quotes = 0
        self._note = ""
        self._in_note = False
        self._row: list[str] = []
        self._table_direction = "ltr"

    def blocks(self, tokens: Sequence[Token]) -> Iterator[str]:
        """The HTML of each top-level block."""
        parts: list[str] = []
        for index, token in enumerate(tokens):
            parts.extend(self._block(token, tokens, index))
            if token.level == 0 and token.nesting <= 0:
                yield "".join(parts)
                parts.clear()

    def plain(self, text: str) -> Iterator[str]:
        """Text as it is, in blocks of a bounded length; of more than two line ends in a row, two."""
        held: list[str] = []
        length = 0
        for line in re.sub(r"\n{3,}", "\n\n", text).split("\n"):
            for piece in cut(line):
                if held and length + len(piece) > LONGEST_BLOCK:
                    yield self._plain_block(held)
                    held, length = [], 0
                held.append(piece)
                # Each line is one for Qt to lay out, however short.
                length += len(piece) + 20
        yield self._plain_block(held)

    def _plain_block(self, lines: list[str]) -> str:
        side = text_direction("".join(lines)[:1_000]) or "ltr"
        return self._paragraph(self._css.close, side, "<br>".join(self._writer.text(line) for line in lines))

    def _block(self, token: Token, tokens: Sequence[Token], index: int) -> Iterable[str]:
        match token.type:
            case "inline":
                return self._text_block(token, tokens[index - 1])
            case "fence" | "code_block":
                return [*self._begin_item(), self._code(token)]
            case "formula_block":
                return self._formula_block(token)
            case "plain_block":
                return [*self._begin_item(), *self.plain(token.content)]
            case "hr":
                return [*self._begin_item(), self._rule()]
            case "bullet_list_open" | "ordered_list_open":
                return [*self._begin_item(), self._open_list(tokens, index)]
            case "bullet_list_close" | "ordered_list_close":
                return [self._lists.pop().end]
            case "list_item_open":
                return self._open_item(token)
            case "list_item_close":
                return [*self._begin_item(), "</li>"]
            case "blockquote_open":
                return [*self._begin_item(), self._open_quote(tokens, index)]
            case "blockquote_close":
                return [self._close_quote()]
            case "table_open":
                return [*self._begin_item(), self._open_table(tokens, index)]
            case "tr_close":
                row, self._row = self._row, []
                return ["<tr>", *(reversed(row) if self._table_direction == "rtl" else row), "</tr>"]
            case "table_close":
                return ["</table>"]
            case "note_open":
                self._note, self._in_note = token.meta["label"], True
            case "note_close":
                # An empty one is shown all the same.
                rest = self._paragraphs("ltr", [""], self._css.paragraph) if self._note else []
                self._in_note = False
                return rest
            case _:
                pass
        return ()

    # Text

    def _text_block(self, token: Token, opened: Token) -> Iterable[str]:
        children = token.children or ()
        side = direction(children)
        pieces = self._writer.line(children, side)
        match opened.type:
            case "heading_open":
                style = self._css.headings[opened.tag]
                return [*self._begin_item(), *(self._paragraph(style, side, piece) for piece in pieces)]
            case "th_open" | "td_open":
                self._row.append(self._cell(opened, side, pieces))
                return ()
            case _:
                return self._paragraphs(side, pieces, self._css.tight if opened.hidden else self._css.paragraph)

    def _paragraphs(self, side: str, pieces: list[str], last_style: str) -> list[str]:
        if self._lists:
            self._lists[-1].empty = False
        if self._note:
            pieces = [f"{self._writer.text(self._note)}.\u00a0{pieces[0]}", *pieces[1:]]
            self._note = ""
        if self._in_note:
            pieces = [f'<span style="{self._css.small}">{piece}</span>' for piece in pieces]
        styles = [self._css.close] * (len(pieces) - 1) + [last_style]
        return [self._paragraph(style, side, piece) for style, piece in zip(styles, pieces, strict=True)]

    def _paragraph(self, style: str, side: str, html: str, align: str = "") -> str:
        return f'<p dir="{side}"{align} style="{style}">{html or INVISIBLE}</p>'

    def _formula_block(self, token: Token) -> list[str]:
        html = self._writer.formula(token)
        if token.info:
            html += f"\u2003{self._writer.text(token.info)}"
        if self._lists and self._lists[-1].empty:
            return self._paragraphs("ltr", [html], self._css.paragraph)
        return [self._paragraph(self._css.paragraph, "ltr", html, ' align="center"')]

    def _rule(self) -> str:
        invisible = f'<p style="margin:0; font-size:1px">{INVISIBLE}</p>'
        cell = f'<td style="border-top:1px solid {self._style.line}; padding:0">{invisible}</td>'
        return f'<table width="100%" cellspacing="0" style="{self._css.table}"><tr>{cell}</tr></table>'

    # Code

    def _code(self, token: Token) -> str:
        code = token.content.removesuffix("\n")
        language = _LANGUAGE.match(token.info.strip()) if token.type == "fence" else None
        number = self._first_code + len(self.codes)
        self.codes.append(self._writer.readable(code))
        # A lexer would take a citation's placeholder apart.
        coloured = language is not None and self._closed(token) and PLACEHOLDER_BEGIN not in code
        pieces = highlight(code, language[0]) if language and coloured else (("", code),)
        lines = "".join(self._coloured(kind, text) for kind, text in pieces)
        if code.startswith("\n"):
            # Qt would drop the empty line.
            lines = INVISIBLE + lines
        muted = f"color:{self._style.muted}; text-decoration:none"
        copy = f'<a href="bibgenie:copy/{number}" style="{muted}">{self._writer.text(self._writer.words.copy)}</a>'
        head = "".join(
            f'<td style="padding:6px 12px 2px 12px"><p dir="ltr"{align} style="margin:0">'
            f'<span style="{self._css.small}">{html}</span></p></td>'
            for html, align in (
                (self._writer.text(language[0].lower()) if language else "", ""),
                (copy, ' align="right"'),
            )
        )
        body = f'<td colspan="2" style="padding:2px 12px 9px 12px">{self._paragraph(self._css.code, "ltr", lines)}</td>'
        return (
            f'<table width="100%" cellspacing="0" bgcolor="{self._style.code_ground}" style="{self._css.table}">'
            f"<tr>{head}</tr><tr>{body}</tr></table>"
        )

    def _closed(self, token: Token) -> bool:
        """Whether the closing line of a fence has come."""
        if self._lines is None:
            self._lines = self._markdown.split("\n")
        begin, end = token.map or (0, 0)
        marks = self._lines[end - 1].lstrip(" \t>").rstrip() if end - 1 > begin else ""
        return len(marks) >= len(token.markup) and not marks.strip(token.markup[0])

    def _coloured(self, kind: str, text: str) -> str:
        html = "\n".join(self._writer.text(piece) for line in text.split("\n") for piece in cut(line))
        return f'<span style="color:{getattr(self._style.code, kind)}">{html}</span>' if kind else html

    # Lists

    def _open_list(self, tokens: Sequence[Token], index: int) -> str:
        token = tokens[index]
        start = int(token.attrs.get("start", 1)) if token.type == "ordered_list_open" else None
        indent = min(len(self._lists) + 1, DEEPEST_INDENT)
        if start is not None:
            inside = takewhile(lambda each: each.level > token.level, _from(tokens, index + 1))
            items = sum(each.type == "list_item_open" and each.level == token.level + 1 for each in inside)
            # Long numbers need room.
            indent += start + items > 100
        self._lists.append(_List(start, indent))
        return self._lists[-1].begin

    def _open_item(self, token: Token) -> list[str]:
        current = self._lists[-1]
        parts = [current.end, current.begin] if current.items and current.items % MOST_ITEMS == 0 else []
        current.items += 1
        current.empty = True
        checked = token.meta.get("checked")
        box = "" if checked is None else f' class="{"checked" if checked else "unchecked"}"'
        return [*parts, f"<li{box}>"]

    def _begin_item(self) -> list[str]:
        """A line of its own for an item that begins with something else than text: Qt would drop the item's mark."""
        if not self._lists or not self._lists[-1].empty:
            return []
        self._lists[-1].empty = False
        return [self._paragraph(self._css.tight, "ltr", "")]

    # Quotes and tables

    def _open_quote(self, tokens: Sequence[Token], index: int) -> str:
        self._quotes += 1
        if self._quotes > 1:
            return '<blockquote style="margin:0 0 0 14px">' if self._quotes <= DEEPEST_INDENT else ""
        side = "right" if _direction_of_first(tokens, index) == "rtl" else "left"
        bar = f"border-{side}:3px solid {self._style.line}; padding-{side}:12px; color:{self._style.muted}"
        return f'<table width="100%" cellspacing="0" style="{self._css.table}"><tr><td style="{bar}">'

    def _close_quote(self) -> str:
        self._quotes -= 1
        if self._quotes:
            return "</blockquote>" if self._quotes < DEEPEST_INDENT else ""
        return "</td></tr></table>"

    def _open_table(self, tokens: Sequence[Token], index: int) -> str:
        self._table_direction = _direction_of_first(tokens, index)
        # Qt lays out every table from the left, and one that is aligned to the right over the edge.
        width = ' width="100%"' if self._table_direction == "rtl" else ""
        return f'<table{width} cellspacing="0" style="{self._css.table}">'

    def _cell(self, opened: Token, side: str, pieces: list[str]) -> str:
        alignment = str(opened.attrs.get("style", "")).partition("text-align:")[2]
        align = f' align="{alignment}"' if alignment in ("left", "center", "right") else ""
        text = "<br>".join(pieces)
        colour = self._style.line
        if opened.type == "th_open":
            text, colour = f'<span style="font-weight:600">{text}</span>', self._style.muted
        padding = "3px 0 3px 14px" if self._table_direction == "rtl" else "3px 14px 3px 0"
        paragraph = self._paragraph(self._css.close, side, text, align)
        return f'<td style="border-bottom:1px solid {colour}; padding:{padding}">{paragraph}</td>'


@dataclass(slots=True)
class _List:
    """A list that is open; `start` is None for one with bullets. `empty`: its last item has nothing in it yet."""

    start: int | None
    indent: int
    items: int = 0
    empty: bool = False

    @property
    def begin(self) -> str:
        """Its beginning, or its beginning again after so many items."""
        style = f"margin:0; -qt-list-indent:{self.indent}"
        return (
            f'<ul style="{style}">' if self.start is None else f'<ol start="{self.start + self.items}" style="{style}">'
        )

    @property
    def end(self) -> str:
        """Its end."""
        return "</ul>" if self.start is None else "</ol>"


def _direction_of_first(tokens: Sequence[Token], index: int) -> str:
    """The direction of the first text from `index` on."""
    return next((direction(each.children or ()) for each in _from(tokens, index) if each.type == "inline"), "ltr")


def _from(tokens: Sequence[Token], index: int) -> Iterator[Token]:
    return (tokens[number] for number in range(index, len(tokens)))
