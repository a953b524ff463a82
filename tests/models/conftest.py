"""litellm, loaded once for all tests that need it."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from bibgenie_desktop.models import litellm_environment


@pytest.fixture(scope="session")
def loaded_litellm() -> Iterator[None]:
    """litellm is imported. Its switches stay in the environment, as they do in the app, but only for the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in litellm_environment.ENVIRONMENT.items():
            patch.setenv(name, value)
        # It sets this one when it loads its tokenizer, with the first request to some providers.
        patch.setenv("TIKTOKEN_CACHE_DIR", "")
        litellm_environment.load()
        importlib.import_module("litellm.litellm_core_utils.default_encoding")
        # Its 200 MB stay; the collections after each test need not look at them.
        gc.collect()
        gc.freeze()
        yield


@pytest.fixture
def litellm(loaded_litellm: None) -> Any:
    """The module, set up as before each use: pytest forgets the warnings that were silenced in an earlier test."""
    return litellm_environment.load()
