"""What an answer begins with, in one shape: a question, an edited one, another try, a former answer's text (T-4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..protocol.commands import ContinueAnswer, EditMessage, Retry, SendMessage
from ..sessions.checkpoints import CompactionRun, NewCheckpoint
from ..sessions.nodes import Beginning, ChangeSet, Node
from ..sessions.parts import Part, TextPart
from ..sessions.tree import NodeHead, continued, edited, retried
from ..store.compaction import Expected
from ..store.leases import Guard
from ..store.sessions import SessionStore
from .refused import checked_question
from .views import title_of

AnswerCommand: TypeAlias = SendMessage | Retry | ContinueAnswer | EditMessage
"""The commands that an answer begins with."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a model is sent to begin with: a branch, a question behind it that is not stored yet, `kept` of an answer.

    Where there is no question, the branch ends with one, or with a checkpoint behind it.
    """

    path: tuple[Node, ...]
    question: str = ""
    kept: tuple[Part, ...] = ()


def question_of(command: AnswerCommand) -> str:
    """The question that a command brings, as it is stored; "" for one that brings none. Raises Refused if empty."""
    match command:
        case SendMessage(text=text) | EditMessage(text=text):
            return checked_question(text)
        case Retry() | ContinueAnswer():
            return ""


def kind_of(command: AnswerCommand) -> Beginning:
    """The beginning's name, as the journal and TurnStarted have it."""
    match command:
        case SendMessage():
            return "ask"
        case Retry():
            return "retry"
        case ContinueAnswer():
            return "continue"
        case EditMessage():
            return "edit"


def ground_of(command: AnswerCommand, question: str, path: Sequence[Node]) -> Ground:
    """What the model would be sent, on a session's active branch. Raises NotAllowed where nothing can begin so."""
    heads = [NodeHead(node.id, node.parent_id, node.role, node.stop_reason) for node in path]
    match command:
        case SendMessage():
            return Ground(tuple(path), question)
        case EditMessage(node_id=node_id):
            return Ground(_through(path, edited(heads, node_id)), question)
        case Retry(node_id=node_id):
            return Ground(_through(path, retried(heads, node_id).id))
        case ContinueAnswer(node_id=node_id):
            former = next((head for head in heads if head.id == node_id), NodeHead(node_id, None, "assistant"))
            place = continued(heads, former).id
            return Ground(_through(path, place), kept=next(node.parts for node in path if node.id == node_id))


async def begin(
    command: AnswerCommand,
    question: str,
    *,
    sessions: SessionStore,
    model: str,
    new_session_id: str,
    sent_draft: str,
    allowed: Guard,
    compaction: tuple[Expected, NewCheckpoint, CompactionRun] | None = None,
) -> ChangeSet:
    """Store the beginning, in one transaction; the answer's place is the branch's leaf afterwards.

    `compaction` puts a checkpoint between the question and the answer (T-4); a new question has none, as its checkpoint
    stands before it.

    Raises NotAllowed, NotHeld, UnknownSession, StoreUnavailable: nothing is changed then.
    """
    tree = sessions.tree
    match command:
        case SendMessage(session_id=session_id):
            return await sessions.append_user(
                session_id,
                [TextPart(question)],
                title=title_of(question),
                model=model,
                sent_draft=sent_draft,
                new_session_id=new_session_id,
                allowed=allowed,
            )
        case EditMessage(session_id=session_id, node_id=node_id):
            return await tree.edit(
                session_id, node_id, [TextPart(question)], model=model, allowed=allowed, compaction=compaction
            )
        case Retry(session_id=session_id, node_id=node_id):
            return await tree.retry(session_id, node_id, model=model, allowed=allowed, compaction=compaction)
        case ContinueAnswer(session_id=session_id, node_id=node_id):
            return await tree.continue_answer(session_id, node_id, model=model, allowed=allowed, compaction=compaction)


def _through(path: Sequence[Node], node_id: str | None) -> tuple[Node, ...]:
    """The branch down to this node; nothing of it for None."""
    if node_id is None:
        return ()
    end = next(place for place, node in enumerate(path) if node.id == node_id)
    return tuple(path[: end + 1])
