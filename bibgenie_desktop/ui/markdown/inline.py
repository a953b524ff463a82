"""The text within a block as HTML: emphasis, links, citations, formulas. Every character comes out escaped. No Qt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING
from unicodedata import bidirectional
from urllib.parse import urlsplit

from ...protocol.values import Segment
from .mathematics import CLOSERS, Formula, FormulaImage
from .source import PLACEHOLDER, PLACEHOLDER_BEGIN
from .text_style import Css, TextStyle

if TYPE_CHECKING:  # the parser is loaded with the first text
    from markdown_it.token import Token

LONGEST_BLOCK = 8_000
"""Characters without a break: the layout of one line costs as much as the line is long, or its square."""
LONGEST_WHOLE_CHIP = 48
"""Characters of a citation that is not broken at the end of a line."""

THIN = "\u202f"
"""A narrow space that does not break: it keeps a citation's text off the edges of its chip."""
JOINER = "\u2060"
"""Stands behind a formula's picture, so that no line begins with the comma that follows."""
ISOLATE = "\u2068", "\u2069"
"""Stand around what keeps its own direction."""
INVISIBLE = "\u200b"
"""Stands in a block that would be empty, which Qt would leave out."""

MARKS = {"verified": "✓", "unverified": "?", "wrong": "✗"}
"""The signs of the states of a citation."""
# What Qt or HTML would take for something else. The last three can come of character references.
_ESCAPES = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "'": "&#39;",
        "\u2028": " ",
        "\u2029": " ",
        "\ufffc": "\ufffd",
    }
)
_EMBEDDING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_BETWEEN_ADDRESSES = re.compile(r"[^\w.:/?#@%=&-]+")
_BEHIND_HOST = re.compile(r"[/?#].*")
_HOST = re.compile(r"\.[^\W\d_]{2,}$")


@dataclass(frozen=True, slots=True)
class Words:
    """The words in rendered text, translated by whoever knows how."""

    copy: str = "Copy"
    image: str = "image"


ENGLISH = Words()


class TextWriter:
    """Writes what stands in one message: its style, its citations by number, and its formulas.

    `tip` says in plain text what is shown where the pointer rests on a citation. `picture` gives the picture of a
    formula, or None; what it did not know is in `missing`.
    """

    def __init__(
        self,
        style: TextStyle,
        css: Css,
        words: Words,
        *,
        tip: Callable[[Segment], str],
        picture: Callable[[Formula], FormulaImage | None],
        citations: Mapping[int, Segment],
    ) -> None:
        self.style = style
        self.css = css
        self.words = words
        self.missing: list[Formula] = []
        self._tip = tip
        self._picture = picture
        self._citations = citations

    def text(self, text: str) -> str:
        """Escaped text, with chips for placeholders."""
        if PLACEHOLDER_BEGIN not in text:
            return text.translate(_ESCAPES)
        return "".join(
            self.chip(int(part)) if number % 2 else part.translate(_ESCAPES)
            for number, part in enumerate(PLACEHOLDER.split(text))
        )

    def chip(self, number: int) -> str:
        """A citation: its label and the mark of its state, as one link."""
        citation = self._citations.get(number)
        if citation is None:
            return ""
        words = _EMBEDDING.sub("", citation.text).split()
        label = (" " if len(citation.text) > LONGEST_WHOLE_CHIP else "\u00a0").join(words).translate(_ESCAPES)
        match citation.state:
            case "verified":
                colour = self.style.verified
            case "wrong":
                colour = self.style.accent
                label = f'<span style="{self.css.wrong}">{label}</span>'
            case _:
                colour = self.style.doubtful
        look = f'<span style="color:{colour}; font-weight:600">'
        mark = f"{look}\u00a0{MARKS.get(citation.state, '?')}{THIN}</span>"
        return (
            f'<a href="bibgenie:cite/{number}" title="{_tooltip(self._tip(citation))}" style="{self.css.chip}">'
            f"{look}{THIN}</span>{label}{mark}</a>"
        )

    def turns(self, number: int) -> bool:
        """Whether something in a citation's label is written from the right."""
        citation = self._citations.get(number)
        return citation is not None and any(bidirectional(each) in ("R", "AL") for each in citation.text)

    def readable(self, text: str) -> str:
        """Text with citations as their labels in brackets."""

        def label(match: re.Match[str]) -> str:
            citation = self._citations.get(int(match[1]))
            return f"[{' '.join(citation.text.split())}]" if citation else ""

        return PLACEHOLDER.sub(label, text)

    def formula(self, token: Token) -> str:
        """A formula's picture, or its source."""
        formula = formula_of(token)
        source = f"{token.markup}{formula.latex}{CLOSERS[token.markup]}".translate(_ESCAPES)
        image = self._picture(formula)
        if image is None:
            self.missing.append(formula)
            return f'<span style="{self.css.code_font}">{source}</span>'
        size = f'width="{image.width:.2f}" height="{image.height:.2f}"'
        return f'<img src="math:{formula.name}" {size} alt="{source}" style="vertical-align:middle">{JOINER}'

    def line(self, tokens: Sequence[Token], side: str) -> list[str]:
        """The inline tokens of one block that is written from `side`, in pieces no longer than a block may be."""
        return _Line(self, tokens, isolated=side == "rtl").pieces


class _Line:
    """Tokens as a flat row of runs: Qt's work would grow with the depth of nested emphasis."""

    def __init__(self, writer: TextWriter, tokens: Sequence[Token], *, isolated: bool) -> None:
        self._writer = writer
        # Code and formulas keep their own order of signs.
        self._before, self._after = ISOLATE if isolated else ("", "")
        self._html: list[str] = []
        self._length = 0
        self._open = {"strong": 0, "em": 0, "s": 0}
        self._link: str | None = None
        self._visible: list[str] = []
        self.pieces: list[str] = []
        for token in tokens:
            self._add(token)
        if self._html or not self.pieces:
            self._end_piece()

    def _add(self, token: Token) -> None:
        writer = self._writer
        match token.type:
            case "softbreak":
                self._text(" ")
            case "hardbreak":
                self._html.append("<br>")
            case "strong_open" | "em_open" | "s_open":
                self._open[token.type.removesuffix("_open")] += 1
            case "strong_close" | "em_close" | "s_close":
                self._open[token.type.removesuffix("_close")] -= 1
            case "code_inline":
                self._text(f"{self._before}{token.content}{self._after}", writer.css.code_inline)
            case "formula":
                self._append(f"{self._before}{writer.formula(token)}{self._after}", len(token.content))
            case "note_mark":
                label = writer.text(token.content)
                self._append(f'<sup style="color:{writer.style.accent}">{label}</sup>', len(label))
            case "image":
                self._text(f"[{writer.words.image}: {_alternative(token.children or ())}]")
            case "link_open":
                self._link, self._visible = str(token.attrs["href"]), []
            case "link_close":
                self._end_link()
            case _:
                self._text(token.content)

    def _text(self, text: str, style: str = "") -> None:
        self._visible.append(text)
        before, after = self._tags(style)
        for number, part in enumerate(PLACEHOLDER.split(text)):
            if number % 2:
                # A citation is a link of its own, and never struck through or bold by what stands around it.
                self._chip(int(part))
            elif part:
                for piece in cut(part):
                    self._append(f"{before}{self._writer.text(piece)}{after}", len(piece))

    def _chip(self, number: int) -> None:
        """A citation: it stays in one piece where scripts of both directions meet."""
        before, after = ISOLATE if self._before or self._writer.turns(number) else ("", "")
        self._append(f"{before}{self._writer.chip(number)}{after}", LONGEST_WHOLE_CHIP)

    def _tags(self, style: str) -> tuple[str, str]:
        before, after = "", ""
        if self._link is not None and not PLACEHOLDER.fullmatch(self._link):
            look = f'title="{_tooltip(self._link)}" style="{self._writer.css.link}"'
            before, after = f'<a href="{escape(self._link)}" {look}>', "</a>"
        for tag, name in (("b", "strong"), ("i", "em"), ("s", "s")):
            if self._open[name]:
                before, after = f"{before}<{tag}>", f"</{tag}>{after}"
        if style:
            before, after = f'{before}<span style="{style}">', f"</span>{after}"
        return before, after

    def _append(self, html: str, length: int) -> None:
        if self._html and self._length + length > LONGEST_BLOCK:
            self._end_piece()
        self._html.append(html)
        self._length += length

    def _end_piece(self) -> None:
        self.pieces.append("".join(self._html))
        self._html, self._length = [], 0

    def _end_link(self) -> None:
        """Say where a link leads whose text looks like another address."""
        link, self._link = self._link or "", None
        if match := PLACEHOLDER.fullmatch(link):
            # A citation stood where the address of a link belongs.
            self._chip(int(match[1]))
            return
        host = urlsplit(link).hostname or ""
        if link.lower().startswith("http") and _hosts("".join(self._visible)) - {host.removeprefix("www.")}:
            self._text(f" ({host})")


def formula_of(token: Token) -> Formula:
    """The formula of a `formula` or `formula_block` token."""
    return Formula(token.content, token.type == "formula_block" or token.markup in ("$$", "\\["))


def direction(tokens: Iterable[Token]) -> str:
    """`rtl` where the first letter is of a script that is written from the right, else `ltr`."""
    texts = (token.content for token in tokens if token.type in ("text", "code_inline"))
    return next((each for each in map(text_direction, texts) if each), "ltr")


def text_direction(text: str) -> str:
    """`rtl` or `ltr` after the first letter of `text`, or "" where it has none."""
    for character in PLACEHOLDER.sub("", text):
        match bidirectional(character):
            case "L":
                return "ltr"
            case "R" | "AL":
                return "rtl"
            case _:
                pass
    return ""


def cut(text: str) -> list[str]:
    """`text` in pieces of at most LONGEST_BLOCK; one empty piece for empty text. A placeholder is never cut."""
    if len(text) <= LONGEST_BLOCK:
        return [text]
    pieces, begin = [], 0
    while begin < len(text):
        end = min(len(text), begin + LONGEST_BLOCK)
        place = text.rfind(PLACEHOLDER_BEGIN, max(begin + 1, end - 16), end)
        if place > 0 and (match := PLACEHOLDER.match(text, place)) and match.end() > end:
            end = place
        pieces.append(text[begin:end])
        begin = end
    return pieces


def _tooltip(text: str) -> str:
    # Escaped twice: Qt would take a tip that looks like HTML for HTML.
    return escape(f"<qt>{escape(text)}</qt>").replace("\ufffc", "\ufffd")


def _hosts(text: str) -> set[str]:
    """What looks like the name of a host in `text`."""
    found = set()
    for word in _BETWEEN_ADDRESSES.split(text):
        address = word.partition("://")[2] or word
        for name in re.split("[:@]", _BEHIND_HOST.sub("", address)):
            if _HOST.search(host := name.strip(".-").lower().removeprefix("www.")):
                found.add(host)
    return found


def _alternative(tokens: Iterable[Token]) -> str:
    """What can be read of a picture's alternative text."""
    return "".join(
        " "
        if token.type in ("softbreak", "hardbreak")
        else _alternative(token.children)
        if token.children
        else token.content
        for token in tokens
    )
