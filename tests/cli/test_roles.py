"""How processes of ours are started: the engine gets exactly what the window was given."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.cli.options import LOG_LEVELS, Options, parse_options
from bibgenie_desktop.cli.roles import child_argv, engine_argv

text = st.text(min_size=1).filter(lambda value: value == value.strip() and "\x00" not in value)
tokens = st.integers(min_value=1024, max_value=10**9)
windows = st.builds(
    Options,
    command=st.just("window"),
    profile=st.none() | text,
    zotero=st.none() | st.sampled_from(["auto", "demo"]) | text.map(lambda value: f"sqlite:{value}"),
    zotero_url=st.none() | text.map(lambda value: f"http://{value}"),
    model=st.none() | text,
    api_base=st.none() | text.map(lambda value: f"https://{value}"),
    context_window=st.none() | tokens,
    max_output=st.none() | tokens,
    log_level=st.sampled_from(LOG_LEVELS),
)


@given(windows)
def test_the_engine_reads_the_same_options_that_the_window_was_given(options: Options) -> None:
    argv = engine_argv(options)
    beginning = len(child_argv("engine"))
    assert argv[:beginning] == child_argv("engine")
    assert parse_options(argv[beginning:]) == options


def test_a_child_is_this_python_with_this_package_and_its_role() -> None:
    assert child_argv("engine") == [sys.executable, "-P", "-m", "bibgenie_desktop", "--bibgenie-role=engine"]


def test_a_frozen_app_starts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert child_argv("documents") == [sys.executable, "--bibgenie-role=documents"]
