"""EPUBs for the tests, sound and hostile, put together with zipfile."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

CONTAINER = (
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def xhtml(body: str, head: str = "<title>A book</title>") -> str:
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head>{head}</head>'
        f"<body>{body}</body></html>"
    )


def navigation(entries: Sequence[tuple[str, str]]) -> str:
    items = "".join(f'<li><a href="{href}">{title}</a></li>' for href, title in entries)
    return xhtml(f'<nav xmlns:epub="http://www.idpf.org/2007/ops" epub:type="toc"><ol>{items}</ol></nav>')


def ncx(entries: Sequence[tuple[str, str]]) -> str:
    points = "".join(
        f'<navPoint id="p{number}"><navLabel><text>{title}</text></navLabel><content src="{href}"/></navPoint>'
        for number, (href, title) in enumerate(entries)
    )
    return f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><navMap>{points}</navMap></ncx>'


def package(hrefs: Sequence[str], extra_items: str = "") -> str:
    """A package file whose spine is `hrefs`, as they are to stand in the manifest."""
    items = "".join(
        f'<item id="s{number}" href="{href}" media-type="application/xhtml+xml"/>' for number, href in enumerate(hrefs)
    )
    spine = "".join(f'<itemref idref="s{number}"/>' for number in range(len(hrefs)))
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/>'
        f"<manifest>{items}{extra_items}</manifest><spine>{spine}</spine></package>"
    )


def write_zip(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """The files in order, the mimetype stored as EPUB wants it and the rest deflated."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            packing = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, packing)
    return path


def write_epub(
    path: Path,
    sections: Mapping[str, str | bytes],
    *,
    hrefs: Sequence[str] = (),
    nav: Sequence[tuple[str, str]] | None = None,
    toc: Sequence[tuple[str, str]] | None = None,
    extra: Mapping[str, str | bytes] | None = None,
) -> Path:
    """A book of `sections` (file name to XHTML) in that order.

    `hrefs` replaces the names in the manifest; `nav` and `toc` are the entries of the EPUB 3 navigation and the NCX.
    """
    items, tables = "", {}
    if nav is not None:
        items += '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        tables["OEBPS/nav.xhtml"] = navigation(nav)
    if toc is not None:
        items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        tables["OEBPS/toc.ncx"] = ncx(toc)
    files: dict[str, str | bytes] = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER}
    files["OEBPS/book.opf"] = package(hrefs or list(sections), items)
    files |= tables
    files |= {f"OEBPS/{name}": content for name, content in sections.items()}
    return write_zip(path, files | dict(extra or {}))
