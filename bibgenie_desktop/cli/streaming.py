"""An answer streamed to stdout, by the same engine as the window's: what `ask`, `retry` and `edit` have in common."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import TextIO

from ..engine.beginnings import AnswerCommand
from ..engine.engine import Engine
from ..engine.markdown import citation_markdown
from ..engine.refused import Refused
from ..models.port import ModelError
from ..protocol.codec import to_json
from ..protocol.commands import EditMessage, SendMessage, StopTurn
from ..protocol.events import (
    AnswerCitation,
    AnswerText,
    CommandFailed,
    Event,
    LibraryProgress,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from ..sessions.branch import NotAllowed
from ..sessions.markdown import unlinked
from ..store.session_rows import UnknownSession
from .options import Options
from .printing import let_go, printable
from .wiring import Setting, open_engine

INDEX_PATIENCE = 90.0
"""Seconds that a question waits for documents to be indexed before it is answered from what there is: longer than a
file may stall a worker, so that such a file is found out and does not hold up each question anew."""

CommandOf = Callable[[Engine], Awaitable[AnswerCommand]]
"""Finds out, with the engine, what is asked for. Raises Refused, UnknownSession, NotAllowed."""


async def stream_answer(options: Options, setting: Setting, command_of: CommandOf) -> int:
    """Let an answer begin and print it; 0 only if one was stored."""
    printer = Printer(options.json)
    try:
        await _answer(setting, printer, command_of)
    except (Refused, UnknownSession, NotAllowed, ModelError) as error:
        printer.take(CommandFailed(getattr(error, "code", "refused"), str(error)))
    finally:
        printer.end()
    if printer.lost:
        printer.complain(f"The answer could not be printed ({printer.lost}); what came of it is stored: export it.")
        return 1
    return 0 if printer.stored else 1


async def _answer(setting: Setting, printer: Printer, command_of: CommandOf) -> None:
    async with open_engine(setting, printer.take) as engine:
        command = await command_of(engine)
        engine.start()
        try:
            await engine.prepare_model()  # what is wrong with the model is told before the library is waited for
        except ModelError:
            if isinstance(command, SendMessage | EditMessage):
                await engine.keep_question(command.session_id, command.text)
            raise
        await _wait_for_library(engine, printer)
        if printer.library_failure:
            printer.complain(printer.library_failure)
            return
        try:
            await engine.handle(command)
            await engine.turns_settled()
        except asyncio.CancelledError:
            # Ctrl-C: what is there is kept. asyncio raises KeyboardInterrupt for us afterwards.
            if printer.session_id:
                await engine.handle(StopTurn(printer.session_id))
            raise


async def _wait_for_library(engine: Engine, printer: Printer) -> None:
    try:
        async with asyncio.timeout(INDEX_PATIENCE):
            await engine.library_settled()
    except TimeoutError:
        printer.complain(
            "Not all documents are indexed yet; the answer uses those that are. The next question goes on."
        )


class Printer:
    """Prints events as they come: the answer to stdout, all else to stderr; or each event as one line of JSON.

    An output that fails ends no answer: it goes on and is stored. `lost` says why, "" where just the reader left.
    """

    def __init__(self, as_json: bool, out: TextIO = sys.stdout, err: TextIO = sys.stderr) -> None:
        self._as_json = as_json
        self._out = out
        self._err = err
        self._last = "\n"
        self._shown = ""
        self._closed = False
        self.session_id = ""
        self.stored = False
        self.library_failure = ""
        self.lost = ""

    def take(self, event: Event) -> None:
        """Print one event."""
        match event:
            case LibraryProgress(state="failed", sentence=sentence):
                self.library_failure = sentence
            case TurnStarted(session_id=session_id):
                self.session_id = session_id
            case TurnFinished(stop_reason=reason):
                self.stored = reason != "cancelled"
            case _:
                pass
        if self._as_json:
            if isinstance(event, CommandFailed | TurnFailed):
                self.complain(event.sentence)
            self._write(json.dumps(to_json(event), ensure_ascii=False) + "\n")
            return
        match event:
            case AnswerText(text=text):
                self._write(unlinked(printable(text), self._last))
            case AnswerCitation():
                link = citation_markdown(event.label, event.link, event.state, event.reason, before=self._last)
                self._write(printable(link))
            case ToolStarted(title=title):
                self.note(f"{title}…")
            case LibraryProgress(state="reading" | "indexing", sentence=sentence):
                self._progress(sentence)
            case LibraryProgress(state="ready"):
                self._progress("")
            case TurnFinished(sentence=sentence, stop_reason=reason):
                self._end_line()
                if sentence and reason != "cancelled":  # who stopped it knows
                    self.complain(sentence)
                self.note(f"Go on in this chat with --session {event.session_id[:12]}")
            case CommandFailed(sentence=sentence) | TurnFailed(sentence=sentence):
                self._end_line()
                self.complain(sentence)
            case _:
                pass

    def note(self, sentence: str) -> None:
        """Say something beside the answer: on a terminal only, so that scripts see answers and errors alone."""
        if sentence and not self._as_json and self._err.isatty():
            self._progress("")
            print(printable(sentence), file=self._err, flush=True)

    def complain(self, sentence: str) -> None:
        """Say what went wrong."""
        self._progress("")
        print(printable(sentence), file=self._err, flush=True)

    def end(self) -> None:
        """End the last line."""
        self._end_line()

    def _progress(self, sentence: str) -> None:
        """One line on a terminal that each call replaces; "" removes it."""
        if self._err.isatty() and sentence != self._shown:
            self._shown = sentence
            print(f"\r\x1b[K{printable(sentence)}", end="", file=self._err, flush=True)

    def _write(self, text: str) -> None:
        if not text or self._closed:
            return
        try:
            self._out.write(text)
            self._out.flush()
        except OSError as error:
            self._closed = True
            self.lost = "" if isinstance(error, BrokenPipeError) else str(error.strerror)
            let_go(self._out)
        self._last = text[-1]

    def _end_line(self) -> None:
        if self._last != "\n":
            self._write("\n")
