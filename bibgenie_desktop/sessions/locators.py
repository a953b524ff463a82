"""Locators: what finds a passage again.

Every key is scoped by its library, since two libraries may hold the same key (zotero-facts 0.6). A page index
counts from 0 and moves the reader; a page label is the number printed on the page and is only shown (Z-4).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

_KEY = re.compile(r"[A-Z0-9]{8}\Z")
_LIBRARY_PATH = re.compile(r"(?:library|groups/([1-9][0-9]{0,9}))\Z")

LARGEST_GROUP_ID = 9_999_999_999
"""Ten digits: what a citation token has room for."""


class MalformedLocator(ValueError):
    """A locator, a library path or a key that cannot be what it claims to be."""


def is_key(text: str) -> bool:
    """Whether `text` has the form of a Zotero key: eight capital letters or digits."""
    return _KEY.match(text) is not None


@dataclass(frozen=True, slots=True, order=True)
class LibraryRef:
    """A library: the personal one (`group_id` 0) or a group's.

    Raises MalformedLocator for a group id that is negative or above LARGEST_GROUP_ID.
    """

    group_id: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.group_id <= LARGEST_GROUP_ID:
            raise MalformedLocator(f"no group has the id {self.group_id}")

    @property
    def path(self) -> str:
        """The library as Zotero's links write it: `library` or `groups/<id>`."""
        return f"groups/{self.group_id}" if self.group_id else "library"

    @classmethod
    def from_path(cls, path: str) -> LibraryRef:
        """Read back what `path` gives. Raises MalformedLocator."""
        match = _LIBRARY_PATH.match(path)
        if match is None:
            raise MalformedLocator(f"not a library: {path!r}")
        return cls(int(match.group(1) or 0))


PERSONAL = LibraryRef()


@dataclass(frozen=True, slots=True, order=True)
class ItemRef:
    """One object of a library: a work, attachment, note, annotation or collection, by its key.

    Raises MalformedLocator for a key that is not eight capital letters or digits.
    """

    library: LibraryRef
    key: str

    def __post_init__(self) -> None:
        if not is_key(self.key):
            raise MalformedLocator(f"not a Zotero key: {self.key!r}")

    @property
    def path(self) -> str:
        """`library/items/KEY` or `groups/<id>/items/KEY`."""
        return f"{self.library.path}/items/{self.key}"

    @classmethod
    def from_path(cls, path: str) -> ItemRef:
        """Read back what `path` gives. Raises MalformedLocator."""
        library, separator, key = path.partition("/items/")
        if not separator:
            raise MalformedLocator(f"not an item: {path!r}")
        return cls(LibraryRef.from_path(library), key)


@dataclass(frozen=True, slots=True)
class ItemLocator:
    """A work as a whole, or a note: what is cited has no page."""

    item: ItemRef
    kind: Literal["item"] = "item"


@dataclass(frozen=True, slots=True)
class PageLocator:
    """A page of a PDF.

    `page_index` counts from 0. `page_label` is the number the file gives the page, "" if it gives none.
    `label_repeats` tells that another page of the file has the same label, so that it alone finds no page.
    """

    attachment: ItemRef
    page_index: int
    page_label: str = ""
    label_repeats: bool = False
    kind: Literal["page"] = "page"


@dataclass(frozen=True, slots=True)
class SectionLocator:
    """A place in an EPUB, which has no pages: spine index from 0, file inside the book, CFI, section title."""

    attachment: ItemRef
    spine_index: int
    href: str
    cfi: str = ""
    section_title: str = ""
    kind: Literal["section"] = "section"


@dataclass(frozen=True, slots=True)
class AnnotationLocator:
    """An annotation of a reader; its page where the attachment has pages, else `page_index` is None."""

    annotation: ItemRef
    attachment: ItemRef
    page_index: int | None = None
    page_label: str = ""
    kind: Literal["annotation"] = "annotation"


Locator: TypeAlias = ItemLocator | PageLocator | SectionLocator | AnnotationLocator


def locator_to_json(locator: Locator) -> dict[str, Any]:
    """The locator as a JSON object with its `kind`; `locator_from_json` reads it back."""
    match locator:
        case ItemLocator(item=item):
            return {"kind": "item", "item": item.path}
        case PageLocator():
            repeats = {"label_repeats": True} if locator.label_repeats else {}
            return {
                "kind": "page",
                "attachment": locator.attachment.path,
                "page_index": locator.page_index,
                "page_label": locator.page_label,
                **repeats,
            }
        case SectionLocator():
            return {
                "kind": "section",
                "attachment": locator.attachment.path,
                "spine_index": locator.spine_index,
                "href": locator.href,
                "cfi": locator.cfi,
                "section_title": locator.section_title,
            }
        case AnnotationLocator():
            return {
                "kind": "annotation",
                "annotation": locator.annotation.path,
                "attachment": locator.attachment.path,
                "page_index": locator.page_index,
                "page_label": locator.page_label,
            }


def locator_from_json(data: Mapping[str, Any]) -> Locator:
    """Read a locator. Raises MalformedLocator for anything that `locator_to_json` does not write."""
    try:
        match data["kind"]:
            case "item":
                return ItemLocator(ItemRef.from_path(data["item"]))
            case "page":
                return PageLocator(
                    ItemRef.from_path(data["attachment"]),
                    _index(data["page_index"]),
                    _text(data["page_label"]),
                    _truth(data.get("label_repeats", False)),
                )
            case "section":
                return SectionLocator(
                    ItemRef.from_path(data["attachment"]),
                    _index(data["spine_index"]),
                    _text(data["href"]),
                    _text(data["cfi"]),
                    _text(data["section_title"]),
                )
            case "annotation":
                page = data["page_index"]
                return AnnotationLocator(
                    ItemRef.from_path(data["annotation"]),
                    ItemRef.from_path(data["attachment"]),
                    None if page is None else _index(page),
                    _text(data["page_label"]),
                )
            case kind:
                raise MalformedLocator(f"unknown kind of locator: {kind!r}")
    except (KeyError, TypeError, AttributeError) as error:
        raise MalformedLocator(f"a locator lacks or misstates {error}") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise MalformedLocator(f"not text: {value!r}")
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise MalformedLocator(f"neither true nor false: {value!r}")
    return value


def _index(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise MalformedLocator(f"not an index from 0: {value!r}")
    return value
