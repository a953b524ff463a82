"""Checkpoints, and summaries that were refused, on their way into the window (C-17, D-6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..protocol.commands import FetchCheckpoint, FetchRefusedText
from ..protocol.events import CheckpointDetails, CheckpointText, CommandFailed, Event
from .outgoing import Outgoing


@dataclass(slots=True)
class ReadCheckpoint:
    """A checkpoint that was read: where it comes from, its summary and that of the one before, "" for none."""

    details: CheckpointDetails
    summary: str
    previous: str


@dataclass(slots=True)
class _Arriving:
    details: CheckpointDetails | None = None
    texts: dict[str, list[str]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)

    def take(self, event: CheckpointText) -> None:
        self.texts.setdefault(event.part, []).append(event.text)
        if not event.more:
            self.whole.add(event.part)

    def text(self, part: str) -> str:
        return "".join(self.texts.get(part, ()))

    @property
    def is_whole(self) -> bool:
        needed = {"summary"} | ({"previous"} if self.details is not None and self.details.previous_id else set())
        return self.details is not None and needed <= self.whole


def read_checkpoint(
    outgoing: Outgoing,
    session_id: str,
    node_id: str,
    took: Callable[[ReadCheckpoint], None],
    failed: Callable[[str], None],
) -> None:
    """Read a checkpoint; `took` or `failed`, with a sentence, is called once, or neither where the engine ends."""
    arriving = _Arriving()

    def take(event: Event) -> None:
        match event:
            case CheckpointDetails():
                arriving.details = event
            case CheckpointText():
                arriving.take(event)
            case CommandFailed():
                failed(event.sentence)
                return
            case _:
                pass
        if arriving.is_whole and arriving.details is not None:
            outgoing.forget(event.request)
            took(ReadCheckpoint(arriving.details, arriving.text("summary"), arriving.text("previous")))

    outgoing.ask(FetchCheckpoint(session_id, node_id), take)


def read_refused(
    outgoing: Outgoing, session_id: str, run_id: str, took: Callable[[str], None], failed: Callable[[str], None]
) -> None:
    """Read a summary that was refused; as `read_checkpoint`."""
    arriving = _Arriving()

    def take(event: Event) -> None:
        if isinstance(event, CommandFailed):
            failed(event.sentence)
        elif isinstance(event, CheckpointText):
            arriving.take(event)
            if "refused" in arriving.whole:
                outgoing.forget(event.request)
                took(arriving.text("refused"))

    outgoing.ask(FetchRefusedText(session_id, run_id), take)
