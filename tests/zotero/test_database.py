"""A Zotero database is read from a copy: whole, fresh, and without a trace in the user's directory."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bibgenie_desktop.sessions.library import LibrarySnapshot
from bibgenie_desktop.zotero.database import DatabaseSource
from bibgenie_desktop.zotero.port import LibrarySource, ZoteroUnavailable

from .databases import DATA, NOW, VERSIONS, copied, everything_in, now, source

RENAME = "UPDATE itemDataValues SET value = 'Renamed a moment ago' WHERE value = 'Peat news'"


def titles(snapshot: LibrarySnapshot) -> set[str]:
    return {item.title for item in snapshot.items}


@contextmanager
def held(database: Path, statement: str) -> Iterator[None]:
    """Another process holds the database exclusively and has just committed `statement`."""
    command = [sys.executable, "-m", "tests.zotero.holder", str(database), statement]
    root = DATA.parent.parent
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        try:
            assert holder.stdout.readline().strip() == "ready"
            yield
        finally:
            holder.stdin.close()
            holder.wait()


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """Where temporary copies are made; every test of this page that asks for it shows that none is left."""
    directory = tmp_path / "scratch"
    directory.mkdir()
    yield directory
    assert list(directory.iterdir()) == [], "a temporary copy was left behind"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.req("Z-1")
def test_both_databases_are_read_and_their_directories_stay_as_they_were(
    version: int, tmp_path: Path, scratch: Path
) -> None:
    directory = copied(version, tmp_path / "Zotero")
    before = everything_in(directory)
    library: LibrarySource = source(directory, scratch=scratch)
    assert library.fingerprint()
    snapshot = library.snapshot()
    assert len(snapshot.items) == 15
    assert snapshot.as_of == "2026-11-30T12:00:00Z"
    assert snapshot.identity == library.identity
    assert library.kind == "sqlite"
    assert library.title == f"the Zotero database in {directory}"
    assert everything_in(directory) == before


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.req("Z-1")
def test_a_directory_that_may_not_be_written_is_read_as_well(version: int, tmp_path: Path, scratch: Path) -> None:
    directory = copied(version, tmp_path / "Zotero")
    (directory / "zotero.sqlite").chmod(0o444)
    directory.chmod(0o555)
    try:
        before = everything_in(directory)
        assert len(source(directory, scratch=scratch).snapshot().items) == 15
        assert everything_in(directory) == before
    finally:
        directory.chmod(0o755)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.req("Z-1")
def test_rows_that_a_running_zotero_just_wrote_are_seen_while_it_holds_the_lock(
    version: int, tmp_path: Path, scratch: Path
) -> None:
    """In 10 the rows are in the write-ahead log alone; in 9 they are in the file, under an exclusive lock."""
    directory = copied(version, tmp_path / "Zotero")
    with held(directory / "zotero.sqlite", RENAME):
        assert (directory / "zotero.sqlite-wal").exists() == (version == 10)
        before = everything_in(directory)
        with (
            closing(sqlite3.connect(directory / "zotero.sqlite", timeout=0)) as rival,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            rival.execute("SELECT * FROM items")
        assert "Renamed a moment ago" in titles(source(directory, scratch=scratch).snapshot())
        assert everything_in(directory) == before


@pytest.mark.req("Z-1")
def test_rows_in_the_log_of_a_zotero_that_crashed_are_seen(tmp_path: Path, scratch: Path) -> None:
    directory = copied(10, tmp_path / "Zotero")
    with held(directory / "zotero.sqlite", RENAME):
        pass
    before = everything_in(directory)
    assert "zotero.sqlite-wal" in before
    assert "Renamed a moment ago" in titles(source(directory, scratch=scratch).snapshot())
    assert everything_in(directory) == before


@pytest.mark.req("Z-1")
def test_a_change_that_was_never_committed_is_not_seen(tmp_path: Path, scratch: Path) -> None:
    """With Zotero 9, pages of an open transaction may stand in the file already; its journal takes them back."""
    directory = copied(9, tmp_path / "Zotero")
    with closing(sqlite3.connect(directory / "zotero.sqlite", isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 10")
        writer.execute("BEGIN")
        writer.execute("UPDATE itemDataValues SET value = 'half done ' || valueID")
        writer.execute("INSERT INTO settings VALUES ('much', 'data', zeroblob(1000000))")
        assert b"half done" in (directory / "zotero.sqlite").read_bytes(), "the transaction has spilled into the file"
        halfway = shutil.copytree(directory, tmp_path / "at this moment")
        writer.execute("ROLLBACK")
    before = everything_in(halfway)
    assert "Peat news" in titles(source(halfway, scratch=scratch).snapshot())
    assert everything_in(halfway) == before


@pytest.mark.req("Z-1")
def test_the_file_itself_may_be_named_and_may_be_a_link(tmp_path: Path) -> None:
    directory = copied(10, tmp_path / "Zotero")
    expected = source(directory).snapshot()
    assert source(directory / "zotero.sqlite").snapshot() == expected
    elsewhere = tmp_path / "disk" / "zotero.sqlite"
    elsewhere.parent.mkdir()
    shutil.move(directory / "zotero.sqlite", elsewhere)
    try:
        (directory / "zotero.sqlite").symlink_to(elsewhere)
    except OSError:
        pytest.skip("this system makes no links for this user")
    with held(elsewhere, RENAME):
        assert "Renamed a moment ago" in titles(source(directory).snapshot()), "the log lies beside the file"


class TouchingClock:
    """A clock; looking at it changes the database, the first `times` times."""

    def __init__(self, database: Path, times: int) -> None:
        self.database, self.times, self.looks = database, times, 0

    def __call__(self) -> datetime:
        self.looks += 1
        if self.looks <= self.times:
            os.utime(self.database, ns=(self.looks, self.looks))
        return NOW + timedelta(minutes=self.looks)


@pytest.mark.req("Z-1")
def test_a_database_that_changes_while_it_is_copied_is_copied_again(tmp_path: Path, scratch: Path) -> None:
    directory = copied(10, tmp_path / "Zotero")
    clock = TouchingClock(directory / "zotero.sqlite", times=3)
    snapshot = DatabaseSource(directory, clock=clock, scratch=scratch).snapshot()
    assert clock.looks == 4
    assert snapshot.as_of == "2026-11-30T12:04:00Z", "the moment of the copy that was kept"


@pytest.mark.req("Z-1")
def test_a_database_that_never_rests_is_not_read_half(tmp_path: Path, scratch: Path) -> None:
    directory = copied(10, tmp_path / "Zotero")
    clock = TouchingClock(directory / "zotero.sqlite", times=100)
    with pytest.raises(ZoteroUnavailable, match="changing its database just now"):
        DatabaseSource(directory, clock=clock, scratch=scratch).snapshot()
    assert clock.looks == 4


@pytest.mark.req("Z-1")
def test_the_moment_is_told_in_utc_whatever_zone_the_clock_has(tmp_path: Path) -> None:
    directory = copied(10, tmp_path / "Zotero")
    eastern = NOW.astimezone(timezone(timedelta(hours=9)))
    assert DatabaseSource(directory, clock=lambda: eastern).snapshot().as_of == "2026-11-30T12:00:00Z"


# Fingerprint and identity


@pytest.mark.req("Z-6")
def test_the_fingerprint_holds_still_until_the_file_or_its_log_changes(tmp_path: Path) -> None:
    directory = copied(10, tmp_path / "Zotero")
    library = source(directory)
    first = library.fingerprint()
    library.snapshot()
    assert library.fingerprint() == first
    with held(directory / "zotero.sqlite", RENAME):
        second = library.fingerprint()
        assert second != first
    os.utime(directory / "zotero.sqlite", ns=(1, 1))
    assert library.fingerprint() not in {first, second}


@pytest.mark.req("Z-6")
def test_two_copies_of_one_database_share_neither_fingerprint_nor_identity(tmp_path: Path) -> None:
    one, other = source(copied(10, tmp_path / "one")), source(copied(10, tmp_path / "other"))
    for library in (one, other):
        os.utime(Path(library.title.rpartition(" in ")[2]) / "zotero.sqlite", ns=(1, 1))
    assert one.fingerprint() != other.fingerprint()
    assert one.identity != other.identity


@pytest.mark.req("Z-6")
def test_the_identity_names_the_directory_and_the_account(tmp_path: Path, scratch: Path) -> None:
    directory = copied(10, tmp_path / "Zotero")
    resolved = os.path.realpath(directory)
    assert source(directory, scratch=scratch).identity == f"zotero:{resolved}#user=9876543"
    with closing(sqlite3.connect(directory / "zotero.sqlite")) as database:
        database.execute("DELETE FROM settings WHERE setting = 'account'")
        database.commit()
    library = source(directory, scratch=scratch)
    assert library.identity == library.snapshot().identity == f"zotero:{resolved}"


# What cannot be read


def refusal(path: Path, **options: object) -> str:
    """The one sentence that a source over `path` answers with; every way to ask gives the same."""
    with pytest.raises(ZoteroUnavailable) as refused:
        source(path, **options).snapshot()
    with pytest.raises(ZoteroUnavailable) as identity_refused:
        assert source(path, **options).identity
    assert str(identity_refused.value) == str(refused.value)
    sentence = str(refused.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


@pytest.mark.req("Z-1")
def test_a_path_that_is_not_there(tmp_path: Path, scratch: Path) -> None:
    assert f"no Zotero database at {tmp_path / 'gone.sqlite'}" in refusal(tmp_path / "gone.sqlite", scratch=scratch)
    with pytest.raises(ZoteroUnavailable, match="no Zotero database"):
        source(tmp_path / "gone.sqlite").fingerprint()


@pytest.mark.req("Z-1")
def test_a_directory_without_a_database(tmp_path: Path, scratch: Path) -> None:
    assert "holds no zotero.sqlite" in refusal(tmp_path, scratch=scratch)


@pytest.mark.req("Z-1")
def test_a_directory_in_place_of_the_database(tmp_path: Path, scratch: Path) -> None:
    (tmp_path / "Zotero" / "zotero.sqlite").mkdir(parents=True)
    assert "is not a Zotero database" in refusal(tmp_path / "Zotero", scratch=scratch)


@pytest.mark.parametrize("content", [b"", b"x", b"This is not a database at all. " * 100])
@pytest.mark.req("Z-1")
def test_a_file_that_is_no_database(content: bytes, tmp_path: Path, scratch: Path) -> None:
    (tmp_path / "zotero.sqlite").write_bytes(content)
    assert "is not a Zotero database" in refusal(tmp_path / "zotero.sqlite", scratch=scratch)


@pytest.mark.req("Z-1")
def test_a_database_of_another_program(tmp_path: Path, scratch: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "zotero.sqlite")) as other:
        other.execute("CREATE TABLE recipe (name TEXT)")
    assert "is not a Zotero database" in refusal(tmp_path, scratch=scratch)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kept", [50, 100, 4096, 40_000, 400_000])
@pytest.mark.req("Z-1")
def test_a_database_that_was_cut_off(version: int, kept: int, tmp_path: Path, scratch: Path) -> None:
    whole = (DATA / f"zotero{version}" / "zotero.sqlite").read_bytes()
    (tmp_path / "zotero.sqlite").write_bytes(whole[:kept])
    assert "is damaged" in refusal(tmp_path, scratch=scratch)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.req("Z-1")
def test_damage_in_a_table_that_is_not_even_read(version: int, tmp_path: Path, scratch: Path) -> None:
    """A database that is broken anywhere is not trusted elsewhere."""
    database = copied(version, tmp_path / "Zotero") / "zotero.sqlite"
    with closing(sqlite3.connect(database)) as healthy:
        ((page,),) = healthy.execute("SELECT rootpage FROM sqlite_master WHERE name = 'proxyHosts'").fetchall()
        ((size,),) = healthy.execute("PRAGMA page_size").fetchall()
    content = bytearray(database.read_bytes())
    content[(page - 1) * size : page * size] = b"\xff" * size
    database.write_bytes(content)
    assert "is damaged" in refusal(database, scratch=scratch)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.integers(0, 815_000), junk=st.binary(min_size=1, max_size=6000))
@pytest.mark.req("Z-1")
def test_a_damaged_database_is_read_or_refused_but_never_anything_else(
    start: int, junk: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever bytes are overwritten, there is a snapshot or one sentence, and no other error."""
    directory = tmp_path_factory.mktemp("damaged")
    content = bytearray((DATA / "zotero9" / "zotero.sqlite").read_bytes())
    content[start : start + len(junk)] = junk
    (directory / "zotero.sqlite").write_bytes(content)
    sentence = "read."
    try:
        source(directory).snapshot()
    except ZoteroUnavailable as refused:
        sentence = str(refused)
    assert sentence.endswith(".")
    assert [entry.name for entry in directory.iterdir()] == ["zotero.sqlite"]
    shutil.rmtree(directory)


def with_schema(directory: Path, statement: str) -> Path:
    with closing(sqlite3.connect(directory / "zotero.sqlite")) as database:
        database.execute(statement)
        database.commit()
    return directory


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [(119, "before version 7"), (141, "a way that this version does not know (layout 141)")],
)
@pytest.mark.req("Z-1")
def test_a_layout_outside_the_known_range_is_refused(schema: int, sentence: str, tmp_path: Path, scratch: Path) -> None:
    update = f"UPDATE version SET version = {schema} WHERE schema = 'userdata'"
    assert sentence in refusal(with_schema(copied(10, tmp_path / "Zotero"), update), scratch=scratch)


@pytest.mark.parametrize("schema", [120, 140])
@pytest.mark.req("Z-1")
def test_the_ends_of_the_known_range_are_read(schema: int, tmp_path: Path) -> None:
    update = f"UPDATE version SET version = {schema} WHERE schema = 'userdata'"
    assert len(source(with_schema(copied(10, tmp_path / "Zotero"), update)).snapshot().items) == 15


@pytest.mark.parametrize(
    "change",
    ["DELETE FROM version WHERE schema = 'userdata'", "ALTER TABLE version RENAME TO gone"],
)
@pytest.mark.req("Z-1")
def test_a_database_without_a_layout_number_is_not_zoteros(change: str, tmp_path: Path, scratch: Path) -> None:
    assert "is not a Zotero database" in refusal(with_schema(copied(9, tmp_path / "Zotero"), change), scratch=scratch)


@pytest.mark.req("Z-1")
def test_a_table_that_is_gone_within_the_known_range_is_told_as_an_unknown_layout(
    tmp_path: Path, scratch: Path
) -> None:
    directory = with_schema(copied(10, tmp_path / "Zotero"), "ALTER TABLE itemTags RENAME TO gone")
    with pytest.raises(ZoteroUnavailable, match="this version does not know"):
        source(directory, scratch=scratch).snapshot()


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="may read everything")
@pytest.mark.req("Z-1")
def test_a_database_that_this_user_may_not_read(tmp_path: Path, scratch: Path) -> None:
    directory = copied(10, tmp_path / "Zotero")
    (directory / "zotero.sqlite").chmod(0)
    assert "cannot be read (Permission denied)" in refusal(directory, scratch=scratch)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
@pytest.mark.req("Z-1")
def test_a_database_that_the_system_cannot_reach(tmp_path: Path, scratch: Path) -> None:
    (tmp_path / "zotero.sqlite").symlink_to(tmp_path / "zotero.sqlite")
    assert "cannot be read (" in refusal(tmp_path / "zotero.sqlite", scratch=scratch)


@pytest.mark.skipif(os.name == "nt", reason="sets a limit of POSIX systems")
@pytest.mark.req("Z-1")
def test_a_copy_that_does_not_fit(tmp_path: Path, scratch: Path) -> None:
    """The system refuses to write on after 100 kB, as a full disk does."""
    import resource

    directory = copied(9, tmp_path / "Zotero")
    before = everything_in(directory)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        sentence = refusal(directory, scratch=scratch)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "no room for a temporary copy" in sentence
    assert everything_in(directory) == before


@pytest.mark.req("Z-1")
def test_a_system_without_a_temporary_directory(tmp_path: Path) -> None:
    directory = copied(9, tmp_path / "Zotero")
    assert "No temporary directory can be made" in refusal(directory, scratch=tmp_path / "nowhere")


# The two versions beside each other


@pytest.mark.req("Z-1")
def test_zotero_9_and_10_give_the_same_library_where_they_hold_the_same_data(tmp_path: Path) -> None:
    """They differ in versions and in the keys that each Zotero drew for itself: a note's picture, an embedded mark."""
    nine, ten = (
        source(copied(9, tmp_path / "nine")).snapshot(),
        source(copied(10, tmp_path / "ten")).snapshot(),
    )
    assert nine.libraries == ten.libraries
    assert nine.collections == ten.collections
    assert neutral(nine, tmp_path / "nine") == neutral(ten, tmp_path / "ten")


def neutral(snapshot: LibrarySnapshot, directory: Path) -> str:
    """The snapshot's records in words, without what belongs to one Zotero alone."""
    records = (*snapshot.items, *snapshot.attachments, *snapshot.notes, *snapshot.annotations)
    words = "\n".join(str(record) for record in records).replace(repr(str(directory))[1:-1], "DIRECTORY")
    for item in snapshot.items:
        words = words.replace(f"version={item.version})", "version=…)")
    for drawn in ("MAKS2T2L", "N2KNVGIA", "MZM4VWEW", "VF6MKPAR"):
        words = words.replace(drawn, "DRAWNKEY")
    return words


@pytest.mark.req("Z-1")
def test_a_clock_is_asked_once_a_copy(tmp_path: Path) -> None:
    looks: list[datetime] = []

    def clock() -> datetime:
        looks.append(now())
        return looks[-1]

    DatabaseSource(copied(9, tmp_path / "Zotero"), clock=clock).snapshot()
    assert looks == [datetime(2026, 11, 30, 12, 0, tzinfo=UTC)]


@pytest.mark.req("Z-1", "S-1")
def test_a_copy_that_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    left, fresh = scratch / "bibgenie-zotero-left", scratch / "bibgenie-zotero-fresh"
    for directory in (left, fresh):
        directory.mkdir(parents=True)
        (directory / "zotero.sqlite").write_bytes(b"private")
    os.utime(left, (0, 0))
    source(copied(9, tmp_path / "zotero"), scratch=scratch).snapshot()
    assert [path.name for path in scratch.iterdir()] == ["bibgenie-zotero-fresh"]
