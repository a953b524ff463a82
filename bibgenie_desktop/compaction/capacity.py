"""Capacity: how much a model takes and gives (C-4, D-13)."""

from __future__ import annotations

from dataclasses import dataclass

ASSUMED_WINDOW = 62_500
"""Tokens; the window all shares are derived from where nobody knows the model's (C-4)."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """A model's window and longest output in tokens. `window_known` False means that the window is assumed."""

    context_window: int = ASSUMED_WINDOW
    max_output: int | None = None
    window_known: bool = False

    @property
    def reserve(self) -> int:
        """Tokens kept free for the answer: 20 % of the window, 25 % up to 8k, never under 1,024 (D-13)."""
        share = self.context_window // 4 if self.context_window <= 8_192 else self.context_window // 5
        return max(1_024, min(share, self.max_output or share))

    @property
    def safe_input_limit(self) -> int:
        """Tokens a request may hold: window minus reserve."""
        return max(0, self.context_window - self.reserve)
