"""Reading the source and indexing its documents, in the background and with progress (Z-6, U-6).

Two steps: the metadata is made equal to the source's (quick, and skipped when the source did not change); then the
text of each new or changed file is read by the workers and indexed. Every document is committed by itself, so that
a stop loses nothing that was done.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ...documents.port import DocumentInfo, DocumentProblem, DocumentReader
from ...documents.problems import problem
from ...protocol.events import LibraryProgress, LibraryState
from ...sessions.library import PageText
from ...store.database import StoreUnavailable
from ...store.library import IndexCounts, LibraryStore
from ...store.library_rows import AttachmentRow
from ...zotero.port import LibrarySource, ZoteroUnavailable
from .library import Library

_log = logging.getLogger(__name__)

_STRUCK = ("crashed", "timeout")
"""What the worker's fault may have been, or the machine's: such a file is read once more, at the next refresh."""


class LibraryIndex:
    """Keeps the index of one source up to date.

    `refresh` may be called again at any time; it ends early where nothing changed. Progress is told to `report`.
    Documents are indexed through one reader and read for a question through another, so that a question never waits
    for the document that is being indexed. `remember` is told of the source once it could be read; it runs in the
    source's thread.
    """

    def __init__(
        self,
        *,
        open_source: Callable[[], LibrarySource],
        store: LibraryStore,
        indexing: DocumentReader,
        reading: DocumentReader,
        report: Callable[[LibraryProgress], None],
        remember: Callable[[LibrarySource], None],
    ) -> None:
        self._open_source = open_source
        self._remember = remember
        self._store = store
        self._indexing = indexing
        self._reading = reading
        self._report = report
        # A source blocks and is used from one thread at a time.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="library-source")
        self._metadata_ready = asyncio.Event()
        self.title = "the library"
        self._is_demo = False
        self.library: Library | None = None
        self.progress = LibraryProgress("none", 0, 0, "The library has not been read yet.")

    async def refresh(self) -> None:
        """Read what changed and index it. Failures are told as progress, not raised."""
        self._metadata_ready.clear()
        try:
            await self._refresh()
        except (ZoteroUnavailable, StoreUnavailable) as error:
            self._tell("failed", 0, 0, str(error))
        finally:
            self._metadata_ready.set()

    async def metadata_ready(self) -> None:
        """Wait until the first reading of the source has ended, well or not."""
        await self._metadata_ready.wait()

    def pause(self) -> None:
        """Index no further page until `resume`: an answer streams."""
        self._indexing.pause()

    def resume(self) -> None:
        """Go on after `pause`."""
        self._indexing.resume()

    async def close(self) -> None:
        """End the document workers and release the source's thread."""
        await self._indexing.close()
        await self._reading.close()
        await asyncio.get_running_loop().run_in_executor(None, self._thread.shutdown)

    async def _refresh(self) -> None:
        loop = asyncio.get_running_loop()
        source = await loop.run_in_executor(self._thread, self._open_source)
        self.title, self._is_demo = source.title, source.kind == "demo"
        fingerprint = await loop.run_in_executor(self._thread, source.fingerprint)
        # An unchanged source is not opened at all: a database would have to be copied to be looked into.
        source_id = await self._store.source_id(fingerprint)
        if source_id is None:
            self._tell("reading", 0, 0, f"Reading {source.title}…")
            snapshot = await loop.run_in_executor(self._thread, source.snapshot)
            source_id = await self._store.apply(snapshot, fingerprint)
        await loop.run_in_executor(self._thread, self._remember, source)
        self.library = Library(self._store, source_id, self._reading)
        self._metadata_ready.set()
        await self._index_documents(source_id)

    async def _index_documents(self, source_id: int) -> None:
        rows = await self._store.attachments(source_id)
        stamps = await asyncio.get_running_loop().run_in_executor(self._thread, _stamps, rows)
        changed = [
            row
            for row in rows
            if row.record.path and (row.state in ("waiting", *_STRUCK) or row.file_stamp != stamps[row.id])
        ]
        changed.sort(key=lambda row: row.state in _STRUCK)
        for done, row in enumerate(changed):
            self._tell("indexing", done, len(changed), f"Indexing document {done + 1} of {len(changed)}…")
            if not await self._index(row, stamps[row.id]):
                break
        counts = await self._store.counts(source_id)
        self._tell("ready", len(changed), len(changed), _indexed(counts))

    async def _index(self, row: AttachmentRow, stamp: str) -> bool:
        """Read one document; False where no worker can be started, so that the rest must wait for another time."""
        path = row.record.path
        assert path is not None
        info = DocumentInfo("pdf", 0)
        pages: list[PageText] = []
        try:
            async for read in self._indexing.read(path):
                if isinstance(read, DocumentInfo):
                    info = read
                else:
                    pages.append(read)
        except DocumentProblem as error:
            if error.code == "no_worker":
                _log.error("%s", error)
                return False
            struck_again = error.code in _STRUCK and row.state in _STRUCK and row.file_stamp == stamp
            found = problem("quarantined") if struck_again else error
            _log.info("attachment %s: %s", row.record.ref.path, found.code)
            await self._store.put_problem(row.id, found.code, str(found), page_count=info.page_count, file_stamp=stamp)
            return True
        await self._store.put_pages(row.id, pages, kind=info.kind, page_count=info.page_count, file_stamp=stamp)
        return True

    def _tell(self, state: LibraryState, done: int, total: int, sentence: str) -> None:
        self.progress = LibraryProgress(state, done, total, sentence, self._is_demo)
        self._report(self.progress)


def _indexed(counts: IndexCounts) -> str:
    """What the index holds, in one sentence."""
    works = "1 work" if counts.items == 1 else f"{counts.items} works"
    pages = "1 page" if counts.pages == 1 else f"{counts.pages} pages"
    unread = sum(counts.problems.values())
    rest = "; 1 file has no text to read" if unread == 1 else f"; {unread} files have no text to read" if unread else ""
    return f"{works} with {pages} indexed{rest}."


def _stamps(rows: list[AttachmentRow]) -> dict[int, str]:
    """Size and modification time of each attachment's file; "gone" where there is none."""
    return {row.id: _stamp(row.record.path) for row in rows if row.record.path}


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return "gone"
    return f"{status.st_size}:{status.st_mtime_ns}"
