"""The --zotero option becomes a source, or a sentence that says what to do."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bibgenie_desktop.zotero.database import DatabaseSource
from bibgenie_desktop.zotero.demo import DemoSource
from bibgenie_desktop.zotero.port import LibrarySource, ZoteroUnavailable
from bibgenie_desktop.zotero.sources import open_source

from .databases import copied, now


def opened(choice: str, home: Path, *, real_library_used: bool = False) -> LibrarySource:
    return open_source(
        choice,
        demo_directory=home / "demo",
        home=home,
        environ={},
        platform="linux",
        clock=now,
        real_library_used=real_library_used,
    )


def with_base(home: Path, base: Path) -> None:
    """A Zotero profile that sets where linked files are."""
    profile = home / ".zotero" / "zotero" / "only"
    profile.mkdir(parents=True)
    (profile.parent / "profiles.ini").write_text("[Profile0]\nIsRelative=1\nPath=only\n")
    (profile / "prefs.js").write_text(f'user_pref("extensions.zotero.baseAttachmentPath", "{base.as_posix()}");\n')


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.req("Z-1")
def test_auto_is_the_users_own_database_where_there_is_one(used: bool, tmp_path: Path) -> None:
    copied(10, tmp_path / "Zotero")
    found = opened("auto", tmp_path, real_library_used=used)
    assert isinstance(found, DatabaseSource)
    assert found.title == f"the Zotero database in {tmp_path / 'Zotero'}"
    assert len(found.snapshot().items) == 15


@pytest.mark.req("Z-1")
def test_auto_is_the_demo_library_for_someone_without_zotero(tmp_path: Path) -> None:
    assert isinstance(opened("auto", tmp_path), DemoSource)


@pytest.mark.req("Z-1")
def test_auto_never_falls_back_to_the_demo_library_once_a_real_one_was_used(tmp_path: Path) -> None:
    with pytest.raises(ZoteroUnavailable, match=r"--zotero sqlite:PATH.*--zotero demo"):
        opened("auto", tmp_path, real_library_used=True)
    assert isinstance(opened("demo", tmp_path, real_library_used=True), DemoSource), "asked for, it is given"


@pytest.mark.req("Z-1")
def test_auto_does_not_hide_a_damaged_database_behind_the_demo_library(tmp_path: Path) -> None:
    (tmp_path / "Zotero").mkdir()
    (tmp_path / "Zotero" / "zotero.sqlite").write_bytes(b"no database")
    found = opened("auto", tmp_path)
    with pytest.raises(ZoteroUnavailable, match="is not a Zotero database"):
        found.snapshot()


@pytest.mark.req("Z-1")
def test_a_database_or_its_directory_can_be_named_from_the_home_directory_too(tmp_path: Path) -> None:
    directory = copied(9, tmp_path / "My Zotero: old")
    expected = opened(f"sqlite:{directory}", tmp_path).snapshot()
    assert len(expected.items) == 15
    for choice in (f"sqlite:{directory / 'zotero.sqlite'}", "sqlite:~/My Zotero: old"):
        assert opened(choice, tmp_path).snapshot() == expected


@pytest.mark.req("Z-1")
def test_a_named_database_that_is_not_there_is_told_when_it_is_read(tmp_path: Path) -> None:
    named = opened(f"sqlite:{tmp_path / 'nowhere'}", tmp_path)
    with pytest.raises(ZoteroUnavailable, match="no Zotero database at"):
        named.fingerprint()


@pytest.mark.parametrize("choice", ["auto", "sqlite:~/Zotero", "sqlite:~/Zotero/zotero.sqlite"])
@pytest.mark.req("Z-5")
def test_linked_files_are_found_below_the_base_that_the_profile_sets(choice: str, tmp_path: Path) -> None:
    directory = copied(10, tmp_path / "Zotero")
    papers = tmp_path / "Papers"
    papers.mkdir()
    shutil.copyfile(directory / "storage" / "STANDPDF" / "scan.pdf", papers / "linked.pdf")
    with_base(tmp_path, papers)
    with closing(sqlite3.connect(directory / "zotero.sqlite")) as database:
        database.execute("UPDATE itemAttachments SET path = 'attachments:linked.pdf' WHERE path LIKE '%smith2020.pdf'")
        database.commit()
    attachments = {a.ref.key: a.path for a in opened(choice, tmp_path).snapshot().attachments}
    assert attachments["LINKFLE2"] == str(papers / "linked.pdf")


@pytest.mark.parametrize("choice", ["local", "web"])
@pytest.mark.req("Z-1")
def test_what_this_version_cannot_read_is_said_in_one_honest_sentence(choice: str, tmp_path: Path) -> None:
    with pytest.raises(ZoteroUnavailable) as refused:
        opened(choice, tmp_path)
    sentence = str(refused.value)
    assert "This version does not read" in sentence
    assert "--zotero sqlite:PATH" in sentence
    assert "--zotero demo" in sentence


@pytest.mark.parametrize("choice", ["", "sqlite", "sqlite:", "Demo", "demo:x", "http://127.0.0.1", "zotero"])
@pytest.mark.req("Z-1")
def test_any_other_choice_is_a_wrong_usage(choice: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--zotero takes auto, local, web, demo or sqlite:PATH"):
        opened(choice, tmp_path)
