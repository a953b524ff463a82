"""The port to a Zotero library (Z-1)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol, TypeAlias

from ..sessions.library import LibrarySnapshot

Clock: TypeAlias = Callable[[], datetime]
"""Tells the time now, with its zone."""


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
        """Names the source for good; rows of two identities are never mixed.

        Raises ZoteroUnavailable. May cost as much as a snapshot the first time, so compare fingerprints first: no
        two sources share one, and where it is unchanged the identity is too.
        """
        ...

    def fingerprint(self) -> str:
        """Changes when the library may have changed; cheap (no copy, no query). Raises ZoteroUnavailable."""
        ...

    def snapshot(self) -> LibrarySnapshot:
        """All that the library holds now. Raises ZoteroUnavailable."""
        ...
