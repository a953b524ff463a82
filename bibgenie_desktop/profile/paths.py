"""Where things lie: the profile folder, and the resources that ship with the app."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT_VARIABLE = "BIBGENIE_PROFILE"


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything the app stores lies in this folder (interface.md)."""

    folder: Path

    def make(self) -> None:
        """Make the folder, for this user alone; one that cannot be made is told by what needs it."""
        with suppress(OSError):
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)

    @property
    def sessions(self) -> Path:
        """The history: precious."""
        return self.folder / "sessions.sqlite"

    @property
    def library(self) -> Path:
        """The library index: a cache that can be deleted."""
        return self.folder / "library.sqlite"

    @property
    def settings(self) -> Path:
        """Readable settings without secrets."""
        return self.folder / "settings.toml"

    @property
    def logs(self) -> Path:
        """Log files, secrets redacted."""
        return self.folder / "logs"

    @property
    def backups(self) -> Path:
        """Copies of the history made before migrations."""
        return self.folder / "backups"


def find_profile(chosen: str | None, environ: Mapping[str, str]) -> Profile:
    """The profile: `--profile`, else BIBGENIE_PROFILE, else the platform's folder for an application's data."""
    folder = chosen or environ.get(ENVIRONMENT_VARIABLE)
    if folder:
        # os.path leaves a `~name` that nobody has as it is; pathlib raises for it.
        return Profile(Path(os.path.expanduser(folder)).absolute())
    import platformdirs

    return Profile(Path(platformdirs.user_data_dir("bibgenie-desktop", appauthor=False)))


def resources() -> Path:
    """The folder of prompts, icons and the demo library: beside the package in a checkout, inside it when installed."""
    package = Path(__file__).resolve().parent.parent
    beside = package.parent / "resources"
    return beside if (beside / "prompts").is_dir() else package / "resources"
