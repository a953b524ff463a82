"""What a model is sent for each chat, and how full its window is then: measured in one place for all (C-3, C-5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..compaction.calibration import Calibration
from ..compaction.counted import Counted
from ..compaction.estimate import family_of
from ..compaction.messages import ToolSpec
from ..compaction.policy import REBUILT_EVERY, Ground, Policy, When
from ..compaction.projection import Projection, project
from ..models.port import Model
from ..protocol.events import ContextState
from ..sessions.branch import Path
from ..sessions.nodes import Session
from ..sessions.parts import Part
from ..store.sessions import NEW_SESSION, SessionStore
from .views import one_line

_TRIES = 5
"""A branch and its session are read one after the other; as often is looked whether they still belong together."""


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """What a person chose. `threshold` is in tokens, 0 for what the model's window gives; `thresholds` by model.

    `model` writes the summaries, "" for the chat's own; `when` and `rebuilt_every` are the policy's.
    """

    when: When = "always"
    model: str = ""
    threshold: int = 0
    thresholds: Mapping[str, int] = field(default_factory=dict)
    rebuilt_every: int = REBUILT_EVERY

    def threshold_of(self, model: str) -> int | None:
        """Where compaction begins for this model, None for what its window gives."""
        return self.thresholds.get(model) or self.threshold or None


@dataclass(frozen=True, slots=True)
class Loaded:
    """A session and its branch as they were at one moment."""

    session: Session
    path: Path


@dataclass(frozen=True, slots=True)
class Measured:
    """A ground and the policy that judges it."""

    ground: Ground
    policy: Policy


class Contexts:
    """Builds the projection of each chat, and measures it for a model.

    `route` is where a model's questions go: what is learned of a model holds for that way only (D-1, A13).
    """

    def __init__(
        self,
        sessions: SessionStore,
        *,
        system: str,
        tools: Sequence[ToolSpec],
        settings: CompactionSettings,
        route: Callable[[str], str] = lambda _: "",
    ) -> None:
        self._sessions = sessions
        self._system = system
        self._tools = tuple(tools)
        self._settings = settings
        self._route = route
        self._counted: dict[str, Counted] = {}

    def counted(self, model: str) -> Counted:
        """What was counted of nodes for models of this one's kind."""
        family = family_of(model)
        return self._counted.setdefault(family, Counted(family))

    def projection(self, model: str, path: Path, *, draft: str = "", kept: Sequence[Part] = ()) -> Projection:
        """What the model is sent. Raises BrokenProjection."""
        nodes, checkpoints = path.nodes, path.checkpoints
        return project(
            self._system, self._tools, nodes, checkpoints, draft=draft, kept=kept, counted=self.counted(model)
        )

    async def loaded(self, session_id: str) -> Loaded:
        """A session with its branch. Raises UnknownSession, StoreUnavailable."""
        for _ in range(_TRIES):
            session = await self._sessions.session(session_id)
            path = await self._sessions.branch(session_id)
            if path.damage or session.leaf_id == (path.nodes[-1].id if path.nodes else None):
                break
        return Loaded(session, path)

    async def measured(
        self,
        model: Model,
        path: Path,
        *,
        draft: str = "",
        kept: Sequence[Part] = (),
        question_is_stored: bool = False,
    ) -> Measured:
        """A branch with what is to be sent behind it, measured for this model. Raises BrokenProjection."""
        facts = await self._sessions.model_facts.facts(model.name, self._route(model.name))
        capacity = replace(
            model.capacity, threshold=self._settings.threshold_of(model.name), ceiling=facts.ceiling or None
        )
        policy = Policy(
            capacity,
            self._settings.when,
            self._settings.rebuilt_every,
            without_model=not model.writes_summaries,
            counted=self.counted(model.name),
        )
        projection = self.projection(model.name, path, draft=draft, kept=kept)
        ground = policy.ground(
            path.nodes,
            path.checkpoints,
            projection,
            model=model.name,
            factor=Calibration(facts.pairs).factor,
            draft=draft,
            question_is_stored=question_is_stored,
        )
        return Measured(ground, policy)

    async def note_usage(self, model: str, estimated: int, reported: int) -> None:
        """The provider counted a request that was estimated (A13). Raises StoreUnavailable."""
        await self._sessions.model_facts.note_usage(model, self._route(model), estimated, reported)

    async def note_refused(self, model: str, tokens: int) -> None:
        """The provider refused a request of this size as too large (D-1). Raises StoreUnavailable."""
        await self._sessions.model_facts.note_refused(model, self._route(model), tokens)

    async def state(
        self, session_id: str, model: Model, draft: str, draft_characters: int, why_not: str
    ) -> ContextState:
        """How full the context is, for the meter. Raises UnknownSession, StoreUnavailable, BrokenProjection."""
        path = Path(()) if session_id == NEW_SESSION else (await self.loaded(session_id)).path
        measured = await self.measured(model, path, draft=draft)
        ground, capacity = measured.ground, measured.policy.capacity
        sizes, tokens = ground.projection.sizes, ground.occupancy.tokens
        scaled = ground.occupancy.scaled
        drafted = scaled(sizes.draft)
        if draft and draft_characters > len(draft):  # a long draft is told by its beginning and its length
            whole = math.ceil(drafted * draft_characters / len(draft))
            tokens += whole - drafted
            drafted = whole
        system, tools, summary = scaled(sizes.system), scaled(sizes.tools), scaled(sizes.summary)
        return ContextState(
            session_id,
            one_line(model.name),
            window=capacity.context_window,
            window_known=capacity.window_known,
            reserve=capacity.reserve,
            limit=capacity.safe_input_limit,
            compacts_at=capacity.compacts_at,
            tokens=tokens,
            is_estimate=ground.occupancy.is_estimate,
            system=system,
            tools=tools,
            summary=summary,
            history=max(0, tokens - system - tools - summary - drafted),
            draft=drafted,
            cached=_cached(path, ground.occupancy.anchor_id),
            ceiling=capacity.ceiling or 0,
            why_not=why_not,
        )


def _cached(path: Path, anchor_id: str | None) -> int:
    anchor = next((node for node in reversed(path.nodes) if node.id == anchor_id), None)
    return anchor.usage.cached_tokens if anchor is not None and anchor.usage is not None else 0
