"""The worker process: opens one document at a time, or draws a formula, and answers requests over JSON lines.

In, on stdin, one object a line:

    {"op": "read", "path", "first", "last", "pages", "patience"}      last is null for the end
    {"op": "find", "path", "quote", "first", "last", "limit", "pages", "patience"}
    {"op": "more", "pages"}      leave to send so many further page lines
    {"op": "stop"}               end the request
    {"op": "formula", "latex", "display", "seconds", "patience"}      seconds of work that the formula is worth

Out, on stdout: `{"ready": true}` once; then for each request `{"info": …}`, one `{"page": …}` or `{"matches": […]}` a
page, and as the last line `{"done": true}` or `{"problem": code}`; for a formula the one line `{"formula": …}`, null
where it cannot be drawn. A page line is sent only with leave, so that the other side can pause, stop, and never has
more than that many pages to hold. `patience` is the seconds that the other side waits for a line; the worker ends
itself after twice that, should the other side be gone. It ends when stdin does.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import asdict
from time import monotonic
from typing import Any, BinaryIO, Literal, Protocol, TypeAlias

from ..sessions.library import PageText
from .compact_svg import compact
from .epub import EpubDocument
from .pdf import PdfDocument
from .port import DocumentProblem, QuoteMatch
from .problems import problem
from .quotes import Quote
from .work_limit import HAS_WORK_LIMIT, OutOfTime, work_limit

LARGEST_FILE = 2**30
"""Bytes."""
MOST_CHARACTERS = 100_000_000
"""Of one document's text in all: shared pages can make a library of a few kilobytes."""
MEMORY_LIMIT = 2 * 2**30
"""Bytes of address space, where the platform has such a limit."""
NICENESS = 10

Message: TypeAlias = dict[str, Any]


class Document(Protocol):
    """What PdfDocument and EpubDocument have in common."""

    @property
    def kind(self) -> Literal["pdf", "epub"]:
        """The kind of file."""
        ...

    page_count: int
    unread_pages: int

    def page(self, index: int) -> PageText:
        """The text of one page."""
        ...

    def find(self, index: int, quote: Quote, limit: int) -> Iterator[QuoteMatch]:
        """Up to `limit` places of a quote on one page."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


def open_document(path: str, largest: int = LARGEST_FILE) -> Document:
    """Open a PDF or an EPUB, told apart by content. Raises DocumentProblem."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise problem("unreadable")  # opening a pipe or a device could wait forever
        if status.st_size == 0:
            raise problem("empty")
        if status.st_size > largest:
            raise problem("too_large")
        with open(path, "rb") as file:
            head = file.read(1024)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise problem("missing") from error
    except OSError as error:
        raise problem("unreadable") from error
    if head.startswith(b"PK\x03\x04"):
        return EpubDocument(path)
    if b"%PDF" in head:
        return PdfDocument(path)
    raise problem("unsupported")


def main() -> None:
    """Serve requests until stdin ends. The process is the worker's alone: its stdout and limits are changed."""
    lines = _Lines()
    _restrain()
    with suppress(_InputEnded):
        lines.write({"ready": True})
        while True:
            request = lines.read()
            # Leave or a stop that crossed our last line belongs to a request that is over.
            if request["op"] in _WORK:
                _serve(request, lines)
            elif request["op"] == "formula":
                lines.write({"formula": _formula(request)})


def _serve(request: Message, lines: _Lines) -> None:
    watchdog = _Watchdog(2 * request["patience"])
    leave: int = request["pages"]
    try:
        with closing(open_document(request["path"])) as document:
            lines.write({"info": {"kind": document.kind, "page_count": document.page_count}})
            for message in _WORK[request["op"]](document, request):
                while leave < 1:
                    watchdog.rest()
                    answer = lines.read()
                    if answer["op"] == "stop":
                        lines.write({"done": True})
                        return
                    leave += answer["pages"]
                watchdog.tick()
                lines.write(message)
                leave -= 1
        lines.write({"done": True})
    except DocumentProblem as found:
        lines.write({"problem": found.code})
    finally:
        watchdog.rest()


def _read(document: Document, request: Message) -> Iterator[Message]:
    first, last = _range(document, request)
    characters = 0
    for index in range(first, last + 1):
        page = document.page(index)
        characters += len(page.text)
        if characters > MOST_CHARACTERS:
            raise problem("too_large")
        yield {
            "page": {
                "index": page.index,
                "label": page.label,
                "text": page.text,
                "href": page.href,
                "anchors": page.anchors,
            }
        }
    if not characters and last - first + 1 == document.page_count:
        raise problem("damaged" if document.unread_pages == document.page_count else "no_text")


def _find(document: Document, request: Message) -> Iterator[Message]:
    quote, left = Quote(request["quote"]), request["limit"]
    first, last = _range(document, request)
    for index in range(first, last + 1):
        matches = [asdict(match) for match in document.find(index, quote, left)]
        yield {"matches": matches}
        left -= len(matches)
        if left < 1:
            return


def _formula(request: Message) -> Message | None:
    from .formulas import draw_formula  # takes a quarter of a second, which documents need not wait for

    watchdog, seconds = _Watchdog(2 * request["patience"]), request["seconds"]
    try:
        with work_limit(seconds):
            formula = draw_formula(
                request["latex"], display=request["display"], seconds=None if HAS_WORK_LIMIT else seconds
            )
    except OutOfTime:
        return None
    finally:
        watchdog.rest()
    return None if formula is None else asdict(formula) | {"svg": compact(formula.svg)}


_WORK: Mapping[str, Callable[[Document, Message], Iterator[Message]]] = {"read": _read, "find": _find}


def _range(document: Document, request: Message) -> tuple[int, int]:
    end = document.page_count - 1
    return request["first"], end if request["last"] is None else min(request["last"], end)


class _InputEnded(Exception):
    """The other side is gone."""


class _Lines:
    """stdin and stdout as JSON lines. Whatever else writes to stdout from now on ends in stderr."""

    def __init__(self) -> None:
        self._in: BinaryIO = sys.stdin.buffer
        self._out = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)

    def read(self) -> Message:
        line = self._in.readline()
        if not line:
            raise _InputEnded
        message: Message = json.loads(line)
        return message

    def write(self, message: Message) -> None:
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        try:
            while data:  # a pipe may take a part only
                data = data[self._out.write(data) :]
        except OSError as error:
            raise _InputEnded from error


class _Watchdog:
    """Ends the process, from outside of Python, if `tick` or `rest` is not called for so many seconds.

    The side that asked kills a worker that stalls; this is for the worker whose other side was itself killed, and
    which MuPDF never lets look at its stdin again.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._wound = 0.0
        self.tick()

    def tick(self) -> None:
        now = monotonic()
        if now - self._wound >= min(1.0, self._seconds / 4):  # winding costs a thread
            faulthandler.dump_traceback_later(self._seconds, exit=True)
            self._wound = now

    def rest(self) -> None:
        faulthandler.cancel_dump_traceback_later()
        self._wound = 0.0


def _restrain() -> None:
    """Lower the process's priority and what it may take; each where the platform has it."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the parent, which then closes stdin
    if sys.platform != "win32":
        import resource

        os.nice(NICENESS)
        for limit, value in ((resource.RLIMIT_AS, MEMORY_LIMIT), (resource.RLIMIT_CORE, 0)):
            with suppress(OSError, ValueError):
                resource.setrlimit(limit, (value, value))
