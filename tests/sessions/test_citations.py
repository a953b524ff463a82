"""Citation tokens and checked citations (Z-2, Z-3, Z-4)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.citations import (
    LONGEST_TOKEN,
    TOKEN,
    Citation,
    CitationTarget,
    MalformedCitation,
    parse_token,
    token_for,
)
from bibgenie_desktop.sessions.locators import (
    PERSONAL,
    AnnotationLocator,
    ItemLocator,
    ItemRef,
    LibraryRef,
    Locator,
    PageLocator,
    SectionLocator,
)
from tests.sessions.damage import damaged
from tests.sessions.values import citations, json_values, locators

WORK, PDF = ItemRef(PERSONAL, "ABCD2345"), ItemRef(LibraryRef(555), "PDFS2345")


def _target(locator: Locator) -> CitationTarget:
    match locator:
        case ItemLocator(item=ref) | AnnotationLocator(annotation=ref):
            return CitationTarget(ref)
        case PageLocator(attachment=ref, page_index=index):
            return CitationTarget(ref, page_index=index)
        case SectionLocator(attachment=ref, spine_index=index):
            return CitationTarget(ref, spine_index=index)


@pytest.mark.req("Z-2")
@given(locators)
def test_a_token_names_what_its_locator_names(locator: Locator) -> None:
    token = token_for(locator)
    assert parse_token(token) == _target(locator)
    assert len(token) <= LONGEST_TOKEN


@pytest.mark.req("Z-2")
@given(locators, st.text(), st.text())
def test_a_token_is_found_whole_inside_a_text(locator: Locator, before: str, after: str) -> None:
    token = token_for(locator)
    assert token in [found[0] for found in TOKEN.finditer(before + token + after)]


@pytest.mark.req("Z-2")
@pytest.mark.parametrize(
    ("token", "target"),
    [
        ("[[cite:ABCD2345]]", CitationTarget(WORK)),
        ("[[cite:ABCD2345@0]]", CitationTarget(WORK, page_index=0)),
        ("[[cite:ABCD2345@007]]", CitationTarget(WORK, page_index=7)),
        ("[[cite:groups/555/PDFS2345@s3]]", CitationTarget(PDF, spine_index=3)),
    ],
)
def test_the_forms_of_a_token(token: str, target: CitationTarget) -> None:
    assert parse_token(token) == target


@pytest.mark.req("Z-2")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "[[cite:]]",
        "[cite:ABCD2345]",
        "[[cite:abcd2345]]",
        "[[cite:ABCD2345@]]",
        "[[cite:ABCD2345@-1]]",
        "[[cite:ABCD2345@٣]]",
        "[[cite:ABCD2345@1234567]]",
        "[[cite:ABCD2345@x3]]",
        "[[cite:ABCD2345 @3]]",
        "[[cite:groups/0/ABCD2345]]",
        "[[cite:groups/٣/ABCD2345]]",
        "[[cite:groups/12345678901/ABCD2345]]",
        "[[cite:ABCD2345]]\n",
        "[[CITE:ABCD2345]]",
    ],
)
def test_what_is_no_token_is_text(text: str) -> None:
    assert parse_token(text) is None


@given(st.text())
def test_no_text_breaks_the_reading_of_tokens(text: str) -> None:
    target = parse_token(text)
    assert target is None or TOKEN.fullmatch(text)


@pytest.mark.req("Z-4")
@pytest.mark.parametrize(
    ("locator", "label"),
    [
        (PageLocator(PDF, 11, "xii"), "Okafor 2014, p. xii"),
        (PageLocator(PDF, 11), "Okafor 2014, PDF p. 12"),
        (PageLocator(PDF, 11, "3", label_repeats=True), "Okafor 2014, p. 3 (PDF p. 12)"),
        (AnnotationLocator(WORK, PDF, 11, "xii"), "Okafor 2014, p. xii"),
        (AnnotationLocator(WORK, PDF, 11), "Okafor 2014, PDF p. 12"),
        (AnnotationLocator(WORK, PDF), "Okafor 2014"),
        (SectionLocator(PDF, 3, "ch3.xhtml", section_title="Chapter 3"), "Okafor 2014, “Chapter 3”"),
        (SectionLocator(PDF, 3, "ch3.xhtml"), "Okafor 2014"),
        (ItemLocator(WORK), "Okafor 2014"),
        (None, "Okafor 2014"),
    ],
)
def test_a_label_says_p_only_for_a_printed_number(locator: Locator | None, label: str) -> None:
    assert Citation("[[cite:PDFS2345@11]]", "verified", "Okafor 2014", locator).label == label


@pytest.mark.req("Z-3")
@given(citations)
def test_every_citation_comes_back_from_its_json(citation: Citation) -> None:
    assert Citation.from_json(json.loads(json.dumps(citation.to_json()))) == citation


@pytest.mark.req("Z-3", "T-5")
@given(damaged(citations.map(Citation.to_json)))
def test_a_citation_with_one_wrong_or_missing_value_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(MalformedCitation):
        Citation.from_json(data)


@pytest.mark.req("Z-3", "T-5")
@given(json_values)
def test_anything_else_is_no_citation(data: Any) -> None:
    with pytest.raises(MalformedCitation):
        Citation.from_json(data)


@pytest.mark.req("Z-3")
def test_a_citation_is_never_in_a_state_of_its_own() -> None:
    data = Citation("[[cite:ABCD2345]]", "wrong", "Hale").to_json() | {"state": "probably"}
    with pytest.raises(MalformedCitation):
        Citation.from_json(data)
