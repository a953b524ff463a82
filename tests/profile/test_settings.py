"""settings.toml: edited by hand and by the app, and neither spoils the other's work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.profile.settings import Settings, SettingsUnreadable, load_settings, store_setting

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
    assert list(path.parent.iterdir()) == [path]
    assert "# where my library is" in path.read_text(encoding="utf-8")
