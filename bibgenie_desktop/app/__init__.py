"""The window's entry. Nothing here imports Qt before it is known that a window can be opened."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..cli.options import Options, parse_options
from ..cli.roles import engine_argv
from .language import chosen_language

if TYPE_CHECKING:
    from .application import Application

_ASK = './bibgenie ask "What does front matter numbering do to page citations?"'


def build(argv: Sequence[str]) -> Application:
    """Build the whole app, its window shown, without entering the event loop (interface.md).

    `argv` are the command line's options, such as `["--zotero", "demo"]`. A QApplication that exists is used, else
    one is made. The engine is started as soon as a qasync event loop runs.
    """
    from .application import Application

    options = parse_options(argv)
    return Application(engine_argv(options), chosen_language(options))


def run(options: Options) -> int:
    """Open the window and stay until it is closed; 1 with one sentence on stderr where no window can be opened."""
    if not _has_display(sys.platform, os.environ):
        print(f"There is no display to open a window on. Ask without one: {_ASK}", file=sys.stderr)
        return 1
    # What imports make lives as long as the program: the collector need not look through it again and again. The
    # window lets it work once it is painted.
    gc.disable()
    try:
        # Before qasync, which would look for other bindings of Qt and hide what is missing.
        import PySide6.QtWidgets  # noqa: F401

        from .running import run_window
    except ImportError as error:
        print(
            f"The window cannot be opened, because a library of Qt is missing ({error}). Ask without one: {_ASK}",
            file=sys.stderr,
        )
        return 1
    return run_window(options)


def _has_display(platform: str, environ: Mapping[str, str]) -> bool:
    if platform in ("win32", "darwin"):
        return True
    return any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
