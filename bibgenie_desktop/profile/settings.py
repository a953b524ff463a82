"""settings.toml: readable, without secrets, edited by hand or by the app; comments and unknown keys survive."""

from __future__ import annotations

import os
import stat
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from .file_lock import LockUnavailable, locked

LONGEST_KEPT = 36_500
"""Days that chats can be kept: a hundred years."""
MOST_TOKENS = 100_000_000
"""Of any window."""
LONGEST_VALUE = 2_000
"""Characters of a name or an address: above this it is a mistake, and what passes it on would have to carry it."""


class SettingsUnreadable(Exception):
    """The settings cannot be read or written. `str()` is one plain sentence."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings this version knows. `real_library_used` keeps `auto` from falling back to the demo library.

    `api_base` is the address of `model` alone; `endpoints` holds those of other models, by name. `language` is the
    window's, "" for the system's. `keep_days` is how long a chat that nobody uses is kept, 0 for always (T-7).

    `compact_when` is `always`, `sending` or `never` (D-14); `compact_at` the tokens at which compaction begins, 0 for
    what the model's window gives, and `thresholds` those of single models (C-4). `summary_model` writes the summaries,
    "" for the chat's own model; every `rebuild_every`-th is written from the stored messages, 0 for none (C-12).
    """

    model: str = ""
    api_base: str = ""
    zotero: str = "auto"
    real_library_used: bool = False
    language: str = ""
    keep_days: int = 0
    compact_when: str = "always"
    compact_at: int = 0
    summary_model: str = ""
    rebuild_every: int = 4
    endpoints: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[str, int] = field(default_factory=dict)

    def address(self, model: str) -> str:
        """The address for `model`, "" for its provider's own. No model gets another's, whose key goes there (S-2)."""
        own = self.api_base if model and model == self.model else ""
        return own or self.endpoints.get(model, "")


_PLACES = {
    "model": ("model", "name"),
    "api_base": ("model", "api_base"),
    "zotero": ("zotero", "source"),
    "real_library_used": ("zotero", "real_library_used"),
    "language": ("window", "language"),
    "keep_days": ("history", "keep_days"),
    "compact_when": ("compaction", "when"),
    "compact_at": ("compaction", "at_tokens"),
    "summary_model": ("compaction", "model"),
    "rebuild_every": ("compaction", "rebuild_every"),
}
_ENDPOINTS = "endpoints"
_THRESHOLDS = "thresholds"
_CHOICES = {"compact_when": ("always", "sending", "never")}


def load_settings(path: Path) -> Settings:
    """Read the settings; a missing file gives the defaults. Raises SettingsUnreadable."""
    try:
        data = tomllib.loads(_text(path))
    except (OSError, ValueError, RecursionError) as error:  # a number of too many digits is a plain ValueError
        raise _unreadable(path) from error
    values: dict[str, Any] = {}
    for name, (table, key) in _PLACES.items():
        section = data.get(table, {})
        if not isinstance(section, dict):
            raise _wrong_kind(path, table)
        if key in section:
            if not _is_of_kind(section[key], getattr(Settings(), name), _most(name)):
                raise _wrong_kind(path, f"{table}.{key}")
            if section[key] not in _CHOICES.get(name, (section[key],)):
                raise _wrong_kind(path, f"{table}.{key}")
            values[name] = section[key]
    endpoints = data.get(_ENDPOINTS, {})
    if not isinstance(endpoints, dict):
        raise _wrong_kind(path, _ENDPOINTS)
    for model, address in endpoints.items():
        if not isinstance(address, str) or _is_too_long(address) or _is_too_long(model):
            raise _wrong_kind(path, f"{_ENDPOINTS}.{shortened(model)}")
    thresholds = data.get(_THRESHOLDS, {})
    if not isinstance(thresholds, dict):
        raise _wrong_kind(path, _THRESHOLDS)
    for model, tokens in thresholds.items():
        if not _is_of_kind(tokens, 0, MOST_TOKENS) or _is_too_long(model):
            raise _wrong_kind(path, f"{_THRESHOLDS}.{shortened(model)}")
    return Settings(**values, endpoints=endpoints, thresholds=thresholds)


def store_setting(path: Path, name: str, value: str | bool | int) -> None:
    """Change one setting and leave all else of the file as it stands. Raises SettingsUnreadable.

    A file that `load_settings` refuses is not written, nor a value that it would refuse, nor a file that its owner
    made read-only. Of changes made at once, by threads or processes, none is lost. Another model does not inherit the
    address: see `store_model`.
    """
    if name == "model":
        store_model(path, str(value))
        return
    table, key = _PLACES[name]
    if isinstance(value, int) and not _is_of_kind(value, getattr(Settings(), name), _most(name)):
        raise SettingsUnreadable(f"The settings file {path} was left as it is: {value} cannot be its {table}.{key}.")

    def change(document: Any, _: Settings) -> None:
        _section(document, table)[key] = value

    _change(path, (value,), change)


def store_model(path: Path, name: str, address: str = "") -> None:
    """Choose a model and leave all else of the file as it stands. Raises SettingsUnreadable.

    An address that stood beside another model goes to `[endpoints]`, with its comment, under that model's name; one
    that stood beside no model goes there under "", where no model finds it. `address` is the one that `name` is
    used with; "" leaves the one that is known for it.
    """

    def change(document: Any, settings: Settings) -> None:
        section = _section(document, "model")
        if settings.api_base and settings.model != name:
            written = section["api_base"]
            del section["api_base"]
            _section(document, _ENDPOINTS)[settings.model] = written
        section["name"] = name
        if address and settings.model == name and settings.api_base:
            section["api_base"] = address
        elif address:
            _section(document, _ENDPOINTS)[name] = address

    _change(path, (name, address), change)


def _section(document: Any, table: str) -> Any:
    import tomlkit

    return document.setdefault(table, tomlkit.table())


def _change(path: Path, values: tuple[str | bool | int, ...], change: Callable[[Any, Settings], None]) -> None:
    import tomlkit

    if any(_is_too_long(value) for value in values):
        raise SettingsUnreadable(
            f"The settings file {path} was left as it is: a setting has {LONGEST_VALUE:,} characters at most."
        )
    load_settings(path)  # beside a file that is left as it is, not even a lock is made
    target = Path(os.path.realpath(path))  # a link stays a link
    try:
        mode = _mode(path, target)
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target.with_name(f".{target.name}.lock")):
            settings = load_settings(path)
            document = tomlkit.parse(_text(path))
            change(document, settings)
            _replace(target, tomlkit.dumps(document), mode)
    except (RecursionError, tomlkit.exceptions.TOMLKitError) as error:
        raise _unreadable(path) from error
    except (OSError, ValueError, LockUnavailable) as error:
        raise SettingsUnreadable(f"The settings file {path} cannot be written: check the folder.") from error


def _mode(path: Path, target: Path) -> int | None:
    """The file's permissions, None where there is no file. Raises SettingsUnreadable for one that is read-only."""
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return None
    if not mode & 0o222 or not os.access(target, os.W_OK):
        raise SettingsUnreadable(
            f"The settings file {path} is read-only and was left as it is: make it writable to have changes kept."
        )
    return mode


def _text(path: Path) -> str:
    """The file's text, "" where there is none. Editors on Windows may put a byte order mark before it."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""  # what stands in the folder's place is told by whatever needs the profile itself


def _most(name: str) -> int:
    """The largest number that a setting can be."""
    return MOST_TOKENS if name == "compact_at" else LONGEST_KEPT


def _is_of_kind(value: object, default: object, most: int = LONGEST_KEPT) -> bool:
    """Whether a value can stand where `default` does."""
    # In TOML true is no number, in Python it is one.
    if not isinstance(value, type(default)) or isinstance(value, bool) != isinstance(default, bool):
        return False
    return not _is_too_long(value) and (not isinstance(value, int) or 0 <= value <= most)


def _is_too_long(value: object) -> bool:
    return isinstance(value, str) and len(value) > LONGEST_VALUE


def _unreadable(path: Path) -> SettingsUnreadable:
    return SettingsUnreadable(
        f"The settings file {path} cannot be read and was left as it is: mend it or move it away."
    )


def _wrong_kind(path: Path, place: str) -> SettingsUnreadable:
    return SettingsUnreadable(
        f"In the settings file {path}, {place} has a value of the wrong kind: mend it or remove the line."
    )


def _replace(path: Path, text: str, mode: int | None) -> None:
    """Write beside the file and put it in its place, so that a killed process leaves the old or the new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
