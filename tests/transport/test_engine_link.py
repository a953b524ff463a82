"""The line to an engine process: in order both ways, and no engine survives its end."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from bibgenie_desktop.cli.options import parse_options
from bibgenie_desktop.cli.roles import engine_argv
from bibgenie_desktop.protocol.commands import ListSessions, OpenSession, SaveDraft
from bibgenie_desktop.protocol.events import (
    CommandDone,
    CommandFailed,
    Event,
    LibraryProgress,
    ModelState,
    SessionList,
    Welcome,
)
from bibgenie_desktop.transport.engine_link import EngineLink
from tests.transport.engines import BABBLING, DEAF, DYING, ECHOING, REFUSING, STILLBORN, program

CHECKOUT = Path(__file__).parents[2]


class Taken:
    """Keeps the events, and lets a test wait for a number of them."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._arrived = asyncio.Event()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        self._arrived.set()

    async def count(self, number: int) -> list[Event]:
        while len(self.events) < number:
            self._arrived.clear()
            await self._arrived.wait()
        return self.events


async def test_a_real_engine_welcomes_and_answers_in_order_of_the_commands(tmp_path: Path) -> None:
    library = tmp_path / "zotero"
    library.mkdir()
    options = parse_options(["--profile", str(tmp_path / "profile"), "--zotero", f"sqlite:{library / 'zotero.sqlite'}"])
    taken = Taken()
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    link = await EngineLink.start(engine_argv(options), taken, environment=environment)
    link.send(ListSessions(7))
    link.send(OpenSession("unknown", 8))
    while not any(isinstance(event, CommandFailed) for event in taken.events):
        await taken.count(len(taken.events) + 1)
    events = [event for event in taken.events if not isinstance(event, LibraryProgress | ModelState)]
    assert isinstance(events[0], Welcome)
    assert events[1] == SessionList((), False, 7)
    assert isinstance(events[2], CommandFailed)
    assert events[2].request == 8
    assert link.welcomed
    await link.close()


async def test_thousands_of_commands_and_events_keep_their_order() -> None:
    taken = Taken()
    link = await EngineLink.start(ECHOING, taken)
    for number in range(1, 3_001):
        link.send(SaveDraft("x" * 50, "s", number))
    events = await taken.count(3_001)
    assert [event.request for event in events[1:]] == list(range(1, 3_001))
    assert all(isinstance(event, CommandDone) for event in events[1:])
    await link.close()


async def test_closing_sends_what_waits_then_shutdown_then_closes_the_input(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    listening = program(f"""
        with open({str(heard)!r}, "w") as file:
            for command in commands():
                print(command["type"], file=file)
            print("end of input", file=file)
        """)
    link = await EngineLink.start(listening, Taken())
    link.send(SaveDraft("text", "s"))
    await link.close()
    assert heard.read_text().split("\n") == ["Hello", "SaveDraft", "Shutdown", "end of input", ""]


@pytest.mark.req("T-6")
async def test_an_engine_that_reads_nothing_and_ignores_signals_is_ended_all_the_same() -> None:
    taken = Taken()
    link = await EngineLink.start(DEAF, taken)
    await taken.count(1)
    for number in range(40):
        link.send(SaveDraft("x" * 10_000, "s", number))
    await link.close()
    assert link.ending.startswith("exit code" if sys.platform == "win32" else "exit code -9")
    await link.ended()


async def test_closing_twice_and_closing_what_has_ended_is_fine() -> None:
    link = await EngineLink.start(DYING, Taken())
    await link.ended()
    await asyncio.gather(link.close(), link.close())
    await link.close()


async def test_an_engine_that_dies_is_told_in_a_sentence_with_the_cause_for_the_log() -> None:
    taken = Taken()
    link = await EngineLink.start(DYING, taken)
    assert await link.ended() == "The engine ended unexpectedly; what was stored is safe."
    assert link.ending == "exit code 1; it broke"
    assert link.welcomed
    # What is sent to it now is lost without an error.
    link.send(ListSessions())
    await link.close()
    assert len(taken.events) == 1


async def test_an_engine_that_never_says_a_word_was_not_a_success() -> None:
    link = await EngineLink.start(STILLBORN, Taken())
    await link.ended()
    assert not link.welcomed
    assert link.ending == "exit code 3"
    await link.close()


async def test_the_sentence_of_an_engine_that_refuses_is_its_own_and_it_is_ended() -> None:
    taken = Taken()
    link = await EngineLink.start(REFUSING, taken)
    assert await link.ended() == "The profile cannot be written: choose another."
    assert link.refusal == "The profile cannot be written: choose another."
    assert taken.events == []
    await link.close()


@pytest.mark.expect_log("ERROR bibgenie_desktop.transport.engine_link: the engine's message cannot be read: .*Unheard")
async def test_an_engine_that_speaks_another_language_is_ended_and_nothing_behind_is_taken() -> None:
    taken = Taken()
    link = await EngineLink.start(BABBLING, taken)
    assert "does not understand" in await link.ended()
    assert len(taken.events) == 1
    await link.close()


async def test_an_engine_that_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await EngineLink.start([str(tmp_path / "engine")], Taken())
