"""The port to worker processes (Z-4, Z-5): what they deliver of documents and formulas, and every way they can fail."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from ..sessions.library import PageText

ProblemCode: TypeAlias = Literal[
    "missing",  # no file at the path
    "unreadable",  # the system refuses to open it
    "empty",  # 0 bytes
    "encrypted",  # needs a password, or its text is under rights management
    "damaged",  # opened by neither PyMuPDF nor the EPUB reader, or has no pages
    "no_text",  # pages without a text layer: a scan
    "too_large",  # above the size limit, or unpacking to more than is safe
    "unsupported",  # neither PDF nor EPUB
    "timeout",  # the worker made no progress in time and was killed
    "crashed",  # the worker died of it
    "no_worker",  # no worker could be started: no fault of the document
    "quarantined",  # it crashed or stalled a worker twice and is not tried again until it changes
]


class DocumentProblem(Exception):
    """A document that cannot be read. `str()` is one plain sentence for the user."""

    def __init__(self, code: ProblemCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What is known once a document is open: `page_count` pages of a PDF, or sections of an EPUB."""

    kind: Literal["pdf", "epub"]
    page_count: int


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """Where a quote stands.

    `rects` are (x0, y0, x1, y1) in PDF user space as Zotero stores them (unrotated, y upwards, points of the
    MediaBox's coordinate system), one a line; empty in an EPUB. `text` is the text as it stands there, in whole
    words. `cfi` names the block of an EPUB that the quote starts in, "" in a PDF.
    """

    page_index: int
    page_label: str
    rects: tuple[tuple[float, float, float, float], ...]
    text: str
    cfi: str = ""


class DocumentReader(Protocol):
    """Reads documents outside this process, one at a time."""

    def read(
        self, path: str, *, first: int = 0, last: int | None = None
    ) -> AsyncGenerator[DocumentInfo | PageText, None]:
        """The document's info, then the text of its pages (sections) from `first` to `last`, both from 0.

        Leaving the iteration early stops the worker's work. Raises DocumentProblem; "no_text" comes after the
        last page, when none had text.
        """
        ...

    async def find_quote(
        self, path: str, quote: str, *, page_index: int | None = None, limit: int = 5
    ) -> tuple[QuoteMatch, ...]:
        """The first `limit` places where `quote` stands, on one page or in the whole document.

        Raises DocumentProblem; a scan is no problem here, its quotes stand nowhere.
        """
        ...

    def pause(self) -> None:
        """Read no further until `resume`: an answer streams. A few pages that were already asked for are finished."""
        ...

    def resume(self) -> None:
        """Go on after `pause`."""
        ...

    async def close(self) -> None:
        """End the workers."""
        ...


@dataclass(frozen=True, slots=True)
class DrawnFormula:
    """A formula as SVG. `width`, and its extents `above` and `below` the baseline, in ems of the text around it."""

    svg: str
    width: float
    above: float
    below: float


class FormulaDrawer(Protocol):
    """Draws formulas outside this process, one at a time."""

    async def draw(self, latex: str, *, display: bool) -> DrawnFormula | None:
        """The formula, for a line of its own or within one; None where it cannot be drawn, however often it is asked.

        Raises DocumentProblem (no_worker), which is no fault of the formula.
        """
        ...

    async def close(self) -> None:
        """End the worker; whoever still waits gets a DocumentProblem."""
        ...
