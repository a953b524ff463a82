"""What is done before it is needed, while the engine rests: a window shares two processors with it, and more."""

from __future__ import annotations

from collections.abc import Iterator

from ..protocol.messages import LibraryProgress, ModelState
from ..ui.timing import MakeTimer, Stepwise

QUIET_MILLISECONDS = 2_000
"""So long the engine has rested before the first step. A step of 25 ms, interrupted by a model's loading and a
library's indexing, would keep the event loop for more than 50."""
STEP_MILLISECONDS = 50
"""Between two steps."""


class Warming:
    """Works through `steps`, one at a time, as long as no model loads and no library is read or indexed."""

    def __init__(self, steps: Iterator[None], make_timer: MakeTimer) -> None:
        self._work = Stepwise(steps, STEP_MILLISECONDS, make_timer)
        self._quiet = make_timer(self._work.start)
        self._model_rests = False
        self._library_rests = False

    def take_model(self, state: ModelState) -> None:
        """How loading the model goes."""
        self._weigh(state.state != "loading", self._library_rests)

    def take_library(self, progress: LibraryProgress) -> None:
        """How far the library is."""
        self._weigh(self._model_rests, progress.state not in ("reading", "indexing"))

    def _weigh(self, model_rests: bool, library_rests: bool) -> None:
        rested = self._model_rests and self._library_rests
        self._model_rests, self._library_rests = model_rests, library_rests
        rests = model_rests and library_rests
        if rests and not rested:
            self._quiet.start(QUIET_MILLISECONDS)
        elif rested and not rests:
            self._quiet.stop()
            self._work.stop()
