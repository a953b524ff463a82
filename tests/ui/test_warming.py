"""What is done ahead of time waits until the engine rests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bibgenie_desktop.app.warming import Warming
from bibgenie_desktop.protocol.messages import LibraryProgress, LibraryState, ModelState
from tests.ui.timers import ManualTimers

pytestmark = pytest.mark.req("U-4")


class Stage:
    def __init__(self) -> None:
        self.timers = ManualTimers()
        self.done: list[int] = []
        self.warming = Warming(self.steps(), self.timers)

    def steps(self) -> Iterator[None]:
        for number in range(3):
            self.done.append(number)
            yield

    def library(self, state: LibraryState) -> None:
        self.warming.take_library(LibraryProgress(state, 0, 0, ""))


@pytest.mark.parametrize("library", ["none", "ready", "failed"])
@pytest.mark.parametrize("model", ["ready", "failed"])
def test_it_begins_once_model_and_library_have_rested_for_a_while(library: LibraryState, model: str) -> None:
    stage = Stage()
    stage.library(library)
    assert stage.timers.pass_time() == 0
    stage.warming.take_model(ModelState("m", "ready" if model == "ready" else "failed"))
    stage.timers.pass_time()
    assert stage.done == [0, 1, 2]


@pytest.mark.parametrize("state", ["reading", "indexing"])
def test_it_waits_for_a_library_that_is_read(state: LibraryState) -> None:
    stage = Stage()
    stage.warming.take_model(ModelState("m", "ready"))
    stage.library(state)
    assert stage.timers.pass_time() == 0
    stage.library("ready")
    stage.library("ready")
    stage.timers.pass_time()
    assert stage.done == [0, 1, 2]


def test_it_stops_while_another_model_loads_and_goes_on_after_that() -> None:
    stage = Stage()
    stage.library("ready")
    stage.warming.take_model(ModelState("m", "ready"))
    step, quiet = stage.timers.made
    quiet.fire()
    step.fire()
    assert stage.done == [0]
    stage.warming.take_model(ModelState("n", "loading"))
    assert stage.timers.pass_time() == 0
    assert stage.done == [0]
    stage.warming.take_model(ModelState("n", "ready"))
    stage.timers.pass_time()
    assert stage.done == [0, 1, 2]
