"""EPUBs, from their zip and XML alone (Z-2, Z-5): sections in the order of the spine, titles, text, CFIs."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from lxml import etree

from ..sessions.library import PageText
from .epub_archive import EpubArchive
from .markup import local_name, parse
from .port import DocumentProblem, QuoteMatch
from .problems import problem
from .quotes import Quote
from .reading import limited, one_line
from .section_text import read_section

MOST_SECTIONS = 20_000
LONGEST_TITLE = 200

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PACKAGE_TYPE = "application/oebps-package+xml"
_NCX_TYPE = "application/x-dtbncx+xml"
_OPS_TYPE = "{http://www.idpf.org/2007/ops}type"
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class _Section:
    step: str  # the CFI up to the section, such as /6/4!
    name: str  # its file in the archive, "" if the spine names none that exists
    href: str


class EpubDocument:
    """An open EPUB; its pages are the spine's sections. Raises DocumentProblem: damaged, encrypted, too_large,
    unsupported.
    """

    kind: Literal["epub"] = "epub"

    def __init__(self, path: str) -> None:
        self._archive = EpubArchive(path)
        self.unread_pages = 0
        try:
            package = _Package(self._archive)
            self._sections = package.sections()
            _refuse_encrypted(self._archive, {section.name for section in self._sections})
            self._titles = _titles(package.contents(), self._sections)
        except BaseException:
            self.close()
            raise
        self.page_count = len(self._sections)

    def page(self, index: int) -> PageText:
        """The text of the section at this spine index; "" where its file is missing or is no XHTML."""
        section = self._sections[index]
        root = self._root(section.name)
        if root is None:
            self.unread_pages += 1
            return PageText(index, self._title(index, ""), "", section.href)
        content = read_section(root, section.step)
        return PageText(index, self._title(index, content.heading), content.text, section.href, content.anchors)

    def find(self, index: int, quote: Quote, limit: int) -> Iterator[QuoteMatch]:
        """Up to `limit` places of `quote` in one section, each with the CFI of the block it starts in."""
        page = self.page(index)
        words = list(_WORD.finditer(page.text))
        for span in quote.find_in([word[0] for word in words], limit):
            start, end = words[span.first].start(), words[span.last].end()
            block = bisect_right(page.anchors, start, key=lambda anchor: anchor[0]) - 1
            cfi = page.anchors[block][1] if block >= 0 else ""
            yield QuoteMatch(index, page.label, (), one_line(page.text[start:end]), cfi)

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

    def _root(self, name: str) -> etree._Element | None:
        if not name:
            return None
        try:
            return parse(self._archive.read(name))
        except DocumentProblem as broken:
            if broken.code == "damaged":
                return None  # one broken section does not stop the rest
            raise

    def _title(self, index: int, heading: str) -> str:
        title = self._titles.get(index) or heading or posixpath.basename(self._sections[index].href)
        return limited(one_line(title), LONGEST_TITLE)


class _Package:
    """The package file: what belongs to the book, and in which order it is read."""

    def __init__(self, archive: EpubArchive) -> None:
        self._archive = archive
        self._name, self._root = self._package()
        self._items = {item.get("id", ""): item for item in self._root.iter("{*}item")}

    def _package(self) -> tuple[str, etree._Element]:
        container = parse(self._archive.read(_CONTAINER))
        for rootfile in () if container is None else container.iter("{*}rootfile"):
            name = self._archive.find("", rootfile.get("full-path", ""))
            if name is not None and rootfile.get("media-type", _PACKAGE_TYPE) == _PACKAGE_TYPE:
                package = parse(self._archive.read(name))
                if package is not None:
                    return name, package
        raise problem("damaged")

    def sections(self) -> list[_Section]:
        """The spine. Raises DocumentProblem("damaged") if it is empty."""
        for place, child in enumerate(self._root.iterchildren("{*}*"), start=1):
            if local_name(child) == "spine":
                references = list(child.iterchildren("{*}*"))
                if len(references) > MOST_SECTIONS:
                    raise problem("too_large")
                sections = [
                    self._section(f"/{2 * place}/{2 * number}!", reference.get("idref", ""))
                    for number, reference in enumerate(references, start=1)
                ]
                if sections:
                    return sections
        raise problem("damaged")

    def _section(self, step: str, item_id: str) -> _Section:
        item = self._items.get(item_id)
        href = "" if item is None else item.get("href", "")
        name = self._archive.find(self._name, href) if href else None
        return _Section(step, name or "", one_line(name or href))

    def contents(self) -> list[tuple[str, str]]:
        """(file, title) in the table of contents' order: EPUB 3's navigation, else the NCX, else nothing."""
        navigation = [item for item in self._items.values() if "nav" in item.get("properties", "").split()]
        ncx = [item for item in self._items.values() if item.get("media-type") == _NCX_TYPE]
        for item in navigation + ncx:
            name = self._archive.find(self._name, item.get("href", ""))
            root = self._table(name) if name is not None else None
            if name is None or root is None:
                continue
            pairs = _ncx_pairs(root) if local_name(root) == "ncx" else _navigation_pairs(root)
            entries = [(target, title) for href, title in pairs if (target := self._archive.find(name, href)) and title]
            if entries:
                return entries
        return []

    def _table(self, name: str) -> etree._Element | None:
        try:
            return parse(self._archive.read(name))
        except DocumentProblem:
            return None  # a book without its table of contents can still be read


def _navigation_pairs(root: etree._Element) -> Iterator[tuple[str, str]]:
    tables = list(root.iter("{*}nav"))
    contents = [table for table in tables if "toc" in table.get(_OPS_TYPE, "").split()]
    for table in (contents or tables)[:1]:
        for link in table.iter("{*}a"):
            yield link.get("href", ""), _words(link)


def _ncx_pairs(root: etree._Element) -> Iterator[tuple[str, str]]:
    for point in root.iter("{*}navPoint"):
        label, content = point.find("{*}navLabel"), point.find("{*}content")
        if label is not None and content is not None:
            yield content.get("src", ""), _words(label)


def _words(element: etree._Element) -> str:
    return one_line("".join(str(text) for text in element.itertext("{*}*")))


def _titles(contents: Iterable[tuple[str, str]], sections: list[_Section]) -> dict[int, str]:
    """Titles by spine index: the first entry that names the section's file, else the last one before it."""
    places: dict[str, int] = {}
    for index, section in enumerate(sections):
        places.setdefault(section.name, index)
    first: dict[int, str] = {}
    last: dict[int, str] = {}
    for name, title in contents:
        if name in places:
            first.setdefault(places[name], title)
            last[places[name]] = title
    titles: dict[int, str] = {}
    preceding = ""
    for index in range(len(sections)):
        titles[index] = first.get(index, preceding)
        preceding = last.get(index, preceding)
    return titles


def _refuse_encrypted(archive: EpubArchive, names: set[str]) -> None:
    """Raises DocumentProblem("encrypted") where rights management covers a section; obfuscated fonts are harmless."""
    listing = archive.find("", _ENCRYPTION)
    root = parse(archive.read(listing)) if listing is not None else None
    for reference in () if root is None else root.iter("{*}CipherReference"):
        if archive.find("", reference.get("URI", "")) in names:
            raise problem("encrypted")
