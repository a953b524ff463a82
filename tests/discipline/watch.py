"""Fails a test that leaves something behind, or logs a warning that it did not announce.

The checks look twice: around each test (after the fixtures that live longer were made, and before those end), and
around the whole run. Each check also cleans up, so that one fault fails one test. `gc.collect` brings unclosed files
and sockets to light here, as ResourceWarning, which pytest raises as an error of the test.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from tests.discipline import logs, processes, qt, surroundings, threads


class Check(Protocol):
    """One thing that a test may not leave behind."""

    def begin(self) -> Any:
        """Returns what there is before a test."""

    def complaints(self, before: Any) -> list[str]:
        """Returns what there is since, a sentence each, and does away with it."""


CHECKS: tuple[Check, ...] = (threads, processes, surroundings, qt)


def _watch(announced: list[str] | None) -> Iterator[None]:
    states = [check.begin() for check in CHECKS]
    yield
    gc.collect()
    complaints = [text for check, before in zip(CHECKS, states, strict=True) for text in check.complaints(before)]
    complaints += logs.complaints(announced or [])
    _freeze_imports()
    if complaints:
        pytest.fail("the test left something behind:\n  " + "\n  ".join(complaints), pytrace=False)


@pytest.fixture(scope="session", autouse=True)
def watched_run() -> Iterator[None]:
    """Watches what the longer-living fixtures leave behind at the end of the run."""
    yield from _watch(None)


@pytest.fixture(autouse=True)
def watched(request: pytest.FixtureRequest) -> Iterator[None]:
    """Watches one test."""
    yield from _watch([pattern for marker in request.node.iter_markers("expect_log") for pattern in marker.args])


def pytest_configure(config: pytest.Config) -> None:
    """Starts to listen to the logs and to Qt."""
    logs.listen()
    qt.listen(config)


def pytest_unconfigure() -> None:
    """Stops listening."""
    logs.stop_listening()


def pytest_collection_finish() -> None:
    """Spares the collector what the collection imported."""
    gc.collect()
    _freeze_imports()


_frozen_modules = 0


def _freeze_imports() -> None:
    """After large imports, takes what lives by now out of the collector's sight: with litellm loaded, it would need
    0.2 s after each test."""
    global _frozen_modules
    if len(sys.modules) > _frozen_modules + 100:
        _frozen_modules = len(sys.modules)
        gc.freeze()
