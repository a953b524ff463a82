"""Making the index equal to what a source holds, with as few changes as that takes (Z-6)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bibgenie_desktop.sessions.library import CollectionRecord, LibraryRecord, PageText
from bibgenie_desktop.sessions.locators import PERSONAL
from bibgenie_desktop.store.library import IndexCounts
from tests.store.indexes import (
    GROUP,
    Changes,
    check_full_text,
    file,
    mark,
    note,
    opened_index,
    pages,
    put,
    ref,
    rows,
    search,
    snapshot,
    texts,
    work,
)

LIBRARY = snapshot(
    work("w1", "Peat <i>bogs</i>", "On moss.", collections=("COLL2222",), tags=("wet", "north")),
    work("w2", "Fens", library=GROUP),
    file("f1", "/files/a.pdf", "w1", tags=("read",)),
    file("f2", None, "w1", problem="The file is missing."),
    note("n1", "<p>A <b>note</b> on sedges</p>", "w1"),
    mark("m1", "f1", "marked heather", "why?", page_index=3, page_label="iv", external=True, tags=("x",)),
    CollectionRecord(ref("coll"), "Wetlands"),
    libraries=(LibraryRecord(PERSONAL, "My Library"), LibraryRecord(GROUP, "Group")),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.sqlite"


@pytest.mark.req("Z-6")
async def test_a_library_comes_back_as_the_source_told_it(path: Path) -> None:
    async with opened_index(path) as store:
        source = await store.apply(LIBRARY, "f1")
        assert await store.source_id("f1") == source
        assert await store.source_id("f0") is None
        assert [await store.item(source, record.ref) for record in LIBRARY.items] == list(LIBRARY.items)
        attachments = await store.attachments(source)
        assert [row.record for row in attachments] == list(LIBRARY.attachments)
        assert [(row.state, row.reason) for row in attachments] == [
            ("waiting", ""),
            ("missing", "The file is missing."),
        ]
        assert await store.annotation(source, ref("m1")) == LIBRARY.annotations[0]
        assert await store.note(source, ref("n1")) == replace(LIBRARY.notes[0], html="A note on sedges")
        assert await store.collections(source) == list(LIBRARY.collections)
        files, notes, marks = await store.children(source, ref("w1"))
        assert ([row.record for row in files], len(notes), marks) == (
            list(LIBRARY.attachments),
            1,
            list(LIBRARY.annotations),
        )
        assert await store.counts(source) == IndexCounts(2, 2, 1, 0, 0, {"missing": 1})
    check_full_text(path)


@pytest.mark.req("Z-6")
async def test_an_unchanged_library_is_not_written_again(path: Path) -> None:
    async with opened_index(path) as store:
        source = await store.apply(LIBRARY, "f1")
        await put(store, source, "f1", "Peat grows.")
    changes = Changes(path)
    async with opened_index(path) as store:
        assert await store.apply(replace(LIBRARY, as_of="later"), "f2") == source
        assert await store.source_id("f2") == source
        assert await store.source_id("f1") is None
    assert changes.list() == []


@pytest.mark.req("Z-6")
async def test_only_what_differs_is_written(path: Path) -> None:
    """One work changed, one left, one came; the rest is not touched, and the pages stay."""
    before = snapshot(work("w1", "Peat"), work("w2", "Fens"), work("w3", "Moors"), file("f1", parent="w1"))
    after = snapshot(work("w1", "Peat bogs"), work("w2", "Fens"), work("w4", "Mires"), file("f1", parent="w1"))
    async with opened_index(path) as store:
        source = await store.apply(before, "f1")
        await put(store, source, "f1", "Sphagnum grows.", "It dies.")
    changes = Changes(path)
    async with opened_index(path) as store:
        await store.apply(after, "f2")
        assert changes.list() == [
            "delete item",
            "delete passage",
            "delete passage",
            "insert item",
            "insert passage",
            "insert passage",
            "update item",
        ]
        assert await texts(store, source, "sphagnum") == {"Sphagnum grows."}
        assert {row.kind for row in await search(store, source, "bogs mires fens")} == {"item"}
        assert await texts(store, source, "moors") == set()
        assert len(await search(store, source, "peat")) == 1
    check_full_text(path)


@pytest.mark.req("Z-6")
async def test_pages_stay_as_long_as_the_path_stays(path: Path) -> None:
    async with opened_index(path) as store:
        source = await store.apply(snapshot(file("f1", "/a.pdf")), "1")
        await put(store, source, "f1", "Peat grows.")
        retitled = replace(file("f1", "/a.pdf"), title="Scan", tags=("new",))
        await store.apply(snapshot(retitled), "2")
        row = await store.attachment(source, ref("f1"))
        assert row is not None
        assert (row.record, row.state, row.page_count, row.file_stamp) == (retitled, "indexed", 1, "1:1")
        assert await texts(store, source, "peat") == {"Peat grows."}

        await store.apply(snapshot(file("f1", "/b.pdf")), "3")
        row = await store.attachment(source, ref("f1"))
        assert row is not None
        assert (row.state, row.file_stamp) == ("waiting", "")
        assert await store.pages(row.id, 0, 9) == []
        assert await texts(store, source, "peat") == set()
    check_full_text(path)


@pytest.mark.req("Z-5", "Z-6")
async def test_a_file_that_goes_missing_loses_its_pages_and_gets_them_again(path: Path) -> None:
    async with opened_index(path) as store:
        source = await store.apply(snapshot(file("f1")), "1")
        await put(store, source, "f1", "Peat grows.")
        await store.apply(snapshot(file("f1", None, problem="It is gone.")), "2")
        row = await store.attachment(source, ref("f1"))
        assert row is not None
        assert (row.state, row.reason, row.record.problem) == ("missing", "It is gone.", "It is gone.")
        await store.apply(snapshot(file("f1", None, problem="The disk is away.")), "3")
        row = await store.attachment(source, ref("f1"))
        assert row is not None
        assert (row.state, row.reason) == ("missing", "The disk is away.")
        await store.apply(snapshot(file("f1")), "4")
        row = await store.attachment(source, ref("f1"))
        assert row is not None
        assert (row.state, row.reason) == ("waiting", "")
        assert await texts(store, source, "peat") == set()
    check_full_text(path)


@pytest.mark.req("Z-6")
@pytest.mark.parametrize("mode", ["linked_url", "embedded_image"])
async def test_what_never_had_a_file_is_no_problem(path: Path, mode: str) -> None:
    link = replace(file("f1", None), link_mode=mode)
    async with opened_index(path) as store:
        source = await store.apply(snapshot(link), "1")
        counts = await store.counts(source)
    assert (counts.attachments, counts.waiting, counts.problems) == (1, 0, {})


@pytest.mark.req("Z-5", "Z-6")
async def test_a_problem_takes_the_place_of_pages_and_pages_that_of_a_problem(path: Path) -> None:
    async with opened_index(path) as store:
        source = await store.apply(snapshot(file("f1")), "1")
        await put(store, source, "f1", "Peat grows.")
        row = await store.attachment(source, ref("f1"))
        assert row is not None
        await store.put_problem(row.id, "encrypted", "It asks for a password.", page_count=12, file_stamp="2:2")
        row = await store.attachment(source, ref("f1"))
        assert row is not None
        assert (row.state, row.reason, row.page_count, row.file_stamp) == (
            "encrypted",
            "It asks for a password.",
            12,
            "2:2",
        )
        assert await texts(store, source, "peat") == set()
        assert (await store.counts(source)).problems == {"encrypted": 1}
        check_full_text(path)
        await put(store, source, "f1", "Moss grows.")
        row = await store.attachment(source, ref("f1"))
        assert row is not None
        assert (row.state, row.reason, row.kind, row.page_count) == ("indexed", "", "pdf", 1)
        assert await texts(store, source, "moss") == {"Moss grows."}
    check_full_text(path)


@pytest.mark.req("Z-6")
async def test_pages_for_an_attachment_that_left_meanwhile_are_dropped(path: Path) -> None:
    async with opened_index(path) as store:
        source = await store.apply(snapshot(file("f1")), "1")
        row = await store.attachment(source, ref("f1"))
        assert row is not None
        await store.apply(snapshot(), "2")
        await store.put_pages(row.id, pages("Peat."), kind="pdf", page_count=1, file_stamp="1:1")
        await store.put_problem(row.id, "damaged", "It is damaged.")
        assert await texts(store, source, "peat") == set()
        assert await store.attachments(source) == []
    assert rows(path, "SELECT count(*) FROM page") == [(0,)]
    check_full_text(path)


@pytest.mark.req("Z-4", "Z-6")
async def test_pages_come_back_with_labels_and_places(path: Path) -> None:
    read = [
        PageText(0, "i", "Front.\n\nMatter."),
        PageText(1, "i", "The label occurs twice."),
        PageText(7, "", "No label; pages between were empty."),
        PageText(8, "Chapter 1", "One.\n\nTwo.", "ch1.xhtml", ((0, "epubcfi(/6/2)"), (6, "epubcfi(/6/4)"))),
    ]
    async with opened_index(path) as store:
        source = await store.apply(snapshot(file("f1")), "1")
        row = await store.attachment(source, ref("f1"))
        assert row is not None
        await store.put_pages(row.id, read, kind="epub", page_count=9, file_stamp="1:1")
        assert await store.pages(row.id, 0, 99) == read
        assert await store.pages(row.id, 1, 7) == read[1:3]
        assert await store.pages_labelled(row.id, "i") == [0, 1]
        assert await store.pages_labelled(row.id, "1") == []
        assert (await store.counts(source)).pages == 4


@pytest.mark.req("Z-6", "S-1")
async def test_no_character_hides_the_rest_of_a_page(path: Path) -> None:
    """SQLite's functions end a text at a NUL; astral and combining characters count as Python counts them."""
    text = "Before\0after moss.\n\n🙂🙂 e\u0301 " + "x" * 990 + "\n\nThe last paragraph has heather."
    async with opened_index(path) as store:
        source = await store.apply(snapshot(file("f1"), note("n1", "a\0b sedge")), "1")
        await put(store, source, "f1", text)
        assert await texts(store, source, "after") == {"Before after moss."}
        assert await texts(store, source, "heather") == {"The last paragraph has heather."}
        assert len(await texts(store, source, "sedge")) == 1
    check_full_text(path)


@pytest.mark.req("Z-1", "Z-6")
async def test_one_key_in_two_libraries_is_two_works(path: Path) -> None:
    mine, theirs = work("w1", "Peat"), work("w1", "Moss", library=GROUP)
    async with opened_index(path) as store:
        source = await store.apply(snapshot(mine, theirs), "1")
        assert await store.item(source, mine.ref) == mine
        assert await store.item(source, theirs.ref) == theirs
        await store.apply(snapshot(theirs), "2")
        assert await store.item(source, mine.ref) is None
        assert await store.item(source, theirs.ref) == theirs


@pytest.mark.req("Z-1", "Z-6")
async def test_two_sources_are_never_mixed(path: Path) -> None:
    """The same keys, other objects: what one source loses or gains is nothing to the other."""
    ours = snapshot(work("w1", "Peat bogs"), file("f1"), note("n1", "<p>our peat</p>"))
    theirs = snapshot(work("w1", "Peat fires"), file("f1"), note("n1", "<p>their peat</p>"), identity="zotero:b")
    async with opened_index(path) as store:
        one, two = await store.apply(ours, "1"), await store.apply(theirs, "2")
        assert one != two
        await put(store, one, "f1", "One peat page.")
        await put(store, two, "f1", "Two peat pages.")
        assert await texts(store, one, "peat") == {"our peat", "One peat page.", "Peat bogs\n\nJo Hale 2010"}
        assert await texts(store, two, "peat") == {"their peat", "Two peat pages.", "Peat fires\n\nJo Hale 2010"}
        assert await store.occurs(one, ['"fires"', '"bogs"']) == [False, True]
        assert await store.occurs(two, ['"fires"', '"bogs"']) == [True, False]
        assert (await store.counts(one)).pages == (await store.counts(two)).pages == 1
        await store.apply(snapshot(), "3")
        assert await texts(store, one, "peat") == set()
        assert len(await texts(store, two, "peat")) == 3
        assert [await store.source_id(fingerprint) for fingerprint in "123"] == [None, two, one]
    check_full_text(path)


@pytest.mark.req("Z-6")
async def test_an_annotation_is_found_by_its_text_and_its_comment(path: Path) -> None:
    async with opened_index(path) as store:
        source = await store.apply(LIBRARY, "1")
        assert await texts(store, source, "heather") == {"marked heather\nwhy?"}
        (found,) = await search(store, source, "heather")
        assert found.kind == "annotation"
        assert await store.by_rows("annotation", [found.owner_id]) == {found.owner_id: LIBRARY.annotations[0]}
        assert await store.by_rows("item", []) == {}
