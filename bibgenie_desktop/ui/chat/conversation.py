"""One chat as the window knows it: what is stored, what is on its way, and the answer that streams. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ...protocol.events import (
    AnswerCitation,
    AnswerReasoning,
    AnswerText,
    Event,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from ...protocol.values import BranchRow, Segment
from ...sessions.nodes import Beginning
from .edits import Edits
from .message import GOES_ON, Message, Offer, Status
from .remedies import Remedies
from .transcript import Transcript


@dataclass(frozen=True, slots=True)
class Awaited:
    """An answer that the engine was asked for other than by a new question, and has not begun."""

    beginning: Beginning
    node_id: str
    created_at: str


class Conversation(Transcript):
    """The messages of one chat. `session_id` is "" for a new chat until its first question is stored."""

    def __init__(self, session_id: str = "", title: str = "", edits: Edits | None = None) -> None:
        super().__init__()
        self.session_id = session_id
        self.title = title
        self.loaded = not session_id
        """Whether the stored branch is here, bodies aside."""
        self.damage = ""
        """What is wrong with the stored chat, which can only be read then."""
        self.notice = ""
        """A sentence above the draft, such as why a question was refused."""
        self.told = ""
        """A quiet sentence there, such as where the chat comes from."""
        self.stale = False
        """Whether the stored branch may be another one by now: it is read again when no answer is to come."""
        self.queue: list[str] = []
        """Questions that are sent once the answer has ended, or a compaction."""
        self.compacting = False
        """Whether earlier context is being compacted."""
        self.remedies: Remedies | None = None
        """What can be done about what is said above the draft, as long as that is what they belong to."""
        self.seen = 0
        """How often this window saw something of it stored."""
        self.edits = edits or Edits()
        self._awaited: Awaited | None = None
        self._beginning: Beginning = "ask"
        self._offering: Message | None = None

    @property
    def sending(self) -> bool:
        """Whether a question is on its way to the engine."""
        return bool(self.messages) and self.messages[-1].status == "sending"

    @property
    def answering(self) -> bool:
        """Whether an answer streams."""
        return self._live is not None

    @property
    def answers_anew(self) -> bool:
        """Whether the answer that streams was asked for anew: the stored branch may not be cut as the shown one is."""
        return self.answering and self._beginning != "ask"

    @property
    def busy(self) -> bool:
        """Whether an answer streams or is to come."""
        return self.answering or self.sending or self._awaited is not None

    @property
    def frozen(self) -> bool:
        """Whether a question waits for the end of a compaction, and not for an answer."""
        return self.compacting and not self.busy and bool(self.queue)

    @property
    def refused_question(self) -> str:
        """The question of an answer that failed before anything of it came, "" where the last one did not."""
        if len(self.messages) < 2:
            return ""
        question, answer = self.messages[-2:]
        is_empty = answer.status == "failed" and not answer.node_id and question.role == "user"
        return question.source if is_empty else ""

    @property
    def at_work(self) -> bool:
        """Whether something goes on in it that must find it again."""
        return self.busy or self.compacting or bool(self.queue)

    def compact(self, compacting: bool) -> None:
        """A compaction runs, or none."""
        if compacting != self.compacting:
            self.compacting = compacting
            self._mark()

    @property
    def _live(self) -> Message | None:
        last = self.messages[-1] if self.messages else None
        return last if last is not None and last.status == "streaming" else None

    # What is stored

    def load(self, rows: Iterable[BranchRow], seen: int | None = None, damage: str = "") -> None:
        """Take the stored branch, which was asked for when `seen` was such. What this window saw stored since stays
        behind it; what is not stored, such as an answer that lost its engine, stays behind the message it followed,
        and goes with that."""
        before = self.messages
        moved = self._arrange(rows, self.seen if seen is None else seen)
        self.loaded, self.damage = True, damage
        if (edited := self._rows.get(self.edits.node_id, -1)) >= 0:
            self.messages[edited].edit = self.edits.of(self.edits.node_id)
        self._tell_difference(before, moved)
        self._mark()

    # What is on its way

    def ask(self, text: str, created_at: str) -> None:
        """A question is on its way."""
        question = Message("user", "sending", created_at=created_at, fresh=True)
        question.add_text(text)
        self._append(question)
        self._mark()

    def take_back(self) -> str:
        """The question on its way was not taken: remove it; returns its text."""
        question = self.messages[-1]
        self._cut(len(self.messages) - 1)
        self._mark()
        return question.source

    def started(self, session_id: str, title: str, node_id: str, model: str) -> None:
        """The question is stored and its answer begins."""
        self.session_id, self.title, self._beginning = session_id, title, "ask"
        question = self.messages[-1]
        question.status, question.node_id = "stored", node_id
        self._store(question)
        self._changed()
        self._append(Message("assistant", "streaming", model=model, fresh=True))
        self._mark()

    def await_answer(self, beginning: Beginning, node_id: str, created_at: str) -> None:
        """The engine was asked to answer the question `node_id`, or the one that is written in its place."""
        self._awaited = Awaited(beginning, node_id, created_at)
        self._mark()

    def refused(self, sentence: str) -> bool:
        """No such answer will begin. Tells whether the sentence is shown in the place of the question."""
        awaited, self._awaited = self._awaited, None
        edit = self.edits.of(awaited.node_id) if awaited is not None else None
        is_edit = edit is not None and edit.sending
        if edit is not None:
            edit.sending = False
            edit.sentence = sentence if is_edit else edit.sentence
        self._mark()
        return is_edit

    def began(self, event: TurnStarted) -> None:
        """Such an answer begins: what stood behind its question leaves the branch."""
        awaited, self._awaited = self._awaited, None
        self.title, self._beginning = event.title, event.beginning
        question = self.row_of(event.node_id)
        if event.beginning != "edit":
            # A branch that is not shown as it is stored is read again at the end.
            self.stale = question < 0
            self._cut(question + 1 or len(self.messages))
        elif awaited is not None:
            above = self.row_of(event.parent_id) + 1
            edit = self.edits.of(awaited.node_id)
            self._end_edit()
            self._cut(above or (0 if not event.parent_id else max(0, self.row_of(awaited.node_id))))
            asked = Message("user", node_id=event.node_id, created_at=awaited.created_at, fresh=True)
            asked.add_text(edit.text if edit is not None else "")
            self.edits.sent(awaited.node_id)
            self._store(asked)
            self._append(asked)
        self._append(Message("assistant", "streaming", model=event.model, fresh=True))
        self._mark()

    # What is written in the place of a question

    def edit(self, row: int) -> None:
        """Write the question of a row anew in its place."""
        message = self.messages[row]
        self._end_edit()
        message.edit = self.edits.begin(message.node_id, message.source)
        self._changed(row)
        self._mark()

    def leave_edit(self) -> None:
        """Show the question as it was asked; what was written is kept for another time."""
        self._end_edit()
        self.edits.leave()

    def tell_edit(self, sentence: str) -> None:
        """Say in the place where a question is written why it was not sent."""
        edit = self.edits.of(self.edits.node_id)
        if edit is not None:
            edit.sending, edit.sentence = False, sentence
            self._changed(self.row_of(self.edits.node_id))

    def _end_edit(self) -> None:
        if left := self._left.get(self.edits.node_id):
            left.edit = None
        if (row := self.row_of(self.edits.node_id)) >= 0:
            self.messages[row].edit = None
            self._changed(row)

    # The answer that streams

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
                self.finish("stored", event.sentence, event.node_id, event.stop_reason)
            case TurnFailed():
                self.finish("failed", event.sentence, event.node_id, "error")
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

    def finish(self, status: Status, sentence: str = "", node_id: str = "", stop_reason: str = "") -> None:
        """The answer has ended: stored as `node_id`, failed or interrupted. `sentence` is shown under it.

        Where nothing came of an answer that was asked for anew, the branch is as it was before.
        """
        self._awaited = None
        live = self._live
        if live is None:
            self._mark()
            return
        is_anew = self._beginning != "ask"
        self.stale = self.stale or is_anew
        if self._beginning in ("retry", "continue") and not node_id and status != "interrupted":
            self._cut(len(self.messages) - 1)
            self.notice = sentence
        else:
            live.status, live.note, live.node_id, live.stop_reason = status, sentence, node_id, stop_reason
            if node_id:
                self._store(live)
            self._changed()
        self._mark()

    # What is told

    def _store(self, message: Message) -> None:
        self.seen += 1
        message.stored_as = self.seen

    def _mark(self) -> None:
        """Offer under the last message what can be done with it, and see whether the edited question can be sent."""
        message, offers = self._to_offer()
        for each in {id(found): found for found in (self._offering, message) if found is not None}.values():
            wanted = offers if each is message else ()
            if each.offers != wanted:
                each.offers = wanted
                self._changed_message(each)
        self._offering = message
        edit = self.edits.of(self.edits.node_id)
        if edit is not None:
            is_compacted, is_answered = (each and not edit.sending for each in (self.compacting, self.busy))
            edit.blocked = (
                "damaged" if self.damage else "compacting" if is_compacted else "answering" if is_answered else ""
            )
            if (row := self.row_of(self.edits.node_id)) >= 0:
                self._changed(row)

    def _to_offer(self) -> tuple[Message | None, tuple[Offer, ...]]:
        last = self.last
        if self.busy or self.damage or last is None:
            return None, ()
        if last.role == "user":
            return (self.messages[-1] if self.messages[-1].role == "assistant" else last), ("answer",)
        if last.stop_reason in GOES_ON:
            return last, ("continue", "retry")
        return last, (("retry",) if last.stop_reason not in ("", "stop") else ())
