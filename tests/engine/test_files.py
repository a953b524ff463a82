"""The file behind a citation's link: found by the library alone, or refused in a sentence (Z-2, Z-5, S-1)."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.engine.library.files import LONGEST_LINK, LONGEST_PATH, place_of
from bibgenie_desktop.protocol.codec import to_json
from bibgenie_desktop.protocol.commands import FindFile
from bibgenie_desktop.protocol.events import CommandFailed, FileFound
from bibgenie_desktop.sessions.locators import (
    LARGEST_GROUP_ID,
    PERSONAL,
    AnnotationLocator,
    ItemLocator,
    ItemRef,
    LibraryRef,
    Locator,
    PageLocator,
    SectionLocator,
)
from bibgenie_desktop.transport.served import MESSAGE_LIMIT
from bibgenie_desktop.zotero.links import build_link
from tests.documents.pdfs import pdf_of
from tests.engine.running import Running, running
from tests.engine.scripted import ScriptedModel
from tests.engine.shelf import Shelf, make_shelf, put
from tests.zotero.databases import EmptiedDatabase

PDF, BOOK = ItemRef(PERSONAL, "PDFLABL2"), ItemRef(PERSONAL, "EPUBBOG2")
GROUP_PDF = ItemRef(LibraryRef(555), "GROUPPD2")


async def found(room: Running, locator: Locator) -> tuple[str, int, str]:
    """The file's name, page and kind for a citation of this place; the link must come back as it was."""
    link = build_link(locator)
    await room.engine.handle(FindFile(link, request=6))
    told = room.last(FileFound)
    assert (told.link, told.request) == (link, 6)
    assert await asyncio.to_thread(os.path.isfile, told.path)
    return Path(told.path).name, told.page, told.kind


async def refused(room: Running, link: str) -> str:
    """The code of a refusal, whose sentence is one for the user."""
    before = len(room.told(FileFound))
    await room.engine.handle(FindFile(link, request=7))
    told = room.last(CommandFailed)
    assert (told.request, len(room.told(FileFound))) == (7, before)
    assert told.sentence.endswith(".")
    assert len(told.sentence.splitlines()) == 1
    return told.code


@pytest.mark.req("Z-2", "Z-4")
async def test_a_citation_leads_to_its_file_and_physical_page(shelf: Shelf, tmp_path: Path) -> None:
    """Printed page 1 of this file is its third page."""
    mark = ItemRef(PERSONAL, "ANNOTPG2")
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        assert await found(room, PageLocator(PDF, 2, "1")) == ("labels.pdf", 3, "pdf")
        assert await found(room, PageLocator(PDF, 0, "i")) == ("labels.pdf", 1, "pdf")
        assert await found(room, PageLocator(GROUP_PDF, 0)) == ("file.pdf", 1, "pdf")
        assert await found(room, AnnotationLocator(mark, PDF, 2)) == ("labels.pdf", 3, "pdf")
        # A link without a page gets the annotation's, if it is one of this file.
        assert await found(room, AnnotationLocator(mark, PDF)) == ("labels.pdf", 3, "pdf")
        assert await found(room, AnnotationLocator(mark, ItemRef(PERSONAL, "PDFTWIC2"))) == ("file.pdf", 0, "pdf")
        assert await found(room, AnnotationLocator(ItemRef(PERSONAL, "GONEANN2"), PDF)) == ("labels.pdf", 0, "pdf")
        # A page that the file does not have is none.
        assert await found(room, PageLocator(PDF, 6)) == ("labels.pdf", 0, "pdf")
        assert await found(room, SectionLocator(BOOK, 1, "two.xhtml", "epubcfi(/6/4!/4/2)")) == ("bogs.epub", 0, "epub")
        assert await found(room, SectionLocator(BOOK, 1, "two.xhtml")) == ("bogs.epub", 0, "epub")
        # An attachment that is cited as a whole is linked as an item.
        assert await found(room, ItemLocator(PDF)) == ("labels.pdf", 0, "pdf")
        # What holds no text to index can still be opened.
        assert await found(room, PageLocator(ItemRef(PERSONAL, "LOCKPDF2"), 0)) == ("file.pdf", 1, "pdf")


@pytest.mark.req("Z-2", "Z-5")
@pytest.mark.parametrize(
    ("link", "code"),
    [
        ("zotero://select/library/items/OKAFOR22", "no_attachment"),
        ("zotero://select/library/items/NOTEOKA2", "no_attachment"),
        ("zotero://select/library/collections/CPEAT222", "no_attachment"),
        ("zotero://select/library/items?itemKey=PDFLABL2,EPUBBOG2", "no_attachment"),
        ("zotero://open-pdf/library/items/NOSUCHPD?page=1", "not_in_library"),
        ("zotero://open-pdf/groups/9/items/PDFLABL2?page=1", "not_in_library"),
        ("zotero://open-pdf/library/items/GONEPDF2?page=1", "missing"),
        ("zotero://open-pdf/library/items/ZEROPDF2?page=1", "missing"),
        ("zotero://open-pdf/library/items/TABLECS2", "unsupported"),
        ("", "bad_link"),
        ("https://example.org/file.pdf", "bad_link"),
        ("file:///etc/passwd", "bad_link"),
        ("javascript:alert(1)", "bad_link"),
        ("zotero://open-pdf/library/items/../../etc/passwd", "bad_link"),
        ("zotero://open-pdf/library/items/PDFLABL2/../x", "bad_link"),
        ("zotero://open-pdf/library/items/PDFLABL2?page=1\n", "bad_link"),
        ('zotero://open-pdf/library/items/PDFLABL2?sel="', "bad_link"),
        ("zotero://open-pdf/library/items/PDFLABL2?sel=ü", "bad_link"),
        ("zotero://open-pdf/library/items/PDFLABL2?sel=" + "x" * LONGEST_LINK, "bad_link"),
    ],
)
async def test_a_link_without_a_file_is_refused_in_a_sentence(
    shelf: Shelf, tmp_path: Path, link: str, code: str
) -> None:
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        assert await refused(room, link) == code


@pytest.mark.req("Z-5", "S-1")
async def test_a_file_that_is_gone_and_a_program_called_a_pdf_are_not_named(tmp_path: Path) -> None:
    """A record may claim any type; the system starts what the file's name says."""
    zotero = tmp_path / "zotero"
    with EmptiedDatabase(zotero) as database:
        work = database.work("WORKWRK2", "A Work")
        database.attachment("STAYPDF2", put(zotero, "STAYPDF2", pdf_of(["Here."]), "Stay.PDF"), parent=work)
        database.attachment("GOESPDF2", put(zotero, "GOESPDF2", pdf_of(["Gone."])), parent=work)
        for number, name in enumerate(("run.exe", "run.desktop", "run.pdf.bat", "pdf", "page.html")):
            key = f"PROGRAM{number}"
            database.attachment(key, put(zotero, key, pdf_of(["Run."]), name), parent=work)
    shelf = await make_shelf(zotero, tmp_path / "library.sqlite")
    (zotero / "storage" / "GOESPDF2" / "file.pdf").unlink()
    async with running(shelf, tmp_path / "profile", ScriptedModel(), settled=False) as room:
        # Without waiting: the question for a file waits for the first reading by itself.
        assert await found(room, PageLocator(ItemRef(PERSONAL, "STAYPDF2"), 0)) == ("Stay.PDF", 1, "pdf")
        assert await refused(room, "zotero://open-pdf/library/items/GOESPDF2?page=1") == "missing"
        codes = [await refused(room, f"zotero://open-pdf/library/items/PROGRAM{number}?page=1") for number in range(5)]
        assert codes == ["unsupported"] * 5
        (zotero / "storage" / "STAYPDF2" / "Stay.PDF").unlink()
        (zotero / "storage" / "STAYPDF2" / "Stay.PDF").mkdir()
        assert await refused(room, "zotero://open-pdf/library/items/STAYPDF2?page=1") == "missing"


@pytest.mark.req("Z-1", "Z-5")
async def test_a_library_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    zotero = tmp_path / "zotero"
    zotero.mkdir()
    (zotero / "zotero.sqlite").write_bytes(b"no database" * 500)
    async with running(Shelf(zotero), tmp_path / "profile", ScriptedModel()) as room:
        assert await refused(room, "zotero://open-pdf/library/items/PDFLABL2?page=1") == "no_library"
        assert room.last(CommandFailed).sentence == room.index.progress.sentence


cfis = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=2000)
refs = st.builds(
    ItemRef, st.builds(LibraryRef, st.integers(0, LARGEST_GROUP_ID)), st.from_regex("[A-Z0-9]{8}", fullmatch=True)
)


@pytest.mark.req("Z-2")
@given(
    st.builds(PageLocator, refs, st.integers(0, 10**9))
    | st.builds(SectionLocator, refs, st.just(0), st.just(""), cfis.map("epubcfi({})".format))
    | st.builds(
        SectionLocator,
        refs,
        st.just(0),
        st.just(""),
        st.sampled_from(["💡", "ü"]).map(lambda c: f"epubcfi({c * 2000})"),
    )
)
def test_every_link_of_ours_is_taken_for_its_place_and_fits_a_message(locator: PageLocator | SectionLocator) -> None:
    """Also the longest that can be."""
    link = build_link(locator)
    place = place_of(link)
    assert place.attachment == locator.attachment
    assert place.page_index == (locator.page_index if isinstance(locator, PageLocator) else None)
    longest = FileFound(link, "\x01" * LONGEST_PATH, 10**9, "pdf")
    assert len(json.dumps(to_json(longest), ensure_ascii=False).encode()) < MESSAGE_LIMIT
