from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Program


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The program, with a new home and a new profile."""
    tmp_path.joinpath("home").mkdir()
    return Program(tmp_path)
