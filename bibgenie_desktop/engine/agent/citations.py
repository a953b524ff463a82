"""Citations of an answer: tokens found in the stream, each checked against the library (Z-2, Z-3).

`verified` means: the key exists, the page exists, a tool of this branch delivered that page, and the words quoted
before the citation stand there. `wrong` means that the key or the page does not exist or that the quoted words do not
stand there; `unverified`, that the page was not delivered, could not be looked at, or that the quotation leaves words
out: whether what is left says the same, no program can tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ...documents.port import DocumentProblem
from ...documents.quotes import Quote
from ...sessions.citations import LONGEST_TOKEN, TOKEN, Citation, CitationState, CitationTarget, parse_token, token_for
from ...sessions.library import PageText, plain
from ...sessions.locators import AnnotationLocator, ItemLocator, Locator, PageLocator, SectionLocator
from ...sessions.markdown import unescaped
from ...sessions.nodes import Node
from ...sessions.parts import Part, ToolCallPart
from ...store.database import StoreUnavailable
from ...store.library_rows import AttachmentRow, item_text
from ..library.library import Library

SHORTEST_QUOTE = 12
"""Characters; shorter stretches between quotation marks are terms, not quotations of a page, but for those with a
digit: a number is quoted to be trusted."""
MOST_OMISSIONS = 20
"""Parts of one quotation around its ellipses that are looked for."""
FARTHEST_QUOTE = 60
"""Characters between a citation and a quotation that it introduces."""
PAGE_FURNITURE = 80
"""Words of a footer, notes and a running head that may stand in a quotation that runs over a page's end."""
LONGEST_OVER_PAGES = 200
"""Words of a quotation that is looked for over a page's end."""

# A mark that opens and is not closed quotes up to the citation, which then stands inside the quotation.
_QUOTED = re.compile(
    r"“([^“”]+)(?:”|\Z)|«([^«»]+)(?:»|\Z)|»([^«»]+)«|„([^„“”]+)(?:[“”]|\Z)|(?<!\w)\"([^\"]+)\""
    r"|‘((?:[^‘’]|(?<=\w)’(?=\w))+)’|(?<!\w)'((?:[^']|(?<=\w)'(?=\w))+)'(?!\w)"
    r"|‹([^‹›]+)(?:›|\Z)|「([^「」]+)」|『([^『』]+)』"
)
_WORD = re.compile(r"\S+")
_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:…|\.\.\.)\s*\]|…|\.\.\.)\s*")
_PARAGRAPH = re.compile(r"\n\s*\n")
_LIST_ITEM = re.compile(r"\n(?=\s*(?:[-*+]|\d+[.)])\s)")
_BLOCK_QUOTE = re.compile(r"^\s*>\s?(.*)$", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![\w\\])[*_]{1,3}(?=\S)|(?<=[^\s\\])[*_]{1,3}(?!\w)")
_SENTENCE_END = re.compile(r"[.!?](?:\s|\Z)")


class TokenSplitter:
    """Finds citation tokens in a stream of text that is cut anywhere.

    `feed` gives back pieces in order: a piece that `parse_token` reads is a token, all else is text. What may be
    the beginning of a token is held back until it is one or cannot become one.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> list[str]:
        """The pieces that are certain now."""
        held = self._held + text
        pieces: list[str] = []
        done = 0
        start = held.find("[")
        while start >= 0:
            token = TOKEN.match(held, start)
            if token is not None:
                pieces += [held[done:start], token[0]]
                done = token.end()
                start = held.find("[", done)
            elif _may_begin_token(held[start : start + LONGEST_TOKEN]):
                break
            else:
                start = held.find("[", start + 1)
        end = len(held) if start < 0 else start
        pieces.append(held[done:end])
        self._held = held[end:]
        return [piece for piece in pieces if piece]

    def flush(self) -> list[str]:
        """The rest, at the end of the stream."""
        rest, self._held = self._held, ""
        return [rest] if rest else []


def _may_begin_token(held: str) -> bool:
    opening = "[[cite:"
    if len(held) <= len(opening):
        return opening.startswith(held)
    return held.startswith(opening) and "]" not in held[:-1] and len(held) < LONGEST_TOKEN


def quotes_before(text: str) -> list[str]:
    """The quotations in the last paragraph or list item of `text`, a Markdown text; the last one last.

    A paragraph without words, such as a dash before the citation, belongs to the one before it. A block quotation is
    a quotation.
    """
    paragraphs = [paragraph for paragraph in _PARAGRAPH.split(text) if paragraph.strip()]
    last = next((i for i in reversed(range(len(paragraphs))) if _has_words(paragraphs[i])), None)
    if last is None:
        return []
    paragraph = paragraphs[last]
    block = " ".join(_BLOCK_QUOTE.findall(paragraph)).strip()
    if block:
        return [unescaped(_EMPHASIS.sub("", block))]
    shown = unescaped(_EMPHASIS.sub("", paragraph))
    found = list(_QUOTED.finditer(shown))
    # A list item begins anew, unless what looks like one stands inside a quotation.
    items = [item.start() for item in _LIST_ITEM.finditer(shown)]
    begin = max((item for item in items if not any(q.start() < item < q.end() for q in found)), default=0)
    return [quote for match in found if match.start() >= begin and (quote := _counted(match))]


def quote_after(text: str) -> str:
    """The quotation that a citation introduces, as in `Hale [citation] writes: “…”`; "" where it introduces none.

    `text` is what follows the citation up to the next one.
    """
    shown = unescaped(_EMPHASIS.sub("", _PARAGRAPH.split(text)[0]))
    match = _QUOTED.search(shown)
    if match is None or match.start() > FARTHEST_QUOTE or _SENTENCE_END.search(shown, 0, match.start()):
        return ""
    return _counted(match)


def _counted(match: re.Match[str]) -> str:
    """The quotation of a match, "" for one that is too short to count."""
    quote = next(filter(None, match.groups())).strip()
    return quote if len(quote) >= SHORTEST_QUOTE or any(character.isdigit() for character in quote) else ""


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def delivered_on(path: Iterable[Node]) -> set[str]:
    """The tokens of all passages that tools showed on a branch."""
    return {token for node in path for token in delivered_by(node.parts)}


def delivered_by(parts: Iterable[Part]) -> set[str]:
    """The tokens of all passages that the calls among these parts showed."""
    return {token_for(locator) for part in parts if isinstance(part, ToolCallPart) for locator in part.delivered}


class CitationCheck:
    """Checks the citations of one answer. `delivered` grows while its tools run."""

    def __init__(self, library: Library | None, delivered: set[str]) -> None:
        self._library = library
        self.delivered = delivered

    async def check(self, token: str, text_before: str, *, grouped: bool = False) -> Citation:
        """The citation of `token`; `text_before` is the answer's text since the citation before it.

        `grouped` says that another citation stands between that text and this one: `“…” [one] [two]`.
        """
        target = parse_token(token)
        if target is None or self._library is None:
            return Citation(token, "unverified", "source", reason="there is no library to check it against")
        quotes = quotes_before(text_before)
        quote = quotes[-1] if quotes else ""
        try:
            found = await self._find(self._library, target, quote)
        except StoreUnavailable:
            return Citation(token, "unverified", target.ref.key, reason="the index cannot be read now", quote=quote)
        state, reason = self._judge(found, quotes, grouped)
        return Citation(token, state, found.short_ref, found.locator, reason, quote)

    def _judge(self, found: _Found, quotes: list[str], grouped: bool) -> tuple[CitationState, str]:
        if found.locator is None:
            return "wrong", found.reason
        place = "page" if isinstance(found.locator, PageLocator) else "place"
        if found.texts is None:
            return "unverified", found.reason or f"there is no text of this {place} to compare with"
        missing = [quote for quote in quotes if not any(text.holds(quote) for text in found.texts)]
        if missing and grouped:
            return "unverified", f"the quoted words do not stand at this {place}, but perhaps at the one cited before"
        if quotes and quotes[-1] in missing:
            return "wrong", f"the quoted words do not stand at this {place}"
        if missing:
            return "unverified", f"some of the quoted words do not stand at this {place}"
        if not all(any(text.holds_whole(quote) for text in found.texts) for quote in quotes):
            return "unverified", f"the quotation leaves words out: compare it with the {place}"
        if token_for(found.locator) not in self.delivered:
            return "unverified", f"this {place} was not read in this chat"
        return "verified", ""

    async def _find(self, library: Library, target: CitationTarget, quote: str) -> _Found:
        if target.page_index is not None or target.spine_index is not None:
            return await self._find_page(library, target, quote)
        ref = target.ref
        work = await library.work(ref)
        if work is not None:
            fields = [item_text(work), *(plain(value) for value in work.fields.values())]
            return _Found(work.short_ref, ItemLocator(ref), texts=[_Text.of(field) for field in fields])
        note = await library.note(ref)
        if note is not None:
            name, _ = await library.name(note.parent, note.title or "Note")
            return _Found(name, ItemLocator(ref), texts=[_Text.of(note.html)])
        annotation = await library.annotation(ref)
        if annotation is not None:
            row = await library.attachment(annotation.attachment)
            name, _ = await library.name(row.record.parent if row else None, "Annotation")
            place = AnnotationLocator(ref, annotation.attachment, annotation.page_index, annotation.page_label)
            return _Found(name, place, texts=[_Text.of(annotation.text), _Text.of(annotation.comment)])
        row = await library.attachment(ref)
        if row is not None:
            return _Found(await _name(library, row), ItemLocator(ref), reason="the citation names no page")
        return _Found(ref.key, reason=f"the library has no item {ref.key}")

    async def _find_page(self, library: Library, target: CitationTarget, quote: str) -> _Found:
        ref = target.ref
        row = await library.attachment(ref)
        if row is None:
            return _Found(ref.key, reason=f"the library has no file {ref.key}")
        name = await _name(library, row)
        is_page = target.page_index is not None
        index = target.page_index if target.page_index is not None else target.spine_index
        assert index is not None
        try:
            # A quotation may run on over the page's end.
            pages = await library.pages(row, index, index + 1 if quote and is_page else index)
            count = await library.page_count(row)
        except DocumentProblem:
            return _Found(name, PageLocator(ref, index) if is_page else SectionLocator(ref, index, ""))
        if not pages:
            unit = "section" if row.kind == "epub" else "page"
            return _Found(name, reason=f"the file has {count} {unit}s and none with the index {index}")
        page, *following = pages
        if bool(page.href) == is_page:
            return _Found(name, reason="the file has no pages" if is_page else "the file has no sections")
        text = _Text.of(page.text, following[0].text if following else "")
        repeats = bool(page.label) and is_page and len(await library.indices_labelled(row, page.label)) > 1
        return _Found(name, _located(row, page, quote, repeats), texts=[text] if text.words else None)


@dataclass(frozen=True, slots=True)
class _Text:
    """The words that a quotation must stand in; it may run on into what follows the first `own` words."""

    words: list[str]
    own: int

    @classmethod
    def of(cls, text: str, following: str = "") -> _Text:
        words = text.split()
        return cls(words + following.split(), len(words))

    def holds(self, quote: str) -> bool:
        """Whether the quotation begins here, its omissions granted."""
        begin = beginning_of(quote, self.words)
        return (begin is not None and begin < self.own) or self._runs_over(quote)

    def holds_whole(self, quote: str) -> bool:
        """Whether the quotation stands here word for word."""
        spans = Quote(quote).find_in(self.words, 1)
        return bool(spans and spans[0].first < self.own) or self._runs_over(quote)

    def _runs_over(self, quote: str) -> bool:
        """Whether the quotation goes on on the next page, behind what stands at this one's foot and that one's head."""
        words = quote.split()
        if not 6 <= len(words) <= LONGEST_OVER_PAGES:
            return False
        page, following = self.words[: self.own], self.words[self.own :]
        for cut in range(len(words) - 2, 1, -1):
            begun = page[-cut - PAGE_FURNITURE :]
            rest = following[: len(words) - cut + PAGE_FURNITURE]
            if Quote(" ".join(words[:cut])).find_in(begun, 1) and Quote(" ".join(words[cut:])).find_in(rest, 1):
                return True
        return False


@dataclass(frozen=True, slots=True)
class _Found:
    """What a token names: no locator means that it does not exist, no texts that they cannot be read."""

    short_ref: str
    locator: Locator | None = None
    texts: list[_Text] | None = None
    reason: str = ""


def beginning_of(quote: str, words: list[str]) -> int | None:
    """The index of the word that a quotation begins with, None where it does not stand in `words`.

    Its parts around an ellipsis may stand apart, in order.
    """
    pieces = [piece for piece in _ELLIPSIS.split(quote) if any(character.isalnum() for character in piece)]
    if len(pieces) > MOST_OMISSIONS:
        return None
    beginning: int | None = None
    start = 0
    for piece in pieces:
        spans = Quote(piece).find_in(words[start:], 1)
        if not spans:
            return None
        beginning = start + spans[0].first if beginning is None else beginning
        start += spans[0].last + 1
    return beginning


async def _name(library: Library, row: AttachmentRow) -> str:
    name, _ = await library.name(row.record.parent, row.record.title or row.record.filename)
    return name


def _located(row: AttachmentRow, page: PageText, quote: str, repeats: bool) -> Locator:
    if not page.href:
        return PageLocator(row.record.ref, page.index, page.label, repeats)
    return SectionLocator(row.record.ref, page.index, page.href, _cfi(page, quote), page.label)


def _cfi(page: PageText, quote: str) -> str:
    """The CFI of the block in which the quotation begins; of the section's first block without one."""
    words = list(_WORD.finditer(page.text)) if quote else []
    beginning = beginning_of(quote, [word[0] for word in words])
    place = 0 if beginning is None else words[beginning].start()
    cfis = [cfi for offset, cfi in page.anchors if offset <= place] or [cfi for _, cfi in page.anchors[:1]]
    return cfis[-1] if cfis else ""
