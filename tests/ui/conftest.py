"""The desk: an app over a copy of a real Zotero database, closed and searched for leftovers after each test."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from tests.ui.desk import Desk

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def no_locale(qapp: QApplication) -> Iterator[None]:
    """Times and numbers as in no country, whatever a test before has set; what this one sets is undone."""
    before = QLocale()
    QLocale.setDefault(QLocale.c())
    yield
    QLocale.setDefault(before)


@pytest.fixture
def desk(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A person's desk; nothing is open on it yet."""
    # The engine is started as `python -P -m`, which finds the package in an installed environment only.
    monkeypatch.setenv("PYTHONPATH", str(CHECKOUT))
    shutil.copytree(CHECKOUT / "tests" / "data" / "zotero10", tmp_path / "zotero")
    # The tests read English, whatever the system speaks.
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile" / "settings.toml").write_text('[window]\nlanguage = "en"\n', encoding="utf-8")
    at = Desk(qapp, tmp_path, f"sqlite:{tmp_path / 'zotero' / 'zotero.sqlite'}")
    with at.loop:
        yield at
        for application in at.opened:
            if not application.closed:
                application.close()
        left = asyncio.all_tasks(at.loop)
        assert not left, f"tasks left: {left}"
