"""Citations: what a model points at, and what the app found there (Z-2, Z-3).

A model never writes a link. It copies a citation token that a tool gave it, `[[cite:KEY@7]]`, into its answer; the
app turns the token into a short reference with the printed page and a link, and checks it. The forms:

    [[cite:KEY]]            a work, a note or an annotation
    [[cite:KEY@7]]          page index 7 (the eighth page) of a PDF attachment
    [[cite:KEY@s3]]         spine index 3 of an EPUB attachment
    [[cite:groups/555/KEY]] the same in a group's library
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from .locators import (
    AnnotationLocator,
    ItemLocator,
    ItemRef,
    LibraryRef,
    Locator,
    MalformedLocator,
    PageLocator,
    SectionLocator,
    locator_from_json,
    locator_to_json,
)

CitationState: TypeAlias = Literal["verified", "unverified", "wrong"]

TOKEN = re.compile(
    r"\[\[cite:(?:groups/(?P<group>[1-9][0-9]{0,9})/)?(?P<key>[A-Z0-9]{8})(?:@(?P<place>s?[0-9]{1,6}))?\]\]"
)
"""One whole citation token."""

LONGEST_TOKEN = len("[[cite:groups/1234567890/ABCDEFGH@s123456]]")
"""No token is longer: an unclosed `[[` with more behind it is text."""


class MalformedCitation(ValueError):
    """A stored citation that cannot be read."""


@dataclass(frozen=True, slots=True)
class CitationTarget:
    """What a token names: an object, and a page or section index where it has one."""

    ref: ItemRef
    page_index: int | None = None
    spine_index: int | None = None


def parse_token(token: str) -> CitationTarget | None:
    """What a citation token names, or None where the text is no token."""
    match = TOKEN.fullmatch(token)
    if match is None:
        return None
    ref = ItemRef(LibraryRef(int(match["group"] or 0)), match["key"])
    place = match["place"]
    if place is None:
        return CitationTarget(ref)
    if place.startswith("s"):
        return CitationTarget(ref, spine_index=int(place[1:]))
    return CitationTarget(ref, page_index=int(place))


def token_for(locator: Locator) -> str:
    """The token that cites `locator`."""
    match locator:
        case ItemLocator(item=ref):
            place = ""
        case AnnotationLocator(annotation=ref):
            place = ""
        case PageLocator(attachment=ref, page_index=index):
            place = f"@{index}"
        case SectionLocator(attachment=ref, spine_index=index):
            place = f"@s{index}"
    group = f"groups/{ref.library.group_id}/" if ref.library.group_id else ""
    return f"[[cite:{group}{ref.key}{place}]]"


@dataclass(frozen=True, slots=True)
class Citation:
    """One checked citation of an answer, kept beside its text.

    `token` stands in the text as the model wrote it. `short_ref` is author and year, or the title where neither is
    known. `locator` is None only where the key exists nowhere. `reason` says in a few words why the state is not
    `verified`. `quote` is the quoted passage that was looked for, "" where the answer quoted nothing there.
    """

    token: str
    state: CitationState
    short_ref: str
    locator: Locator | None = None
    reason: str = ""
    quote: str = ""

    @property
    def label(self) -> str:
        """The text of the link: short reference and page, such as `Okafor 2014, p. xii`.

        `p.` is followed by a printed number only. Where the file names none, `PDF p.` and the physical page counted
        from 1 say so (Z-4).
        """
        match self.locator:
            case PageLocator(page_label=label, page_index=index, label_repeats=True) if label:
                return f"{self.short_ref}, p. {label} (PDF p. {index + 1})"
            case PageLocator(page_label=label) | AnnotationLocator(page_label=label) if label:
                return f"{self.short_ref}, p. {label}"
            case PageLocator(page_index=index) | AnnotationLocator(page_index=int(index)):
                return f"{self.short_ref}, PDF p. {index + 1}"
            case SectionLocator(section_title=title) if title:
                return f"{self.short_ref}, “{title}”"
            case _:
                return self.short_ref

    def to_json(self) -> dict[str, Any]:
        """The form stored in a text part; see docs/data.md."""
        return {
            "token": self.token,
            "state": self.state,
            "short_ref": self.short_ref,
            "locator": None if self.locator is None else locator_to_json(self.locator),
            "reason": self.reason,
            "quote": self.quote,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Citation:
        """Read what `to_json` writes. Raises MalformedCitation."""
        try:
            token, state, short_ref, reason, quote = (
                data[key] for key in ("token", "state", "short_ref", "reason", "quote")
            )
            locator = data["locator"]
        except (KeyError, TypeError) as error:
            raise MalformedCitation(f"a citation lacks {error}") from error
        if state not in get_args(CitationState):
            raise MalformedCitation(f"unknown state of a citation: {state!r}")
        if not all(isinstance(value, str) for value in (token, short_ref, reason, quote)):
            raise MalformedCitation("a citation holds something else where text belongs")
        try:
            place = None if locator is None else locator_from_json(locator)
        except MalformedLocator as error:
            raise MalformedCitation(str(error)) from error
        return cls(token, state, short_ref, place, reason, quote)
