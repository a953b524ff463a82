"""Ties tests to requirements: `@pytest.mark.req("C-9")`, `--req C-9`, and `--req-table`."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

NAMES = Path(__file__).parents[1] / "requirement-names.txt"


def known_requirements() -> dict[str, str]:
    """Returns the names of all requirements, in their order, each with a word on what it asks."""
    lines = (line.strip() for line in NAMES.read_text(encoding="utf-8").splitlines())
    pairs = (line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    return {name: title for name, title in pairs}  # noqa: C416 - dict() would lose the types


def requirements_of(item: pytest.Item) -> set[str]:
    """Returns the names that a test is marked with, on itself, its class or its module."""
    return {name for marker in item.iter_markers("req") for name in marker.args}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--req` and `--req-table`."""
    group = parser.getgroup("requirements")
    group.addoption("--req", action="append", metavar="NAME", default=[], help="run only what shows it; repeatable")
    group.addoption("--req-table", action="store_true", help="print how many tests show each requirement, and run none")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuses unknown names, and keeps what `--req` asks for."""
    known = known_requirements()
    wanted = set(config.getoption("--req"))
    if unknown := sorted(wanted - known.keys()):
        raise pytest.UsageError(f"--req: no requirement is named {', '.join(unknown)}")
    for item in items:
        if unknown := sorted(str(name) for name in requirements_of(item) - known.keys()):
            raise pytest.UsageError(f"{item.nodeid}: no requirement is named {', '.join(unknown)}")
    if wanted:
        config.hook.pytest_deselected(items=[item for item in items if not requirements_of(item) & wanted])
        items[:] = [item for item in items if requirements_of(item) & wanted]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """With `--req-table`, prints the table in place of the run."""
    if not session.config.getoption("--req-table"):
        return None
    # A test counts once, whatever the number of its parameters.
    tests: defaultdict[str, set[str]] = defaultdict(set)
    for item in session.items:
        for name in requirements_of(item):
            tests[name].add(item.nodeid.partition("[")[0])
    terminal = session.config.get_terminal_writer()
    terminal.line()
    for name, title in known_requirements().items():
        terminal.line(f"{name:<5}{len(tests[name]):>5}  {title}")
    return True


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A table over no tests at all is still a table."""
    if session.config.getoption("--req-table") and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK
