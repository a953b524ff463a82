"""Whether a branch is compacted, and how: one policy for all three triggers (C-3, C-7, D-2, D-3, D-9, D-14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..sessions.checkpoints import Checkpoint, CheckpointKind, Trigger
from ..sessions.nodes import Node
from . import prompts
from .boundary import Cut, NoCut, boundary, choose
from .capacity import Capacity
from .counted import Counted
from .estimate import estimate_message
from .messages import UserMessage
from .occupancy import Occupancy, occupancy
from .projection import Projection, newest_checkpoint, summary_block, visible

REBUILT_EVERY = 4
"""Generations: so often a summary is written from the stored messages instead of from the last summary (C-12)."""

When: TypeAlias = Literal["always", "sending", "never"]
"""When compaction begins by itself: after answers and before sending, before sending only, never (D-14)."""


@dataclass(frozen=True, slots=True)
class Ground:
    """The branch that the next request is built on, and what comes behind it.

    `leaf` is what a checkpoint will hang on: the branch's last node. Where `question_is_stored`, the branch ends with
    the question that is to be answered, as before a retry; else `draft` is what is to be sent, "" for none.
    """

    path: tuple[Node, ...]
    checkpoints: Mapping[str, Checkpoint]
    projection: Projection
    occupancy: Occupancy
    draft: str = ""
    question_is_stored: bool = False

    @property
    def leaf(self) -> str:
        """The branch's last node, "" for an empty branch."""
        return self.path[-1].id if self.path else ""

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The newest checkpoint of the branch."""
        place = newest_checkpoint(self.path)
        return None if place is None else self.checkpoints.get(self.path[place].id)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asked for in so many words: see `protocol.commands.Compact`."""

    focus: str = ""
    rebuild: bool = False
    without_model: bool = False
    accepted: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A compaction that will be carried out.

    `source` are the nodes that are read for the summary, `previous` the summary that is merged with them, "" for none;
    `summary` is the text where no model is asked. `covered_from_id` to `covered_to_id` is what is newly covered (D-4).
    `kept_tokens` is what the new projection holds beside its summary, in the measure of `ground.occupancy`.
    """

    trigger: Trigger
    kind: CheckpointKind
    ground: Ground
    first_kept_message_id: str | None
    source: tuple[Node, ...]
    covered_from_id: str | None
    covered_to_id: str | None
    generation: int
    kept_tokens: int
    range_tokens: int
    previous: str = ""
    summary: str = ""
    focus: str = ""
    derived_from: str = ""


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is nothing to compact: a success that says so (C-7)."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Skip:
    """It cannot be compacted as things are; `sentence` names what is in the way."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Send:
    """The request fits as it is."""


Decision: TypeAlias = Plan | Nothing | Skip | Send


@dataclass(frozen=True, slots=True)
class Policy:
    """Decides for one model. `when` and `rebuilt_every` are settings.

    `without_model`: summaries are put together by the app, as for a model that cannot write them (D-12).
    """

    capacity: Capacity
    when: When = "always"
    rebuilt_every: int = REBUILT_EVERY
    without_model: bool = False
    counted: Counted = field(default_factory=Counted)

    def after_answer(self, ground: Ground, derivable: Sequence[Checkpoint] = ()) -> Decision:
        """After a stored answer: only where the threshold is passed and the boundary can advance (C-7)."""
        if self.when != "always" or not self.capacity.needs_compaction(ground.occupancy.tokens):
            return Send()
        return self._planned(ground, "automatic", Wish(), derivable)

    def before_sending(self, ground: Ground, derivable: Sequence[Checkpoint] = ()) -> Decision:
        """Before a question is sent: `Send`, a plan, or why neither is possible."""
        tokens = ground.occupancy.tokens
        fits = self.capacity.fits(tokens)
        if fits and (self.when == "never" or not self.capacity.needs_compaction(tokens)):
            return Send()
        if self.when == "never":
            return Skip(
                "off", f"{self._too_large(tokens)} Compacting by itself is switched off: you can do it by hand."
            )
        if not ground.path:
            return Skip("too_large", self._too_large(tokens))
        decision = self._planned(ground, "preflight", Wish(), derivable)
        if isinstance(decision, Plan):
            return decision
        if fits:
            return Send()
        return decision if isinstance(decision, Skip) else Skip("too_large", self._too_large(tokens))

    def by_hand(self, ground: Ground, wish: Wish, derivable: Sequence[Checkpoint] = ()) -> Decision:
        """When a person asks for it (C-7, D-3)."""
        return self._planned(ground, "manual", wish, derivable)

    def ground(
        self,
        path: Sequence[Node],
        checkpoints: Mapping[str, Checkpoint],
        projection: Projection,
        *,
        model: str,
        factor: float = 1.0,
        draft: str = "",
        question_is_stored: bool = False,
    ) -> Ground:
        """The ground for a decision, measured."""
        measured = occupancy(path, checkpoints, projection, model=model, counted=self.counted, factor=factor)
        return Ground(tuple(path), checkpoints, projection, measured, draft, question_is_stored)

    def _planned(
        self, ground: Ground, trigger: Trigger, wish: Wish, derivable: Sequence[Checkpoint]
    ) -> Plan | Nothing | Skip:
        again = wish.rebuild or bool(wish.focus) or wish.without_model or bool(wish.accepted)
        checkpoint = ground.checkpoint
        if again and checkpoint is not None and ground.path[-1].id == checkpoint.node_id:
            return self._same_boundary(ground, trigger, wish, checkpoint)
        cut = self._cut(ground, trigger)
        if isinstance(cut, NoCut):
            return self._without_cut(ground, trigger, cut)
        if trigger != "manual" and (derived := self._derived(ground, trigger, derivable)) is not None:
            return derived
        if not cut.moves and checkpoint is not None:
            if again:
                return self._same_boundary(ground, trigger, wish, checkpoint)
            return self._plan(ground, trigger, "carried", self._kept_so_far(ground), (), checkpoint=checkpoint)
        return self._advancing(ground, trigger, wish, cut, checkpoint)

    def _cut(self, ground: Ground, trigger: Trigger) -> Cut | NoCut:
        sizes, measured = ground.projection.sizes, ground.occupancy
        fixed = measured.scaled(sizes.system + sizes.tools) + self.capacity.summary_budget
        return choose(
            ground.path,
            ground.checkpoints,
            lambda node: measured.scaled(self.counted.tokens(node)),
            self.capacity,
            trigger,
            has_draft=bool(ground.draft.strip()),
            draft_tokens=measured.scaled(sizes.draft),
            room=self.capacity.safe_input_limit - fixed,
        )

    def _advancing(self, ground: Ground, trigger: Trigger, wish: Wish, cut: Cut, checkpoint: Checkpoint | None) -> Plan:
        first_kept = None if cut.index is None else ground.path[cut.index].id
        newly = tuple(ground.path[at] for at in cut.covered)
        generation = (checkpoint.generation if checkpoint else 0) + 1
        from_sources = wish.rebuild or bool(wish.focus) or (checkpoint is not None and self._is_due(generation))
        kind: CheckpointKind = "rebuilt" if checkpoint is not None and from_sources else "summarised"
        if wish.without_model or self.without_model:
            kind = "deterministic"
        source = self._all_before(ground, first_kept) if kind != "summarised" else newly
        previous = checkpoint.summary if checkpoint is not None and kind in ("summarised", "deterministic") else ""
        if kind == "deterministic":
            source = newly
        return self._plan(
            ground,
            trigger,
            kind,
            first_kept,
            source,
            newly=newly,
            generation=generation,
            previous=previous,
            summary=wish.accepted,
            focus=wish.focus,
        )

    def _kept_so_far(self, ground: Ground) -> str | None:
        """Where verbatim text begins now, None where there is none yet."""
        shown = visible(ground.path, ground.checkpoints).nodes
        return shown[0].id if shown else None

    def _is_due(self, generation: int) -> bool:
        return self.rebuilt_every > 0 and generation % self.rebuilt_every == 0

    def _same_boundary(self, ground: Ground, trigger: Trigger, wish: Wish, checkpoint: Checkpoint) -> Plan:
        """The covered nodes are summarised anew; never a summary of a summary (D-3)."""
        kind: CheckpointKind = "deterministic" if wish.without_model or self.without_model else "rebuilt"
        return self._plan(
            ground,
            trigger,
            kind,
            self._kept_so_far(ground),
            self._all_before(ground, self._kept_so_far(ground)),
            generation=checkpoint.generation + 1,
            checkpoint=checkpoint,
            summary=wish.accepted,
            focus=wish.focus,
        )

    def _derived(self, ground: Ground, trigger: Trigger, derivable: Sequence[Checkpoint]) -> Plan | None:
        """A summary of another branch whose covered range lies on this one too, taken without a model call (D-9)."""
        places = {node.id: at for at, node in enumerate(ground.path)}
        start = boundary(ground.path, ground.checkpoints)
        for other in derivable:
            end = places.get(other.covered_to_id or "")
            if end is None or end < start or other.kind == "deterministic":
                continue
            if other.prompt_version != prompts.VERSION:
                continue
            following = next(
                (at for at in range(end + 1, len(ground.path)) if ground.path[at].role != "checkpoint"), None
            )
            if following is None or ground.path[following].role != "user":
                continue
            newly = tuple(node for node in ground.path[start : end + 1] if node.role != "checkpoint")
            plan = self._plan(
                ground,
                trigger,
                "derived",
                ground.path[following].id,
                newly,
                newly=newly,
                generation=other.generation,
                summary=other.summary,
                derived_from=other.node_id,
            )
            if self.frees_enough(plan, other.summary):
                return plan
        return None

    def frees_enough(self, plan: Plan, summary: str) -> bool:
        """Whether the projection with this summary meets its trigger's rule (D-6)."""
        after = self.tokens_after(plan, summary)
        if plan.trigger == "manual":
            return True
        if plan.trigger == "preflight":
            return self.capacity.fits(after)
        freed = plan.ground.occupancy.tokens - after
        return freed >= self.capacity.least_gain and after <= self.capacity.low_water

    def tokens_after(self, plan: Plan, summary: str) -> int:
        """What the context will hold with this summary, draft included, in the measure it was decided by."""
        block = estimate_message(UserMessage(summary_block(summary)), self.counted.family)
        return plan.kept_tokens + plan.ground.occupancy.scaled(block)

    def _all_before(self, ground: Ground, first_kept: str | None) -> tuple[Node, ...]:
        """The stored nodes that lie before the boundary, checkpoints aside."""
        found: list[Node] = []
        end = self._end_of_covered(ground) if first_kept is None else None
        for at, node in enumerate(ground.path):
            if node.id == first_kept or at == end:
                break
            if node.role != "checkpoint":
                found.append(node)
        return tuple(found)

    def _end_of_covered(self, ground: Ground) -> int:
        """Where the verbatim text would begin if nothing older than the pending question is kept."""
        if ground.question_is_stored:
            return len(ground.path) - 1
        checkpoint = ground.checkpoint
        if checkpoint is not None and ground.path[-1].id == checkpoint.node_id:
            return boundary(ground.path, ground.checkpoints)
        return len(ground.path)

    def _plan(
        self,
        ground: Ground,
        trigger: Trigger,
        kind: CheckpointKind,
        first_kept: str | None,
        source: tuple[Node, ...],
        *,
        newly: tuple[Node, ...] = (),
        generation: int = 0,
        checkpoint: Checkpoint | None = None,
        previous: str = "",
        summary: str = "",
        focus: str = "",
        derived_from: str = "",
    ) -> Plan:
        covered: tuple[str | None, str | None] = (newly[0].id, newly[-1].id) if newly else (None, None)
        if checkpoint is not None:  # the same boundary: it stands for what it stood for
            covered = (checkpoint.covered_from_id, checkpoint.covered_to_id)
        if kind == "carried" and checkpoint is not None:
            summary, generation = checkpoint.summary, checkpoint.generation
        sizes, measured = ground.projection.sizes, ground.occupancy
        gone = {node.id for node in newly}
        shown = visible(ground.path, ground.checkpoints).nodes
        tail = sum(self.counted.tokens(node) for node in shown if node.id not in gone)
        return Plan(
            trigger,
            kind,
            ground,
            first_kept,
            source,
            covered[0],
            covered[1],
            generation,
            measured.scaled(sizes.system + sizes.tools + tail + sizes.draft),
            sum(self.counted.tokens(node) for node in source),
            previous,
            summary,
            focus,
            derived_from,
        )

    def _without_cut(self, ground: Ground, trigger: Trigger, cut: NoCut) -> Nothing | Skip:
        match cut.code:
            case "too_short":
                return Nothing(cut.code, "There is nothing to compact yet: the chat has a single question.")
            case "nothing_new":
                return Nothing(cut.code, "Nothing was said since the context was last compacted.")
            case "no_gain":
                return Nothing(
                    cut.code, "What could be compacted is compacted already: the newest messages stay as they are."
                )
            case "pending":
                return Skip(
                    cut.code, "A tool call is still open in this chat: the context can be compacted once it ended."
                )
            case _:
                limit = self.capacity.safe_input_limit
                sizes = ground.projection.sizes
                if cut.tokens < limit // 2:
                    fixed = ground.occupancy.scaled(sizes.system + sizes.tools)
                    return Skip(
                        cut.code,
                        f"Even with earlier context compacted it would not fit: instructions and tools take about "
                        f"{fixed:,} of the {limit:,} tokens that the model takes, and a summary as much again.",
                    )
                what = "one message" if cut.node_id else "the question"
                return Skip(
                    cut.code,
                    f"Even with earlier context compacted it would not fit, as {what} alone takes about "
                    f"{cut.tokens:,} of the {limit:,} tokens that the model takes.",
                )

    def _too_large(self, tokens: int) -> str:
        over = tokens - self.capacity.safe_input_limit
        return f"The request would be about {over:,} tokens larger than the model takes."
