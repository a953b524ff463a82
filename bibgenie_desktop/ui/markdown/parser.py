"""Markdown to tokens, by markdown-it-py with rules of our own for mathematics, footnotes and hostile input. No Qt.

CommonMark with tables, strikethrough, task lists and footnotes; HTML is text. What is ours:

- Nesting ends at a depth; deeper markers stay text (the parser alone would drop what they hold).
- Work is counted. A run of text whose brackets ask for too much stays text; blocks that do raise TooMuchWork.
- Only web addresses and Zotero's links are links, everything else stays the text it is.
- Emphasis may touch CJK text and citations, which CommonMark does not allow.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.common.utils import isWhiteSpace
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock, blockquote, list_block, table
from markdown_it.rules_inline import StateInline, image
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token

from .mathematics import inline_formula, math_block
from .source import PLACEHOLDER, PLACEHOLDER_BEGIN, PLACEHOLDER_END

BlockRule: TypeAlias = Callable[[StateBlock, int, int, bool], bool]

DEEPEST = 90
"""Levels of nesting: a quote is one, a list and its item are two."""
MOST_COLUMNS = 64
MOST_CELLS = 4_000
"""Of a table. One with more is shown line by line: the layout of a table costs a hundred times what its source does."""
LONGEST_LINK = 2_048
"""Characters."""

_WORK = "work"
_BLOCK_WORK, _BLOCK_WORK_PER_CHARACTER = 20_000, 0.2
_INLINE_WORK, _INLINE_WORK_PER_CHARACTER = 5_000, 1
"""Of all runs of text together, and of each run for itself."""

_LINK = re.compile(r"https?://[\w.-]+(?::\d+)?(?:[/?#]\S*)?|zotero://\S+", re.ASCII | re.IGNORECASE)
_NOTE = re.compile(r"\[\^([^\s\[\]]{1,40})\]")
_NOTE_BEGIN = re.compile(r"\[\^([^\s\[\]]{1,40})\]:[ \t]*")
_DELIMITER_ROW = re.compile(r"[-:|\s]+")


class TooMuchWork(Exception):
    """The text asks for more work than text of its length should."""


class Work:
    """What is left to spend on one text; `notes` are the labels of its footnotes."""

    def __init__(self, characters: int) -> None:
        self.block = _BLOCK_WORK + int(characters * _BLOCK_WORK_PER_CHARACTER)
        self.inline = _INLINE_WORK
        self.run = 0
        self.depth = 0
        self.notes: set[str] = set()


def parse(markdown: str) -> list[Token]:
    """The tokens of cleaned Markdown. Raises TooMuchWork."""
    return _parser().parse(markdown, {_WORK: Work(len(markdown))})


def parse_blocks(markdown: str) -> list[Token]:
    """The block tokens alone: `inline` tokens have no children. Raises TooMuchWork."""
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(markdown, parser, {_WORK: Work(len(markdown))}, tokens)
    return tokens


class _Parser(MarkdownIt):
    def __init__(self) -> None:
        super().__init__("zero")
        self._in_image = False
        self.inline = _InlineParser()
        self.configure(
            {
                "options": {
                    "maxNesting": DEEPEST + 10,
                    "html": False,
                    "linkify": False,
                    "typographer": False,
                    "quotes": "",
                    "xhtmlOut": False,
                    "breaks": False,
                    "langPrefix": "",
                    "highlight": None,
                    "tasklists": True,
                },
                "components": {
                    "core": {"rules": ["block", "inline", "text_join"]},
                    "block": {
                        "rules": "table code fence blockquote hr list reference heading lheading paragraph".split()
                    },
                    "inline": {
                        "rules": "text newline escape backticks strikethrough emphasis link image autolink "
                        "entity".split(),
                        "rules2": "balance_pairs strikethrough emphasis fragments_join".split(),
                    },
                },
            }
        )
        block, inline = self.block.ruler, self.inline.ruler
        block.at("blockquote", partial(_counted, blockquote), {"alt": "paragraph reference blockquote list".split()})
        block.at("list", partial(_counted, list_block), {"alt": "paragraph reference blockquote".split()})
        block.at("table", _table, {"alt": ["paragraph", "reference"]})
        block.before("fence", "math_block", math_block, {"alt": "paragraph reference blockquote list".split()})
        block.before("reference", "note", _note, {"alt": ["paragraph", "reference"]})
        inline.before("escape", "formula", inline_formula)
        inline.before("link", "note_mark", _note_mark)
        inline.at("image", self._image)

    def normalizeLink(self, url: str) -> str:
        if PLACEHOLDER.fullmatch(url) or len(url) > LONGEST_LINK:
            return url
        return super().normalizeLink(url)

    def validateLink(self, url: str) -> bool:
        if self._in_image or PLACEHOLDER.fullmatch(url):
            return True
        return len(url) <= LONGEST_LINK and url.isascii() and url.isprintable() and bool(_LINK.fullmatch(url))

    def _image(self, state: StateInline, silent: bool) -> bool:
        if state.src[state.pos] != "!":
            return False
        # No picture is loaded, so that it does not matter where from.
        before, self._in_image = self._in_image, True
        try:
            return image(state, silent)
        finally:
            self._in_image = before

    def normalizeLinkText(self, link: str) -> str:
        # As it was written: a name that only looks like another one is not made to.
        return link


@cache
def _parser() -> _Parser:
    return _Parser()


# Blocks


def spend(env: Any, amount: int) -> None:
    """Count work on blocks. Raises TooMuchWork."""
    work: Work = env[_WORK]
    work.block -= amount
    if work.block < 0:
        raise TooMuchWork


def _counted(rule: BlockRule, state: StateBlock, start: int, end: int, silent: bool) -> bool:
    # Asked at every line of every level, this one tells how much work there is.
    spend(state.env, 1)
    return state.level < DEEPEST and rule(state, start, end, silent)


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if start + 1 >= end or not _DELIMITER_ROW.fullmatch(state.src, state.bMarks[start + 1], state.eMarks[start + 1]):
        return False
    if not table(state, start, end, True):
        return False
    delimiters = state.src[state.bMarks[start + 1] : state.eMarks[start + 1]]
    columns = sum(not column.isspace() and column != "" for column in delimiters.split("|"))
    last = start
    while last < end and not state.isEmpty(last) and state.sCount[last] >= state.blkIndent:
        last += 1
    spend(state.env, 1 + (last - start) // 8)
    if silent:
        return True
    if columns <= MOST_COLUMNS and (last - start) * columns <= MOST_CELLS:
        return table(state, start, end, False)
    token = state.push("plain_block", "", 0)
    token.content = state.getLines(start, last, state.blkIndent, False)
    token.map = [start, last]
    state.line = last
    return True


def _note(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`[^1]: text`, with further blocks indented by four."""
    if state.is_code_block(start) or state.level >= DEEPEST:
        return False
    begin = state.bMarks[start] + state.tShift[start]
    match = _NOTE_BEGIN.match(state.src, begin, state.eMarks[start])
    if match is None:
        return False
    if silent:
        return True
    state.env[_WORK].notes.add(match[1])
    token = state.push("note_open", "", 1)
    token.meta = {"label": match[1]}
    kept = state.bMarks[start], state.tShift[start], state.sCount[start], state.parentType
    # The first line goes on behind the label, as if it were indented like the rest.
    state.bMarks[start], state.tShift[start] = match.end(), 0
    state.sCount[start] = state.blkIndent = state.blkIndent + 4
    state.parentType = "note"
    state.md.block.tokenize(state, start, end)
    state.bMarks[start], state.tShift[start], state.sCount[start], state.parentType = kept
    state.blkIndent -= 4
    token.map = [start, state.line]
    state.push("note_close", "", -1)
    return True


# Text


class _InlineState(StateInline):
    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N803
        """Whether a run of markers can open or close an emphasis.

        CommonMark's rule, but that CJK punctuation counts as a letter and a CJK letter parts like a space beside
        punctuation, as there are no spaces between words; a citation counts as punctuation.
        """
        marker, pos = self.src[start], start
        while pos < self.posMax and self.src[pos] == marker:
            pos += 1
        before = _kind(self.src[start - 1]) if start > 0 else "space"
        after = _kind(self.src[pos]) if pos < self.posMax else "space"
        opens = after != "space" and (after != "mark" or before != "letter")
        closes = before != "space" and (before != "mark" or after != "letter")
        if canSplitWord:
            return Scanned(opens, closes, pos - start)
        return Scanned(
            opens and (not closes or before == "mark"), closes and (not opens or after == "mark"), pos - start
        )


def _kind(character: str) -> str:
    """`space`, `mark` for punctuation and citations, `cjk`, or `letter`."""
    if isWhiteSpace(ord(character)):
        return "space"
    if character in (PLACEHOLDER_BEGIN, PLACEHOLDER_END):
        return "mark"
    if character >= "\u1100" and (unicodedata.east_asian_width(character) in "WF" or "\uff61" <= character <= "\uffdc"):
        return "cjk"
    return "mark" if unicodedata.category(character)[0] in "PS" else "letter"


class _OutOfWork(Exception):
    """The work for text is spent."""


class _InlineParser(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        work: Work = env[_WORK]
        if work.depth > 5:
            raise _OutOfWork
        if work.depth == 0:
            work.run = len(src) * _INLINE_WORK_PER_CHARACTER
        work.depth += 1
        count = len(tokens)
        try:
            state = _InlineState(src, md, env, tokens)
            self.tokenize(state)
            for rule in self.ruler2.getRules(""):
                rule(state)
        except _OutOfWork:
            if work.depth > 1:
                raise
            token = Token("text", "", 0)
            token.content = src
            tokens[count:] = [token]
        finally:
            work.depth -= 1
        return tokens

    def skipToken(self, state: StateInline) -> None:
        # Looking ahead for a closing bracket is the only work here that can grow with the square of the text.
        work: Work = state.env[_WORK]
        if work.run > 0:
            work.run -= 1
        elif work.inline > 0:
            work.inline -= 1
        else:
            raise _OutOfWork
        super().skipToken(state)


def _note_mark(state: StateInline, silent: bool) -> bool:
    """`[^1]`, where the text has such a footnote."""
    if state.src[state.pos] != "[":
        return False
    match = _NOTE.match(state.src, state.pos, state.posMax)
    if match is None or match[1] not in state.env[_WORK].notes:
        return False
    if not silent:
        token = state.push("note_mark", "", 0)
        token.content = match[1]
    state.pos = match.end()
    return True
