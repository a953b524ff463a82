"""A copy of the history, made before a migration changes it (T-9)."""

from __future__ import annotations

import filecmp
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from .database import StoreUnavailable


def back_up(path: Path, version: int, now: datetime) -> Path:
    """Copy the file at `path`, of schema `version`, into the folder `backups` beside it; returns the copy.

    The copy is what was committed last: a transaction that is open meanwhile is not in it, and its lock keeps all
    others from committing between the copy and the change. A copy that could not be finished is not left behind, and
    one that equals an earlier copy of this version is not kept beside it: each start of a program that is killed
    before the change would leave another. Earlier copies are never removed. Raises StoreUnavailable.
    """
    folder = path.parent / "backups"
    copy = folder / f"{path.stem}-version-{version}-{now.astimezone(UTC):%Y%m%dT%H%M%S%fZ}{path.suffix}"
    unfinished = _unfinished(path)
    try:
        folder.mkdir(exist_ok=True)
        remove_unfinished(path)
        try:
            with (
                closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
                closing(sqlite3.connect(unfinished)) as target,
            ):
                source.backup(target)
            for earlier in sorted(folder.glob(f"{path.stem}-version-{version}-*{path.suffix}"), reverse=True):
                if _are_equal(unfinished, earlier):
                    return earlier
            os.replace(unfinished, copy)
        finally:
            remove_unfinished(path)
    except (OSError, sqlite3.Error) as error:
        raise StoreUnavailable(
            "unwritable",
            f"The history {path} is of an older version and could not be copied into {folder} before bringing it "
            "forward; nothing was changed: check that folder and the disk's free space.",
        ) from error
    return copy


def copies_of(path: Path) -> list[Path]:
    """The copies in the folder `backups` of the history at `path`, under whatever name somebody gave them."""
    return sorted(each for each in (path.parent / "backups").glob(f"*{path.suffix}") if each.is_file())


def remove_unfinished(path: Path) -> None:
    """Remove a copy that a killed program left unfinished; whoever makes one holds the history's write lock."""
    unfinished = _unfinished(path)
    for name in (unfinished, Path(f"{unfinished}-journal")):
        name.unlink(missing_ok=True)


def _unfinished(path: Path) -> Path:
    return path.parent / "backups" / f"{path.stem}.unfinished"


def _are_equal(copy: Path, earlier: Path) -> bool:
    try:
        return filecmp.cmp(copy, earlier, shallow=False)
    except OSError:
        return False  # what cannot be read cannot be relied on
