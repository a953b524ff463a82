"""Lets the suite run where PySide6 is not installed: what needs Qt is marked `gui`, and left out there.

A test needs Qt if it is marked so, uses a fixture of pytest-qt, or stands in a module that imports Qt or the window.
"""

from __future__ import annotations

import ast
import importlib.util
import os
from pathlib import Path

import pytest

# Before Qt starts anywhere: tests open no window on the screen of whoever runs them.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

HAS_QT = importlib.util.find_spec("PySide6") is not None
QT_MODULES = ("PySide6", "shiboken6", "qasync", "pytestqt", "bibgenie_desktop.ui", "bibgenie_desktop.app")
QT_FIXTURES = {"qapp", "qtbot", "qtlog", "qtmodeltester"}


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Declares the settings of pytest-qt in its place where it is missing; pyproject.toml holds them."""
    if not pluginmanager.hasplugin("pytest-qt"):
        for name in ("qt_api", "qt_log_level_fail"):
            parser.addini(name, "a setting of pytest-qt, which is not loaded")


def needs_qt(source: str) -> bool:
    """Whether a test module imports Qt, or the window's rooms, at its top level; raises SyntaxError."""
    for statement in ast.parse(source).body:
        match statement:
            case ast.Import():
                names = [alias.name for alias in statement.names]
            case ast.ImportFrom(level=0, module=str(module)):
                names = [module, *(f"{module}.{alias.name}" for alias in statement.names)]
            case _:
                continue
        if any(name == room or name.startswith(f"{room}.") for name in names for room in QT_MODULES):
            return True
    return False


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Without Qt, leaves out the modules that could not even be imported, and folders whose conftest could not."""
    source = collection_path / "conftest.py" if collection_path.is_dir() else collection_path
    if HAS_QT or source.suffix != ".py" or not source.is_file():
        return None
    return needs_qt(source.read_text(encoding="utf-8")) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the tests that need Qt, and deselects them where it is missing."""
    modules: dict[Path, bool] = {}
    for item in items:
        if item.path not in modules:
            modules[item.path] = item.path.suffix == ".py" and needs_qt(item.path.read_text(encoding="utf-8"))
        if modules[item.path] or QT_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.gui)
    if not HAS_QT:
        deselected = [item for item in items if item.get_closest_marker("gui")]
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if not item.get_closest_marker("gui")]


def pytest_report_header() -> str | None:
    """Says it when a part of the suite is left out."""
    return None if HAS_QT else "PySide6 is not installed: tests that need it are left out"
