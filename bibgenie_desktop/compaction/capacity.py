"""Capacity: how much a model takes and gives, and the shares of it that compaction goes by (C-4, D-6, D-13)."""

from __future__ import annotations

from dataclasses import dataclass

ASSUMED_WINDOW = 62_500
"""Tokens; the window all shares are derived from where nobody knows the model's (C-4)."""
LEAST_RESERVE = LEAST_SUMMARY = 1_024
LEAST_LEDGER = 600
BELOW_CEILING = 90
"""Per cent of a size that was refused once: so much is taken to be safe (D-1)."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """A model's window and longest output in tokens. `window_known` False means that the window is assumed.

    `threshold` is where a person wants compaction to begin, `ceiling` the smallest size that the provider refused as
    too large; None for none.
    """

    context_window: int = ASSUMED_WINDOW
    max_output: int | None = None
    window_known: bool = False
    threshold: int | None = None
    ceiling: int | None = None

    @property
    def reserve(self) -> int:
        """Tokens kept free for the answer: 20 % of the window, 25 % up to 8k, never under 1,024 (D-13)."""
        share = self.context_window // 4 if self.context_window <= 8_192 else self.context_window // 5
        return max(LEAST_RESERVE, self._within_output(share))

    @property
    def safe_input_limit(self) -> int:
        """Tokens a request may hold: window minus reserve, and less than what was refused before."""
        limit = max(0, self.context_window - self.reserve)
        if self.ceiling is not None and self.ceiling > 0:
            limit = min(limit, self.ceiling * BELOW_CEILING // 100)
        return limit

    @property
    def compacts_at(self) -> int:
        """Tokens at which compaction begins by itself: 80 % of the window, or less by what a person chose."""
        return max(0, min(self.context_window * 4 // 5, self._aim))

    @property
    def tail_budget(self) -> int:
        """Tokens of the newest turns that stay word for word."""
        return self._aim * 15 // 100

    @property
    def summary_budget(self) -> int:
        """Tokens of a summary: half of the reserve, within the longest output, never under 1,024."""
        return max(LEAST_SUMMARY, self._within_output(self.reserve // 2))

    @property
    def ledger_budget(self) -> int:
        """Tokens of the ledger's block: 5 % of the window, never under 600."""
        return max(LEAST_LEDGER, self.context_window // 20)

    @property
    def low_water(self) -> int:
        """At most so many tokens are left by a compaction that began by itself, so that the next is far (A22)."""
        return min(self.safe_input_limit * 60 // 100, self.compacts_at * 80 // 100)

    @property
    def least_gain(self) -> int:
        """At least so many tokens are freed by a compaction that began by itself."""
        return self._aim // 10

    def needs_compaction(self, tokens: int) -> bool:
        """Whether compaction begins by itself at this occupancy: from `compacts_at` on."""
        return tokens >= self.compacts_at

    def fits(self, tokens: int) -> bool:
        """Whether a request of this size is sent: up to the limit, and at it."""
        return tokens <= self.safe_input_limit

    @property
    def _aim(self) -> int:
        """What a request is meant to hold at most: the safe limit, or less by what a person chose (A23)."""
        chosen = self.threshold if self.threshold is not None and self.threshold > 0 else self.safe_input_limit
        return min(chosen, self.safe_input_limit)

    def _within_output(self, tokens: int) -> int:
        """So many, or the model's longest output where that is known and less."""
        return min(tokens, self.max_output) if self.max_output is not None and self.max_output > 0 else tokens
