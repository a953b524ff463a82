"""Locators: keys in their libraries, and their JSON, which is read strictly (Z-2, Z-4)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from bibgenie_desktop.sessions.locators import (
    LARGEST_GROUP_ID,
    PERSONAL,
    AnnotationLocator,
    ItemLocator,
    ItemRef,
    LibraryRef,
    Locator,
    MalformedLocator,
    PageLocator,
    SectionLocator,
    is_key,
    locator_from_json,
    locator_to_json,
)
from tests.sessions.damage import damaged
from tests.sessions.values import json_values, libraries, locators, refs

WORK = ItemRef(PERSONAL, "ABCD2345")
PDF = ItemRef(LibraryRef(555), "PDFS2345")

EXAMPLES: list[tuple[Locator, dict[str, Any]]] = [
    (ItemLocator(WORK), {"kind": "item", "item": "library/items/ABCD2345"}),
    (
        PageLocator(PDF, 11, "xii"),
        {"kind": "page", "attachment": "groups/555/items/PDFS2345", "page_index": 11, "page_label": "xii"},
    ),
    (
        PageLocator(PDF, 11, "12", label_repeats=True),
        {
            "kind": "page",
            "attachment": "groups/555/items/PDFS2345",
            "page_index": 11,
            "page_label": "12",
            "label_repeats": True,
        },
    ),
    (
        SectionLocator(WORK, 3, "text/ch3.xhtml", "epubcfi(/6/8!/4/2)", "Chapter 3"),
        {
            "kind": "section",
            "attachment": "library/items/ABCD2345",
            "spine_index": 3,
            "href": "text/ch3.xhtml",
            "cfi": "epubcfi(/6/8!/4/2)",
            "section_title": "Chapter 3",
        },
    ),
    (
        AnnotationLocator(WORK, PDF),
        {
            "kind": "annotation",
            "annotation": "library/items/ABCD2345",
            "attachment": "groups/555/items/PDFS2345",
            "page_index": None,
            "page_label": "",
        },
    ),
]


@pytest.mark.req("Z-2")
@pytest.mark.parametrize(("locator", "data"), EXAMPLES)
def test_a_locator_is_stored_in_the_documented_form(locator: Locator, data: dict[str, Any]) -> None:
    assert locator_to_json(locator) == data
    assert locator_from_json(data) == locator


@pytest.mark.req("Z-2")
@given(locators)
def test_every_locator_comes_back_from_its_json(locator: Locator) -> None:
    assert locator_from_json(json.loads(json.dumps(locator_to_json(locator)))) == locator


@pytest.mark.req("T-5")
@given(damaged(locators.map(locator_to_json)))
def test_a_locator_with_one_wrong_or_missing_value_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(MalformedLocator):
        locator_from_json(data)


@pytest.mark.req("T-5")
@given(json_values)
def test_anything_else_is_refused_in_the_same_way(data: Any) -> None:
    with pytest.raises(MalformedLocator):
        locator_from_json(data)


@given(libraries)
def test_a_library_comes_back_from_its_path(library: LibraryRef) -> None:
    assert LibraryRef.from_path(library.path) == library


@given(refs)
def test_an_object_comes_back_from_its_path(ref: ItemRef) -> None:
    assert ItemRef.from_path(ref.path) == ref


@pytest.mark.parametrize(
    "path",
    [
        "",
        "groups",
        "groups/",
        "groups/0",
        "groups/05",
        "groups/-1",
        "groups/1 ",
        "groups/1\n",
        "library\n",
        "users/1",
        "groups/٣",
        "groups/12345678901",
        "groups/" + "9" * 5000,
        "Library",
        "library/",
    ],
)
def test_a_path_that_names_no_library_is_refused(path: str) -> None:
    """Digits of other scripts and endless ones too: whatever is accepted is written back the same."""
    with pytest.raises(MalformedLocator):
        LibraryRef.from_path(path)


@pytest.mark.parametrize(
    "key", ["", "ABCD234", "ABCD23456", "abcd2345", "ABCD234\n", "ABCD-345", "ÄBCD2345", "ABCD234５"]
)
def test_what_is_no_key_makes_no_reference(key: str) -> None:
    assert not is_key(key)
    with pytest.raises(MalformedLocator):
        ItemRef(PERSONAL, key)
    with pytest.raises(MalformedLocator):
        ItemRef.from_path(f"library/items/{key}")


@pytest.mark.parametrize("group", [-1, LARGEST_GROUP_ID + 1])
def test_a_group_has_an_id_that_a_token_can_name(group: int) -> None:
    with pytest.raises(MalformedLocator):
        LibraryRef(group)


@pytest.mark.req("Z-4")
@pytest.mark.parametrize("index", [-1, True, 7.0, "7", None])
def test_a_page_index_is_a_number_from_0(index: object) -> None:
    data = {"kind": "page", "attachment": PDF.path, "page_index": index, "page_label": "7"}
    with pytest.raises(MalformedLocator):
        locator_from_json(data)
