"""Where the file of an attachment lies, decided without leaving the directories it may lie in (Z-5)."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from ..sessions.locators import ItemRef

MISSING = "not on this computer"
WEB_LINK = "a link to the web, without a file"
NOTE_PICTURE = "a picture inside a note, not a document"

_WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]|\\\\")


@dataclass(frozen=True, slots=True)
class AttachmentFile:
    """A file that can be read at `path`, or None and the `problem` in a few words. `filename` is only shown."""

    filename: str
    path: str | None
    problem: str = ""


class AttachmentFiles:
    """Finds the files of a data directory's attachments.

    `attachment_base` is what paths of the form `attachments:…` are relative to, if the user set it. `windows` tells
    which form of path this computer has. All methods look at directory entries only; no file is opened.
    """

    def __init__(
        self, data_directory: Path, attachment_base: Path | None = None, *, windows: bool = os.name == "nt"
    ) -> None:
        self._storage = data_directory.absolute() / "storage"
        self._base = attachment_base
        self._windows = windows

    def locate(self, ref: ItemRef, link_mode: str, stored: str) -> AttachmentFile:
        """The file of attachment `ref`, whose link mode and path Zotero stored as `link_mode` and `stored`."""
        if link_mode == "linked_url":
            return AttachmentFile("", None, WEB_LINK)
        if link_mode == "embedded_image":
            return AttachmentFile(stored.removeprefix("storage:"), None, NOTE_PICTURE)
        if not stored:
            return AttachmentFile("", None, MISSING)
        if "\0" in stored:
            return AttachmentFile("", None, "its path is not a path")
        if stored.startswith("storage:"):
            return self._stored(ref, stored.removeprefix("storage:"))
        if ref.library.group_id:
            # Zotero has no linked files in groups; a path that came from another member must not name a file here.
            return AttachmentFile(_last(stored), None, "a linked file in a group library, which Zotero does not allow")
        if stored.startswith("attachments:"):
            return self._relative(stored.removeprefix("attachments:"))
        return self._absolute(stored)

    def _stored(self, ref: ItemRef, name: str) -> AttachmentFile:
        if name in {"", ".", ".."} or "/" in name or (self._windows and ("\\" in name or ":" in name)):
            return AttachmentFile(name, None, "its path leads out of Zotero's storage")
        if name.startswith(".zotero"):
            return AttachmentFile(name, None, "a file of Zotero's own, not a document")
        return _existing(name, self._storage / ref.key / name)

    def _relative(self, relative: str) -> AttachmentFile:
        parts = re.split(r"[/\\]" if self._windows else "/", relative)
        name = parts[-1]
        if self._base is None:
            return AttachmentFile(name, None, "linked relative to a base directory that is not set on this computer")
        if any(part in {"", ".", ".."} or (self._windows and ":" in part) for part in parts):
            return AttachmentFile(name, None, "its path leads out of the base directory of linked files")
        return _existing(name, self._base.joinpath(*parts))

    def _absolute(self, stored: str) -> AttachmentFile:
        name = _last(stored)
        if _WINDOWS_PATH.match(stored):
            if self._windows:
                return _existing(name, Path(stored))
            return AttachmentFile(name, None, f"{MISSING}: linked on a Windows computer")
        if stored.startswith("/"):
            if not self._windows:
                return _existing(name, Path(stored))
            return AttachmentFile(name, None, f"{MISSING}: linked on a Mac or Linux computer")
        if stored.startswith("AAAA"):
            return AttachmentFile("", None, f"{MISSING}: linked by an old Mac alias that names no path")
        return AttachmentFile(name, None, "its path is not complete")


def _last(stored: str) -> str:
    return re.split(r"[/\\]", stored)[-1]


def _existing(name: str, path: Path) -> AttachmentFile:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return AttachmentFile(name, None, MISSING)
    except OSError as error:
        return AttachmentFile(name, None, f"cannot be reached: {error.strerror}")
    if not stat.S_ISREG(status.st_mode):
        return AttachmentFile(name, None, "not a file")
    if status.st_size == 0:
        return AttachmentFile(name, None, "an empty file")
    return AttachmentFile(name, str(path))
