"""Which library the person means: the `--zotero` option made a source (Z-1)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from .database import DatabaseSource
from .demo import DemoSource
from .discovery import attachment_base, find_data_directory
from .port import Clock, LibrarySource, ZoteroUnavailable


def open_source(
    choice: str,
    *,
    demo_directory: Path,
    home: Path,
    environ: Mapping[str, str],
    platform: str,
    clock: Clock,
    real_library_used: bool,
) -> LibrarySource:
    """The source for a choice of `auto`, `local`, `web`, `demo` or `sqlite:PATH`.

    `auto` is this user's own database where one is found, else the demo library, which is never chosen by itself
    once a real library was used. `platform` is named as `sys.platform` names it. No source is read here.
    Raises ZoteroUnavailable where the choice cannot be had, and ValueError where it is none of these.
    """
    scheme, _, path = choice.partition(":")
    if scheme == "sqlite" and path:
        database = Path(home, path[2:]) if re.match(r"~[/\\]", path) else home if path == "~" else Path(path)
        data_directory = database if os.path.isdir(database) else database.absolute().parent
        base = attachment_base(data_directory, home, environ, platform)
        return DatabaseSource(database, clock=clock, attachment_base=base)
    match choice:
        case "demo":
            return DemoSource(demo_directory)
        case "auto":
            found = find_data_directory(home, environ, platform)
            if found is not None:
                return DatabaseSource(found.path, clock=clock, attachment_base=found.attachment_base)
            if real_library_used:
                raise ZoteroUnavailable(
                    "No Zotero library was found on this computer, though one was used before; your sessions are safe; "
                    "start Zotero once, or name its data directory with --zotero sqlite:PATH "
                    "(--zotero demo opens the demo library)."
                )
            return DemoSource(demo_directory)
        case "local" | "web":
            which = "the local API of a running Zotero" if choice == "local" else "the Web API of zotero.org"
            raise ZoteroUnavailable(
                f"This version does not read {which}, only Zotero's database, which may be in use meanwhile, and the "
                "demo library; start it with --zotero auto, --zotero sqlite:PATH or --zotero demo."
            )
    raise ValueError(f"--zotero takes auto, local, web, demo or sqlite:PATH, not {choice!r}")
