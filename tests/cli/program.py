"""The program in a process of its own, as a person or a script starts it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]

_NEEDED = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Program:
    """Runs with a home and a profile of its own, and without any of this machine's keys and settings."""

    folder: Path
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def profile(self) -> Path:
        return self.folder / "profile"

    @property
    def environment(self) -> dict[str, str]:
        self.home.mkdir(parents=True, exist_ok=True)
        kept = {
            name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR") if name in os.environ
        }
        own = {"HOME": str(self.home), "USERPROFILE": str(self.home), "BIBGENIE_PROFILE": str(self.profile)}
        return {**kept, **own, "PYTHONPATH": str(CHECKOUT), **self.more}

    def run(self, *arguments: str) -> Finished:
        """Run a command to its end, its output into pipes."""
        ended = subprocess.run(
            argv(*arguments),
            cwd=self.home.parent,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=100,
        )
        return Finished(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    async def start(self, *arguments: str) -> Process:
        """Start a command; whoever starts one waits for its end."""
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            *argv(*arguments),
            cwd=self.folder,
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
        )


def argv(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "bibgenie_desktop", *arguments]


async def finished(process: Process) -> Finished:
    """Wait for its end."""
    out, err = await process.communicate()
    assert process.returncode is not None
    return Finished(process.returncode, out.decode(), err.decode())
