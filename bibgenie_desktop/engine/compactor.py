"""Compacts chats: one operation at a time in each, whatever it began with (C-3, C-8, C-9, D-7, D-11)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, field, replace

from ..compaction import prompts
from ..compaction.checking import Summarised
from ..compaction.deterministic import deterministic_summary
from ..compaction.estimate import estimate_text, family_of
from ..compaction.language import language_of
from ..compaction.messages import UserMessage
from ..compaction.operation import Ask, Commit, Ended, Operation, Pause, Step
from ..compaction.policy import Nothing, Plan, Policy, Send, Skip, Wish
from ..compaction.projection import BrokenProjection
from ..models.port import Model, ModelError, ModelRequest, ReasoningDelta, StepFinished, TextDelta
from ..protocol.commands import Compact
from ..protocol.events import CompactionEnded, CompactionPhase, CompactionProgress, CompactionStarted, Event
from ..sessions.branch import NotAllowed
from ..sessions.checkpoints import Checkpoint, CompactionRun, NewCheckpoint, Outcome, Trigger
from ..sessions.nodes import ChangeSet
from ..sessions.usage import Usage
from ..store.compaction import Cancelled, Expected, Stale
from ..store.database import StoreUnavailable
from ..store.encoding import Clock, timestamp
from ..store.leases import NotHeld
from ..store.session_rows import UnknownSession
from ..store.sessions import SessionStore
from .contexts import Contexts, Measured
from .leases import SessionLeases
from .refused import Refused, checked_sound

_log = logging.getLogger(__name__)

CLOSING_GRACE = 1.0
"""Seconds that the end of an engine waits for a request that does not hear that it was cancelled."""
MOST_REFUSED = 16
"""Summaries that were refused and can be accepted by hand, as long as the engine runs."""

_COMPACTING = "Earlier context is being compacted in this chat: wait for that, or cancel it."
_ANSWERING = "An answer still streams in this chat: wait for it or stop it."
_LEASED = "Another window or command is at work in this chat: wait for it."
_CLOSING = "BibGenie is closing; the chat is as it was."


class NotSent(Exception):
    """A request is not sent, as it does not fit and nothing could be done. `str()` is one plain sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


StoreCheckpoint = Callable[[NewCheckpoint, CompactionRun], Awaitable[ChangeSet]]
"""Stores a checkpoint in the transaction that the operation ends with. Raises Stale, Cancelled, NotAllowed, NotHeld."""


@dataclass(slots=True)
class _Running:
    """An operation of a session, from its start until its outcome is told."""

    trigger: Trigger
    request: int
    cancel: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    outcome: CompactionEnded | None = None


class Compactor:
    """Decides by the policy, asks the summariser, and commits.

    `lent` lends the chat's model, `summariser` the one that writes summaries. `is_answering` says whether an answer
    streams or begins in a chat. `changed` tells a change that was committed. Time is measured by `monotonic`, told by
    `clock`, and waited for by `sleep`.
    """

    def __init__(
        self,
        *,
        sessions: SessionStore,
        leases: SessionLeases,
        contexts: Contexts,
        lent: Callable[[], AbstractAsyncContextManager[Model]],
        summariser: Callable[[Model], AbstractAsyncContextManager[Model]],
        is_answering: Callable[[str], bool],
        changed: Callable[[ChangeSet], None],
        emit: Callable[[Event], None],
        clock: Clock,
        new_id: Callable[[], str],
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._sessions = sessions
        self._leases = leases
        self._contexts = contexts
        self._lent = lent
        self._summariser = summariser
        self._is_answering = is_answering
        self._changed = changed
        self._emit = emit
        self._clock = clock
        self._new_id = new_id
        self._monotonic = monotonic
        self._sleep = sleep
        self._running: dict[str, _Running] = {}
        self._automatic: set[asyncio.Task[None]] = set()
        self._abandoned: set[asyncio.Task[tuple[Summarised, Usage]]] = set()
        self._refused: dict[str, tuple[str, Plan, Expected, str]] = {}
        # What failed on a branch is not tried again by itself until the branch changes (B10).
        self._in_vain: dict[str, tuple[str, str, str]] = {}
        self._closing = False

    def is_running(self, session_id: str) -> bool:
        """Whether this chat is being compacted, in this engine."""
        return session_id in self._running

    def refuse_if_running(self, session_id: str) -> None:
        """Raises Refused while this chat is being compacted."""
        if self.is_running(session_id):
            raise Refused("compacting", _COMPACTING)

    def tell_running(self, session_id: str) -> None:
        """Tell a window that opens the chat what runs in it (G9)."""
        running = self._running.get(session_id)
        if running is not None:
            self._emit(CompactionStarted(session_id, running.trigger))

    async def settled(self, session_id: str) -> CompactionEnded | None:
        """Wait for what runs in this chat; returns what came of it, None where nothing ran (D-7)."""
        running = self._running.get(session_id)
        if running is None:
            return None
        await running.ended.wait()
        return running.outcome

    async def all_settled(self) -> None:
        """Wait until nothing is compacted."""
        while self._running or self._automatic:
            await asyncio.wait(
                [*self._automatic, *(asyncio.ensure_future(each.ended.wait()) for each in self._running.values())]
            )

    def cancel(self, session_id: str) -> None:
        """Cancel what runs in this chat; what is committed stays. Waits for nothing (G17)."""
        running = self._running.get(session_id)
        if running is not None:
            running.cancel.set()

    async def close(self) -> None:
        """Cancel everything and wait for it."""
        self._closing = True
        for session_id in list(self._running):
            self.cancel(session_id)
        await self.all_settled()
        if self._abandoned:
            await asyncio.wait(self._abandoned, timeout=CLOSING_GRACE)

    async def compact(self, command: Compact) -> None:
        """Compact by hand (C-7). Raises Refused where nothing begins, and what reading the chat raises."""
        session_id = command.session_id
        self._refuse_if_busy(session_id)
        running = self._running[session_id] = _Running("manual", command.request)
        is_leased = False
        try:
            is_leased = await self._leases.take(session_id)
            if not is_leased:
                raise Refused("leased", _LEASED)
            if command.accept_run_id:
                await self._accept(session_id, running, command.accept_run_id)
                return
            wish = Wish(command.focus, command.rebuild, command.without_model)
            async with self._lent() as model:
                measured, expected = await self._measured(session_id, model)
                decision = measured.policy.by_hand(measured.ground, wish)
                await self._carry_out(session_id, running, decision, measured.policy, model, expected)
        finally:
            del self._running[session_id]
            running.ended.set()
            if is_leased:
                await self._leases.release(session_id)

    def after_answer(self, session_id: str) -> None:
        """An answer was stored: compact in the background where it is time (C-3)."""
        if self._closing:
            return
        task = asyncio.create_task(self._compact_after_answer(session_id), name="compact after an answer")
        self._automatic.add(task)
        task.add_done_callback(self._automatic.discard)

    async def before_sending(
        self,
        session_id: str,
        measured: Measured,
        model: Model,
        expected: Expected,
        store: StoreCheckpoint | None = None,
        *,
        request: int = 0,
    ) -> bool:
        """The preflight of a request, whose chat is leased already (C-13): whether the chat was compacted for it.

        `store` stores the checkpoint, else it is committed at the branch's end. Raises NotSent where the request cannot
        be sent: nothing is changed then.
        """
        policy, ground = measured.policy, measured.ground
        decision = policy.before_sending(ground, await self._derivable(session_id, measured))
        is_needed = not policy.capacity.fits(ground.occupancy.tokens)
        if isinstance(decision, Send) or (not is_needed and self._failed_before(session_id, measured)):
            return False
        if isinstance(decision, Nothing | Skip):
            raise NotSent("too_large", decision.sentence)
        running = self._running[session_id] = _Running("preflight", request)
        try:
            await self._carry_out(session_id, running, decision, policy, model, expected, store)
        finally:
            del self._running[session_id]
            running.ended.set()
        check_applied(running.outcome)
        return True

    def _refuse_if_busy(self, session_id: str) -> None:
        if self._closing:
            raise Refused("closing", _CLOSING)
        self.refuse_if_running(session_id)
        if self._is_answering(session_id):
            raise Refused("answering", _ANSWERING)

    async def _compact_after_answer(self, session_id: str) -> None:
        """Nothing is told where nothing is to be done, or the chat is at work again.

        The chat is free until there is a plan: nobody is refused because it was looked at.
        """
        try:
            async with self._lent() as model:
                measured, expected = await self._measured(session_id, model)
                derivable = await self._derivable(session_id, measured)
                decision = measured.policy.after_answer(measured.ground, derivable)
                if not isinstance(decision, Plan) or self._failed_before(session_id, measured):
                    return
                if self._closing or self.is_running(session_id) or self._is_answering(session_id):
                    return
                running = self._running[session_id] = _Running("automatic", 0)
                is_leased = False
                try:
                    is_leased = await self._leases.take(session_id)
                    if is_leased:
                        await self._carry_out(session_id, running, decision, measured.policy, model, expected)
                finally:
                    del self._running[session_id]
                    running.ended.set()
                    if is_leased:
                        await self._leases.release(session_id)
        except (Refused, NotAllowed, BrokenProjection, ModelError, StoreUnavailable, UnknownSession) as error:
            _log.info("the context was not looked at after an answer: %s", error)

    async def _measured(self, session_id: str, model: Model) -> tuple[Measured, Expected]:
        loaded = await self._contexts.loaded(session_id)
        checked_sound(loaded.path)
        measured = await self._contexts.measured(model, loaded.path)
        return measured, Expected(loaded.session.leaf_id, loaded.session.branch_revision)

    async def _derivable(self, session_id: str, measured: Measured) -> list[Checkpoint]:
        if not measured.policy.capacity.needs_compaction(measured.ground.occupancy.tokens):
            return []
        return await self._sessions.compaction.derivable(session_id, [node.id for node in measured.ground.path])

    async def _carry_out(
        self,
        session_id: str,
        running: _Running,
        decision: Plan | Nothing | Skip | Send,
        policy: Policy,
        model: Model,
        expected: Expected,
        store: StoreCheckpoint | None = None,
    ) -> None:
        """Do what was decided, log it and tell its outcome, exactly one."""
        started = timestamp(self._clock())
        if isinstance(decision, Nothing | Skip | Send):
            outcome: Outcome = "skipped" if isinstance(decision, Skip) else "noop"
            code = "" if isinstance(decision, Send) else decision.code
            sentence = "The context fits as it is." if isinstance(decision, Send) else decision.sentence
            run = CompactionRun(
                self._new_id(), session_id, running.trigger, outcome, code, started, timestamp(self._clock())
            )
            await self._log(run)
            self._tell(session_id, running, CompactionEnded(session_id, running.trigger, outcome, code, sentence))
            return
        self._emit(CompactionStarted(session_id, running.trigger, running.request))
        async with self._summariser(model) as summariser:
            plan = self._with_summary(decision, policy)
            operation = self._operation(plan, policy, model, summariser)
            await self._play(session_id, running, operation, summariser, expected, started, store)

    def _with_summary(self, plan: Plan, policy: Policy) -> Plan:
        """The plan, with the summary that the app puts together itself."""
        if plan.kind != "deterministic" or plan.summary:
            return plan
        text = deterministic_summary(plan.source, plan.ground.checkpoint, budget=policy.capacity.summary_budget)
        return replace(plan, summary=text)

    def _operation(self, plan: Plan, policy: Policy, model: Model, summariser: Model) -> Operation:
        asks = not plan.summary and plan.kind != "carried"
        family = family_of(summariser.name)
        texts = [node.text for node in plan.ground.path if node.role == "user"]
        return Operation(
            plan,
            policy.capacity,
            summariser.capacity,
            summariser.name if asks or (plan.summary and plan.kind in ("summarised", "rebuilt")) else None,
            tokens_after=lambda summary: policy.tokens_after(plan, summary),
            summary_tokens=lambda text: estimate_text(text, family),
            language=language_of(texts),
            begun=self._monotonic(),
        )

    async def _play(
        self,
        session_id: str,
        running: _Running,
        operation: Operation,
        summariser: Model,
        expected: Expected,
        started: str,
        store: StoreCheckpoint | None,
    ) -> None:
        changes: ChangeSet | None = None
        run = CompactionRun(self._new_id(), session_id, running.trigger, "applied", "", started, started)
        step: Step = operation.begin(self._monotonic())
        deadline = asyncio.create_task(_waited(self._sleep, operation.deadline), name="deadline")
        try:
            while not isinstance(step, Ended):
                match step:
                    case Ask():
                        step = await self._ask(session_id, running, operation, summariser, step, deadline)
                    case Pause(seconds=seconds):
                        step = await self._pause(running, operation, seconds, deadline)
                    case Commit(checkpoint=checkpoint):
                        self._emit(CompactionProgress(session_id, "committing"))
                        run = self._run(run, operation, checkpoint)
                        step, changes = await self._commit(
                            session_id, running, operation, run, checkpoint, expected, store
                        )
        finally:
            deadline.cancel()
        await self._finish(session_id, running, operation, step, run, expected, changes)

    async def _finish(
        self,
        session_id: str,
        running: _Running,
        operation: Operation,
        end: Ended,
        run: CompactionRun,
        expected: Expected,
        changes: ChangeSet | None,
    ) -> None:
        plan = operation.plan
        if end.outcome == "applied":
            self._in_vain.pop(session_id, None)
            if changes is not None:
                self._changed(changes)
        else:
            run = replace(
                self._run(run, operation, None), outcome=end.outcome, reason=end.reason, refused_text=end.refused_text
            )
            if end.outcome == "failed":
                self._in_vain[session_id] = _mark(plan, operation.model)
            await self._log(run)
        if end.refused_text:
            self._remember_refused(run.id, session_id, operation, expected, end.refused_text)
        checkpoint_id = changes.added[-1] if changes is not None and changes.added else ""
        self._tell(
            session_id,
            running,
            CompactionEnded(
                session_id,
                running.trigger,
                end.outcome,
                end.reason,
                end.sentence,
                checkpoint_id,
                run.tokens_before,
                run.tokens_after,
                run.id if end.refused_text else "",
                may_do_without_model=end.outcome == "failed" and plan.kind != "deterministic",
            ),
        )

    async def _ask(
        self,
        session_id: str,
        running: _Running,
        operation: Operation,
        summariser: Model,
        ask: Ask,
        deadline: asyncio.Task[None],
    ) -> Step:
        phase: CompactionPhase = "repairing" if ask.is_repair else "summarising"
        self._emit(CompactionProgress(session_id, phase, ask.piece, ask.pieces))
        asking = asyncio.create_task(_summarised(summariser, ask), name="ask for a summary")
        cancelled = asyncio.create_task(_set(running.cancel), name="wait for a cancel")
        try:
            await asyncio.wait([asking, cancelled, deadline], return_when=asyncio.FIRST_COMPLETED)
        finally:
            cancelled.cancel()
            if not asking.done():
                # It may not hear it: what counts is that nobody waits for it (G6, G17).
                asking.cancel()
                self._abandoned.add(asking)
                asking.add_done_callback(self._forget)
        if running.cancel.is_set():
            return operation.cancelled()
        if not asking.done() or asking.cancelled():
            return operation.late()
        error = asking.exception()
        if isinstance(error, ModelError):
            return operation.failed(error.code, str(error), error.retry_after, self._monotonic())
        summarised, usage = asking.result()
        self._emit(CompactionProgress(session_id, "checking", ask.piece, ask.pieces))
        await asyncio.sleep(0)
        return operation.answered(summarised, usage, self._monotonic())

    async def _pause(
        self, running: _Running, operation: Operation, seconds: float, deadline: asyncio.Task[None]
    ) -> Step:
        pause = asyncio.create_task(_waited(self._sleep, seconds), name="pause")
        cancelled = asyncio.create_task(_set(running.cancel), name="wait for a cancel")
        try:
            await asyncio.wait([pause, cancelled, deadline], return_when=asyncio.FIRST_COMPLETED)
        finally:
            pause.cancel()
            cancelled.cancel()
        if running.cancel.is_set():
            return operation.cancelled()
        return operation.late() if deadline.done() else operation.waited(self._monotonic())

    async def _commit(
        self,
        session_id: str,
        running: _Running,
        operation: Operation,
        run: CompactionRun,
        checkpoint: NewCheckpoint,
        expected: Expected,
        store: StoreCheckpoint | None,
    ) -> tuple[Ended, ChangeSet | None]:
        if running.cancel.is_set():
            return operation.cancelled(), None
        committing = asyncio.ensure_future(
            store(checkpoint, run)
            if store is not None
            else self._sessions.compaction.commit(
                session_id,
                expected,
                checkpoint,
                run,
                is_cancelled=running.cancel.is_set,
                allowed=self._leases.guard(session_id),
            )
        )
        # A transaction that has begun counts, whoever is cancelled meanwhile (C-9).
        while not committing.done():
            try:
                await asyncio.shield(committing)
            except asyncio.CancelledError:
                running.cancel.set()
            except Exception:  # noqa: BLE001 - looked at below
                break
        try:
            changes = committing.result()
        except Stale:
            return operation.went_stale(), None
        except Cancelled:
            return operation.cancelled(), None
        except NotHeld:
            return operation.not_stored("leased", _LEASED), None
        except (NotAllowed, UnknownSession) as error:
            return operation.not_stored("refused", str(error)), None
        except StoreUnavailable as error:
            return operation.not_stored(error.code, str(error)), None
        return operation.committed(), changes

    async def _accept(self, session_id: str, running: _Running, run_id: str) -> None:
        """A person takes a summary that was refused: a new operation through the same commit (D-6)."""
        known = self._refused.get(run_id)
        if known is None or known[0] != session_id:
            raise Refused("unknown_run", "That summary is not on offer any more: compact the chat again.")
        _, plan, expected, text = known
        plan = replace(plan, trigger="manual", summary=text)
        async with self._lent() as model, self._summariser(model) as summariser:
            measured, _ = await self._measured(session_id, model)
            self._emit(CompactionStarted(session_id, running.trigger, running.request))
            operation = self._operation(plan, measured.policy, model, summariser)
            started = timestamp(self._clock())
            await self._play(session_id, running, operation, summariser, expected, started, None)
        if running.outcome is not None and running.outcome.outcome == "applied":
            self._refused.pop(run_id, None)

    def _remember_refused(
        self, run_id: str, session_id: str, operation: Operation, expected: Expected, text: str
    ) -> None:
        self._refused[run_id] = (session_id, operation.plan, expected, prompts.normalised(text))
        while len(self._refused) > MOST_REFUSED:
            del self._refused[next(iter(self._refused))]

    def _failed_before(self, session_id: str, measured: Measured) -> bool:
        known = self._in_vain.get(session_id)
        return known is not None and known[0] == measured.ground.leaf

    def _run(self, run: CompactionRun, operation: Operation, checkpoint: NewCheckpoint | None) -> CompactionRun:
        plan, spent = operation.plan, operation.spent
        return replace(
            run,
            finished_at=timestamp(self._clock()),
            model=operation.model or "",
            prompt_version=prompts.VERSION,
            kind=plan.kind,
            generation=plan.generation,
            tokens_before=plan.ground.occupancy.tokens,
            tokens_after=checkpoint.tokens_after if checkpoint else 0,
            requests=spent.requests,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            cost=spent.cost,
        )

    async def _log(self, run: CompactionRun) -> None:
        try:
            await self._sessions.compaction.log(run)
        except (StoreUnavailable, UnknownSession, NotAllowed) as error:
            _log.info("an attempt to compact was not noted: %s", error)

    def _tell(self, session_id: str, running: _Running, end: CompactionEnded) -> None:
        running.outcome = replace(end, request=running.request)
        self._emit(running.outcome)

    def _forget(self, asking: asyncio.Task[tuple[Summarised, Usage]]) -> None:
        self._abandoned.discard(asking)
        if not asking.cancelled():
            asking.exception()


def check_applied(ended: CompactionEnded | None) -> None:
    """Raises NotSent where a compaction that a request waited for came to nothing (U-2)."""
    if ended is not None and ended.outcome not in ("applied", "noop"):
        raise NotSent(f"compaction_{ended.outcome}", ended.sentence)


def _mark(plan: Plan, model: str | None) -> tuple[str, str, str]:
    return plan.ground.leaf, model or "", prompts.VERSION


async def _waited(sleep: Callable[[float], Awaitable[None]], seconds: float) -> None:
    await sleep(seconds)


async def _set(event: asyncio.Event) -> None:
    await event.wait()


async def _summarised(model: Model, ask: Ask) -> tuple[Summarised, Usage]:
    """One request to the summariser: plain text, streamed, without tools (D-11). Raises ModelError."""
    texts: list[str] = []
    thought = 0
    finished: StepFinished | None = None
    await model.prepare()
    request = ModelRequest(ask.system, (UserMessage(ask.user),), (), ask.max_output)
    async with aclosing(model.stream(request)) as events:
        async for event in events:
            match event:
                case TextDelta(text=text):
                    texts.append(text)
                case ReasoningDelta(text=text):
                    thought += len(text)
                case StepFinished():
                    finished = event
    if finished is None:
        raise ModelError("interrupted", "The summary broke off.")
    finish = finished.reason if not finished.tool_calls else "tool_call"
    return Summarised("".join(texts), finish, len(finished.tool_calls), thought), finished.usage
