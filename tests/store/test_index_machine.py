"""Any sequence of refreshes, indexed files and problems leaves the index equal to a plain model of it (Z-6)."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from bibgenie_desktop.sessions.library import ItemRecord, LibrarySnapshot, plain
from bibgenie_desktop.store.library import LibraryStore
from bibgenie_desktop.store.library_rows import item_text
from bibgenie_desktop.store.library_writing import passages_of
from tests.store.indexes import GROUP, check_full_text, distinct, file, mark, note, pages, ref, snapshot, work

T = TypeVar("T")

WORDS = ("peat", "moss", "fens", "bogs")
SOURCES = ("zotero:a", "zotero:b")
FILES = ("f1", "f2", "f3")

phrases = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
page_texts = st.lists(st.lists(phrases, max_size=3).map("\n\n".join), max_size=3)
works = st.lists(
    st.builds(work, st.sampled_from(["w1", "w2"]), phrases, phrases, st.sampled_from([ref("x").library, GROUP])),
    max_size=3,
    unique_by=lambda record: record.ref,
)
files = st.lists(
    st.builds(file, st.sampled_from(FILES), st.sampled_from([None, "/a.pdf", "/b.pdf"])),
    max_size=3,
    unique_by=lambda record: record.ref,
)
notes = st.lists(
    st.builds(note, st.sampled_from(["n1", "n2"]), phrases.map("<p>{}</p>".format)),
    max_size=2,
    unique_by=lambda record: record.ref,
)
marks = st.lists(
    st.builds(mark, st.sampled_from(["m1", "m2"]), st.sampled_from(FILES), phrases, phrases),
    max_size=2,
    unique_by=lambda record: record.ref,
)


class IndexMachine(RuleBasedStateMachine):
    """Two sources in one index file."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "library.sqlite"
        self.store = self.run(LibraryStore.open(self.path))
        self.source_ids: dict[str, int] = {}
        self.snapshots: dict[str, LibrarySnapshot] = {}
        # (source, file) -> the file's path and its indexed pages, None where they are not indexed
        self.files: dict[tuple[str, str], tuple[str | None, list[str] | None]] = {}

    def run(self, job: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(job)

    def teardown(self) -> None:
        self.run(self.store.close())
        self.runner.close()
        self.folder.cleanup()

    @rule(source=st.sampled_from(SOURCES), works=works, files=files, notes=notes, marks=marks)
    def refresh(self, source: str, works: list[Any], files: list[Any], notes: list[Any], marks: list[Any]) -> None:
        told = snapshot(*works, *files, *notes, *marks, identity=source)
        source_id = self.run(self.store.apply(told, f"{source} {len(self.snapshots)}"))
        assert self.source_ids.setdefault(source, source_id) == source_id
        self.snapshots[source] = told
        before = self.files
        self.files = {key: held for key, held in before.items() if key[0] != source}
        for record in files:
            path, held = before.get((source, record.ref.key), (record.path, None))
            self.files[source, record.ref.key] = (record.path, held if path == record.path else None)

    @precondition(lambda self: self.files)
    @rule(data=st.data(), texts=page_texts)
    def index_file(self, data: st.DataObject, texts: list[str]) -> None:
        source, key = data.draw(st.sampled_from(sorted(self.files)))
        row = self.run(self.store.attachment(self.source_ids[source], ref(key)))
        assert row is not None
        read = pages(*texts)
        self.run(self.store.put_pages(row.id, read, kind="pdf", page_count=len(read), file_stamp="1:1"))
        self.files[source, key] = (self.files[source, key][0], texts)

    @precondition(lambda self: self.files)
    @rule(data=st.data())
    def fail_file(self, data: st.DataObject) -> None:
        source, key = data.draw(st.sampled_from(sorted(self.files)))
        row = self.run(self.store.attachment(self.source_ids[source], ref(key)))
        assert row is not None
        self.run(self.store.put_problem(row.id, "damaged", "It is damaged."))
        self.files[source, key] = (self.files[source, key][0], None)

    @rule()
    def start_again(self) -> None:
        self.run(self.store.close())
        self.store = self.run(LibraryStore.open(self.path))

    @invariant()
    def the_full_text_index_is_sound(self) -> None:
        check_full_text(self.path)

    @invariant()
    def each_word_finds_the_texts_of_its_source_that_hold_it_each_once(self) -> None:
        for source, source_id in self.source_ids.items():
            held = self._passages(source)
            for word in WORDS:
                found = self.run(self.store.search(source_id, f'"{word}"', limit=1_000))
                assert distinct(found)
                assert {_folded(row.text) for row in found} == {text for text in held if word in text.split()}

    @invariant()
    def every_record_is_as_the_source_told_it(self) -> None:
        for source, told in self.snapshots.items():
            source_id = self.source_ids[source]
            for record in told.items:
                assert self.run(self.store.item(source_id, record.ref)) == record
            rows = self.run(self.store.attachments(source_id))
            assert {row.record.ref: row.record.path for row in rows} == {
                each.ref: each.path for each in told.attachments
            }
            for row in rows:
                held = self.files[source, row.record.ref.key][1]
                assert (row.state == "indexed") == (held is not None)
                assert [page.text for page in self.run(self.store.pages(row.id, 0, 99))] == (held or [])

    def _passages(self, source: str) -> set[str]:
        told = self.snapshots[source]
        passages = [item_text(record) for record in told.items if isinstance(record, ItemRecord)]
        passages += [plain(record.html) for record in told.notes]
        passages += ["\n".join(filter(None, (record.text, record.comment))) for record in told.annotations]
        for (owner, _), (_, texts) in self.files.items():
            if owner == source:
                passages += [text[start : start + n] for text in texts or [] for start, n in passages_of(text)]
        return {_folded(text) for text in passages}


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


@pytest.mark.req("Z-6", "Z-1")
def test_the_index_equals_its_model_after_any_sequence_of_changes() -> None:
    run_state_machine_as_test(IndexMachine, settings=settings(max_examples=25, stateful_step_count=15))
