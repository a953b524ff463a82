"""The libraries that the engine's tests share: made and indexed once, and only read."""

from __future__ import annotations

import asyncio

import pytest

from tests.engine.shelf import Shelf, make_shelf, stock
from tests.models.conftest import loaded_litellm  # noqa: F401 - a fixture


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """The library of `tests.engine.shelf.stock`."""
    folder = tmp_path_factory.mktemp("shelf")
    stock(folder / "zotero")
    return asyncio.run(make_shelf(folder / "zotero", folder / "library.sqlite"))
