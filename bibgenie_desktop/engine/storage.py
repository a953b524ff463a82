"""The end of an answer in the history: stored, or given up where nothing came of it (T-6)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from ..protocol.events import TurnFailed, TurnFinished
from ..sessions.branch import NotAllowed
from ..sessions.nodes import ChangeSet
from ..sessions.parts import UndecodablePart
from ..store.database import StoreUnavailable
from ..store.session_rows import UnknownSession
from ..store.sessions import SessionStore
from .agent.ending import BESIDE, ending
from .agent.turn import Answer

_log = logging.getLogger(__name__)

_DELETED = "This chat was deleted elsewhere while the answer came."
_UNREADABLE = "The question of this answer cannot be read any more: run the doctor command."
_KEPT = "The answer is kept aside and comes into the chat when that is opened again."
_TAKEN_BACK = "Your question is back in the draft: compact the earlier context and send it again."
_UNKEPT = "The answer is not stored: copy what you need of it now."


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer will hang; `number` tells it from others there, as `ChangeSet.answer` does.

    None in a damaged file that can give it none.
    """

    session_id: str
    parent_id: str
    number: int | None


class AnswerStorage:
    """Stores answers and tells each change by `changed`."""

    def __init__(self, sessions: SessionStore, changed: Callable[[ChangeSet], None]) -> None:
        self._sessions = sessions
        self._changed = changed

    async def store(self, place: Place, answer: Answer, model: str) -> TurnFinished | TurnFailed:
        """Store an answer, or give up one that is empty; returns how it ended."""
        if answer.is_empty:
            is_back = await self.give_up(place)
            return ending(place.session_id, "", answer, is_back=is_back)
        try:
            changes = await self._sessions.append_assistant(
                place.session_id,
                place.parent_id,
                answer.parts,
                model=model,
                usage=answer.usage,
                stop_reason=answer.stop_reason,
                answer=place.number,
            )
        except (StoreUnavailable, UnknownSession, NotAllowed, UndecodablePart) as error:
            is_noted = await self._leave_in_journal(place, answer)
            return TurnFailed(place.session_id, "unsaved", f"{_why(error)} {_KEPT if is_noted else _UNKEPT}")
        [node_id] = changes.added
        self._changed(changes)
        if changes.leaf_id != node_id:
            answer.notes.append(BESIDE)
        return ending(place.session_id, node_id, answer)

    async def take_back(self, place: Place, answer: Answer, question_id: str, question: str) -> TurnFailed:
        """A question whose request the provider refused leaves the branch for the draft, and stays stored (D-1)."""
        try:
            changes = await self._sessions.tree.take_back(place.session_id, question_id, question, answer=place.number)
        except (StoreUnavailable, UnknownSession, NotAllowed) as error:
            return TurnFailed(place.session_id, "unsaved", f"{_why(error)} Your question stays in the chat.")
        self._changed(changes)
        sentence = answer.failure.sentence if answer.failure else ""
        return TurnFailed(place.session_id, "context_overflow", f"{sentence} {_TAKEN_BACK}".strip())

    async def give_up(self, place: Place) -> bool:
        """Nothing came of an answer: its branch is as it was before. What fails here is recovered later.

        Tells whether the branch went back to a former answer.
        """
        try:
            changes = await self._sessions.tree.give_up(place.session_id, place.parent_id, answer=place.number)
        except (StoreUnavailable, UnknownSession, NotAllowed) as error:
            _log.info("a branch could not be brought back to what it was: %s", error)
            return False
        if changes is not None:
            self._changed(changes)
        return changes is not None

    async def _leave_in_journal(self, place: Place, answer: Answer) -> bool:
        """Try to note the whole of an answer that could not be stored: it is recovered with the chat's next use."""
        journal = self._sessions.journal
        try:
            return await journal.note(place.session_id, place.parent_id, answer.parts, answer=place.number)
        except StoreUnavailable as error:
            _log.info("an answer that could not be stored was not noted either: %s", error)
            return False


def _why(error: Exception) -> str:
    match error:
        case UnknownSession():
            return _DELETED
        case UndecodablePart():
            return _UNREADABLE
        case _:
            return str(error)
