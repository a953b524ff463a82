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
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsUnreadable(
            f"The settings file {path} cannot be read and was left as it is: mend it or move it away."
        ) from error
    values: dict[str, Any] = {}
    for name, (table, key) in _PLACES.items():
        section = data.get(table, {})
        if isinstance(section, dict) and key in section:
            value = section[key]
            if not isinstance(value, type(getattr(Settings(), name))):
                raise SettingsUnreadable(
                    f"In the settings file {path}, {table}.{key} has a value of the wrong kind: mend it or remove the line."
                )
            values[name] = value
    return Settings(**values)


def store_setting(path: Path, name: str, value: str | bool) -> None:
    """Change one setting and leave all else of the file as it stands. Raises SettingsUnreadable."""
    import tomlkit

    table, key = _PLACES[name]
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
        section = document.setdefault(table, tomlkit.table())
        section[key] = value
        _replace(path, tomlkit.dumps(document))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise SettingsUnreadable(f"The settings file {path} cannot be written: check the folder.") from error


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
