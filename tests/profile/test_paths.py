"""Where the profile lies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bibgenie_desktop.profile.paths import ENVIRONMENT_VARIABLE, Profile, find_profile, resources


def test_the_option_comes_before_the_environment_and_that_before_the_platform(tmp_path: Path) -> None:
    chosen, other = tmp_path / "chosen", tmp_path / "other"
    environ = {ENVIRONMENT_VARIABLE: str(other)}
    assert find_profile(str(chosen), environ).folder == chosen
    assert find_profile(None, environ).folder == other
    assert find_profile("", environ).folder == other
    platform = find_profile(None, {}).folder
    assert platform.is_absolute()
    assert platform.name == "bibgenie-desktop"
    assert find_profile(None, {ENVIRONMENT_VARIABLE: ""}).folder == platform


def test_a_relative_folder_is_that_of_the_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_profile("mine", {}).folder == tmp_path / "mine"


def test_a_tilde_is_the_home_folder_where_there_is_one() -> None:
    assert find_profile("~/mine", {}).folder == Path(os.path.expanduser("~")) / "mine"
    assert find_profile("~nobody-has-this-name/mine", {}).folder.parts[-2:] == ("~nobody-has-this-name", "mine")


def test_the_names_in_a_profile_are_those_that_scripts_rely_on() -> None:
    profile = Profile(Path("/profile"))
    names = [profile.sessions, profile.library, profile.settings, profile.logs, profile.backups]
    assert [path.name for path in names] == ["sessions.sqlite", "library.sqlite", "settings.toml", "logs", "backups"]
    assert {path.parent for path in names} == {profile.folder}


def test_the_resources_are_found() -> None:
    assert (resources() / "prompts").is_dir()
