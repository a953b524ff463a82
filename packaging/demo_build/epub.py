"""The EPUB: XHTML sections, package, navigation, and the CFI of a passage.

Every paragraph has an id. Nothing is compressed, so that the file is the same everywhere whatever zlib is at hand.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from xml.etree import ElementTree

from .source import BadSource, Block, Source, Span

_XHTML = "http://www.w3.org/1999/xhtml"
_TAGS = {"regular": "{}", "italic": "<em>{}</em>", "bold": "<strong>{}</strong>"}

_STYLE = """body { margin: 5%; line-height: 1.5; font-family: serif; }
h1 { font-size: 1.5em; font-weight: normal; margin: 2em 0 1em; }
h2 { font-size: 1.1em; margin: 1.6em 0 0.4em; }
p { margin: 0 0 0.6em; }
pre { margin: 0.6em 0 1em 1.5em; white-space: pre-wrap; font-size: 0.9em; }
ul { margin: 0 0 0.6em; padding-left: 1.2em; }
li { margin-bottom: 0.3em; }
"""

_CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
  <rootfiles>
    <rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/>
  </rootfiles>
</container>
"""


@dataclass(frozen=True, slots=True)
class Section:
    """One file of the book. `number` counts from 1; its spine index is one less."""

    number: int
    title: str
    xhtml: str

    @property
    def name(self) -> str:
        """The file's name beside the package document."""
        return f"{self.number}-{re.sub(r'[^a-z]+', '-', self.title.lower()).strip('-')}.xhtml"


@dataclass(frozen=True, slots=True)
class Passage:
    """Where a quotation stands: its CFI range, and its sort index in Zotero's form."""

    cfi: str
    sort_index: str


def sections_of(source: Source) -> tuple[Section, ...]:
    """The book's sections, one a heading of level 1."""
    chapters: list[list[Block]] = []
    for block in source.blocks:
        if block.kind == "heading" and block.level == 1:
            chapters.append([])
        if not chapters:
            raise BadSource("a book begins with a heading")
        chapters[-1].append(block)
    language = source.head["language"]
    return tuple(_section(number, blocks, language) for number, blocks in enumerate(chapters, 1))


def write_epub(source: Source) -> bytes:
    """The book as an EPUB 3 with a table of contents for EPUB 2 readers."""
    sections = sections_of(source)
    files = {
        "META-INF/container.xml": _CONTAINER,
        "EPUB/package.opf": _package(source, sections),
        "EPUB/nav.xhtml": _navigation(source, sections),
        "EPUB/toc.ncx": _ncx(source, sections),
        "EPUB/style.css": _STYLE,
        **{f"EPUB/{section.name}": section.xhtml for section in sections},
    }
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w", zipfile.ZIP_STORED) as archive:
        for name, text in {"mimetype": "application/epub+zip", **files}.items():
            entry = zipfile.ZipInfo(name, (2026, 11, 30, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text.encode())
    return book.getvalue()


def find_passage(sections: tuple[Section, ...], quote: str) -> Passage:
    """Where `quote` stands, within one paragraph. Raises BadSource unless it stands in exactly one place."""
    found: list[Passage] = []
    for section in sections:
        body = ElementTree.fromstring(section.xhtml).find(f"{{{_XHTML}}}body")
        if body is None:
            raise BadSource(f"{section.name} has no body")
        before = 0
        for path, nodes in _paragraphs(body, "/4"):
            text = "".join(words for _, words in nodes)
            if quote in text:
                start = text.index(quote)
                spine = f"/6/{2 * section.number}!"
                inner = f"{_offset(nodes, start, end=False)},{_offset(nodes, start + len(quote), end=True)}"
                place = before + _units(text[:start])
                found.append(Passage(f"epubcfi({spine}{path},{inner})", f"{section.number - 1:05d}|{place:08d}"))
            before += _units(text)
    if len(found) != 1:
        raise BadSource(f"the EPUB holds {len(found)} passages that read: {quote}")
    return found[0]


def _paragraphs(element: ElementTree.Element, path: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Runs of text with their CFI path: elements with text of their own, and the white space between others."""
    if (element.text or "").strip() or not len(element):
        yield path, list(_text_nodes(element, ""))
        return
    yield path, [("/1", element.text or "")]
    for position, child in enumerate(element, 1):
        identity = f"[{child.get('id')}]" if child.get("id") else ""
        yield from _paragraphs(child, f"{path}/{2 * position}{identity}")
        yield path, [(f"/{2 * position + 1}", child.tail or "")]


def _text_nodes(element: ElementTree.Element, path: str) -> Iterator[tuple[str, str]]:
    """All text nodes below an element in order, each with its path from there."""
    yield f"{path}/1", element.text or ""
    for position, child in enumerate(element, 1):
        yield from _text_nodes(child, f"{path}/{2 * position}")
        yield f"{path}/{2 * position + 1}", child.tail or ""


def _offset(nodes: list[tuple[str, str]], position: int, *, end: bool) -> str:
    """The place of a character among text nodes; between two nodes an end belongs to the first, a start to the next."""
    for path, words in nodes:
        if position < len(words) or (end and position == len(words)):
            return f"{path}:{_units(words[:position])}"
        position -= len(words)
    raise BadSource("a passage ends behind its paragraph")


def _units(text: str) -> int:
    """The length in UTF-16 units, as CFIs count."""
    return len(text.encode("utf-16-le")) // 2


def _item(section: Section) -> str:
    return f"section-{section.number}"


def _section(number: int, blocks: list[Block], language: str) -> Section:
    lines: list[str] = []
    counts = {"heading": 0, "paragraph": 0, "item": 0, "verbatim": 0}
    previous = ""
    for block in blocks:
        if block.kind not in counts:
            raise BadSource(f"an EPUB has no way to show a block of kind {block.kind}")
        if previous == "item" != block.kind:
            lines.append("</ul>")
        if block.kind == "item" != previous:
            lines.append("<ul>")
        counts[block.kind] += 1
        identity = f"s{number}-{block.kind[0]}{counts[block.kind]}"
        text = _markup(block.spans)
        if block.kind == "verbatim":
            lines.append(f'<pre id="{identity}"><code>{text}</code></pre>')
        else:
            tag = {"heading": f"h{block.level}", "paragraph": "p", "item": "li"}[block.kind]
            lines.append(f'<{tag} id="{identity}">{text}</{tag}>')
        previous = block.kind
    if previous == "item":
        lines.append("</ul>")
    body = "\n".join(lines)
    title = blocks[0].text
    return Section(
        number,
        title,
        f"""<?xml version="1.0" encoding="UTF-8"?>
<html xmlns="{_XHTML}" xmlns:epub="http://www.idpf.org/2007/ops" xml:lang="{language}" lang="{language}">
<head>
<title>{escape(title, quote=False)}</title>
<link rel="stylesheet" type="text/css" href="style.css"/>
</head>
<body>
<section id="s{number}" epub:type="chapter">
{body}
</section>
</body>
</html>
""",
    )


def _markup(spans: tuple[Span, ...]) -> str:
    return "".join(_TAGS[span.face].format(escape(span.text, quote=False)) for span in spans)


def _package(source: Source, sections: tuple[Section, ...]) -> str:
    head = {name: escape(value, quote=False) for name, value in source.head.items()}
    manifest = "\n".join(
        f'    <item id="{_item(section)}" href="{section.name}" media-type="application/xhtml+xml"/>'
        for section in sections
    )
    spine = "\n".join(f'    <itemref idref="{_item(section)}"/>' for section in sections)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="book-id" xml:lang="{head["language"]}">
  <metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
    <dc:identifier id="book-id">{head["identifier"]}</dc:identifier>
    <dc:title>{head["title"]}: {head["subtitle"]}</dc:title>
    <dc:creator>{head["authors"]}</dc:creator>
    <dc:publisher>{head["publisher"]}</dc:publisher>
    <dc:language>{head["language"]}</dc:language>
    <dc:date>{head["modified"][:10]}</dc:date>
    <meta property="dcterms:modified">{head["modified"]}</meta>
  </metadata>
  <manifest>
    <item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
    <item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
    <item id="style" href="style.css" media-type="text/css"/>
{manifest}
  </manifest>
  <spine toc="ncx">
{spine}
  </spine>
</package>
"""


def _navigation(source: Source, sections: tuple[Section, ...]) -> str:
    language = source.head["language"]
    entries = "\n".join(
        f'<li><a href="{section.name}">{escape(section.title, quote=False)}</a></li>' for section in sections
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<html xmlns="{_XHTML}" xmlns:epub="http://www.idpf.org/2007/ops" xml:lang="{language}" lang="{language}">
<head>
<title>{escape(source.head["title"], quote=False)}</title>
</head>
<body>
<nav epub:type="toc" id="toc">
<h1>Contents</h1>
<ol>
{entries}
</ol>
</nav>
</body>
</html>
"""


def _ncx(source: Source, sections: tuple[Section, ...]) -> str:
    points = "\n".join(
        f"""    <navPoint id="point-{section.number}" playOrder="{section.number}">
      <navLabel><text>{escape(section.title, quote=False)}</text></navLabel>
      <content src="{section.name}"/>
    </navPoint>"""
        for section in sections
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1" xml:lang="{source.head["language"]}">
  <head>
    <meta name="dtb:uid" content="{source.head["identifier"]}"/>
    <meta name="dtb:depth" content="1"/>
    <meta name="dtb:totalPageCount" content="0"/>
    <meta name="dtb:maxPageNumber" content="0"/>
  </head>
  <docTitle><text>{escape(source.head["title"], quote=False)}</text></docTitle>
  <navMap>
{points}
  </navMap>
</ncx>
"""
