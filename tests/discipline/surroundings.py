"""What a test must leave as it was: the environment, the working directory, sys.path, the root logger."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Surroundings:
    """How things stood before a test."""

    environment: dict[str, str]
    directory: str
    path: list[str]
    level: int
    handlers: list[logging.Handler]


def begin() -> Surroundings:
    """Returns how things stand now."""
    root = logging.getLogger()
    return Surroundings(_environment(), os.getcwd(), sys.path[:], root.level, root.handlers[:])


def complaints(before: Surroundings) -> list[str]:
    """Returns what is different, and puts it back."""
    now = begin()
    found = []
    for name in sorted(before.environment.keys() | now.environment.keys()):
        if before.environment.get(name) != now.environment.get(name):
            found.append(f"the environment variable {name} was changed")
            if name in before.environment:
                os.environ[name] = before.environment[name]
            else:
                del os.environ[name]
    if now.directory != before.directory:
        found.append(f"the working directory was changed to {now.directory}")
        os.chdir(before.directory)
    if now.path != before.path:
        found.append("sys.path was changed")
        sys.path[:] = before.path
    root = logging.getLogger()
    if (now.level, now.handlers) != (before.level, before.handlers):
        found.append("the root logger was changed")
        root.setLevel(before.level)
        root.handlers[:] = before.handlers
    return found


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
