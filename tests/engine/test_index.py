"""The library index: built from real databases, updated by what changed, stopped without a loss (Z-5, Z-6, U-6)."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bibgenie_desktop.documents.pool import DocumentWorkers
from bibgenie_desktop.documents.port import DocumentInfo, DocumentReader, QuoteMatch
from bibgenie_desktop.engine.library.index import LibraryIndex
from bibgenie_desktop.engine.library.library import Library
from bibgenie_desktop.engine.library.search import search_library
from bibgenie_desktop.protocol.events import LibraryProgress
from bibgenie_desktop.sessions.library import PageText
from bibgenie_desktop.store.library import LibraryStore
from bibgenie_desktop.transport.child import ChildProcess
from bibgenie_desktop.zotero.port import LibrarySource
from tests.documents.pdfs import pdf_of, stalling_pdf
from tests.engine.shelf import index_over, put, start_worker, workers
from tests.zotero.databases import EmptiedDatabase, copied, everything_in, source


class CountingReader:
    """A reader that notes what it is asked for; the real one does the reading."""

    def __init__(self, reader: DocumentReader | None = None) -> None:
        self.asked: list[str] = []
        self._reader = reader or workers()

    async def read(
        self, path: str, *, first: int = 0, last: int | None = None
    ) -> AsyncGenerator[DocumentInfo | PageText, None]:
        self.asked.append(Path(path).parent.name)
        async with aclosing(self._reader.read(path, first=first, last=last)) as reading:
            async for read in reading:
                yield read

    async def find_quote(
        self, path: str, quote: str, *, page_index: int | None = None, limit: int = 5
    ) -> tuple[QuoteMatch, ...]:
        return await self._reader.find_quote(path, quote, page_index=page_index, limit=limit)

    def pause(self) -> None:
        self._reader.pause()

    def resume(self) -> None:
        self._reader.resume()

    async def close(self) -> None:
        await self._reader.close()


@dataclass(slots=True)
class Indexing:
    """An index while it is tested."""

    index: LibraryIndex
    store: LibraryStore
    reader: CountingReader
    told: list[LibraryProgress] = field(default_factory=list)
    remembered: list[str] = field(default_factory=list)

    @property
    def library(self) -> Library:
        assert self.index.library is not None
        return self.index.library

    async def states(self) -> dict[str, str]:
        rows = await self.store.attachments(self.library.source_id)
        return {row.record.ref.key: row.state for row in rows}

    async def found(self, words: str) -> list[str]:
        """Where these words are found: keys with pages."""
        result = await search_library(self.library, words, limit=20)
        return sorted({f"{_key(hit.locator)}" for hit in result.hits})


def _key(locator: object) -> str:
    for name in ("item", "annotation", "attachment"):
        ref = getattr(locator, name, None)
        if ref is not None:
            return str(ref.key)
    raise AssertionError(locator)


@asynccontextmanager
async def indexing(
    zotero: Path,
    cache: Path,
    *,
    reader: DocumentReader | None = None,
    open_source: Callable[[], LibrarySource] | None = None,
) -> AsyncIterator[Indexing]:
    store = await LibraryStore.open(cache)
    counting = CountingReader(reader)
    told: list[LibraryProgress] = []
    remembered: list[str] = []
    index = index_over(
        open_source or (lambda: source(zotero)),
        store,
        report=told.append,
        indexing=counting,
        remember=lambda read: remembered.append(read.kind),
    )
    try:
        yield Indexing(index, store, counting, told, remembered)
    finally:
        await index.close()
        await store.close()


def leaflets(directory: Path, *names: str) -> None:
    """A library of leaflets, each a work with a PDF that says its name: LEAF0000 with FILE0000, and so on."""
    with EmptiedDatabase(directory) as database:
        for number, name in enumerate(names):
            work = database.work(f"LEAF{number:04}", f"Leaflet {name}", creators=[("author", "Pell", "Jo")])
            path = put(directory, f"FILE{number:04}", pdf_of([f"This leaflet tells of {name} and of nothing else."]))
            database.attachment(f"FILE{number:04}", path, parent=work)


@pytest.mark.req("Z-6", "Z-1", "Z-5")
@pytest.mark.parametrize("version", [9, 10])
async def test_a_real_library_is_indexed_with_its_files_notes_and_annotations(tmp_path: Path, version: int) -> None:
    zotero = copied(version, tmp_path / "zotero")
    before = everything_in(zotero)
    async with indexing(zotero, tmp_path / "library.sqlite") as room:
        await room.index.refresh()
        states = await room.states()
        counts = await room.store.counts(room.library.source_id)
        found = {words: await room.found(words) for words in ("residual networks", "group note", "sticky", "sphagnum")}
    assert room.told[-1].state == "ready"
    assert {key for key, state in states.items() if state == "indexed"} >= {
        "PDFSMTH2",
        "PDFBKCH2",
        "UMLAUT22",
        "EPUBBGS2",
        "EMBPDF22",
        "GRPPDF22",
    }
    assert (states["STANDPDF"], states["ENCRPDF2"], states["CRRPTPDF"]) == ("no_text", "encrypted", "damaged")
    assert (states["CSVFLE22"], states["MISSFLE2"], states["LINKURL2"]) == ("unsupported", "missing", "no_file")
    assert counts.items == 15
    assert counts.waiting == 0
    assert "PDFSMTH2" in found["residual networks"]
    assert "GRPNTE22" in found["group note"]
    assert "ANNNTE22" in found["sticky"]
    assert {"EPUBBGS2", "BKSECT22"} <= set(found["sphagnum"])
    assert room.remembered == ["sqlite"]
    assert everything_in(zotero) == before


@pytest.mark.req("Z-6")
@pytest.mark.parametrize("version", [9, 10])
async def test_a_second_look_at_an_unchanged_library_reads_nothing(tmp_path: Path, version: int) -> None:
    """Neither the database is copied nor a file opened; not in a new process either."""
    zotero = copied(version, tmp_path / "zotero")
    async with indexing(zotero, tmp_path / "library.sqlite") as room:
        await room.index.refresh()
        assert len(room.reader.asked) == len(set(room.reader.asked)) >= 10
        room.reader.asked.clear()
        room.told.clear()
        await room.index.refresh()
        assert (room.reader.asked, [each.state for each in room.told]) == ([], ["ready"])
    async with indexing(zotero, tmp_path / "library.sqlite") as again:
        await again.index.refresh()
        assert (again.reader.asked, [each.state for each in again.told]) == ([], ["ready"])
        assert await again.found("residual networks")


@pytest.mark.req("Z-6", "U-6")
async def test_progress_is_told_in_order(tmp_path: Path) -> None:
    leaflets(tmp_path / "zotero", "tides", "bridges", "wells")
    async with indexing(tmp_path / "zotero", tmp_path / "library.sqlite") as room:
        assert room.index.progress.state == "none"
        await room.index.refresh()
        assert room.index.progress == room.told[-1]
    assert [(each.state, each.done, each.total) for each in room.told] == [
        ("reading", 0, 0),
        ("indexing", 0, 3),
        ("indexing", 1, 3),
        ("indexing", 2, 3),
        ("ready", 3, 3),
    ]
    assert room.told[1].sentence == "Indexing document 1 of 3…"
    assert room.told[-1].sentence == "3 works with 3 pages indexed."


@pytest.mark.req("Z-6")
async def test_a_file_that_changed_is_read_anew_and_no_other(tmp_path: Path) -> None:
    zotero = tmp_path / "zotero"
    leaflets(zotero, "tides", "bridges")
    async with indexing(zotero, tmp_path / "library.sqlite") as room:
        await room.index.refresh()
        (zotero / "storage" / "FILE0001" / "file.pdf").write_bytes(pdf_of(["It tells of lighthouses now."]))
        room.reader.asked.clear()
        await room.index.refresh()
        assert room.reader.asked == ["FILE0001"]
        assert await room.found("lighthouses") == ["FILE0001"]
        assert await room.found("bridges") == ["LEAF0001"]


@pytest.mark.req("Z-6")
async def test_what_left_the_library_or_the_disk_leaves_the_index(tmp_path: Path) -> None:
    zotero = tmp_path / "zotero"
    leaflets(zotero, "tides", "bridges", "wells")
    async with indexing(zotero, tmp_path / "library.sqlite") as room:
        await room.index.refresh()
        connection = sqlite3.connect(zotero / "zotero.sqlite")
        connection.execute("INSERT INTO deletedItems (itemID) SELECT itemID FROM items WHERE key = 'LEAF0000'")
        connection.commit()
        connection.close()
        (zotero / "storage" / "FILE0001" / "file.pdf").unlink()
        room.reader.asked.clear()
        await room.index.refresh()
        assert room.reader.asked == []
        assert await room.found("tides") == []
        assert await room.found("bridges") == ["LEAF0001"]
        assert await room.found("wells") == ["FILE0002", "LEAF0002"]
        assert await room.states() == {"FILE0001": "missing", "FILE0002": "indexed"}


@pytest.mark.req("Z-6", "Z-5")
async def test_a_file_that_went_and_came_back_is_read_again(tmp_path: Path) -> None:
    """The database does not change with it."""
    zotero = tmp_path / "zotero"
    leaflets(zotero, "tides")
    path = zotero / "storage" / "FILE0000" / "file.pdf"
    data = path.read_bytes()
    async with indexing(zotero, tmp_path / "library.sqlite") as room:
        await room.index.refresh()
        path.unlink()
        await room.index.refresh()
        assert await room.states() == {"FILE0000": "missing"}
        await room.index.refresh()
        assert room.told[-1].total == 0
        path.write_bytes(data)
        await room.index.refresh()
        assert await room.states() == {"FILE0000": "indexed"}


@pytest.mark.req("Z-6", "T-6")
async def test_a_database_that_changes_while_its_files_are_read_is_read_again(tmp_path: Path) -> None:
    zotero = tmp_path / "zotero"
    leaflets(zotero, "tides", "bridges")
    changed: list[str] = []

    def report(progress: LibraryProgress) -> None:
        if progress.state == "indexing" and not changed:
            with sqlite3.connect(zotero / "zotero.sqlite") as connection:
                connection.execute("INSERT INTO deletedItems (itemID) SELECT itemID FROM items WHERE key = 'LEAF0001'")
            connection.close()
            changed.append("LEAF0001")

    store = await LibraryStore.open(tmp_path / "library.sqlite")
    index = index_over(lambda: source(zotero), store, report=report)
    await index.refresh()
    assert changed
    assert index.progress.state == "ready"
    await index.refresh()
    assert index.library is not None
    rows = await store.attachments(index.library.source_id)
    await index.close()
    await store.close()
    assert [row.record.ref.key for row in rows] == ["FILE0000"]


@pytest.mark.req("Z-6", "U-6")
async def test_a_stop_in_the_middle_keeps_what_was_done(tmp_path: Path) -> None:
    """The second file stalls its worker; the first is found at once, and the next time is not read again."""
    zotero = tmp_path / "zotero"
    leaflets(zotero, "tides", "bridges", "wells")
    stalling = zotero / "storage" / "FILE0001" / "file.pdf"
    good = stalling.read_bytes()
    stalling.write_bytes(stalling_pdf())
    second = asyncio.Event()

    store = await LibraryStore.open(tmp_path / "library.sqlite")
    index = index_over(lambda: source(zotero), store, report=lambda told: second.set() if told.done == 1 else None)
    refreshing = asyncio.create_task(index.refresh())
    await second.wait()
    refreshing.cancel()
    await asyncio.wait([refreshing])
    await index.close()
    await store.close()
    stalling.write_bytes(good)
    async with indexing(zotero, tmp_path / "library.sqlite") as room:
        await room.index.refresh()
        assert room.reader.asked == ["FILE0001", "FILE0002"]
        assert await room.found("tides") == ["FILE0000", "LEAF0000"]


@pytest.mark.req("Z-5", "Z-6")
async def test_a_file_that_stalls_becomes_a_problem_and_the_rest_is_indexed(tmp_path: Path) -> None:
    """It is read once more at the next look, behind all others, and then left alone until it changes."""
    zotero = tmp_path / "zotero"
    leaflets(zotero, "tides", "bridges", "wells")
    stalling = zotero / "storage" / "FILE0000" / "file.pdf"
    good = stalling.read_bytes()
    stalling.write_bytes(stalling_pdf())

    def impatient() -> DocumentWorkers:
        return DocumentWorkers(start_worker, patience=1.0, grace=0.1)

    async with indexing(zotero, tmp_path / "library.sqlite", reader=impatient()) as room:
        await room.index.refresh()
        assert await room.states() == {"FILE0000": "timeout", "FILE0001": "indexed", "FILE0002": "indexed"}
        assert room.told[-1].sentence == "3 works with 2 pages indexed; 1 file has no text to read."
    os.utime(zotero / "storage" / "FILE0002" / "file.pdf", ns=(1, 1))
    async with indexing(zotero, tmp_path / "library.sqlite", reader=impatient()) as room:
        await room.index.refresh()
        assert room.reader.asked == ["FILE0002", "FILE0000"]
        assert (await room.states())["FILE0000"] == "quarantined"
        await room.index.refresh()
        assert room.reader.asked == ["FILE0002", "FILE0000"]
        stalling.write_bytes(good)
        await room.index.refresh()
        assert (await room.states())["FILE0000"] == "indexed"


@pytest.mark.req("Z-5", "Z-6")
@pytest.mark.skipif(sys.platform == "win32", reason="a limit of POSIX ends the worker")
async def test_a_file_that_kills_its_worker_becomes_a_problem_and_the_rest_is_indexed(tmp_path: Path) -> None:
    """The system ends the worker in the middle of the file, as it would a crash."""
    zotero = tmp_path / "zotero"
    leaflets(zotero, "tides", "bridges", "wells")
    (zotero / "storage" / "FILE0000" / "file.pdf").write_bytes(stalling_pdf())
    limited = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (2, 2))"
    argv = [sys.executable, "-c", f"{limited}; from bibgenie_desktop.documents.worker import main; main()"]
    mortal = DocumentWorkers(lambda: ChildProcess.start(argv))
    async with indexing(zotero, tmp_path / "library.sqlite", reader=mortal) as room:
        await room.index.refresh()
        assert await room.states() == {"FILE0000": "crashed", "FILE0001": "indexed", "FILE0002": "indexed"}


@pytest.mark.req("Z-5", "Z-6")
@pytest.mark.expect_log("No reading process could be started")
async def test_files_wait_and_are_not_blamed_where_no_worker_can_be_started(tmp_path: Path) -> None:
    zotero = tmp_path / "zotero"
    leaflets(zotero, "tides", "bridges")

    async def refuse() -> ChildProcess:
        raise OSError(12, "Cannot allocate memory")

    for _ in range(3):
        async with indexing(zotero, tmp_path / "library.sqlite", reader=DocumentWorkers(refuse)) as room:
            await room.index.refresh()
            assert await room.states() == {"FILE0000": "waiting", "FILE0001": "waiting"}
    async with indexing(zotero, tmp_path / "library.sqlite") as room:
        await room.index.refresh()
        assert await room.states() == {"FILE0000": "indexed", "FILE0001": "indexed"}


@pytest.mark.req("Z-1", "Z-6")
async def test_a_library_that_cannot_be_read_is_told_in_one_sentence_and_tried_again(tmp_path: Path) -> None:
    zotero = tmp_path / "zotero"
    async with indexing(zotero, tmp_path / "library.sqlite") as room:
        await room.index.refresh()
        await room.index.metadata_ready()
        assert [each.state for each in room.told] == ["failed"]
        assert room.told[0].sentence.startswith("There is no Zotero database at")
        assert (room.index.library, room.remembered) == (None, [])
        leaflets(zotero, "tides")
        await room.index.refresh()
        assert room.told[-1].state == "ready"
        assert await room.found("tides") == ["FILE0000", "LEAF0000"]


@pytest.mark.req("Z-1", "Z-6")
async def test_two_sources_in_one_cache_are_never_mixed(tmp_path: Path) -> None:
    leaflets(tmp_path / "one", "tides")
    leaflets(tmp_path / "two", "bridges")
    async with indexing(tmp_path / "one", tmp_path / "library.sqlite") as room:
        await room.index.refresh()
    async with indexing(tmp_path / "two", tmp_path / "library.sqlite") as room:
        await room.index.refresh()
        assert await room.found("tides") == []
        assert await room.found("bridges") == ["FILE0000", "LEAF0000"]
    async with indexing(tmp_path / "one", tmp_path / "library.sqlite") as room:
        await room.index.refresh()
        assert room.reader.asked == []
        assert await room.found("tides") == ["FILE0000", "LEAF0000"]


@pytest.mark.req("U-4", "Z-6")
async def test_while_an_answer_streams_no_document_is_begun(tmp_path: Path) -> None:
    leaflets(tmp_path / "zotero", "tides", "bridges")
    async with indexing(tmp_path / "zotero", tmp_path / "library.sqlite") as room:
        room.index.pause()
        refreshing = asyncio.create_task(room.index.refresh())
        await room.index.metadata_ready()
        found = await room.found("bridges")
        assert found == ["LEAF0001"]
        assert (await room.states())["FILE0000"] == "waiting"
        room.index.resume()
        await refreshing
        assert await room.found("bridges") == ["FILE0001", "LEAF0001"]
