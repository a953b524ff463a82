"""A history of an older version is brought forward, after a copy was made of it (T-9)."""

from __future__ import annotations

import itertools
import re
import shutil
import sqlite3
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from bibgenie_desktop.store.database import Database, StoreUnavailable
from bibgenie_desktop.store.migrations import migrate
from bibgenie_desktop.store.schema import SCHEMA_VERSION
from bibgenie_desktop.store.sessions import SessionStore
from tests.discipline.lengths import Loops
from tests.store.histories import START, ask, bytes_of, counted_ids, older_history, opened, ticking
from tests.store.writer import writing

SESSION = "00000001"


TURNS = {1: 2, 2: 3, 3: 3}
"""The turns of that session in the dumps, by version."""


@pytest.fixture(params=TURNS)
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def older(tmp_path: Path, version: int) -> Path:
    """A history as the program of an earlier schema version left it."""
    return older_history(tmp_path / "sessions.sqlite", version)


def content(path: Path) -> list[str]:
    """All that a file holds, as SQL, with its version."""
    with closing(sqlite3.connect(path)) as connection:
        return [*connection.iterdump(), str(connection.execute("PRAGMA user_version").fetchone())]


def shape(path: Path) -> dict[str, list[object]]:
    """The columns, foreign keys and indexes of every table, and triggers and virtual tables as they were written."""
    with closing(sqlite3.connect(path)) as connection:
        return {
            f"{kind} {name}": [
                *connection.execute(f"SELECT * FROM pragma_table_xinfo('{name}')"),
                *connection.execute(f"SELECT * FROM pragma_foreign_key_list('{name}')"),
                sorted(connection.execute(f"SELECT name, [unique], origin FROM pragma_index_list('{name}')")),
                connection.execute(f"SELECT * FROM pragma_index_info('{name}')").fetchall(),
                sql.split() if kind == "trigger" or "VIRTUAL" in sql else "WITHOUT ROWID" in sql,
            ]
            for kind, name, sql in connection.execute(
                "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
            ).fetchall()
        }


def copies(path: Path) -> list[Path]:
    return sorted((path.parent / "backups").iterdir())


@pytest.mark.req("T-9")
async def test_an_older_history_is_brought_forward_with_all_that_it_holds(older: Path, version: int) -> None:
    async with opened(older, prefix="b") as store:
        branch = await store.branch(SESSION)
        texts = [f"{word} {turn}" for turn in range(TURNS[version]) for word in ("question", "answer")]
        assert [node.text for node in branch.nodes] == texts
        assert branch.damage is None
        assert await store.drafts.read(SESSION) == "a draft"
        assert await store.integrity() == []
        await ask(store, SESSION)
    with closing(sqlite3.connect(older)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


@pytest.mark.req("T-9")
async def test_a_history_brought_forward_has_the_shape_of_a_new_one(older: Path, tmp_path: Path) -> None:
    new = tmp_path / "new" / "sessions.sqlite"
    for path in (older, new):
        async with opened(path):
            pass
    assert shape(older) == shape(new)
    assert {"table lease", "table node_fts", "trigger node_is_append_only"} <= shape(new).keys()


@pytest.mark.req("T-9")
async def test_what_it_was_before_is_kept_as_a_copy(older: Path, version: int) -> None:
    before = content(older)
    async with opened(older):
        pass
    [copy] = copies(older)
    assert copy.name == f"sessions-version-{version}-20261130T185048123000Z.sqlite"
    assert content(copy) == before
    async with opened(older):
        pass
    assert copies(older) == [copy]  # a history of this version is not copied


@pytest.mark.req("T-9")
async def test_a_new_history_needs_no_copy(tmp_path: Path) -> None:
    async with opened(tmp_path / "sessions.sqlite"):
        pass
    assert list(bytes_of(tmp_path)) == ["sessions.sqlite"]


@pytest.mark.req("T-9", "T-6")
async def test_the_copy_holds_also_what_stood_in_the_log_only(older: Path) -> None:
    """The older program was killed, or still runs beside this one."""
    with closing(sqlite3.connect(older)) as other:
        other.execute("UPDATE draft SET text = 'the newest draft'")
        other.commit()
        async with opened(older) as store:
            assert await store.drafts.read(SESSION) == "the newest draft"
        [copy] = copies(older)
        assert any("the newest draft" in line for line in content(copy))


@pytest.mark.req("T-9")
async def test_without_a_copy_nothing_is_changed(older: Path) -> None:
    before = content(older)
    (older.parent / "backups").write_bytes(b"a file in its place")
    with pytest.raises(StoreUnavailable, match=r"could not be copied into .*nothing was changed") as refusal:
        await SessionStore.open(older, clock=ticking(), new_id=counted_ids())
    assert refusal.value.code == "unwritable"
    assert len(str(refusal.value).splitlines()) == 1
    assert content(older) == before


@pytest.mark.req("T-9", "T-6")
async def test_a_copy_that_a_killed_program_left_unfinished_is_made_anew(older: Path) -> None:
    before = content(older)
    (older.parent / "backups").mkdir()
    (older.parent / "backups" / "sessions.unfinished").write_bytes(b"half of a copy" * 1_000)
    async with opened(older):
        pass
    [copy] = copies(older)
    assert content(copy) == before


class _Killed(BaseException):
    """Ends a program between the copy and the change, as far as the file can tell."""


async def killed_after_the_copy(path: Path) -> None:
    database = Database(path, what="The history", if_damaged="")

    def transaction(connection: Connection) -> None:
        migrate(connection, path, clock)
        raise _Killed

    clock = ticking(START + timedelta(seconds=copy) for copy in itertools.count(len(copies(path))))
    try:
        with pytest.raises(_Killed):
            await database.write(transaction)
    finally:
        await database.close()


@pytest.mark.req("T-9", "T-6")
@pytest.mark.parametrize("mode", ["wal", "delete"])
async def test_a_program_that_is_killed_after_the_copy_again_and_again_leaves_one(older: Path, mode: str) -> None:
    with closing(sqlite3.connect(older)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
    (older.parent / "backups").mkdir()
    before = content(older)
    for _ in range(5):
        await killed_after_the_copy(older)
        [copy] = copies(older)
        assert content(copy) == content(older) == before
    async with opened(older):
        pass
    assert copies(older) == [copy]


@pytest.mark.req("T-9", "T-6")
async def test_what_was_changed_since_the_last_copy_is_copied_and_no_copy_is_lost(older: Path) -> None:
    """Whoever starts the older program in between writes on."""
    (older.parent / "backups").mkdir()
    other = older.parent / "backups" / "sessions-version-0-20251130T185048123000Z.sqlite"
    other.write_bytes(b"of another version")
    held = []
    for number in range(3):
        with closing(sqlite3.connect(older)) as connection:
            connection.execute("UPDATE draft SET text = ?", (f"draft {number}",))
            connection.commit()
        held.append(content(older))
        for _ in range(2):
            await killed_after_the_copy(older)
    first, *kept = copies(older)
    assert first == other
    assert other.read_bytes() == b"of another version"
    assert [content(copy) for copy in kept] == held


@pytest.mark.req("T-9")
@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
async def test_a_copy_that_cannot_be_read_is_not_relied_on_and_holds_nobody_up(older: Path, version: int) -> None:
    before = content(older)
    broken = older.parent / "backups" / f"sessions-version-{version}-20261129T185048123000Z.sqlite"
    broken.parent.mkdir()
    broken.symlink_to(broken)
    async with opened(older):
        pass
    assert [content(copy) for copy in copies(older) if copy != broken] == [before]
    assert broken.is_symlink()


@pytest.mark.req("T-9", "T-5")
async def test_a_copy_is_put_back_as_the_sentence_says_and_the_log_that_lay_there_does_no_harm(older: Path) -> None:
    """The damaged history was in use when its program was killed: its log is still beside it."""
    before = content(older)
    async with opened(older):
        pass
    [copy] = copies(older)
    leave_a_log_and_damage(older)
    with pytest.raises(StoreUnavailable, match="restore a backup") as refusal:
        await SessionStore.open(older, clock=ticking(), new_id=counted_ids())
    named = re.findall(r"sessions\.sqlite[-a-z]*", str(refusal.value).partition("restore a backup")[2])
    away = older.parent / "away"
    away.mkdir()
    for name in dict.fromkeys(named):
        (older.parent / name).rename(away / name)
    shutil.copy(copy, older)
    async with opened(older, prefix="b") as store:
        assert await store.integrity() == []
        assert await store.drafts.read(SESSION) == "a draft"
    assert [content(each) for each in copies(older)] == [before]


def leave_a_log_and_damage(path: Path) -> None:
    """Give a history the log of a program that was killed while it wrote into it, and spoil the file itself."""
    elsewhere = path.parent / "elsewhere"
    elsewhere.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("UPDATE draft SET text = 'from the log'")
        connection.commit()
        for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
            shutil.copy(path.parent / name, elsewhere / name)
    shutil.copytree(elsewhere, path.parent, dirs_exist_ok=True)
    shutil.rmtree(elsewhere)
    path.write_bytes(b"\xff" * path.stat().st_size)


@pytest.mark.req("T-9", "T-6")
def test_of_programs_that_start_at_once_one_brings_it_forward(older: Path) -> None:
    with (
        writing(older, "--prefix", "a", "--count", "2", "--session", SESSION) as one,
        writing(older, "--prefix", "b", "--count", "2", "--session", SESSION) as two,
    ):
        stored = {line for writer in (one, two) for line in writer.lines()}
        assert (one.process.wait(), two.process.wait()) == (0, 0)
    assert len(stored) == 5
    assert len(copies(older)) == 1


@pytest.mark.req("T-9", "T-6")
async def test_a_program_that_is_killed_on_the_way_spoils_nothing(tmp_path: Path, version: int, loops: Loops) -> None:
    """Wherever it stood, the next start has all of the history. Every single step is killed in test_kills."""
    for round_ in range(loops(2, 50)):
        (tmp_path / str(round_)).mkdir()
        path = older_history(tmp_path / str(round_) / "sessions.sqlite", version)
        with writing(path) as writer:
            assert writer.line() == "ready"
            writer.process.kill()
            writer.lines()
        async with opened(path, prefix="b") as store:
            assert len((await store.branch(SESSION)).nodes) == 2 * TURNS[version]
            assert await store.integrity() == []
        assert copies(path)


@pytest.mark.req("T-9")
@pytest.mark.parametrize("further", [SCHEMA_VERSION + 1, -1])
async def test_a_history_that_another_program_brings_further_meanwhile_is_left_alone(older: Path, further: int) -> None:
    """Between the look at the file and its lock."""
    with closing(sqlite3.connect(older)) as connection:
        connection.execute(f"PRAGMA user_version = {further}")
    before = content(older)
    database = Database(older, what="The history", if_damaged="")
    try:
        with pytest.raises(StoreUnavailable, match="newer version"):
            await database.write(lambda connection: migrate(connection, older, ticking()))
    finally:
        await database.close()
    assert content(older) == before
