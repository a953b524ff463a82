"""The system prompt, a file of the app's resources. It holds nothing that changes between two requests (C-19)."""

from __future__ import annotations

from pathlib import Path

PROMPT_VERSION = "1"
"""Grows with each change of the text."""


def system_prompt(resources: Path) -> str:
    """The text of `prompts/system.md`."""
    return (resources / "prompts" / "system.md").read_text(encoding="utf-8").strip()
