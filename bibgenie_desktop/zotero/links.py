"""Zotero's own links: built for what is cited, and read back (Z-2).

A link names an attachment by its key and a page by its physical number from 1; printed page labels, titles and file
names inside a book are not part of it. Nothing here opens a link.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import parse_qs, quote

from ..sessions.locators import (
    PERSONAL,
    AnnotationLocator,
    ItemLocator,
    ItemRef,
    LibraryRef,
    Locator,
    MalformedLocator,
    PageLocator,
    SectionLocator,
)

_LONGEST = 32768
_LINK = re.compile(r"zotero://(select|open-pdf|open)/([^?#]*)(?:\?([^#]*))?(?:#.*)?\Z", re.IGNORECASE)
_LIBRARY = re.compile(r"(library|groups/\d{1,18})/(.+)\Z", re.ASCII)
# Before Zotero 5 a key came with the library's number in that one database: 0, later 1, for the personal one.
_OLD_KEY = re.compile(r"(\d+)_(.*)\Z", re.ASCII)
_PAGE = re.compile(r"[1-9]\d{0,9}\Z", re.ASCII)
_CFI = re.compile(r"epubcfi\([^\x00-\x1f\x7f\ud800-\udfff]{1,2000}\)\Z")
_SPINE = re.compile(r"epubcfi\(/6/(\d{1,6})(?!\d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class SelectLink:
    """Shows something in Zotero's list: items, a collection (and one item in it), or a saved search."""

    library: LibraryRef
    items: tuple[ItemRef, ...] = ()
    collection: ItemRef | None = None
    search: ItemRef | None = None

    @property
    def locator(self) -> Locator | None:
        """The one item, or None."""
        return ItemLocator(self.items[0]) if len(self.items) == 1 else None


@dataclass(frozen=True, slots=True)
class OpenLink:
    """Opens an attachment, at a place if it names one. `page_index` is from 0; `selector` is for web snapshots."""

    attachment: ItemRef
    page_index: int | None = None
    annotation: ItemRef | None = None
    cfi: str = ""
    selector: str = ""

    @property
    def locator(self) -> Locator | None:
        """The place as far as the link tells it: the annotation before the page; None for the file as a whole."""
        if self.annotation is not None:
            return AnnotationLocator(self.annotation, self.attachment, self.page_index)
        if self.page_index is not None:
            return PageLocator(self.attachment, self.page_index)
        spine = _SPINE.match(self.cfi)
        if spine and int(spine[1]) >= 2 and int(spine[1]) % 2 == 0:
            return SectionLocator(self.attachment, int(spine[1]) // 2 - 1, "", self.cfi)
        return None


ZoteroLink: TypeAlias = SelectLink | OpenLink


def build_link(locator: Locator) -> str:
    """The `zotero://` link that shows what `locator` names. Raises MalformedLocator where none can be built.

    An annotation in a PDF gets its page too: Zotero goes to the annotation, and to the page where it is gone.
    """
    match locator:
        case ItemLocator(item=item):
            return f"zotero://select/{item.path}"
        case PageLocator(attachment=attachment, page_index=page_index):
            return f"{_open(attachment)}?{_page(page_index)}"
        case SectionLocator(attachment=attachment, cfi=""):
            return _open(attachment)
        case SectionLocator(attachment=attachment, cfi=cfi):
            if not _CFI.match(cfi):
                raise MalformedLocator(f"not an EPUB CFI: {cfi!r}")
            return f"{_open(attachment)}?cfi={quote(cfi, safe='')}"
        case AnnotationLocator(annotation=annotation, attachment=attachment, page_index=page):
            if annotation.library != attachment.library:
                raise MalformedLocator(f"annotation {annotation.path} is not in the library of {attachment.path}")
            place = "" if page is None else f"{_page(page)}&"
            return f"{_open(attachment)}?{place}annotation={annotation.key}"


def parse_link(link: str) -> ZoteroLink:
    """Read a `zotero://` link in any form that Zotero ever wrote. Raises MalformedLocator for anything else.

    A page that is no number from 1 (Zotero's own exports hold `page=NaN`), an annotation that is no key and a CFI
    that is none are left out, as Zotero leaves them out: the link still opens its file.
    """
    match = _LINK.match(link) if len(link) <= _LONGEST else None
    if match is None:
        raise MalformedLocator(f"not a Zotero link: {link[:200]!r}")
    action, path, query = match[1].lower(), match[2], match[3] or ""
    values = {name: found[0] for name, found in parse_qs(query, errors="replace").items()}
    if action == "select":
        return _parse_select(path, values)
    return _parse_open(path, values)


def _parse_select(path: str, values: dict[str, str]) -> SelectLink:
    if path.startswith("items/"):
        item = _old_ref(path.removeprefix("items/"))
        return SelectLink(item.library, (item,))
    library, rest = _library_of(path)
    match rest.split("/"):
        case ["items"]:
            keys = [key for key in values.get("itemKey", "").split(",") if key]
            if not keys:
                raise MalformedLocator(f"the link selects no item: {path[:200]!r}")
            return SelectLink(library, tuple(ItemRef(library, key) for key in keys))
        case ["items", key]:
            return SelectLink(library, (ItemRef(library, key),))
        case ["collections", key]:
            return SelectLink(library, collection=ItemRef(library, key))
        case ["collections", key, "items", item_key]:
            return SelectLink(library, (ItemRef(library, item_key),), ItemRef(library, key))
        case ["searches", key]:
            return SelectLink(library, search=ItemRef(library, key))
    raise MalformedLocator(f"the link selects nothing known: {path[:200]!r}")


def _parse_open(path: str, values: dict[str, str]) -> OpenLink:
    page = values.get("page", "")
    if _OLD_KEY.match(path):
        old_key, _, old_page = path.partition("/")
        attachment, page = _old_ref(old_key), old_page or page
    else:
        library, rest = _library_of(path)
        match rest.split("/"):
            case ["items", key]:
                attachment = ItemRef(library, key)
            case _:
                raise MalformedLocator(f"the link opens nothing known: {path[:200]!r}")
    try:
        annotation = ItemRef(attachment.library, values["annotation"])
    except (KeyError, MalformedLocator):
        annotation = None
    cfi = values.get("cfi", "")
    return OpenLink(
        attachment,
        page_index=int(page) - 1 if _PAGE.match(page) else None,
        annotation=annotation,
        cfi=cfi if _CFI.match(cfi) else "",
        selector=values.get("sel", ""),
    )


def _library_of(path: str) -> tuple[LibraryRef, str]:
    match = _LIBRARY.match(path)
    if match is None:
        raise MalformedLocator(f"the link names no library: {path[:200]!r}")
    return LibraryRef.from_path(match[1]), match[2]


def _old_ref(text: str) -> ItemRef:
    match = _OLD_KEY.match(text)
    if match is None or match[1] not in {"0", "1"}:
        raise MalformedLocator(f"the link names a library by a number that only one database knows: {text[:200]!r}")
    return ItemRef(PERSONAL, match[2])


def _open(attachment: ItemRef) -> str:
    return f"zotero://open-pdf/{attachment.path}"


def _page(page_index: int) -> str:
    if page_index < 0:
        raise MalformedLocator(f"not a page index from 0: {page_index}")
    return f"page={page_index + 1}"
