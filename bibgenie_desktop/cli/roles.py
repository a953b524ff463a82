"""How a process of ours is started in another role. Imports nothing heavy: the window needs it before all else."""

from __future__ import annotations

import sys

from .options import Options


def child_argv(role: str) -> list[str]:
    """How a process of ours is started in another role; the same in a checkout and in a frozen app."""
    if getattr(sys, "frozen", False):
        return [sys.executable, f"--bibgenie-role={role}"]
    return [sys.executable, "-P", "-m", "bibgenie_desktop", f"--bibgenie-role={role}"]


def engine_argv(options: Options) -> list[str]:
    """How an engine is started that works with the same profile, library and model as `options` say."""
    given = {
        "--profile": options.profile,
        "--zotero": options.zotero,
        "--zotero-url": options.zotero_url,
        "--model": options.model,
        "--api-base": options.api_base,
        "--context-window": options.context_window,
        "--max-output": options.max_output,
        "--log-level": options.log_level,
    }
    return [*child_argv("engine"), *(f"{name}={value}" for name, value in given.items() if value is not None)]
