"""The engine as a process of its own, spoken with as a window does (T-6, U-4)."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from bibgenie_desktop.protocol.codec import event_from_json, to_json
from bibgenie_desktop.protocol.commands import VERSION, Command, Hello, OpenSession, SaveDraft, SendMessage, Shutdown
from bibgenie_desktop.protocol.events import (
    Branch,
    CommandDone,
    CommandFailed,
    Event,
    TurnFinished,
    TurnStarted,
    Welcome,
)
from tests.cli.program import Program, argv


@dataclass(slots=True)
class EngineProcess:
    """A running engine, its commands and events."""

    process: subprocess.Popen[bytes]

    def send(self, *commands: Command) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(json.dumps(to_json(command)).encode() + b"\n" for command in commands))
        self.process.stdin.flush()

    def until(self, kind: type[Any]) -> Any:
        """The next event of a kind; those before it are passed over."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event: Event = event_from_json(json.loads(line))
            if isinstance(event, kind):
                return event
        raise AssertionError(f"the engine ended without {kind.__name__}")

    def rest(self) -> tuple[list[Event], str, int]:
        """All further events, what stands on stderr, and the exit code."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        events = [event_from_json(json.loads(line)) for line in self.process.stdout]
        return events, self.process.stderr.read().decode(), self.process.wait()


@contextmanager
def engine(program: Program, *options: str) -> Iterator[EngineProcess]:
    command = argv("--bibgenie-role=engine", "--zotero", "demo", *options)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=program.environment, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        yield EngineProcess(process)


@pytest.mark.req("A-1", "T-1")
def test_a_window_asks_and_is_told_the_answer(program: Program) -> None:
    with engine(program) as running:
        running.send(Hello(VERSION, request=1), SendMessage("What is a locator?", request=2))
        assert running.until(Welcome).request == 1
        started = running.until(TurnStarted)
        assert started.request == 2
        assert running.until(TurnFinished).stop_reason == "stop"
        running.send(OpenSession(started.session_id, request=3))
        branch = running.until(Branch)
        running.send(Shutdown(request=4))
        events, errors, code = running.rest()
    assert [row.role for row in branch.rows] == ["user", "assistant"]
    assert events[-1] == CommandDone(4)
    assert (errors, code) == ("", 0)


@pytest.mark.req("T-6", "U-3")
def test_what_was_said_before_the_end_is_carried_out(program: Program) -> None:
    """A draft is saved, and the window closes at once."""
    with engine(program) as running:
        running.send(Hello(), SaveDraft("half a question", request=1), Shutdown(request=2))
        events, errors, code = running.rest()
    assert (errors, code) == ("", 0)
    assert {event.request for event in events if isinstance(event, CommandDone)} == {1, 2}
    assert not [event for event in events if isinstance(event, CommandFailed)]
    connection = sqlite3.connect(program.profile / "sessions.sqlite")
    assert connection.execute("SELECT text FROM draft").fetchall() == [("half a question",)]
    connection.close()


@pytest.mark.req("T-6")
def test_a_window_that_is_gone_ends_the_engine(program: Program) -> None:
    with engine(program) as running:
        running.send(Hello())
        running.until(Welcome)
        assert running.process.stdin is not None
        running.process.stdin.close()
        _, errors, code = running.rest()
    assert (errors, code) == ("", 0)


@pytest.mark.req("A-5")
def test_a_command_that_cannot_be_read_is_logged_and_passed_over(program: Program) -> None:
    with engine(program) as running:
        assert running.process.stdin is not None
        running.process.stdin.write(b'nonsense\n{"type": "Nonsense"}\n' + b"[" * 100_000 + b"\n")
        running.send(Hello(request=1))
        assert running.until(Welcome).request == 1
        running.send(Shutdown())
        _, errors, code = running.rest()
    assert (errors, code) == ("", 0)
    log = (program.profile / "logs" / "bibgenie.log").read_text()
    assert log.count("a command could not be read") == 3


@pytest.mark.req("T-6")
def test_a_profile_that_cannot_be_used_is_one_sentence_to_the_window(program: Program) -> None:
    program.profile.mkdir()
    (program.profile / "sessions.sqlite").write_bytes(b"scratched" * 500)
    with engine(program) as running:
        failed = running.until(CommandFailed)
        _, errors, code = running.rest()
    assert (failed.code, "is damaged" in failed.sentence) == ("profile", True)
    assert (errors, code) == ("", 1)
