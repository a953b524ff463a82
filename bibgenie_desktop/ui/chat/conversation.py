"""One chat as the window knows it: what is stored, what is on its way, and the answer that streams. No Qt.

Changes are told to one listener, after they happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol, TypeAlias

from ...protocol.messages import (
    AnswerCitation,
    AnswerReasoning,
    AnswerText,
    BranchRow,
    Event,
    Segment,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
)
from ...sessions.nodes import Role

Status: TypeAlias = Literal["sending", "streaming", "stored", "failed", "interrupted"]
"""`sending`: the engine has not confirmed it. `interrupted`: the engine ended while it streamed; it is not stored."""


class Message:
    """One message: a node of the branch, or one that is about to become a node.

    `note` is a sentence to show under it; `ready` tells whether its body is here, `expected` how many characters it
    has until then; `fresh`, whether it was made while this window watched.
    """

    # A long chat makes ten thousand of these in one turn of the event loop: no dictionary, and no list before it is used.
    __slots__ = (
        "__weakref__",
        "_calls",
        "_length",
        "_segments",
        "_tail",
        "_tail_kind",
        "created_at",
        "expected",
        "fresh",
        "model",
        "node_id",
        "note",
        "ready",
        "role",
        "status",
    )

    def __init__(
        self,
        role: Role,
        status: Status = "stored",
        *,
        node_id: str = "",
        created_at: str = "",
        model: str = "",
        ready: bool = True,
        fresh: bool = False,
        expected: int = 0,
    ) -> None:
        self.role = role
        self.status: Status = status
        self.node_id = node_id
        self.created_at = created_at
        self.model = model
        self.ready = ready
        self.fresh = fresh
        self.expected = expected
        self.note = ""
        self._length = 0
        self._segments: tuple[Segment, ...] = ()
        # What grows is collected here: joining it at every delta would cost the square of its length.
        self._tail: list[str] | None = None
        self._tail_kind: Literal["text", "reasoning"] = "text"
        self._calls: dict[str, int] | None = None

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The body, in order."""
        if not self._tail:
            return self._segments
        if len(self._tail) > 1:
            self._tail = ["".join(self._tail)]
        return (*self._segments, Segment(self._tail_kind, self._tail[0]))

    @property
    def source(self) -> str:
        """The text, with citations as their labels in brackets."""
        return "".join(_source(segment) for segment in self.segments)

    @property
    def characters(self) -> int:
        """How long the body is, as far as it is known."""
        return self._length if self.ready else self.expected

    def add_text(self, text: str, kind: Literal["text", "reasoning"] = "text") -> None:
        """More text at the end."""
        if kind != self._tail_kind:
            self._close_tail()
            self._tail_kind = kind
        if text:
            if self._tail is None:
                self._tail = []
            self._tail.append(text)
            self._length += len(text)

    def add(self, segment: Segment) -> None:
        """One more piece at the end."""
        if segment.kind == "text" or segment.kind == "reasoning":
            self.add_text(segment.text, segment.kind)
        else:
            self._close_tail()
            self._segments += (segment,)
            self._length += len(segment.text)

    def start_tool(self, call_id: str, title: str) -> None:
        """A tool runs."""
        self.add(Segment("tool", title, state="pending"))
        self._calls = {**(self._calls or {}), call_id: len(self._segments) - 1}

    def finish_tool(self, event: ToolFinished) -> None:
        """A tool that was started has ended."""
        place = (self._calls or {}).get(event.call_id)
        if place is not None:
            title = self._segments[place].text
            ended = Segment("tool", title, "", event.state, event.summary, event.duration_ms)
            self._segments = (*self._segments[:place], ended, *self._segments[place + 1 :])

    def _close_tail(self) -> None:
        if self._tail:
            self._segments += (Segment(self._tail_kind, "".join(self._tail)),)
            self._tail = None


class Listener(Protocol):
    """Hears what changed in a conversation. Rows count from 0."""

    def reset(self) -> None:
        """All rows are others."""

    def inserted(self, first: int, last: int) -> None:
        """Rows were added at the end."""

    def removed(self, row: int) -> None:
        """A row was taken away."""

    def changed(self, row: int) -> None:
        """A row looks different."""

    def grown(self, row: int) -> None:
        """A row got more at its end; all before that is as it was."""


class Conversation:
    """The messages of one chat. `session_id` is "" for a new chat until its first question is stored."""

    def __init__(self, session_id: str = "", title: str = "") -> None:
        self.session_id = session_id
        self.title = title
        self.loaded = not session_id
        """Whether the stored branch is here, bodies aside."""
        self.notice = ""
        """A sentence above the draft, such as why a question was refused."""
        self.messages: list[Message] = []
        self._rows: dict[str, int] = {}
        """The rows of the messages of the stored branch."""
        self._listener: Listener | None = None

    def listen(self, listener: Listener | None) -> None:
        """Tell changes to `listener` from now on; None ends it."""
        self._listener = listener

    @property
    def sending(self) -> bool:
        """Whether a question is on its way to the engine."""
        return bool(self.messages) and self.messages[-1].status == "sending"

    @property
    def answering(self) -> bool:
        """Whether an answer streams."""
        return self._live is not None

    @property
    def busy(self) -> bool:
        """Whether an answer streams or is to come."""
        return self.answering or self.sending

    @property
    def _live(self) -> Message | None:
        last = self.messages[-1] if self.messages else None
        return last if last is not None and last.status == "streaming" else None

    def load(self, rows: Iterable[BranchRow]) -> None:
        """Take the stored branch. What this window saw come and the branch does not hold yet stays behind it; what is
        not stored, such as an answer that lost its engine, stays behind the message it followed, and goes with that."""
        rows = list(rows)
        known = {message.node_id: message for message in self.messages if message.node_id}
        loaded = [
            known.get(row.node_id)
            or Message(
                row.role,
                node_id=row.node_id,
                created_at=row.created_at,
                model=row.model or "",
                ready=False,
                expected=row.characters,
            )
            for row in rows
        ]
        before, self.messages = self.messages, self._with_unstored(loaded)
        stored = {row.node_id for row in rows}
        self._rows = {each.node_id: row for row, each in enumerate(self.messages) if each.node_id in stored}
        self.loaded = True
        if self._listener and self.messages != before:
            self._listener.reset()

    def _with_unstored(self, branch: Sequence[Message]) -> list[Message]:
        """The messages of the branch, and in their places those that are only here."""
        followers: dict[str, list[Message]] = {message.node_id: [] for message in branch}
        first: list[Message] = []
        last: list[Message] = []
        place: list[Message] | None = first
        for message in self.messages:
            if message.node_id in followers:
                place = followers[message.node_id]
            elif message.status in ("sending", "streaming"):
                last.append(message)
            elif message.fresh and message.node_id and (self.busy or message.node_id not in self._rows):
                # Stored after the branch was read.
                last.append(message)
                place = last
            elif message.fresh and not message.node_id:
                if place is not None:
                    place.append(message)
            else:
                place = None
        return [*first, *(each for message in branch for each in (message, *followers[message.node_id])), *last]

    def add_body(self, node_id: str, segments: Sequence[Segment]) -> None:
        """Take a stored body."""
        message = self._waiting(node_id)
        if message is not None:
            for segment in segments:
                message.add(segment)
            message.ready = True
            self._changed(self._rows[node_id])

    def body_failed(self, node_id: str, sentence: str) -> None:
        """A stored body cannot be read."""
        message = self._waiting(node_id)
        if message is not None:
            message.ready, message.status, message.note = True, "failed", sentence
            self._changed(self._rows[node_id])

    def _waiting(self, node_id: str) -> Message | None:
        """The message of a node, if its body is not here."""
        message = self.messages[self._rows[node_id]] if node_id in self._rows else None
        return None if message is None or message.ready else message

    def ask(self, text: str, created_at: str) -> None:
        """A question is on its way."""
        question = Message("user", "sending", created_at=created_at, fresh=True)
        question.add_text(text)
        self._append(question)

    def take_back(self) -> str:
        """The question on its way was not taken: remove it; returns its text."""
        question = self.messages.pop()
        if self._listener:
            self._listener.removed(len(self.messages))
        return question.source

    def started(self, session_id: str, title: str, node_id: str, model: str) -> None:
        """The question is stored and its answer begins."""
        self.session_id, self.title = session_id, title
        question = self.messages[-1]
        question.status, question.node_id = "stored", node_id
        self._changed()
        self._append(Message("assistant", "streaming", model=model, fresh=True))

    def take(self, event: Event) -> None:
        """Take an event about the answer that streams; others are none of its."""
        match event:
            case AnswerText(text=text):
                self.add_text(text)
            case AnswerReasoning(text=text):
                self.add_text(text, "reasoning")
            case AnswerCitation():
                self.add_citation(event)
            case ToolStarted():
                self.start_tool(event.call_id, event.title)
            case ToolFinished():
                self.finish_tool(event)
            case TurnFinished():
                self.finish("stored", event.sentence, event.node_id)
            case TurnFailed():
                self.finish("failed", event.sentence, event.node_id)
            case _:
                pass

    def add_text(self, text: str, kind: Literal["text", "reasoning"] = "text") -> None:
        """More of the answer or of the thinking."""
        if self._live is not None:
            self._live.add_text(text, kind)
            self._grown()

    def add_citation(self, event: AnswerCitation) -> None:
        """A citation at this place of the answer."""
        if self._live is not None:
            detail = event.reason or event.quote
            self._live.add(Segment("citation", event.label, event.link, event.state, detail))
            self._grown()

    def start_tool(self, call_id: str, title: str) -> None:
        """A tool runs."""
        if self._live is not None:
            self._live.start_tool(call_id, title)
            self._grown()

    def finish_tool(self, event: ToolFinished) -> None:
        """A tool has ended."""
        if self._live is not None:
            self._live.finish_tool(event)
            self._changed()

    def finish(self, status: Status, sentence: str = "", node_id: str = "") -> None:
        """The answer has ended: stored as `node_id`, failed or interrupted. `sentence` is shown under it."""
        if self._live is not None:
            live = self._live
            live.status, live.note, live.node_id = status, sentence, node_id
            self._changed()

    def _append(self, message: Message) -> None:
        self.messages.append(message)
        if self._listener:
            self._listener.inserted(len(self.messages) - 1, len(self.messages) - 1)

    def _changed(self, row: int = -1) -> None:
        if self._listener:
            self._listener.changed(row % len(self.messages))

    def _grown(self) -> None:
        if self._listener:
            self._listener.grown(len(self.messages) - 1)


def _source(segment: Segment) -> str:
    match segment.kind:
        case "text":
            return segment.text
        case "citation":
            return f"[{segment.text}]"
        case _:
            return ""
