"""XML of a hostile book: nothing of its own is expanded or fetched, and malformed files are read all the same."""

from __future__ import annotations

from typing import Any

import pytest

from bibgenie_desktop.documents.markup import parse

pytestmark = [pytest.mark.req("S-1"), pytest.mark.req("Z-5")]


def text(data: bytes) -> str:
    root = parse(data)
    assert root is not None
    return "".join(str(part) for part in root.itertext())


def declared(data: bytes) -> int:
    """How many entities the parser knows from the file."""
    root = parse(data)
    document_type: Any = None if root is None else root.getroottree().docinfo.internalDTD
    return 0 if document_type is None else len(list(document_type.iterentities()))


def test_named_characters_of_html_need_no_document_type() -> None:
    assert text(b"<p>caf&eacute;&nbsp;&amp; &lt;tea&gt; &nosuch; &ngE; &#8211;</p>") == "café\u00a0& <tea> &nosuch; ≧̸ –"


@pytest.mark.parametrize(
    "document",
    [
        '<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/hostname">]><p>a&x;b</p>',
        '<!DOCTYPE p [<!ENTITY x "secret">]><p t="&x;">a&x;b</p>',
        '<!DOCTYPE p SYSTEM "http://127.0.0.1:9/p.dtd" [<!ENTITY % d SYSTEM "http://127.0.0.1:9/d"> %d;]><p>a&x;b</p>',
    ],
)
def test_entities_of_the_file_itself_do_not_exist(document: str) -> None:
    assert text(document.encode()) == "a&x;b"
    assert declared(document.encode()) == 0


@pytest.mark.parametrize(
    "document",
    [
        '<!DOCTYPE p [<!ENTITY y "]>"><!ENTITY x "secret">]><p t="&x;">a&x;b</p>',
        '<!DOCTYPE q><!DOCTYPE p [<!ENTITY _x "secret">]><p t="&_x;">a&_x;b</p>',
        '<!DOCTYPE p [<!ENTITY x "secret"',
    ],
)
def test_nor_where_their_declaration_hides(document: str) -> None:
    """Such a file need not be read well, but it never comes to its expansion."""
    root = parse(document.encode())
    read = "" if root is None else "".join(str(part) for part in root.itertext()) + str(root.attrib)
    assert "asecret" not in read
    assert "'secret'" not in read
    assert declared(document.encode()) == 0


def test_entities_that_multiply_stay_as_they_are() -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    assert text(f'<!DOCTYPE p [<!ENTITY l0 "ha">{levels}]><p t="&l11;">&l11;</p>'.encode()) == "&l11;"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_the_encodings_that_books_come_in(encoding: str) -> None:
    declared = '<?xml version="1.0" encoding="iso-8859-1"?>'
    assert text(f"{declared}<p>Ökologie “zwei”</p>".encode(encoding)) == "Ökologie “zwei”"


@pytest.mark.parametrize(
    ("data", "read"),
    [
        (b"<p>one<b>two</p>", "onetwo"),
        (b"<p>AT&T and <br>more</p>", "AT&T and more"),
        (b"<p>a\x00b\x0bc</p>", "abc"),
        (b"<!DOCTYPE html", None),
        (b"", None),
        (b"no markup at all", None),
    ],
)
def test_what_is_malformed_is_repaired_or_nothing(data: bytes, read: str | None) -> None:
    root = parse(data)
    if read is None:
        assert root is None
    else:
        assert text(data).startswith(read)


def test_depth_is_bounded() -> None:
    root = parse(b"<p>" * 100_000)
    assert root is not None
    assert sum(1 for _ in root.iter()) < 3000
