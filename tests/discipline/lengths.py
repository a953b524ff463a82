"""How long the tests run: a sized, deterministic sample, or with `--long` the full counts."""

from __future__ import annotations

from typing import Protocol

import hypothesis
import pytest

# Each run tries the same examples, so that a failure is one of the change at hand. A slow machine is no failure.
hypothesis.settings.register_profile(
    "sized",
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "long", hypothesis.settings.get_profile("sized"), derandomize=False, max_examples=2000
)


class Loops(Protocol):
    """Chooses a number of rounds: the first by default, the second with `--long`."""

    def __call__(self, short: int, full: int) -> int: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--long`."""
    parser.addoption(
        "--long", action="store_true", help="run the tests marked long, and all loops at their full counts"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Loads the profile of hypothesis, unless one was asked for on the command line."""
    if config.getoption("--hypothesis-profile", None) is None:
        hypothesis.settings.load_profile("long" if config.getoption("--long") else "sized")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips the tests marked long without `--long`."""
    if config.getoption("--long"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="runs with --long"))


@pytest.fixture(scope="session")
def loops(pytestconfig: pytest.Config) -> Loops:
    """Counts for loops: `loops(20, 5000)` is 20, and 5000 with `--long`."""
    long = pytestconfig.getoption("--long")
    return lambda short, full: full if long else short
