"""The worker process by itself, spoken with in JSON lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.documents.port import DocumentProblem
from bibgenie_desktop.documents.worker import MEMORY_LIMIT, NICENESS, open_document
from bibgenie_desktop.transport.child import ChildProcess
from tests.documents.epubs import write_epub, xhtml
from tests.documents.pdfs import numbered_pdf, stalling_pdf
from tests.documents.workers import WORKER

pytestmark = pytest.mark.req("Z-5")

PLENTY = 1000


async def started(argv: tuple[str, ...] = WORKER) -> ChildProcess:
    child = await ChildProcess.start(argv)
    assert await child.receive() == {"ready": True}
    return child


def reading(path: Path, *, pages: int = PLENTY, first: int = 0, last: int | None = None) -> dict[str, Any]:
    return {"op": "read", "path": str(path), "first": first, "last": last, "pages": pages, "patience": 60}


def refusal(path: Path, largest: int = 10**6) -> str:
    with pytest.raises(DocumentProblem) as raised:
        open_document(str(path), largest).close()
    assert str(raised.value).endswith(".")
    return raised.value.code


def test_files_are_told_apart_by_content_not_by_name(tmp_path: Path) -> None:
    pdf, epub, junk_first = tmp_path / "a.epub", tmp_path / "b.pdf", tmp_path / "c.txt"
    pdf.write_bytes(numbered_pdf(1))
    junk_first.write_bytes(b"junk of a mailer\n" * 20 + numbered_pdf(1))
    write_epub(epub, {"one.xhtml": xhtml("<p>One.</p>")})
    kinds = []
    for path in (pdf, epub, junk_first):
        document = open_document(str(path))
        kinds.append(document.kind)
        document.close()
    assert kinds == ["pdf", "epub", "pdf"]


def test_what_is_no_document_has_its_word(tmp_path: Path) -> None:
    paths = {name: tmp_path / name for name in ("empty", "page.html", "large", "late")}
    paths["empty"].touch()
    paths["page.html"].write_text("<html>a saved page</html>")
    paths["large"].write_bytes(numbered_pdf(1))
    paths["late"].write_bytes(b" " * 1024 + numbered_pdf(1))
    assert refusal(tmp_path / "nothing here") == "missing"
    assert refusal(tmp_path / "empty" / "below a file") == "missing"
    assert refusal(tmp_path / "a\x00b") == "missing"
    assert refusal(tmp_path) == "unreadable"
    assert refusal(paths["empty"]) == "empty"
    assert refusal(paths["page.html"]) == "unsupported"
    assert refusal(paths["late"]) == "unsupported"
    assert refusal(paths["large"], largest=paths["large"].stat().st_size - 1) == "too_large"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_opened_for_it_would_wait_for_ever(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    assert refusal(tmp_path / "pipe.pdf") == "unreadable"


async def test_a_request_is_answered_page_by_page(tmp_path: Path) -> None:
    path = tmp_path / "three.pdf"
    path.write_bytes(numbered_pdf(3))
    worker = await started()
    await worker.send(reading(path, first=1))
    page = {"label": "", "href": "", "anchors": []}
    assert [await worker.receive() for _ in range(4)] == [
        {"info": {"kind": "pdf", "page_count": 3}},
        {"page": {"index": 1, "text": "This is the text of page 1.", **page}},
        {"page": {"index": 2, "text": "This is the text of page 2.", **page}},
        {"done": True},
    ]
    await worker.close()


async def test_no_page_is_sent_without_leave_and_a_stop_ends_the_request(tmp_path: Path) -> None:
    path = tmp_path / "many.pdf"
    path.write_bytes(numbered_pdf(9))
    worker = await started()
    await worker.send(reading(path, pages=2))
    kinds = [next(iter(await worker.receive() or {})) for _ in range(3)]
    await worker.send({"op": "more", "pages": 1})
    kinds.append(next(iter(await worker.receive() or {})))
    await worker.send({"op": "stop"})
    kinds.append(next(iter(await worker.receive() or {})))
    assert kinds == ["info", "page", "page", "page", "done"]

    await worker.send({"op": "stop"})  # one that came too late
    await worker.send(reading(path, first=8))
    answers = [await worker.receive() for _ in range(3)]
    assert [next(iter(answer or {})) for answer in answers] == ["info", "page", "done"]
    await worker.close()


async def test_the_worker_ends_when_its_stdin_does(tmp_path: Path) -> None:
    worker = await started()
    await worker.close()
    assert worker.returncode == 0
    assert worker.error_tail == ""

    path = tmp_path / "many.pdf"
    path.write_bytes(numbered_pdf(9))
    waiting = await started()
    await waiting.send(reading(path, pages=1))
    await waiting.close()
    assert waiting.returncode == 0
    assert waiting.error_tail == ""


async def test_a_stalled_worker_whose_parent_is_gone_ends_itself(tmp_path: Path) -> None:
    """MuPDF never lets it see that its stdin has ended."""
    path = tmp_path / "stalls.pdf"
    path.write_bytes(stalling_pdf(good_pages=1))
    worker = await started()
    await worker.send(reading(path) | {"patience": 0.2})
    while await worker.receive() is not None:
        pass
    await worker.close(grace=60)
    assert worker.returncode == 1
    assert "Timeout" in worker.error_tail


async def test_what_a_library_prints_does_not_reach_the_protocol(tmp_path: Path) -> None:
    path = tmp_path / "one.pdf"
    path.write_bytes(numbered_pdf(1))
    noisy = (
        "import os\nfrom bibgenie_desktop.documents import worker\nquiet = worker.open_document\n"
        "def noisy(path):\n    os.write(1, b'from C\\n')\n    print('from Python', flush=True)\n"
        "    return quiet(path)\n"
        "worker.open_document = noisy\nworker.main()\n"
    )
    worker = await started((sys.executable, "-c", noisy))
    await worker.send(reading(path))
    answers = [await worker.receive() for _ in range(3)]
    await worker.close()
    assert [next(iter(answer or {})) for answer in answers] == ["info", "page", "done"]
    assert worker.error_tail.split() == ["from", "C", "from", "Python"]


async def test_mupdf_is_silent_about_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "damaged.pdf"
    path.write_bytes(b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\ntrailer<</Root 1 0 R>>")
    worker = await started()
    await worker.send(reading(path))
    assert await worker.receive() == {"problem": "damaged"}
    await worker.close()
    assert worker.error_tail == ""


@pytest.mark.skipif(sys.platform != "linux", reason="prlimit is Linux's")
async def test_the_worker_is_nice_and_its_memory_limited() -> None:
    import resource

    worker = await started()
    assert os.getpriority(os.PRIO_PROCESS, worker.pid) >= NICENESS
    assert resource.prlimit(worker.pid, resource.RLIMIT_AS)[0] == MEMORY_LIMIT
    await worker.close()


def test_the_supervising_side_never_imports_what_reads_documents() -> None:
    source = (
        "import sys, bibgenie_desktop.documents.pool, bibgenie_desktop.documents.quotes\n"
        "print(sorted({'pymupdf', 'fitz', 'lxml'} & {name.partition('.')[0] for name in sys.modules}))"
    )
    finished = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert finished.stdout == "[]\n"
