"""Who shows a conversation hears of it what changed. No Qt."""

from __future__ import annotations

from typing import Protocol


class Listener(Protocol):
    """Hears what changed in a conversation. Rows count from 0."""

    def reset(self) -> None:
        """All rows are others."""

    def inserted(self, first: int, last: int) -> None:
        """Rows were added at the end."""

    def removed(self, first: int, last: int) -> None:
        """The last rows were taken away."""

    def replaced(self, first: int, before: int, now: int) -> None:
        """All rows from `first` on are others: there were `before` rows, there are `now`."""

    def changed(self, row: int) -> None:
        """A row looks different."""

    def grown(self, row: int) -> None:
        """A row got more at its end; all before that is as it was."""
