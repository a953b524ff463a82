"""The data directory is found where this user's Zotero says it is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bibgenie_desktop.zotero.discovery import DataDirectory, attachment_base, find_data_directory

PROFILES = {
    "linux": ".zotero/zotero",
    "darwin": "Library/Application Support/Zotero",
    "win32": "AppData/Roaming/Zotero/Zotero",
}

INI = """[General]
StartWithLastProfile=1

[Profile0]
Name=default
IsRelative=1
Path=Profiles/ab12cd34.default
Default=1
"""


def with_database(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "zotero.sqlite").write_bytes(b"")
    return directory


def with_profile(profiles: Path, preferences: dict[str, object], ini: str = INI) -> Path:
    """A profile as Zotero writes it; its directory."""
    profile = profiles / "Profiles" / "ab12cd34.default"
    profile.mkdir(parents=True)
    (profiles / "profiles.ini").write_text(ini, encoding="utf-8")
    lines = ["// Mozilla User Preferences", "", 'user_pref("browser.startup", 3);']
    lines += [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferences.items()]
    (profile / "prefs.js").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return profile


def chosen(directory: Path, **more: object) -> dict[str, object]:
    return {"extensions.zotero.useDataDir": True, "extensions.zotero.dataDir": str(directory), **more}


@pytest.mark.parametrize("platform", PROFILES)
@pytest.mark.req("Z-1")
def test_a_directory_of_the_users_choice(platform: str, tmp_path: Path) -> None:
    elsewhere = with_database(tmp_path / ("Bücher" if os.name == "nt" else 'Bücher & "Notizen"'))
    with_database(tmp_path / "Zotero")
    with_profile(tmp_path / PROFILES[platform], chosen(elsewhere))
    assert find_data_directory(tmp_path, {}, platform) == DataDirectory(elsewhere)


@pytest.mark.parametrize("platform", PROFILES)
@pytest.mark.req("Z-1")
def test_the_default_directory(platform: str, tmp_path: Path) -> None:
    """With a profile that chose nothing, with one that once chose something, and with no profile at all."""
    default = with_database(tmp_path / "Zotero")
    assert find_data_directory(tmp_path, {}, platform) == DataDirectory(default)
    once = with_database(tmp_path / "once")
    with_profile(tmp_path / PROFILES[platform], {**chosen(once), "extensions.zotero.useDataDir": False})
    assert find_data_directory(tmp_path, {}, platform) == DataDirectory(default)


@pytest.mark.parametrize("platform", PROFILES)
@pytest.mark.req("Z-1")
def test_nothing_is_found_where_nothing_is(platform: str, tmp_path: Path) -> None:
    assert find_data_directory(tmp_path, {}, platform) is None
    (tmp_path / "Zotero").mkdir()
    assert find_data_directory(tmp_path, {}, platform) is None


@pytest.mark.req("Z-1")
def test_an_old_library_in_the_default_place_is_not_taken_for_the_chosen_one(tmp_path: Path) -> None:
    with_database(tmp_path / "Zotero")
    with_profile(tmp_path / PROFILES["linux"], chosen(tmp_path / "drive that is not mounted"))
    assert find_data_directory(tmp_path, {}, "linux") is None


@pytest.mark.req("Z-1")
def test_windows_profiles_lie_where_the_environment_says(tmp_path: Path) -> None:
    elsewhere = with_database(tmp_path / "elsewhere")
    with_profile(tmp_path / "roaming" / "Zotero" / "Zotero", chosen(elsewhere))
    environ = {"APPDATA": str(tmp_path / "roaming")}
    assert find_data_directory(tmp_path, environ, "win32") == DataDirectory(elsewhere)


@pytest.mark.parametrize(
    "own_home", [".var/app/org.zotero.Zotero", "snap/zotero-snap/common", "snap/zotero-snap/current"]
)
@pytest.mark.req("Z-1")
def test_sandboxes_on_linux_have_homes_of_their_own(own_home: str, tmp_path: Path) -> None:
    home = tmp_path / own_home
    default = with_database(home / "Zotero")
    assert find_data_directory(tmp_path, {}, "linux") == DataDirectory(default)
    assert find_data_directory(tmp_path, {}, "darwin") is None
    elsewhere = with_database(tmp_path / "elsewhere")
    with_profile(home / ".zotero" / "zotero", chosen(elsewhere))
    assert find_data_directory(tmp_path, {}, "linux") == DataDirectory(elsewhere)


@pytest.mark.req("Z-1")
def test_a_zotero_outside_any_sandbox_comes_first(tmp_path: Path) -> None:
    with_database(tmp_path / ".var" / "app" / "org.zotero.Zotero" / "Zotero")
    default = with_database(tmp_path / "Zotero")
    assert find_data_directory(tmp_path, {}, "linux") == DataDirectory(default)


@pytest.mark.req("Z-1")
def test_of_several_profiles_the_default_one_counts(tmp_path: Path) -> None:
    profiles = tmp_path / PROFILES["linux"]
    ini = INI.replace("[Profile0]", "[Profile1]") + (
        "\n[Profile0]\nName=work\nIsRelative=1\nPath=Profiles/work\n\n[Install4F96D1932A9F858E]\nDefault=1\n"
    )
    elsewhere, wrong = with_database(tmp_path / "elsewhere"), with_database(tmp_path / "wrong")
    with_profile(profiles, chosen(elsewhere), ini)
    (profiles / "Profiles" / "work").mkdir()
    (profiles / "Profiles" / "work" / "prefs.js").write_text(
        f'user_pref("extensions.zotero.useDataDir", true);\n'
        f'user_pref("extensions.zotero.dataDir", {json.dumps(str(wrong))});\n'
    )
    assert find_data_directory(tmp_path, {}, "linux") == DataDirectory(elsewhere)


@pytest.mark.req("Z-1")
def test_a_profile_may_lie_anywhere_and_be_marked_by_nothing(tmp_path: Path) -> None:
    profile = with_profile(tmp_path / "moved", chosen(with_database(tmp_path / "elsewhere")))
    profiles = tmp_path / PROFILES["linux"]
    profiles.mkdir(parents=True)
    (profiles / "profiles.ini").write_text(f"[Profile0]\r\nIsRelative=0\r\nPath={profile}\r\n", encoding="utf-8")
    assert find_data_directory(tmp_path, {}, "linux") == DataDirectory(tmp_path / "elsewhere")


@pytest.mark.parametrize(
    "line",
    [
        'user_pref("extensions.zotero.dataDir", "relative/path");',
        'user_pref("extensions.zotero.dataDir", "/home\\u0000/ada");',
        'user_pref("extensions.zotero.dataDir", 7);',
        'user_pref("extensions.zotero.dataDir", nonsense);',
        'user_pref("extensions.zotero.dataDir", "cut off',
        "",
    ],
)
@pytest.mark.req("Z-1")
def test_a_choice_that_names_no_place_finds_nothing_and_raises_nothing(line: str, tmp_path: Path) -> None:
    profile = with_profile(tmp_path / PROFILES["linux"], {"extensions.zotero.useDataDir": True})
    with (profile / "prefs.js").open("a", encoding="utf-8") as preferences:
        preferences.write(line)
    default = with_database(tmp_path / "Zotero")
    assert find_data_directory(tmp_path, {}, "linux") is None
    assert attachment_base(default, tmp_path, {}, "linux") is None


@pytest.mark.req("Z-1")
def test_preferences_that_are_not_all_utf_8_are_read_all_the_same(tmp_path: Path) -> None:
    elsewhere = with_database(tmp_path / "elsewhere")
    profile = with_profile(tmp_path / PROFILES["linux"], chosen(elsewhere))
    with (profile / "prefs.js").open("ab") as preferences:
        preferences.write(b'user_pref("extensions.zotero.other", "B\xfccher");\n')
    assert find_data_directory(tmp_path, {}, "linux") == DataDirectory(elsewhere)


@pytest.mark.parametrize("ini", ["", "[", "[Profile0]\nPath\n", "[Profile0]\nPath=\0\nIsRelative=1\n", "\udcff"])
@pytest.mark.req("Z-1")
def test_a_damaged_profile_list_leaves_the_default_place(ini: str, tmp_path: Path) -> None:
    profiles = tmp_path / PROFILES["linux"]
    profiles.mkdir(parents=True)
    (profiles / "profiles.ini").write_bytes(ini.encode("utf-8", "surrogateescape"))
    default = with_database(tmp_path / "Zotero")
    assert find_data_directory(tmp_path, {}, "linux") == DataDirectory(default)


@pytest.mark.req("Z-5")
def test_the_base_of_linked_files_belongs_to_the_profile_of_the_data_directory(tmp_path: Path) -> None:
    papers = tmp_path / "Papers"
    default = with_database(tmp_path / "Zotero")
    with_profile(tmp_path / PROFILES["linux"], {"extensions.zotero.baseAttachmentPath": str(papers)})
    assert find_data_directory(tmp_path, {}, "linux") == DataDirectory(default, papers)
    assert attachment_base(tmp_path / "Zotero" / ".." / "Zotero", tmp_path, {}, "linux") == papers
    assert attachment_base(tmp_path / "another", tmp_path, {}, "linux") is None
