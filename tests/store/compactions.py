"""Checkpoints for tests, as the compaction of a chat would store them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from bibgenie_desktop.compaction.boundary import boundary
from bibgenie_desktop.sessions.branch import Path as BranchPath
from bibgenie_desktop.sessions.checkpoints import CompactionRun, NewCheckpoint
from bibgenie_desktop.sessions.nodes import ChangeSet, Session
from bibgenie_desktop.store.compaction import Expected
from bibgenie_desktop.store.sessions import SessionStore

NOW = "2026-12-01T12:00:00.000Z"
_numbers = itertools.count(1)


def expected_of(session: Session) -> Expected:
    return Expected(session.leaf_id, session.branch_revision)


def run_of(session_id: str, **changes: Any) -> CompactionRun:
    """An attempt with an id of its own."""
    made = CompactionRun(
        f"run{next(_numbers):06}",
        session_id,
        "manual",
        "applied",
        "",
        NOW,
        NOW,
        model="m",
        prompt_version="summary-1",
        kind="summarised",
        generation=1,
        tokens_before=1_000,
        tokens_after=100,
        requests=1,
        input_tokens=900,
        output_tokens=50,
        cost=0.25,
    )
    return replace(made, **changes)


def checkpoint_on(branch: BranchPath, kept: str | None, **changes: Any) -> NewCheckpoint:
    """A checkpoint at the end of a branch whose verbatim text begins with the node `kept`, None: behind it."""
    ids = [node.id for node in branch.nodes]
    first = boundary(branch.nodes, branch.checkpoints)
    end = len(ids) if kept is None else ids.index(kept)
    newly = [node.id for node in branch.nodes[first:end] if node.role != "checkpoint"]
    made = NewCheckpoint(
        ids[-1],
        "summarised",
        kept,
        "What was said before.",
        len(branch.checkpoints) + 1,
        "manual" if kept is not None else "preflight",
        "m",
        "summary-1",
        newly[0] if newly else None,
        newly[-1] if newly else None,
        1_000,
        100,
        {"checker": "check-1"},
        1_200,
        0.25,
    )
    return replace(made, **changes)


async def ready(
    store: SessionStore, session_id: str, kept: str | None, **changes: Any
) -> tuple[Expected, NewCheckpoint, CompactionRun]:
    """What a compaction would commit now, after it was prepared on the branch as it is."""
    session, branch = await store.session(session_id), await store.branch(session_id)
    return expected_of(session), checkpoint_on(branch, kept, **changes), run_of(session_id)


async def compact(store: SessionStore, session_id: str, kept: str | None, **changes: Any) -> ChangeSet:
    """Commit a checkpoint."""
    return await store.compaction.commit(session_id, *await ready(store, session_id, kept, **changes))
