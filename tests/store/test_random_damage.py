"""A history damaged at random: it opens or is refused, is read as far as it goes, and not a byte changes (T-5, T-9)."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.branch import NotAllowed
from bibgenie_desktop.sessions.nodes import Node, Session
from bibgenie_desktop.sessions.parts import UndecodablePart
from bibgenie_desktop.store.changes import ForeignChanges
from bibgenie_desktop.store.database import StoreUnavailable
from bibgenie_desktop.store.examination import examine
from bibgenie_desktop.store.operations import OperationStore
from bibgenie_desktop.store.session_rows import UnknownSession
from bibgenie_desktop.store.sessions import SessionStore
from tests.store.acts import ACTS, Hand
from tests.store.histories import bytes_of, counted_ids, opened, spoil, ticking
from tests.store.situations import prepare

DOCUMENTED = (StoreUnavailable, UnknownSession, NotAllowed, UndecodablePart)
LONGEST_SECONDS = 20.0
"""For all that is read of a history, however it is damaged, on a busy machine."""

COLUMNS = {
    "node": "id parent_id role parts model usage stop_reason created_at",
    "session": "id title leaf_id branch_revision model created_at updated_at used forked_from_id forked_at_id is_pinned"
    " archived_at deleted_at",
    "session_node": "session_id node_id visited",
    "checkpoint": "node_id first_kept_message_id summary generation kind",
    "stream_journal": "session_id parent_id previous_leaf_id beginning parts model started_at",
    "draft": "session_id text attachments",
    "operation": "id session_id node_id state request result updated_at",
    "lease": "session_id owner heartbeat_at",
    "erasure": "session_id node_ids deleted_at",
    "node_text": "node_id text",
}
TEXT = '[{"type":"text","text":"x","citations":[]}]'
VALUES: list[object] = [
    *(None, 0, -1, 1, 1.5, 2**63 - 1, float("inf"), "", "gone", "many", "7", "2026-11-30", "\0", "\x1b[31m"),
    *("checkpoint", "user", "assistant", "stop", "interrupted", b"", b"\xff", b"user"),
    *(TEXT, TEXT.encode(), TEXT[:-4], "{}", "[]", "[{}]", "[1]", "null", '[{"type":"video"}]'),
    *("[" * 50_000, "x" * 100_000, "9" * 5_000, '{"input_tokens":1e400}'),
]
BROKEN_TEXT = b"n\xff"
"""Is put in as text that is no UTF-8."""

Damage = tuple[str, Any]
EDITS = st.tuples(
    st.sampled_from([(table, column) for table, columns in COLUMNS.items() for column in columns.split()]),
    st.integers(0, 40),
    st.one_of(st.sampled_from(VALUES), st.just(BROKEN_TEXT), st.tuples(st.just("another"), st.integers(0, 40))),
)
ON_ROWS = st.one_of(
    st.tuples(st.just("edit"), EDITS),
    st.tuples(st.just("delete"), st.tuples(st.sampled_from(sorted(COLUMNS)), st.integers(0, 40))),
    st.tuples(st.just("cycle"), st.tuples(st.sampled_from([1, 2, 3]), st.integers(0, 40))),
)
ON_BYTES = st.one_of(
    st.tuples(st.just("flip"), st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 7))),
    st.tuples(st.just("zero"), st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 5_000))),
    st.tuples(st.just("cut"), st.floats(0.0001, 1)),
    st.tuples(st.just("version"), st.integers(-1, 9)),
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history with all there is."""
    path = tmp_path_factory.mktemp("sound") / "sessions.sqlite"
    asyncio.run(prepare(path))
    with closing(sqlite3.connect(path)) as connection:
        leaf = "SELECT leaf_id FROM session WHERE id = '00000001'"
        connection.execute(
            f"INSERT INTO node VALUES ('check', ({leaf}), 'checkpoint', '{TEXT}', 'm', NULL, NULL, '2026-11-30')"
        )
        connection.execute(
            "INSERT INTO checkpoint (node_id, kind, first_kept_message_id, summary, generation, [trigger], created_at)"
            " VALUES ('check', 'rolling', '00000002', 's', 1, 'manual', '')"
        )
        connection.execute("INSERT INTO session_node VALUES ('00000001', 'check', 9)")
        connection.execute("UPDATE session SET leaf_id = 'check' WHERE id = '00000001'")
        connection.commit()
    return path


def damage_rows(path: Path, damages: list[Damage]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER IF EXISTS node_is_append_only")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for kind, what in damages:
            if kind == "edit":
                (table, column), row, value = what
                edit(connection, table, column, row, value)
            elif kind == "delete":
                table, row = what
                key = key_of(connection, table, row)
                if key is not None:
                    connection.execute(f"DELETE FROM {table} WHERE {key[0]}", key[1])
            else:
                length, row = what
                ids = [name for (name,) in connection.execute("SELECT id FROM node ORDER BY rowid")]
                chosen = [ids[(row + step) % len(ids)] for step in range(length)] if ids else []
                for one, other in zip(chosen, [*chosen[1:], *chosen[:1]], strict=True):
                    connection.execute("UPDATE node SET parent_id = ? WHERE id = ?", (other, one))
        connection.commit()


def edit(connection: sqlite3.Connection, table: str, column: str, row: int, value: object) -> None:
    key = key_of(connection, table, row)
    if key is None:
        return
    wanted = "?"
    if isinstance(value, tuple):  # what another row has there
        found = connection.execute(f"SELECT CAST({column} AS BLOB) FROM {table}").fetchall()
        value, wanted = found[value[1] % len(found)][0], "CAST(? AS TEXT)"
    elif value == BROKEN_TEXT:
        wanted = "CAST(? AS TEXT)"
    connection.execute(f"UPDATE OR IGNORE {table} SET {column} = {wanted} WHERE {key[0]}", (value, *key[1]))


def key_of(connection: sqlite3.Connection, table: str, row: int) -> tuple[str, tuple[object, ...]] | None:
    """A condition that is true of one row of the table."""
    names = ("session_id", "node_id") if table == "session_node" else ("rowid",)
    connection.text_factory = bytes
    rows = connection.execute(f"SELECT {', '.join(names)} FROM {table} ORDER BY 1").fetchall()
    connection.text_factory = str
    if not rows:
        return None
    values = rows[row % len(rows)]
    return " AND ".join(f"CAST({name} AS BLOB) = CAST(? AS BLOB)" for name in names), values


def damage_bytes(path: Path, damages: list[Damage]) -> None:
    whole = bytearray(path.read_bytes())
    for kind, what in damages:
        if kind == "flip":
            place = int(what[0] * len(whole))
            whole[place : place + 1] = bytes(byte ^ 1 << what[1] for byte in whole[place : place + 1])
        elif kind == "zero":
            place = int(what[0] * len(whole))
            whole[place : place + what[1]] = bytes(len(whole[place : place + what[1]]))
        elif kind == "cut":
            del whole[int(what * len(whole)) :]
        else:
            whole[60:64] = what.to_bytes(4, "big", signed=True)
    path.write_bytes(whole)


def is_sound_value(value: Session | Node) -> None:
    """Whatever stands in a row, its values have the types that everybody relies on, and can be written to a file."""
    for field in fields(value):
        found = getattr(value, field.name)
        if field.name in ("branch_revision",):
            assert isinstance(found, int), field.name
        elif field.name.startswith("is_"):
            assert isinstance(found, bool), field.name
        elif field.name not in ("parts", "usage"):
            assert isinstance(found, str | None), field.name
            str(found).encode()
    assert isinstance(value.id, str)
    assert isinstance(value.created_at, str)


async def tried(reading: Callable[..., Awaitable[Any]], *given: Any) -> Any:
    """What is read, None where that is refused in one plain sentence."""
    try:
        return await reading(*given)
    except DOCUMENTED as error:
        refusal = str(error)
    assert len(refusal.splitlines()) == 1
    assert len(refusal) < 1_000
    return None


async def read_all(path: Path) -> None:
    """Everything that a window, a command or the doctor reads."""
    store = await tried(lambda: SessionStore.open(path, clock=ticking(), new_id=counted_ids("b")))
    if store is None:
        return
    try:
        await read_sessions(store)
        operations = OperationStore(store.database, clock=ticking(), new_id=counted_ids("c"))
        await tried(operations.unfinished, "00000001")
        await tried(store.find, "0000")
        await tried(store.last_models, 5)
        await tried(store.deletion.marked)
        await tried(store.tree.interrupted)
        await tried(lambda: ForeignChanges(store.database).look())
        await tried(examine, store)
    finally:
        await store.close()


async def read_sessions(store: SessionStore) -> None:
    for row in await tried(store.sessions) or ():
        is_sound_value(row.session)
        assert isinstance(row.turns, int)
        assert isinstance(row.tokens, int)
        name = row.session.id
        branch = await tried(store.branch, name)
        for node in branch.nodes if branch else ():
            is_sound_value(node)
        if branch is not None and branch.damage is not None:
            branch.damage.encode()
            assert len(branch.damage) < 1_000
        await tried(store.drafts.read, name)
        await tried(store.tree.versions, name)
        await tried(store.tree.newest, name, 3)
        await tried(store.tree.check, name)
        for node in await tried(store.tree.whole, name) or ():
            if isinstance(node, Node):
                is_sound_value(node)
            else:
                f"{node.id}{node.parent_id}{node.reason}".encode()


async def search_all(store: SessionStore) -> None:
    for words in ("question", "half", '"asked in another"', "x", "why*"):
        found = await tried(store.search.find, words)
        for hit in found.hits if found else ():
            assert isinstance(hit.session_id, str)
            assert hit.role in ("user", "assistant", "checkpoint")
            f"{hit.session_id}{hit.node_id}{hit.title}{hit.created_at}{hit.excerpt}".encode()


async def is_read_and_left(path: Path) -> None:
    before = bytes_of(path.parent)
    began = time.perf_counter()
    await read_all(path)
    assert time.perf_counter() - began < LONGEST_SECONDS
    after = bytes_of(path.parent)
    # Of one that says that it is of an older version a copy is made, before that proves to be wrong.
    assert {name: held for name, held in after.items() if not name.startswith("backups")} == before


@pytest.mark.req("T-5", "T-9")
@given(damages=st.lists(ON_ROWS, min_size=1, max_size=6))
async def test_rows_of_any_kind_are_read_as_far_as_they_go_and_left_as_they_are(
    sound: Path, damages: list[Damage]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.sqlite"
        shutil.copy(sound, path)
        damage_rows(path, damages)
        await is_read_and_left(path)


@pytest.mark.req("T-5", "T-8")
@given(damages=st.lists(ON_ROWS, min_size=1, max_size=6))
async def test_rows_of_any_kind_are_searched_as_far_as_they_go(sound: Path, damages: list[Damage]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.sqlite"
        shutil.copy(sound, path)
        damage_rows(path, damages)
        async with opened(path, prefix="b") as store:
            await search_all(store)


@pytest.mark.req("T-5", "T-9")
@given(damages=st.lists(ON_BYTES, min_size=1, max_size=4))
async def test_bytes_of_any_kind_are_read_as_far_as_they_go_and_left_as_they_are(
    sound: Path, damages: list[Damage]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.sqlite"
        shutil.copy(sound, path)
        damage_bytes(path, damages)
        await is_read_and_left(path)


@pytest.mark.req("T-1", "T-5")
@given(damages=st.lists(ON_ROWS, min_size=1, max_size=4), seed=st.integers(0, 1_000))
async def test_nothing_that_is_done_in_a_damaged_history_changes_a_stored_message(
    sound: Path, damages: list[Damage], seed: int
) -> None:
    """Whatever is done is done, or refused in one plain sentence; deleting is left out, and removes what it says."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.sqlite"
        shutil.copy(sound, path)
        damage_rows(path, damages)
        before = messages(path)
        async with opened(path, prefix="b") as store:
            hand = Hand(store, random.Random(seed))
            session_id = hand.chance.choice([row.session.id for row in await tried(store.sessions) or ()] or ["gone"])
            await tried(store.tree.continue_damaged, session_id)
            for act in hand.chance.sample(sorted(ACTS.keys() - {"purge", "wipe", "delete"}), 8):
                await tried(hand.do, act, session_id)
        assert messages(path)[: len(before)] == before


def messages(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        return connection.execute("SELECT rowid, * FROM node ORDER BY rowid").fetchall()


@pytest.mark.req("T-5")
@pytest.mark.parametrize("length", [1, 2, 10_000])
async def test_cycles_of_any_length_are_read_in_bounded_time(tmp_path: Path, sound: Path, length: int) -> None:
    path = tmp_path / "sessions.sqlite"
    shutil.copy(sound, path)
    rows: list[str | tuple[str, tuple[object, ...]]] = []
    for number in range(length):
        values = (f"c{number}", f"c{(number or length) - 1}", ("user", "assistant")[number % 2], TEXT)
        rows.append(("INSERT INTO node VALUES (?, ?, ?, ?, NULL, NULL, NULL, '')", values))
        rows.append(("INSERT INTO session_node VALUES ('00000001', ?, 0)", (f"c{number}",)))
    spoil(path, *rows, "UPDATE session SET leaf_id = 'c0' WHERE id = '00000001'")
    await is_read_and_left(path)
