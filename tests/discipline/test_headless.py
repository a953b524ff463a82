"""Which test modules need Qt. That the rest runs without it is shown by a job that has no PySide6."""

from __future__ import annotations

import pytest

from tests.discipline.headless import needs_qt


@pytest.mark.parametrize(
    "source",
    [
        "import PySide6.QtWidgets",
        "from PySide6 import QtCore",
        "import qasync as loop",
        "from bibgenie_desktop import app",
        "from bibgenie_desktop.ui.window import Window",
        "import json, bibgenie_desktop.app",
    ],
)
def test_a_module_that_imports_qt_or_the_window_needs_qt(source: str) -> None:
    assert needs_qt(f'"""A module."""\n{source}\n')


@pytest.mark.parametrize(
    "source",
    [
        "import PySide6Extras",
        "from bibgenie_desktop import approvals",
        "from bibgenie_desktop.sessions import nodes",
        "from .PySide6 import x",
        "def test():\n    import PySide6",
        '"import PySide6"',
    ],
)
def test_any_other_module_does_not(source: str) -> None:
    assert not needs_qt(source)
