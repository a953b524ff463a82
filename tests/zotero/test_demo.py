"""The demo library: read from its directory, refused with a clear word where it is not as agreed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.sessions.library import Creator, LibraryRecord
from bibgenie_desktop.sessions.locators import PERSONAL, ItemRef
from bibgenie_desktop.zotero.demo import DemoSource
from bibgenie_desktop.zotero.port import LibrarySource, ZoteroUnavailable


def library() -> dict[str, Any]:
    """A small demo library, as its JSON."""
    return {
        "format": 1,
        "identity": "bibgenie-demo",
        "as_of": "2026-11-30T00:00:00Z",
        "name": "BibGenie demo library",
        "items": [
            {
                "key": "DEMOITM2",
                "itemType": "journalArticle",
                "title": "On <i>front matter</i>",
                "creators": [
                    {"role": "author", "last": "Hale", "first": "Ada"},
                    {"role": "author", "last": "Society for Pages", "first": ""},
                ],
                "date": "15 March 2020",
                "fields": {"publicationTitle": "Pages", "DOI": "10.1234/x"},
                "tags": ["paging", "method"],
                "collections": ["DEMOSUB2"],
            }
        ],
        "attachments": [
            {
                "key": "DEMOPDF2",
                "parent": "DEMOITM2",
                "title": "PDF",
                "filename": "front matter.pdf",
                "contentType": "application/pdf",
                "linkMode": "imported_file",
            },
            {
                "key": "DEMOSCN2",
                "parent": None,
                "title": "Scan",
                "filename": "scan.pdf",
                "contentType": "application/pdf",
                "linkMode": "imported_file",
            },
        ],
        "notes": [{"key": "DEMONTE2", "parent": "DEMOITM2", "title": "A note", "html": "<p>A note</p>", "tags": ["n"]}],
        "annotations": [
            {
                "key": "DEMOANN2",
                "attachment": "DEMOPDF2",
                "type": "highlight",
                "text": "roman",
                "comment": "see",
                "color": "#ffd400",
                "pageLabel": "iv",
                "pageIndex": 3,
                "sortIndex": "00003|000000|00000",
                "position": '{"pageIndex":3,"rects":[[1,2,3,4]]}',
                "tags": [],
            }
        ],
        "collections": [
            {"key": "DEMOCOL2", "name": "All", "parent": ""},
            {"key": "DEMOSUB2", "name": "Some", "parent": "DEMOCOL2"},
        ],
    }


def made(directory: Path, content: dict[str, Any] | bytes) -> DemoSource:
    """A demo directory with one of the two files of `library()`."""
    stored = directory / "storage" / "DEMOPDF2"
    stored.mkdir(parents=True, exist_ok=True)
    (stored / "front matter.pdf").write_bytes(b"%PDF-")
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    (directory / "library.json").write_bytes(raw)
    return DemoSource(directory)


@pytest.mark.req("Z-1")
def test_the_demo_library_is_a_library_like_any_other(tmp_path: Path) -> None:
    demo: LibrarySource = made(tmp_path, library())
    assert (demo.kind, demo.title, demo.identity) == ("demo", "the demo library", "bibgenie-demo")
    snapshot = demo.snapshot()
    assert (snapshot.identity, snapshot.as_of) == ("bibgenie-demo", "2026-11-30T00:00:00Z")
    assert snapshot.libraries == (LibraryRecord(PERSONAL, "BibGenie demo library", editable=False),)
    (item,) = snapshot.items
    assert item.creators == (Creator("author", "Hale", "Ada"), Creator("author", "Society for Pages"))
    assert (item.year, item.short_ref) == ("2020", "Hale & Society for Pages 2020")
    assert item.fields == {"publicationTitle": "Pages", "DOI": "10.1234/x", "date": "15 March 2020"}
    assert (item.tags, item.collections) == (("paging", "method"), ("DEMOSUB2",))
    (note,) = snapshot.notes
    assert (note.parent, note.html, note.tags) == (item.ref, "<p>A note</p>", ("n",))
    (annotation,) = snapshot.annotations
    assert (annotation.attachment.key, annotation.page_index, annotation.page_label) == ("DEMOPDF2", 3, "iv")
    assert [(collection.name, collection.parent_key) for collection in snapshot.collections] == [
        ("All", ""),
        ("Some", "DEMOCOL2"),
    ]


@pytest.mark.req("Z-5")
def test_its_files_lie_beside_it_and_one_that_is_missing_stops_nothing(tmp_path: Path) -> None:
    pdf, scan = made(tmp_path, library()).snapshot().attachments
    assert pdf.path == str(tmp_path / "storage" / "DEMOPDF2" / "front matter.pdf")
    assert pdf.parent == ItemRef(PERSONAL, "DEMOITM2")
    assert (scan.parent, scan.path, scan.problem) == (None, None, "not on this computer")


@pytest.mark.req("Z-6")
def test_the_fingerprint_follows_the_library_the_files_and_the_place(tmp_path: Path) -> None:
    demo = made(tmp_path / "demo", library())
    first = demo.fingerprint()
    assert demo.fingerprint() == DemoSource(tmp_path / "demo").fingerprint() == first
    pdf = tmp_path / "demo" / "storage" / "DEMOPDF2" / "front matter.pdf"
    pdf.write_bytes(b"%PDF-1.7")
    longer = demo.fingerprint()
    pdf.rename(pdf.with_name("renamed.pdf"))
    renamed = demo.fingerprint()
    made(tmp_path / "demo", {**library(), "name": "Renamed"})
    other_text = demo.fingerprint()
    shutil.copytree(tmp_path / "demo", tmp_path / "copy")
    assert len({first, longer, renamed, other_text, DemoSource(tmp_path / "copy").fingerprint()}) == 5


def without(name: str) -> dict[str, Any]:
    changed = library()
    del changed[name]
    return changed


def with_(list_name: str, number: int, **members: object) -> dict[str, Any]:
    changed = library()
    changed[list_name][number].update(members)
    return changed


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "Expecting value"),
        (b"\xff\xfe\xff", "codec can't decode"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "the library is not an object"),
        (without("items"), "the library lacks items"),
        ({**library(), "surprise": 1}, "the library has surprise, which it may not"),
        ({**library(), "format": 2}, "its format is 2, not 1"),
        ({**library(), "as_of": "yesterday"}, "yesterday"),
        ({**library(), "identity": 7}, "identity is not a text"),
        ({**library(), "items": {}}, "items is not a list"),
        ({**library(), "items": ["x"]}, "items[0] is not an object"),
        (with_("items", 0, key="nokey"), "in items[0], not a Zotero key: 'nokey'"),
        (with_("items", 0, title=None), "in items[0], title is not a text"),
        (with_("items", 0, tags=[1]), "in items[0], tags is not a list of texts"),
        (with_("items", 0, fields={"DOI": 1}), "in items[0], fields is not an object of texts"),
        (with_("items", 0, creators=[{"role": "author"}]), "in items[0], creators[0] lacks first, last"),
        (with_("items", 0, collections=["NOSUCH22"]), "DEMOITM2 is in the collection NOSUCH22, which is none"),
        (with_("attachments", 1, key="DEMOPDF2"), "the key DEMOPDF2 is given 2 times"),
        (with_("attachments", 0, parent="NOSUCH22"), "DEMOPDF2 has the parent NOSUCH22, which is no item"),
        (with_("attachments", 0, linkMode="linked_file"), "in attachments[0], linkMode is not imported_file"),
        (with_("notes", 0, parent="DEMOPDF2"), "DEMONTE2 has the parent DEMOPDF2, which is no item"),
        (with_("annotations", 0, type="stamp"), "in annotations[0], type is 'stamp'"),
        (with_("annotations", 0, pageIndex="3"), "in annotations[0], pageIndex is neither null nor a number"),
        (with_("annotations", 0, pageIndex=True), "in annotations[0], pageIndex is neither null nor a number"),
        (with_("annotations", 0, attachment="DEMOITM2"), "DEMOANN2 annotates DEMOITM2, which is no attachment"),
        (with_("collections", 1, parent="NOSUCH22"), "the collection DEMOSUB2 is in NOSUCH22, which is none"),
    ],
)
@pytest.mark.req("Z-1")
def test_what_is_wrong_with_it_is_told_with_the_file_and_the_place(
    content: dict[str, Any] | bytes, complaint: str, tmp_path: Path
) -> None:
    demo = made(tmp_path, content)
    with pytest.raises(ZoteroUnavailable) as refused:
        demo.snapshot()
    sentence = str(refused.value)
    assert sentence.startswith(f"The demo library is damaged: in {tmp_path / 'library.json'}, ")
    assert complaint in sentence
    assert sentence.endswith(".")


@pytest.mark.parametrize(
    "ask", [lambda demo: demo.identity, lambda demo: demo.fingerprint(), lambda demo: demo.snapshot()]
)
@pytest.mark.req("Z-1")
def test_a_demo_library_that_is_not_there(ask: Callable[[DemoSource], object], tmp_path: Path) -> None:
    demo = DemoSource(tmp_path / "gone")
    with pytest.raises(ZoteroUnavailable, match="cannot be read") as refused:
        ask(demo)
    assert str(tmp_path / "gone" / "library.json") in str(refused.value)
