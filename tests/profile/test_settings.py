"""settings.toml: edited by hand and by the app, and neither spoils the other's work."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.profile import file_lock
from bibgenie_desktop.profile.settings import (
    LONGEST_KEPT,
    LONGEST_VALUE,
    Settings,
    SettingsUnreadable,
    load_settings,
    store_model,
    store_setting,
)

BY_HAND = """\
# My settings
[model]
name = "ollama_chat/qwen3"   # the small one
temperature = 0.2            # of a newer version

[window]
theme = 'dark'

[zotero]
# where my library is
source = "local"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_without_a_file_the_defaults_hold_and_no_file_is_made(path: Path) -> None:
    assert load_settings(path) == Settings(model="", api_base="", zotero="auto", real_library_used=False)
    assert list(path.parent.iterdir()) == []


def test_what_is_written_by_hand_is_read(path: Path) -> None:
    path.write_text(BY_HAND, encoding="utf-8")
    assert load_settings(path) == Settings(model="ollama_chat/qwen3", zotero="local")


def test_comments_and_unknown_keys_survive_a_change(path: Path) -> None:
    path.write_text(BY_HAND, encoding="utf-8")
    store_setting(path, "real_library_used", True)
    store_setting(path, "zotero", "sqlite:/my/zotero.sqlite")
    assert path.read_text(encoding="utf-8") == BY_HAND.replace('"local"', '"sqlite:/my/zotero.sqlite"') + (
        "real_library_used = true\n"
    )


def test_a_setting_is_stored_where_there_was_no_file_and_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "profile" / "settings.toml"
    store_setting(path, "model", "offline")
    assert load_settings(path) == Settings(model="offline")


@pytest.mark.parametrize(
    "text",
    [
        'model.name = "m"\n',
        'model = {name = "m"}\n',
        '[model]\nname = "m"\n[zotero]\n[model.more]\na = 1\n',
        '[zotero]\nsource = "auto"\n[a]\n[zotero.more]\nb = 1\n[model]\nname = "m"\n',
        '\ufeff[model]\r\nname = "m"\r\n',
    ],
)
def test_every_way_to_write_a_table_can_be_read_and_changed(path: Path, text: str) -> None:
    """Also behind a byte order mark, as some editors put it."""
    path.write_text(text, encoding="utf-8", newline="")
    assert load_settings(path).model == "m"
    store_setting(path, "model", "n")
    store_setting(path, "real_library_used", True)
    assert load_settings(path) == Settings(model="n", real_library_used=True)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_any_value_comes_back(tmp_path_factory: pytest.TempPathFactory, value: str, used: bool) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.toml"
    store_setting(path, "model", value)
    store_setting(path, "real_library_used", used)
    assert load_settings(path) == Settings(model=value, real_library_used=used)


DAMAGED = {
    "no TOML": b"model = \n",
    "cut off": b'[model]\nname = "off',
    "a key twice": b'[model]\nname = "a"\nname = "b"\n',
    "a table twice": b"[model]\n[zotero]\n[model]\n",
    "not UTF-8": b'[model]\nname = "\xff\xfe"\n',
    "binary": bytes(range(256)),
    "a text for a table": b'model = "gpt-5"\n',
    "a list for a table": b'zotero = ["local"]\n',
    "tables for a table": b'[[model]]\nname = "a"\n',
    "a number for a text": b"[model]\nname = 5\n",
    "a text for a truth": b'[zotero]\nreal_library_used = "yes"\n',
    "a number for a truth": b"[zotero]\nreal_library_used = 1\n",
    "a table for a text": b"[model.name]\na = 1\n",
    "lists in lists": b"a = " + b"[" * 5_000 + b"]" * 5_000,
    "lists without an end": b"a = " + b"[" * 100_000,
    "tables in tables": b"a = " + b"{b = " * 5_000 + b"1" + b"}" * 5_000,
    "a number of too many digits": b"a = " + b"9" * 10_000,
    "a model too long": b'[model]\nname = "' + b"x" * (LONGEST_VALUE + 1) + b'"\n',
    "an address too long": b'[model]\napi_base = "' + b"x" * 70_000 + b'"\n',
    "a source too long": b'[zotero]\nsource = "' + b"x" * 70_000 + b'"\n',
    "a language too long": b'[window]\nlanguage = "' + b"x" * 70_000 + b'"\n',
    "a text for a number": b'[history]\nkeep_days = "30"\n',
    "a truth for a number": b"[history]\nkeep_days = true\n",
    "a fraction for a number": b"[history]\nkeep_days = 1.5\n",
    "fewer days than none": b"[history]\nkeep_days = -1\n",
    "more days than there are": b"[history]\nkeep_days = 36501\n",
    "an address in the table too long": b'[endpoints]\nm = "' + b"x" * 70_000 + b'"\n',
    "a model in the table too long": b"[endpoints]\n" + b"x" * 70_000 + b' = "http://a"\n',
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_told_in_one_sentence_and_left_as_it_is(path: Path, name: str) -> None:
    path.write_bytes(DAMAGED[name])
    for act in (lambda: load_settings(path), lambda: store_setting(path, "zotero", "demo")):
        with pytest.raises(SettingsUnreadable) as refusal:
            act()
        assert str(path) in str(refusal.value)
        assert "mend it" in str(refusal.value)
        assert len(str(refusal.value).splitlines()) == 1
    assert path.read_bytes() == DAMAGED[name]
    assert list(path.parent.iterdir()) == [path]


def test_a_wrong_value_is_named(path: Path) -> None:
    path.write_bytes(DAMAGED["a number for a text"])
    with pytest.raises(SettingsUnreadable, match=r"model\.name has a value of the wrong kind"):
        load_settings(path)


@pytest.mark.req("T-7")
def test_chats_are_kept_for_ever_unless_a_number_of_days_is_set(path: Path) -> None:
    assert load_settings(path).keep_days == 0
    path.write_text("[history]\nkeep_days = 90 # of silence\n", encoding="utf-8")
    assert load_settings(path) == Settings(keep_days=90)
    store_setting(path, "keep_days", LONGEST_KEPT)
    assert path.read_text(encoding="utf-8") == f"[history]\nkeep_days = {LONGEST_KEPT} # of silence\n"
    for days in (-1, LONGEST_KEPT + 1, True):
        with pytest.raises(SettingsUnreadable, match=f"was left as it is: {days} cannot be its history.keep_days"):
            store_setting(path, "keep_days", days)
    assert load_settings(path) == Settings(keep_days=LONGEST_KEPT)


def test_a_folder_in_the_place_of_the_file_is_told(path: Path) -> None:
    path.mkdir()
    with pytest.raises(SettingsUnreadable):
        load_settings(path)
    with pytest.raises(SettingsUnreadable):
        store_setting(path, "model", "offline")


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "profile").write_text("a file")
    with pytest.raises(SettingsUnreadable, match="settings file"):
        store_setting(tmp_path / "profile" / "settings.toml", "model", "offline")
    assert (tmp_path / "profile").read_text() == "a file"


WRITER = """
import sys
from pathlib import Path
from bibgenie_desktop.profile.settings import store_setting
path, name = Path(sys.argv[1]), sys.argv[2]
for number in range(int(sys.argv[3])):
    store_setting(path, "model", f"{name}/{'x' * (number % 50)}")
"""


def test_while_others_replace_it_the_file_is_always_whole(path: Path) -> None:
    """Two processes change the settings at once: a reader sees one or the other, never a part."""
    path.write_text(BY_HAND, encoding="utf-8")
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, name, "60"], env=environ) for name in ("one", "two")]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        settings = load_settings(path)
        assert settings.zotero == "local"
        seen.add(settings.model.partition("/")[0])
    assert [writer.wait() for writer in writers] == [0, 0]
    assert load_settings(path).model.partition("/")[0] in ("one", "two")
    assert seen <= {"ollama_chat", "one", "two"}
    assert sorted(each.name for each in path.parent.iterdir()) == [".settings.toml.lock", "settings.toml"]
    assert "# where my library is" in path.read_text(encoding="utf-8")


TOGETHER = """
import sys
from pathlib import Path
from bibgenie_desktop.profile.settings import load_settings, store_model, store_setting
path, name = Path(sys.argv[1]), sys.argv[2]
for number in range(int(sys.argv[3])):
    store_model(path, f"{name}/{number}", "http://" + name)
    assert f"{name}/{number}" in {load_settings(path).model, *load_settings(path).endpoints}
"""


def test_of_changes_that_processes_make_at_once_none_is_lost(path: Path) -> None:
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", TOGETHER, str(path)]
    writers = [subprocess.Popen([*command, name, "20"], env=environ) for name in ("one", "two", "three")]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    expected = {f"{name}/{number}": f"http://{name}" for name in ("one", "two", "three") for number in range(20)}
    assert load_settings(path).endpoints == expected


def test_of_changes_that_threads_make_at_once_none_is_lost(path: Path) -> None:
    """As the window's choice of a model and the note of the library's first reading can be."""
    both = threading.Barrier(2)

    def choose() -> None:
        for number in range(30):
            both.wait()
            store_model(path, f"model {number}", "http://a")

    def note() -> None:
        for number in range(30):
            both.wait()
            store_setting(path, "zotero", f"sqlite:{number}")
            assert load_settings(path).zotero == f"sqlite:{number}"

    threads = [threading.Thread(target=act) for act in (choose, note)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settings = load_settings(path)
    assert (settings.model, settings.zotero, len(settings.endpoints)) == ("model 29", "sqlite:29", 30)


def test_a_process_that_keeps_the_lock_is_waited_for_only_so_long(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store_setting(path, "zotero", "demo")
    monkeypatch.setattr(file_lock, "BUSY_SECONDS", 0)
    [lock] = path.parent.glob(".*.lock")
    with closing(sqlite3.connect(lock, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SettingsUnreadable, match="cannot be written"):
            store_setting(path, "zotero", "auto")
        assert load_settings(path).zotero == "demo"
    store_setting(path, "zotero", "auto")
    assert load_settings(path).zotero == "auto"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no such permissions")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o660])
def test_the_permissions_of_the_file_stay(path: Path, mode: int) -> None:
    path.write_text(BY_HAND, encoding="utf-8")
    path.chmod(mode)
    store_setting(path, "zotero", "demo")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_stays_and_what_it_leads_to_is_changed(tmp_path: Path, is_there: bool) -> None:
    target = tmp_path / "mine" / "kept.toml"
    path = tmp_path / "profile" / "settings.toml"
    path.parent.mkdir()
    if is_there:
        target.parent.mkdir()
        target.write_text(BY_HAND, encoding="utf-8")
    path.symlink_to(Path("..", "mine", "kept.toml"))
    store_setting(path, "real_library_used", True)
    assert path.is_symlink()
    assert not target.is_symlink()
    assert target.read_text(encoding="utf-8") == (BY_HAND if is_there else "[zotero]\n") + "real_library_used = true\n"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_that_leads_to_itself_is_told(path: Path) -> None:
    path.symlink_to(path)
    with pytest.raises(SettingsUnreadable):
        store_setting(path, "zotero", "demo")
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_its_owner_made_read_only_is_left_as_it_is(path: Path) -> None:
    path.write_text(BY_HAND, encoding="utf-8")
    path.chmod(0o444)
    assert load_settings(path).zotero == "local"
    for act in (partial(store_setting, path, "zotero", "demo"), partial(store_model, path, "m")):
        with pytest.raises(SettingsUnreadable, match="is read-only and was left as it is"):
            act()
    assert path.read_text(encoding="utf-8") == BY_HAND
    assert list(path.parent.iterdir()) == [path]
    path.chmod(0o644)


@pytest.mark.parametrize("depth", [10, 50, 100, 200, 400, 900, 5_000])
def test_what_can_be_read_can_be_changed_or_is_told(path: Path, depth: int) -> None:
    """What reads the file for a change is another reader, which follows lists in lists less far."""
    text = "a = " + "[" * depth + "]" * depth + "\n"
    path.write_text(text, encoding="utf-8")
    told = ""
    try:
        store_setting(path, "zotero", "demo")
    except SettingsUnreadable as refusal:
        told = str(refusal)
    after = path.read_text(encoding="utf-8")
    if told:
        assert "mend it" in told
        assert after == text
    else:
        assert after.startswith(text)
        assert load_settings(path).zotero == "demo"


def test_the_longest_value_is_kept_and_a_longer_one_is_not_written(path: Path) -> None:
    longest = "x" * LONGEST_VALUE
    store_model(path, longest, longest)
    before = path.read_bytes()
    assert load_settings(path).address(longest) == longest
    for act in (
        partial(store_model, path, longest + "x"),
        partial(store_model, path, "m", longest + "x"),
        partial(store_setting, path, "zotero", longest + "x"),
    ):
        with pytest.raises(SettingsUnreadable, match="2,000 characters at most"):
            act()
    assert path.read_bytes() == before
