"""How far estimates are off for a model, learned from what its provider counted (A13, C-5)."""

from __future__ import annotations

from dataclasses import dataclass

REMEMBERED = 20
"""Pairs, the newest last."""
TRUSTED_FROM = 5
"""Pairs: before that an estimate is made larger by what was seen, never smaller."""
MARGIN = 1.02
LOWEST, HIGHEST = 0.5, 3.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was estimated for a request and what the provider counted, newest last."""

    pairs: tuple[tuple[int, int], ...] = ()

    def with_pair(self, estimated: int, reported: int) -> Calibration:
        """One more; nonsense is left out."""
        if not _counts(estimated, reported):
            return self
        return Calibration((*self.pairs, (estimated, reported))[-REMEMBERED:])

    @property
    def factor(self) -> float:
        """What an estimate is multiplied with: by the worst that was seen lately, so that it stays above the truth."""
        ratios = [reported / estimated for estimated, reported in self.pairs if _counts(estimated, reported)][
            -REMEMBERED:
        ]
        if not ratios:
            return 1.0
        worst = max(ratios)
        if worst > 1.0 or len(ratios) >= TRUSTED_FROM:
            worst *= MARGIN
        if len(ratios) < TRUSTED_FROM:
            worst = max(1.0, worst)
        return min(HIGHEST, max(LOWEST, worst))


def _counts(estimated: int, reported: int) -> bool:
    return estimated > 0 and reported > 0
