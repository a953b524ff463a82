"""What is stored of a checkpoint, for the inspector (C-17)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from ..protocol.commands import FetchCheckpoint, FetchRefusedText
from ..protocol.events import CheckpointDetails, CheckpointText, Event
from ..sessions.branch import NotAllowed
from ..sessions.checkpoints import Checkpoint
from ..sessions.nodes import Node
from ..sessions.text import well_formed
from ..store.sessions import SessionStore
from .views import LONGEST_EXCERPT, one_line, text_pieces

MOST_REPLACED = 200
"""Questions that are named; of more the last ones."""

_REPAIRED = {
    "missing_section": "a section was missing in the first version",
    "too_long": "the first version was too long",
    "too_thin": "the first version said too little",
    "language": "the first version was in another language",
    "no_gain": "the first version freed too little",
}


class Checkpoints:
    """Tells where a checkpoint comes from, its summary and that of the one before."""

    def __init__(self, sessions: SessionStore, emit: Callable[[Event], None]) -> None:
        self._sessions = sessions
        self._emit = emit

    async def tell(self, command: FetchCheckpoint | FetchRefusedText) -> None:
        """Carry a command out. Raises UnknownSession, NotAllowed, StoreUnavailable."""
        match command:
            case FetchCheckpoint(session_id=session_id, node_id=node_id, request=request):
                await self._tell_checkpoint(session_id, node_id, request)
            case FetchRefusedText(session_id=session_id, run_id=run_id, request=request):
                text = await self._sessions.compaction.refused_text(session_id, run_id)
                self._tell_text(session_id, "", "refused", text, request)

    async def _tell_checkpoint(self, session_id: str, node_id: str, request: int) -> None:
        path = await self._sessions.branch(session_id)
        checkpoint = path.checkpoints.get(node_id)
        if checkpoint is None:
            raise NotAllowed("This checkpoint is not on the chat's branch any more.")
        place = next(at for at, node in enumerate(path.nodes) if node.id == node_id)
        before = [path.checkpoints[node.id] for node in path.nodes[:place] if node.id in path.checkpoints]
        previous = before[-1] if before else None
        self._emit(
            CheckpointDetails(
                session_id,
                node_id,
                one_line(checkpoint.kind),
                one_line(checkpoint.trigger),
                one_line(checkpoint.model or ""),
                one_line(checkpoint.prompt_version or ""),
                checkpoint.generation,
                checkpoint.tokens_before or 0,
                checkpoint.tokens_after or 0,
                checkpoint.duration_ms or 0,
                checkpoint.cost,
                checkpoint.created_at,
                previous.node_id if previous else "",
                _replaced(path.nodes[:place], checkpoint),
                _findings(checkpoint),
                request,
            )
        )
        if previous is not None:
            self._tell_text(session_id, node_id, "previous", previous.summary, request)
        self._tell_text(session_id, node_id, "summary", checkpoint.summary, request)

    def _tell_text(
        self, session_id: str, node_id: str, part: Literal["summary", "previous", "refused"], text: str, request: int
    ) -> None:
        pieces = text_pieces(well_formed(text))
        for number, piece in enumerate(pieces, 1):
            self._emit(CheckpointText(session_id, node_id, part, piece, number < len(pieces), request))


def _replaced(path: tuple[Node, ...], checkpoint: Checkpoint) -> tuple[str, ...]:
    """The questions of the turns that the projection leaves out because of this checkpoint."""
    lines: list[str] = []
    for node in path:
        if node.id == checkpoint.first_kept_message_id:
            break
        if node.role == "user":
            lines.append(one_line(node.text[:LONGEST_EXCERPT]))
    return tuple(lines[-MOST_REPLACED:])


def _findings(checkpoint: Checkpoint) -> tuple[str, ...]:
    """What the check found, in sentences."""
    found: Mapping[str, Any] = checkpoint.validation if isinstance(checkpoint.validation, dict) else {}
    sentences: list[str] = []
    if repaired := found.get("repaired"):
        why = _REPAIRED.get(str(repaired), "the first version was not accepted")
        sentences.append(f"Written a second time: {why}.")
    if found.get("accepted_by_hand"):
        sentences.append("It was refused by the checks and accepted by hand.")
    if derived := found.get("derived_from"):
        sentences.append(f"Taken over from the checkpoint {one_line(str(derived))[:12]} of another branch.")
    if focus := found.get("focus"):
        sentences.append(f"Written with this focus: {one_line(str(focus))}")
    pieces = found.get("pieces")
    if isinstance(pieces, int) and pieces > 1:
        sentences.append(f"Read in {pieces} pieces.")
    if not sentences and checkpoint.kind in ("summarised", "rebuilt"):
        sentences.append("All checks passed at once.")
    return tuple(sentences)
