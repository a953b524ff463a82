"""The two locks: exact, hashed, naming no registry, agreeing with each other, without what must not be installed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

CHECKOUT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")
ENTRY = re.compile(r"(?P<requirement>[A-Za-z0-9][^\\\n]*?)(?P<hashes>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n")


def text_of(lock: str) -> str:
    return (CHECKOUT / lock).read_text(encoding="utf-8")


def requirements_in(lock: str) -> list[Requirement]:
    return [Requirement(entry["requirement"]) for entry in ENTRY.finditer(text_of(lock))]


def version_of(requirement: Requirement) -> Version:
    (exact,) = requirement.specifier
    return Version(exact.version)


def versions_in(lock: str, name: str) -> list[Version]:
    return [version_of(requirement) for requirement in requirements_in(lock) if requirement.name == name]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_is_nothing_but_hashed_entries(lock: str) -> None:
    """So it holds no option, no address and no entry without a hash: what is left after the entries is nothing."""
    assert ENTRY.sub("", text_of(lock)).strip() == ""
    assert len(requirements_in(lock)) > 20


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_is_one_exact_version_and_no_address(lock: str) -> None:
    for requirement in requirements_in(lock):
        assert requirement.url is None
        assert [(spec.operator, "*" in spec.version) for spec in requirement.specifier] == [("==", False)], requirement


@pytest.mark.parametrize("lock", LOCKS)
def test_pyside_is_the_version_that_keeps_its_references(lock: str) -> None:
    assert versions_in(lock, "pyside6-essentials") == [Version("6.11.3")]
    assert versions_in(lock, "shiboken6") == [Version("6.11.3")]


@pytest.mark.parametrize("lock", LOCKS)
def test_litellm_is_not_one_of_the_malicious_uploads(lock: str) -> None:
    (version,) = versions_in(lock, "litellm")
    assert version not in {Version("1.82.7"), Version("1.82.8")}


@pytest.mark.parametrize("lock", LOCKS)
def test_pymupdf_stays_below_2(lock: str) -> None:
    (version,) = versions_in(lock, "pymupdf")
    assert version < Version("2")


def test_the_tests_run_with_the_versions_that_users_get() -> None:
    """The tests' lock is the runtime's with additions, down to the hashes, so that one can be grown into the other."""
    runtime, dev = ({match[0] for match in ENTRY.finditer(text_of(lock))} for lock in LOCKS)
    assert runtime < dev


def test_the_locks_hold_what_the_project_asks_for() -> None:
    project = tomllib.loads(text_of("pyproject.toml"))
    asked = {
        "requirements.lock": project["project"]["dependencies"],
        "requirements-dev.lock": project["project"]["dependencies"] + project["dependency-groups"]["dev"],
    }
    for lock, lines in asked.items():
        for line in lines:
            requirement = Requirement(line)
            found = versions_in(lock, canonicalize_name(requirement.name))
            assert found, f"{lock} lacks {line}"
            assert all(version in requirement.specifier for version in found), f"{lock} does not satisfy {line}"


def test_litellm_is_asked_for_by_its_exact_version() -> None:
    """A new version is reviewed, never taken by a range."""
    project = tomllib.loads(text_of("pyproject.toml"))
    (litellm,) = (line for line in project["project"]["dependencies"] if Requirement(line).name == "litellm")
    assert re.fullmatch(r"litellm==\d+\.\d+\.\d+", litellm)
