"""How long a snapshot of a large Zotero database takes: `python -m benchmarks.bench_zotero [--objects 12500]`.

Fills an emptied database with works, stored PDFs, notes and annotations in the proportions of a researcher's library,
then measures the processor time and the wall time of the whole: copying, checking, reading, and looking for files.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.zotero.databases import EmptiedDatabase, source

ALPHABET = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"
ABSTRACT = "Peat stores carbon for as long as it stays wet, and drains it once it does not. " * 12


def key(prefix: str, number: int) -> str:
    text = ""
    for _ in range(7):
        number, digit = divmod(number, len(ALPHABET))
        text = ALPHABET[digit] + text
    return prefix + text


def add_work(database: EmptiedDatabase, number: int) -> int:
    return database.work(
        key("W", number),
        f"On the {number}th question of wetland ecology",
        date=f"{1950 + number % 75}-05-00 May {1950 + number % 75}",
        creators=[("author", f"Surname{(number + n) % 3000}", f"Given{n}") for n in range(3)],
        abstractNote=f"{number}. {ABSTRACT}",
        publicationTitle=f"Journal {number % 200}",
        volume=number % 90,
        issue=number % 12,
        pages=f"{number}–{number + 12}",
        DOI=f"10.1234/bench.{number}",
        url=f"https://example.org/{number}",
        accessDate="2024-01-15 09:00:00",
        language="en",
        libraryCatalog="Catalogue",
        ISSN=f"1234-{number % 200:04}",
    )


def fill(directory: Path, objects: int) -> None:
    """Of ten objects four are works, three stored PDFs, one a note and two annotations."""
    with EmptiedDatabase(directory) as database:
        works = [add_work(database, number) for number in range(objects * 4 // 10)]
        for number, work in enumerate(works):
            for tag in (number % 300, number % 41):
                database.run("INSERT OR IGNORE INTO tags (name) VALUES (?)", (f"tag {tag}",))
                database.run(
                    "INSERT OR IGNORE INTO itemTags SELECT ?, tagID, 0 FROM tags WHERE name = ?", (work, f"tag {tag}")
                )
        for number in range(60):
            database.collection(key("C", number), f"Collection {number}", items=works[number::60])
        pdfs = []
        for number in range(objects * 3 // 10):
            name = key("P", number)
            pdfs.append(database.attachment(name, "storage:paper.pdf", parent=works[number], title="PDF"))
            stored = directory / "storage" / name
            stored.mkdir(parents=True)
            (stored / "paper.pdf").write_bytes(b"%PDF-1.7")
        for number in range(objects // 10):
            database.note(key("N", number), f"<p>{ABSTRACT}</p>", parent=works[number], title="Notes")
        for number in range(objects * 2 // 10):
            position = f'{{"pageIndex":{number % 30},"rects":[[72,500,300,514],[72,484,300,498]]}}'
            database.annotation(
                key("A", number), pdfs[number % len(pdfs)], position, text=ABSTRACT[:200], pageLabel=str(number % 30)
            )


def measured(what: str, call: Callable[[], object]) -> None:
    cpu, wall = [], []
    for _ in range(5):
        started_cpu, started = time.process_time(), time.perf_counter()
        call()
        cpu.append(time.process_time() - started_cpu)
        wall.append(time.perf_counter() - started)
    print(f"{what:<12} {min(cpu) * 1000:8.1f} ms of CPU, {min(wall) * 1000:8.1f} ms (best of 5)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=12_500)
    objects = parser.parse_args().objects
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        fill(directory, objects)
        size = (directory / "zotero.sqlite").stat().st_size
        library = source(directory)
        snapshot = library.snapshot()
        counts = [len(rows) for rows in (snapshot.items, snapshot.attachments, snapshot.notes, snapshot.annotations)]
        print(f"{sum(counts)} objects ({' + '.join(map(str, counts))}) in {size / 1e6:.1f} MB")
        measured("snapshot", library.snapshot)
        measured("fingerprint", library.fingerprint)


if __name__ == "__main__":
    main()
