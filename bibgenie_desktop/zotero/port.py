"""The port to a Zotero library (Z-1)."""

from __future__ import annotations

from typing import Protocol

from ..sessions.library import LibrarySnapshot


class ZoteroUnavailable(Exception):
    """The library cannot be read now. `str()` is one plain sentence for the user: what happened and what to do."""


class LibrarySource(Protocol):
    """A Zotero library to read. Its methods block and are called from one thread at a time."""

    @property
    def kind(self) -> str:
        """`demo` or `sqlite`."""
        ...

    @property
    def title(self) -> str:
        """For the user, within a sentence: "the demo library", "the Zotero database in /home/ada/Zotero"."""
        ...

    @property
    def identity(self) -> str:
        """Names the source for good; rows of two identities are never mixed."""
        ...

    def fingerprint(self) -> str:
        """Changes when the library may have changed; cheap (no copy, no query). Raises ZoteroUnavailable."""
        ...

    def snapshot(self) -> LibrarySnapshot:
        """All that the library holds now. Raises ZoteroUnavailable."""
        ...
