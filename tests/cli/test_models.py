"""Which model a process starts with, what choosing another leaves behind, and where no key goes (A-2, S-2)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bibgenie_desktop.cli.options import Options
from bibgenie_desktop.cli.wiring import Setting
from bibgenie_desktop.profile.paths import Profile
from bibgenie_desktop.profile.settings import Settings, load_settings
from bibgenie_desktop.protocol.commands import (
    VERSION,
    ChooseModel,
    Hello,
    ListModels,
    ListSessions,
    SendMessage,
    Shutdown,
)
from bibgenie_desktop.protocol.events import (
    CommandDone,
    ModelChosen,
    ModelList,
    ModelState,
    SessionList,
    TurnFinished,
    TurnStarted,
    Welcome,
)
from tests.cli.program import Program
from tests.cli.test_engine_process import engine

LOCAL, OTHER = "http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"


@pytest.mark.req("S-2")
def test_an_address_on_the_command_line_belongs_to_the_model_of_the_start(tmp_path: Path) -> None:
    options = Options("window", model="openai/local", api_base=LOCAL, context_window=4_096)
    setting = Setting(Profile(tmp_path), Settings(endpoints={"openai/other": OTHER}), options)
    names = ("openai/local", "openai/other", "anthropic/claude", "offline")
    assert [setting.api_base(name) for name in names] == [LOCAL, OTHER, None, None]
    assert setting.model().capacity.context_window == 4_096
    assert not setting.model("openai/other").capacity.window_known


@pytest.mark.req("A-2", "S-2")
def test_the_models_to_choose_from_tell_where_questions_go(tmp_path: Path) -> None:
    """Host and port alone: what stands before them in an address may be a secret."""
    settings = Settings(model="openai/local", api_base="http://ada:secret@127.0.0.1:1/v1?key=secret")
    setting = Setting(Profile(tmp_path), settings, Options("window", model="anthropic/claude"))
    described = [setting.describe_model(name) for name in ("offline", "openai/local", "anthropic/claude", "gpt-x")]
    assert described == [
        "built in, needs no key and no network",
        "from the settings, at 127.0.0.1:1",
        "from the command line, at its provider's address",
        "at its provider's address",
    ]
    crooked = Setting(Profile(tmp_path), Settings(endpoints={"m": "http://["}), Options("window"))
    assert crooked.describe_model("m") == "at ["


@pytest.mark.req("A-2", "S-2")
def test_a_choice_is_stored_with_the_address_that_an_option_gave_it(tmp_path: Path) -> None:
    options = Options("window", model="openai/local", api_base=LOCAL)
    setting = Setting(Profile(tmp_path), Settings(), options)
    setting.store_model("anthropic/claude")
    assert load_settings(setting.profile.settings).address("anthropic/claude") == ""
    setting.store_model("openai/local")
    settings = load_settings(setting.profile.settings)
    assert (settings.model, settings.address("openai/local")) == ("openai/local", LOCAL)
    # The next start needs no option for it.
    assert Setting(Profile(tmp_path), settings, Options("window")).api_base("openai/local") == LOCAL


@pytest.mark.req("A-2")
def test_a_model_chosen_in_the_window_wins_over_the_option_and_is_kept_for_the_next_start(program: Program) -> None:
    with engine(program, "--model", "anthropic/claude-x") as running:
        running.send(Hello(VERSION, request=1))
        assert running.until(Welcome).model == "anthropic/claude-x"
        running.send(ChooseModel("offline", request=2), SendMessage("What is a locator?", request=3))
        assert running.until(ModelChosen) == ModelChosen("offline", 2)
        assert running.until(TurnStarted).model == "offline"
        assert running.until(TurnFinished).stop_reason == "stop"
        running.send(Shutdown())
        _, errors, code = running.rest()
    assert (errors, code) == ("", 0)
    with engine(program) as running:
        running.send(Hello(VERSION), ListModels(request=2))
        assert running.until(Welcome).model == "offline"
        listed = running.until(ModelList)
        assert (listed.chosen, [row.name for row in listed.models]) == ("offline", ["offline"])
        running.send(Shutdown())
        assert running.rest()[2] == 0
    profile = Profile(program.profile)
    setting = Setting(profile, load_settings(profile.settings), Options("window", model="anthropic/claude-x"))
    assert setting.model_name() == "anthropic/claude-x"  # an option wins again at its start


@pytest.mark.req("A-2", "A-5", "U-4")
def test_while_litellm_is_loaded_commands_are_answered(program: Program) -> None:
    """Two hundred commands are answered before the model is ready, or rather before its key is missed."""
    with engine(program, "--model", "anthropic/claude-x") as running:
        running.send(Hello(VERSION))
        assert running.until(ModelState) == ModelState("anthropic/claude-x", "loading")
        for number in range(1, 201):
            running.send(ListSessions(request=number))
        assert running.until(SessionList).request == 1
        state = running.until(ModelState)
        assert (state.name, state.state) == ("anthropic/claude-x", "failed")
        assert "ANTHROPIC_API_KEY" in state.sentence
        running.send(Shutdown())
        _, errors, code = running.rest()
    assert (errors, code) == ("", 0)


@pytest.mark.req("T-6", "A-2")
def test_an_engine_that_is_closed_while_litellm_loads_ends_at_once_for_the_window(program: Program) -> None:
    with engine(program, "--model", "anthropic/claude-x") as running:
        running.send(Hello(VERSION))
        assert running.until(ModelState).state == "loading"
        running.send(Shutdown(request=9))
        assert running.until(CommandDone).request == 9
        events, errors, code = running.rest()
    assert [event for event in events if isinstance(event, ModelState)] == []
    assert (errors, code) == ("", 0)


LISTING = """
import asyncio, sys
from bibgenie_desktop.cli.options import parse_options
from bibgenie_desktop.cli.wiring import Setting, open_engine
from bibgenie_desktop.protocol.commands import (ChooseModel, Hello, ListModels)
from bibgenie_desktop.protocol.events import ModelList

async def main():
    events = []
    async with open_engine(Setting.of(parse_options(sys.argv[1:])), events.append) as engine:
        for command in (Hello(), ListModels(), ChooseModel("offline"), ListModels()):
            await engine.handle(command)
    print([[row.name for row in event.models] for event in events if isinstance(event, ModelList)])
    print([name for name in sys.modules if name.partition(".")[0] in ("litellm", "openai")])

asyncio.run(main())
"""


@pytest.mark.req("A-2")
def test_listing_models_loads_no_litellm(program: Program) -> None:
    program.profile.mkdir()
    (program.profile / "settings.toml").write_text('[model]\nname = "openai/local"\n', encoding="utf-8")
    command = [sys.executable, "-c", LISTING, "--model", "offline", "--zotero", "demo"]
    ended = subprocess.run(command, env=program.environment, capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout.splitlines() == ["[['offline', 'openai/local'], ['offline', 'openai/local']]", "[]"]
