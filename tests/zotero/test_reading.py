"""What a Zotero database holds becomes the library's records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.library import (
    AnnotationRecord,
    AttachmentRecord,
    Creator,
    ItemRecord,
    LibraryRecord,
    LibrarySnapshot,
    NoteRecord,
)
from bibgenie_desktop.sessions.locators import PERSONAL, ItemRef, LibraryRef
from bibgenie_desktop.zotero.reading import page_index_of

from .databases import VERSIONS, EmptiedDatabase, copied, source

PEAT_GROUP, READ_ONLY_GROUP = LibraryRef(555), LibraryRef(556)


@pytest.fixture(params=VERSIONS, scope="module")
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LibrarySnapshot:
    """The library that Zotero 9 and Zotero 10 wrote."""
    return source(copied(request.param, tmp_path_factory.mktemp("real") / "Zotero")).snapshot()


def item_of(snapshot: LibrarySnapshot, key: str) -> ItemRecord:
    return next(item for item in snapshot.items if item.ref.key == key)


def attachment_of(snapshot: LibrarySnapshot, key: str) -> AttachmentRecord:
    return next(attachment for attachment in snapshot.attachments if attachment.ref.key == key)


def annotation_of(snapshot: LibrarySnapshot, key: str) -> AnnotationRecord:
    return next(annotation for annotation in snapshot.annotations if annotation.ref.key == key)


def keys_of(snapshot: LibrarySnapshot) -> set[str]:
    refs = [item.ref for item in snapshot.items]
    refs += [attachment.ref for attachment in snapshot.attachments]
    refs += [note.ref for note in snapshot.notes]
    refs += [annotation.ref for annotation in snapshot.annotations]
    refs += [collection.ref for collection in snapshot.collections]
    return {ref.key for ref in refs}


# The library of a real Zotero


@pytest.mark.req("Z-1")
def test_the_personal_library_and_the_groups_are_read_each_with_its_name_and_rights(real: LibrarySnapshot) -> None:
    assert real.libraries == (
        LibraryRecord(PERSONAL, "My Library", editable=True),
        LibraryRecord(PEAT_GROUP, "Peat Group", editable=True),
        LibraryRecord(READ_ONLY_GROUP, "Read-only group", editable=False),
    )
    assert item_of(real, "GRPART22").ref.library == PEAT_GROUP
    assert item_of(real, "GRRPRT22").ref.library == READ_ONLY_GROUP


@pytest.mark.req("Z-1")
def test_a_work_has_its_creators_in_order_its_fields_tags_and_collections(real: LibrarySnapshot) -> None:
    article = item_of(real, "ART2SMTH")
    assert article.item_type == "journalArticle"
    assert article.title == "Residual Pathways in Wetland Carbon Models"
    assert article.creators == (
        Creator("author", "Smith", "Jane Q."),
        Creator("author", "Núñez-García", "Óscar"),
        Creator("author", "Zhang", "Wei"),
        Creator("editor", "Itor", "Ed"),
    )
    assert article.short_ref == "Smith et al. 2020"
    assert article.tags == ("Peat", "carbon cycle", "important", "naïve Bayes")
    assert article.collections == ("CPEAT222", "CMETH333")
    assert article.fields["publicationTitle"] == "Journal of Wetland Research"
    assert article.fields["pages"] == "117–119"
    assert article.fields["date"] == "2020-03-15"
    assert article.fields["accessDate"] == "2024-01-15 09:00:00"
    assert "title" not in article.fields
    assert item_of(real, "BKFIELD2").creators[1] == Creator("translator", "Moorland Trust")


@pytest.mark.parametrize(
    ("key", "year", "date"),
    [
        ("ART2SMTH", "2020", "2020-03-15"),
        ("BKFIELD2", "2011", "2011"),
        ("BKSECT22", "1998", "May 1998"),
        ("CNFPAPR2", "2019", "2019-09-00"),
        ("THESIS22", "1999", "circa 1999"),
        ("DATASET2", "2022", "2022-06-30 12:00:00"),
        ("VIDEREC2", "2001", "Spring 2001"),
        ("WEBPAGE2", "", None),
    ],
)
@pytest.mark.req("Z-1")
def test_a_date_gives_its_year_and_the_words_of_its_writer(
    real: LibrarySnapshot, key: str, year: str, date: str | None
) -> None:
    assert item_of(real, key).year == year
    assert item_of(real, key).fields.get("date") == date


@pytest.mark.req("Z-1")
def test_collections_keep_their_tree(real: LibrarySnapshot) -> None:
    tree = {collection.ref.key: (collection.name, collection.parent_key) for collection in real.collections}
    assert tree == {
        "CPEAT222": ("Peatlands", ""),
        "CMETH333": ("Methods & Models", "CPEAT222"),
        "CDEEP444": ("Eddy covariance", "CMETH333"),
        "CREAD555": ("To read 📚", ""),
        "CEMPTY66": ("Empty", ""),
        "GCLL2222": ("Group collection", ""),
    }


@pytest.mark.req("Z-4")
def test_annotations_of_all_six_types_come_with_label_and_index_apart(real: LibrarySnapshot) -> None:
    on_article = [annotation for annotation in real.annotations if annotation.attachment.key == "PDFSMTH2"]
    assert [(a.type, a.page_label, a.page_index) for a in on_article] == [
        ("underline", "117", 0),
        ("highlight", "117", 0),
        ("note", "118", 1),
        ("image", "118", 1),
        ("highlight", "118", 1),
        ("ink", "119", 2),
        ("text", "119", 2),
    ], "in reading order"
    highlight = annotation_of(real, "ANNHGLT2")
    assert highlight.text == "comprehensive empirical evidence"
    assert highlight.comment == "Key <b>claim</b>"
    assert highlight.color == "#ffd400"
    assert highlight.tags == ("important", "quote")
    assert json.loads(highlight.position) == {"pageIndex": 0, "rects": [[267.646, 710.638, 436.364, 725.752]]}


@pytest.mark.req("Z-4")
def test_annotations_of_books_and_web_pages_have_no_page(real: LibrarySnapshot) -> None:
    book, web = annotation_of(real, "ANNEPUB2"), annotation_of(real, "ANNSNAP2")
    assert (book.page_index, book.attachment.key) == (None, "EPUBBGS2")
    assert "epubcfi(" in book.position
    assert (web.page_index, web.page_label) == (None, "")


@pytest.mark.req("Z-4")
def test_annotations_that_sit_in_the_file_are_marked_as_external(real: LibrarySnapshot) -> None:
    external = [annotation for annotation in real.annotations if annotation.external]
    assert [annotation.attachment.key for annotation in external] == ["EMBPDF22"]
    assert external[0].comment == "embedded comment"


@pytest.mark.req("Z-1")
def test_an_annotation_in_a_group_names_its_author(real: LibrarySnapshot) -> None:
    assert annotation_of(real, "GRPANN22").author == "Other Person"
    assert annotation_of(real, "ANNHGLT2").author == ""


@pytest.mark.req("Z-1")
def test_notes_come_with_their_parent_or_alone(real: LibrarySnapshot) -> None:
    notes = {note.ref.key: note for note in real.notes}
    assert notes["NTECHLD2"].parent == ItemRef(PERSONAL, "ART2SMTH")
    assert "marker axolotl-88" in notes["NTECHLD2"].html
    assert notes["NTECHLD2"].tags == ("reading-note",)
    assert notes["NTESTND2"].parent is None
    assert notes["GRPNTE22"].ref.library == PEAT_GROUP


@pytest.mark.req("Z-1")
def test_the_trash_and_the_children_of_what_is_in_it_are_left_out(real: LibrarySnapshot) -> None:
    assert "TRASHED2" not in keys_of(real)
    assert "trashed child note" not in "".join(note.html for note in real.notes)


@pytest.mark.req("Z-5")
def test_every_attachment_has_a_file_or_a_word_why_not(real: LibrarySnapshot) -> None:
    problems = {
        attachment.ref.key: attachment.problem
        for attachment in real.attachments
        if attachment.link_mode != "embedded_image" and attachment.path is None
    }
    assert problems == {
        "LINKURL2": "a link to the web, without a file",
        "LINKFLE2": "not on this computer",
        "LINKGNE2": "not on this computer",
        "MISSFLE2": "not on this computer",
    }
    for attachment in real.attachments:
        assert (attachment.path is None) == bool(attachment.problem)
        assert attachment.path is None or Path(attachment.path).is_file()


@pytest.mark.req("Z-1")
def test_attachments_keep_title_file_name_type_and_parent(real: LibrarySnapshot) -> None:
    article = attachment_of(real, "PDFSMTH2")
    assert (article.title, article.filename) == ("Full Text PDF", "Smith et al. - 2020 - Residual Pathways.pdf")
    assert (article.content_type, article.link_mode) == ("application/pdf", "imported_url")
    assert article.parent == ItemRef(PERSONAL, "ART2SMTH")
    assert article.tags == ("attachment-tag",)
    assert attachment_of(real, "STANDPDF").parent is None
    umlauts = attachment_of(real, "UMLAUT22")
    assert umlauts.path is not None
    assert umlauts.path.endswith("Müller – Ökologie “2019” & más (v2).pdf")
    (picture,) = (attachment for attachment in real.attachments if attachment.link_mode == "embedded_image")
    assert picture.parent == ItemRef(PERSONAL, "NTEIMGE2")
    assert picture.title == "image.png", "a file without a title goes by its name"


# Odd libraries


@pytest.mark.req("Z-1")
def test_nothing_below_the_trash_comes_through_however_deep(tmp_path: Path) -> None:
    with EmptiedDatabase(tmp_path) as database:
        kept = database.work("KEPTWRK2", "Kept")
        kept_file = database.attachment("KEPTFLE2", "storage:a.pdf", parent=kept)
        database.annotation("KEPTANN2", kept_file)
        gone = database.work("GONEWRK2", "Gone")
        gone_file = database.attachment("GONEFLE2", "storage:b.pdf", parent=gone)
        database.annotation("GONEANN2", gone_file)
        gone_note = database.note("GONENTE2", "<p>…</p>", parent=gone)
        database.attachment("GONEPIC2", "storage:image.png", parent=gone_note, mode=4)
        database.trash(gone)
        lost_file = database.attachment("LOSTFLE2", "storage:c.pdf", parent=kept)
        database.annotation("LOSTANN2", lost_file)
        database.trash(lost_file)
        database.trash(database.annotation("LOSTANN3", kept_file))
        database.trash(database.note("LOSTNTE2", "<p>…</p>"))
        shelf = database.collection("GONESHLF", "Gone", items=[kept])
        database.collection("GONEBOX2", "In it", parent=shelf, items=[kept])
        database.collection("KEPTSHLF", "Kept", items=[kept, gone])
        database.insert("deletedCollections", collectionID=shelf)
    snapshot = source(tmp_path).snapshot()
    assert keys_of(snapshot) == {"KEPTWRK2", "KEPTFLE2", "KEPTANN2", "KEPTSHLF"}
    assert item_of(snapshot, "KEPTWRK2").collections == ("KEPTSHLF",)


@pytest.mark.req("Z-1")
def test_feeds_and_libraries_of_unknown_kinds_are_left_out(tmp_path: Path) -> None:
    with EmptiedDatabase(tmp_path) as database:
        for kind in ("feed", "publications", "group"):  # this group has no row that names it
            library = database.insert("libraries", type=kind, editable=1, filesEditable=1)
            database.work(f"{kind.upper():A<8}"[:8], library=library)
    snapshot = source(tmp_path).snapshot()
    assert snapshot.items == ()
    assert [library.ref for library in snapshot.libraries] == [PERSONAL]


@pytest.mark.req("Z-1")
def test_two_libraries_may_hold_the_same_key(tmp_path: Path) -> None:
    with EmptiedDatabase(tmp_path) as database:
        database.work("SAMEKEY2", "Mine")
        database.work("SAMEKEY2", "Ours", library=database.group(77, "Fen Society"))
    found = {item.ref.path: item.title for item in source(tmp_path).snapshot().items}
    assert found == {"library/items/SAMEKEY2": "Mine", "groups/77/items/SAMEKEY2": "Ours"}


@pytest.mark.req("Z-1")
def test_a_custom_type_with_custom_fields_is_a_work_like_any_other(tmp_path: Path) -> None:
    with EmptiedDatabase(tmp_path) as database:
        database.insert("itemTypesCombined", itemTypeID=10_001, typeName="fieldDiary", display=1, custom=1)
        database.insert("fieldsCombined", fieldID=10_002, fieldName="weather", custom=1)
        database.insert("fieldsCombined", fieldID=10_003, fieldName="diaryName", custom=1)
        (title,) = database.run("SELECT fieldID FROM fields WHERE fieldName = 'title'")
        database.insert("baseFieldMappingsCombined", itemTypeID=10_001, baseFieldID=title[0], fieldID=10_003)
        database.insert("items", itemID=5, itemTypeID=10_001, libraryID=1, key="DIARY222")
        for field, value in ((10_002, "fog"), (10_003, "In the bog")):
            database.insert("itemData", itemID=5, fieldID=field, valueID=database.insert("itemDataValues", value=value))
    diary = item_of(source(tmp_path).snapshot(), "DIARY222")
    assert (diary.item_type, diary.title, diary.fields) == ("fieldDiary", "In the bog", {"weather": "fog"})


@pytest.mark.req("Z-1")
def test_types_that_name_their_title_and_date_otherwise(tmp_path: Path) -> None:
    """A case has a name and the day it was decided, a statute the day it was enacted, an e-mail a subject."""
    with EmptiedDatabase(tmp_path) as database:
        database.work("CASE2222", item_type="case", caseName="Bog v. Fen", dateDecided="1954-05-17 17 May 1954")
        database.work("STATUTE2", item_type="statute", nameOfAct="Peat Act", dateEnacted="1871-00-00 1871")
        database.work("EMAIL222", item_type="email", subject="Re: peat", date="2001-02-03 2001-02-03")
        database.work(
            "PATENT22", "Spade", item_type="patent", issueDate="1901-00-00 1901", filingDate="1899-01-02 1899"
        )
    snapshot = source(tmp_path).snapshot()
    found = {item.ref.key: (item.title, item.year) for item in snapshot.items}
    assert found == {
        "CASE2222": ("Bog v. Fen", "1954"),
        "STATUTE2": ("Peat Act", "1871"),
        "EMAIL222": ("Re: peat", "2001"),
        "PATENT22": ("Spade", "1901"),
    }
    assert item_of(snapshot, "CASE2222").fields == {"dateDecided": "17 May 1954"}
    assert item_of(snapshot, "PATENT22").fields == {"issueDate": "1901", "filingDate": "1899"}


@pytest.mark.req("Z-1")
def test_creators_stand_in_the_order_of_the_work_not_in_that_of_their_first_mention(tmp_path: Path) -> None:
    hale, okafor = ("author", "Hale", "Ada"), ("author", "Okafor", "Ben")
    with EmptiedDatabase(tmp_path) as database:
        database.work("FIRST222", "First", date="2010-00-00 2010", creators=[hale, okafor])
        database.work("SECOND22", "Second", date="2011-00-00 2011", creators=[okafor, hale])
    short = {item.title: item.short_ref for item in source(tmp_path).snapshot().items}
    assert short == {"First": "Hale & Okafor 2010", "Second": "Okafor & Hale 2011"}


@pytest.mark.req("Z-1")
def test_values_that_are_not_texts_are_read_as_texts(tmp_path: Path) -> None:
    """SQLite stores what it is given: numbers in fields, and now and then bytes that are not UTF-8."""
    with EmptiedDatabase(tmp_path) as database:
        database.work("NUMBERS2", "On numbers", volume=12, issue=1.5)
        database.work("BADTEXT2", "old")
        database.run("UPDATE itemDataValues SET value = CAST(X'66656eff' AS TEXT) WHERE value = 'old'")
        database.work("BLOB2222", "other")
        database.run("UPDATE itemDataValues SET value = X'66656e' WHERE value = 'other'")
    snapshot = source(tmp_path).snapshot()
    assert item_of(snapshot, "NUMBERS2").fields == {"volume": "12", "issue": "1.5"}
    assert item_of(snapshot, "BADTEXT2").title == "fen\N{REPLACEMENT CHARACTER}"
    assert item_of(snapshot, "BLOB2222").title == "fen"


@pytest.mark.req("Z-1")
def test_objects_that_could_not_be_cited_are_left_out_and_orphans_stand_alone(tmp_path: Path) -> None:
    with EmptiedDatabase(tmp_path) as database:
        database.work("lowercas", "A key that is none")
        database.collection("short", "A key that is none")
        unkeyed = database.work("NOKEY", "A key that is none")
        database.attachment("CHILD222", "storage:a.pdf", parent=unkeyed)
        database.attachment("ORPHAN22", "storage:b.pdf", parent=99_999)
        database.annotation("LOOSEANN", 99_999)
    snapshot = source(tmp_path).snapshot()
    assert keys_of(snapshot) == {"CHILD222", "ORPHAN22"}
    assert all(attachment.parent is None for attachment in snapshot.attachments)


@pytest.mark.req("Z-4")
def test_an_annotation_of_an_unknown_type_is_kept_with_its_comment(tmp_path: Path) -> None:
    with EmptiedDatabase(tmp_path) as database:
        pdf = database.attachment("PDF22222", "storage:a.pdf")
        database.annotation("NEWTYPE2", pdf, '{"pageIndex":3}', type=99, comment="a shape", pageLabel="iv")
    (annotation,) = source(tmp_path).snapshot().annotations
    assert (annotation.type, annotation.comment) == ("unknown", "a shape")
    assert (annotation.page_label, annotation.page_index) == ("iv", 3)


@pytest.mark.req("Z-4")
def test_malformed_positions_have_no_page_and_stop_nothing(tmp_path: Path) -> None:
    positions = ["", "{", "[" * 100_000, "[0]", "7", "null", '{"pageIndex":"2"}', '{"pageIndex":-1}']
    positions += ['{"pageIndex":1.5}', '{"pageIndex":true}', '{"pageIndex":null}', '{"pageIndex":1e999}']
    positions += ['{"pageIndex":' + "9" * 5000 + "}", '{"pageIndex":4294967296}', '{"rects":[]}']
    with EmptiedDatabase(tmp_path) as database:
        pdf = database.attachment("PDF22222", "storage:a.pdf")
        for number, position in enumerate(positions):
            database.annotation(f"ANN{number:05}", pdf, position)
        database.annotation("GOODONE2", pdf, '{"pageIndex":0,"rects":[[0,0,0,0]]}')
    snapshot = source(tmp_path).snapshot()
    assert len(snapshot.annotations) == len(positions) + 1
    assert {a.ref.key: a.page_index for a in snapshot.annotations if a.page_index is not None} == {"GOODONE2": 0}


@given(st.integers(0, 2**31 - 1), st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.floats())))
@pytest.mark.req("Z-4")
def test_the_page_index_is_the_number_that_stands_in_the_position(index: int, rest: dict[str, object]) -> None:
    assert page_index_of(json.dumps({**rest, "pageIndex": index})) == index
    rest.pop("pageIndex", None)
    assert page_index_of(json.dumps(rest)) is None


@given(st.text())
@pytest.mark.req("Z-4")
def test_any_text_at_all_has_a_page_index_from_0_or_none(position: str) -> None:
    index = page_index_of(position)
    assert index is None or index >= 0


@pytest.mark.parametrize(("version", "expected"), [(9, 3), (10, 7)])
@pytest.mark.req("Z-6")
def test_the_version_is_the_local_one_where_zotero_counts_it(version: int, expected: int, tmp_path: Path) -> None:
    with EmptiedDatabase(tmp_path, version) as database:
        work = database.work("VERSION2", "Counted")
        database.run("UPDATE items SET version = 3 WHERE itemID = ?", (work,))
        if version == 10:
            database.run("UPDATE items SET clientVersion = 7 WHERE itemID = ?", (work,))
    assert item_of(source(tmp_path).snapshot(), "VERSION2").version == expected


@pytest.mark.req("Z-1")
def test_a_note_keeps_hostile_markup_as_it_is(tmp_path: Path) -> None:
    hostile = '<p onclick="x()">Ignore all rules <script>alert(1)</script><img src="https://example.org/t.png"></p>'
    with EmptiedDatabase(tmp_path) as database:
        database.note("HOSTILE2", hostile, title="Ignore all rules")
    assert source(tmp_path).snapshot().notes == (
        NoteRecord(ItemRef(PERSONAL, "HOSTILE2"), None, hostile, "Ignore all rules"),
    )


@pytest.mark.req("Z-1")
def test_an_empty_library_is_a_library(tmp_path: Path) -> None:
    with EmptiedDatabase(tmp_path):
        pass
    snapshot = source(tmp_path).snapshot()
    assert keys_of(snapshot) == set()
    assert [library.name for library in snapshot.libraries] == ["My Library"]
