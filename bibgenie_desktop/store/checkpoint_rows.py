"""Rows of the checkpoint table as values: what reading a branch and committing have in common (T-5, C-17)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..sessions.checkpoints import Checkpoint
from ..sessions.parts import UndecodablePart
from ..sessions.text import well_formed
from .encoding import decode_json

COLUMNS = (
    "node_id, kind, first_kept_message_id, summary, generation, trigger, model, prompt_version, covered_from_id, "
    "covered_to_id, tokens_before, tokens_after, validation, duration_ms, cost, created_at"
)
"""In the order of the table and of `Checkpoint`."""


def checkpoint_from(row: Sequence[Any]) -> Checkpoint:
    """A checkpoint from its columns, in their order. Raises UndecodablePart where one holds what it cannot."""
    texts = [*row[1:2], row[3], row[5], row[15]]
    if not all(isinstance(each, str) for each in (row[0], *texts)) or not isinstance(row[4], int):
        raise UndecodablePart("a column of the checkpoint is of the wrong kind")
    try:
        validation = None if row[12] is None else decode_json(row[12])
    except ValueError:
        validation = None  # it is told, and nothing is decided by it
    return Checkpoint(
        row[0],
        well_formed(row[1]),
        _text(row[2]),
        well_formed(row[3]),
        row[4],
        well_formed(row[5]),
        _text(row[6]),
        _text(row[7]),
        _text(row[8]),
        _text(row[9]),
        _number(row[10]),
        _number(row[11]),
        validation,
        _number(row[13]),
        float(row[14]) if isinstance(row[14], int | float) else None,
        well_formed(row[15]),
    )


def _text(stored: object) -> str | None:
    return None if stored is None else well_formed(str(stored))


def _number(stored: object) -> int | None:
    return stored if isinstance(stored, int) else None
