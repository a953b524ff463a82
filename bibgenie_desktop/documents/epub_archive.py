"""The zip file of an EPUB, which is hostile: bounded in entries, sizes, compression and in all that is unpacked."""

from __future__ import annotations

import posixpath
import struct
import zipfile
import zlib
from urllib.parse import unquote

from .problems import problem

MOST_ENTRIES = 50_000
LARGEST_ENTRY = 32 * 2**20
"""Bytes of one unpacked text file."""
MOST_UNPACKED = 512 * 2**20
"""Bytes unpacked in all from one open book, the same file counted each time."""
HIGHEST_RATIO = 100
"""Unpacked to packed size, for entries above `SMALL_ENTRY`; text reaches about 10."""
SMALL_ENTRY = 2**20

_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, NotImplementedError)
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the only ones that EPUB allows
_ENCRYPTED_FLAG = 0x1
_MIMETYPE = b"application/epub+zip"


class EpubArchive:
    """An open book's files by name. Raises DocumentProblem: damaged, too_large, unsupported (a zip of another kind)."""

    def __init__(self, path: str) -> None:
        self._left = MOST_UNPACKED
        try:
            self._zip = zipfile.ZipFile(path)
        except _BROKEN as error:
            raise problem("damaged" if _claims_to_be_epub(path) else "unsupported") from error
        try:
            self._names = self._checked_names()
        except BaseException:
            self.close()
            raise

    def _checked_names(self) -> dict[str, str]:
        names = self._zip.namelist()
        if len(names) > MOST_ENTRIES:
            raise problem("too_large")
        if "META-INF/container.xml" not in names:
            raise problem("damaged" if self._mimetype_matches(names) else "unsupported")
        # Exact names win over those that differ in case only.
        return {name.casefold(): name for name in names} | {name: name for name in names}

    def _mimetype_matches(self, names: list[str]) -> bool:
        return "mimetype" in names and self.read("mimetype").strip() == _MIMETYPE

    def find(self, base: str, href: str) -> str | None:
        """The name of the file that `href` means, relative to the file `base`; None if there is none."""
        target = href.partition("#")[0]
        for candidate in (unquote(target), target):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(base), candidate)).lstrip("/")
            found = self._names.get(name) or self._names.get(name.casefold())
            if found is not None:
                return found
        return None

    def read(self, name: str) -> bytes:
        """The bytes of one file. Raises DocumentProblem: damaged, encrypted, too_large."""
        try:
            entry = self._zip.getinfo(name)
            if entry.flag_bits & _ENCRYPTED_FLAG:
                raise problem("encrypted")
            if entry.compress_type not in _PACKINGS:
                raise problem("damaged")
            if entry.file_size > min(LARGEST_ENTRY, self._left) or (
                entry.file_size > SMALL_ENTRY and entry.file_size > HIGHEST_RATIO * entry.compress_size
            ):
                raise problem("too_large")
            with self._zip.open(entry) as file:
                data = file.read(LARGEST_ENTRY)
        except (KeyError, *_BROKEN) as error:
            raise problem("damaged") from error
        self._left -= len(data)
        return data

    def close(self) -> None:
        """Close the file."""
        self._zip.close()


def _claims_to_be_epub(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return _MIMETYPE in file.read(100)
    except OSError:
        return False
