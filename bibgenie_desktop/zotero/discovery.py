"""Where this user's Zotero keeps its data: asked of Zotero's own profile, never guessed past it (Z-1).

Nothing here reads the environment by itself: the home directory, the environment and the platform (as `sys.platform`
names it) are arguments.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

DATABASE_NAME = "zotero.sqlite"

_PREFERENCE = re.compile(r'^\s*user_pref\(\s*("(?:[^"\\]|\\.)*")\s*,\s*(.*?)\s*\)\s*;\s*$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """A place for Zotero's data, and what its `attachments:` paths are relative to, if the user chose that."""

    path: Path
    attachment_base: Path | None = None


def find_data_directory(home: Path, environ: Mapping[str, str], platform: str) -> DataDirectory | None:
    """The data directory of this user's Zotero, or None where no database is found."""
    for directory in data_directories(home, environ, platform):
        if _is_file(directory.path / DATABASE_NAME):
            return directory
    return None


def attachment_base(data_directory: Path, home: Path, environ: Mapping[str, str], platform: str) -> Path | None:
    """The base of linked files, if a profile of this user belongs to `data_directory` and sets one."""
    wanted = os.path.realpath(data_directory)
    for directory in data_directories(home, environ, platform):
        if os.path.realpath(directory.path) == wanted:
            return directory.attachment_base
    return None


def data_directories(home: Path, environ: Mapping[str, str], platform: str) -> Iterator[DataDirectory]:
    """Where a Zotero of this user would keep its data, the likeliest first; the places need not exist.

    A profile that names a directory of its own stands for that directory alone: an old library in the default place
    must not be taken for the one in use.
    """
    for profiles, default in _installations(home, environ, platform):
        preferences = _preferences(profiles)
        base = _path(preferences.get("extensions.zotero.baseAttachmentPath"))
        if preferences.get("extensions.zotero.useDataDir") is True:
            chosen = _path(preferences.get("extensions.zotero.dataDir"))
            if chosen is not None:
                yield DataDirectory(chosen, base)
            continue
        yield DataDirectory(default, base)


def _installations(home: Path, environ: Mapping[str, str], platform: str) -> Iterator[tuple[Path, Path]]:
    """Pairs of the directory that holds profiles.ini and the default data directory."""
    if platform == "win32":
        roaming = _path(environ.get("APPDATA")) or home / "AppData" / "Roaming"
        yield roaming / "Zotero" / "Zotero", home / "Zotero"
    elif platform == "darwin":
        yield home / "Library" / "Application Support" / "Zotero", home / "Zotero"
    else:
        # A flatpak without access to the home directory, and every snap, has a home of its own.
        homes = (
            home,
            home / ".var" / "app" / "org.zotero.Zotero",
            home / "snap" / "zotero-snap" / "common",
            home / "snap" / "zotero-snap" / "current",
        )
        for own_home in homes:
            yield own_home / ".zotero" / "zotero", own_home / "Zotero"


def _preferences(profiles: Path) -> dict[str, object]:
    """The preferences of the default profile; none where there is no profile or it cannot be read."""
    profile = _default_profile(profiles)
    if profile is None:
        return {}
    preferences: dict[str, object] = {}
    for name, value in _PREFERENCE.findall(_text(profile / "prefs.js")):
        try:
            preferences[json.loads(name)] = json.loads(value)
        except (ValueError, RecursionError):
            continue  # a value that is not plain is none of those asked for here
    return preferences


def _default_profile(profiles: Path) -> Path | None:
    """The profile that Zotero starts with: the one marked as default, else the last one, as Zotero reads it."""
    section: dict[str, str] = {}
    last: dict[str, str] = {}
    default: dict[str, str] = {}
    for line in map(str.strip, _text(profiles / "profiles.ini").splitlines()):
        if line.startswith("["):
            section = {}
            if line.casefold().startswith("[profile"):
                last = section
            continue
        name, _, value = line.partition("=")
        section[name] = value
        if section is last and (name, value) == ("Default", "1"):
            default = section
    chosen = default or last
    path = chosen.get("Path", "")
    if not path:
        return None
    return profiles.joinpath(*path.split("/")) if chosen.get("IsRelative") == "1" else _path(path)


def _path(value: object) -> Path | None:
    if not isinstance(value, str) or "\0" in value:
        return None
    path = Path(value)
    return path if path.is_absolute() else None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
