"""The library's records: from library.toml and the built files to library.json.

The places of annotations are taken from the built files, so that they are right by construction: rectangles in PDF
user space (points, y upwards), one a line of text; CFI ranges in the EPUB.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pymupdf

from .epub import Section, find_passage
from .source import BadSource

_KEY = re.compile(r"[23456789ABCDEFGHIJKLMNPQRSTUVWXYZ]{8}\Z")
_NOTE_SIZE = 22.0
_CFI = "http://www.idpf.org/epub/linking/cfi/epub-cfi.html"

Record = dict[str, Any]


def library_json(table: Mapping[str, Any], pdfs: Mapping[str, bytes], epubs: Mapping[str, tuple[Section, ...]]) -> str:
    """The text of library.json. `pdfs` and `epubs` are the built files by the keys of their attachments.

    Raises BadSource for a key that is not Zotero's, a key used twice, a reference to nothing, or a passage that does
    not stand where the table says.
    """
    library: Record = {
        "format": 1,
        "identity": table["identity"],
        "as_of": table["as_of"],
        "name": table["name"],
        "items": [_item(record) for record in table["items"]],
        "attachments": [{**record, "linkMode": "imported_file"} for record in table["attachments"]],
        "notes": [_note(record) for record in table["notes"]],
        "annotations": [_annotation(record, pdfs, epubs) for record in table["annotations"]],
        "collections": [{"parent": "", **record} for record in table["collections"]],
    }
    _check(library)
    return json.dumps(library, ensure_ascii=False, indent=1) + "\n"


def _item(record: Record) -> Record:
    names = ("key", "itemType", "title", "creators", "date", "fields", "tags", "collections")
    return {name: record[name] for name in names}


def _note(record: Record) -> Record:
    """A note as Zotero stores it, wrapped in the version of its schema."""
    html = f'<div class="zotero-note znv1"><div data-schema-version="9">{record["html"].strip()}</div></div>'
    return {
        "key": record["key"],
        "parent": record.get("parent"),
        "title": record["title"],
        "html": html,
        "tags": record["tags"],
    }


def _annotation(record: Record, pdfs: Mapping[str, bytes], epubs: Mapping[str, tuple[Section, ...]]) -> Record:
    attachment = record["attachment"]
    if attachment in epubs:
        passage = find_passage(epubs[attachment], record["text"])
        label, index, sort_index = "", None, passage.sort_index
        position: Record = {"type": "FragmentSelector", "conformsTo": _CFI, "value": passage.cfi}
    else:
        with pymupdf.open("pdf", pdfs[attachment]) as document:
            label, index = record["page"], _page_index(document, record["page"])
            rects, offset = _find(document[index], record["text"])
            height = float(document[index].mediabox.y1)
        if record["type"] == "note":  # in the margin, beside the first line of the passage
            x, top = rects[0][0] - _NOTE_SIZE - 12.0, rects[0][3]
            rects = [[x, round(top - _NOTE_SIZE, 3), x + _NOTE_SIZE, top]]
        position = {"pageIndex": index, "rects": rects}
        sort_index = f"{index:05d}|{offset:06d}|{int(height - max(rect[3] for rect in rects)):05d}"
    return {
        "key": record["key"],
        "attachment": attachment,
        "type": record["type"],
        "text": "" if record["type"] == "note" else record["text"],
        "comment": record.get("comment", ""),
        "color": record["color"],
        "pageLabel": label,
        "pageIndex": index,
        "sortIndex": sort_index,
        "position": json.dumps(position, separators=(",", ":")),
        "tags": record.get("tags", []),
    }


def _page_index(document: pymupdf.Document, label: str) -> int:
    """The index of the page with this label; in a file without labels, of the page with this number."""
    labels = [page.get_label() or str(page.number + 1) for page in document]
    if labels.count(label) != 1:
        raise BadSource(f"{labels.count(label)} pages have the label {label}")
    return labels.index(label)


def _find(page: pymupdf.Page, quote: str) -> tuple[list[list[float]], int]:
    """The rectangles of a passage, one a line, and how many characters of the page come before it."""
    height = float(page.mediabox.y1)
    text = ""
    boxes: list[tuple[float, ...] | None] = []  # of each character of `text`; None between lines
    for block in page.get_text("rawdict")["blocks"]:
        for line in block.get("lines", []):
            for character in (character for span in line["spans"] for character in span["chars"]):
                text += character["c"]
                boxes.append(tuple(character["bbox"]))
            text += " "
            boxes.append(None)
    if text.count(quote) != 1:
        raise BadSource(f"page {page.number} holds {text.count(quote)} passages that read: {quote}")
    start = text.index(quote)
    lines: list[list[tuple[float, ...]]] = [[]]
    for box in boxes[start : start + len(quote)]:
        if box is None:
            lines.append([])
        else:
            lines[-1].append(box)
    rects = [_union(line, height) for line in lines if line]
    return rects, sum(box is not None for box in boxes[:start])


def _union(boxes: list[tuple[float, ...]], height: float) -> list[float]:
    """The rectangle around boxes with y downwards, with y upwards."""
    edges: tuple[Callable[..., float], ...] = (min, min, max, max)
    x0, y0, x1, y1 = (edge(box[place] for box in boxes) for place, edge in enumerate(edges))
    return [round(x0, 3), round(height - y1, 3), round(x1, 3), round(height - y0, 3)]


def _check(library: Record) -> None:
    """Keys are Zotero's and unique, and lead somewhere."""
    kinds = ("items", "attachments", "notes", "annotations", "collections")
    keys = [record["key"] for kind in kinds for record in library[kind]]
    for key in keys:
        if not _KEY.match(key) or keys.count(key) > 1:
            raise BadSource(f"not a key of its own in Zotero's alphabet: {key}")
    known = {kind: {record["key"] for record in library[kind]} for kind in kinds}
    references = [
        *(("collections", key) for item in library["items"] for key in item["collections"]),
        *(("items", record["parent"]) for kind in ("attachments", "notes") for record in library[kind]),
        *(("attachments", annotation["attachment"]) for annotation in library["annotations"]),
        *(("collections", collection["parent"]) for collection in library["collections"]),
    ]
    for kind, key in references:
        if key and key not in known[kind]:
            raise BadSource(f"nothing among the {kind} has the key {key}")
