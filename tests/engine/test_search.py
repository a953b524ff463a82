"""Searching the library: all words first, each text once, and words found nowhere named (A-3, Z-6)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bibgenie_desktop.engine.library.search import MOST_TERMS, search_library
from bibgenie_desktop.sessions.locators import PageLocator
from tests.documents.pdfs import pdf_of
from tests.engine.running import running
from tests.engine.scripted import ScriptedModel
from tests.engine.shelf import Shelf, make_shelf, put
from tests.zotero.databases import EmptiedDatabase


@pytest.mark.req("A-3")
async def test_passages_with_all_words_come_before_those_with_some(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        assert room.index.library is not None
        both = await search_library(room.index.library, "remark tides", limit=10)
        one = await search_library(room.index.library, "tides remark", limit=1)
        plural = await search_library(room.index.library, "REMARKS?", limit=10)
    assert both.hits[0].text == "Part one ends with a remark on tides."
    assert len(both.hits) > 1
    assert not both.every_word
    assert (one.hits[0].text, one.every_word) == (both.hits[0].text, True)
    assert len(plural.hits) == 4
    assert plural.every_word


@pytest.mark.req("A-3")
async def test_the_same_text_in_two_files_is_found_once(tmp_path: Path) -> None:
    data = pdf_of(["A page label is the number printed on the page."])
    with EmptiedDatabase(tmp_path / "zotero") as database:
        for number in range(3):
            work = database.work(f"COPYWRK{number}", "Labels", creators=[("author", f"Pell{number}", "Jo")])
            key = f"COPYPDF{number}"
            database.attachment(key, put(tmp_path / "zotero", key, data), parent=work)
    shelf = await make_shelf(tmp_path / "zotero", tmp_path / "library.sqlite")
    async with running(shelf, tmp_path / "profile", ScriptedModel()) as room:
        assert room.index.library is not None
        found = await search_library(room.index.library, "printed label", limit=10)
    assert [isinstance(hit.locator, PageLocator) for hit in found.hits].count(True) == 1


@pytest.mark.req("A-3", "S-1")
async def test_a_pasted_text_is_searched_by_its_first_words(shelf: Shelf, tmp_path: Path) -> None:
    pasted = "tides " + " ".join(f"word{number}" for number in range(5_000))
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        assert room.index.library is not None
        found = await search_library(room.index.library, pasted, limit=10)
    assert len(found.terms) == MOST_TERMS
    assert len(found.nowhere) == MOST_TERMS - 1
    assert any("tides" in hit.text for hit in found.hits)


@pytest.mark.req("S-1", "A-3")
async def test_nothing_a_user_types_is_taken_for_syntax(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        library = room.index.library
        assert library is not None
        for hostile in (
            'tides" OR "x',
            "tides NEAR(bridges wells)",
            "text: tides*",
            "^tides -bridges",
            "(((",
            "'; DROP TABLE passage; --",
            "AND OR NOT",
            "tides\0bridges",
            "²³ ①",
            "e\u0301\u0301\u0301 \u200d",
        ):
            await search_library(library, hostile, limit=5)
        assert (await search_library(library, "!?… —", limit=5)).terms == ()


@pytest.mark.req("S-1", "A-3")
@settings(max_examples=40)
@given(words=st.lists(st.text(max_size=12), max_size=8))
async def test_any_words_can_be_searched(
    shelf: Shelf, tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    question = " ".join(words).encode("utf-8", "replace").decode()
    async with running(shelf, tmp_path_factory.mktemp("search"), ScriptedModel()) as room:
        assert room.index.library is not None
        found = await search_library(room.index.library, question, limit=5)
    assert len(found.hits) <= 5
    assert set(found.nowhere) <= {term.word for term in found.terms}
