"""settings.toml: readable, without secrets, edited by hand or by the app; comments and unknown keys survive."""

from __future__ import annotations

import os
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class SettingsUnreadable(Exception):
    """The settings cannot be read or written. `str()` is one plain sentence."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings this version knows. `real_library_used` keeps `auto` from falling back to the demo library."""

    model: str = ""
    api_base: str = ""
    zotero: str = "auto"
    real_library_used: bool = False


_PLACES = {
    "model": ("model", "name"),
    "api_base": ("model", "api_base"),
    "zotero": ("zotero", "source"),
    "real_library_used": ("zotero", "real_library_used"),
}


def load_settings(path: Path) -> Settings:
    """Read the settings; a missing file gives the defaults. Raises SettingsUnreadable."""
    try:
        data = tomllib.loads(_text(path))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsUnreadable(
            f"The settings file {path} cannot be read and was left as it is: mend it or move it away."
        ) from error
    values: dict[str, Any] = {}
    for name, (table, key) in _PLACES.items():
        section = data.get(table, {})
        if not isinstance(section, dict):
            raise _wrong_kind(path, table)
        if key in section:
            if not isinstance(section[key], type(getattr(Settings(), name))):
                raise _wrong_kind(path, f"{table}.{key}")
            values[name] = section[key]
    return Settings(**values)


def store_setting(path: Path, name: str, value: str | bool) -> None:
    """Change one setting and leave all else of the file as it stands. Raises SettingsUnreadable.

    A file that `load_settings` refuses is not written.
    """
    import tomlkit

    load_settings(path)
    table, key = _PLACES[name]
    try:
        document = tomlkit.parse(_text(path))
        section = document.setdefault(table, tomlkit.table())
        section[key] = value
        _replace(path, tomlkit.dumps(document))
    except (OSError, ValueError, tomlkit.exceptions.TOMLKitError) as error:
        raise SettingsUnreadable(f"The settings file {path} cannot be written: check the folder.") from error


def _text(path: Path) -> str:
    """The file's text, "" where there is none. Editors on Windows may put a byte order mark before it."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""  # what stands in the folder's place is told by whatever needs the profile itself


def _wrong_kind(path: Path, place: str) -> SettingsUnreadable:
    return SettingsUnreadable(
        f"In the settings file {path}, {place} has a value of the wrong kind: mend it or remove the line."
    )


def _replace(path: Path, text: str) -> None:
    """Write beside the file and put it in its place, so that a killed process leaves the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
