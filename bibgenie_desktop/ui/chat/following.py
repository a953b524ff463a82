"""The page follows the model: what happens to the messages happens to the rows."""

from __future__ import annotations

from collections.abc import Callable

from .current_message import CurrentMessage
from .model import TranscriptModel
from .page_layout import PageLayout
from .page_search import PageSearch
from .redrawing import Redrawing
from .wanting import Wanting


class Following:
    """Listens to `model`, and tells the parts of a page what they have to do with it. `settled` is called when the rows
    are where they belong."""

    def __init__(
        self,
        model: TranscriptModel,
        layout: PageLayout,
        current: CurrentMessage,
        search: PageSearch,
        redrawing: Redrawing,
        wanting: Wanting,
        settled: Callable[[], None],
    ) -> None:
        self._model = model
        self._layout = layout
        self._current = current
        self._search = search
        self._counting = (redrawing, wanting)
        self._settled = settled
        model.modelReset.connect(self._reset)
        model.rowsInserted.connect(self._appended)
        model.rowsRemoved.connect(self._truncated)
        model.replacing.connect(layout.replacing)
        model.replaced_from.connect(self._replaced)
        model.dataChanged.connect(lambda first: redrawing.changed(first.row()))
        model.streamed.connect(redrawing.streamed)

    def _reset(self) -> None:
        for part in self._counting:
            part.truncated(0)
        self._current.number = min(self._current.number, self._model.rowCount() - 1)
        self._search.reset()
        self._layout.reset()
        self._settled()

    def _appended(self) -> None:
        self._layout.appended()
        if not self._layout.is_replacing:
            self._settled()

    def _truncated(self) -> None:
        count = self._model.rowCount()
        for part in self._counting:
            part.truncated(count)
        self._layout.truncated()
        if not self._layout.is_replacing:
            self._current.number = min(self._current.number, count - 1)
            self._settled()

    def _replaced(self, first: int) -> None:
        self._current.number = min(self._current.number, self._model.rowCount() - 1)
        self._search.reset()
        self._layout.replaced(first)
        self._settled()
