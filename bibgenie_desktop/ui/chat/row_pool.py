"""Rows that wait for a message: making a row costs more than binding one again."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from .message_row import MessageRow
from .rows import CheckpointDivider, Kind, Row

KEPT = 8
"""Rows of a kind that are kept; more than that are let die."""


class RowPool:
    """Gives out rows and takes them back. `made` is called once for each row that is made."""

    def __init__(self, parent: QWidget, made: Callable[[Row], None]) -> None:
        self._parent = parent
        self._made = made
        self._spare: dict[Kind, list[Row]] = {"message": [], "checkpoint": []}

    def take(self, kind: Kind) -> Row:
        """A row of this kind, hidden."""
        if self._spare[kind]:
            return self._spare[kind].pop()
        row = MessageRow(self._parent) if kind == "message" else CheckpointDivider(self._parent)
        self._made(row)
        return row

    def give_back(self, row: Row) -> None:
        """A row is not needed any more."""
        row.let_go()
        spare = self._spare["checkpoint" if isinstance(row, CheckpointDivider) else "message"]
        if len(spare) < KEPT:
            spare.append(row)
        else:
            row.deleteLater()
