"""The model that answers: chosen at start or in the window, loaded ahead, and closed when nobody uses it (A-2, A-6).

litellm takes seconds to load, in a thread. What stopped the loop meanwhile was Python's garbage collector, which looks
through all that loading makes, again and again (0.2 to 0.3 s each time): it rests until the model is loaded.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from ..models.port import Model, ModelError
from ..profile.settings import SettingsUnreadable
from ..protocol.commands import ChooseModel, ListModels
from ..protocol.events import Event, ModelChosen, ModelList, ModelLoading, ModelState
from ..protocol.values import ModelRow
from .views import one_line

LONGEST_NAME = 200
"""Characters of a model's name."""
MOST_USED = 12
"""Models of the chats' that are offered."""
_LARGE_IMPORT = 200
"""Modules; litellm brings some two thousand."""

_log = logging.getLogger(__name__)


def checked_name(text: str) -> str:
    """A model's name without spaces around it. Raises ModelError for what can be no name."""
    name = text.strip()
    if not name:
        raise ModelError("unknown_model", "The model's name is empty: write one, such as anthropic/NAME, or offline.")
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise ModelError(
            "unknown_model",
            f"This is no model's name, the model was not changed: a name has at most {LONGEST_NAME} characters, all of "
            "which can be seen.",
        )
    return name


class ModelChoice:
    """The model of one engine, and those that may be chosen instead.

    `open_model` makes a model of a name and loads nothing. `store` puts a choice into the settings; it runs in a
    thread and raises SettingsUnreadable. `describe` says in a few words where a name comes from. `offered` are the
    names to choose from besides those that chats used, which `used` gives, the newest first, at most as many as asked.
    """

    def __init__(
        self,
        name: str,
        *,
        open_model: Callable[[str], Model],
        store: Callable[[str], None],
        describe: Callable[[str], str],
        offered: Sequence[str],
        used: Callable[[int], Awaitable[Sequence[str]]],
        emit: Callable[[Event], None],
    ) -> None:
        self._open = open_model
        self._store = store
        self._describe = describe
        self._offered = offered
        self._used = used
        self._emit = emit
        self._model = open_model(name)
        self._summariser: Model | None = None
        self._uses = 0
        self._left: list[Model] = []
        self._loading: set[asyncio.Task[None]] = set()
        self._putting_away: asyncio.Task[None] | None = None
        self._storing = asyncio.Lock()

    @property
    def name(self) -> str:
        """The chosen model's name."""
        return self._model.name

    async def handle(self, command: ListModels | ChooseModel) -> None:
        """Carry a command out. Raises ModelError for a name that is none, StoreUnavailable."""
        match command:
            case ListModels(request=request):
                self._emit(ModelList(await self._rows(), one_line(self.name), request))
            case ChooseModel(name=name, request=request):
                self._choose(checked_name(name))
                self._emit(ModelChosen(self.name, request))
                self.load_ahead(store=True)

    def load_ahead(self, *, store: bool = False) -> None:
        """Load the chosen model in the background and tell how it goes; `store` keeps the choice first."""
        task = asyncio.create_task(self._load_ahead(self._model, store), name="load a model ahead")
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)

    async def prepare(self) -> None:
        """Load what the chosen model's first request needs. Raises ModelError (an unknown model, a missing key)."""
        await prepare(self._model)

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[Model]:
        """The chosen model, which stays open within the block, whatever is chosen meanwhile."""
        while self._putting_away is not None:
            # Models share litellm's connections, so none begins while those of the last are being closed.
            await asyncio.wait([self._putting_away])
        self.hold()
        try:
            yield self._model
        finally:
            self.release()

    @asynccontextmanager
    async def summariser(self, model: Model, name: str) -> AsyncIterator[Model]:
        """The model that writes summaries: that of this name, `model` itself for "" or where it is the same.

        It stays open until the choice is closed. Raises ModelError for a name that is none.
        """
        if not name or name == model.name or not model.writes_summaries:
            yield model
            return
        if self._summariser is None or self._summariser.name != name:
            if self._summariser is not None:
                self._left.append(self._summariser)
            self._summariser = self._open(checked_name(name))
        self.hold()
        try:
            yield self._summariser
        finally:
            self.release()

    def hold(self) -> None:
        """Keep what is lent open beyond its block, until `release`."""
        self._uses += 1

    def release(self) -> None:
        """Give back what was held."""
        self._uses -= 1
        self._put_away()

    async def close(self) -> None:
        """End what runs and close every model, used or not."""
        for task in self._loading:
            task.cancel()
        if self._loading:
            await asyncio.wait(self._loading)
        left, self._left = self._left, []
        if self._putting_away is not None:
            await asyncio.wait([self._putting_away])
        await _close([*left, *filter(None, (self._summariser,)), self._model])

    def _choose(self, name: str) -> None:
        """Open the model of that name; one that is chosen again stays as it is."""
        if name != self.name:
            self._left.append(self._model)
            self._model = self._open(name)
            self._put_away()

    def _put_away(self) -> None:
        """Close the models that were left, once no turn uses any: what they share is closed with them."""
        if self._left and self._putting_away is None and not self._uses:
            left, self._left = self._left, []
            self._putting_away = asyncio.create_task(_close(left), name="put models away")
            self._putting_away.add_done_callback(self._put_away_ended)

    def _put_away_ended(self, _: asyncio.Task[None]) -> None:
        self._putting_away = None
        self._put_away()

    async def _load_ahead(self, model: Model, store: bool) -> None:
        self._tell(model, "loading")
        unsaved = await self._stored(model) if store else ""
        try:
            await prepare(model)
        except ModelError as error:
            self._tell(model, "failed", str(error), unsaved)
        else:
            self._tell(model, "ready", unsaved)

    def _tell(self, model: Model, state: ModelLoading, *sentences: str) -> None:
        if model is self._model:
            self._emit(ModelState(one_line(model.name), state, " ".join(filter(None, sentences))))

    async def _stored(self, model: Model) -> str:
        """Keep a choice in the settings; returns the sentence that says it could not be."""
        async with self._storing:
            if model is not self._model:
                return ""  # another was chosen meanwhile, and is stored next
            try:
                await asyncio.to_thread(self._store, model.name)
            except SettingsUnreadable as error:
                _log.info("the choice of a model was not stored: %s", error)
                return f"The choice of the model holds until BibGenie is closed, but it was not stored. {error}"
        return ""

    async def _rows(self) -> tuple[ModelRow, ...]:
        used = [name for name in await self._used(5 * MOST_USED) if _is_name(name)]
        names = [name for name in (*self._offered, self.name) if _is_name(name)]
        names += [name for name in used if name not in names][:MOST_USED]
        return tuple(ModelRow(name, one_line(self._describe(name))) for name in dict.fromkeys(names))


def _is_name(text: str) -> bool:
    """Whether this could be chosen: what stands in a file may be anything."""
    try:
        return checked_name(text) == text
    except ModelError:
        return False


async def _close(models: Sequence[Model]) -> None:
    for model in models:
        await model.close()


async def prepare(model: Model) -> None:
    """Load what the model's first request needs, in a way that leaves the loop free. Raises ModelError."""
    with _collector_at_rest():
        await model.prepare()


_resting = 0


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """No garbage collection of cycles within the block; what a large import made is not looked at later either."""
    global _resting
    modules = len(sys.modules)
    if _resting == 0:
        gc.disable()
    _resting += 1
    try:
        yield
    finally:
        _resting -= 1
        if len(sys.modules) > modules + _LARGE_IMPORT:
            gc.freeze()
        if _resting == 0:
            gc.enable()
