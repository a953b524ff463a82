"""Citations of an answer: tokens found in the stream, each checked against the library (Z-2, Z-3).

`verified` means: the key exists, the page exists, a tool of this branch delivered that page, and the words quoted
before the citation stand there. `wrong` means that one of these is false; `unverified`, that it could not be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...documents.port import DocumentProblem
from ...documents.quotes import Quote
from ...sessions.citations import LONGEST_TOKEN, TOKEN, Citation, CitationState, CitationTarget, parse_token, token_for
from ...sessions.library import PageText
from ...sessions.locators import AnnotationLocator, ItemLocator, Locator, PageLocator, SectionLocator
from ...sessions.nodes import Node
from ...sessions.parts import ToolCallPart
from ...store.library_rows import AttachmentRow
from ..library.library import Library

SHORTEST_QUOTE = 12
"""Characters; shorter stretches between quotation marks are terms and titles, not quotations of a page."""

_QUOTED = re.compile(r"“([^“”]+)”|«([^«»]+)»|»([^«»]+)«|„([^„“”]+)[“”]|\"([^\"\n]+)\"|‘((?:[^‘’]|(?<=\w)’(?=\w))+)’")
_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:…|\.\.\.)\s*\]|…|\.\.\.)\s*")
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)")


class TokenSplitter:
    """Finds citation tokens in a stream of text that is cut anywhere.

    `feed` gives back pieces in order: a piece that `parse_token` reads is a token, all else is text. What may be
    the beginning of a token is held back until it is one or cannot become one.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> list[str]:
        """The pieces that are certain now."""
        self._held += text
        pieces: list[str] = []
        while self._held:
            start = self._held.find("[")
            if start < 0:
                pieces.append(self._held)
                self._held = ""
            elif start > 0:
                pieces.append(self._held[:start])
                self._held = self._held[start:]
            else:
                token = TOKEN.match(self._held)
                if token is None and _may_begin_token(self._held):
                    break
                length = token.end() if token else 1
                pieces.append(self._held[:length])
                self._held = self._held[length:]
        return _joined(pieces)

    def flush(self) -> list[str]:
        """The rest, at the end of the stream."""
        rest, self._held = self._held, ""
        return [rest] if rest else []


def _may_begin_token(held: str) -> bool:
    opening = "[[cite:"
    if len(held) <= len(opening):
        return opening.startswith(held)
    return held.startswith(opening) and "]" not in held[:-1] and len(held) < LONGEST_TOKEN


def _joined(pieces: Iterable[str]) -> list[str]:
    """Pieces of text that follow each other become one; tokens stay alone."""
    joined: list[str] = []
    for piece in pieces:
        if joined and parse_token(piece) is None and parse_token(joined[-1]) is None:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def quotes_before(text: str) -> list[str]:
    """The quotations in the last paragraph or list item of `text`, behind its last citation; the last one last."""
    paragraph = _PARAGRAPH.split(text)[-1]
    since = max((token.end() for token in TOKEN.finditer(paragraph)), default=0)
    found = [next(filter(None, match.groups())) for match in _QUOTED.finditer(paragraph[since:])]
    return [quote.strip() for quote in found if len(quote.strip()) >= SHORTEST_QUOTE]


def delivered_on(path: Iterable[Node]) -> set[str]:
    """The tokens of all passages that tools showed on a branch."""
    return {
        token_for(locator)
        for node in path
        for part in node.parts
        if isinstance(part, ToolCallPart)
        for locator in part.delivered
    }


class CitationCheck:
    """Checks the citations of one answer. `delivered` grows while its tools run."""

    def __init__(self, library: Library | None, delivered: set[str]) -> None:
        self._library = library
        self.delivered = delivered

    async def check(self, token: str, text_before: str) -> Citation:
        """The citation of `token`, which stands in the answer behind `text_before`."""
        target = parse_token(token)
        if target is None or self._library is None:
            return Citation(token, "unverified", "source", reason="there is no library to check it against")
        quotes = quotes_before(text_before)
        quote = quotes[-1] if quotes else ""
        short_ref, locator, texts, reason = await self._resolve(self._library, target, quote)
        if locator is None:
            return Citation(token, "wrong", short_ref, reason=reason, quote=quote)
        state, reason = self._judge(token, locator, texts, quotes, reason)
        return Citation(token, state, short_ref, locator, reason, quote)

    def _judge(
        self, token: str, locator: Locator, texts: list[str] | None, quotes: list[str], reason: str
    ) -> tuple[CitationState, str]:
        if reason:
            return "wrong", reason
        if texts is None:
            return "unverified", "its text cannot be read now"
        place = "page" if isinstance(locator, PageLocator) else "place"
        missing = [quote for quote in quotes if not stands_in(quote, texts)]
        if quotes and quotes[-1] in missing:
            return "wrong", f"the quoted words do not stand at this {place}"
        if missing:
            return "unverified", f"some of the quoted words do not stand at this {place}"
        if token not in self.delivered:
            return "unverified", f"this {place} was not read in this chat"
        return "verified", ""

    async def _resolve(
        self, library: Library, target: CitationTarget, quote: str
    ) -> tuple[str, Locator | None, list[str] | None, str]:
        """Short reference, locator, the text that stands there (None: unreadable), and why it is wrong."""
        if target.page_index is not None or target.spine_index is not None:
            return await self._resolve_place(library, target, quote)
        work = await library.work(target.ref)
        if work is not None:
            fields = [work.title, *work.fields.values(), *work.tags]
            return work.short_ref, ItemLocator(work.ref), fields, ""
        note = await library.note(target.ref)
        if note is not None:
            name, _ = await library.name(note.parent, note.title or "Note")
            return name, ItemLocator(note.ref), [note.html], ""
        annotation = await library.annotation(target.ref)
        if annotation is not None:
            row = await library.attachment(annotation.attachment)
            name, _ = await library.name(row.record.parent if row else None, "Annotation")
            place = AnnotationLocator(
                annotation.ref, annotation.attachment, annotation.page_index, annotation.page_label
            )
            return name, place, [annotation.text, annotation.comment], ""
        row = await library.attachment(target.ref)
        if row is not None:
            name, _ = await library.name(row.record.parent, row.record.title or row.record.filename)
            return name, ItemLocator(row.record.ref), None, ""
        return target.ref.key, None, None, f"the library has no item {target.ref.key}"

    async def _resolve_place(
        self, library: Library, target: CitationTarget, quote: str
    ) -> tuple[str, Locator | None, list[str] | None, str]:
        row = await library.attachment(target.ref)
        if row is None:
            return target.ref.key, None, None, f"the library has no file {target.ref.key}"
        name, _ = await library.name(row.record.parent, row.record.title or row.record.filename)
        index = target.spine_index if target.page_index is None else target.page_index
        assert index is not None
        try:
            pages = await library.pages(row, index, index + 1)
            count = await library.page_count(row)
        except DocumentProblem:
            is_page = target.page_index is not None
            return name, PageLocator(target.ref, index) if is_page else SectionLocator(target.ref, index, ""), None, ""
        if not pages or pages[0].index != index:
            unit = "section" if row.kind == "epub" else "page"
            return name, None, None, f"the file has {count} {unit}s and none with the index {index}"
        is_section = bool(pages[0].href)
        if is_section != (target.spine_index is not None):
            return name, None, None, "the file has no pages" if is_section else "the file has no sections"
        texts = [pages[0].text]
        if not is_section and len(pages) > 1:
            texts.append(f"{pages[0].text} {pages[1].text}")  # a quotation may run over the page's end
        return name, _located(row, pages[0], quote), texts, ""


def stands_in(quote: str, texts: Iterable[str]) -> bool:
    """Whether a quotation stands in one of the texts; its parts around an ellipsis may stand apart, in order."""
    pieces = [piece for piece in _ELLIPSIS.split(quote) if any(character.isalnum() for character in piece)]
    return bool(pieces) and any(_in_order(pieces, text.split()) for text in texts)


def _in_order(pieces: Iterable[str], words: list[str]) -> bool:
    start = 0
    for piece in pieces:
        spans = Quote(piece).find_in(words[start:], 1)
        if not spans:
            return False
        start += spans[0].last + 1
    return True


def _located(row: AttachmentRow, page: PageText, quote: str) -> Locator:
    if not page.href:
        return PageLocator(row.record.ref, page.index, page.label)
    return SectionLocator(row.record.ref, page.index, page.href, _cfi(page, quote), page.label)


def _cfi(page: PageText, quote: str) -> str:
    """The CFI of the block in which the quotation begins; of the section's first block without one."""
    best = page.anchors[0][1] if page.anchors else ""
    if quote:
        ends = [offset for offset, _ in page.anchors[1:]] + [len(page.text)]
        for (offset, cfi), end in zip(page.anchors, ends, strict=True):
            if stands_in(quote, [page.text[offset:end]]):
                return cfi
    return best
