"""The last look before a request is sent (C-3, C-13): it fits, is made to fit, or nothing is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

from ..models.port import Model
from ..sessions.branch import Path
from ..sessions.checkpoints import CompactionRun, NewCheckpoint
from ..sessions.nodes import ChangeSet
from ..store.compaction import NEW_QUESTION, Expected
from ..store.tree import Compaction
from .beginnings import Ground
from .compactor import Compactor, NotSent, check_applied
from .contexts import Contexts, Loaded
from .refused import checked_sound

Begin: TypeAlias = Callable[[Compaction], Awaitable[ChangeSet]]
"""Stores a beginning with a checkpoint between the question and the answer (T-4)."""


class Preflight:
    """Looks at what is about to be sent, by the same policy as everything else."""

    def __init__(self, contexts: Contexts, compactor: Compactor) -> None:
        self._contexts = contexts
        self._compactor = compactor

    async def settle(self, session_id: str) -> None:
        """Wait for a compaction that runs in this chat (D-7). Raises NotSent where nothing came of it (U-2)."""
        check_applied(await self._compactor.settled(session_id))

    async def before_question(
        self, session_id: str, question: str, model: Model, *, is_new: bool, request: int
    ) -> None:
        """Make room for a question, if it takes that; the checkpoint stands at the end of the branch then.

        Raises NotSent, and what reading the chat raises.
        """
        loaded = None if is_new else await self._contexts.loaded(session_id)
        path = Path(()) if loaded is None else loaded.path
        checked_sound(path)
        measured = await self._contexts.measured(model, path, draft=question)
        expected = _expected(loaded)
        if not await self._compactor.before_sending(session_id, measured, model, expected, request=request):
            return
        path = (await self._contexts.loaded(session_id)).path
        measured = await self._contexts.measured(model, path, draft=question)
        capacity, tokens = measured.policy.capacity, measured.ground.occupancy.tokens
        if not capacity.fits(tokens):
            over = tokens - capacity.safe_input_limit
            sentence = f"Even with earlier context compacted it is about {over:,} tokens larger than the model takes."
            raise NotSent("too_large", sentence)

    async def before_answer(
        self, session_id: str, loaded: Loaded, ground: Ground, model: Model, begin: Begin, *, request: int
    ) -> ChangeSet | None:
        """Make room for another answer in the place of a former one, in the transaction that it begins with (T-4).

        Returns what was stored, None where it fits as it is and nothing is stored yet. Raises as `before_question`.
        """
        path = Path(ground.path, None, loaded.path.checkpoints)
        measured = await self._contexts.measured(
            model, path, draft=ground.question, kept=ground.kept, question_is_stored=not ground.question
        )
        expected = _expected(loaded)
        stored: list[ChangeSet] = []

        async def store(checkpoint: NewCheckpoint, run: CompactionRun) -> ChangeSet:
            if ground.question:  # the question that is asked in another way is stored with it, and stays word for word
                kept = checkpoint.first_kept_message_id or NEW_QUESTION
                checkpoint = replace(checkpoint, hangs_on=NEW_QUESTION, first_kept_message_id=kept)
            stored.append(await begin((expected, checkpoint, run)))
            return stored[-1]

        await self._compactor.before_sending(session_id, measured, model, expected, store, request=request)
        return stored[-1] if stored else None


def _expected(loaded: Loaded | None) -> Expected:
    return Expected(None, 0) if loaded is None else Expected(loaded.session.leaf_id, loaded.session.branch_revision)
