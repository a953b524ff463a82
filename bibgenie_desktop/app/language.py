"""The language that a person chose for the window."""

from __future__ import annotations

import os

from ..cli.options import Options
from ..profile.paths import find_profile
from ..profile.settings import SettingsUnreadable, load_settings


def chosen_language(options: Options) -> str:
    """`[window] language` in the settings, "" for the system's; also where they cannot be read: the engine says so."""
    try:
        return load_settings(find_profile(options.profile, os.environ).settings).language
    except SettingsUnreadable:
        return ""
