"""One worker reads documents; whatever a document does to it, the next one is read."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from bibgenie_desktop.documents.pool import PAGES_AHEAD, DocumentWorkers
from bibgenie_desktop.documents.port import DocumentInfo, DocumentProblem, DocumentReader
from bibgenie_desktop.sessions.library import PageText
from tests.documents.epubs import write_epub, xhtml
from tests.documents.pdfs import encrypted_pdf, labelled_pdf, numbered_pdf, pdf_of, scanned_pdf, stalling_pdf
from tests.documents.workers import Starter, document_workers, read_all, read_until_problem, texts

pytestmark = pytest.mark.req("Z-5")

SHORT = 2.0
"""A limit that a test means to reach, and that everything else keeps with ease."""


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


async def code_of(workers: DocumentWorkers, path: Path) -> str:
    return (await read_until_problem(workers, path))[1]


@pytest.mark.req("Z-4")
async def test_a_pdf_is_read_page_by_page_with_its_labels(tmp_path: Path) -> None:
    path = written(tmp_path / "labels.pdf", labelled_pdf(3, "<</Nums[0<</S/r>>2<</S/D/St 9>>]>>"))
    more = written(tmp_path / "many.pdf", numbered_pdf(4 * PAGES_AHEAD + 1))
    async with document_workers(Starter()) as workers:
        reader: DocumentReader = workers
        delivered = [each async for each in reader.read(str(more))]
        assert delivered[0] == DocumentInfo("pdf", 4 * PAGES_AHEAD + 1)
        assert delivered[1:] == [
            PageText(index, "", f"This is the text of page {index}.") for index in range(4 * PAGES_AHEAD + 1)
        ]
        pages, code = await read_until_problem(workers, path)
        assert [page.label for page in pages if isinstance(page, PageText)] == ["i", "ii", "9"]
        assert code == "no_text"


@pytest.mark.req("Z-4")
async def test_an_epub_is_read_section_by_section_with_anchors(tmp_path: Path) -> None:
    book = write_epub(tmp_path / "book.epub", {"one.xhtml": xhtml("<h1>One</h1><p>Text.</p>")})
    async with document_workers(Starter()) as workers:
        assert await read_all(workers, book) == [
            DocumentInfo("epub", 1),
            PageText(
                0,
                "One",
                "One\n\nText.",
                "OEBPS/one.xhtml",
                ((0, "epubcfi(/6/2!/4/2)"), (5, "epubcfi(/6/2!/4/4)")),
            ),
        ]


@pytest.mark.req("Z-4")
@pytest.mark.parametrize(
    ("first", "last", "indexes"),
    [(1, 2, [1, 2]), (3, 3, [3]), (2, 99, [2, 3]), (4, None, []), (2, 1, []), (10**6, None, [])],
)
async def test_a_range_of_pages_counts_from_0_and_includes_both_ends(
    tmp_path: Path, first: int, last: int | None, indexes: list[int]
) -> None:
    path = written(tmp_path / "four.pdf", numbered_pdf(4))
    async with document_workers(Starter()) as workers:
        info, *pages = [each async for each in workers.read(str(path), first=first, last=last)]
        assert info == DocumentInfo("pdf", 4)
        assert [page.index for page in pages if isinstance(page, PageText)] == indexes
        with pytest.raises(ValueError, match="count from 0"):
            await anext(workers.read(str(path), first=-1))


@pytest.mark.req("Z-3")
async def test_a_quote_is_looked_for_on_one_page_or_in_the_whole_document(tmp_path: Path) -> None:
    path = written(
        tmp_path / "quotes.pdf", pdf_of(["Nothing."], ["The quoted sentence."], ["Nothing."], ["The quoted sentence."])
    )
    book = write_epub(tmp_path / "book.epub", {"one.xhtml": xhtml("<p>The quoted sentence.</p>")})
    quote = "the QUOTED sentence"
    async with document_workers(Starter()) as workers:
        found = await workers.find_quote(str(path), quote)
        assert [match.page_index for match in found] == [1, 3]
        assert found[0].text == "The quoted sentence."
        assert len(found[0].rects) == 1
        assert found[0].cfi == ""
        assert await workers.find_quote(str(path), quote, page_index=0) == ()
        assert await workers.find_quote(str(path), quote, page_index=99) == ()
        assert await workers.find_quote(str(path), quote, page_index=3) == (found[1],)
        assert await workers.find_quote(str(path), quote, limit=1) == (found[0],)
        (in_book,) = await workers.find_quote(str(book), quote)
        assert (in_book.rects, in_book.cfi) == ((), "epubcfi(/6/2!/4/2)")
        with pytest.raises(ValueError, match="count from 0"):
            await workers.find_quote(str(path), quote, page_index=-1)


async def test_each_file_that_cannot_be_read_has_its_word_and_the_next_is_read_by_the_same_worker(
    tmp_path: Path,
) -> None:
    files = {
        "encrypted": encrypted_pdf(user="secret", owner="secret"),
        "damaged": b"%PDF-1.7\nand nothing more",
        "no_text": scanned_pdf(),
        "empty": b"",
        "unsupported": b"just text",
    }
    good = written(tmp_path / "good.pdf", numbered_pdf(1))
    starter = Starter()
    async with document_workers(starter) as workers:
        for code, data in files.items():
            assert await code_of(workers, written(tmp_path / f"{code}.pdf", data)) == code
            assert await texts(workers, good) == ["This is the text of page 0."]
        assert await code_of(workers, tmp_path / "nowhere.pdf") == "missing"
        with pytest.raises(DocumentProblem) as raised:
            await workers.find_quote(str(tmp_path / "encrypted.pdf"), "anything")
        assert raised.value.code == "encrypted"
        assert await workers.find_quote(str(tmp_path / "no_text.pdf"), "anything") == ()
    assert len(starter.started) == 1


async def test_a_scan_is_told_after_its_pages_and_only_when_all_of_it_was_read(tmp_path: Path) -> None:
    path = written(tmp_path / "scan.pdf", scanned_pdf())
    async with document_workers(Starter()) as workers:
        one_page = [each async for each in workers.read(str(path), first=1)]
        assert one_page[1:] == [PageText(1, "", "")]
        assert await read_until_problem(workers, path) == (
            [DocumentInfo("pdf", 2), PageText(0, "", ""), PageText(1, "", "")],
            "no_text",
        )


async def test_a_file_that_stalls_the_worker_costs_its_time_limit_and_the_next_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "stalls.pdf", stalling_pdf(good_pages=2, after=1))
    good = written(tmp_path / "good.pdf", numbered_pdf(1))
    starter = Starter()
    async with document_workers(starter, patience=SHORT) as workers:
        delivered, code = await read_until_problem(workers, path)
        assert (len(delivered), code) == (3, "timeout")
        assert starter.started[0].returncode is not None
        assert await texts(workers, good) == ["This is the text of page 0."]
    assert len(starter.started) == 2


async def killed_in_the_middle(workers: DocumentWorkers, starter: Starter, path: Path) -> str:
    """Kill the worker when it has delivered a page of `path` and is at the one that it never finishes."""
    async with aclosing(workers.read(str(path))) as reading:
        assert isinstance(await anext(reading), DocumentInfo)
        assert isinstance(await anext(reading), PageText)
        starter.started[-1].kill()
        with pytest.raises(DocumentProblem) as raised:
            await anext(reading)
    return raised.value.code


async def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    path = written(tmp_path / "stalls.pdf", stalling_pdf())
    good = written(tmp_path / "good.pdf", numbered_pdf(1))
    starter = Starter()
    async with document_workers(starter) as workers:
        assert await killed_in_the_middle(workers, starter, path) == "crashed"
        assert await texts(workers, good) == ["This is the text of page 0."]
    assert len(starter.started) == 2


async def test_a_file_that_ended_two_workers_is_left_alone_until_it_changes(tmp_path: Path) -> None:
    path = written(tmp_path / "stalls.pdf", stalling_pdf())
    good = written(tmp_path / "good.pdf", numbered_pdf(1))
    starter = Starter()
    async with document_workers(starter) as workers:
        assert await killed_in_the_middle(workers, starter, path) == "crashed"
        assert await killed_in_the_middle(workers, starter, path) == "crashed"
        assert await code_of(workers, path) == "quarantined"
        with pytest.raises(DocumentProblem, match="left alone until it changes"):
            await workers.find_quote(str(path), "anything")
        assert len(starter.started) == 2  # not tried

        assert await texts(workers, good) == ["This is the text of page 0."]
        path.write_bytes(numbered_pdf(2))
        os.utime(path, ns=(1, 1))
        assert len(await texts(workers, path)) == 2


async def test_leaving_early_stops_the_worker_at_its_next_page_and_keeps_it(tmp_path: Path) -> None:
    path = written(tmp_path / "many.pdf", numbered_pdf(10 * PAGES_AHEAD))
    starter = Starter()
    async with document_workers(starter) as workers:
        for pages in (0, 1, PAGES_AHEAD):
            async with aclosing(workers.read(str(path))) as reading:
                for _ in range(pages):
                    await anext(reading)
        assert len(await texts(workers, path)) == 10 * PAGES_AHEAD
    assert len(starter.started) == 1


async def test_leaving_a_page_that_never_ends_costs_the_worker_but_not_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "stalls.pdf", stalling_pdf())
    good = written(tmp_path / "good.pdf", numbered_pdf(1))
    starter = Starter()
    async with document_workers(starter, grace=0.1) as workers:
        for _ in range(3):
            async with aclosing(workers.read(str(path))) as reading:
                await anext(reading)
                await anext(reading)
        assert len(starter.started) == 3
        assert all(child.returncode is not None for child in starter.started)
        assert await texts(workers, good) == ["This is the text of page 0."]


async def test_a_cancelled_reader_leaves_usable_workers(tmp_path: Path) -> None:
    path = written(tmp_path / "stalls.pdf", stalling_pdf())
    good = written(tmp_path / "good.pdf", numbered_pdf(1))
    async with document_workers(Starter(), grace=0.1) as workers:
        at_the_stall = asyncio.Event()

        async def read_on() -> None:
            async with aclosing(workers.read(str(path))) as reading:
                async for each in reading:
                    if isinstance(each, PageText):
                        at_the_stall.set()

        stalled = asyncio.create_task(read_on())
        await at_the_stall.wait()
        waiting = asyncio.create_task(texts(workers, good))
        also_waiting = asyncio.create_task(workers.find_quote(str(good), "the text of page 0"))
        await asyncio.sleep(0)
        waiting.cancel()
        stalled.cancel()
        results = await asyncio.gather(stalled, waiting, also_waiting, return_exceptions=True)
        assert [type(result) for result in results] == [asyncio.CancelledError, asyncio.CancelledError, tuple]
        assert await texts(workers, good) == ["This is the text of page 0."]


async def test_a_reader_cancelled_twice_leaves_usable_workers(tmp_path: Path) -> None:
    """The second cancellation comes while the first one waits for the worker to stop."""
    path = written(tmp_path / "stalls.pdf", stalling_pdf())
    good = written(tmp_path / "good.pdf", numbered_pdf(1))
    starter = Starter()
    async with document_workers(starter) as workers:
        reading = workers.read(str(path))
        await anext(reading)
        await anext(reading)
        leaving = asyncio.create_task(reading.aclose())
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        assert await texts(workers, good) == ["This is the text of page 0."]
    assert len(starter.started) == 2


@pytest.mark.parametrize("turns", range(12))
async def test_a_reader_cancelled_at_any_moment_leaves_usable_workers(tmp_path: Path, turns: int) -> None:
    path = written(tmp_path / "many.pdf", numbered_pdf(2 * PAGES_AHEAD))
    async with document_workers(Starter()) as workers:
        task = asyncio.create_task(texts(workers, path))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert len(await texts(workers, path)) == 2 * PAGES_AHEAD


async def test_documents_are_read_one_at_a_time_in_the_order_of_asking(tmp_path: Path) -> None:
    paths = [written(tmp_path / f"{number}.pdf", numbered_pdf(3)) for number in range(4)]
    order: list[int] = []

    async def read(workers: DocumentWorkers, number: int) -> None:
        order.extend([number async for _ in workers.read(str(paths[number]))])

    starter = Starter()
    async with document_workers(starter) as workers:
        await asyncio.gather(*(read(workers, number) for number in range(4)))
    assert order == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4
    assert len(starter.started) == 1


async def test_a_pause_holds_the_reading_until_it_is_resumed(tmp_path: Path) -> None:
    """What other workers read meanwhile shows that there was time enough."""
    path = written(tmp_path / "many.pdf", numbered_pdf(5 * PAGES_AHEAD))
    starter = Starter()
    async with document_workers(starter) as workers, document_workers(Starter()) as others:
        workers.pause()
        reading = asyncio.create_task(texts(workers, path))
        await texts(others, path)
        assert not starter.started
        workers.resume()
        await reading

        pages = workers.read(str(path))
        await anext(pages)
        await anext(pages)
        workers.pause()
        next_page = asyncio.create_task(anext(pages))
        await texts(others, path)
        assert not next_page.done()
        workers.resume()
        assert (await next_page) == PageText(1, "", "This is the text of page 1.")
        await pages.aclose()


async def test_closing_ends_the_worker_whatever_it_does_and_tells_who_waits(tmp_path: Path) -> None:
    path = written(tmp_path / "stalls.pdf", stalling_pdf())
    starter = Starter()
    workers = DocumentWorkers(starter)
    at_the_stall = asyncio.Event()

    async def read_on() -> None:
        async for each in workers.read(str(path)):
            if isinstance(each, PageText):
                at_the_stall.set()

    tasks = [asyncio.create_task(read_on()), asyncio.create_task(texts(workers, path))]
    await at_the_stall.wait()
    await workers.close()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(result) for result in results] == ["The program is closing and reads no more documents."] * 2
    assert [child.returncode is None for child in starter.started] == [False]
    await workers.close()
    with pytest.raises(DocumentProblem, match="is closing"):
        await read_all(workers, path)


async def test_closing_ends_a_pause(tmp_path: Path) -> None:
    path = written(tmp_path / "one.pdf", numbered_pdf(1))
    workers = DocumentWorkers(Starter())
    workers.pause()
    reading = asyncio.create_task(texts(workers, path))
    await asyncio.sleep(0)
    await workers.close()
    with pytest.raises(DocumentProblem, match="is closing"):
        await reading


async def test_a_worker_that_died_while_nothing_was_read_is_no_fault_of_the_next_file(tmp_path: Path) -> None:
    path = written(tmp_path / "one.pdf", numbered_pdf(1))
    starter = Starter()
    async with document_workers(starter) as workers:
        for _ in range(3):
            assert await texts(workers, path) == ["This is the text of page 0."]
            starter.started[-1].kill()
            await starter.started[-1].close()
    assert len(starter.started) == 3


@pytest.mark.parametrize(
    "argv",
    [
        ("/nowhere/no-such-python",),
        (sys.executable, "-c", "print('no JSON')"),
        (sys.executable, "-c", "print('{}')"),
        (sys.executable, "-c", "pass"),
    ],
)
async def test_workers_that_do_not_start_are_told_and_no_fault_of_the_file(
    tmp_path: Path, argv: tuple[str, ...]
) -> None:
    path = written(tmp_path / "one.pdf", numbered_pdf(1))
    starter = Starter(argv)
    async with document_workers(starter) as workers:
        for _ in range(3):
            assert await code_of(workers, path) == "no_worker"
        starter.argv = Starter().argv
        assert await texts(workers, path) == ["This is the text of page 0."]
