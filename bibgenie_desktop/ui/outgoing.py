"""The way out of the window: commands to the engine, each with a number by which its answer is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..protocol.commands import Command
from ..protocol.events import CommandDone, CommandFailed, Event


class Outgoing:
    """Numbers commands and hands them to `send`."""

    def __init__(self, send: Callable[[Command], None]) -> None:
        self._send = send
        self._last = 0
        self._expecting: dict[int, Callable[[Event], None]] = {}

    def number(self) -> int:
        """A number that no command had yet."""
        self._last += 1
        return self._last

    def send(self, command: Command) -> None:
        """Send a command that has its number."""
        self._send(command)

    def ask(self, command: Command, answer: Callable[[Event], None] | None = None) -> int:
        """Send a command; returns the number that its answers will carry.

        With `answer` each of them is handed to that, and to nobody else. A command that is answered neither by
        CommandDone nor by CommandFailed is let go of with `forget`.
        """
        number = self.number()
        if answer is not None:
            self._expecting[number] = answer
        self._send(replace(command, request=number))
        return number

    def answered(self, event: Event) -> bool:
        """Hand an event to whoever expects it; tells whether somebody did."""
        answer = self._expecting.get(event.request)
        if answer is None:
            return False
        if isinstance(event, CommandDone | CommandFailed):
            self.forget(event.request)
        answer(event)
        return True

    def forget(self, number: int) -> None:
        """Nothing more is expected for this command."""
        self._expecting.pop(number, None)

    def lost(self) -> None:
        """The engine is gone, and its answers with it."""
        self._expecting.clear()
