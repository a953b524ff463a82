"""The demo library: built from its sources, right about itself, and right where its annotations point.

The files are opened here with PyMuPDF and zipfile directly and not through our document reader: they are what that
reader is tested with, so they are checked without it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pymupdf
import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "resources" / "demo"
LIBRARY: dict[str, Any] = json.loads((DEMO / "library.json").read_text(encoding="utf-8"))
PATHS = {
    record["key"]: Path("storage", record["key"], record["filename"]).as_posix() for record in LIBRARY["attachments"]
}
MANUAL, ESSAY, HANDBOOK, SCAN = (DEMO / PATHS[key] for key in ("PDFCITE2", "PDFTRIA2", "EPUBHAN2", "SCANLET2"))
ZOTERO_KEY = re.compile(r"[23456789ABCDEFGHIJKLMNPQRSTUVWXYZ]{8}")


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library as the script builds it now, in a folder of its own."""
    folder = tmp_path_factory.mktemp("demo")
    _build(folder)
    return folder


def _build(folder: Path) -> None:
    command = [sys.executable, str(ROOT / "packaging" / "build_demo.py"), "--output", str(folder)]
    subprocess.run(command, check=True, timeout=120)


def _files(folder: Path) -> dict[str, bytes]:
    paths = [folder / "library.json", *(folder / "storage").rglob("*.*")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _texts(path: Path) -> list[str]:
    with pymupdf.open(path) as document:
        return [str(page.get_text()) for page in document]


def _labels(path: Path) -> list[str]:
    with pymupdf.open(path) as document:
        return [str(page.get_label()) for page in document]


def _words(path: Path) -> list[tuple[int, str, int, int]]:
    """Every word of a PDF with its page and its place to the point."""
    with pymupdf.open(path) as document:
        return [(page.number, w[4], round(w[0]), round(w[1])) for page in document for w in page.get_text("words")]


def _pictures(path: Path) -> list[pymupdf.Pixmap]:
    with pymupdf.open(path) as document:
        return [pymupdf.Pixmap(document, page.get_images()[0][0]) for page in document]


def _quote(label: str, path: Path = MANUAL) -> str:
    """The text of the page with this label, in one line."""
    return " ".join(_texts(path)[_labels(path).index(label)].split())


# Built from its sources


def test_two_builds_make_the_same_bytes(rebuilt: Path, tmp_path: Path) -> None:
    """Nothing in the builder looks at a clock, a folder's order or a random source."""
    _build(tmp_path)
    assert _files(tmp_path) == _files(rebuilt)


def test_the_records_and_the_epub_are_what_the_sources_say(rebuilt: Path) -> None:
    committed, built = _files(DEMO), _files(rebuilt)
    assert set(committed) == set(built)
    assert (rebuilt / "library.json").read_text(encoding="utf-8") == (DEMO / "library.json").read_text(encoding="utf-8")
    assert committed[PATHS["EPUBHAN2"]] == built[PATHS["EPUBHAN2"]]


@pytest.mark.parametrize("key", ["PDFCITE2", "PDFTRIA2"])
def test_the_pdfs_are_what_the_sources_say(rebuilt: Path, key: str) -> None:
    """Another build of MuPDF may compress otherwise, so that words, places and labels are compared and not bytes."""
    assert _words(DEMO / PATHS[key]) == _words(rebuilt / PATHS[key])
    assert _labels(DEMO / PATHS[key]) == _labels(rebuilt / PATHS[key])


def test_the_scan_is_what_its_source_says(rebuilt: Path) -> None:
    """Pictures are compared by their size and their mean difference in grey: encoders differ in the last bit."""
    for committed, built in zip(_pictures(SCAN), _pictures(rebuilt / PATHS["SCANLET2"]), strict=True):
        assert (committed.width, committed.height, committed.n) == (built.width, built.height, 1)
        pairs = list(zip(bytes(committed.samples)[::89], bytes(built.samples)[::89], strict=True))
        assert sum(abs(one - other) for one, other in pairs) / len(pairs) < 2


def test_the_whole_library_is_small() -> None:
    assert sum(len(data) for data in _files(DEMO).values()) < 1_500_000
    assert SCAN.stat().st_size < 300_000


# Labels and indices


@pytest.mark.req("Z-4")
def test_the_manual_has_roman_front_matter_and_then_begins_at_one() -> None:
    roman = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii"]
    assert _labels(MANUAL) == [*roman, *(str(number) for number in range(1, 13))]


@pytest.mark.req("Z-4")
def test_the_number_at_the_foot_of_each_page_is_its_label() -> None:
    """The title page and the imprint carry none, as the manual says of itself."""
    feet = [text.split()[-1] for text in _texts(MANUAL)]
    assert feet[2:] == _labels(MANUAL)[2:]
    assert feet[:2] == ["1", "7."]  # of the series, and of an example


@pytest.mark.req("Z-4")
def test_the_question_about_front_matter_is_answered_on_page_3_which_has_index_10() -> None:
    text = _quote("3")
    assert _labels(MANUAL).index("3") == 10
    assert "Front matter numbering does one thing to page citations: it makes the printed label" in text
    assert "The cure is to cite the printed label and to move by the page index." in text
    elsewhere = [label for label in _labels(MANUAL) if "front matter numbering" in _quote(label).lower()]
    assert elsewhere == ["3"]


@pytest.mark.req("Z-4")
def test_what_the_manual_says_about_its_own_pages_is_true() -> None:
    """Its examples name pages; a change of the text that moves them has to change the examples."""
    assert "Its index, counted from 0, is 10." in _quote("3")
    assert "calls this page v" in _quote("v")
    assert "When the file is replaced" in _quote("11")  # page 3: a reader of “p. 11” finds replaced files there
    assert "Seven rules" in _quote("9")  # page 5: “page 9 holds the rules for programs”
    assert _quote("iii").startswith("Contents")
    assert _quote("vii").startswith("Words used")
    assert _quote("viii").startswith("Words used")
    assert "Figure 1. The twenty pages of this file" in _quote("4")
    assert len(_texts(MANUAL)) == 20


@pytest.mark.req("Z-4")
def test_the_contents_name_the_pages_where_the_headings_stand() -> None:
    with pymupdf.open(MANUAL) as document:
        outline = document.get_toc()
        lines = document[2].get_text().splitlines()
        labels = [str(page.get_label()) for page in document]
        links = {round(link["from"].y0): link["page"] for link in document[2].get_links()}
    headings = [(title, labels[page - 1]) for _, title, page in outline if title != "Contents"]
    assert len(headings) > 20
    for title, label in headings:
        assert lines[lines.index(title) + 1] == label
    assert [labels[links[y]] for y in sorted(links)] == [label for _, label in headings]


@pytest.mark.req("Z-4")
def test_the_essay_has_no_labels() -> None:
    assert set(_labels(ESSAY)) == {""}
    assert [text.split()[-1] for text in _texts(ESSAY)] == ["1", "2", "3", "4", "5", "6"]


# Text


@pytest.mark.parametrize("path", [MANUAL, ESSAY], ids=["manual", "essay"])
def test_the_text_comes_out_as_it_was_written(path: Path) -> None:
    """No ligatures, no soft hyphens, no divided words; quotation marks and dashes as themselves."""
    text = "\n".join(_texts(path))
    assert {character for character in text if ord(character) > 126} <= set("·–’“”•äö")
    assert not re.search(r"\w-\n", text)
    assert "  " not in text


@pytest.mark.parametrize("path", [MANUAL, ESSAY], ids=["manual", "essay"])
def test_the_boxes_of_two_lines_do_not_overlap(path: Path) -> None:
    """What marks a line would otherwise pick up its neighbour. The bold face reaches down a quarter of a point more."""
    with pymupdf.open(path) as document:
        for page in document:
            lines = [pymupdf.Rect(line["bbox"]) for block in page.get_text("dict")["blocks"] for line in block["lines"]]
            for upper in lines:
                assert not [
                    lower for lower in lines if upper.y0 < lower.y0 < upper.y1 - 0.3 and upper.intersects(lower)
                ]


@pytest.mark.req("Z-5")
def test_the_scan_has_pages_and_no_text() -> None:
    assert _texts(SCAN) == ["", "", ""]
    assert len(_pictures(SCAN)) == 3


# The EPUB


@pytest.fixture
def book() -> Iterator[zipfile.ZipFile]:
    """The handbook's archive."""
    with zipfile.ZipFile(HANDBOOK) as archive:
        yield archive


def _spine(book: zipfile.ZipFile) -> list[str]:
    package = ElementTree.fromstring(book.read("EPUB/package.opf"))
    hrefs = {item.get("id"): item.get("href") for item in package.iterfind(".//{*}manifest/{*}item")}
    return [f"EPUB/{hrefs[reference.get('idref')]}" for reference in package.iterfind(".//{*}itemref")]


def test_the_epub_is_an_epub(book: zipfile.ZipFile) -> None:
    """The type comes first and uncompressed, everything parses, and the manifest names every file once."""
    first = book.infolist()[0]
    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
    assert book.read("mimetype") == b"application/epub+zip"
    assert b'full-path="EPUB/package.opf"' in book.read("META-INF/container.xml")
    package = ElementTree.fromstring(book.read("EPUB/package.opf"))
    named = [f"EPUB/{item.get('href')}" for item in package.iterfind(".//{*}manifest/{*}item")]
    assert sorted([*named, "EPUB/package.opf", "META-INF/container.xml", "mimetype"]) == sorted(book.namelist())
    assert len(_spine(book)) == 7


def test_both_tables_of_contents_lead_to_all_sections_in_order(book: zipfile.ZipFile) -> None:
    navigation = ElementTree.fromstring(book.read("EPUB/nav.xhtml"))
    points = ElementTree.fromstring(book.read("EPUB/toc.ncx"))
    assert [f"EPUB/{link.get('href')}" for link in navigation.iterfind(".//{*}nav//{*}a")] == _spine(book)
    assert [f"EPUB/{content.get('src')}" for content in points.iterfind(".//{*}content")] == _spine(book)


def test_every_paragraph_of_the_handbook_has_an_id_of_its_own(book: zipfile.ZipFile) -> None:
    blocks = ("p", "li", "pre", "h1", "h2", "section")
    sections = [ElementTree.fromstring(book.read(name)) for name in _spine(book)]
    elements = [element for section in sections for element in section.iter()]
    ids = [element.get("id") for element in elements if element.tag.rpartition("}")[2] in blocks]
    assert None not in ids
    assert len(ids) == len(set(ids)) > 90


# Records


@pytest.mark.req("Z-1")
def test_keys_are_zoteros_and_lead_somewhere() -> None:
    kinds = ("items", "attachments", "notes", "annotations", "collections")
    keys = {kind: [record["key"] for record in LIBRARY[kind]] for kind in kinds}
    every = [key for kind in kinds for key in keys[kind]]
    assert len(every) == len(set(every))
    assert all(ZOTERO_KEY.fullmatch(key) for key in every)
    assert {key for item in LIBRARY["items"] for key in item["collections"]} <= set(keys["collections"])
    assert {note["parent"] for note in LIBRARY["notes"]} <= {None, *keys["items"]}
    assert {attachment["parent"] for attachment in LIBRARY["attachments"]} == set(keys["items"])
    assert {annotation["attachment"] for annotation in LIBRARY["annotations"]} <= set(keys["attachments"])
    assert {collection["parent"] for collection in LIBRARY["collections"]} <= {"", *keys["collections"]}
    assert all((DEMO / path).is_file() for path in PATHS.values())


def _annotations(attachment_type: str) -> list[dict[str, Any]]:
    wanted = {record["key"] for record in LIBRARY["attachments"] if record["contentType"] == attachment_type}
    return [annotation for annotation in LIBRARY["annotations"] if annotation["attachment"] in wanted]


@pytest.mark.req("Z-4")
@pytest.mark.parametrize("annotation", _annotations("application/pdf"), ids=lambda record: record["key"])
def test_the_rectangles_of_an_annotation_hold_its_words(annotation: dict[str, Any]) -> None:
    """Rectangles are in PDF user space; a note's is 22 points square and lies on the page."""
    position = json.loads(annotation["position"])
    with pymupdf.open(DEMO / PATHS[annotation["attachment"]]) as document:
        page = document[annotation["pageIndex"]]
        height = page.rect.height
        boxes = [pymupdf.Rect(x0, height - y1, x1, height - y0) for x0, y0, x1, y1 in position["rects"]]
        inner = [pymupdf.Rect(box.x0 + 1, box.y0 + 1, box.x1 - 1, box.y1 - 1) for box in boxes]
        found = " ".join(str(page.get_textbox(box)).strip() for box in inner)
        assert annotation["pageLabel"] == (page.get_label() or str(page.number + 1))
        assert all(page.rect.contains(box) for box in boxes)
    assert position["pageIndex"] == annotation["pageIndex"]
    index, offset, top = annotation["sortIndex"].split("|")
    assert (len(index), len(offset), len(top)) == (5, 6, 5)
    assert (int(index), int(top)) == (annotation["pageIndex"], int(min(box.y0 for box in boxes)))
    if annotation["type"] == "note":
        assert [(round(box.width), round(box.height)) for box in boxes] == [(22, 22)]
        assert (found, annotation["text"]) == ("", "")
    else:
        assert found == annotation["text"]


@pytest.mark.req("Z-4")
@pytest.mark.parametrize("annotation", _annotations("application/epub+zip"), ids=lambda record: record["key"])
def test_the_cfi_of_an_epub_annotation_leads_to_its_words(annotation: dict[str, Any], book: zipfile.ZipFile) -> None:
    """Even steps are elements, odd ones the text between them; the words lie in one piece of text."""
    cfi = json.loads(annotation["position"])["value"]
    match = re.fullmatch(r"epubcfi\(/6/(\d+)!([^,]+),/(\d+):(\d+),/(\d+):(\d+)\)", cfi)
    assert match is not None
    spine_index = int(match[1]) // 2 - 1
    element = ElementTree.fromstring(book.read(_spine(book)[spine_index]))
    for step, identity in re.findall(r"/(\d+)(?:\[([^\]]*)\])?", match[2]):
        element = element[int(step) // 2 - 1]
        assert (element.get("id") or "") == identity
    start, end = int(match[3]), int(match[5])
    assert start == end
    text = element.text if start == 1 else element[start // 2 - 1].tail
    assert (text or "")[int(match[4]) : int(match[6])] == annotation["text"]
    assert re.fullmatch(rf"0000{spine_index}\|\d{{8}}", annotation["sortIndex"])
    assert (annotation["pageLabel"], annotation["pageIndex"]) == ("", None)
